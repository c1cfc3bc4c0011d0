//! Cut a journal at its last good line, and keep the rest beside it.

use super::chain::{self, Rest};
use super::disk::{Directory, Disk, FILE};
use super::{Event, Journal, io, lock};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Lines that stay.
    pub lines: usize,
    /// Values among them.
    pub values: usize,
    /// What was wrong, and the file that the rest is in; `None` if all lines are good.
    pub cut: Option<Cut>,
}

/// What a repair cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// What is wrong with the first line that does not stay.
    pub reason: String,
    /// Bytes cut off.
    pub bytes: usize,
    /// Where they are now.
    pub kept_in: PathBuf,
}

/// Cut the journal in a directory at its last good line, and keep the rest beside it.
///
/// ```
/// use warpquad::session::{Session, repair, spec::Problem};
/// let dir = std::env::temp_dir().join(format!("warpquad-repair-{}", std::process::id()));
/// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
/// let mut session = Session::create(Problem::parse(text)?, text, 0, &dir)?;
/// session.ask()?;
/// drop(session);
/// assert_eq!(repair(&dir)?.cut, None);
/// let journal = dir.join("journal.jsonl");
/// std::fs::write(&journal, std::fs::read_to_string(&journal)? + "an edit\n")?;
/// assert!(Session::open(&dir, None).is_err());
/// assert_eq!(repair(&dir)?.lines, 2);
/// assert!(Session::open(&dir, None).is_ok());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn repair(dir: &Path) -> Result<Repaired> {
    Journal::must_exist(dir)?;
    let _lock = lock(dir, Duration::ZERO)?;
    let path = dir.join(FILE);
    let mut disk = Directory::open(dir, false).map_err(|e| io(&path, &e))?;
    let bytes = disk.read().map_err(|e| io(&path, &e))?;
    let contents = chain::read(&bytes);
    let is_value = |event: &&Event| matches!(event, Event::Tell { .. });
    let values = contents.events.iter().filter(is_value).count();
    let lines = contents.events.len();
    let reason = match contents.rest {
        Rest::Nothing => None,
        Rest::Torn(torn) => Some(torn.to_string()),
        Rest::Damaged(reason) => Some(format!("line {}: {reason}", lines + 1)),
    };
    let Some(reason) = reason else {
        return Ok(Repaired {
            lines,
            values,
            cut: None,
        });
    };
    if lines == 0 {
        let reason = format!("{reason}; it says what the run is about, so nothing can be saved");
        return Err(Error::Journal { line: 1, reason });
    }
    let rest = &bytes[contents.sound..];
    let kept_in = keep(dir, rest).map_err(|e| io(dir, &e))?;
    // The rest is on the disk before the journal loses it.
    let cut = disk.sync_directory();
    cut.and_then(|()| disk.set_len(contents.sound as u64))
        .and_then(|()| disk.sync())
        .map_err(|e| io(&path, &e))?;
    Ok(Repaired {
        lines,
        values,
        cut: Some(Cut {
            reason,
            bytes: rest.len(),
            kept_in,
        }),
    })
}

/// Write the rest to a new file: `journal.rest-1`, or the next number that is free.
fn keep(dir: &Path, rest: &[u8]) -> std::io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let path = dir.join(format!("journal.rest-{number}"));
        match File::create_new(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(e),
            Ok(mut file) => {
                file.write_all(rest)?;
                file.sync_all()?;
                return Ok(path);
            }
        }
    }
}
