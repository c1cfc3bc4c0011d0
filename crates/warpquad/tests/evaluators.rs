//! Drive the evaluators against real programs, a real driver and a real UM-Bridge server.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};
use warpquad::Value;
use warpquad::session::evaluator::{
    Answer, Command, Driver, Evaluator, Failure, Source, Task, UmBridge, end_programs, table,
};

/// Long enough for Python to start on a busy machine, short enough to wait for.
const SHORT: Duration = Duration::from_secs(4);

/// Longer than anything here takes, shorter than the programs that hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn support() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support")
}

/// A new empty directory for one test.
fn directory(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("evaluators-{test}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn ask(worker: &mut dyn Evaluator, id: u64, x: [f64; 2]) -> Answer {
    worker.evaluate(&Task { id, x: x.to_vec() })
}

fn failure(answer: Answer) -> Failure {
    match answer {
        Answer::Failure(failure) => failure,
        other => panic!("{other:?} is not a failure"),
    }
}

fn log(ln_f: f64) -> Answer {
    Answer::Value(Value::Log(ln_f))
}

#[track_caller]
fn assert_failure(answer: Answer, recoverable: bool, words: &[&str]) {
    let failure = failure(answer);
    for word in words {
        let reason = &failure.reason;
        assert!(reason.contains(word), "`{word}` is not in `{reason}`");
    }
    assert_eq!(failure.recoverable, recoverable, "{}", failure.reason);
}

/// Whether a process is there and not a zombie.
fn lives(pid: &str) -> bool {
    let ps = Process::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let state = ps.unwrap().stdout;
    !(state.is_empty() || state.starts_with(b"Z"))
}

/// Wait until the process whose number is in a file is gone.
#[track_caller]
fn assert_gone(pid_file: &Path) {
    let pid = fs::read_to_string(pid_file).unwrap();
    let start = Instant::now();
    while lives(pid.trim()) {
        assert!(start.elapsed() < PATIENCE, "process {pid} lives");
        std::thread::sleep(Duration::from_millis(10));
    }
}

// What model.py does, by its first parameter.
const GOOD: f64 = 0.0;
const NAN: f64 = 1.0;
const ZERO: f64 = 2.0;
const ERROR: f64 = 3.0;
const HANG: f64 = 4.0;
const DIE: f64 = 5.0;
const RUBBISH: f64 = 6.0;
const OTHER_ID: f64 = 7.0;
const TWICE: f64 = 8.0;
const FORK: f64 = 9.0;
const LINEAR: f64 = 10.0;
const NULL: f64 = 11.0;
const LONG: f64 = 12.0;
const NO_ID: f64 = 13.0;
const BABBLE: f64 = 14.0;
const DIE_ONCE: f64 = 15.0;
const CLOSE: f64 = 16.0;
const HANG_WITH_CHILD: f64 = 17.0;

/// The model, run in tests/support, with a state file and a file for its last word.
fn model(dir: &Path) -> Command {
    let (state, end) = (dir.join("state"), dir.join("end"));
    let files = [state, end].map(|file| file.to_str().unwrap().to_string());
    let mut argv = strings(["python3", "model.py"]);
    argv.extend(files);
    Command {
        dir: Some(support()),
        stderr: Some(dir.join("stderr.txt")),
        timeout: Some(PATIENCE),
        ..Command::new(argv, strings(["kind", "y"]))
    }
}

#[test]
fn a_command_answers_values_and_its_own_words() {
    let dir = directory("command");
    let source = model(&dir);
    source.check().unwrap();
    let mut worker = source.worker(7).unwrap();
    let worker = &mut *worker;
    assert_eq!(ask(worker, 1, [GOOD, 0.1]), log(-0.1));
    assert_eq!(ask(worker, 2, [ZERO, 0.1]), log(f64::NEG_INFINITY));
    assert_eq!(
        ask(worker, 3, [LINEAR, 0.1]),
        Answer::Value(Value::Linear(-0.5))
    );
    assert_failure(
        ask(worker, 4, [NAN, 0.1]),
        true,
        &["the integrand returned NaN"],
    );
    assert_failure(ask(worker, 5, [NULL, 0.1]), true, &["returned null"]);
    assert_eq!(
        ask(worker, 6, [ERROR, 0.1]),
        Failure::of_point("did not converge").into()
    );
    // The second answer to 8 is still in the pipe when 9 is asked.
    assert_eq!(ask(worker, 7, [RUBBISH, 0.1]), log(-7.0));
    assert_eq!(ask(worker, 8, [TWICE, 0.1]), log(-9.0));
    assert_eq!(ask(worker, 9, [GOOD, 3.0]), log(-3.0));
    let x = vec![GOOD];
    assert_failure(
        worker.evaluate(&Task { id: 10, x }),
        false,
        &["1 coordinates for 2"],
    );
    // All of that was one process, and it knows its number.
    assert_eq!(first_words(&dir.join("stderr.txt")), "worker 7\n");
}

/// What a program wrote to its standard error, which is copied beside its answers: wait for it.
fn first_words(path: &Path) -> String {
    for _ in 0..1000 {
        let words = fs::read_to_string(path).unwrap_or_default();
        if !words.is_empty() {
            return words;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    String::new()
}

#[test]
fn a_command_may_finish_when_its_worker_is_dropped() {
    let dir = directory("finish");
    let mut worker = model(&dir).worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 1, [GOOD, 1.0]), log(-1.0));
    drop(worker);
    assert_eq!(fs::read_to_string(dir.join("end")).unwrap(), "finished\n");
}

#[test]
fn a_worker_that_is_never_asked_starts_nothing() {
    let dir = directory("lazy");
    drop(model(&dir).worker(0).unwrap());
    assert!(!dir.join("stderr.txt").exists());
}

#[test]
fn an_answer_for_another_task_is_refused_with_both_ids() {
    let mut worker = model(&directory("ids")).worker(0).unwrap();
    let words = ["asked for id 3", "answer for id 103"];
    assert_failure(ask(&mut *worker, 3, [OTHER_ID, 0.0]), false, &words);
    let words = ["must repeat \"id\": 4"];
    assert_failure(ask(&mut *worker, 4, [NO_ID, 0.0]), false, &words);
    assert_eq!(ask(&mut *worker, 5, [GOOD, 2.0]), log(-2.0));
}

#[test]
fn a_command_that_hangs_is_ended_with_its_children_and_the_next_task_succeeds() {
    let dir = directory("hang");
    let mut source = model(&dir);
    source.timeout = Some(SHORT);
    let mut worker = source.worker(0).unwrap();
    let words = ["no answer within 4 s", "it printed `step 1`", "thinking"];
    assert_failure(ask(&mut *worker, 1, [HANG, 0.0]), true, &words);
    assert_failure(
        ask(&mut *worker, 2, [HANG_WITH_CHILD, 0.0]),
        true,
        &["no answer"],
    );
    assert_gone(&dir.join("state"));
    drop(worker);
    source.timeout = Some(PATIENCE);
    let mut worker = source.worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 3, [GOOD, 2.0]), log(-2.0));
}

