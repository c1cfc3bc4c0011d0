//! Baselines as methods: known answers, workers, kills, budgets that change, and what they refuse.

use crate::common::*;
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};

/// A Gaussian of sd 1/2 in one parameter: ln Z = -ln(5) / 2.
const PEAK: &str = "[integrand]\nlog = \"-2*x^2\"\n[parameters]\nx = { normal = [0, 1] }\n";

fn problem(dir: &Path, method: &str, budget: &str) -> PathBuf {
    let text = format!("{PEAK}[method]\nname = \"{method}\"\n[budget]\n{budget}\n");
    write(dir, &format!("{method}.toml"), &text)
}

fn number(json: &Json, field: &str) -> f64 {
    json[field].as_f64().unwrap()
}

#[track_caller]
fn assert_right(json: &Json) {
    let away = number(json, "log_z") + 0.5 * 5.0_f64.ln();
    let sd = number(json, "log_z_sd");
    assert!(away.abs() < 4.0 * sd && sd < 0.3, "{json}");
    assert_eq!(json["hyperparameters"], Json::Null);
    assert_eq!(json["warnings"], Json::Array(vec![]), "{json}");
}

#[test]
fn every_baseline_is_a_method() {
    let dir = directory("baseline-all");
    for method in ["mc", "qmc", "smc", "ais", "nested", "bridge"] {
        let file = problem(&dir, method, "evaluations = 3000");
        let json = done(warpquad(&["integrate", "--json"]).arg(&file))
            .exits(0)
            .json();
        assert_right(&json);
        assert_eq!(
            (&json["method"]["name"], &json["evaluations"]),
            (&method.into(), &3000.into())
        );
    }
}

#[test]
fn the_command_line_names_one_and_the_table_is_short() {
    let dir = directory("baseline-table");
    let file = write(&dir, "problem.toml", PEAK);
    let words = ["integrate", "--method", "qmc", "--budget", "320", "--quiet"];
    let done = done(warpquad(&words).arg(&file)).exits(0);
    assert!(
        done.stdout.contains("method           qmc\n"),
        "{}",
        done.stdout
    );
    assert!(!done.stdout.contains("length scales"), "{}", done.stdout);
}

#[test]
fn workers_do_not_change_the_answer() {
    for method in ["qmc", "smc", "nested"] {
        let dir = directory(&format!("baseline-workers-{method}"));
        let answers = [1, 2].map(|workers| {
            let budget = format!("evaluations = 4000\nworkers = {workers}");
            let file = problem(&dir, method, &budget);
            timeless(finish(&file, &dir.join(format!("run-{workers}"))))
        });
        assert_eq!(answers[0].to_string(), answers[1].to_string());
        assert_right(&answers[0]);
    }
}

/// Cut a journal, as a kill does, and go on: the end is the same to the last bit.
#[test]
fn a_run_that_was_cut_anywhere_ends_as_one_that_was_not() {
    for method in ["qmc", "smc", "nested"] {
        let dir = directory(&format!("baseline-cut-{method}"));
        let file = problem(&dir, method, "evaluations = 1200");
        let whole = dir.join("whole");
        let expected = timeless(finish(&file, &whole)).to_string();
        let text = fs::read(journal(&whole)).unwrap();
        for part in [0.13, 0.5, 0.77, 0.99] {
            let run = dir.join(format!("cut-{part}"));
            fs::create_dir_all(&run).unwrap();
            let kept = (text.len() as f64 * part) as usize;
            fs::write(journal(&run), &text[..kept]).unwrap();
            assert_eq!(
                timeless(finish(&file, &run)).to_string(),
                expected,
                "{method} at {part}"
            );
        }
    }
}

#[test]
fn a_killed_process_is_resumed_bit_for_bit() {
    for method in ["qmc", "smc", "nested"] {
        let dir = directory(&format!("baseline-kill-{method}"));
        let file = model(&dir, "sleep", "", "evaluations = 160\nworkers = 2");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}[method]\nname = \"{method}\"\n")).unwrap();
        let expected = timeless(finish(&file, &dir.join("whole"))).to_string();
        let run = dir.join("run");
        for answers in [20, 90] {
            let mut child = integrate(&file, &run, &["--quiet"]).spawn().unwrap();
            wait_for("answers", || {
                events_of(&run, "tell").len() >= answers || child.try_wait().unwrap().is_some()
            });
            let _ = child.kill();
            child.wait().unwrap();
        }
        assert_eq!(
            timeless(finish(&file, &run)).to_string(),
            expected,
            "{method}"
        );
    }
}

#[test]
fn a_larger_budget_goes_on_with_the_plan_it_began_with() {
    let dir = directory("baseline-more");
    let file = problem(&dir, "smc", "evaluations = 800");
    let run = dir.join("run");
    let first = finish(&file, &run);
    let more = ["--budget", "4000", "--json"];
    let second = done(&mut integrate(&file, &run, &more)).exits(0).json();
    assert_right(&second);
    assert!(number(&second, "log_z_sd") < number(&first, "log_z_sd"));
    assert_eq!(second["method"]["planned_evaluations"], 800);
}

