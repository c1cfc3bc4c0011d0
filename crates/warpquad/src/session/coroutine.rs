//! Run a baseline beside the session: it asks for batches, is told values in any order, and goes
//! on.
//!
//! The baseline is straight-line code on a thread of its own. It only ever runs while the session
//! waits for its next batch, so that a run is a function of what was told.

use crate::baseline::{self, Baseline, BaselineOutcome, Evaluate, Settings};
use crate::data::Value;
use crate::error::{Error, Result, Step};
use crate::measure::Measure;
use crate::points::Points;
use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the thread says.
enum Message {
    Batch(Points),
    Known(Box<BaselineOutcome>),
    Ended(Option<Error>),
}

/// A baseline in the middle of its work.
#[derive(Debug)]
pub(super) struct Coroutine {
    baseline: Arc<dyn Baseline>,
    settings: Settings,
    answers: Sender<Vec<Value>>,
    /// Locked by nobody: it lets a session be shared between threads.
    messages: Mutex<Receiver<Message>>,
    batch: Batch,
    known: Option<BaselineOutcome>,
    ended: Option<Error>,
    points: Points,
    values: Vec<Value>,
}

/// The points under way.
#[derive(Debug)]
struct Batch {
    points: Points,
    values: Vec<Option<Value>>,
    handed_out: Vec<bool>,
    /// All before this one are handed out.
    next: usize,
    missing: usize,
    /// Where each point is in the batch.
    places: HashMap<Vec<u64>, Vec<usize>>,
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

impl Batch {
    fn new(points: Points) -> Batch {
        let mut places: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
        for (i, x) in points.iter().enumerate() {
            places.entry(bits(x)).or_default().push(i);
        }
        let n = points.len();
        Batch {
            points,
            values: vec![None; n],
            handed_out: vec![false; n],
            next: 0,
            missing: n,
            places,
        }
    }

    /// The first place of a point for which `free` holds.
    fn place(&self, x: &[f64], free: impl Fn(usize) -> bool) -> Option<usize> {
        let places = self.places.get(&bits(x))?;
        places.iter().copied().find(|&i| free(i))
    }
}

/// The session, as the thread sees it.
struct Asker<'a> {
    messages: &'a Sender<Message>,
    answers: Receiver<Vec<Value>>,
}

impl Evaluate for Asker<'_> {
    fn evaluate(&mut self, points: &Points) -> Result<Option<Vec<Value>>> {
        // When the session is gone there is nobody to answer: stop.
        let sent = self.messages.send(Message::Batch(points.clone()));
        Ok(sent.ok().and_then(|()| self.answers.recv().ok()))
    }
}

impl Coroutine {
    pub fn new(
        baseline: Arc<dyn Baseline>,
        measure: Arc<dyn Measure>,
        settings: Settings,
    ) -> Result<Coroutine> {
        let (answers, inbox) = mpsc::channel();
        let (outbox, messages) = mpsc::channel();
        let empty = Points::empty(measure.dim())?;
        let (its_baseline, its_settings) = (baseline.clone(), settings.clone());
        thread::spawn(move || {
            let mut asker = Asker {
                messages: &outbox,
                answers: inbox,
            };
            let heard = &mut |known: &BaselineOutcome| {
                let _ = outbox.send(Message::Known(Box::new(known.bare())));
            };
            let (baseline, measure) = (its_baseline.as_ref(), measure.as_ref());
            let ended = baseline::run(baseline, &mut asker, measure, &its_settings, heard);
            let _ = outbox.send(Message::Ended(ended.err()));
        });
        let mut coroutine = Coroutine {
            baseline,
            settings,
            answers,
            messages: Mutex::new(messages),
            batch: Batch::new(empty.clone()),
            known: None,
            ended: None,
            points: empty,
            values: Vec::new(),
        };
        coroutine.listen();
        Ok(coroutine)
    }

    /// Wait for the next batch.
    fn listen(&mut self) {
        loop {
            let messages = self.messages.get_mut();
            let messages = messages.unwrap_or_else(|poisoned| poisoned.into_inner());
            match messages.recv() {
                Ok(Message::Known(known)) => self.known = Some(*known),
                Ok(Message::Batch(points)) => {
                    self.batch = Batch::new(points);
                    return;
                }
                Ok(Message::Ended(error)) => {
                    self.ended = error;
                    return;
                }
                Err(_) => {
                    let what = format!("{} stopped by itself", self.baseline.name());
                    self.ended = Some(Error::numerics(Step::Integrate, what));
                    return;
                }
            }
        }
    }

    pub fn name(&self) -> &'static str {
        self.baseline.name()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn observations(&self) -> (&Points, &[Value]) {
        (&self.points, &self.values)
    }

    /// Whether a point can be handed out before more values come in.
    pub fn is_ready(&self) -> bool {
        self.ended.is_some() || self.batch.next < self.batch.points.len()
    }

    /// The next point.
    pub fn ask(&self) -> Result<Vec<f64>> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        if self.batch.next < self.batch.points.len() {
            return Ok(self.batch.points.row(self.batch.next).to_vec());
        }
        let reason = format!(
            "{} has handed out its whole batch and goes on when its {} missing values are told; ask \
             --pending prints what is under way",
            self.name(),
            self.batch.missing
        );
        Err(Error::spec("ask", reason))
    }

    /// A point was handed out.
    pub fn asked(&mut self, x: &[f64]) {
        let batch = &mut self.batch;
        if let Some(i) = batch.place(x, |i| !batch.handed_out[i]) {
            batch.handed_out[i] = true;
        }
        while batch.handed_out.get(batch.next) == Some(&true) {
            batch.next += 1;
        }
    }

    /// Take a value. A point of the caller's own choice is kept, but is none of the baseline's.
    pub fn tell(&mut self, x: &[f64], value: Value) -> Result<()> {
        value.check(self.values.len())?;
        self.points.push(x)?;
        self.values.push(value);
        let batch = &mut self.batch;
        let place = batch.place(x, |i| batch.handed_out[i] && batch.values[i].is_none());
        let Some(i) = place else { return Ok(()) };
        batch.values[i] = Some(value);
        batch.missing -= 1;
        if batch.missing == 0 {
            let values = batch.values.iter().copied().flatten().collect();
            // If the thread has ended, listening says why.
            let _ = self.answers.send(values);
            self.listen();
        }
        Ok(())
    }

    /// What is known, if anything is.
    pub fn known(&self) -> Option<&BaselineOutcome> {
        self.known.as_ref()
    }

    /// What is known of Z, or what it takes to know something.
    pub fn outcome(&self) -> Result<&BaselineOutcome> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        self.known.as_ref().ok_or_else(|| {
            let what = format!(
                "{} knows nothing of Z after {} evaluations: either every f was 0, or it needs the {} \
                 that its batch still lacks; raise the budget",
                self.name(),
                self.values.len(),
                self.batch.missing
            );
            Error::numerics(Step::Integrate, what)
        })
    }
}
