//! The journal: cut short anywhere, damaged, of another problem, in use; and the next point it
//! gives.

use crate::common::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A finished run of a problem that costs nothing.
fn finished(test: &str, budget: &str) -> (PathBuf, PathBuf, PathBuf) {
    let dir = directory(test);
    let problem = write(
        &dir,
        "problem.toml",
        &format!("{GAUSSIAN}[budget]\nevaluations = {budget}\n"),
    );
    let run = dir.join("run");
    finish(&problem, &run);
    (dir, problem, run)
}

#[test]
fn cut_at_every_byte_of_its_last_200_it_goes_on_to_the_same_end() {
    let (dir, problem, run) = finished("cut", "10");
    let expected = timeless(finish(&problem, &run));
    let whole = fs::read(journal(&run)).unwrap();
    let events = events(&run).len();
    let cut = dir.join("cut");
    fs::create_dir_all(&cut).unwrap();
    for length in whole.len() - 200..=whole.len() {
        fs::write(journal(&cut), &whole[..length]).unwrap();
        assert_eq!(timeless(finish(&problem, &cut)), expected, "{length} bytes");
        assert_eq!(crate::common::events(&cut).len(), events, "{length} bytes");
    }
}

#[test]
fn cut_in_its_first_line_it_is_no_run_yet() {
    let (dir, problem, run) = finished("cut-first", "8");
    let expected = timeless(finish(&problem, &run));
    let whole = fs::read(journal(&run)).unwrap();
    let first = whole.iter().position(|&b| b == b'\n').unwrap();
    for length in [0, 1, first / 2, first, first + 1] {
        let cut = dir.join(format!("cut-{length}"));
        fs::create_dir_all(&cut).unwrap();
        fs::write(journal(&cut), &whole[..length]).unwrap();
        assert_eq!(timeless(finish(&problem, &cut)), expected, "{length} bytes");
    }
}

