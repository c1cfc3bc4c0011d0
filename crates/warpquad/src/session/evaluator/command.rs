//! Evaluate by a program that stays alive: a JSON line in, a JSON line out.

use super::pipe::{Event, LONGEST_LINE, Pipe};
use super::{Answer, Evaluator, Failure, Source, Task, excerpt, json, message, process, program};
use crate::error::{Error, Result};
use crate::session::arguments::Arguments;
use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const FIELD: &str = "integrand.command";

/// How many lines a program may print before one answer; a banner or a progress report has fewer.
const MOST_RUBBISH: usize = 1000;

/// A program that reads a request and writes an answer, line by line, until its input closes.
///
/// It reads `{"id": 3, "x": [0.1, 2.0], "params": {"x": 0.1, "y": 2.0}}` and answers
/// `{"id": 3, "log_f": -1.25}`, or `{"id": 3, "f": 0.28}`, or `{"id": 3, "error": "did not
/// converge"}`. Lines of its output that are no answers are skipped. Where JSON has no word,
/// `-Infinity`, `-inf`, `NaN` and the strings `"-inf"` and `"nan"` are understood.
///
/// Each worker is a process of its own, started when its first task comes, told its number by the
/// variable WARPQUAD_WORKER, and ended with all its children when the worker is dropped.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it is called with.
    pub arguments: Arguments,
    /// The time limit of one evaluation; the first one includes the program's start.
    pub timeout: Option<Duration>,
    /// The file that stderr is appended to.
    pub stderr: Option<PathBuf>,
    /// How often a program that ends without an answer is started again for the same task.
    pub restarts: usize,
    /// The directory the program runs in, and that a relative program is looked for in.
    pub dir: Option<PathBuf>,
}

impl Command {
    /// The program with no time limit, no restarts, in the current directory.
    pub fn new(argv: Vec<String>, arguments: impl Into<Arguments>) -> Command {
        Command {
            argv,
            arguments: arguments.into(),
            timeout: None,
            stderr: None,
            restarts: 0,
            dir: None,
        }
    }

    fn log(&self) -> Result<Option<File>> {
        let Some(path) = &self.stderr else {
            return Ok(None);
        };
        let file = File::options().append(true).create(true).open(path);
        let unwritable = |e| {
            Error::spec(
                FIELD,
                format!("cannot write stderr to {}: {e}", path.display()),
            )
        };
        file.map(Some).map_err(unwritable)
    }

    fn start(&self, index: usize) -> Result<Pipe> {
        let program = program::find(FIELD, &self.argv, self.dir.as_deref())?;
        let mut command = std::process::Command::new(&program);
        command.args(&self.argv[1..]);
        command.current_dir(program::absolute(FIELD, self.dir.as_deref())?);
        command.env("WARPQUAD_WORKER", index.to_string());
        if std::env::var_os("PYTHONUNBUFFERED").is_none() {
            // A print() without flush=True would never arrive.
            command.env("PYTHONUNBUFFERED", "1");
        }
        let refused = |e| Error::spec(FIELD, format!("cannot start {}: {e}", program.display()));
        Pipe::start(&mut command, self.log()?).map_err(refused)
    }
}

impl Source for Command {
    fn check(&self) -> Result<()> {
        program::find(FIELD, &self.argv, self.dir.as_deref())?;
        self.log()?;
        Ok(())
    }

    fn worker(&self, index: usize) -> Result<Box<dyn Evaluator>> {
        Ok(Box::new(Worker {
            command: self.clone(),
            index,
            asked: HashSet::new(),
            pipe: None,
        }))
    }
}

struct Worker {
    command: Command,
    index: usize,
    /// Every id that was asked: a second or late answer to one of them is dropped.
    asked: HashSet<u64>,
    pipe: Option<Pipe>,
}

/// How one attempt went.
enum Attempt {
    Done(Answer),
    /// The program ended without an answer, and how.
    Crash(String),
}

