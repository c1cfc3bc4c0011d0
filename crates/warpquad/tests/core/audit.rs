//! The audit: unbiased whatever the belief, silent where the answer is right, loud where a mode was
//! missed.

use std::sync::Arc;
use warpquad::Value;
use warpquad::engine::{Engine, Method};
use warpquad::measure::{Measure, Product};
use warpquad::numeric::special::normal_cdf;
use warpquad::points::Points;
use warpquad::session::evaluator::{Answer, Task};
use warpquad::session::spec::Problem;
use warpquad::session::{Report, Session};
use warpquad::warp::Range;

fn session(text: &str, seed: u64) -> Session {
    Session::new(Problem::parse(text).unwrap(), text, seed).unwrap()
}

fn tell(session: &mut Session, task: &Task, ln_f: f64) {
    let answer = Answer::Value(Value::Log(ln_f));
    session.tell(task.id, answer, 0.0).unwrap();
}

/// Spend a whole budget.
fn run(session: &mut Session, ln_f: impl Fn(&[f64]) -> f64) -> Report {
    while session.evaluations() < session.problem().budget.evaluations.unwrap() {
        let task = session.ask().unwrap();
        tell(session, &task, ln_f(&task.x));
    }
    Report::new(session, "evaluations").unwrap()
}

fn bump(x: f64, at: f64, width: f64) -> f64 {
    -0.5 * ((x - at) / width).powi(2)
}

/// Told that all mass is around 0.2, the belief leads most draws there; all of f is around 0.8.
#[test]
fn a_bad_belief_leaves_it_unbiased() {
    let measure: Arc<dyn Measure> = Arc::new(Product::uniform(&[(0.0, 1.0)]).unwrap());
    let sd = 0.2;
    let truth = sd * std::f64::consts::TAU.sqrt() * (normal_cdf(1.0) - normal_cdf(-4.0));
    let mut means = Vec::new();
    let (mut draws, mut all) = (0, 0);
    for seed in 0..50 {
        let method = Method::auto(Range::POSITIVE);
        let mut engine = Engine::new(method, Range::POSITIVE, measure.as_ref(), seed).unwrap();
        for i in 0..12 {
            let x = (i as f64 + 0.5) / 12.0;
            engine.tell(&[x], Value::Log(bump(x, 0.2, 0.1))).unwrap();
        }
        let (mut sum, mut count) = (0.0, 0);
        for stream in 0..20 {
            let draw = engine.draw(stream).unwrap();
            sum += (bump(draw.x[0], 0.8, sd) + draw.ln_ratio).exp();
            count += 1 + draw.misses;
            // A fifth of the proposal is the prior.
            assert!(draw.ln_ratio < 5.5_f64.ln());
            draws += 1;
            all += usize::from((draw.x[0] - 0.2).abs() < 0.25);
        }
        means.push(sum / count as f64);
    }
    assert!(2 * all > draws, "{all} of {draws} follow the belief");
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let spread: f64 = means.iter().map(|z| (z - mean).powi(2)).sum();
    let error = (spread / (n * (n - 1.0))).sqrt();
    assert!(error < 0.1 * truth, "{error}");
    assert!((mean - truth).abs() < 4.0 * error, "{mean} {truth} {error}");
}

const BANANA: &str = "integrand.log = '-(100*(y - x^2)^2 + (1 - x)^2)/20'
    [parameters]\nx.uniform = [-5, 5]\ny.uniform = [-5, 5]
    [budget]\nevaluations = 80\naudit = 0.25";

fn banana(x: &[f64]) -> f64 {
    -(100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)) / 20.0
}

#[test]
fn a_right_answer_is_confirmed() {
    let report = run(&mut session(BANANA, 0), banana);
    let audit = report.audit.clone().unwrap();
    assert_eq!(audit.evaluations, 20);
    assert!((audit.ln_z - report.ln_z()).abs() < 3.0 * audit.ln_z_sd);
    assert!(audit.ln_z_sd < 0.4, "{audit:?}");
    let heard = report.warnings.iter().any(|w| w.contains("audit"));
    assert!(!heard, "{:?}", report.warnings);
    let json = report.to_json();
    assert_eq!(json["audit"]["evaluations"], 20);
    assert_eq!(json["audit"]["log_z"], audit.ln_z);
}

