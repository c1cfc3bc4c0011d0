//! The files of examples/ run as they are: one for each evaluator, with its model.

use crate::common::*;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn example(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(name)
}

/// ln Z with its standard deviation.
fn answer(name: &str) -> [f64; 2] {
    let run = directory(&format!("examples-{name}")).join("run");
    let mut command = integrate(
        &example(&format!("{name}.toml")),
        &run,
        &["--quiet", "--json"],
    );
    let json = done(&mut command).exits(0).json();
    ["log_z", "log_z_sd"].map(|field| json[field].as_f64().unwrap())
}

#[test]
fn every_example_runs_as_it_is() {
    for name in [
        "banana", "joint", "priors", "rate", "command", "driver", "table",
    ] {
        let [ln_z, sd] = answer(name);
        assert!(ln_z.is_finite() && sd < 1.0, "{name}: {ln_z} +- {sd}");
    }
}

#[test]
fn the_table_gives_the_integral_that_its_formula_has() {
    // The values are those of -2 (x - 1/2)^2 - 1.5 (y + 0.3)^2 - x y. With the prior, the exponent
    // is -v' A v / 2 + b' v + c with A = [[5, 1], [1, 4]], b = (2, -0.9), c = -0.635, and
    // Z = |A|^-1/2 exp(b' A^-1 b / 2 + c).
    let (determinant, c) = (5.0 * 4.0 - 1.0_f64, -0.5 - 1.5 * 0.09);
    let (b0, b1) = (2.0, -0.9);
    let square = (4.0 * b0 * b0 - 2.0 * b0 * b1 + 5.0 * b1 * b1) / determinant;
    let want = -0.5 * determinant.ln() + 0.5 * square + c;
    let [ln_z, sd] = answer("table");
    assert!(
        (ln_z - want).abs() < 4.0 * sd + 1e-3,
        "{ln_z} +- {sd}, {want}"
    );
}

/// A port that nobody listens on, so that no other server is met.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn the_umbridge_example_runs_against_its_server() {
    let Ok(python) = std::env::var("WARPQUAD_TEST_PYTHON") else {
        eprintln!("skipped: set WARPQUAD_TEST_PYTHON to a Python that has umbridge");
        return;
    };
    let port = free_port();
    let mut server = Command::new(python)
        .arg(example("umbridge_server.py"))
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the server", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    let dir = directory("examples-umbridge");
    let text = std::fs::read_to_string(example("umbridge.toml")).unwrap();
    let problem = write(
        &dir,
        "problem.toml",
        &text.replace("4242", &port.to_string()),
    );
    let run = dir.join("run");
    let done = done(&mut integrate(&problem, &run, &["--quiet", "--json"]));
    server.kill().unwrap();
    server.wait().unwrap();
    let json = done.exits(0).json();
    // The integral of the ring over the square, by polar coordinates: 2 pi r with r normal.
    let want =
        (2.0 * std::f64::consts::PI * 1.5 * 0.3 * (2.0 * std::f64::consts::PI).sqrt() / 36.0).ln();
    let (ln_z, sd) = (
        json["log_z"].as_f64().unwrap(),
        json["log_z_sd"].as_f64().unwrap(),
    );
    assert!(
        (ln_z - want).abs() < 4.0 * sd + 5e-3,
        "{ln_z} +- {sd}, {want}"
    );
}

#[test]
fn a_run_that_is_not_kept_says_so_before_it_spends() {
    let problem = example("joint.toml");
    let output = done(warpquad(&["integrate", "--budget", "9"]).arg(&problem)).exits(0);
    assert!(
        output
            .stderr
            .starts_with("nothing will be kept of this run: --run DIR"),
        "{}",
        output.stderr
    );
    let output = done(warpquad(&["integrate", "--quiet", "--budget", "9"]).arg(&problem)).exits(0);
    assert_eq!(output.stderr, "");
}
