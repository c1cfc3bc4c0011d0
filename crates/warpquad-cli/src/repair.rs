//! Bring a damaged run back to its last good line.

use crate::args::Look;
use crate::output;
use serde_json::json;
use warpquad::Result;
use warpquad::session::{self, Repaired, count};

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
            "{}\nkept: {} with {}; the {} after that: {}",
            cut.reason,
            count(lines, "line"),
            count(values, "evaluation"),
            count(cut.bytes, "byte"),
            cut.kept_in.display()
        )),
    }
    Ok(())
}
