//! Drivers and tables through the binary, and looking before spending.

use crate::common::*;
use std::fs;

#[test]
fn a_driver_is_called_and_its_failures_are_kept() {
    let dir = directory("driver");
    fs::copy(support().join("driver.py"), dir.join("driver.py")).unwrap();
    let text = format!(
        "[integrand]\ndriver = [{:?}, \"driver.py\"]\non_failure = \"skip\"\n[parameters]\nx = {{ normal = [0, 1] }}\n\
         [budget]\nevaluations = 10\nworkers = 2\n",
        python()
    );
    let problem = write(&dir, "problem.toml", &text);
    let run = dir.join("run");
    let json = finish(&problem, &run);
    let (n, failures) = (
        json["evaluations"].as_u64().unwrap(),
        json["failures"].as_u64().unwrap(),
    );
    assert_eq!(n + failures, 10);
    let reasons: String = events_of(&run, "fail")
        .iter()
        .map(|e| e["reason"].to_string())
        .collect();
    assert!(
        reasons.contains("fail: x is too large") && reasons.contains("x is too small"),
        "{reasons}"
    );
    // The directories of the failures are there to be looked at.
    assert_eq!(
        fs::read_dir(run.join("work")).unwrap().count() as u64,
        failures
    );
}

#[test]
fn a_table_is_integrated_and_may_grow() {
    let dir = directory("table-integrand");
    let row = |i: i32| {
        (
            f64::from(i) / 4.0 - 3.0,
            -0.5 * (f64::from(i) / 4.0 - 3.0).powi(2),
        )
    };
    let rows = |n| {
        (0..n)
            .map(|i| {
                let (x, f) = row(i);
                format!("{f},{x}\n")
            })
            .collect::<String>()
    };
    write(&dir, "evaluations.csv", &format!("log_f,x\n{}", rows(24)));
    let problem = write(
        &dir,
        "problem.toml",
        &GAUSSIAN.replace("log = \"-0.5*x^2\"", "table = \"evaluations.csv\""),
    );
    let run = dir.join("run");
    let json = finish(&problem, &run);
    assert_eq!(
        (&json["evaluations"], &json["stop"]),
        (&24.into(), &"table".into())
    );
    assert!((json["log_z"].as_f64().unwrap() + 0.5 * 2.0_f64.ln()).abs() < 0.05);
    write(&dir, "evaluations.csv", &format!("log_f,x\n{}", rows(25)));
    assert_eq!(finish(&problem, &run)["evaluations"], 25);
    assert_eq!(timeless(finish(&problem, &run))["evaluations"], 25);
    write(
        &dir,
        "evaluations.csv",
        &format!("log_f,x\n-3,0.1\n{}", rows(24)),
    );
    done(&mut integrate(&problem, &run, &[])).refuses(1, &["no longer begins with the rows"]);
    write(&dir, "evaluations.csv", "log_f,x\n-1,0\noops,1\n");
    done(&mut integrate(&problem, &dir.join("other"), &[]))
        .refuses(1, &["line 3, column `log_f`: got `oops`"]);
    write(&dir, "evaluations.csv", "f,x\n1,0\n-1,1\n");
    done(&mut integrate(&problem, &dir.join("third"), &[]))
        .refuses(1, &["line 3: f = -1 is outside integrand.range"]);
    done(warpquad(&["check"]).arg(&problem)).refuses(1, &["line 3: f = -1 is outside"]);
    write(&dir, "evaluations.csv", "f,x\n1,0\n0.5,1\n");
    let check = done(warpquad(&["check"]).arg(&problem)).exits(0).stdout;
    assert!(
        check.contains("2 evaluations, all inside the prior"),
        "{check}"
    );
    assert!(check.contains("0.5000 to 1.0000"), "{check}");
    // One point with two values is no function.
    write(&dir, "evaluations.csv", "f,x\n1,0\n0.5,0\n");
    done(warpquad(&["check"]).arg(&problem)).refuses(1, &["are both [0.0]"]);
}

