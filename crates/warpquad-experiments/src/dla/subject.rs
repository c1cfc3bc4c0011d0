//! Choose the spectra of an experiment: real ones first, then ones drawn from the model.

use super::emission::Emission;
use super::folder::{Folder, Quasar};
use super::likelihood::Likelihood;
use super::prior::prior;
use super::truth::{Effort, QUICK, Truth, cells, known, read, truth, unchecked};
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

/// Makes spectra: real ones by their place in the table, and beyond it ones drawn from the model.
#[derive(Debug)]
pub struct Maker {
    folder: Folder,
    emission: Emission,
    quasars: Vec<Quasar>,
    seed: u64,
}

impl Maker {
    /// From the data's folder.
    pub fn new(context: &Context<'_>) -> Result<Maker> {
        let folder = Folder::of(context)?;
        Ok(Maker {
            emission: folder.emission()?,
            quasars: folder.quasars()?,
            folder,
            seed: context.seed,
        })
    }

    /// The name of a drawn spectrum.
    pub fn drawn_id(i: usize) -> String {
        format!("drawn-{i}")
    }

    /// How many spectra are real.
    pub fn real(&self) -> usize {
        self.quasars.len()
    }

    /// Spectrum i. Beyond the real ones it has the pixels and the noise of real spectrum i modulo
    /// their number. Its flux is drawn from the model: without an absorber or, with probability one
    /// half, with one drawn from the prior.
    pub fn subject(&self, i: usize) -> Result<Subject> {
        let quasar = &self.quasars[i % self.quasars.len().max(1)];
        let likelihood = self.folder.likelihood(&self.emission, quasar)?;
        if i < self.quasars.len() {
            let id = quasar.id.clone();
            return Ok(Subject { id, likelihood });
        }
        let mut rng = Rng::new(self.seed).child(i as u64);
        let mut x = vec![0.0; if rng.uniform() < 0.5 { 0 } else { 2 }];
        if !x.is_empty() {
            let u = [rng.uniform(), rng.uniform()];
            prior(likelihood.z_range(), 1)?.quantile(&u, &mut x);
        }
        Ok(Subject {
            id: Maker::drawn_id(i),
            likelihood: likelihood.drawn(&x, &mut rng)?,
        })
    }
}

/// The spectra of a run: those of [`QUICK`] or all real ones, or as many as were asked for, drawn
/// ones after the real.
pub fn subjects(context: &Context<'_>) -> Result<Vec<Subject>> {
    let maker = Maker::new(context)?;
    let place = |id: &str| maker.quasars.iter().position(|quasar| quasar.id == id);
    let places: Vec<usize> = match context.spectra {
        None if context.quick() => QUICK.iter().filter_map(|id| place(id)).collect(),
        None => (0..maker.real()).collect(),
        Some(n) => (0..n).collect(),
    };
    places.iter().map(|&i| maker.subject(i)).collect()
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

    /// The truth of a subject: the committed one, or a fresh one. With one absorber cubature is
    /// good to many digits, and every tenth drawn spectrum has the check too.
    pub fn of(&self, subject: &Subject, absorbers: usize) -> Result<Truth> {
        if let Some(truth) = self.kept(&subject.id, absorbers) {
            return Ok(truth);
        }
        let checked = absorbers > 1 || subject.id.ends_with('0');
        let make = if checked { truth } else { unchecked };
        let found = make(&subject.likelihood, absorbers, self.effort, self.seed)?;
        let key = [subject.id.clone(), absorbers.to_string()];
        self.kept.add(&key, &cells(&found))?;
        Ok(found)
    }

    /// The same where it is known already.
    pub fn kept(&self, id: &str, absorbers: usize) -> Option<Truth> {
        let key = [id.to_string(), absorbers.to_string()];
        known(id, absorbers).or_else(|| read(&self.kept.get(&key)?).ok())
    }
}

/// The subject of that name.
pub fn by_id<'a>(subjects: &'a [Subject], id: &str) -> Result<&'a Subject> {
    let found = subjects.iter().find(|subject| subject.id == id);
    found.ok_or_else(|| Error::spec("id", format!("no spectrum {id}")))
}
