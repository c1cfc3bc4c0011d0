//! Input that testers broke the program with: each is refused in words, or taken.

use crate::common::*;
use crate::interrupt::{lives, signal};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const BUDGET: &str = "[budget]\nevaluations = 12\n";

fn gaussian(dir: &Path, from: &str, to: &str) -> PathBuf {
    let text = format!("{GAUSSIAN}{BUDGET}");
    let changed = text.replace(from, to);
    assert_ne!(changed, text);
    write(dir, "problem.toml", &changed)
}

#[test]
fn f_on_the_bound_of_half_a_line_is_taken() {
    let dir = directory("bound");
    for (i, range) in ["[-1, inf]", "[-inf, 1]", "[0, inf]"].iter().enumerate() {
        for method in ["auto", "mmlt"] {
            let text = format!(
                "[integrand]\nvalue = \"max(-1, min(1, 3*x))\"\nrange = {range}\n[parameters]\n\
                 x = {{ uniform = [0, 1] }}\n{BUDGET}[method]\nname = \"{method}\"\n"
            );
            let text = match i {
                // Down to the lower bound, where half of the points are.
                0 => text.replace("uniform = [0, 1]", "uniform = [-1, 1]"),
                _ => text,
            };
            let problem = write(&dir, "problem.toml", &text);
            let run = dir.join(format!("run-{i}-{method}"));
            let json = finish(&problem, &run);
            assert_eq!(json["evaluations"], 12, "{range} {method}");
            done(warpquad(&["status"]).arg(&run)).exits(0);
            done(&mut integrate(&problem, &run, &["--budget", "14"])).exits(0);
        }
    }
    let rows = "x,y\n0,1\n1,1.5\n2,3\n3,1\n4,2\n5,1\n";
    let train = write(&dir, "train.csv", rows);
    for range in ["1,inf", "-inf,3"] {
        let args = ["regress", "--target", "y", "--range", range];
        done(warpquad(&args).arg(&train)).exits(0);
    }
}

#[test]
fn sentinels_are_zeros_and_logs_beyond_reason_are_failures() {
    let dir = directory("sentinel");
    let zero = gaussian(&dir, "-0.5*x^2", "-0.5*x^2 - 1e30*max(0, x)");
    assert_eq!(finish(&zero, &dir.join("some"))["evaluations"], 12);
    for method in ["auto", "bmc", "wsabi-l", "mmlt", "smc", "nested"] {
        let all = gaussian(&dir, "-0.5*x^2", "-1e30 - x");
        let args = ["--method", method];
        // With f = 0 everywhere there is no ln Z, and that is said.
        let run = dir.join(format!("all-{method}"));
        let done = done(&mut integrate(&all, &run, &args));
        assert!(
            matches!(done.code, Some(0 | 1 | 3)),
            "{method}: {}",
            done.stderr
        );
        let large = gaussian(&dir, "-0.5*x^2", "1e18 - x");
        crate::common::done(&mut integrate(
            &large,
            &dir.join(format!("large-{method}")),
            &args,
        ))
        .exits(4)
        .says(&["ln f = 1e18 is above 1e15"]);
    }
}

#[test]
fn numbers_beyond_reason_are_refused_at_their_place() {
    let dir = directory("numbers");
    let huge = "9223372036854775807";
    for (from, to, words) in [
        ("[budget]", "[budget]\nworkers = 100000", "at most 1024"),
        (
            "[budget]",
            &format!("[method]\nnodes = {huge}\n[budget]"),
            "at most 1048576",
        ),
        (
            "[budget]",
            &format!("[method]\nname = \"smc\"\nparticles = {huge}\n[budget]"),
            "at most 1000000",
        ),
        (
            "[budget]",
            &format!("[method]\nbatch = {huge}\n[budget]"),
            "at most 1024",
        ),
        (
            "[parameters]",
            "timeout = 1e19\n[parameters]",
            "at most 1000000000 seconds",
        ),
        (
            "normal = [0, 1]",
            "gamma = [1e300, 1]",
            "shape must be at most 1e8",
        ),
        (
            "normal = [0, 1]",
            "beta = [1, 1e300]",
            "b must be at most 1e8",
        ),
        (
            "normal = [0, 1]",
            "student-t = [1e300, 0, 1]",
            "df must be at most 1e8",
        ),
    ] {
        let problem = gaussian(&dir, from, to);
        for command in ["check", "integrate"] {
            done(warpquad(&[command]).arg(&problem)).refuses(1, &["problem.toml:", words]);
        }
    }
    // Ends of a prior that lie beyond all of its mass change nothing.
    let far = gaussian(&dir, "normal = [0, 1]", "truncated-normal = [0, 1, 0, 1e9]");
    let half = gaussian(&dir, "normal = [0, 1]", "half-normal = 1");
    let [far, half] = [far, half].map(|problem| {
        let text = fs::read_to_string(problem).unwrap();
        let name = if text.contains("half") { "half" } else { "far" };
        let problem = write(&dir, &format!("{name}.toml"), &text);
        finish(&problem, &dir.join(name))["log_z"].as_f64().unwrap()
    });
    assert!((far - half).abs() < 0.05, "{far} {half}");
}

