//! Snapshots of what people read: help and the table of a result.

use crate::common::*;
use std::fs;
use std::path::Path;

/// Compare with the committed text; with WARPQUAD_UPDATE_SNAPSHOTS set, commit to this one instead.
#[track_caller]
fn assert_snapshot(name: &str, text: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots");
    let file = dir.join(format!("{name}.txt"));
    if std::env::var_os("WARPQUAD_UPDATE_SNAPSHOTS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == text,
        "{} differs; if it is meant, set WARPQUAD_UPDATE_SNAPSHOTS=1\n--- kept\n{kept}\n--- now\n{text}",
        file.display()
    );
}

#[test]
fn help_of_every_command_is_as_committed() {
    let top = done(&mut warpquad(&["--help"])).exits(0);
    assert_snapshot("help", &top.stdout);
    let commands = [
        "integrate",
        "ask",
        "tell",
        "status",
        "report",
        "posterior",
        "plot",
        "watch",
        "repair",
        "compare",
        "regress",
        "check",
        "reproduce",
        "list",
        "completions",
    ];
    for command in commands {
        assert!(top.stdout.contains(&format!("  {command} ")), "{command}");
        let help = done(&mut warpquad(&[command, "--help"])).exits(0);
        assert_eq!(help.stderr, "");
        assert_snapshot(&format!("help-{command}"), &help.stdout);
    }
    let version = done(&mut warpquad(&["--version"])).exits(0).stdout;
    assert_eq!(version, format!("warpquad {}\n", env!("CARGO_PKG_VERSION")));
}

/// Numbers become 0, the clock's line has no units, and warnings are left out: they vary with the
/// machine and with the method.
fn masked(table: &str) -> String {
    let mut out = String::new();
    for line in table.lines() {
        if ["warning ", "warnings"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
        {
            continue;
        }
        if line.starts_with("  time ") {
            out.push_str("  time (masked)\n");
            continue;
        }
        let words = line.split_inclusive(' ').map(|word| {
            let end = word.trim_end_matches([' ', ',', ']']);
            let number = end.trim_start_matches('[');
            match number.parse::<f64>() {
                Ok(x) if x != 95.0 => word.replace(number, "0"),
                _ => word.to_string(),
            }
        });
        out.extend(words);
        out.push('\n');
    }
    out
}

#[test]
fn the_table_of_a_result_is_as_committed() {
    let dir = directory("table");
    let problem = write(&dir, "problem.toml", GAUSSIAN);
    let run = dir.join("run");
    let first = done(&mut integrate(&problem, &run, &["--budget", "14"])).exits(0);
    assert_eq!(first.stderr, "");
    assert_snapshot("result", &masked(&first.stdout));
    // The report of the run is the same table, and so is going on with a budget that is spent.
    let report = done(warpquad(&["report"]).arg(&run)).exits(0);
    assert_eq!(masked(&report.stdout), masked(&first.stdout));
    let again = done(&mut integrate(&problem, &run, &["--budget", "14"])).exits(0);
    assert_eq!(masked(&again.stdout), masked(&first.stdout));
    let status = done(warpquad(&["status"]).arg(&run)).exits(0);
    assert_snapshot("status", &masked(&status.stdout));
}
