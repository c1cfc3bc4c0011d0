//! Take in what a problem says is known before the run.

use std::path::Path;
use warpquad::Result;
use warpquad::session::{Offered, Session};

/// Take the points that the problem names, a path being relative to `home`; a run that has them
/// already is left as it is.
pub fn take(session: &mut Session, home: &Path, quiet: bool) -> Result<()> {
    let Some(path) = session.problem().settings.initial.clone() else {
        return Ok(());
    };
    let offered = Offered::read(&home.join(path), session.problem())?;
    let initial = session.take_initial(&offered)?;
    if !quiet {
        eprintln!("initial: {}", initial.words());
    }
    Ok(())
}
