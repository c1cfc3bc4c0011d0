//! Keep every event of a run in an append-only file of JSON lines, chained by their checksums.
//!
//! The file is the run: opening it is resuming. A line is on the disk before the next evaluation
//! starts, so a run that is killed loses nothing but the evaluation under way.

mod chain;
mod disk;
mod repair;
#[cfg(test)]
mod simulated;

pub use chain::Torn;
pub use repair::{Cut, Repaired, repair};

use super::event::Event;
use crate::error::{Error, Result};
use chain::{Chain, Contents, Rest};
use disk::{Directory, Disk, FILE};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The lock's file.
const LOCK: &str = "lock";
/// Room for one event: a thousand parameters at 25 bytes each, twice over.
const RESERVE_BYTES: u64 = 64 * 1024;
/// What the first line of every journal begins with.
const FIRST_WORDS: &[u8] = br#"{"event":"start","journal":"#;

/// How long to wait for a run that another process holds.
///
/// In `warpquad ask | evaluate | warpquad tell` both ends start at once, and each holds the run for
/// as long as a choice takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open journal; the run is locked while it lives.
#[derive(Debug)]
pub struct Journal {
    disk: Box<dyn Disk>,
    /// The file, for messages.
    path: PathBuf,
    chain: Chain,
    /// Bytes of good lines; what lies beyond was half written.
    sound: u64,
    /// Held for its lock.
    _lock: Option<File>,
}

impl Journal {
    /// Start a journal in a directory that has none.
    pub fn create(dir: &Path, first: &Event) -> Result<Journal> {
        fs::create_dir_all(dir).map_err(|e| io(dir, &e))?;
        let lock = lock(dir, Duration::ZERO)?;
        if Journal::exists(dir) {
            let reason = format!("{} holds a run already", dir.display());
            return Err(Error::spec("run", reason));
        }
        let path = dir.join(FILE);
        let disk = Directory::open(dir, true).map_err(|e| io(&path, &e))?;
        let mut journal = Journal::on(Box::new(disk), path, Some(lock));
        journal.begin(first)?;
        Ok(journal)
    }

    fn on(disk: Box<dyn Disk>, path: PathBuf, lock: Option<File>) -> Journal {
        Journal {
            disk,
            path,
            chain: Chain::default(),
            sound: 0,
            _lock: lock,
        }
    }

    /// Write the first line in place of what a run that was killed over it may have left.
    fn begin(&mut self, first: &Event) -> Result<()> {
        let old = self.disk.read().map_err(|e| io(&self.path, &e))?;
        if !is_begun(&old) {
            let reason = format!(
                "{} is no journal of this program; name another directory",
                self.path.display()
            );
            return Err(Error::spec("run", reason));
        }
        self.disk.set_len(0).map_err(|e| io(&self.path, &e))?;
        self.append(first)?;
        // The file's name is on the disk only when its directory is.
        let synced = self.disk.sync_directory();
        synced.map_err(|e| io(&self.path, &e))
    }

    /// Open a journal to go on with it, and read what happened; what a crash left of its last write
    /// is cut off and told.
    pub fn open(dir: &Path) -> Result<(Journal, Vec<Event>, Option<Torn>)> {
        Journal::must_exist(dir)?;
        let lock = lock(dir, PATIENCE)?;
        let path = dir.join(FILE);
        let disk = Directory::open(dir, false).map_err(|e| io(&path, &e))?;
        let mut journal = Journal::on(Box::new(disk), path, Some(lock));
        let (events, torn) = journal.restore()?;
        Ok((journal, events, torn))
    }

    /// Read what the disk has and stand after its last good line.
    fn restore(&mut self) -> Result<(Vec<Event>, Option<Torn>)> {
        let bytes = self.disk.read().map_err(|e| io(&self.path, &e))?;
        let contents = chain::read(&bytes);
        self.chain = contents.chain;
        self.sound = contents.sound as u64;
        let (events, torn) = accept(contents)?;
        if torn.is_some() {
            let cut = self.disk.set_len(self.sound);
            cut.and_then(|()| self.disk.sync())
                .map_err(|e| io(&self.path, &e))?;
        }
        Ok((events, torn))
    }

    /// Read a journal without locking it: a run may be looked at while it goes on.
    pub fn peek(dir: &Path) -> Result<Vec<Event>> {
        Journal::must_exist(dir)?;
        let path = dir.join(FILE);
        let bytes = fs::read(&path).map_err(|e| io(&path, &e))?;
        parse(&bytes)
    }