#[test]
fn points_are_handed_out_and_told_in_any_order() {
    let dir = directory("baseline-ask");
    let file = problem(&dir, "qmc", "evaluations = 1000");
    let run = dir.join("run");
    let ask = |n: &str| {
        done(
            warpquad(&["ask", "-n", n, "--problem"])
                .arg(&file)
                .arg(&run),
        )
    };
    let tasks: Vec<Json> = ask("16")
        .exits(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // The batch is out: more can be had when it is in.
    ask("1").refuses(1, &["16 missing values", "--pending"]);
    let mut lines: Vec<String> = Vec::new();
    for task in tasks.iter().rev() {
        let x = task["x"][0].as_f64().unwrap();
        lines.push(format!(
            "{{\"id\": {}, \"log_f\": {}}}",
            task["id"],
            -2.0 * x * x
        ));
    }
    let answers = write(&dir, "answers", &lines.join("\n"));
    let stdin = fs::File::open(answers).unwrap();
    done(warpquad(&["tell"]).arg(&run).stdin(stdin)).exits(0);
    let json = done(warpquad(&["report", "--json"]).arg(&run))
        .exits(0)
        .json();
    assert_eq!(json["evaluations"], 16);
    assert!((number(&json, "log_z") + 0.5 * 5.0_f64.ln()).abs() < 1.0);
    assert!(
        json["warnings"][0].as_str().unwrap().contains("points"),
        "{json}"
    );
    assert_eq!(ask("3").exits(0).stdout.lines().count(), 3);
}

#[test]
fn a_run_that_is_not_there_yet_says_so() {
    let dir = directory("baseline-early");
    let text = "[integrand]\nlog = \"-5e5*(x^2 + y^2)\"\n[parameters]\nx = { normal = [1, 1] }\n\
                y = { normal = [1, 1] }\n[method]\nname = \"smc\"\n";
    let file = write(&dir, "problem.toml", text);
    let run =
        |budget: &str| done(warpquad(&["integrate", "--json", "--budget", budget]).arg(&file));
    run("40").refuses(
        3,
        &[
            "smc knows nothing of Z after 40 evaluations",
            "raise the budget",
        ],
    );
    let json = run("300").exits(0).json();
    assert!(
        json["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("not an answer yet"),
        "{json}"
    );
    // Exact: of each parameter, s / sqrt(1 + s^2) exp(-1 / (2 (1 + s^2))) with s = 1e-3.
    let exact = 1e-6_f64.ln() - (1.0 + 1e-6_f64).ln() - 1.0 / (1.0 + 1e-6);
    let interval = &json["log_z_interval"];
    assert!(
        interval[0].as_f64().unwrap() < exact && exact < interval[1].as_f64().unwrap(),
        "{json}"
    );
}

#[test]
fn a_signed_f_is_for_averages() {
    let dir = directory("baseline-signed");
    let text =
        "[integrand]\nvalue = \"x\"\nrange = [-inf, inf]\n[parameters]\nx = { normal = [-3, 1] }\n";
    let file = write(&dir, "problem.toml", text);
    let run = |method: &str| {
        done(warpquad(&["integrate", "--json", "--budget", "640", "--method", method]).arg(&file))
    };
    for method in ["mc", "qmc"] {
        let json = run(method).exits(0).json();
        assert!(
            (number(&json, "z") + 3.0).abs() < 4.0 * number(&json, "z_sd"),
            "{json}"
        );
    }
    run("nested").refuses(
        1,
        &[
            "integrand.range",
            "nested needs f >= 0; mc and qmc take any sign",
        ],
    );
}

#[test]
fn what_only_a_gaussian_process_has_is_refused() {
    let dir = directory("baseline-refuse");
    for (line, words) in [
        (
            "kernel = \"matern52\"",
            "method.kernel: smc has no Gaussian process",
        ),
        ("warp = \"log\"", "method.warp: smc has no Gaussian process"),
        ("fit = \"g\"", "method.fit: smc has no Gaussian process"),
        (
            "acquisition = \"prior\"",
            "method.acquisition: smc has no Gaussian process",
        ),
        ("batch = 4", "method.batch: smc chooses its own batches"),
    ] {
        let text = format!("{PEAK}[method]\nname = \"smc\"\n{line}\n");
        let file = write(&dir, "problem.toml", &text);
        done(warpquad(&["integrate"]).arg(&file)).refuses(1, &[words, ":7:"]);
    }
    let text = format!("{PEAK}[method]\nname = \"mmlt\"\nparticles = 100\n");
    let file = write(&dir, "problem.toml", &text);
    done(warpquad(&["integrate"]).arg(&file)).refuses(1, &["method.particles", "smc"]);
}

#[test]
fn the_list_has_them() {
    let done = done(&mut warpquad(&["list", "baselines"])).exits(0);
    for name in ["mc", "qmc", "smc", "ais", "nested", "bridge"] {
        assert!(
            done.stdout
                .lines()
                .any(|line| line.trim_start().starts_with(name))
        );
    }
}
