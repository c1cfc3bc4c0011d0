//! Table 2 once more, with everything that a fit in f-space may mean, and what each fit is good at.

use super::matched;
use super::model::{Model, Score, criterion, score_of};
use super::{Group, Source, number, settings};
use crate::t_test::paired;
use crate::table::{Table, digits, mean, quantile};
use crate::{Context, Experiment, Finding};
use warpquad::belief::MeanFunction;
use warpquad::fit::Space;
use warpquad::{Error, Result};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "table2-fits",
    summary: "table 2 by likelihoods in f-space and g-space, and by left-out densities",
    run,
};

/// What a fit maximises: its name, its space, and whether the warp's limits hold.
const FITS: [(&str, Space, bool); 4] = [
    ("f", Space::F, true),
    ("f-free", Space::F, false),
    ("g", Space::G, true),
    ("f-loo", Space::FLeftOut, true),
];

/// The data sets, how they are taken, and their transforms. LR is left out: a fit takes a minute,
/// and table 2 has its rows.
const SETS: [(&str, &str, &[&str]); 6] = [
    ("LDA", "exact", &["square", "log"]),
    ("SVM", "exact", &["probit"]),
    ("IM", "exact", &["probit"]),
    ("LDA", "noisy", &["square", "log"]),
    ("SVM", "noisy", &["probit"]),
    ("IM", "noisy", &["probit"]),
];

const COLUMNS: [&str; 12] = [
    "split",
    "warp",
    "fit",
    "rmse",
    "mll_new",
    "rmse_by_f",
    "mll_new_by_f",
    "ln_f",
    "ln_loo",
    "mean",
    "output_scale",
    "length",
];

/// A fit on a split: [`COLUMNS`] after the first three.
type Fitted = [f64; 9];

fn run(context: &Context<'_>) -> Result<Finding> {
    let mut table = Table::new(&[
        "data",
        "taken as",
        "transform",
        "fit",
        "splits",
        "RMSE",
        "MLL",
        "MLL median",
        "p above g",
        "p above f",
        "MLL median if f is conditioned",
        "ln p(f)",
        "ln p left out",
        "mean",
        "output scale",
        "length",
    ]);
    for (dataset, noise, warps) in SETS {
        let group = Group {
            dataset,
            inputs: "log",
            noise,
            splits: context.choose(100, 10),
        };
        for warp in warps {
            rows(&mut table, &group, warp, &fitted(context, &group, warp)?);
        }
    }
    let files = vec![context.write("table2_fits.csv", &table.csv())?];
    let paragraph = format!(
        "Inputs and splits are those of table 2. `f` is the likelihood in f-space within the \
         library's limits, which are of the log warp alone, `f-free` the same without them, `g` \
         the likelihood in g-space, `f-loo` the left-out densities of f under the matched belief. \
         RMSE and MLL are of test settings that were not trained on; `p above` are one-sided \
         paired t-tests of the MLL being higher than that of the fit in g-space and of `f`. *If f \
         is conditioned*, predictions are those of the matched prior given f, which is the process \
         that the f-space likelihood is of; the framework conditions g. ln p(f) and ln p left out \
         are what `f` and `f-loo` maximise, of the training data, as medians over splits of the \
         difference from the g-space fit. The last columns are medians of the hyperparameters, the \
         length a geometric mean in ranges of the inputs. Splits on which some fit failed are left \
         out.\n\n{}",
        table.markdown()
    );
    Ok(Finding { paragraph, files })
}