#[test]
fn a_command_that_dies_is_started_again_as_often_as_allowed() {
    let dir = directory("die");
    let mut source = model(&dir);
    let mut worker = source.worker(0).unwrap();
    let words = [
        "ended without an answer: exit status: 3",
        "first words\nlast words",
    ];
    assert_failure(ask(&mut *worker, 1, [DIE, 0.0]), true, &words);
    assert_eq!(ask(&mut *worker, 2, [GOOD, 2.0]), log(-2.0));
    source.restarts = 2;
    let mut worker = source.worker(0).unwrap();
    assert_failure(ask(&mut *worker, 1, [DIE, 0.0]), true, &["ended 3 times"]);
    assert_eq!(ask(&mut *worker, 2, [DIE_ONCE, 2.0]), log(-15.0));
}

#[test]
fn a_command_that_closes_its_pipes_has_ended() {
    let mut worker = model(&directory("close")).worker(0).unwrap();
    let words = ["ended without an answer: signal: 9"];
    assert_failure(ask(&mut *worker, 1, [CLOSE, 0.0]), true, &words);
}

#[test]
fn a_command_that_never_stops_printing_is_ended() {
    let mut worker = model(&directory("babble")).worker(0).unwrap();
    let words = ["1001 lines, first `la`"];
    assert_failure(ask(&mut *worker, 1, [BABBLE, 0.0]), false, &words);
    let words = ["line longer than 1048576 bytes"];
    assert_failure(ask(&mut *worker, 2, [LONG, 0.0]), false, &words);
    assert_eq!(ask(&mut *worker, 3, [GOOD, 2.0]), log(-2.0));
}