    /// Whether the directory holds a journal with at least its first line.
    pub fn exists(dir: &Path) -> bool {
        match fs::read(dir.join(FILE)) {
            Ok(bytes) => bytes.contains(&b'\n'),
            // What cannot be read is there: opening it says what is wrong.
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    fn must_exist(dir: &Path) -> Result<()> {
        if Journal::exists(dir) {
            return Ok(());
        }
        let reason = format!("{} holds no run", dir.display());
        Err(Error::spec("run", reason))
    }

    /// Whether a process holds the run.
    pub fn in_use(dir: &Path) -> bool {
        let file = File::open(dir.join(LOCK));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The length of the journal in a directory, and a checksum of it; `None` if it cannot be read.
    pub fn mark(dir: &Path) -> Option<(u64, u32)> {
        let bytes = fs::read(dir.join(FILE)).ok()?;
        Some((bytes.len() as u64, crc32fast::hash(&bytes)))
    }

    /// Make sure that there is room for the next value before it is paid for.
    pub fn reserve(&mut self) -> Result<()> {
        // A limit on the size of files is met here, not when the value is to be written. A crash in
        // between leaves zeros without a line end, which are cut off like any half-written line.
        let grown = self.disk.set_len(self.sound + RESERVE_BYTES);
        grown
            .and_then(|()| self.disk.set_len(self.sound))
            .and_then(|()| self.disk.fill_reserve(RESERVE_BYTES))
            .map_err(|e| io(&self.path, &e))
    }

    /// Write an event and wait until it is on the disk; a fit and a frame go there with the point
    /// that they chose.
    pub fn append(&mut self, event: &Event) -> Result<()> {
        let (line, chain) = self.chain.seal(&event.to_json());
        let wait = !matches!(event, Event::Fit { .. } | Event::Frame(_));
        if let Err(first) = self.write(&line, wait) {
            // Give the reserve's space back and try once more. The bytes are written anew: after a
            // failed sync the system may have forgotten that they are not on the disk.
            self.disk.drop_reserve();
            if self.write(&line, wait).is_err() {
                // Told as failed, so it must not be found later.
                let _ = self.disk.set_len(self.sound);
                return Err(io(&self.path, &first));
            }
        }
        self.chain = chain;
        self.sound += line.len() as u64;
        Ok(())
    }

    fn write(&mut self, line: &str, wait: bool) -> std::io::Result<()> {
        // What an earlier write left half done must not come before this line.
        self.disk.set_len(self.sound)?;
        self.disk.append(line.as_bytes())?;
        if wait { self.disk.sync() } else { Ok(()) }
    }
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}

/// Whether these bytes may be what is left of a first line that was never finished.
fn is_begun(bytes: &[u8]) -> bool {
    let known = bytes.len().min(FIRST_WORDS.len());
    let matches = |(byte, word): (&u8, &u8)| *byte == *word || *byte == 0;
    bytes[..known].iter().zip(FIRST_WORDS).all(matches)
}

fn lock(dir: &Path, patience: Duration) -> Result<File> {
    let path = dir.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|e| io(&path, &e))?;
    let started = Instant::now();
    // Whoever asks if the run is in use holds the lock for a moment: once is not enough.
    let patience = patience.max(Duration::from_millis(100));
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(e)) => return Err(io(&path, &e)),
        }
    }
    let reason = format!(
        "{} is in use by another process; wait for it, or look at the run with `warpquad status`",
        dir.display()
    );
    Err(Error::spec("run", reason))
}

/// The events as the lines of a journal.
pub fn lines(events: &[Event]) -> String {
    let mut chain = Chain::default();
    let line = |event: &Event| {
        let (line, next) = chain.seal(&event.to_json());
        chain = next;
        line
    };
    events.iter().map(line).collect()
}

/// All events of a journal's bytes; what a crash left of its last write is left out.
pub fn parse(bytes: &[u8]) -> Result<Vec<Event>> {
    accept(chain::read(bytes)).map(|(events, _)| events)
}

/// Refuse what no crash explains.
fn accept(contents: Contents) -> Result<(Vec<Event>, Option<Torn>)> {
    match contents.rest {
        Rest::Nothing => Ok((contents.events, None)),
        Rest::Torn(torn) => Ok((contents.events, Some(torn))),
        Rest::Damaged(reason) => Err(Error::Journal {
            line: contents.events.len() + 1,
            reason: format!(
                "{reason}; `warpquad repair RUN` goes back to the lines before it and keeps the rest"
            ),
        }),
    }
}
