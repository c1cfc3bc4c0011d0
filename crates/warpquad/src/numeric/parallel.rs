//! Spread independent work over threads, with results in the order of the work.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// `work(i)` for i in 0..n, on as many threads as the machine has; the result does not depend on
/// how many that is.
///
/// ```
/// use warpquad::numeric::parallel::map;
/// assert_eq!(map(4, |i| i * i), vec![0, 1, 4, 9]);
/// ```
pub fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(n);
    if threads <= 1 {
        return (0..n).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n || send.send((i, work(i))).is_err() {
                        return;
                    }
                }
            });
        }
    });
    drop(send);
    let mut done: Vec<(usize, T)> = receive.into_iter().collect();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, value)| value).collect()
}
