//! Keep what a page shows beside the journal, so that a second look costs nothing.

use crate::findings::Findings;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use warpquad::Result;
use warpquad::session::Session;

/// The file's name in a run's directory.
pub const FILE: &str = "look.json";

/// Of what the file holds; a change of [`Findings`] changes it.
const VERSION: u32 = 3;

/// What is kept, with what it was worked out from.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    program: String,
    journal_bytes: u64,
    journal_checksum: u32,
    findings: Findings,
}

/// What a run in a directory has found: what was kept of the last look if the journal is as it was
/// then, and worked out anew otherwise.
///
/// A directory that cannot be written to is looked at all the same.
pub fn look(dir: &Path) -> Result<Findings> {
    // Taken before the journal is read: a line that is added in between makes the next look anew.
    let mark = Session::journal_mark(dir);
    if let Some(mut findings) = mark.and_then(|mark| read(dir, mark)) {
        if ["running", "unfinished"].contains(&findings.stop.as_str()) {
            let state = state(dir);
            if findings.report.is_object() {
                findings.report["stop"] = state.into();
            }
            findings.stop = state.into();
        }
        return Ok(findings);
    }
    let mut session = Session::peek(dir)?;
    let stop = session.last_stop().unwrap_or(state(dir)).to_string();
    let findings = Findings::of(&mut session, &stop)?;
    if let Some(mark) = mark {
        write(dir, mark, &findings);
    }
    Ok(findings)
}

/// In which state a run is whose journal does not say that it stopped.
fn state(dir: &Path) -> &'static str {
    match Session::is_in_use(dir) {
        true => "running",
        false => "unfinished",
    }
}

fn read(dir: &Path, (bytes, checksum): (u64, u32)) -> Option<Findings> {
    let text = fs::read(dir.join(FILE)).ok()?;
    let kept: Kept = serde_json::from_slice(&text).ok()?;
    let same = kept.version == VERSION
        && kept.program == env!("CARGO_PKG_VERSION")
        && (kept.journal_bytes, kept.journal_checksum) == (bytes, checksum);
    same.then_some(kept.findings)
}

/// Write the file as a whole or not at all; nothing depends on it.
fn write(dir: &Path, (journal_bytes, journal_checksum): (u64, u32), findings: &Findings) {
    let kept = Kept {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").into(),
        journal_bytes,
        journal_checksum,
        findings: findings.clone(),
    };
    let Ok(text) = serde_json::to_vec(&kept) else {
        return;
    };
    let half = dir.join(format!("{FILE}.{}", std::process::id()));
    if fs::write(&half, text).is_err() || fs::rename(&half, dir.join(FILE)).is_err() {
        let _ = fs::remove_file(&half);
    }
}
