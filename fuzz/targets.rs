//! What is fed with bytes of any kind: cargo-fuzz and the tests' own mutations share it.
#![allow(dead_code)] // each binary uses one of them

use warpquad::session::evaluator::{Answer, read_answer, table};
use warpquad::session::expression::Expression;
use warpquad::session::spec::{Integrand, Problem};
use warpquad::session::{Next, Session};
use warpquad::{Result, Value};

/// A parameter more or less costs time, not panics: a run of more is only read.
const MOST_PARAMETERS: usize = 6;

/// Points at which priors are asked for quantiles and densities.
const LEVELS: [f64; 5] = [1e-300, 1e-9, 0.5, 0.999, 1.0 - 1e-16];

/// A problem file: read it, and ask and tell its first three points.
pub fn problem_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(problem) = Problem::parse(&text) {
        let _ = begin(problem, &text);
    }
}

fn begin(problem: Problem, text: &str) -> Result<()> {
    let _ = problem.canonical();
    let measure = problem.measure()?;
    let mut x = vec![0.0; measure.dim()];
    for level in LEVELS {
        measure.quantile(&vec![level; measure.dim()], &mut x);
        let _ = measure.ln_density(&x);
    }
    if measure.dim() > MOST_PARAMETERS {
        return Ok(());
    }
    let (formula, kind): (_, fn(f64) -> Value) = match &problem.integrand {
        Integrand::Log(text) => (text.clone(), Value::Log),
        Integrand::Value(text) => (text.clone(), Value::Linear),
        _ => return Ok(()),
    };
    let names = problem.names.clone();
    let mut session = Session::new(problem, text, 0)?;
    let Ok(formula) = Expression::parse(&formula, &names) else {
        return Ok(());
    };
    for _ in 0..3 {
        let Next::Evaluate(task) = session.next()? else {
            break;
        };
        let answer = Answer::from(kind(formula.evaluate(&task.x)));
        session.tell(task.id, answer, 0.0)?;
    }
    let _ = Session::from_lines(&session.to_lines())?;
    Ok(())
}

/// A formula of x and y: read it and evaluate it.
pub fn formula(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(formula) = Expression::parse(&text, &["x".into(), "y".into()]) {
        for x in [-1e308, -1.0, 0.0, 1e-320, 0.5, f64::MAX] {
            let _ = formula.evaluate(&[x, -0.5 * x]);
        }
    }
}

/// A journal: as it is, where a checksum stops most of it, and with every line sealed again.
pub fn journal(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for lines in [text.to_string(), sealed(&text)] {
        if let Ok(mut session) = Session::from_lines(&lines) {
            let _ = session.pending();
            // Beyond, a model is fitted: that takes long, and its data are the same as here.
            if session.evaluations() < 3 && session.problem().names.len() <= MOST_PARAMETERS {
                let _ = session.ask();
            }
        }
    }
}

/// The lines with numbers and checksums made right.
pub fn sealed(text: &str) -> String {
    let (mut crc, mut out) = (0_u32, String::new());
    for (i, line) in text.lines().enumerate() {
        let body = line.rfind(",\"line\":").map_or(line, |end| &line[..end]);
        let body = format!("{},\"line\":{}", body.trim_end_matches('}'), i + 1);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&crc.to_le_bytes());
        hasher.update(body.as_bytes());
        crc = hasher.finalize();
        out.push_str(&format!("{body},\"crc\":\"{crc:08x}\"}}\n"));
    }
    out
}

/// The lines that `warpquad tell` reads.
pub fn tell_lines(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        let _ = read_answer(line);
    }
}

/// A table of evaluations.
pub fn csv_table(bytes: &[u8]) {
    let _ = table::parse(bytes, &["x".into(), "y".into()]);
}
