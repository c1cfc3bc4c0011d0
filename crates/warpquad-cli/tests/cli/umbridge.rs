//! A real UM-Bridge server: slow, failing, with several requests in flight.

use crate::common::*;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// None, said on stderr, if no Python with the package umbridge was named.
    fn start() -> Option<Server> {
        let Some(python) = std::env::var_os("WARPQUAD_TEST_PYTHON") else {
            eprintln!("skipped: WARPQUAD_TEST_PYTHON names no Python with the package umbridge");
            return None;
        };
        let mut command = Command::new(python);
        command.arg(support().join("umbridge_server.py"));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}", port.trim());
        Some(Server { child, url })
    }

    fn problem(&self, dir: &Path, model: &str, integrand: &str, evaluations: usize) -> PathBuf {
        let url = &self.url;
        let text = format!(
            "[integrand]\numbridge = {{ url = {url:?}, model = {model:?} }}\n{integrand}\n[parameters]\n\
             x = {{ normal = [0, 1] }}\ny = {{ normal = [0, 1] }}\n[budget]\nevaluations = {evaluations}\nworkers = 2\n"
        );
        write(dir, &format!("{model}.toml"), &text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_gets_fixed_numbers_and_vectors_as_inputs() {
    let Some(server) = Server::start() else {
        return;
    };
    let dir = directory("umbridge-arguments");
    let text = std::fs::read_to_string(server.problem(&dir, "slow", "", 12)).unwrap();
    // One worker: with two, the order of the answers would count too.
    let text = text.replace("workers = 2", "workers = 1");
    let scalars = "x = { normal = [0, 1] }\ny = { normal = [0, 1] }";
    let with = |name: &str, parameters: &str| {
        let text = text.replace(scalars, parameters);
        finish(
            &write(&dir, &format!("{name}.toml"), &text),
            &dir.join(name),
        )
    };
    let vector = with("vector", "beta = { normal = [0, 1], size = 2 }");
    assert_eq!(vector["log_z"], with("scalars", scalars)["log_z"]);
    // The model is -(x^2 + y^2)/2: at y = 2 it is 2 nats lower.
    let fixed = with("fixed", "x = { normal = [0, 1] }\ny = 2");
    let exact = -0.5 * 2.0_f64.ln() - 2.0;
    assert!(
        (fixed["log_z"].as_f64().unwrap() - exact).abs() < 0.01,
        "{fixed}"
    );
}

#[test]
fn a_server_is_integrated_through_slowness_and_errors() {
    let Some(server) = Server::start() else {
        return;
    };
    let dir = directory("umbridge");
    // ln Z = 2 (-ln(2) / 2), whether the answers take their time or not.
    let slow = finish(&server.problem(&dir, "slow", "", 20), &dir.join("slow"));
    assert_eq!(
        (&slow["evaluations"], &slow["failures"]),
        (&20.into(), &0.into())
    );
    assert!(
        (slow["log_z"].as_f64().unwrap() + 2.0_f64.ln()).abs() < 0.3,
        "{slow:#}"
    );
    assert!(slow["seconds_in_integrand"].as_f64().unwrap() > 20.0 * 0.1);
    // Each answer waits for another request: two were in flight all the time.
    let meeting = finish(
        &server.problem(&dir, "meeting", "", 12),
        &dir.join("meeting"),
    );
    assert_eq!(meeting["evaluations"], 12);
    // Its own words are kept, and the policy is followed.
    let problem = server.problem(&dir, "failing", "on_failure = \"skip\"", 16);
    let run = dir.join("failing");
    let failing = finish(&problem, &run);
    let (n, failures) = (
        failing["evaluations"].as_u64().unwrap(),
        failing["failures"].as_u64().unwrap(),
    );
    assert!(n + failures == 16 && failures > 0, "{failing:#}");
    let reason = events_of(&run, "fail")[0]["reason"].to_string();
    assert!(reason.contains("/Evaluate answered 500"), "{reason}");
    let stopping = server.problem(&dir, "failing", "", 16);
    done(&mut integrate(&stopping, &dir.join("stop"), &[]))
        .exits(4)
        .says(&["/Evaluate answered 500"]);
    // An answer that is too late is a failure of its point.
    let late = server.problem(&dir, "hanging", "on_failure = \"skip\"\ntimeout = 1", 8);
    let run = dir.join("late");
    let late = finish(&late, &run);
    assert!(late["failures"].as_u64().unwrap() > 0, "{late:#}");
    let reason = events_of(&run, "fail")[0]["reason"].to_string();
    assert!(reason.contains("did not answer within 1 s"), "{reason}");
    // What does not fit is said before anything is spent.
    let none = server.problem(&dir, "nosuch", "", 8);
    done(&mut integrate(&none, &dir.join("none"), &[]))
        .refuses(1, &["has no model `nosuch`; it has `posterior`"]);
    let check =
        done(warpquad(&["check", "--json"]).arg(server.problem(&dir, "posterior", "", 8))).exits(0);
    assert_eq!(check.json()["deterministic"], true);
    // A run that has its budget needs no server any more; one that has not says what is missing.
    let problem = server.problem(&dir, "slow", "", 20);
    drop(server);
    assert_eq!(
        timeless(finish(&problem, &dir.join("slow"))),
        timeless(slow)
    );
    let more = ["--budget", "21"];
    done(&mut integrate(&problem, &dir.join("slow"), &more))
        .refuses(1, &["start the model server first"]);
}
