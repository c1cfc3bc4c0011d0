//! Take values that were not asked for, and points to begin with.

use super::{Answer, Driver, Error, Event, Initial, Points, Record, Result, Taken, Times, within};
use crate::data::Value;
use crate::engine::Engine;
use crate::session::initial::{Offered, key};
use std::collections::HashMap;

impl Driver {
    /// Take what is known before the run, after so many seconds: what became of it.
    pub fn take_initial(
        &mut self,
        offered: &Offered,
        at: f64,
        book: &mut dyn Record,
    ) -> Result<Initial> {
        let known = self.known()?;
        let engine = self.taking()?;
        let measure = self.problem.measure()?;
        let place = |x: &[f64]| {
            let inside = !measure.has_density() || measure.ln_density(x) > f64::NEG_INFINITY;
            let in_box = |(x, (low, high)): (&f64, (f64, f64))| (low..=high).contains(x);
            let inside = inside && x.iter().zip(measure.support()).all(in_box);
            inside.then(|| engine.place(x)).flatten()
        };
        let repeats = self.repeats();
        // Points of somebody's choice are a hint: half of the budget is the run's own.
        let most = self.problem.budget.evaluations;
        let most = most.map_or(usize::MAX, |most| (most / 2).max(1));
        let (initial, values) = offered.sift(&self.problem, place, &known, repeats, most)?;
        // Offered again, as when a run is gone on with, there is nothing to take.
        if values.is_empty() && initial.first.is_empty() && !self.initial.is_empty() {
            return Ok(initial);
        }
        self.commit(Event::Initial(initial.clone()), book)?;
        for (x, value) in values {
            self.give(x, value, at, book)?;
        }
        Ok(initial)
    }

    /// Take a value at a point of the caller's choice: what became of it.
    pub fn tell_at(
        &mut self,
        x: &[f64],
        value: Value,
        at: f64,
        book: &mut dyn Record,
    ) -> Result<Taken> {
        let pending = self.pending.iter().find(|(_, pending)| *pending == x);
        if let Some((&id, _)) = pending {
            let times = Times { seconds: 0.0, at };
            return self.tell(id, value, Vec::new(), times, book);
        }
        let wrong = |reason: String| Error::spec("x", reason);
        let dim = self.problem.names.len();
        if x.len() != dim || x.iter().any(|x| !x.is_finite()) {
            return Err(wrong(format!(
                "the point is {x:?}, not {dim} finite numbers"
            )));
        }
        let shown = self.at(x);
        let value = match within(self.problem.settings.range, Answer::from(value)) {
            Answer::Value(value) | Answer::With(value, _) => value,
            Answer::Failure(failure) => return Err(wrong(format!("{shown}: {}", failure.reason))),
        };
        let measure = self.problem.measure()?;
        let outside = measure.has_density() && measure.ln_density(x) == f64::NEG_INFINITY;
        let place = self.taking()?.place(x).filter(|_| !outside);
        let Some(place) = place else {
            return Err(wrong(format!("{shown} is outside the prior")));
        };
        match self.known()?.get(&key(&place)).copied().flatten() {
            Some(before) if before == value && !self.repeats() => return Ok(Taken::Kept),
            Some(before) if !self.repeats() => {
                let reason = format!(
                    "{shown} was told as {before}, now it is {value}; give a noise variance if the \
                     integrand is not exact"
                );
                return Err(wrong(reason));
            }
            _ => {}
        }
        self.give(x.to_vec(), value, at, book)?;
        Ok(Taken::Kept)
    }

    fn give(&mut self, x: Vec<f64>, value: Value, at: f64, book: &mut dyn Record) -> Result<()> {
        book.reserve()?;
        let id = self.next_id;
        self.commit(Event::Given { id, x, value, at }, book)
    }

    /// Whether a point may be observed again, because values carry noise.
    fn repeats(&self) -> bool {
        self.problem.settings.noise.unwrap_or(0.0) > 0.0
    }

    /// The engine, which takes points of anyone's choice.
    fn taking(&self) -> Result<&Engine> {
        let reason = "a baseline chooses its own points and cannot use others; take method \
                      \"auto\", or leave it out";
        let engine = self.integrator.engine();
        engine.ok_or_else(|| Error::spec("initial", reason))
    }

    /// The coordinates that the run has or waits for, with their values.
    fn known(&self) -> Result<HashMap<Vec<u64>, Option<Value>>> {
        let engine = self.taking()?;
        let (points, values) = self.integrator.observations();
        let mut pending = Points::empty(points.dim())?;
        for x in self.pending.values() {
            pending.push(x)?;
        }
        let place = |x: &[f64]| engine.place(x).map(|z| key(&z));
        let waits = pending.iter().filter_map(|x| Some((place(x)?, None)));
        let known = points.iter().zip(values);
        let known = known.filter_map(|(x, value)| Some((place(x)?, Some(*value))));
        Ok(waits.chain(known).collect())
    }
}
