//! Feed every reader of input with 2000 mutations of good input: no panic, no hang, within 2 GB.
//!
//! The corpus is that of `make fuzz`, and so are the functions that are fed.

#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;
use warpquad::numeric::random::Rng;

const MUTATIONS: u64 = 2000;

/// A call that takes longer than this hangs. No call takes a tenth of it, on a busy machine too.
const HANG: Duration = Duration::from_secs(60);

/// What breaks readers: ends of ranges, words that stand for no number, unbalanced brackets.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-320",
    "1e18",
    "-1e30",
    "1e19",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "9223372036854775807",
    "18446744073709551616",
    "4294967296",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "'",
    ",",
    "\n",
    "\0",
    "=",
    "^",
    "-",
    "\u{e9}",
    "\u{feff}",
    "null",
    "true",
    "[[[[[[[[",
    "((((((((",
];

fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.uniform() * n as f64) as usize
}

/// The corpus of a target, by file name.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files: Vec<_> = fs::read_dir(dir.join(target))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// One of the corpus after one to four changes that the seed decides.
fn mutated(corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut bytes = corpus[below(&mut rng, corpus.len())].clone();
    for _ in 0..1 + below(&mut rng, 4) {
        change(&mut bytes, corpus, &mut rng);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Rng) {
    let at = below(rng, bytes.len() + 1);
    let to = (at + 1 + below(rng, 24)).min(bytes.len()).max(at);
    match below(rng, 8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << below(rng, 8),
        1 => drop(bytes.drain(at..to)),
        2 => {
            let part = bytes[at..to].to_vec();
            let times = [1, 2, 300][below(rng, 3)];
            drop(bytes.splice(at..at, part.repeat(times)));
        }
        3 => drop(bytes.splice(at..at, token(rng))),
        4 | 5 => {
            if let Some((from, to)) = number(bytes, at) {
                drop(bytes.splice(from..to, token(rng)));
            }
        }
        6 => swap_lines(bytes, rng),
        _ => {
            let other = &corpus[below(rng, corpus.len())];
            let from = below(rng, other.len() + 1);
            let part = other[from..(from + 40).min(other.len())].to_vec();
            drop(bytes.splice(at..to, part));
        }
    }
}

fn token(rng: &mut Rng) -> Vec<u8> {
    TOKENS[below(rng, TOKENS.len())].as_bytes().to_vec()
}

/// The first number at or after a place.
fn number(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let is_part = |b: &u8| b.is_ascii_digit() || b"+-.e".contains(b);
    let from = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let length = bytes[from..].iter().position(|b| !is_part(b));
    Some((from, length.map_or(bytes.len(), |length| from + length)))
}

fn swap_lines(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let (i, j) = (below(rng, lines.len()), below(rng, lines.len()));
    lines.swap(i, j);
    *bytes = lines.join(&b'\n');
}

/// An allocation beyond 2 GB aborts the tests.
fn limit_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Resource, Rlimit, setrlimit};
            let two_gb = Rlimit {
                current: Some(2 << 30),
                maximum: None,
            };
            setrlimit(Resource::As, two_gb).unwrap();
        }
    });
}

/// Feed the target; a panic or a hang names the seed that shows it again.
fn feed(name: &'static str, target: fn(&[u8])) {
    limit_memory();
    let corpus = corpus(name);
    assert!(!corpus.is_empty());
    corpus.iter().for_each(|good| target(good));
    let seed = Arc::new(AtomicU64::new(0));
    watch(name, seed.clone());
    let mut panics = Vec::new();
    for i in 0..MUTATIONS {
        seed.store(i, Ordering::SeqCst);
        let bytes = mutated(&corpus, i);
        if catch_unwind(|| target(&bytes)).is_err() {
            panics.push((i, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    seed.store(u64::MAX, Ordering::SeqCst);
    assert!(
        panics.is_empty(),
        "{} of {MUTATIONS} mutations panicked; the first, {}:\n{}",
        panics.len(),
        panics[0].0,
        panics[0].1
    );
}

/// End the tests if one seed stays under way for too long.
fn watch(name: &'static str, seed: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut last = u64::MAX;
        loop {
            thread::sleep(HANG);
            match seed.load(Ordering::SeqCst) {
                u64::MAX => return,
                same if same == last => {
                    eprintln!("{name}: mutation {same} hangs");
                    std::process::abort();
                }
                now => last = now,
            }
        }
    });
}

#[test]
fn problem_files() {
    feed("problem_file", targets::problem_file);
}

#[test]
fn formulas() {
    feed("formula", targets::formula);
}

#[test]
fn journals() {
    feed("journal", targets::journal);
}

#[test]
fn lines_to_tell() {
    feed("tell_lines", targets::tell_lines);
}

#[test]
fn tables() {
    feed("csv_table", targets::csv_table);
}
