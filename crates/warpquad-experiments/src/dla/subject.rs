//! Choose the spectra of an experiment: real ones first, then ones drawn from the model.

use super::folder::{Folder, Quasar};
use super::likelihood::Likelihood;
use super::prior::prior;
use super::truth::{Effort, QUICK, Truth, cells, known, read, truth};
use crate::{Context, Kept};
use warpquad::measure::Measure;
use warpquad::numeric::random::Rng;
use warpquad::{Error, Result};

/// A spectrum to integrate.
#[derive(Debug, Clone)]
pub struct Subject {
    /// plate-mjd-fiber, or `drawn-N`.
    pub id: String,
    /// Its likelihood.
    pub likelihood: Likelihood,
}

/// The spectra of a run: those of [`QUICK`] or all real ones, or as many as were asked for.
///
/// Number i beyond the real ones has the pixels and the noise of real spectrum i modulo their
/// number. Its flux is drawn from the model: without an absorber or, with probability one half,
/// with one drawn from the prior.
pub fn subjects(context: &Context<'_>) -> Result<Vec<Subject>> {
    let folder = Folder::of(context)?;
    let (emission, quasars) = (folder.emission()?, folder.quasars()?);
    let all: Vec<&Quasar> = match context.spectra {
        None if context.quick() => {
            let in_order = QUICK.iter().map(|id| quasars.iter().find(|q| q.id == *id));
            in_order.flatten().collect()
        }
        None => quasars.iter().collect(),
        Some(n) => (0..n).map(|i| &quasars[i % quasars.len().max(1)]).collect(),
    };
    let subject = |(i, quasar): (usize, &&Quasar)| {
        let likelihood = folder.likelihood(&emission, quasar)?;
        if i < quasars.len() {
            let id = quasar.id.clone();
            return Ok(Subject { id, likelihood });
        }
        let mut rng = Rng::new(context.seed).child(i as u64);
        let mut x = vec![0.0; if rng.uniform() < 0.5 { 0 } else { 2 }];
        if !x.is_empty() {
            let u = [rng.uniform(), rng.uniform()];
            prior(likelihood.z_range(), 1)?.quantile(&u, &mut x);
        }
        Ok(Subject {
            id: format!("drawn-{i}"),
            likelihood: likelihood.drawn(&x, &mut rng)?,
        })
    };
    all.iter().enumerate().map(subject).collect()
}

/// The truths of drawn spectra, computed once and kept.
#[derive(Debug)]
pub struct Truths {
    kept: Kept,
    effort: Effort,
    seed: u64,
}

impl Truths {
    /// Begin, or go on.
    pub fn new(context: &Context<'_>) -> Result<Truths> {
        let effort = context.choose(Effort::FULL, Effort::QUICK);
        let columns = ["id", "absorbers", "a", "b", "c", "d", "e", "f", "g"];
        Ok(Truths {
            kept: context.kept("dla_drawn_truth", &format!("{effort:?}"), &columns, 2)?,
            effort,
            seed: context.seed,
        })
    }

    /// The truth of a subject: the committed one, or a fresh one.
    pub fn of(&self, subject: &Subject, absorbers: usize) -> Result<Truth> {
        if let Some(truth) = known(&subject.id, absorbers) {
            return Ok(truth);
        }
        let key = [subject.id.clone(), absorbers.to_string()];
        if let Some(row) = self.kept.get(&key) {
            return read(&row);
        }
        let found = truth(&subject.likelihood, absorbers, self.effort, self.seed)?;
        self.kept.add(&key, &cells(&found))?;
        Ok(found)
    }
}

/// The subject of that name.
pub fn by_id<'a>(subjects: &'a [Subject], id: &str) -> Result<&'a Subject> {
    let found = subjects.iter().find(|subject| subject.id == id);
    found.ok_or_else(|| Error::spec("id", format!("no spectrum {id}")))
}
