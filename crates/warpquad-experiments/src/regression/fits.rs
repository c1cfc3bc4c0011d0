//! Table 2 once more, with everything that a fit in f-space may mean.

use super::model::{Model, Score};
use super::{Group, Source, number, read, settings};
use crate::t_test::paired;
use crate::table::{Table, digits, mean, quantile};
use crate::{Context, Experiment, Finding};
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

/// The data sets, their transforms, and how many splits in full and in quick runs.
const SETS: [(&str, &[&str], [usize; 2]); 4] = [
    ("LDA", &["square", "log"], [100, 10]),
    ("SVM", &["probit"], [100, 10]),
    ("IM", &["probit"], [100, 10]),
    ("LR", &["probit"], [10, 1]),
];

const COLUMNS: [&str; 7] = ["split", "warp", "fit", "rmse", "mll", "mll_new", "jitter"];

fn run(context: &Context<'_>) -> Result<Finding> {
    let mut table = Table::new(&[
        "data",
        "transform",
        "fit",
        "splits",
        "rmse_mean",
        "mll_mean",
        "mll_median",
        "p_better_than_g",
        "p_better_than_f",
    ]);
    for (dataset, warps, [full, quick]) in SETS {
        let group = Group {
            dataset,
            inputs: "log",
            noise: "exact",
            splits: context.choose(full, quick),
        };
        for warp in warps {
            let all = scores(context, &group, warp)?;
            let mll = |fit: usize| -> Vec<f64> { all[fit].iter().map(|s| s.mll_new).collect() };
            let [f, g] = ["f", "g"].map(|name| FITS.iter().position(|fit| fit.0 == name));
            let p = |than: Option<usize>, fit: usize| match than {
                Some(than) if than != fit => digits(paired(&mll(fit), &mll(than)).p, 2),
                _ => String::new(),
            };
            for (i, (fit, ..)) in FITS.iter().enumerate() {
                let rmse: Vec<f64> = all[i].iter().map(|s| s.rmse).collect();
                table.push(vec![
                    dataset.to_string(),
                    warp.to_string(),
                    fit.to_string(),
                    all[i].len().to_string(),
                    digits(mean(&rmse), 3),
                    digits(mean(&mll(i)), 3),
                    digits(quantile(&mll(i), 0.5), 3),
                    p(g, i),
                    p(f, i),
                ]);
            }
        }
    }
    let files = vec![context.write("table2_fits.csv", &table.csv())?];
    let paragraph = format!(
        "Inputs and splits are those of table 2, exact data. `f` is the likelihood in f-space \
         within the library's limits, which are of the log warp alone, `f-free` the same without \
         them, `g` the likelihood in g-space, `f-loo` the left-out densities of f under the \
         matched belief. Scores are of test points that were not trained on. The last columns are \
         one-sided paired t-tests of the score being higher than that of the fit in g-space and \
         of `f`; splits on which some fit failed are left out.\n\n{}",
        table.markdown()
    );
    Ok(Finding { paragraph, files })
}

/// The scores of each fit, on the splits on which none failed.
fn scores(context: &Context<'_>, group: &Group, warp: &'static str) -> Result<Vec<Vec<Score>>> {
    let name = format!("table2-fits-{}", group.dataset);
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
            noisy: false,
            confined: *confined,
        };
        let (train, test) = source.split(number(&part[0])?)?;
        match model.score(&train, &test) {
            Ok(score) => Ok([score.rmse, score.mll, score.mll_new, score.jitter]
                .map(|x| x.to_string())
                .to_vec()),
            // One split that cannot be fitted is a result.
            Err(Error::Numerics { .. }) => Ok(vec!["NaN".to_string(); 4]),
            Err(error) => Err(error),
        }
    };
    kept.complete(&parts, work, |done, all| {
        (context.progress)(&format!("{name} {warp}: {done} of {all} fits"));
    })?;
    let of = |split: usize, fit: &str| read(&kept.get(&key(split, fit))?);
    let whole = |split: &usize| FITS.iter().all(|fit| of(*split, fit.0).is_some());
    let splits: Vec<usize> = (0..group.splits).filter(whole).collect();
    let column = |fit: &str| splits.iter().filter_map(|&split| of(split, fit)).collect();
    Ok(FITS.iter().map(|fit| column(fit.0)).collect())
}
