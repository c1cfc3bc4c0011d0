//! Look back: what a run knew of Z after fewer evaluations.

use super::Engine;
use super::Outcome;
use crate::error::Result;
use crate::numeric::parallel;

impl Engine {
    /// What was known of Z after at most `most` numbers of evaluations, from the first fit to now.
    ///
    /// A run that chose its own points keeps every fit on its way, so looking back only conditions
    /// again; one that was told its points is fitted afresh at each number. The way is told by
    /// [`Strategy::glance`](super::Strategy::glance), and only the last step by the whole answer.
    pub fn trace(&mut self, most: usize) -> Result<Vec<Outcome>> {
        let last = self.len();
        let numbers = self.milestones(most.max(1) - 1);
        let engine: &Engine = self;
        let steps = parallel::map(numbers.len(), |i| engine.first(numbers[i])?.glance());
        let mut out = Vec::new();
        for step in steps {
            out.extend(step?);
        }
        if last > 0 {
            out.push(self.outcome()?);
        }
        Ok(out)
    }

    /// What is known of Z, by little work; `None` while every f is 0.
    fn glance(mut self) -> Result<Option<Outcome>> {
        self.take_provisional_frame()?;
        self.model()?;
        let Some((lead, fit, n)) = &self.current else {
            return Ok(None);
        };
        let (law, estimate) = self.strategy.glance(self.history(), lead, fit)?;
        let outcome = Outcome {
            law,
            estimate,
            theta: Some(lead.theta().clone()),
            evaluations: *n,
        };
        self.glance_under(outcome).map(Some)
    }

    /// At most `most` numbers of observations below the present one, evenly spread.
    fn milestones(&self, most: usize) -> Vec<usize> {
        let last = self.len();
        let fitted: Vec<usize> = match self.peaks() {
            [] => self.history.fits.iter().map(|fit| fit.n).collect(),
            // Fits in a frame count the observations in the frame.
            _ => Vec::new(),
        };
        let known: Vec<usize> = match fitted.is_empty() {
            false => fitted.into_iter().filter(|&n| n > 0 && n < last).collect(),
            true => (self.strategy.initial_points(self.history.dim()).min(last)..last).collect(),
        };
        let count = most.min(known.len());
        let pick = |k: usize| known[k * known.len() / count];
        (0..count).map(pick).collect()
    }
}