impl Evaluator for Worker {
    fn evaluate(&mut self, task: &Task) -> Answer {
        let request = match message::request(task, &self.command.arguments) {
            Ok(request) => request,
            Err(failure) => return failure.into(),
        };
        self.asked.insert(task.id);
        let mut restarts = 0;
        let ended = process::endings();
        loop {
            match self.attempt(task.id, &request) {
                Attempt::Done(answer) => return answer,
                Attempt::Crash(_)
                    if restarts < self.command.restarts && process::endings() == ended =>
                {
                    restarts += 1;
                }
                Attempt::Crash(how) => return crash(restarts + 1, &how).into(),
            }
        }
    }
}

impl Worker {
    fn attempt(&mut self, id: u64, request: &str) -> Attempt {
        let deadline = self
            .command
            .timeout
            .and_then(|limit| Instant::now().checked_add(limit));
        let mut pipe = match self
            .pipe
            .take()
            .map_or_else(|| self.command.start(self.index), Ok)
        {
            Ok(pipe) => pipe,
            Err(error) => return Attempt::Done(Failure::of_source(error.to_string()).into()),
        };
        pipe.send(request);
        let mut rubbish = Rubbish::default();
        loop {
            let line = match pipe.next(deadline) {
                Some(Event::Line(line)) => line,
                Some(Event::Closed) => {
                    return Attempt::Crash(format!("{rubbish}{}", pipe.obituary()));
                }
                Some(Event::LongLine) => return Attempt::Done(long_line(pipe).into()),
                None => return Attempt::Done(self.late(pipe, &rubbish).into()),
            };
            match self.read(id, &line) {
                Some(answer) => {
                    self.pipe = Some(pipe);
                    return Attempt::Done(answer);
                }
                None => rubbish.keep(line),
            }
            if rubbish.lines > MOST_RUBBISH {
                let stderr = pipe.kill();
                let reason = format!("{rubbish}and no answer among them{stderr}");
                return Attempt::Done(Failure::of_source(reason).into());
            }
        }
    }

    /// The answer in a line; none if the line is to be skipped.
    fn read(&self, asked: u64, line: &str) -> Option<Answer> {
        let json = json::parse(line)?;
        let object = json.as_object()?;
        match object.get("id").and_then(json::id) {
            Some(id) if id == asked => Some(message::answer(object)),
            Some(id) if self.asked.contains(&id) => None,
            Some(id) if message::has_value(object) || object.contains_key("error") => {
                Some(message::other_id(asked, id).into())
            }
            // Skipped in silence, it would be waited for in vain.
            None if message::has_value(object) => {
                let got = excerpt(line, 200);
                let reason = format!("the answer must repeat \"id\": {asked}, got {got}");
                Some(Failure::of_source(reason).into())
            }
            _ => None,
        }
    }

    fn late(&self, mut pipe: Pipe, rubbish: &Rubbish) -> Failure {
        let limit = self.command.timeout.unwrap_or_default().as_secs_f64();
        let stderr = pipe.kill();
        Failure::of_point(format!(
            "no answer within {limit} s (does the program flush every line?); {rubbish}the \
             program was ended{stderr}"
        ))
    }
}

fn long_line(mut pipe: Pipe) -> Failure {
    let stderr = pipe.kill();
    Failure::of_source(format!(
        "a line longer than {LONGEST_LINE} bytes on stdout{stderr}"
    ))
}

fn crash(times: usize, how: &str) -> Failure {
    let times = if times == 1 {
        String::new()
    } else {
        format!(" {times} times")
    };
    Failure::of_point(format!("the program ended{times} without an answer: {how}"))
}

/// Lines that were skipped, for the message if no answer comes.
#[derive(Default)]
struct Rubbish {
    lines: usize,
    first: String,
}

impl Rubbish {
    fn keep(&mut self, line: String) {
        if self.lines == 0 {
            self.first = excerpt(&line, 200);
        }
        self.lines += 1;
    }
}

impl std::fmt::Display for Rubbish {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.lines {
            0 => Ok(()),
            1 => write!(out, "it printed `{}`, ", self.first),
            n => write!(out, "it printed {n} lines, first `{}`, ", self.first),
        }
    }
}
