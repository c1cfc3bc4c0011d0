//! A disk for tests that tears, loses and refuses writes, and what a journal on it survives.
//!
//! What was not synced may be on the disk in part: each sector of a write on its own, in any order.
//! The length of a file is kept by the file system's own journal, so lengths change in order; room
//! that was made and not filled holds zeros.

use super::super::event::Event;
use super::disk::Disk;
use super::{Journal, chain};
use crate::data::Value;
use crate::numeric::random::Rng;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes that reach the disk or not, together: small, so that a line has many.
const SECTOR: usize = 16;

/// What is wrong with the disk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    /// Nothing.
    None,
    /// The machine stops at this operation.
    StopsAt(usize),
    /// This operation fails, a write after half of its bytes.
    FailsAt(usize),
    /// All operations from this one on fail.
    FailsFrom(usize),
}

#[derive(Debug)]
struct State {
    trouble: Trouble,
    operations: usize,
    stopped: bool,
    /// The file as programs see it.
    seen: Vec<u8>,
    /// The file as a crash would leave it, but for what is under way.
    durable: Vec<u8>,
    /// What was done since the last sync.
    under_way: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

/// A disk shared between a journal and its test.
#[derive(Debug, Clone)]
struct Simulated(Arc<Mutex<State>>);

impl Simulated {
    fn new(durable: Vec<u8>, trouble: Trouble) -> Simulated {
        Simulated(Arc::new(Mutex::new(State {
            trouble,
            operations: 0,
            stopped: false,
            seen: durable.clone(),
            durable,
            under_way: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// What the disk has after a crash now, by this seed.
    fn after_a_crash(&self, seed: u64) -> Vec<u8> {
        let state = self.state();
        let mut rng = Rng::new(seed);
        let mut disk = state.durable.clone();
        // Lengths change in order: only the first so many changes have their length on the disk.
        let changes = state.under_way.len();
        let reached = (rng.uniform() * (changes + 1) as f64) as usize;
        for change in &state.under_way[..reached] {
            match change {
                Change::Length(length) => disk.resize(*length, 0),
                Change::Bytes(at, bytes) => {
                    disk.resize(disk.len().max(at + bytes.len()), 0);
                    for (i, sector) in bytes.chunks(SECTOR).enumerate() {
                        if rng.uniform() < 0.5 {
                            let start = at + i * SECTOR;
                            disk[start..start + sector.len()].copy_from_slice(sector);
                        }
                    }
                }
            }
        }
        disk
    }
}

impl State {
    /// Count an operation; whether it goes wrong.
    fn operation(&mut self) -> io::Result<()> {
        let number = self.operations;
        self.operations += 1;
        let wrong = match self.trouble {
            Trouble::None => false,
            Trouble::StopsAt(at) => {
                self.stopped |= number >= at;
                self.stopped
            }
            Trouble::FailsAt(at) => number == at,
            Trouble::FailsFrom(at) => number >= at,
        };
        match wrong {
            true => Err(io::Error::other("simulated")),
            false => Ok(()),
        }
    }
}

impl Disk for Simulated {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.state().seen.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let outcome = state.operation();
        // A write that fails may have written a part.
        let part = if outcome.is_err() {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        let at = state.seen.len();
        state.seen.extend_from_slice(&bytes[..part]);
        state
            .under_way
            .push(Change::Bytes(at, bytes[..part].to_vec()));
        outcome
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.state();
        state.operation()?;
        state.seen.resize(length as usize, 0);
        state.under_way.push(Change::Length(length as usize));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.state();
        state.operation()?;
        state.durable = state.seen.clone();
        state.under_way.clear();
        Ok(())
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        self.state().operation()
    }

    fn fill_reserve(&mut self, _bytes: u64) -> io::Result<()> {
        self.state().operation()
    }

    fn drop_reserve(&mut self) {}
}

/// The events of a small run, with a fit, which is not waited for, among them.
fn run() -> Vec<Event> {
    let start = Event::Start {
        program: "test".into(),
        problem: serde_json::json!({"names": ["x"]}),
        text: "a problem".into(),
        seed: 0,
        method: serde_json::json!({}),
    };
    let mut events = vec![start];
    for id in 0..4 {
        if id == 2 {
            events.push(Event::Fit {
                component: 0,
                n: 2,
                full: true,
                theta: crate::belief::Theta::constant(0.0, 1.0, vec![1.0]).unwrap(),
                tau: None,
            });
        }
        events.push(Event::Ask {
            id,
            x: vec![0.25 * id as f64],
            audit: None,
        });
        events.push(Event::Tell {
            derived: Vec::new(),
            id,
            value: Value::Log(-(id as f64)),
            seconds: 0.5,
            at: 1.0,
        });
    }
    events
}

/// Do the run from where the disk is; how many events were told as kept, before the first that was
/// not, and whether the disk could be opened.
fn go(disk: &Simulated, events: &[Event]) -> crate::Result<usize> {
    let mut journal = Journal::on(Box::new(disk.clone()), PathBuf::from("run"), None);
    let mut known = journal.restore()?.0.len();
    if known == 0 {
        journal.begin(&events[0])?;
        known = 1;
    }
    for event in &events[known..] {
        if matches!(event, Event::Ask { .. }) {
            journal.reserve()?;
        }
        journal.append(event)?;
        known += 1;
    }
    Ok(known)
}

/// The events told as kept before trouble came: the lines of a disk that fails tell it by errors.
fn kept_before(disk: &Simulated, events: &[Event]) -> usize {
    // Fits are not waited for; all else that was told as kept is on the disk.
    let synced = chain::read(&disk.state().durable).events.len();
    assert_eq!(chain::read(&disk.state().durable).events, events[..synced]);
    synced
}

/// Operations of the whole run on a good disk.
fn operations(events: &[Event]) -> usize {
    let disk = Simulated::new(Vec::new(), Trouble::None);
    assert_eq!(go(&disk, events).unwrap(), events.len());
    let state = disk.state();
    assert_eq!(chain::read(&state.durable).events, events);
    state.operations
}

#[test]
fn whenever_the_machine_stops_what_was_told_as_kept_is_kept() {
    let events = run();
    for at in 0..operations(&events) {
        for seed in 0..40 {
            let disk = Simulated::new(Vec::new(), Trouble::StopsAt(at));
            assert!(go(&disk, &events).is_err());
            let synced = kept_before(&disk, &events);
            let bytes = disk.after_a_crash(seed);
            let after = Simulated::new(bytes, Trouble::None);
            let mut journal = Journal::on(Box::new(after.clone()), PathBuf::from("run"), None);
            let (found, _) = journal
                .restore()
                .unwrap_or_else(|e| panic!("operation {at}, seed {seed}: {e}"));
            assert!(found.len() >= synced, "operation {at}, seed {seed}");
            assert_eq!(found, events[..found.len()]);
            // The run goes on to the same end.
            drop(journal);
            assert_eq!(go(&after, &events).unwrap(), events.len());
            assert_eq!(chain::read(&after.state().durable).events, events);
        }
    }
}

#[test]
fn one_operation_that_fails_costs_nothing_or_an_error() {
    let events = run();
    for at in 0..operations(&events) {
        let disk = Simulated::new(Vec::new(), Trouble::FailsAt(at));
        // A write is tried twice; the rest is an error, and the run goes on when it is started
        // again.
        let _ = go(&disk, &events);
        let seen = disk.state().seen.clone();
        let again = Simulated::new(seen, Trouble::None);
        assert_eq!(go(&again, &events).unwrap(), events.len(), "operation {at}");
        assert_eq!(chain::read(&again.state().durable).events, events);
    }
}

#[test]
fn a_disk_that_fails_from_then_on_leaves_a_run_to_go_on_with() {
    let events = run();
    for at in 0..operations(&events) {
        let disk = Simulated::new(Vec::new(), Trouble::FailsFrom(at));
        assert!(go(&disk, &events).is_err());
        let synced = kept_before(&disk, &events);
        let seen = disk.state().seen.clone();
        for bytes in [seen, disk.after_a_crash(at as u64)] {
            let again = Simulated::new(bytes, Trouble::None);
            assert!(chain::read(&again.state().seen).events.len() >= synced);
            assert_eq!(go(&again, &events).unwrap(), events.len(), "operation {at}");
        }
    }
}

#[test]
fn a_line_told_as_failed_does_not_spoil_the_next() {
    let events = run();
    // The 2 writes of the first tell fail: set_len, append (fails), set_len, append (fails).
    let disk = Simulated::new(Vec::new(), Trouble::None);
    let mut journal = Journal::on(Box::new(disk.clone()), PathBuf::from("run"), None);
    journal.begin(&events[0]).unwrap();
    journal.append(&events[1]).unwrap();
    let now = disk.state().operations;
    disk.state().trouble = Trouble::FailsFrom(now);
    assert!(journal.append(&events[2]).is_err());
    disk.state().trouble = Trouble::None;
    let stop = Event::Stop {
        reason: "failure".into(),
        at: 1.0,
        in_journal: 0.0,
    };
    journal.append(&stop).unwrap();
    let found = chain::read(&disk.state().durable).events;
    assert_eq!(found, [events[0].clone(), events[1].clone(), stop]);
}
