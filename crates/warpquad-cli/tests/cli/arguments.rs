//! Fixed numbers and vectors reach every evaluator, and the answer is that of the plain problem.

use crate::common::*;
use std::path::{Path, PathBuf};

/// The same three numbers, written out and as a fixed number and a vector.
const PLAIN: &str = "x = { normal = [0, 1] }\na = { uniform = [-1, 1] }\nb = { uniform = [-1, 1] }";
const MIXED: &str = "x = { normal = [0, 1] }\nc = 2\nbeta = { uniform = [-1, 1], size = 2 }";

/// Takes everything by name, and checks that it comes by position too.
const MODEL: &str = r#"
def log_f(request):
    x, c, (a, b) = (request["params"][name] for name in ("x", "c", "beta"))
    assert list(request["params"]) == ["x", "c", "beta"] and request["x"] == [x, c, a, b]
    return -c * (x - a) ** 2 - b * b
"#;

fn problem(dir: &Path, name: &str, integrand: &str, parameters: &str) -> PathBuf {
    let text = format!(
        "[integrand]\n{integrand}\n[parameters]\n{parameters}\n[budget]\nevaluations = 15\n"
    );
    write(dir, &format!("{name}.toml"), &text)
}

#[test]
fn every_evaluator_gets_them() {
    let dir = directory("arguments");
    let formula = "log = \"-2*(x - a)^2 - b^2\"";
    let plain = finish(&problem(&dir, "plain", formula, PLAIN), &dir.join("plain"));
    let command = "import json, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    \
                   print(json.dumps({'id': r['id'], 'log_f': log_f(r)}), flush=True)\n";
    write(&dir, "command.py", &format!("{MODEL}{command}"));
    let driver = "import json, sys\nr = json.load(open(sys.argv[1]))\n\
                  json.dump({'log_f': log_f(r)}, open(sys.argv[2], 'w'))\n";
    write(&dir, "driver.py", &format!("{MODEL}{driver}"));
    for (name, integrand) in [
        (
            "formula",
            "log = \"-c*(x - beta[0])^2 - beta[1]^2\"".to_string(),
        ),
        (
            "command",
            format!("command = [{:?}, \"command.py\"]", python()),
        ),
        (
            "driver",
            format!("driver = [{:?}, \"driver.py\"]", python()),
        ),
    ] {
        let mixed = problem(&dir, name, &integrand, MIXED);
        let json = finish(&mixed, &dir.join(name));
        assert_eq!(json["log_z"], plain["log_z"], "{name}");
    }
}

#[test]
fn points_for_others_have_them_and_a_changed_one_is_noticed() {
    let dir = directory("arguments-ask");
    let file = problem(&dir, "ask", "external = \"me\"", MIXED);
    let run = dir.join("run");
    let ask = |file: &Path| {
        let mut command = warpquad(&["ask"]);
        done(command.arg(&run).arg("--problem").arg(file))
    };
    let task = ask(&file).exits(0).json();
    assert_eq!(task["params"]["c"], 2.0);
    assert_eq!(task["params"]["beta"].as_array().unwrap().len(), 2);
    assert_eq!(task["x"].as_array().unwrap().len(), 4);
    let other = problem(
        &dir,
        "other",
        "external = \"me\"",
        &MIXED.replace("c = 2", "c = 3"),
    );
    ask(&other).refuses(1, &["the run has another arguments"]);
}

#[test]
fn a_table_has_a_column_for_each_element() {
    let dir = directory("arguments-table");
    let mut rows = String::from("beta[1],x,beta[0],c,log_f\n");
    for i in 0..12 {
        let (x, a, b) = (
            f64::from(i) / 3.0 - 2.0,
            f64::from(i % 5) / 3.0 - 0.6,
            f64::from(i % 3) / 2.0 - 0.5,
        );
        rows += &format!("{b},{x},{a},2,{}\n", -2.0 * (x - a).powi(2) - b * b);
    }
    write(&dir, "evaluations.csv", &rows);
    let integrand = "table = \"evaluations.csv\"";
    let json = finish(&problem(&dir, "table", integrand, MIXED), &dir.join("run"));
    assert_eq!(json["evaluations"], 12);
    let other = problem(&dir, "other", integrand, &MIXED.replace("c = 2", "c = 3"));
    let words = "line 2, column `c`: got `2`, but it is fixed at 3";
    done(&mut integrate(&other, &dir.join("other"), &[])).refuses(1, &[words]);
}
