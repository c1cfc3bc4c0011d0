//! Look back: what a run knew of Z after fewer evaluations.

use super::answered::Answered;
use super::{Engine, Outcome};
use crate::error::Result;
use crate::numeric::parallel;
use crate::numeric::stream::Stream;
use std::sync::Arc;

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
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let mut each = Vec::new();
        for place in 0..self.parts().len() {
            let part = &mut self.parts_mut()[place];
            let Some(mut said) = part.quick_answer(strategy.as_ref(), n)? else {
                continue;
            };
            if let Some((law, estimate)) = self.law_under(place, &said.ensemble)? {
                (said.law, said.estimate) = (law, estimate);
            }
            each.push((self.parts()[place].seen.frame.clone(), said));
        }
        let answered = match (each.pop(), each.is_empty()) {
            (None, _) => return Ok(None),
            (Some((_, one)), true) => Answered::one(one, n),
            (Some(last), false) => {
                each.push(last);
                let streams = self.whole.seen.streams();
                Answered::sum(each, n, &mut streams.rng(Stream::Outside))
            }
        };
        Ok(Some(answered.whole.outcome(n)))
    }

    /// At most `most` numbers of observations below the present one, evenly spread.
    fn milestones(&self, most: usize) -> Vec<usize> {
        let last = self.len();
        let fitted: Vec<usize> = match self.frames() {
            [] => self.whole.seen.fits.iter().map(|fit| fit.n).collect(),
            // Fits in a frame count the observations in the frame.
            _ => Vec::new(),
        };
        let known: Vec<usize> = match fitted.is_empty() {
            false => fitted.into_iter().filter(|&n| n > 0 && n < last).collect(),
            true => (self.strategy.initial_points(self.points.dim()).min(last)..last).collect(),
        };
        let count = most.min(known.len());
        let pick = |k: usize| known[k * known.len() / count];
        (0..count).map(pick).collect()
    }
}