#[test]
fn a_commands_children_die_with_its_worker() {
    let dir = directory("fork");
    let mut worker = model(&dir).worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 1, [FORK, 0.0]), log(-10.0));
    drop(worker);
    assert_gone(&dir.join("state"));
}

/// It ends the programs of the other tests too, so it runs in a process of its own.
#[test]
fn all_programs_can_be_ended_at_once() {
    const APART: &str = "WARPQUAD_TEST_APART";
    if std::env::var_os(APART).is_none() {
        let mut test = Process::new(std::env::current_exe().unwrap());
        test.args(["--exact", "all_programs_can_be_ended_at_once"]);
        assert!(test.env(APART, "1").output().unwrap().status.success());
        return;
    }
    let dir = directory("end");
    let mut worker = model(&dir).worker(0).unwrap();
    let pid_file = dir.join("state");
    std::thread::scope(|scope| {
        let hanging = scope.spawn(move || ask(&mut *worker, 1, [HANG_WITH_CHILD, 0.0]));
        while fs::read_to_string(&pid_file).unwrap_or_default().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        end_programs();
        assert_failure(hanging.join().unwrap(), true, &["signal: 9"]);
    });
    assert_gone(&pid_file);
}

#[test]
fn several_workers_are_several_processes() {
    let dir = directory("workers");
    let source = model(&dir);
    std::thread::scope(|scope| {
        for index in 0..3 {
            let mut worker = source.worker(index).unwrap();
            scope.spawn(move || {
                for id in 0..20 {
                    let y = (100 * index + id) as f64;
                    assert_eq!(ask(&mut *worker, id as u64, [GOOD, y]), log(-y));
                }
            });
        }
    });
    let stderr = fs::read_to_string(dir.join("stderr.txt")).unwrap();
    let mut lines: Vec<&str> = stderr.lines().collect();
    lines.sort();
    assert_eq!(lines, ["worker 0", "worker 1", "worker 2"]);
}

#[test]
fn a_command_that_cannot_be_started_is_refused_before_it_is_needed() {
    let source = Command::new(strings(["no-such-program"]), strings(["kind", "y"]));
    let error = source.check().unwrap_err().to_string();
    assert!(
        error.contains("no program `no-such-program` on PATH"),
        "{error}"
    );
    let mut worker = source.worker(0).unwrap();
    assert_failure(
        ask(&mut *worker, 1, [GOOD, 0.0]),
        false,
        &["no-such-program"],
    );
    let mut source = model(&directory("refused"));
    source.stderr = Some("no/such/directory/stderr.txt".into());
    let error = source.check().unwrap_err().to_string();
    assert!(error.contains("cannot write stderr to no/such/"), "{error}");
}

fn driver(test: &str) -> Driver {
    let base = directory(test).join("work");
    Driver {
        dir: Some(support()),
        timeout: Some(PATIENCE),
        ..Driver::new(strings(["./driver.py"]), strings(["kind", "y"]), base)
    }
}

#[test]
fn a_driver_answers_through_its_files() {
    let mut source = driver("driver");
    source.check().unwrap();
    let mut worker = source.worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 1, [0.0, 0.1]), log(-0.1));
    assert_eq!(
        ask(&mut *worker, 2, [1.0, 0.1]),
        Answer::Value(Value::Linear(0.25))
    );
    assert_eq!(ask(&mut *worker, 3, [8.0, 0.1]), log(f64::NEG_INFINITY));
    assert_eq!(fs::read_dir(&source.base).unwrap().count(), 0);
    // An argument beside the problem is found from the work directory.
    source.argv = strings(["python3", "driver.py", "--verbose"]);
    source.keep = true;
    let mut worker = source.worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 4, [0.0, 0.5]), log(-0.5));
    let params = fs::read_to_string(source.base.join("4/params.in")).unwrap();
    assert_eq!(
        params,
        "{\"id\": 4, \"x\": [0.0, 0.5], \"params\": {\"kind\": 0.0, \"y\": 0.5}}\n"
    );
    assert_eq!(
        fs::read_to_string(source.base.join("4/stdout.txt")).unwrap(),
        "working\n"
    );
}

