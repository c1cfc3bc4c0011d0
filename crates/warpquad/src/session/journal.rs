//! Keep every event of a run in an append-only file of JSON lines, each with its checksum.
//!
//! The file is the run: opening it is resuming. A line is on the disk before the next evaluation
//! starts, so a run that is killed loses nothing but the evaluation under way.

use super::event::Event;
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// The journal's file in a run's directory.
const FILE: &str = "journal.jsonl";
/// The lock's file.
const LOCK: &str = "lock";
/// A file whose space is given back when the disk is full, so that a value already paid for can
/// still be written.
const RESERVE: &str = "reserve";
/// Room for one event: a thousand parameters at 25 bytes each, twice over.
const RESERVE_BYTES: u64 = 64 * 1024;

/// An open journal; the run is locked while it lives.
#[derive(Debug)]
pub struct Journal {
    file: File,
    dir: PathBuf,
    /// Held for its lock.
    _lock: File,
}

impl Journal {
    /// Start a journal in a directory that has none.
    pub fn create(dir: &Path, first: &Event) -> Result<Journal> {
        fs::create_dir_all(dir).map_err(|e| io(dir, &e))?;
        let lock = lock(dir)?;
        let path = dir.join(FILE);
        if Journal::exists(dir) {
            return Err(Error::spec(
                "run",
                format!("{} holds a run already", dir.display()),
            ));
        }
        // A run that was killed over its first line has left a part of it: it is no run yet.
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().append(true).create(true).open(&path)?;
            file.set_len(0)?;
            Ok(file)
        };
        let mut journal = Journal {
            file: open().map_err(|e| io(&path, &e))?,
            dir: dir.to_path_buf(),
            _lock: lock,
        };
        journal.append(first)?;
        // The file's name is on the disk only when its directory is.
        #[cfg(unix)]
        File::open(dir)
            .and_then(|d| d.sync_all())
            .map_err(|e| io(dir, &e))?;
        Ok(journal)
    }

    /// Open a journal to go on with it, and read what happened. A half-written last line is cut off.
    pub fn open(dir: &Path) -> Result<(Journal, Vec<Event>)> {
        Journal::must_exist(dir)?;
        let lock = lock(dir)?;
        let path = dir.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(|e| io(&path, &e))?;
        let (events, sound) = read(&path, &mut file)?;
        file.set_len(sound).map_err(|e| io(&path, &e))?;
        file.seek(SeekFrom::End(0)).map_err(|e| io(&path, &e))?;
        let journal = Journal {
            file,
            dir: dir.to_path_buf(),
            _lock: lock,
        };
        Ok((journal, events))
    }

    /// Read a journal without locking it: a run may be looked at while it goes on.
    pub fn peek(dir: &Path) -> Result<Vec<Event>> {
        Journal::must_exist(dir)?;
        let path = dir.join(FILE);
        let mut file = File::open(&path).map_err(|e| io(&path, &e))?;
        Ok(read(&path, &mut file)?.0)
    }

    /// Whether the directory holds a journal with at least its first line.
    pub fn exists(dir: &Path) -> bool {
        let Ok(file) = File::open(dir.join(FILE)) else {
            return false;
        };
        let mut first = Vec::new();
        // What cannot be read is there: opening it says what is wrong.
        BufReader::new(file).read_until(b'\n', &mut first).is_err() || first.ends_with(b"\n")
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

    /// Make sure that there is room for the next value before it is paid for.
    pub fn reserve(&self) -> Result<()> {
        // A limit on the size of files is met here, not when the value is to be written. A crash in
        // between leaves zeros without a line end, which are cut off like any half-written line.
        let grow = || -> std::io::Result<()> {
            let length = self.file.metadata()?.len();
            self.file.set_len(length + RESERVE_BYTES)?;
            self.file.set_len(length)
        };
        grow().map_err(|e| io(&self.dir.join(FILE), &e))?;
        let path = self.dir.join(RESERVE);
        if fs::metadata(&path).is_ok_and(|m| m.len() == RESERVE_BYTES) {
            return Ok(());
        }
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&path)?;
            file.write_all(&vec![b' '; RESERVE_BYTES as usize])?;
            file.sync_data()
        };
        write().map_err(|e| io(&path, &e))
    }

    /// Write an event and wait until it is on the disk; a fit goes there with the point it chose.
    pub fn append(&mut self, event: &Event) -> Result<()> {
        let line = seal(&event.to_json());
        let wait = !matches!(event, Event::Fit { .. });
        let start = self.file.metadata().map_err(|e| io(&self.dir, &e))?.len();
        let Err(first) = self.write(&line, wait) else {
            return Ok(());
        };
        // Give the reserve's space back, drop what was half written, and try once more.
        let _ = fs::remove_file(self.dir.join(RESERVE));
        let _ = self.file.set_len(start);
        self.write(&line, wait)
            .map_err(|_| io(&self.dir.join(FILE), &first))
    }

    fn write(&mut self, line: &str, wait: bool) -> std::io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        if wait { self.file.sync_data() } else { Ok(()) }
    }
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}

fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|e| io(&path, &e))?;
    // Whoever asks if the run is in use holds the lock for a moment: once is not enough.
    for _ in 0..20 {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(5)),
            Err(TryLockError::Error(e)) => return Err(io(&path, &e)),
        }
    }
    let reason = format!(
        "{} is in use by another process; wait for it, or look at the run with `warpquad status`",
        dir.display()
    );
    Err(Error::spec("run", reason))
}

/// A line with its checksum as the last field.
pub fn seal(json: &str) -> String {
    let body = json.strip_suffix('}').unwrap_or(json);
    format!(
        "{body},\"crc\":\"{:08x}\"}}\n",
        crc32fast::hash(body.as_bytes())
    )
}

/// The JSON of a sealed line, or what is wrong with it.
fn unseal(line: &str) -> std::result::Result<String, String> {
    const TAIL: usize = r#","crc":"01234567"}"#.len();
    let cut = line
        .len()
        .checked_sub(TAIL)
        .filter(|&i| line.is_char_boundary(i));
    let Some((body, tail)) = cut.map(|i| line.split_at(i)) else {
        return Err("the line is too short to be an event".into());
    };
    let expected = format!(",\"crc\":\"{:08x}\"}}", crc32fast::hash(body.as_bytes()));
    if tail != expected {
        return Err("the checksum does not match: the line was damaged or edited".into());
    }
    Ok(format!("{body}}}"))
}

fn read(path: &Path, file: &mut File) -> Result<(Vec<Event>, u64)> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e| io(path, &e))?;
    parse(&bytes)
}

/// All events of a journal's bytes, and how many of the bytes they take.
pub fn parse(bytes: &[u8]) -> Result<(Vec<Event>, u64)> {
    let mut events = Vec::new();
    let mut sound = 0;
    let mut number = 0;
    while sound < bytes.len() {
        number += 1;
        let rest = &bytes[sound..];
        // Without its line end the last line was half written.
        let Some(length) = rest.iter().position(|&b| b == b'\n') else {
            break;
        };
        let line = std::str::from_utf8(&rest[..length]).map_err(|e| e.to_string());
        let event = line
            .and_then(unseal)
            .and_then(|json| Event::from_json(&json));
        let event = event.map_err(|reason| Error::Journal {
            line: number,
            reason,
        })?;
        events.push(event);
        sound += length + 1;
    }
    Ok((events, sound as u64))
}
