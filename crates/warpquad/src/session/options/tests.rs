//! Check the table as a whole, and that a nested table is an option like the others.

use super::*;
use std::collections::BTreeSet;

/// A value that a kind allows.
fn example(kind: &Kind) -> Setting {
    let text = |text: &str| Setting::Text(text.to_string());
    match kind {
        Kind::Name { .. } | Kind::Path => text("a"),
        Kind::Word(words) => text(words[0]),
        Kind::Texts => Setting::List(vec![text("a")]),
        Kind::Flag => Setting::Flag(false),
        Kind::Count { .. } => Setting::Integer(7),
        Kind::Seconds { .. } | Kind::Positive | Kind::Variance => Setting::Number(0.25),
        Kind::Interval => Setting::List(vec![Setting::Number(-1.0), Setting::Number(2.0)]),
        Kind::Fields { all, .. } => {
            let name = all()[0].to_string();
            Setting::Table(vec![(name, Setting::Number(0.5))])
        }
        Kind::Structure { .. } => Setting::Table(Vec::new()),
    }
}

#[test]
fn what_is_put_into_an_option_comes_out_of_it() {
    for entry in TABLE {
        let mut problem = Problem::blank();
        let setting = example(&entry.kind);
        assert_eq!(entry.put(&mut problem, &setting), Ok(()), "{}", entry.name);
        assert_eq!((entry.get)(&problem), Some(setting), "{}", entry.name);
    }
}

#[test]
fn names_keywords_and_kept_names_are_one_each() {
    let unique = |names: Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    assert!(unique(TABLE.iter().map(Entry::field).collect()));
    assert!(unique(TABLE.iter().map(Entry::flag).collect()));
    for part in [Kept::Problem, Kept::Method] {
        let kept = TABLE.iter().filter(|entry| entry.kept == part);
        assert!(unique(kept.map(|entry| entry.name.to_string()).collect()));
    }
}

#[test]
fn every_option_has_one_short_line_of_help() {
    for entry in TABLE {
        assert!(
            !entry.help.is_empty() && entry.help.len() <= 95,
            "{}",
            entry.name
        );
        assert!(
            !entry.help.ends_with('.') && !entry.help.contains('\n'),
            "{}",
            entry.name
        );
        assert!(
            entry.default().is_some() || entry.unset != PLAIN.unset,
            "{}",
            entry.name
        );
    }
}

#[test]
fn what_the_first_line_keeps_is_restored() {
    let mut problem = Problem::blank();
    for entry in TABLE.iter().filter(|entry| entry.kept != Kept::Nowhere) {
        entry.put(&mut problem, &example(&entry.kind)).unwrap();
    }
    let mut back = Problem::blank();
    for part in [Kept::Problem, Kept::Method] {
        let kept = serde_json::Value::Object(agreed(&problem, part));
        restore(&mut back, part, &kept).unwrap();
        assert_eq!(agreed(&back, part), agreed(&problem, part));
    }
    let wrong = serde_json::json!({"nodes": 0});
    let said = restore(&mut back, Kept::Method, &wrong).unwrap_err();
    assert_eq!(
        said,
        "method.nodes: must be a whole number, 1 or more, got 0"
    );
}
