//! Talk to a program that stays alive: lines in, lines out, and an ear for its stderr.

use super::process::{self, Group};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is read: an answer has a few dozen bytes, so this is a program gone wrong.
pub(super) const LONGEST_LINE: u64 = 1 << 20;

/// How much of stderr is remembered; its last lines are shown when the program fails.
const STDERR_TAIL: usize = 4096;

/// How long a program that closed its pipes may take to end, so that its own exit status is seen;
/// also how long a dropped one may take to notice that its input is closed.
const GRACE: Duration = Duration::from_secs(1);

/// What comes from the program.
pub(super) enum Event {
    /// A line of its output.
    Line(String),
    /// A line longer than [`LONGEST_LINE`]; nothing is read after it.
    LongLine,
    /// Its output or its input is closed: nothing more will come.
    Closed,
}

/// A running program with its pipes; dropping it ends the program.
pub(super) struct Pipe {
    group: Group,
    // A thread writes, so that a program that does not read cannot hold us past the time limit.
    requests: Option<Sender<String>>,
    events: Receiver<Event>,
    stderr: Arc<Mutex<Vec<u8>>>,
    // Never carries anything: it closes when the thread that reads stderr is done.
    stderr_done: Receiver<()>,
}

impl Pipe {
    /// Start the program; its stderr is appended to `log`.
    pub(super) fn start(command: &mut Command, log: Option<File>) -> io::Result<Pipe> {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let (stdin, stdout, stderr) = group.pipes().ok_or(io::ErrorKind::BrokenPipe)?;
        // Bounded: a program that never stops printing is held back, not stored.
        let (told, events) = mpsc::sync_channel(64);
        let (requests, asked) = mpsc::channel();
        let (done, stderr_done) = mpsc::channel();
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (broken, kept) = (told.clone(), tail.clone());
        thread::spawn(move || write_requests(stdin, &asked, &broken));
        thread::spawn(move || read_lines(stdout, &told));
        thread::spawn(move || {
            keep_stderr(stderr, log, &kept);
            drop(done);
        });
        Ok(Pipe {
            group,
            requests: Some(requests),
            events,
            stderr: tail,
            stderr_done,
        })
    }

    /// Send one line; if the program does not take it, the next event says so.
    pub(super) fn send(&self, line: &str) {
        if let Some(requests) = &self.requests {
            // An error means that the writer has met a closed pipe and told so.
            let _ = requests.send(format!("{line}\n"));
        }
    }

    /// The next event, or none if the deadline passes first.
    pub(super) fn next(&self, deadline: Option<Instant>) -> Option<Event> {
        let Some(deadline) = deadline else {
            return Some(self.events.recv().unwrap_or(Event::Closed));
        };
        let left = deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Closed),
        }
    }

    /// End the program after it closed a pipe, and say how it ended.
    pub(super) fn obituary(&mut self) -> String {
        self.group.wait(Some(GRACE));
        let status = process::words(self.group.end());
        format!("{status}{}", self.last_words())
    }

    /// End the program now; the end of its stderr.
    pub(super) fn kill(&mut self) -> String {
        self.group.end();
        self.last_words()
    }

    fn last_words(&self) -> String {
        // The pipe closes with the group's last process, unless one of them left the group.
        let _ = self.stderr_done.recv_timeout(GRACE);
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        process::last_lines(&tail)
    }
}

impl Drop for Pipe {
    /// Close the program's input, as a hint to finish its files, before the group is killed.
    fn drop(&mut self) {
        self.requests = None;
        self.group.wait(Some(GRACE));
    }
}

fn write_requests(mut stdin: ChildStdin, asked: &Receiver<String>, broken: &SyncSender<Event>) {
    for line in asked {
        let sent = stdin.write_all(line.as_bytes());
        if sent.and_then(|()| stdin.flush()).is_err() {
            let _ = broken.send(Event::Closed);
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, told: &SyncSender<Event>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let event = next_line(&mut stdout);
        let last = !matches!(event, Event::Line(_));
        // An error means that nobody listens any more.
        if told.send(event).is_err() || last {
            return;
        }
    }
}

fn next_line(input: &mut impl BufRead) -> Event {
    let mut line = Vec::new();
    let read = input.take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
    match read {
        Ok(0) | Err(_) => Event::Closed,
        Ok(n) if n as u64 > LONGEST_LINE => Event::LongLine,
        Ok(_) => Event::Line(String::from_utf8_lossy(&line).trim().into()),
    }
}

/// The most that a log holds: a program that never stops complaining must not fill the disk.
const LARGEST_LOG: u64 = 16 << 20;

/// A log that stops at [`LARGEST_LOG`], over all programs that write to it.
struct Log {
    file: File,
    full: bool,
}

impl Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.full {
            return Ok(());
        }
        let left = LARGEST_LOG.saturating_sub(self.file.metadata()?.len());
        let part = bytes.len().min(left as usize);
        self.file.write_all(&bytes[..part])?;
        if part < bytes.len() {
            self.full = true;
            let words = "\n[warpquad: the log has reached its limit; the rest is left out]\n";
            self.file.write_all(words.as_bytes())?;
        }
        Ok(())
    }
}

fn keep_stderr(mut stderr: ChildStderr, log: Option<File>, tail: &Mutex<Vec<u8>>) {
    let mut log = log.map(|file| Log { file, full: false });
    let mut chunk = [0; 8192];
    loop {
        let n = match stderr.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        // A log that cannot be written must not stop the program, which blocks on a full pipe.
        if log
            .as_mut()
            .is_some_and(|log| log.write(&chunk[..n]).is_err())
        {
            log = None;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..n]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_stops_at_its_limit() {
        let path = std::env::temp_dir().join(format!("warpquad-log-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let mut log = Log { file, full: false };
        for _ in 0..20 {
            log.write(&vec![b'x'; 1 << 20]).unwrap();
        }
        let length = std::fs::metadata(&path).unwrap().len();
        std::fs::remove_file(&path).unwrap();
        assert!(
            (LARGEST_LOG..LARGEST_LOG + 100).contains(&length),
            "{length}"
        );
    }

    #[test]
    fn lines_are_read_to_the_end_and_within_bounds() {
        let mut text = "one\r\n\u{e9}".as_bytes();
        assert!(matches!(next_line(&mut text), Event::Line(line) if line == "one"));
        assert!(matches!(next_line(&mut text), Event::Line(line) if line == "\u{e9}"));
        assert!(matches!(next_line(&mut text), Event::Closed));
        let longest = vec![b'x'; LONGEST_LINE as usize];
        assert!(matches!(next_line(&mut &longest[..]), Event::Line(_)));
        let longer = vec![b'x'; LONGEST_LINE as usize + 1];
        assert!(matches!(next_line(&mut &longer[..]), Event::LongLine));
    }
}