#[test]
fn a_full_output_is_an_error_and_a_reader_that_left_costs_no_point() {
    let dir = directory("output");
    let problem = gaussian(&dir, "12", "9");
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let output = warpquad(&["integrate"])
        .arg(&problem)
        .stdout(full())
        .output();
    Done::from(output.unwrap()).refuses(1, &["standard output: No space left on device"]);
    let run = dir.join("run");
    let mut ask = warpquad(&["ask", "-n", "3", "--problem"]);
    let output = ask.arg(&problem).arg(&run).stdout(full()).output();
    Done::from(output.unwrap()).refuses(1, &["standard output", "--pending"]);
    let pending = done(warpquad(&["ask", "--pending"]).arg(&run)).exits(0);
    assert_eq!(pending.stdout.lines().count(), 1);
}

#[test]
fn more_points_than_the_budget_has_are_not_handed_out() {
    let dir = directory("ask-beyond");
    let problem = gaussian(&dir, "12", "5");
    let run = dir.join("run");
    let ask = |n: &str| {
        let mut command = warpquad(&["ask", "-n", n, "--problem"]);
        done(command.arg(&problem).arg(&run))
    };
    ask("3").exits(0);
    ask("3").refuses(
        1,
        &["n: the budget is 5 evaluations: 0 are in, 3 pending, so 2 can be asked"],
    );
    ask("2").exits(0);
}

#[test]
fn ask_evaluate_tell_in_one_pipe_never_lose_the_race_for_the_run() {
    let dir = directory("race");
    let problem = gaussian(&dir, "12", "40");
    let run = dir.join("run");
    let script = format!(
        "{0} ask {1} -n 3 --problem {2} | sed 's/, \"x\".*/, \"log_f\": -1}}/' | {0} tell {1}",
        env!("CARGO_BIN_EXE_warpquad"),
        run.display(),
        problem.display()
    );
    // The run must be there before `tell` starts.
    done(
        warpquad(&["ask", "-n", "1", "--problem"])
            .arg(&problem)
            .arg(&run),
    )
    .exits(0);
    for round in 1..=10 {
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let told = Done::from(output).exits(0).json();
        assert_eq!(told["evaluations"], 3 * round);
    }
}

#[test]
fn a_bad_line_of_bytes_does_not_cost_the_good_ones() {
    let dir = directory("tell-bytes");
    let problem = gaussian(&dir, "12", "9");
    let run = dir.join("run");
    done(
        warpquad(&["ask", "-n", "2", "--problem"])
            .arg(&problem)
            .arg(&run),
    )
    .exits(0);
    let mut tell = warpquad(&["tell"]);
    let mut child = tell.arg(&run).stdin(Stdio::piped()).spawn().unwrap();
    let lines = b"{\"id\": 0, \"log_f\": -1}\n\xff\xfe\n{\"id\": 1, \"log_f\": -2}\n";
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let told = Done::from(child.wait_with_output().unwrap())
        .exits(1)
        .says(&["line 2: expected a JSON object"]);
    assert_eq!(told.json()["kept"], 2);
}

#[test]
fn programs_end_with_the_run_that_is_killed() {
    let dir = directory("orphans");
    let problem = model(&dir, "hang-always", "", "evaluations = 10\nworkers = 2");
    let mut child = integrate(&problem, &dir.join("run"), &[]).spawn().unwrap();
    wait_for("two calls", || calls(&dir).len() >= 2);
    assert!(lives(&dir));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the programs' end", || !lives(&dir));
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let dir = directory("scratch");
    let temporary = dir.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let problem = model(&dir, "good", "", "evaluations = 8");
    for command in ["integrate", "check"] {
        let mut command = warpquad(&[command]);
        done(command.arg(&problem).env("TMPDIR", &temporary)).exits(0);
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    }
}

/// A server that answers every request by the same bytes, or never; its address.
fn server(answer: Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            if let Some(answer) = &answer {
                let _ = stream.write_all(answer.as_bytes());
            }
            // Without an answer the connection stays open.
            open.push(stream);
            if answer.is_some() {
                open.clear();
            }
        }
    });
    address
}

fn umbridge(dir: &Path, address: &str, more: &str) -> PathBuf {
    let text = format!(
        "[integrand]\numbridge = {{ url = \"http://{address}\", model = \"m\" }}\n{more}\n\
         [parameters]\nx = {{ normal = [0, 1] }}\n{BUDGET}"
    );
    write(dir, "problem.toml", &text)
}

#[test]
fn a_server_that_sends_us_elsewhere_is_not_followed() {
    let dir = directory("redirect");
    let body = "{\"protocolVersion\": 1.0, \"models\": [\"m\"]}";
    let other = server(Some(format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )));
    let here = server(Some(format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{other}/Info\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )));
    let problem = umbridge(&dir, &here, "");
    let words = [
        "/Info answered 307: it sends us to",
        "redirects are not followed",
    ];
    done(&mut integrate(&problem, &dir.join("run"), &[])).refuses(1, &words);
}

#[test]
fn a_server_that_never_answers_is_left_at_the_limit_or_at_the_first_signal() {
    let dir = directory("silent");
    let address = server(None);
    let problem = umbridge(&dir, &address, "timeout = 0.5");
    done(&mut integrate(&problem, &dir.join("limit"), &[]))
        .refuses(1, &["/Info did not answer within 0.5 s"]);
    let problem = umbridge(&dir, &address, "");
    let child = integrate(&problem, &dir.join("signal"), &[])
        .spawn()
        .unwrap();
    wait_for("the run", || journal(&dir.join("signal")).exists());
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "TERM");
    Done::from(child.wait_with_output().unwrap())
        .refuses(143, &["/Info had not answered when we stopped"]);
}
