//! Answer: what is believed of f in each frame, and of Z by all of them together.

use super::answered::{Answered, Believed};
use super::ascent::Ascent;
use super::strategy::Answer;
use super::{Engine, Frame};
use crate::belief::Ensemble;
use crate::error::{Error, Result};
use crate::functional::Law;
use crate::numeric::stream::Stream;
use std::sync::Arc;

/// A part of Z below e to the minus this many nats of the largest is answered for by its leading
/// model alone.
const SMALL_PART_NATS: f64 = 7.0;

impl Engine {
    /// What is believed of f and of Z. All that a run says comes from here. Of several frames the
    /// belief about f is that in the frame with most of Z.
    pub fn answer(&mut self) -> Result<&Answer> {
        let n = self.len();
        if self.answered.as_ref().is_none_or(|known| known.n != n) {
            self.take_provisional_frame()?;
            self.answered = Some(self.worked_out()?);
        }
        match &self.answered {
            Some(answered) => Ok(&answered.whole),
            None => Err(Error::spec("values", "nothing has been observed")),
        }
    }

    fn worked_out(&mut self) -> Result<Answered> {
        let (n, count) = (self.len(), self.parts().len());
        let is_small = self.small_parts()?;
        let mut each: Vec<(Frame, Answer)> = Vec::with_capacity(count);
        for place in 0..count {
            let mut answer = self.answer_of(place, is_small[place])?;
            let frame = self.parts()[place].seen.frame.clone();
            if let Some((law, estimate)) = self.law_under(place, &answer.ensemble)? {
                (answer.law, answer.estimate) = (law, estimate);
            }
            if count > 1 {
                answer = answer.with_law_reaching(self.unknown_shape_nats(place));
            }
            each.push((frame, answer));
        }
        let mut rng = self.parts()[0].seen.streams().rng(Stream::Outside);
        let mut answered = match (each.pop(), count) {
            (Some((_, answer)), 1) => Answered::one(answer, n),
            (last, _) => {
                each.extend(last);
                Answered::sum(each, n, &mut rng.child(1))
            }
        };
        if self.another.is_none()
            && let Some(outside) = self.ascent.as_ref().and_then(Ascent::outside)
        {
            answered.whole = answered.whole.with_outside(outside, &mut rng);
        }
        let ascent = self.ascent.as_ref();
        if let Some(rise) = ascent.and_then(Ascent::resumed_nats) {
            answered.whole = answered.whole.reaching(rise);
        }
        let climbing = ascent.filter(|ascent| ascent.is_under_way());
        answered.whole = match climbing.map(Ascent::rise_nats) {
            Some(rise) => answered.whole.reaching(rise),
            None if count == 1 => answered.whole.with_law_reaching(self.unknown_shape_nats(0)),
            None => answered.whole,
        };
        Ok(answered)
    }

    /// What is believed of f in one frame: by few models with little work, or by all.
    pub(super) fn answer_of(&mut self, place: usize, is_small: bool) -> Result<Answer> {
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let part = &mut self.parts_mut()[place];
        let answer = match is_small {
            true => part.quick_answer(strategy.as_ref(), n)?,
            false => part.answer(strategy.as_ref(), n)?,
        };
        answer.ok_or_else(|| {
            let reason = "every observation is 0, so nothing is known of the scale of Z; \
                          widen the budget or look where f > 0";
            Error::spec("values", reason)
        })
    }

    /// Which frames carry so little of Z that their leading model's word is enough.
    fn small_parts(&mut self) -> Result<Vec<bool>> {
        let (n, strategy) = (self.len(), Arc::clone(&self.strategy));
        let parts = self.parts_mut();
        if parts.len() < 2 {
            return Ok(vec![false; parts.len()]);
        }
        let mut laws: Vec<Option<Law>> = Vec::new();
        for part in parts {
            let said = part.glance(strategy.as_ref(), n)?;
            laws.push(said.map(|(law, _)| law));
        }
        let middle = laws.iter().flatten().map(|law| law.ln_quantile(0.5));
        let largest = middle.fold(f64::NEG_INFINITY, f64::max);
        let is_small = |law: &Option<Law>| {
            let law = law.as_ref();
            law.is_some_and(|law| law.ln_quantile(0.975) < largest - SMALL_PART_NATS)
        };
        Ok(laws.iter().map(is_small).collect())
    }

    /// The present answer, if it was worked out; looking at it costs nothing.
    pub fn answered(&self) -> Option<&Answer> {
        let answered = self.answered.as_ref();
        answered
            .filter(|answered| answered.n == self.len())
            .map(|answered| &answered.whole)
    }

    /// The belief about f, in the coordinates of the process.
    pub fn ensemble(&mut self) -> Result<&Ensemble> {
        Ok(&self.answer()?.ensemble)
    }

    /// Every frame that carries a part of the integral, with the belief about f there.
    pub(super) fn believed(&mut self) -> Result<Vec<Believed>> {
        self.answer()?;
        let frame = self.history().frame();
        let answered = self.answered.as_ref();
        Ok(answered.map_or(Vec::new(), |answered| answered.believed(frame)))
    }
}
