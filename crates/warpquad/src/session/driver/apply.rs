//! Take events in: what each changes in the state of a run.

use super::{Driver, Error, Event, LastFit, Result};

impl Driver {
    /// Take an event in, as it happens or from a journal.
    pub fn apply(&mut self, event: Event) -> Result<()> {
        self.last_stop = None;
        match event {
            Event::Start { .. } => return Err(Error::spec("event", "a run starts only once")),
            Event::Ask { id, x, audit } => {
                self.next_id = self.next_id.max(id + 1);
                self.audit.extend(audit.map(|draw| (id, draw)));
                self.integrator.asked(&x);
                self.pending.insert(id, x);
                self.queue.push_back(id);
            }
            Event::Tell {
                id,
                value,
                derived,
                seconds,
                ..
            } => {
                let x = self.forget_pending(id);
                let x =
                    x.ok_or_else(|| Error::spec("id", format!("point {id} was not asked for")))?;
                self.integrator.tell(&x, value)?;
                if !derived.is_empty() {
                    self.derived.insert(self.told.len(), derived);
                }
                self.told.push((id, value));
                self.seconds_in_integrand += seconds;
            }
            Event::Given { id, x, value, .. } => {
                self.next_id = self.next_id.max(id + 1);
                self.integrator.give(&x, value)?;
                self.told.push((id, value));
                self.given += 1;
            }
            Event::Initial(initial) => {
                self.integrator.begin_with(initial.first.clone())?;
                self.initial.push(initial);
            }
            Event::Fail {
                id, seconds, last, ..
            } => {
                self.failures += 1;
                self.seconds_in_integrand += seconds;
                self.queue.retain(|&queued| queued != id);
                if !last {
                    *self.attempts.entry(id).or_insert(0) += 1;
                    self.queue.push_back(id);
                } else if let Some(x) = self.forget_pending(id) {
                    self.integrator.fail(&x)?;
                    self.given_up.push(&x)?;
                }
            }
            Event::Fit {
                component,
                n,
                full,
                theta,
                tau,
            } => {
                let fits = self.integrator.fits();
                let last = fits.get(component).and_then(Option::as_ref);
                let last_full = last.map_or(0, |fit| fit.full);
                let fit = LastFit {
                    theta,
                    n,
                    full: if full { n } else { last_full },
                    tau,
                };
                self.integrator.restore(component, fit);
            }
            Event::Frame(frame) => self.integrator.take_frame(frame)?,
            Event::Stop { reason, .. } => self.last_stop = Some(reason),
        }
        Ok(())
    }

    pub(super) fn forget_pending(&mut self, id: u64) -> Option<Vec<f64>> {
        self.attempts.remove(&id);
        self.queue.retain(|&queued| queued != id);
        self.pending.remove(&id)
    }
}
