//! End the programs of this process even when it is killed and can do nothing itself.
//!
//! A shell waits at the end of a pipe. It is told which groups live. The pipe closes when this
//! process ends, however it ends, and then the shell kills the groups that are left.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads `+ NUMBER` and `- NUMBER`; at the end kills what was added and not taken away.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
while read -r sign group; do
  rest=
  for other in $groups; do
    [ "$other" = "$group" ] || rest="$rest $other"
  done
  groups=$rest
  [ "$sign" = - ] || groups="$groups $group"
done
for group in $groups; do
  kill -s KILL -- "-$group" 2>/dev/null
done
"#;

/// The pipe to the shell; empty until the first program starts, or where there is no shell.
static SHELL: Mutex<Option<ChildStdin>> = Mutex::new(None);

fn shell() -> MutexGuard<'static, Option<ChildStdin>> {
    SHELL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group lives from now on.
pub(super) fn add(group: u32) {
    let mut shell = shell();
    if shell.is_none() {
        *shell = start();
    }
    tell(shell.as_mut(), '+', group);
}

/// A group is about to be reaped: its number may become another program's.
pub(super) fn remove(group: u32) {
    tell(shell().as_mut(), '-', group);
}

fn tell(shell: Option<&mut ChildStdin>, sign: char, group: u32) {
    if let Some(shell) = shell {
        // Without the shell, programs outlive a killed process, as they would without this file.
        let _ = shell.write_all(format!("{sign} {group}\n").as_bytes());
    }
}

#[cfg(unix)]
fn start() -> Option<ChildStdin> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // Its own group and directory: Ctrl-C does not reach it, and it holds no file system.
    command.process_group(0).current_dir("/");
    command.spawn().ok()?.stdin.take()
}

#[cfg(not(unix))]
fn start() -> Option<ChildStdin> {
    None
}