/// Told of one of two modes only, the run is sure of it until a draw of the prior's part hits the
/// other. Few draws do, so seeds are tried until one does.
#[test]
fn a_missed_mode_is_found_and_named() {
    let text = "integrand.external = 'test'\nmethod.name = 'mmlt-literal'\n[parameters]\nmass.uniform = [0, 1]\n[budget]\nevaluations = 30\naudit = 0.3";
    let ln_f = |x: &[f64]| bump(x[0], 0.25, 0.04).max(4.0 + bump(x[0], 0.7, 0.01));
    let heard = (0..200).find_map(|seed| {
        let mut session = session(text, seed);
        for i in 0..20 {
            let task = session.ask_for(vec![0.02 + i as f64 * 0.024]).unwrap();
            tell(&mut session, &task, ln_f(&task.x));
        }
        let report = run(&mut session, ln_f);
        let audit = report.audit.clone().unwrap();
        let found = (audit.heaviest[0] - 0.7).abs() < 0.05;
        let warning = report.warnings.iter().find(|w| w.contains("missed mode"));
        warning.filter(|_| found).cloned()
    });
    let heard = heard.expect("no audit of two hundred has met the other mode");
    assert!(
        heard.contains("near mass = 0.") && heard.contains("raise the budget"),
        "{heard}"
    );
}

/// Everything that an interrupted run has must be what the other one has, to the last bit.
#[test]
fn an_audit_that_is_cut_goes_on_as_it_was() {
    let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n[budget]\nevaluations = 24\naudit = 0.4";
    let ln_f = |x: &[f64]| -x[0] * x[0];
    // Three points are under way at any time, and come back in another order.
    let go_on = |session: &mut Session, until: usize| {
        let mut waiting = session.pending();
        while session.evaluations() < until {
            while waiting.len() < 3 && session.evaluations() + waiting.len() < 24 {
                waiting.push(session.ask().unwrap());
            }
            let task = waiting.remove(waiting.len() / 2);
            tell(session, &task, ln_f(&task.x));
            waiting.sort_by_key(|task| task.id);
        }
    };
    let mut whole = session(text, 3);
    go_on(&mut whole, 24);
    for cut in [10, 15, 20] {
        let mut first = session(text, 3);
        go_on(&mut first, cut);
        let mut second = Session::from_lines(&first.to_lines()).unwrap();
        go_on(&mut second, 24);
        let rows = |session: &Session| -> Points { session.observations().0.clone() };
        assert!(rows(&whole).iter().eq(rows(&second).iter()), "cut at {cut}");
        assert_eq!(whole.audit(), second.audit());
    }
    assert_eq!(whole.audit().unwrap().evaluations, 10);
    let kept = whole.to_lines();
    assert_eq!(kept.matches("\"audit\":").count(), 10);
    // A journal without audits is as it was.
    assert!(!kept.lines().next().unwrap().contains("\"audit\":"));
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let start = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n";
    let refused = |text: &str| {
        let problem = Problem::parse(text);
        let made = problem.map_err(warpquad::Error::from);
        let made = made.and_then(|problem| Session::new(problem, text, 0));
        made.unwrap_err().to_string()
    };
    let cases = [
        (
            "budget = { evaluations = 20, audit = 0.6 }",
            "at most 0.5, got 0.6",
        ),
        ("budget = { evaluations = 20, audit = -1 }", "positive"),
        (
            "budget = { seconds = 20, audit = 0.1 }",
            "give a budget of evaluations",
        ),
        (
            "method.name = 'smc'\nbudget = { evaluations = 20, audit = 0.1 }",
            "smc has none",
        ),
        (
            "method.name = 'bmc'\nintegrand.range = [-inf, inf]\nbudget = { evaluations = 20, audit = 0.1 }",
            "f >= 0",
        ),
    ];
    for (rest, why) in cases {
        let said = refused(&format!("{start}{rest}\n"));
        assert!(
            said.contains("budget.audit") && said.contains(why),
            "{said}"
        );
    }
}
