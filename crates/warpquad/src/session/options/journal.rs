//! Keep options in the journal's first line, and take them from there.

use super::{Kept, Setting, TABLE};
use crate::session::spec::Problem;
use serde_json::{Map, Value as Json};

/// The options that one part of the first line keeps, as a problem has them; those it does not have
/// are left out.
pub(in crate::session) fn agreed(problem: &Problem, part: Kept) -> Map<String, Json> {
    let kept = TABLE.iter().filter(|entry| entry.kept == part);
    let said = kept.filter_map(|entry| Some((entry, (entry.get)(problem)?)));
    said.map(|(entry, setting)| (entry.name.to_string(), setting.to_json()))
        .collect()
}

/// Give a problem the options that a part of the first line keeps: flags may have replaced what its
/// file says.
pub(in crate::session) fn restore(
    problem: &mut Problem,
    part: Kept,
    kept: &Json,
) -> Result<(), String> {
    for entry in TABLE.iter().filter(|entry| entry.kept == part) {
        if let Some(setting) = kept.get(entry.name).and_then(Setting::from_json) {
            let put = entry.put(problem, &setting);
            put.map_err(|wrong| format!("{}: {}", entry.field(), wrong.full()))?;
        }
    }
    Ok(())
}
