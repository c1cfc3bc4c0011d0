//! What the tests share: the binary, directories, problem files and programs.

use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longer than anything here takes, shorter than the programs that hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A Gaussian in one parameter: ln Z = -ln(2) / 2.
pub const GAUSSIAN: &str =
    "[integrand]\nlog = \"-0.5*x^2\"\n[parameters]\nx = { normal = [0, 1] }\n";

pub fn support() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support")
}

/// A new empty directory for one test.
pub fn directory(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Write a file and say where it is.
pub fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// The interpreter itself: a wrapper on PATH may take longer to start than a whole run.
pub fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable)"];
        let output = Command::new("python3").args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// A problem for model.py in a mode, with more lines for `[integrand]` and for `[budget]`.
pub fn model(dir: &Path, mode: &str, integrand: &str, budget: &str) -> PathBuf {
    let program = support().join("model.py");
    let log = dir.join("calls");
    let argv = [
        python(),
        "-IS",
        program.to_str().unwrap(),
        mode,
        log.to_str().unwrap(),
    ];
    let text = format!(
        "[integrand]\ncommand = {argv:?}\n{integrand}\n[parameters]\nx = {{ normal = [0, 1] }}\n\
         [budget]\n{budget}\n"
    );
    write(dir, "problem.toml", &text)
}

/// The ids of the calls that model.py was given, in order.
pub fn calls(dir: &Path) -> Vec<u64> {
    let text = fs::read_to_string(dir.join("calls")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

pub fn warpquad<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpquad"));
    command.args(args).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `warpquad integrate PROBLEM --run RUN ...`
pub fn integrate(problem: &Path, run: &Path, more: &[&str]) -> Command {
    let mut command = warpquad(&["integrate"]);
    command.arg(problem).arg("--run").arg(run).args(more);
    command
}

/// What a finished process left.
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Done {
    #[track_caller]
    fn from(output: Output) -> Done {
        let done = Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
        done
    }
}

impl Done {
    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        let (out, err) = (&self.stdout, &self.stderr);
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{err}");
        self
    }

    /// It failed with this code, said these words on stderr, and printed nothing.
    #[track_caller]
    pub fn refuses(self, code: i32, words: &[&str]) -> Done {
        let done = self.exits(code);
        assert_eq!(done.stdout, "");
        done.says(words)
    }

    #[track_caller]
    pub fn says(self, words: &[&str]) -> Done {
        for word in words {
            assert!(
                self.stderr.contains(word),
                "`{word}` is not in:\n{}",
                self.stderr
            );
        }
        self
    }

    /// The one object on stdout.
    #[track_caller]
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.stdout))
    }
}

#[track_caller]
pub fn done(command: &mut Command) -> Done {
    command.output().unwrap().into()
}

/// Run to the end with `--json` and take the object.
#[track_caller]
pub fn finish(problem: &Path, run: &Path) -> Json {
    done(&mut integrate(problem, run, &["--json"]))
        .exits(0)
        .json()
}

/// The object without what a clock decides.
pub fn timeless(mut json: Json) -> Json {
    let object = json.as_object_mut().unwrap();
    object.retain(|key, _| !key.starts_with("seconds"));
    json
}

pub fn journal(run: &Path) -> PathBuf {
    run.join("journal.jsonl")
}

/// The whole lines of a journal, as JSON.
pub fn events(run: &Path) -> Vec<Json> {
    let text = fs::read_to_string(journal(run)).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Events of one kind.
pub fn events_of(run: &Path, kind: &str) -> Vec<Json> {
    let events = events(run).into_iter();
    events.filter(|event| event["event"] == kind).collect()
}

/// Copy a run as it is now.
pub fn copy_run(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::copy(journal(from), journal(to)).unwrap();
}

#[track_caller]
pub fn wait_for(what: &str, mut happens: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