#[test]
fn a_row_outside_the_prior_is_refused_by_its_line() {
    let dir = directory("table-outside");
    let text = "[integrand]\ntable = \"rows.csv\"\n[parameters]\nx = { uniform = [0, 1] }\n";
    let problem = write(&dir, "problem.toml", text);
    write(&dir, "rows.csv", "x,f\n0.5,1\n1.5,1\n");
    let words = ["line 3: x = 1.5 is outside its prior, which goes from 0 to 1"];
    done(warpquad(&["check"]).arg(&problem)).refuses(1, &words);
    done(&mut integrate(&problem, &dir.join("run"), &[])).refuses(1, &words);
}

#[test]
fn check_looks_before_spending() {
    let dir = directory("check");
    let problem = model(&dir, "good", "", "evaluations = 50\nworkers = 2");
    let json = done(warpquad(&["check", "--json"]).arg(&problem))
        .exits(0)
        .json();
    assert_eq!(calls(&dir), [0, 1, 2, 3]);
    assert_eq!(
        (&json["deterministic"], &json["failure"]),
        (&true.into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&json["parameters"][0], &json["evaluations"]),
        (&"x".into(), &50.into())
    );
    let each = json["seconds_per_evaluation"].as_f64().unwrap();
    let total = json["projected_seconds"].as_f64().unwrap();
    let own = json["seconds_of_method"].as_f64().unwrap();
    assert!(own > 0.0 && (total - 25.0 * each - own).abs() < 1e-9 * total);
    assert_eq!(json["probes"].as_array().unwrap().len(), 2);
    let text = done(warpquad(&["check"]).arg(&problem)).exits(0).stdout;
    for words in [
        "parameters",
        "deterministic              yes",
        "time of the method itself",
        "time per evaluation",
        "projected total",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let random = model(&dir, "random", "", "");
    let text = done(warpquad(&["check"]).arg(&random)).exits(0).stdout;
    assert!(
        text.contains("no: the same point gave two values"),
        "{text}"
    );
    let failing = model(&dir, "error", "", "");
    let failed = done(warpquad(&["check", "--json"]).arg(&failing))
        .exits(4)
        .says(&["did not converge"]);
    assert_eq!(failed.json()["failure"], "did not converge");
    // Point 3 of four failed; a point that never gave two values says nothing.
    let failing = model(&dir, "die-always", "", "");
    let failed = done(warpquad(&["check", "--json"]).arg(&failing)).exits(4);
    assert_eq!(failed.json()["deterministic"], serde_json::Value::Null);
    let external = GAUSSIAN.replace("log = \"-0.5*x^2\"", "external = \"a lab\"");
    let external = write(&dir, "external.toml", &external);
    let text = done(warpquad(&["check"]).arg(&external)).exits(0).stdout;
    assert!(
        text.contains("from a lab; nothing to evaluate here"),
        "{text}"
    );
    let outside = write(
        &dir,
        "outside.toml",
        "[integrand]\nvalue = \"2 + x\"\nrange = [0, 1]\n[parameters]\nx = { uniform = [0, 1] }\n",
    );
    done(warpquad(&["check"]).arg(&outside))
        .exits(4)
        .says(&["outside integrand.range = [0, 1]"]);
}

#[test]
fn lists_and_completions_are_complete() {
    let all = done(&mut warpquad(&["list"])).exits(0).stdout;
    for (family, name) in [
        ("warps", "probit"),
        ("kernels", "matern32"),
        ("measures", "truncated-normal"),
        ("acquisitions", "uncertainty"),
        ("methods", "wsabi-l"),
    ] {
        let one = done(&mut warpquad(&["list", family])).exits(0).stdout;
        assert!(
            one.lines()
                .any(|line| line.split_whitespace().next() == Some(name)),
            "{one}"
        );
        assert!(all.contains(&format!("{family}\n{one}")), "{all}");
    }
    done(&mut warpquad(&["list", "wraps"]))
        .refuses(2, &["warps, kernels, measures, acquisitions, methods"]);
    let script = done(&mut warpquad(&["completions", "bash"]))
        .exits(0)
        .stdout;
    assert!(script.contains("_warpquad()") && script.contains("integrate"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(
            !done(&mut warpquad(&["completions", shell]))
                .exits(0)
                .stdout
                .is_empty()
        );
    }
    done(&mut warpquad(&["completions", "basic"])).refuses(2, &["invalid value 'basic'"]);
}
