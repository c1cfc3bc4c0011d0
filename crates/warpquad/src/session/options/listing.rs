//! Write the table as JSON, for what is made from it: Python's keywords and the tables of the
//! guide.

use super::{Entry, Kept, Kind, Reach, Setting, TABLE};
use serde_json::{Value as Json, json};

/// The table as JSON: a list of objects, one for each option.
///
/// ```
/// let listing = warpquad::session::options::listing();
/// let nodes = listing.as_array().unwrap().iter().find(|row| row["name"] == "nodes").unwrap();
/// assert_eq!((&nodes["kind"], &nodes["default"]), (&"count".into(), &serde_json::Value::Null));
/// ```
pub fn listing() -> Json {
    TABLE.iter().map(row).collect()
}

fn row(entry: &Entry) -> Json {
    let default = entry.default();
    let refused: Vec<&str> = entry.refused.iter().map(|(case, _)| case.name()).collect();
    json!({
        "name": entry.name,
        "keyword": entry.keyword,
        "flag": (entry.reach != Reach::File).then(|| entry.flag()),
        "python": entry.reach == Reach::Everybody,
        "section": entry.section.name(),
        "kind": entry.kind.name(),
        "choices": choices(&entry.kind),
        "default": default.as_ref().map(Setting::to_json),
        "unset": default.is_none().then_some(entry.unset),
        "fixed": entry.kept != Kept::Nowhere,
        "refused": refused,
        "help": entry.help,
    })
}

/// What there is to choose from: words, the names of fields, or what to list.
fn choices(kind: &Kind) -> Json {
    match kind {
        Kind::Word(words) => json!(words),
        Kind::Fields { all, .. } => json!(all()),
        Kind::Name { family } => json!(family),
        _ => Json::Null,
    }
}
