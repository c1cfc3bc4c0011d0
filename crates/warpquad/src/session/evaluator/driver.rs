//! Evaluate by a program called once per evaluation, with a file of parameters and one for results.

use super::process::{self, Group};
use super::{Answer, Evaluator, Failure, Source, Task, excerpt, json, message, program};
use crate::error::{Error, Result};
use crate::session::arguments::Arguments;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const FIELD: &str = "integrand.driver";
const PARAMS: &str = "params.in";
const RESULTS: &str = "results.out";
const STDERR: &str = "stderr.txt";

/// The longest results file that is read; an answer has a few dozen bytes.
const LONGEST_RESULTS: u64 = 1 << 20;

/// A program called as `driver params.in results.out`, each time in a directory of its own.
///
/// `params.in` holds `{"id": 3, "x": [0.1, 2.0], "params": {"x": 0.1, "y": 2.0}}`; the driver
/// writes `{"log_f": -1.25}`, or `{"f": 0.28}`, or `{"error": "did not converge"}` to
/// `results.out`. A results file that begins with `fail`, none at all, or an exit status other
/// than 0 is a failure.
///
/// The program's output is in `stdout.txt` and `stderr.txt` beside them. A directory is named by
/// its task and removed after a success. Arguments that name a file in `dir` are made absolute, so
/// that `["python3", "driver.py"]` works from any directory.
#[derive(Debug, Clone)]
pub struct Driver {
    /// The program and its first arguments.
    pub argv: Vec<String>,
    /// What it is called with.
    pub arguments: Arguments,
    /// The time limit of one evaluation.
    pub timeout: Option<Duration>,
    /// The directory that the work directories are made in.
    pub base: PathBuf,
    /// Whether work directories are kept after a success too.
    pub keep: bool,
    /// The directory that a relative program and its arguments are looked for in.
    pub dir: Option<PathBuf>,
}

impl Driver {
    /// The driver with no time limit, its work directories under `base` removed after a success.
    pub fn new(argv: Vec<String>, arguments: impl Into<Arguments>, base: PathBuf) -> Driver {
        Driver {
            argv,
            arguments: arguments.into(),
            timeout: None,
            base,
            keep: false,
            dir: None,
        }
    }

    fn command(&self) -> Result<Vec<PathBuf>> {
        let dir = program::absolute(FIELD, self.dir.as_deref())?;
        let mut argv = vec![program::find(FIELD, &self.argv, self.dir.as_deref())?];
        for argument in &self.argv[1..] {
            let file = dir.join(argument);
            argv.push(if file.is_file() {
                file
            } else {
                argument.into()
            });
        }
        Ok(argv)
    }

    fn base(&self) -> Result<PathBuf> {
        let shown = self.base.display();
        let unusable = |e| Error::spec(FIELD, format!("cannot make directory {shown}: {e}"));
        fs::create_dir_all(&self.base).map_err(unusable)?;
        program::absolute(FIELD, Some(&self.base))
    }
}

impl Source for Driver {
    fn check(&self) -> Result<()> {
        self.command()?;
        self.base()?;
        Ok(())
    }

    fn worker(&self, index: usize) -> Result<Box<dyn Evaluator>> {
        Ok(Box::new(Worker {
            argv: self.command()?,
            base: self.base()?,
            driver: self.clone(),
            index,
        }))
    }
}

struct Worker {
    argv: Vec<PathBuf>,
    base: PathBuf,
    driver: Driver,
    index: usize,
}

impl Evaluator for Worker {
    fn evaluate(&mut self, task: &Task) -> Answer {
        match self.run(task) {
            Ok(answer) => answer,
            Err(failure) => failure.into(),
        }
    }
}

impl Worker {
    fn run(&self, task: &Task) -> std::result::Result<Answer, Failure> {
        let request = message::request(task, &self.driver.arguments)?;
        let dir = self
            .work_directory(task.id)
            .map_err(|e| unusable(&self.base, &e))?;
        let file = dir.join(PARAMS);
        fs::write(&file, request + "\n").map_err(|e| unusable(&file, &e))?;
        let kept = |failure: Failure| Failure {
            reason: format!("{} (kept: {})", failure.reason, dir.display()),
            ..failure
        };
        self.call(&dir).map_err(kept)?;
        let answer = results(&dir, task.id);
        match answer {
            Answer::Failure(failure) => Err(kept(failure)),
            answer if self.driver.keep => Ok(answer),
            answer => {
                // A file that a network file system still holds is no reason to lose the value.
                let _ = fs::remove_dir_all(&dir);
                Ok(answer)
            }
        }
    }