/// The journal with one line changed.
fn with_line(run: &Path, to: &Path, number: usize, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(journal(run)).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let changed = change(&lines[number - 1]);
    assert_ne!(changed, lines[number - 1]);
    lines[number - 1] = changed;
    fs::create_dir_all(to).unwrap();
    fs::write(journal(to), lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_damaged_line_is_refused_by_its_number() {
    let (dir, problem, run) = finished("damaged", "8");
    let damage = |line: &str| line.replacen("\"id\":", "\"id\" :", 1);
    for number in [2, 7] {
        let to = dir.join(format!("damaged-{number}"));
        with_line(&run, &to, number, damage);
        let words = format!("journal line {number}: the checksum does not match");
        let before = fs::read(journal(&to)).unwrap();
        done(&mut integrate(&problem, &to, &[])).refuses(1, &[&words]);
        done(warpquad(&["report"]).arg(&to)).refuses(1, &[&words]);
        assert_eq!(fs::read(journal(&to)).unwrap(), before);
    }
    // A line that is whole but cannot follow.
    let to = dir.join("twice");
    let third = |_: &str| {
        let text = fs::read_to_string(journal(&run)).unwrap();
        text.lines().nth(2).unwrap().to_string()
    };
    with_line(&run, &to, 4, third);
    done(&mut integrate(&problem, &to, &[]))
        .refuses(1, &["journal line 4: this is line 3 of the run again"]);
    // No text at all.
    let mut bytes = fs::read(journal(&run)).unwrap();
    let second = bytes.iter().position(|&b| b == b'\n').unwrap() + 5;
    bytes[second] = 0xff;
    fs::write(journal(&to), bytes).unwrap();
    done(&mut integrate(&problem, &to, &[])).refuses(1, &["journal line 2: "]);
}

#[test]
fn another_version_is_refused_with_the_program_that_reads_it() {
    let (dir, problem, run) = finished("version", "8");
    let program = env!("CARGO_PKG_VERSION");
    let reader = format!("written by warpquad {program}: go on with that program");
    for version in [1, 99] {
        let to = dir.join(format!("version-{version}"));
        let other = format!("\"journal\":{version}");
        with_line(&run, &to, 1, |line| line.replace("\"journal\":2", &other));
        let first = format!("journal line 1: journal version {version}; this program reads 2");
        done(&mut integrate(&problem, &to, &[])).refuses(1, &[&first, &reader]);
    }
}

#[test]
fn another_problem_is_refused() {
    let dir = directory("other");
    let text = "[integrand]\nlog = \"-0.5*x^2 - y^2\"\n[parameters]\nx = { normal = [0, 1] }\n\
                y = { uniform = [-1, 1] }\n[budget]\nevaluations = 10\n";
    let problem = write(&dir, "problem.toml", text);
    let run = dir.join("run");
    finish(&problem, &run);
    let swapped = text.replace(
        "x = { normal = [0, 1] }\ny = { uniform = [-1, 1] }",
        "y = { uniform = [-1, 1] }\nx = { normal = [0, 1] }",
    );
    for (what, other) in [
        ("another integrand", text.replace("y^2", "y^4")),
        ("another prior", text.replace("[0, 1]", "[0, 2]")),
        ("another names", swapped),
        (
            "another range",
            text.replace("[parameters]", "range = [0, 2]\n[parameters]"),
        ),
        (
            "with name = \"auto\", not with \"wsabi-m\"",
            format!("{text}[method]\nname = \"wsabi-m\"\n"),
        ),
        (
            "with kernel = \"squared-exponential\", not with \"matern52\"",
            format!("{text}[method]\nkernel = \"matern52\"\n"),
        ),
        (
            "with noise = 0.0, not with 0.1",
            text.replace("[parameters]", "noise = 0.1\n[parameters]"),
        ),
    ] {
        assert_ne!(other, text);
        let other = write(&dir, "other.toml", &other);
        let before = fs::read(journal(&run)).unwrap();
        done(&mut integrate(&other, &run, &[])).refuses(1, &["journal line 1: ", what]);
        assert_eq!(fs::read(journal(&run)).unwrap(), before);
    }
    done(&mut integrate(&problem, &run, &["--method", "bmc"]))
        .refuses(1, &["journal line 1: the run was made with"]);
    done(&mut integrate(&problem, &run, &["--seed", "5"]))
        .refuses(1, &["the run has the seed 0, not 5"]);
    // Only the budget may differ.
    let more = done(&mut integrate(
        &problem,
        &run,
        &["--budget", "12", "--json"],
    ))
    .exits(0)
    .json();
    assert_eq!(more["evaluations"], 12);
}

#[test]
fn a_changed_model_is_noticed_when_asked() {
    let dir = directory("recheck");
    let problem = model(&dir, "good", "", "evaluations = 8");
    let run = dir.join("run");
    finish(&problem, &run);
    done(&mut integrate(
        &problem,
        &run,
        &["--recheck", "--budget", "9"],
    ))
    .exits(0);
    // Another program in the same place: the journal cannot know.
    let fake = dir.join("fake");
    fs::create_dir_all(&fake).unwrap();
    let text = fs::read_to_string(&problem).unwrap();
    let script = fs::read_to_string(support().join("model.py")).unwrap();
    let own = write(&dir, "model.py", &script);
    let text = text.replace(
        support().join("model.py").to_str().unwrap(),
        own.to_str().unwrap(),
    );
    let (problem, run) = (write(&dir, "own.toml", &text), dir.join("own"));
    finish(&problem, &run);
    write(&dir, "model.py", &script.replace("-0.5 *", "-0.6 *"));
    let words = ["the journal has ln f = ", "the model has changed"];
    done(&mut integrate(
        &problem,
        &run,
        &["--recheck", "--budget", "9"],
    ))
    .refuses(1, &words);
    assert_eq!(events_of(&run, "tell").len(), 8);
}

/// The next point of a copy of a run, asked by this command.
fn next_point(run: &Path, to: &Path, mut command: Command) -> serde_json::Value {
    let _ = fs::remove_dir_all(to);
    copy_run(run, to);
    done(command.arg("ask").arg(to)).exits(0).json()["x"].clone()
}

#[test]
fn the_same_journal_gives_the_same_next_point_with_any_number_of_threads() {
    let dir = directory("next");
    let text = "[integrand]\nlog = \"-(y - x^2)^2 - 0.1*(1 - x)^2\"\n[parameters]\nx = { uniform = [-2, 2] }\n\
                y = { normal = [0, 1] }\n[budget]\nevaluations = 41\n";
    let (problem, run, to) = (
        write(&dir, "problem.toml", text),
        dir.join("run"),
        dir.join("copy"),
    );
    done(&mut integrate(&problem, &run, &["--budget", "40"])).exits(0);
    let plain = || warpquad::<&str>(&[]);
    let first = next_point(&run, &to, plain());
    assert_eq!(first.as_array().unwrap().len(), 2);
    assert_eq!(next_point(&run, &to, plain()), first);
    let mut threads = plain();
    threads.env("RAYON_NUM_THREADS", "1");
    assert_eq!(next_point(&run, &to, threads), first);
    let mut one_core = Command::new("taskset");
    one_core.args(["-c", "0", env!("CARGO_BIN_EXE_warpquad")]);
    if Command::new("taskset")
        .args(["-c", "0", "true"])
        .status()
        .is_ok_and(|s| s.success())
    {
        assert_eq!(next_point(&run, &to, one_core), first);
    }
    // The run itself goes on with that point.
    done(&mut integrate(&problem, &run, &["--budget", "41"])).exits(0);
    assert_eq!(events_of(&run, "ask").last().unwrap()["x"], first);
}
