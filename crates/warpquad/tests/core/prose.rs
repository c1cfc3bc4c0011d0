//! No line of prose is wider than 100 columns: comments, docstrings, Markdown and the Makefile.

use std::fs;
use std::path::{Path, PathBuf};

/// The widest line of prose.
const COLUMNS: usize = 100;

/// Folders that are not read: what is built, and what the benchmark writes.
const WRITTEN: &[&str] = &["target", "benchmarks/results"];

/// How the names of files with prose end.
const EXTENSIONS: &[&str] = &[".rs", ".py", ".pyi", ".md", "Makefile"];

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file with prose below a folder of the repository, by its path from the root. Hidden
/// folders are left out.
fn files(folder: &str, out: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match folder {
            "" => name.clone(),
            _ => format!("{folder}/{name}"),
        };
        if name.starts_with('.') || WRITTEN.contains(&path.as_str()) {
            continue;
        }
        match entry.file_type().unwrap().is_dir() {
            true => files(&path, out),
            false if EXTENSIONS.iter().any(|end| path.ends_with(end)) => out.push(path),
            false => {}
        }
    }
}

/// Numbers of the lines of prose that are too wide, counted from 1.
fn wide_lines(path: &str, text: &str) -> Vec<usize> {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => wide(text, |line| line.starts_with("//")),
        Some("py" | "pyi") => {
            let mut inside = None;
            wide(text, |line| is_python_prose(line, &mut inside))
        }
        Some("md") => {
            let mut in_fence = false;
            wide(text, |line| is_markdown_prose(line, &mut in_fence))
        }
        None if path.ends_with("Makefile") => wide(text, |line| line.starts_with('#')),
        _ => Vec::new(),
    }
}

fn wide(text: &str, mut is_prose: impl FnMut(&str) -> bool) -> Vec<usize> {
    let numbered = text.lines().zip(1..);
    // Every line is asked, since some open a docstring or a fence.
    let prose = numbered.filter(|(line, _)| is_prose(line.trim_start()));
    let too_wide = prose.filter(|(line, _)| line.chars().count() > COLUMNS && !is_one_word(line));
    too_wide.map(|(_, number)| number).collect()
}

/// Whether a line cannot be broken: an address, or a path.
fn is_one_word(line: &str) -> bool {
    let words = line.split_whitespace();
    words
        .filter(|word| !["//", "///", "//!", "#", "*", "-"].contains(word))
        .count()
        == 1
}

/// A comment, or a line of a docstring. `inside` says whether a string of several lines is open,
/// and whether it is a docstring.
fn is_python_prose(line: &str, inside: &mut Option<bool>) -> bool {
    let opens = line.starts_with("\"\"\"");
    let is_docstring = inside.unwrap_or(opens);
    if line.matches("\"\"\"").count() % 2 == 1 {
        *inside = match inside {
            Some(_) => None,
            None => Some(opens),
        };
    }
    is_docstring || inside.is_none() && line.starts_with('#')
}

/// Not a row of a table, a picture or a fenced block.
fn is_markdown_prose(line: &str, in_fence: &mut bool) -> bool {
    let is_fence = line.starts_with("```");
    *in_fence ^= is_fence;
    !is_fence && !*in_fence && !line.starts_with('|') && !line.starts_with("![")
}

#[test]
fn no_line_of_prose_is_wider_than_100_columns() {
    let mut all = Vec::new();
    files("", &mut all);
    assert!(all.iter().any(|path| path == "README.md"), "{all:?}");
    let mut wrong = Vec::new();
    for path in &all {
        let text = fs::read_to_string(root().join(path)).unwrap();
        let lines = wide_lines(path, &text);
        wrong.extend(lines.iter().map(|number| format!("{path}:{number}")));
    }
    assert!(
        wrong.is_empty(),
        "wider than {COLUMNS} columns; wrap them, and shorten the sentence:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn prose_is_told_from_code() {
    let long = "word ".repeat(21);
    let rust = format!("/// {long}\nlet x = \"{long}\";\n    // {long}\n");
    assert_eq!(wide_lines("a.rs", &rust), [1, 3]);
    let python = format!("\"\"\"Short.\n\n{long}\n\"\"\"\nx = \"{long}\"\n# {long}\n");
    assert_eq!(wide_lines("a.py", &python), [3, 6]);
    let template = format!("x = \"\"\"\n{long}\n\"\"\"\ny = \"{long}\"\n");
    assert_eq!(wide_lines("a.py", &template), [] as [usize; 0]);
    let markdown = format!("{long}\n| {long} |\n```\n{long}\n```\n* {long}\n");
    assert_eq!(wide_lines("a.md", &markdown), [1, 6]);
    let address = format!("* https://example.org/{}\n", "x".repeat(100));
    assert_eq!(wide_lines("a.md", &address), [] as [usize; 0]);
}