#[test]
fn a_drivers_failures_are_kept_with_their_reasons() {
    let source = driver("driver-failures");
    let mut worker = source.worker(0).unwrap();
    for (kind, recoverable, words) in [
        (2.0, true, &["`FAIL: no mesh`", "warned"][..]),
        (3.0, true, &["wrote no results.out", "warned"]),
        (4.0, true, &["exit status: 1", "no licence"]),
        (6.0, false, &["write {\"log_f\": -1.25} if it is ln f"]),
        (7.0, false, &["asked for id 1, got an answer for id 2"]),
        (9.0, true, &["exit status: 4; it wrote `fail`"]),
    ] {
        assert_failure(ask(&mut *worker, 1, [kind, 0.0]), recoverable, words);
    }
    // Each attempt has a directory of its own.
    let mut kept: Vec<_> = fs::read_dir(&source.base)
        .unwrap()
        .map(|d| d.unwrap().file_name())
        .collect();
    kept.sort();
    assert_eq!(kept, ["1", "1.2", "1.3", "1.4", "1.5", "1.6"]);
}

#[test]
fn a_driver_that_hangs_is_ended_with_its_children() {
    let mut source = driver("driver-hangs");
    source.timeout = Some(SHORT);
    let mut worker = source.worker(0).unwrap();
    let words = ["no results within 4 s", "(kept: "];
    assert_failure(ask(&mut *worker, 5, [5.0, 0.0]), true, &words);
    assert_gone(&source.base.join("5/child.pid"));
}

#[test]
fn a_driver_that_is_not_there_is_refused() {
    let mut source = driver("driver-refused");
    source.argv = strings(["./no-such-driver"]);
    assert!(
        source
            .check()
            .unwrap_err()
            .to_string()
            .contains("no program `./no-such-driver`")
    );
    assert!(source.worker(0).is_err());
}

/// A UM-Bridge server, ended when dropped.
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
        let mut command = Process::new(python);
        command.arg(support().join("umbridge_server.py"));
        // The models that raise fill stderr with tracebacks.
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}", port.trim());
        Some(Server { child, url })
    }

    fn model(&self, name: &str) -> UmBridge {
        UmBridge::new(&self.url, name, 2)
    }

    fn evaluate(&self, name: &str, x: [f64; 2]) -> Answer {
        ask(&mut *self.model(name).worker(0).unwrap(), 1, x)
    }

    fn refusal(&self, name: &str) -> String {
        self.model(name).check().unwrap_err().to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_umbridge_server_is_asked_and_understood() {
    let Some(server) = Server::start() else {
        return;
    };
    let source = server.model("posterior");
    source.check().unwrap();
    let mut worker = source.worker(0).unwrap();
    for id in 0..50 {
        let y = id as f64;
        assert_eq!(ask(&mut *worker, id, [1.0, y]), log(-0.5 * (1.0 + y * y)));
    }
    assert_failure(
        worker.evaluate(&Task {
            id: 1,
            x: vec![1.0],
        }),
        false,
        &["1 coordinates for 2"],
    );
    assert_eq!(server.evaluate("split", [1.0, 2.0]), log(-2.5));
    assert_eq!(server.evaluate("zero", [1.0, 2.0]), log(f64::NEG_INFINITY));
    assert_eq!(server.evaluate("rate", [1.0, 2.0]), log(0.25));
    let rate = server.model("rate").linear();
    let answer = ask(&mut *rate.worker(0).unwrap(), 1, [0.0, 0.0]);
    assert_eq!(answer, Answer::Value(Value::Linear(0.25)));
    let scaled = server
        .model("posterior")
        .config("{\"scale\": 2.0}")
        .unwrap();
    assert_eq!(
        ask(&mut *scaled.worker(0).unwrap(), 1, [1.0, 2.0]),
        log(-5.0)
    );
}

#[test]
fn an_umbridge_servers_failures_are_failures_of_the_evaluation() {
    let Some(server) = Server::start() else {
        return;
    };
    let x = [1.0, 2.0];
    assert_failure(server.evaluate("nan", x), true, &["returned NaN"]);
    assert_failure(server.evaluate("infinite", x), true, &["returned +inf"]);
    assert_failure(
        server.evaluate("raises", x),
        true,
        &["answered 500: 500 Internal Server Error"],
    );
    let words = ["answered 500: InvalidOutput: ", "declared 1 but returned 2"];
    assert_failure(server.evaluate("wrong size", x), false, &words);
    let slow = server.model("slow").timeout(Some(SHORT));
    let mut worker = slow.worker(0).unwrap();
    assert_failure(
        ask(&mut *worker, 1, [60.0, 0.0]),
        true,
        &["did not answer within 4 s"],
    );
    // The next request has a connection of its own.
    assert_eq!(ask(&mut *worker, 2, [0.0, 0.0]), log(-1.0));
}

#[test]
fn an_umbridge_server_takes_several_requests_at_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let source = server.model("meeting");
    std::thread::scope(|scope| {
        for index in 0..2 {
            let mut worker = source.worker(index).unwrap();
            scope.spawn(move || assert_eq!(ask(&mut *worker, 1, [0.0, 0.0]), log(-2.0)));
        }
    });
}

