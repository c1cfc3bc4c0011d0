//! `warpquad reproduce`: what it writes, and what it says without data.

use crate::common::*;
use std::fs;

#[test]
fn a_figure_leaves_a_csv_an_svg_and_a_section() {
    let dir = directory("reproduce-figure");
    let out = dir.join("out");
    let run = |more: &[&str]| {
        let mut command = warpquad(&["reproduce", "fig2", "--out"]);
        command.arg(&out).args(more);
        done(&mut command)
    };
    let printed = run(&["--quick"]).exits(0).stdout;
    for file in ["fig2.csv", "fig2.svg", "README.md"] {
        assert!(printed.contains(file), "{printed}");
        assert!(out.join(file).is_file());
    }
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(readme.contains("quick run, seed 0") && readme.contains("(tables.md)"));
    let tables = fs::read_to_string(out.join("tables.md")).unwrap();
    assert!(tables.contains("\n## fig2: "));
    // The same again changes nothing; another scope or seed would mix, and is refused.
    run(&["--quick"]).exits(0);
    assert_eq!(fs::read_to_string(out.join("README.md")).unwrap(), readme);
    for other in [&[][..], &["--quick", "--seed", "1"]] {
        let refused = run(other).exits(1).stderr;
        assert!(refused.contains("choose another folder"), "{refused}");
    }
}

#[test]
fn without_data_it_says_what_to_fetch() {
    let dir = directory("reproduce-data");
    let mut command = warpquad(&["reproduce", "table2", "--quick", "--out"]);
    command.arg(dir.join("out")).env_remove("WARPQUAD_DATA");
    let nothing = done(&mut command).exits(1).stderr;
    assert!(nothing.contains("--data or WARPQUAD_DATA"), "{nothing}");
    assert!(nothing.contains("hpolib/lda.csv is needed"), "{nothing}");
    let mut command = warpquad(&["reproduce", "table2", "--quick", "--out"]);
    command.arg(dir.join("out")).env("WARPQUAD_DATA", &dir);
    let missing = done(&mut command).exits(1).stderr;
    assert!(
        missing.contains("github.com/automl/HPOlib at commit 934a377b"),
        "{missing}"
    );
}

#[test]
fn an_unknown_experiment_is_refused_with_the_list() {
    let dir = directory("reproduce-unknown");
    let mut command = warpquad(&["reproduce", "table9", "--out"]);
    let refused = done(command.arg(dir.join("out"))).exits(1).stderr;
    assert!(
        refused.contains("table9") && refused.contains("table2"),
        "{refused}"
    );
    assert!(!dir.join("out").exists());
}
