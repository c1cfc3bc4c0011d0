//! Kill runs at random moments and resume them: nothing recorded is lost or paid for twice.

use crate::common::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Kills that met a run with something recorded and something to do.
static IN_THE_MIDDLE: AtomicUsize = AtomicUsize::new(0);

const RUNS: u64 = 50;
const BUDGET: &str = "evaluations = 14";

/// A number in [0, 1) that a seed decides: the fractional parts of multiples of the golden ratio,
/// which leave no moment of a run out.
fn fraction(k: u64) -> f64 {
    (k as f64 * 0.618_033_988_749_895).fract()
}

/// What a journal has recorded, by id.
fn told(run: &Path) -> BTreeMap<u64, Json> {
    let told = events_of(run, "tell").into_iter();
    told.map(|event| (event["id"].as_u64().unwrap(), event))
        .collect()
}

/// Start the run, kill it after a while, and check what it did since `before` was recorded.
fn kill_after(problem: &Path, run: &Path, dir: &Path, pause: Duration, late: bool) {
    let before = told(run);
    let calls_before = calls(dir).len();
    let mut child = integrate(problem, run, &["--quiet"]).spawn().unwrap();
    if late {
        wait_for("an answer", || {
            told(run).len() > before.len() || child.try_wait().unwrap().is_some()
        });
    }
    sleep(pause);
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().unwrap();
    assert_nothing_lost_or_repeated(&before, calls_before, run, dir);
    if (1..14).contains(&told(run).len()) {
        IN_THE_MIDDLE.fetch_add(1, Ordering::Relaxed);
    }
}

#[track_caller]
fn assert_nothing_lost_or_repeated(
    before: &BTreeMap<u64, Json>,
    calls_before: usize,
    run: &Path,
    dir: &Path,
) {
    let after = told(run);
    for (id, event) in before {
        assert_eq!(after.get(id), Some(event), "evaluation {id} was lost");
    }
    let repeated = calls(dir)
        .into_iter()
        .skip(calls_before)
        .find(|id| before.contains_key(id));
    assert_eq!(repeated, None, "a recorded evaluation was repeated");
}

fn one_run(k: u64, whole: Duration, expected: &Json) {
    let dir = directory(&format!("kill-{k}"));
    let problem = model(&dir, "sleep", "", BUDGET);
    let run = dir.join("run");
    for kill in 0..1 + k % 3 {
        // Half of the kills fall anywhere, also before the first line is written; the others wait
        // for an answer, so that there is something to lose.
        let late = (k + kill).is_multiple_of(2);
        let span = if late { whole / 4 } else { whole };
        let pause = span.mul_f64(fraction(3 * k + kill));
        kill_after(&problem, &run, &dir, pause, late);
    }
    let (before, calls_before) = (told(&run), calls(&dir).len());
    let json = finish(&problem, &run);
    assert_nothing_lost_or_repeated(&before, calls_before, &run, &dir);
    let ids: Vec<u64> = told(&run).into_keys().collect();
    assert_eq!(ids, (0..14).collect::<Vec<_>>());
    // serde_json reads and writes every bit of a number, so equal text is equal bits.
    assert_eq!(timeless(json).to_string(), expected.to_string(), "run {k}");
}

#[test]
fn fifty_runs_killed_at_random_moments_end_as_one_that_was_not() {
    let dir = directory("kill");
    let problem = model(&dir, "sleep", "", BUDGET);
    let start = Instant::now();
    let expected = timeless(finish(&problem, &dir.join("run")));
    let whole = start.elapsed();
    assert_eq!(calls(&dir), (0..14).collect::<Vec<_>>());
    thread::scope(|scope| {
        for first in 0..2 {
            let expected = &expected;
            scope.spawn(move || {
                (first..RUNS)
                    .step_by(2)
                    .for_each(|k| one_run(k, whole, expected));
            });
        }
    });
    let middle = IN_THE_MIDDLE.load(Ordering::Relaxed);
    assert!(middle >= 20, "only {middle} kills met a run in the middle");
}
