//! Evaluate what a session hands out, with as many workers as its problem says.

use super::Session;
use super::evaluator::{Answer, Evaluator, Failure, Source, Task, end_programs};
use super::stop::{Next, Stop};
use crate::error::{Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the loop looks at the interrupt while it waits.
const TICK: Duration = Duration::from_millis(50);

/// Run until the budget is met. `interrupt` is looked at between events; `watch` hears of each one.
pub fn run(
    session: &mut Session,
    source: &dyn Source,
    interrupt: &AtomicBool,
    mut watch: impl FnMut(&Session),
) -> Result<Stop> {
    let stop = match stop_before(session, interrupt) {
        // A run that has met its budget is only looked at: its integrand need not be there any
        // more.
        Some(stop) => stop,
        None => {
            source.check()?;
            let mut crew = Crew::new(session.problem().budget.workers.max(1), source)?;
            let stop = crew.work(session, interrupt, &mut watch);
            if stop.is_err() {
                crew.drain(session, interrupt);
            }
            crew.dismiss();
            stop?
        }
    };
    session.stopped(&stop.to_string())?;
    Ok(stop)
}

/// Why a run does not even begin.
fn stop_before(session: &mut Session, interrupt: &AtomicBool) -> Option<Stop> {
    if interrupt.load(Ordering::Relaxed) {
        return Some(session.interrupt());
    }
    session.stop_now()
}

/// What a worker says: which worker, which evaluation, what came of it, and the seconds it took.
type Said = (usize, u64, Answer, f64);

/// The workers, each a thread with one evaluator.
struct Crew {
    desks: Vec<Sender<Task>>,
    free: Vec<usize>,
    inbox: Receiver<Said>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    fn new(workers: usize, source: &dyn Source) -> Result<Crew> {
        let evaluators = (0..workers).map(|i| source.worker(i));
        let evaluators = evaluators.collect::<Result<Vec<_>>>()?;
        let (answers, inbox) = mpsc::channel();
        let (mut desks, mut threads) = (Vec::new(), Vec::new());
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let (send, tasks) = mpsc::channel();
            let answers = answers.clone();
            threads.push(thread::spawn(move || {
                evaluate_all(index, evaluator, &tasks, &answers)
            }));
            desks.push(send);
        }
        Ok(Crew {
            free: (0..workers).rev().collect(),
            desks,
            inbox,
            threads,
        })
    }

    /// Keep the workers busy until the session says stop.
    fn work(
        &mut self,
        session: &mut Session,
        interrupt: &AtomicBool,
        watch: &mut dyn FnMut(&Session),
    ) -> Result<Stop> {
        loop {
            // An interrupt does not wait for what is under way: it is in the journal as pending.
            if interrupt.load(Ordering::Relaxed) {
                if self.is_busy() {
                    end_programs();
                }
                return Ok(session.interrupt());
            }
            while let Some(&desk) = self.free.last() {
                match session.next()? {
                    Next::Evaluate(task) => self.start(desk, task)?,
                    Next::Wait => break,
                    Next::Stop(stop) => return Ok(stop),
                }
            }
            self.take_one(session)?;
            watch(session);
        }
    }

    fn start(&mut self, desk: usize, task: Task) -> Result<()> {
        let sent = self.desks[desk].send(task);
        sent.map_err(|_| Error::spec("workers", "a worker stopped by itself"))?;
        self.free.pop();
        Ok(())
    }

    /// Wait a little for an answer, and hand it to the session.
    fn take_one(&mut self, session: &mut Session) -> Result<()> {
        let (desk, id, answer, seconds) = match self.inbox.recv_timeout(TICK) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::spec("workers", "all workers stopped by themselves"));
            }
        };
        self.free.push(desk);
        session.tell(id, answer, seconds)?;
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.free.len() < self.desks.len()
    }

    /// Keep what is under way when the run cannot go on: it is paid for.
    fn drain(&mut self, session: &mut Session, interrupt: &AtomicBool) {
        while self.is_busy() && !interrupt.load(Ordering::Relaxed) {
            // One error is on its way to the user already.
            let _ = self.take_one(session);
        }
        if self.is_busy() {
            end_programs();
        }
    }

    /// Let programs that stay alive finish their files. A worker that is busy still, after an
    /// interrupt, may wait for a server for hours: it is left behind.
    fn dismiss(self) {
        let busy = self.is_busy();
        drop((self.desks, self.inbox));
        if !busy {
            for thread in self.threads {
                let _ = thread.join();
            }
        }
    }
}

/// A worker's life: evaluate what comes until nothing does.
fn evaluate_all(
    index: usize,
    mut evaluator: Box<dyn Evaluator>,
    tasks: &Receiver<Task>,
    answers: &Sender<Said>,
) {
    for task in tasks {
        let started = Instant::now();
        let answer = evaluate(evaluator.as_mut(), &task);
        let seconds = started.elapsed().as_secs_f64();
        if answers.send((index, task.id, answer, seconds)).is_err() {
            return;
        }
    }
}

/// Evaluate, and take a panic for a failure: the loop would wait for the answer for ever.
fn evaluate(evaluator: &mut dyn Evaluator, task: &Task) -> Answer {
    catch_unwind(AssertUnwindSafe(|| evaluator.evaluate(task))).unwrap_or_else(|panic| {
        let reason = format!("the integrand panicked: {}", text_of(panic.as_ref()));
        Failure::of_point(reason).into()
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason was given")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;
    use crate::session::evaluator::Closure;
    use crate::session::spec::Problem;

    fn stop(on_failure: &str) -> (Stop, usize, usize) {
        let text = format!(
            "integrand = {{ log = '0', on_failure = '{on_failure}' }}\n\
             parameters.x.normal = [0, 1]\nmethod.name = 'bmc'\n\
             budget = {{ evaluations = 6, workers = 3 }}"
        );
        let mut session = Session::new(Problem::parse(&text).unwrap(), &text, 0).unwrap();
        let source = Closure::new(|x: &[f64]| {
            assert!(x[0] > 0.0, "x is {}", x[0]);
            Value::Log(0.0)
        });
        let stop = run(&mut session, &source, &AtomicBool::new(false), |_| ()).unwrap();
        (stop, session.evaluations(), session.given_up())
    }

    #[test]
    fn a_panic_of_the_integrand_is_a_failure_of_its_point() {
        let (stop_skipping, kept, given_up) = stop("skip");
        assert_eq!((stop_skipping, kept + given_up), (Stop::Evaluations, 6));
        assert!(kept > 0 && given_up > 0);
        let Stop::Failure(failure) = stop("stop").0 else {
            panic!("the run went on");
        };
        let expected = format!("the integrand panicked: x is {}", failure.point[0].1);
        assert_eq!(failure.reason, expected);
    }
}
