//! The layers of ARCHITECTURE.md, read off the `use crate::` lines.

use std::fs;
use std::path::Path;

/// Modules from the ground up; a module may use those of lower layers, and its own.
const LAYERS: &[&[&str]] = &[
    &["numeric", "points", "error"],
    &["warp", "kernel", "measure"],
    &["data", "belief"],
    &["fit", "functional"],
    &["acquisition", "baseline", "engine", "regression"],
    &["session"],
];

/// Modules of one layer that may use each other: the engine drives acquisitions, data feeds
/// beliefs.
const FRIENDS: &[(&str, &str)] = &[
    ("engine", "acquisition"),
    ("engine", "baseline"),
    ("points", "error"),
    ("numeric", "error"),
];

/// Numerical crates, and the one place that may name them.
const CRATES: &[&str] = &["faer", "basin", "libm", "rand_pcg"];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

fn sources(dir: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Non-test code lines with the crate modules they name.
fn used_modules(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let mut out = Vec::new();
    for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            let name: String = part
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            out.push(name);
        }
    }
    out
}

#[test]
fn no_module_looks_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let module = relative
            .iter()
            .next()
            .unwrap()
            .to_string_lossy()
            .replace(".rs", "");
        let Some(own) = layer(&module) else { continue };
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            let Some(other) = layer(&used) else { continue };
            let friend = FRIENDS.contains(&(module.as_str(), used.as_str()));
            let peers = own == other && used != module && !friend && own != 2 && own != 0;
            if other > own || peers {
                wrong.push(format!("{} uses crate::{used}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn numerical_crates_are_named_in_numeric_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let inside = file.starts_with(root.join("numeric"));
        for name in CRATES {
            let named = text.contains(&format!("{name}::"));
            assert!(!named || inside, "{} names {name}", file.display());
        }
    }
}

#[test]
fn every_file_opens_with_its_job() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("//! "),
            "{} has no opening sentence",
            file.display()
        );
    }
}
