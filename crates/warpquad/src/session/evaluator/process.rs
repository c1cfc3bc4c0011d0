//! Start a program as the leader of its own process group, wait for it, and end all of the group.

use super::orphans;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a killed process may take to vanish; one in an uninterruptible call of the kernel, or
/// one that became another user's, does not, and is left behind.
const REAP: Duration = Duration::from_secs(5);

/// The numbers of all groups that may live; one leaves the list before its leader is reaped, so no
/// number in it can have become another program's.
static LIVING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// How often [`end_programs`] was called: a program that it ended is not started again.
static ENDINGS: AtomicUsize = AtomicUsize::new(0);

/// The number of the last call of [`end_programs`].
pub(super) fn endings() -> usize {
    ENDINGS.load(Ordering::SeqCst)
}

fn living() -> MutexGuard<'static, Vec<u32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kill every program that an evaluator of this process has started, with its children.
///
/// For a process that is about to exit while evaluations run: the programs are in groups of their
/// own, so that an interrupt from the terminal does not reach them.
pub fn end_programs() {
    ENDINGS.fetch_add(1, Ordering::SeqCst);
    for &group in living().iter() {
        kill_group(group);
    }
}

/// Whether [`stop_waiting`] was called.
static IMPATIENT: AtomicBool = AtomicBool::new(false);

/// Give up what waits for a server before anything is evaluated: the user wants to stop.
pub fn stop_waiting() {
    IMPATIENT.store(true, Ordering::SeqCst);
}

/// Whether the user wants to stop.
pub(super) fn is_impatient() -> bool {
    IMPATIENT.load(Ordering::SeqCst)
}

/// A program and the children it may have started. Dropping it ends them all.
///
/// A child that moves to a group of its own (a daemon) is out of reach.
pub(super) struct Group {
    child: Child,
    reaped: bool,
}

impl Group {
    pub(super) fn start(command: &mut Command) -> io::Result<Group> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // Locked before the start: a program is in the list or does not run.
        let mut living = living();
        let child = command.spawn()?;
        living.push(child.id());
        orphans::add(child.id());
        Ok(Group {
            child,
            reaped: false,
        })
    }

    /// Its three pipes, each given out once, if it was started with pipes.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let child = &mut self.child;
        Some((
            child.stdin.take()?,
            child.stdout.take()?,
            child.stderr.take()?,
        ))
    }

    /// Wait until the program ends by itself; false if the limit passes first.
    pub(super) fn wait(&mut self, limit: Option<Duration>) -> bool {
        let start = Instant::now();
        // Doubling naps: a quick program is not kept waiting, a slow one costs 50 looks a second.
        let mut nap = Duration::from_micros(200);
        while !self.has_ended() {
            let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            sleep(left.map_or(nap, |left| left.min(nap)));
            nap = (nap * 2).min(Duration::from_millis(20));
        }
        true
    }

    /// Kill what still lives of the group; the program's exit status, if it can be had.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        // The group goes first: until its leader is reaped, its number cannot be anyone else's.
        if !self.reaped {
            let id = self.child.id();
            kill_group(id);
            living().retain(|&other| other != id);
            orphans::remove(id);
            // An error means that it has ended.
            let _ = self.child.kill();
        }
        let start = Instant::now();
        while start.elapsed() < REAP {
            match self.child.try_wait() {
                Ok(None) => sleep(Duration::from_millis(1)),
                Ok(Some(status)) => {
                    self.reaped = true;
                    return Some(status);
                }
                Err(_) => break,
            }
        }
        None
    }

    /// Whether the program has ended, without reaping it.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // An error means that there is no such child any more.
        self.reaped
            || !matches!(
                waitid(WaitId::Pid(Pid::from_child(&self.child)), options),
                Ok(None)
            )
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

#[cfg(unix)]
fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // An error means that nothing is left to kill.
        let _ = kill_process_group(id, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_id: u32) {}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.end();
        }
    }
}

/// An exit status in words.
pub(super) fn words(status: Option<ExitStatus>) -> String {
    status.map_or("exit status unknown".into(), |status| status.to_string())
}

/// The last lines of what a program wrote to stderr, for a message.
pub(super) fn last_lines(stderr: &[u8]) -> String {
    const LINES: usize = 8;
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        return String::new();
    }
    format!("; the end of stderr:\n{}", last.join("\n"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Group {
        Group::start(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn a_status_is_kept_however_the_program_ends() {
        let mut group = shell("exit 3");
        assert!(group.wait(None));
        assert_eq!(words(group.end()), "exit status: 3");
        assert_eq!(words(group.end()), "exit status: 3");
        assert!(group.wait(None));
    }

    #[test]
    fn a_program_that_stays_is_killed() {
        let mut group = shell("sleep 600");
        assert!(!group.wait(Some(Duration::from_millis(10))));
        assert_eq!(words(group.end()), "signal: 9 (SIGKILL)");
    }

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_lines(b""), "");
        let text: String = (0..20).map(|i| format!("line {i}\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with("; the end of stderr:\nline 12\n"));
        assert!(shown.ends_with("line 19"));
    }
}
