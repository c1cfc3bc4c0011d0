//! Say what Table 2 shows, and why it differs from the paper's.

use crate::Context;
use crate::table::Table;

/// The section's text.
pub fn paragraph(
    context: &Context<'_>,
    summary: &Table,
    tests: &Table,
    likelihoods: &Table,
) -> String {
    let main = Table {
        header: summary.header.clone(),
        rows: summary
            .rows
            .iter()
            .filter(|row| row[1] == "log" && row[2] == "exact")
            .cloned()
            .collect(),
    };
    let variations = Table {
        header: summary.header.clone(),
        rows: summary
            .rows
            .iter()
            .filter(|row| row[1] != "log" || row[2] != "exact")
            .cloned()
            .collect(),
    };
    let mut text = format!(
        "{SETTING}\n\n{}\n{TESTS}\n\n{}\n{LIKELIHOODS}\n\n{}\n",
        main.markdown(),
        tests.markdown(),
        likelihoods.markdown()
    );
    if context.quick() {
        text.push_str("This is the quick version, with few splits: read it for directions only.\n");
        return text;
    }
    text.push_str(&format!(
        "{FINDINGS}\n\nVariations that look for the reasons:\n\n{}\n{REASONS}\n",
        variations.markdown()
    ));
    text
}

const SETTING: &str = "\
    Constant mean, Matern 3/2 with one length scale an input, exact data, all starts of the \
    library's fit; 20 % (LDA), 5 % (SVM, LR) and 20 % (IM) for training. Inputs that span more \
    than a factor of 15 enter as logarithms, then all are mapped onto [0, 1]; splits are the same \
    for all models. IM is a draw of a zero-mean Matern 3/2 process at 200 uniform points of the \
    unit square, output scale 4 and length scale 0.125, pushed through Phi; the paper gives \
    neither number. They were chosen, from several tried, so that the ordinary process scores as \
    the paper's does: that row of IM is no check. A predictive variance below the rounding of its \
    own terms (2e-16 of the output scale) is taken as that. In the chart big dots are medians, \
    small ones means.";

const TESTS: &str = "\
    One-sided paired t-tests over the splits; the gain is of the one said to be better, positive \
    where it is. As in the paper nothing is corrected for the number of tests:";

const LIKELIHOODS: &str = "\
    How much higher the f-space likelihood of the *training* data is at the f-space fit than at \
    the g-space fit:";

const FINDINGS: &str = "\
    **What holds.** On LDA every transform lowers the error of the ordinary process, by about the \
    paper's margins and at its 1 % level; the log does it best, as in the paper. The RMSEs of LDA \
    are the paper's within the spread of splits. In either space the probit raises the MLL of SVM \
    and LR above that of the ordinary process, in f-space significantly so; on IM the g-space fit \
    does. The mean MLL of LDA over all test points, the paper's own measure, is millions below \
    zero, and higher for the f-space fit of either transform, as the paper has it, though not \
    significantly here. On IM, set so that the ordinary process agrees, the g-space fit has the \
    paper's RMSE.\n\n\
    **What does not.** The paper's main claim about this table, that the f-space fit has the \
    better MLL, is not borne out on any of the four where inputs enter as logarithms and data are \
    exact. On LDA without the twin setting the g-space fit is better for both transforms at 1 %, \
    and on LR too; on SVM there is no difference. On IM, where the paper has f-space first by \
    0.64, g-space has the higher mean and median. The difference of means is not significant at 1 \
    %, since a few splits with very low values rule the f-space mean. Its RMSE is worse at 1 %, \
    where the paper's is better.";

const REASONS: &str = "\
    **Why.**\n\n\
    * *The LDA likelihoods measure one point.* One setting of the grid stands there twice with \
    perplexities 3.2 apart. When one is trained on and the other tested, a model without noise \
    puts all its mass on the first, and ln p is minus the squared difference over twice the \
    smallest variance that the arithmetic leaves. That alone gives -1e6 to -1e8 here, and -1e5 to \
    -1e10 in the paper; with a noise variance fitted it is -1e3. The paper's -1e10 for the \
    ordinary process takes a variance of 1e-18 of that of the data, and a double is known to \
    2e-16: it is rounding. It depends on the fitted output \
    scale, to which the floor taken here is proportional, and says nothing about the other 230 \
    points. The columns of new settings leave such points out. (If both twins fall into the \
    training set, the first is kept.)\n\
    * *Hardly the optimiser.* The f-space fit has the higher f-space likelihood of the training \
    data on every split of LDA and IM, by tens of nats on LDA with the log, and on SVM it is \
    never lower by more than a twentieth of a nat. A search that failed is therefore an unlikely \
    reason: the fit is better at what it is asked and predicts no better, or worse.\n\
    * *It is asked about another predictor.* The f-space likelihood is that of the matched prior \
    conditioned on f, while the framework conditions g and matches afterwards. With the log on \
    LDA, predictions of that other kind are better by 1.3 nats in the median with the f-space fit, \
    and the framework's own are better by half a nat with the g-space fit (`table2-fits`).\n\
    * *IM is drawn from the g-space model,* so that fit is of the right model by the right \
    criterion, and one would not expect it to be beaten by much. What made the paper's f-space \
    row better in both measures is not known; a noise variance on g, fitted in both, does not \
    turn the order here.\n\
    * *Where f-space is ahead.* Among the variations its mean MLL is the higher one on SVM with \
    raw inputs (by two nats, at more than twice the RMSE), on SVM with a noise variance (the \
    paper's order, but not significant) and on LDA over all test points, where the twin rules. On \
    LDA's new settings, on LR and on IM it is behind in every variation.\n\
    * *Inputs.* The paper does not say how they are scaled. LDA's errors need logarithms. LR's in \
    the paper (0.036 and 2.0) are worse than ours with logarithms. Raw inputs with exact data are \
    far off (0.06 and below 1); raw inputs *with a noise variance* come nearer (0.040 to 0.042 \
    and 1.8 to 1.95). So the paper may have done that. Against it speaks LDA, where a fitted \
    noise variance gives -1e3 and not the paper's -1e10; and LR with logarithms and noise was not \
    run. These variations were added after the first results were seen. For raw inputs the fit's \
    unit of length is a tenth of the range in the crowded dimensions; it was chosen after the \
    whole range as unit gave larger errors on LDA and SVM, and freer lengths may change those \
    rows again.\n\
    * *SVM.* Our mean RMSE is 0.020 and the median 0.018, the paper's 0.015. A few bad splits set \
    the mean. A noise variance brings the MLLs nearer to the paper's and into its order; neither \
    it nor raw inputs explain the rest of the error.";
