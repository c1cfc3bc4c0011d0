//! Table 2: regression on constrained data, fitted in f-space and in g-space.

pub mod fits;
pub mod grids;
pub mod in_model;
mod matched;
pub mod model;
mod prose;
mod report;

use crate::{Context, Finding};
use grids::{GRIDS, Grid, Inputs, Sample};
use model::{Model, Score};
use std::collections::BTreeMap;
use warpquad::fit::Space;
use warpquad::numeric::random::Rng;
use warpquad::{Error, Result};

/// A group of cells: a data set and how it is treated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// LDA, SVM, LR or IM.
    pub dataset: &'static str,
    /// `log` or `raw` inputs.
    pub inputs: &'static str,
    /// `exact` or `noisy` data.
    pub noise: &'static str,
    /// How many random splits.
    pub splits: usize,
}

/// The scores of a group's models: a list a model, by split. A model that failed on a split has
/// none there.
pub type Scores = BTreeMap<(usize, &'static str), Vec<Option<Score>>>;

/// The models of a data set, in the table's order.
pub fn models(dataset: &str, noisy: bool) -> Vec<Model> {
    let model = |warp, space| Model {
        warp,
        space,
        noisy,
        confined: true,
    };
    let mut models = vec![model("identity", Space::F)];
    let warps: &[&str] = if dataset == "LDA" {
        &["square", "log"]
    } else {
        &["probit"]
    };
    for warp in warps
        .iter()
        .filter_map(|name| warpquad::warp::REGISTRY.iter().find(|e| e.name == *name))
    {
        models.extend([model(warp.name, Space::G), model(warp.name, Space::F)]);
    }
    models
}

/// The paper's groups first, then the variations that look for reasons.
pub fn groups(context: &Context<'_>) -> Vec<Group> {
    let group = |dataset, inputs, noise, splits| Group {
        dataset,
        inputs,
        noise,
        splits,
    };
    if context.quick() {
        return vec![
            group("LDA", "log", "exact", 20),
            group("SVM", "log", "exact", 20),
            group("IM", "log", "exact", 20),
            group("LR", "log", "exact", 3),
        ];
    }
    vec![
        group("LDA", "log", "exact", 100),
        group("SVM", "log", "exact", 100),
        group("IM", "log", "exact", 100),
        group("IM", "log", "noisy", 100),
        group("LDA", "raw", "exact", 100),
        group("LDA", "log", "noisy", 100),
        group("SVM", "raw", "exact", 100),
        group("SVM", "log", "noisy", 100),
        group("LR", "log", "exact", 100),
        group("LR", "raw", "exact", 25),
        group("LR", "raw", "noisy", 25),
    ]
}

/// Run Table 2.
pub fn table2(context: &Context<'_>) -> Result<Finding> {
    for grid in &GRIDS {
        grid.path(context)?;
    }
    let groups = groups(context);
    let mut results = Vec::new();
    for group in &groups {
        results.push((group.clone(), scores(context, group)?));
    }
    let gains = gains(context, groups[0].splits)?;
    report::write(context, &results, &gains)
}

/// How much higher the f-space likelihood of the training data is at the f-space fit than at the
/// g-space fit.
///
/// This tells a poor optimum from a poor criterion: where the gain is positive, the optimiser did
/// what it was asked to.
pub fn gains(context: &Context<'_>, splits: usize) -> Result<Vec<Gains>> {
    let mut out = Vec::new();
    for (dataset, warp) in [
        ("LDA", "square"),
        ("LDA", "log"),
        ("SVM", "probit"),
        ("IM", "probit"),
    ] {
        let group = Group {
            dataset,
            inputs: "log",
            noise: "exact",
            splits,
        };
        let source = Source::new(context, &group)?;
        let name = format!("table2-gain-{dataset}-{warp}");
        let kept = context.kept(&name, &settings(dataset), &["split", "gain"], 1)?;
        let parts: Vec<Vec<String>> = (0..splits).map(|split| vec![split.to_string()]).collect();
        let work = |part: &[String]| {
            let (train, _) = source.split(number(&part[0])?)?;
            let at = |space| {
                Model {
                    warp,
                    space,
                    noisy: false,
                    confined: true,
                }
                .ln_likelihood(&train)
            };
            Ok(vec![(at(Space::F)? - at(Space::G)?).to_string()])
        };
        kept.complete(&parts, work, |done, all| {
            (context.progress)(&format!(
                "table2: {dataset} {warp} likelihoods: {done} of {all}"
            ));
        })?;
        let gains = kept
            .rows()
            .iter()
            .filter_map(|(_, cells)| cells[0].parse().ok())
            .collect();
        out.push(Gains {
            dataset,
            warp,
            gains,
        });
    }
    Ok(out)
}

/// The gains of one data set and warp, by split.
#[derive(Debug, Clone, PartialEq)]
pub struct Gains {
    /// LDA, SVM or IM.
    pub dataset: &'static str,
    /// The warp's name in the library.
    pub warp: &'static str,
    /// In nats.
    pub gains: Vec<f64>,
}

/// What the parts depend on beside their group.
fn settings(dataset: &str) -> String {
    match dataset {
        "IM" => format!("matern32; length scale {}", in_model::LENGTH_SCALE),
        _ => "matern32".to_string(),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|_| Error::spec("split", format!("'{text}' is not a number")))
}

/// Score all models of a group on all its splits; finished ones are kept.
pub fn scores(context: &Context<'_>, group: &Group) -> Result<Scores> {
    let name = format!("table2-{}-{}-{}", group.dataset, group.inputs, group.noise);
    let columns = ["split", "warp", "space", "rmse", "mll", "mll_new", "jitter"];
    let kept = context.kept(&name, &settings(group.dataset), &columns, 3)?;
    let models = models(group.dataset, group.noise == "noisy");
    let parts: Vec<Vec<String>> = (0..group.splits)
        .flat_map(|split| models.iter().map(move |model| part(split, model)))
        .collect();
    let source = Source::new(context, group)?;
    let work = |part: &[String]| {
        let split = number(&part[0])?;
        let model = models
            .iter()
            .find(|model| part[1..] == self::part(0, model)[1..]);
        let model = model.ok_or_else(|| Error::spec("warp", part[1].clone()))?;
        let (train, test) = source.split(split)?;
        match model.score(&train, &test) {
            Ok(score) => Ok([score.rmse, score.mll, score.mll_new, score.jitter]
                .map(|x| x.to_string())
                .to_vec()),
            // One split that cannot be fitted is a result, and reported.
            Err(Error::Numerics { .. }) => Ok(vec!["NaN".to_string(); 4]),
            Err(error) => Err(error),
        }
    };
    let say = |done: usize, all: usize| {
        (context.progress)(&format!(
            "table2: {} with {} inputs, {} data: {done} of {all} fits",
            group.dataset, group.inputs, group.noise
        ));
    };
    kept.complete(&parts, work, say)?;
    let mut out = Scores::new();
    for (i, model) in models.iter().enumerate() {
        let column = (0..group.splits)
            .map(|split| kept.get(&part(split, model)).and_then(|cells| read(&cells)));
        out.insert((i, label(model)), column.collect());
    }
    Ok(out)
}

fn part(split: usize, model: &Model) -> Vec<String> {
    let space = if model.space == Space::F { "f" } else { "g" };
    vec![split.to_string(), model.warp.to_string(), space.to_string()]
}

fn read(cells: &[String]) -> Option<Score> {
    let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
    match numbers[..] {
        [rmse, mll, mll_new, jitter] if rmse.is_finite() => Some(Score {
            rmse,
            mll,
            mll_new,
            jitter,
        }),
        _ => None,
    }
}

/// What the paper's table calls a model.
fn label(model: &Model) -> &'static str {
    match (model.warp, model.space) {
        ("square", Space::G) => "square root (g-space)",
        ("square", Space::F) => "square root (f-space)",
        ("log", Space::G) => "log (g-space)",
        ("log", Space::F) => "log (f-space)",
        ("probit", Space::G) => "probit (g-space)",
        ("probit", Space::F) => "probit (f-space)",
        _ => "none",
    }
}

/// Where splits come from.
enum Source {
    Grid(&'static Grid, Sample, Rng),
    InModel(Rng),
}

impl Source {
    fn new(context: &Context<'_>, group: &Group) -> Result<Source> {
        let rng = Rng::new(context.seed);
        let Some(i) = GRIDS.iter().position(|grid| grid.name == group.dataset) else {
            return Ok(Source::InModel(rng.child(GRIDS.len() as u64)));
        };
        let inputs = if group.inputs == "log" {
            Inputs::Log
        } else {
            Inputs::Raw
        };
        Ok(Source::Grid(
            &GRIDS[i],
            GRIDS[i].read(context, inputs)?,
            rng.child(i as u64),
        ))
    }

    /// Training and test set of a split: the same for every model, and for log and raw inputs.
    fn split(&self, split: u64) -> Result<(Sample, Sample)> {
        match self {
            Source::Grid(grid, sample, rng) => Ok(sample.split(grid.train, &mut rng.child(split))),
            Source::InModel(rng) => {
                let mut rng = rng.child(split);
                let sample = in_model::draw(&mut rng, in_model::LENGTH_SCALE)?;
                Ok(sample.split(in_model::TRAIN, &mut rng))
            }
        }
    }
}