    /// A new directory: `3`, or `3.2`, `3.3` and so on if a failure left one behind.
    fn work_directory(&self, id: u64) -> io::Result<PathBuf> {
        let mut dir = self.base.join(id.to_string());
        let mut attempt = 1_u64;
        loop {
            match fs::create_dir(&dir) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(e) => return Err(e),
                Ok(()) => return Ok(dir),
            }
            dir = self.base.join(format!("{id}.{attempt}"));
        }
    }

    /// Call the driver and wait for it.
    fn call(&self, dir: &Path) -> std::result::Result<(), Failure> {
        let mut group = self.start(dir)?;
        let in_time = group.wait(self.driver.timeout);
        let status = group.end();
        let stderr = process::last_lines(&tail(&dir.join(STDERR)));
        if !in_time {
            let limit = self.driver.timeout.unwrap_or_default().as_secs_f64();
            let reason = format!("no results within {limit} s; the driver was ended{stderr}");
            return Err(Failure::of_point(reason));
        }
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let said = match text(dir) {
            Ok(text) if says_fail(&text) => format!("; it wrote `{}`", excerpt(&text, 500)),
            _ => String::new(),
        };
        let status = process::words(status);
        Err(Failure::of_point(format!(
            "the driver ended with {status}{said}{stderr}"
        )))
    }

    fn start(&self, dir: &Path) -> std::result::Result<Group, Failure> {
        let open = |name| {
            let file = dir.join(name);
            File::create(&file).map_err(|e| unusable(&file, &e))
        };
        let mut command = std::process::Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).args([PARAMS, RESULTS]);
        command.current_dir(dir).stdin(Stdio::null());
        command.stdout(open("stdout.txt")?).stderr(open(STDERR)?);
        command.env("WARPQUAD_WORKER", self.index.to_string());
        let program = self.argv[0].display();
        let refused = |e| Failure::of_source(format!("cannot start {program}: {e}"));
        Group::start(&mut command).map_err(refused)
    }
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::of_source(format!("cannot write {}: {error}", path.display()))
}

/// The results file, as text.
fn text(dir: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = File::open(dir.join(RESULTS))?;
    file.take(LONGEST_RESULTS).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Dakota's way of saying that an evaluation failed.
fn says_fail(text: &str) -> bool {
    let word = text.trim_start().get(..4);
    word.is_some_and(|word| word.eq_ignore_ascii_case("fail"))
}

/// What the results file answers.
fn results(dir: &Path, asked: u64) -> Answer {
    let stderr = || process::last_lines(&tail(&dir.join(STDERR)));
    match text(dir) {
        Ok(text) if says_fail(&text) => {
            let reason = format!("the driver wrote `{}`{}", excerpt(&text, 500), stderr());
            Failure::of_point(reason).into()
        }
        Ok(text) => read(&text, asked),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Failure::of_point(format!("the driver wrote no {RESULTS}{}", stderr())).into()
        }
        Err(error) => Failure::of_point(format!("cannot read {RESULTS}: {error}")).into(),
    }
}

fn read(text: &str, asked: u64) -> Answer {
    let json = json::parse(text.trim_start_matches('\u{feff}'));
    let Some(object) = json.as_ref().and_then(|json| json.as_object()) else {
        return no_object(text).into();
    };
    match object.get("id").and_then(json::id) {
        Some(id) if id != asked => message::other_id(asked, id).into(),
        _ => message::answer(object),
    }
}

/// A bare number could be f or ln f: it is not guessed which.
fn no_object(text: &str) -> Failure {
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c| matches!(c, '[' | ']' | ',' | '(' | ')'));
    if first.parse::<f64>().is_ok() {
        return Failure::of_source(format!(
            "{RESULTS} begins with the bare number {first}: write {{\"log_f\": {first}}} if it is \
             ln f, {{\"f\": {first}}} if it is f itself"
        ));
    }
    let got = match excerpt(text, 200) {
        empty if empty.is_empty() => "nothing".into(),
        got => format!("`{got}`"),
    };
    Failure::of_point(format!(
        "{RESULTS} must hold a JSON object such as {{\"log_f\": -1.25}}, got {got}"
    ))
}

/// The last bytes of a file, as many as there are.
fn tail(path: &Path) -> Vec<u8> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
        let mut bytes = Vec::new();
        file.take(4096).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;

    #[test]
    fn results_are_json_objects_with_or_without_an_id() {
        for text in [
            "{\"log_f\": -2.5}\n",
            " {\"id\": 7,\n \"log_f\": -2.5}",
            "\u{feff}{\"log_f\":-2.5}",
        ] {
            assert_eq!(read(text, 7), Answer::Value(Value::Log(-2.5)));
        }
        for (text, words) in [
            (
                "{\"id\": 8, \"f\": 1}",
                "asked for id 7, got an answer for id 8",
            ),
            (
                "-1.25",
                "{\"log_f\": -1.25} if it is ln f, {\"f\": -1.25} if it is f itself",
            ),
            ("  0.5 response_fn_1\n", "the bare number 0.5:"),
            ("[ 1.0 ]", "JSON object"),
            ("", "got nothing"),
            ("\"text\"", "got `\"text\"`"),
        ] {
            let Answer::Failure(failure) = read(text, 7) else {
                panic!("{text} was taken");
            };
            assert!(failure.reason.contains(words), "{}", failure.reason);
        }
    }

    #[test]
    fn fail_is_read_in_any_case() {
        for text in ["fail", "FAIL: no mesh", "\n failure"] {
            assert!(says_fail(text));
        }
        for text in ["", "fai", "ééé", "{\"error\": \"fail\"}"] {
            assert!(!says_fail(text));
        }
    }
}