fn rows(table: &mut Table, group: &Group, warp: &str, all: &[Vec<Fitted>]) {
    let column = |fit: usize, at: usize| -> Vec<f64> { all[fit].iter().map(|x| x[at]).collect() };
    let [f, g] = ["f", "g"].map(|name| FITS.iter().position(|fit| fit.0 == name).unwrap_or(0));
    for (i, (fit, ..)) in FITS.iter().enumerate() {
        let p = |than: usize| match than == i {
            true => String::new(),
            false => digits(paired(&column(i, 1), &column(than, 1)).p, 2),
        };
        let median = |at: usize| digits(quantile(&column(i, at), 0.5), 3);
        let gain = |at: usize| {
            let pairs = column(i, at).into_iter().zip(column(g, at));
            let gains: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
            digits(quantile(&gains, 0.5), 3)
        };
        table.push(vec![
            group.dataset.to_string(),
            group.noise.to_string(),
            warp.to_string(),
            fit.to_string(),
            all[i].len().to_string(),
            digits(mean(&column(i, 0)), 3),
            digits(mean(&column(i, 1)), 3),
            median(1),
            p(g),
            p(f),
            median(3),
            gain(4),
            gain(5),
            median(6),
            median(7),
            median(8),
        ]);
    }
}

/// What each fit came to, on the splits on which none failed.
fn fitted(context: &Context<'_>, group: &Group, warp: &'static str) -> Result<Vec<Vec<Fitted>>> {
    let name = format!("table2-fits-{}-{}", group.dataset, group.noise);
    let kept = context.kept(&name, &settings(group.dataset), &COLUMNS, 3)?;
    let source = Source::new(context, group)?;
    let key = |split: usize, fit: &str| vec![split.to_string(), warp.to_string(), fit.to_string()];
    let splits = 0..group.splits;
    let parts: Vec<Vec<String>> = splits
        .flat_map(|split| FITS.map(|(fit, ..)| key(split, fit)))
        .collect();
    let work = |part: &[String]| {
        let fit = FITS.iter().find(|fit| fit.0 == part[2]);
        let (_, space, confined) = fit.ok_or_else(|| Error::spec("fit", part[2].clone()))?;
        let model = Model {
            warp,
            space: *space,
            noisy: group.noise == "noisy",
            confined: *confined,
        };
        match one(&model, &source, number(&part[0])?) {
            Ok(found) => Ok(found.map(|x| format!("{x:.6e}")).to_vec()),
            // One split that cannot be fitted is a result.
            Err(Error::Numerics { .. }) => Ok(vec!["NaN".to_string(); 9]),
            Err(error) => Err(error),
        }
    };
    kept.complete(&parts, work, |done, all| {
        (context.progress)(&format!("{name} {warp}: {done} of {all} fits"));
    })?;
    let of = |split: usize, fit: &str| -> Option<Fitted> {
        let cells = kept.get(&key(split, fit))?;
        let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
        let numbers: Fitted = numbers.try_into().ok()?;
        numbers.iter().all(|x| x.is_finite()).then_some(numbers)
    };
    let whole = |split: &usize| FITS.iter().all(|fit| of(*split, fit.0).is_some());
    let splits: Vec<usize> = (0..group.splits).filter(whole).collect();
    let column = |fit: &str| splits.iter().filter_map(|&split| of(split, fit)).collect();
    Ok(FITS.iter().map(|fit| column(fit.0)).collect())
}

fn one(model: &Model, source: &Source, split: u64) -> Result<Fitted> {
    let (train, test) = source.split(split)?;
    let (data, warp, process) = model.fit(&train)?;
    let by_g: Score = score_of(&process, &warp, &data, &test)?;
    let by_f = matched::score(&process, &warp, &data, &test)?;
    let theta = process.theta();
    let MeanFunction::Constant(mean) = theta.mean else {
        return Err(Error::spec("mean", "is constant here"));
    };
    let lengths = theta.length_scales.iter().zip(&train.scales);
    let ln_length: f64 = lengths.map(|(l, w)| (l / w).ln()).sum();
    Ok([
        by_g.rmse,
        by_g.mll_new,
        by_f.rmse,
        by_f.mll_new,
        criterion(&process, &warp, &data, Space::F)?,
        criterion(&process, &warp, &data, Space::FLeftOut)?,
        mean,
        theta.output_scale,
        (ln_length / train.scales.len() as f64).exp(),
    ])
}