#[test]
fn an_umbridge_server_is_checked_before_anything_is_spent() {
    let Some(mut server) = Server::start() else {
        return;
    };
    for (model, words) in [
        ("prior", "has no model `prior`; it has `posterior`, `split`"),
        ("three", "takes inputs of sizes [3] for 2 parameters"),
        ("silent", "model `silent` does not support Evaluate"),
        ("empty", "gives outputs of sizes []"),
    ] {
        let error = server.refusal(model);
        assert!(error.contains(words), "{error}");
    }
    let mut worker = server.model("posterior").worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 1, [0.0, 2.0]), log(-2.0));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert_failure(
        ask(&mut *worker, 2, [0.0, 2.0]),
        false,
        &["connection refused", "start"],
    );
    let error = server.refusal("posterior");
    assert!(error.contains("start the model server first"), "{error}");
}

/// Read one request and answer it by hand.
fn reply(stream: &mut (impl Read + Write), body: &str) {
    let mut reader = BufReader::new(&mut *stream);
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let length = body.len();
    // It promises to keep the connection.
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
}

#[test]
fn a_connection_closed_in_the_meantime_is_opened_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for body in [
            "{\"protocolVersion\": 1.0, \"models\": [\"m\"]}",
            "{\"support\": {\"Evaluate\": true}}",
            "{\"inputSizes\": [2]}",
            "{\"outputSizes\": [1]}",
        ] {
            reply(&mut stream, body);
        }
        // One answer on a connection that is then closed, though it was promised to stay; then one
        // closed after the request came.
        reply(&mut listener.accept().unwrap().0, "{\"output\": [[-1]]}");
        listener
            .accept()
            .unwrap()
            .0
            .read_exact(&mut [0; 20])
            .unwrap();
        reply(
            &mut listener.accept().unwrap().0,
            "{\"output\": [[null, 3]]}",
        );
    });
    let mut worker = UmBridge::new(&url, "m", 2).worker(0).unwrap();
    assert_eq!(ask(&mut *worker, 1, [0.0, 0.0]), log(-1.0));
    assert_failure(ask(&mut *worker, 2, [0.0, 0.0]), true, &["returned null"]);
    server.join().unwrap();
}

#[test]
fn a_table_is_read_from_its_file() {
    let file = directory("table").join("evaluations.csv");
    fs::write(&file, "log_f,y,x,note\n-1.5,2,1,ok\n-inf,4,3,zero\n").unwrap();
    let (points, values) = table::read(&file, &strings(["x", "y"])).unwrap();
    assert_eq!(points.as_slice(), &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values, [Value::Log(-1.5), Value::Log(f64::NEG_INFINITY)]);
    fs::write(&file, "x,y,log_f\n1,2,much\n").unwrap();
    let error = table::read(&file, &strings(["x", "y"]))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("evaluations.csv: line 2, column `log_f`"),
        "{error}"
    );
}
