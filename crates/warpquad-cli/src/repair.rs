//! Bring a damaged run back to its last good line.

use crate::args::Look;
use crate::output;
use serde_json::json;
use warpquad::Result;
use warpquad::session::{self, Repaired};

pub fn repair(args: &Look) -> Result<()> {
    let Repaired { lines, values, cut } = session::repair(&args.run)?;
    if args.json {
        output::json(&json!({
            "lines": lines, "evaluations": values,
            "reason": cut.as_ref().map(|cut| &cut.reason),
            "bytes_cut": cut.as_ref().map_or(0, |cut| cut.bytes),
            "kept_in": cut.as_ref().map(|cut| cut.kept_in.display().to_string()),
        }));
        return Ok(());
    }
    match cut {
        None => output::line(&format!("nothing to repair: all {lines} lines are good")),
        Some(cut) => output::line(&format!(
            "{}\n{lines} lines with {values} evaluations stay; the {} bytes after them are in {}",
            cut.reason,
            cut.bytes,
            cut.kept_in.display()
        )),
    }
    Ok(())
}
