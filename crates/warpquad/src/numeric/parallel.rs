//! Spread independent work over threads, with results in the order of the work.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

/// For each thread, how many shares the work is cut into. They are few enough to hand out in no
/// time, and enough that no thread waits long for another's last one.
const SHARES: usize = 8;

/// How many threads the machine has for this process. Asked once: the answer is read from files.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// `work(i)` for i in 0..n, on as many threads as the machine has; the result does not depend on
/// how many that is.
///
/// ```
/// use warpquad::numeric::parallel::map;
/// assert_eq!(map(4, |i| i * i), vec![0, 1, 4, 9]);
/// ```
pub fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads().min(n);
    if threads <= 1 {
        return (0..n).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let size = n.div_ceil(threads * SHARES);
    let share = |k: usize| -> Range<usize> { (k * size).min(n)..((k + 1) * size).min(n) };
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next, work, share) = (send.clone(), &next, &work, &share);
            scope.spawn(move || {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let own: Vec<T> = share(k).map(work).collect();
                    if own.is_empty() || send.send((k, own)).is_err() {
                        return;
                    }
                }
            });
        }
    });
    drop(send);
    let mut done: Vec<(usize, Vec<T>)> = receive.into_iter().collect();
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().flat_map(|(_, own)| own).collect()
}
