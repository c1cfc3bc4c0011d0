//! A journal with lines removed, repeated or swapped, or with its tail torn: refused, told,
//! repaired.

use crate::common::*;
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};

/// A finished run, its lines, and what it found.
fn finished(test: &str) -> (PathBuf, PathBuf, Vec<String>, Json) {
    let dir = directory(test);
    let text = format!("{GAUSSIAN}[budget]\nevaluations = 12\n");
    let problem = write(&dir, "problem.toml", &text);
    let run = dir.join("whole");
    let found = timeless(finish(&problem, &run));
    let text = fs::read_to_string(journal(&run)).unwrap();
    let lines = text.lines().map(|line| format!("{line}\n")).collect();
    (dir, problem, lines, found)
}

fn run_of(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let run = dir.join(name);
    fs::create_dir_all(&run).unwrap();
    fs::write(journal(&run), bytes).unwrap();
    run
}

fn repair(run: &Path) -> Json {
    done(warpquad(&["repair", "--json"]).arg(run))
        .exits(0)
        .json()
}

#[test]
fn removed_repeated_and_swapped_lines_are_refused_and_repaired() {
    let (dir, problem, lines, found) = finished("repair");
    // An ask with its tell, which the rest of the run would not miss.
    let ask = lines
        .iter()
        .position(|l| l.contains("\"ask\"") && l.contains("\"id\":5,"));
    let ask = ask.unwrap();
    let (mut removed, mut repeated, mut swapped) = (lines.clone(), lines.clone(), lines.clone());
    removed.drain(ask..ask + 2);
    repeated.insert(ask, lines[ask].clone());
    swapped.swap(ask, ask + 2);
    for (name, damaged, number, words) in [
        ("removed", removed, ask + 1, "are missing"),
        (
            "repeated",
            repeated,
            ask + 2,
            "again: it was repeated or moved",
        ),
        ("swapped", swapped, ask + 1, "are missing"),
    ] {
        let run = run_of(&dir, name, damaged.concat().as_bytes());
        let number_words = format!("journal line {number}: this is line ");
        let refusal = [&number_words[..], words, "warpquad repair RUN"];
        done(&mut integrate(&problem, &run, &[])).refuses(1, &refusal);
        for command in ["status", "report"] {
            done(warpquad(&[command]).arg(&run)).refuses(1, &refusal);
        }
        assert_eq!(
            fs::read(journal(&run)).unwrap(),
            damaged.concat().as_bytes()
        );
        let repaired = repair(&run);
        assert_eq!(repaired["lines"], number - 1, "{repaired}");
        let rest = fs::read_to_string(repaired["kept_in"].as_str().unwrap()).unwrap();
        assert_eq!(rest, damaged[number - 1..].concat());
        assert_eq!(
            fs::read_to_string(journal(&run)).unwrap(),
            lines[..number - 1].concat()
        );
        assert_eq!(timeless(finish(&problem, &run)), found, "{name}");
        assert_eq!(repair(&run)["kept_in"], Json::Null);
    }
}

#[test]
fn a_torn_or_zeroed_tail_is_cut_off_and_told() {
    let (dir, problem, lines, found) = finished("torn");
    let tell = lines.iter().rposition(|l| l.contains("\"tell\"")).unwrap();
    let sound = lines[..tell].concat().into_bytes();
    let half = &lines[tell].as_bytes()[..lines[tell].len() - 7];
    let mut holed = lines[tell].clone().into_bytes();
    holed[10..20].fill(0);
    for (name, tail, words) in [
        (
            "half",
            half,
            "the value of point 11, which is evaluated again",
        ),
        ("zeroed", &[0_u8; 4096][..], "zeros, nothing of a run"),
        ("holed", &holed[..], "it cannot be read what of"),
    ] {
        let run = run_of(&dir, name, &[&sound, tail].concat());
        let told = format!("journal line {} was half written", tell + 1);
        let bytes = format!("its {} bytes were cut off", tail.len());
        let more = done(&mut integrate(&problem, &run, &["--json"]))
            .exits(0)
            .says(&[&told, &bytes, words]);
        assert_eq!(timeless(more.json()), found, "{name}");
        // It is told once.
        let again = done(&mut integrate(&problem, &run, &["--json"])).exits(0);
        assert_eq!(again.stderr, "");
    }
}

#[test]
fn a_journal_without_its_first_line_is_beyond_repair() {
    let (dir, _, lines, _) = finished("repair-first");
    let run = run_of(&dir, "first", lines[1..].concat().as_bytes());
    done(warpquad(&["repair"]).arg(&run)).refuses(1, &["journal line 1", "nothing can be saved"]);
    done(warpquad(&["repair"]).arg(dir.join("none"))).refuses(1, &["holds no run"]);
    let whole = done(warpquad(&["repair"]).arg(dir.join("whole"))).exits(0);
    assert!(
        whole.stdout.starts_with("nothing to repair"),
        "{}",
        whole.stdout
    );
}

#[test]
fn files_that_no_run_made_are_left_alone() {
    let (dir, problem, _, _) = finished("foreign");
    for (name, text, words) in [
        ("journal.jsonl", "my notes", "is no journal of this program"),
        ("journal.jsonl", "my notes\n", "journal line 1"),
        ("reserve", "my savings", "no run made"),
    ] {
        let run = dir.join(format!("mine-{}", text.len()));
        fs::create_dir_all(&run).unwrap();
        let mine = write(&run, name, text);
        done(&mut integrate(&problem, &run, &[])).refuses(1, &[words]);
        assert_eq!(fs::read_to_string(mine).unwrap(), text);
    }
}
