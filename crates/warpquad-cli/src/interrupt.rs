//! Hear Ctrl-C and a polite kill: stop at the next event, and remember which it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use warpquad::session::evaluator;

/// The signal that was heard; 0 for none.
static HEARD: AtomicI32 = AtomicI32::new(0);

/// The exit code that shells expect after a signal that was heard: 130 for Ctrl-C, 143 for a kill.
pub fn exit_code() -> Option<u8> {
    match HEARD.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(128 + signal as u8),
    }
}

/// A flag that rises with the first signal; the second one ends the program at once.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    listen(flag.clone());
    flag
}

fn heard(signal: i32, flag: &AtomicBool) {
    HEARD.store(signal, Ordering::SeqCst);
    evaluator::stop_waiting();
    if flag.swap(true, Ordering::SeqCst) {
        // For those who cannot wait; the journal survives that too.
        evaluator::end_programs();
        std::process::exit(128 + signal);
    }
}

#[cfg(unix)]
fn listen(flag: Arc<AtomicBool>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Without a listener a signal kills the process, which the journal survives as well.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                heard(signal, &flag);
            }
        });
    }
}

#[cfg(not(unix))]
fn listen(flag: Arc<AtomicBool>) {
    // The number of SIGINT.
    let _ = ctrlc::set_handler(move || heard(2, &flag));
}
