//! Gather everything that a page or a plot shows of a run, once.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use warpquad::engine::{Engine, Outcome};
use warpquad::functional::Nodes;
use warpquad::measure::Circle;
use warpquad::session::spec::Problem;
use warpquad::session::{Report, Session};
use warpquad::{Error, Result, Value};

/// Posterior draws behind plots and tables, and their seed.
pub const DRAWS: usize = 4000;
/// The seed of the posterior draws.
pub const DRAWS_SEED: u64 = 0;
/// Points of the prior behind its marginals.
const PRIOR_POINTS: usize = 4096;
/// Moments of the run that the convergence plot shows.
const TRACE_STEPS: usize = 12;

/// What was known of Z after so many evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How many evaluations.
    pub evaluations: usize,
    /// The median of ln Z.
    pub log_z: Option<f64>,
    /// The lower end of the central 95 %.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The mean of Z and its standard deviation, where Z has no logarithm.
    pub z: Option<[f64; 2]>,
}

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// Where.
    pub x: Vec<f64>,
    /// ln f or f, as [`Findings::in_logs`] says; `None` for ln 0.
    pub value: Option<f64>,
    /// Seconds that it took.
    pub seconds: f64,
    /// Seconds of wall clock that the run had taken by then.
    pub at: f64,
    /// Whether it was drawn for the audit.
    pub is_audit: bool,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Where.
    pub x: Vec<f64>,
    /// What the integrand said.
    pub reason: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Whether the point was given up.
    pub is_given_up: bool,
}

/// A kind of models, and what it says of ln Z by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// What sets it apart.
    pub label: String,
    /// Its weight.
    pub weight: f64,
    /// How many times as uncertain as it claims it is taken.
    pub widening: f64,
    /// The median of ln Z.
    pub log_z: Option<f64>,
    /// The standard deviation of ln Z.
    pub log_z_sd: Option<f64>,
}

/// An observation and what the others say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The observation.
    pub observed: f64,
    /// The median of the prediction.
    pub median: f64,
    /// The lower end of its central 95 %.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many standard deviations the observation is off.
    pub off_sd: f64,
}

/// What there is to judge the answer by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// The kinds of models, the heaviest first.
    pub kinds: Vec<Kind>,
    /// How many times wider the whole was made by hindsight.
    pub hindsight: f64,
    /// Whether the left-out values are ln f rather than f.
    pub in_logs: bool,
    /// Left-out predictions of the finite observations.
    pub left_out: Vec<LeftOut>,
}

/// Everything that a page or a plot shows of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The object of `warpquad report --json`; null before the first positive value.
    pub report: Json,
    /// Why there is no answer yet, if there is none.
    pub no_answer: Option<String>,
    /// Why the run stopped, or in which state it is.
    pub stop: String,
    /// The parameters' names.
    pub names: Vec<String>,
    /// Of each periodic parameter where its circle begins, and the period.
    pub circles: Vec<Option<[f64; 2]>>,
    /// Parameters that are coordinates of a function in the user's own program.
    pub mapped: Vec<String>,
    /// The integrand, the prior and the range of f.
    pub problem: Json,
    /// The problem file's text.
    pub text: String,
    /// The budget: evaluations, seconds, the target, the audit's part, and workers: those of the
    /// problem file, or as many evaluations as were under way at once if that is more.
    pub budget: Json,
    /// The convergence of ln Z.
    pub trace: Vec<Step>,
    /// Whether values are ln f rather than f.
    pub in_logs: bool,
    /// Every evaluation, in the order it came.
    pub evaluations: Vec<Evaluated>,
    /// Failed attempts.
    pub failures: Vec<Failed>,
    /// Numbers of evaluations that fits were made from, and whether from all starting points.
    pub fits: Vec<(usize, bool)>,
    /// Posterior draws of equal weight, a row each.
    pub draws: Vec<Vec<f64>>,
    /// ln f at the draws.
    pub draws_log_f: Vec<f64>,
    /// Why there are no draws, if there are none.
    pub no_draws: Option<String>,
    /// Points that follow the prior, a row each.
    pub prior: Vec<Vec<f64>>,
    /// What there is to judge the answer by; a baseline has none of it.
    pub trust: Option<Trust>,
}

impl Findings {
    /// What a session has found, by the reason that it stopped for.
    ///
    /// ```
    /// use warpquad::session::{Session, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    /// use warpquad_report::Findings;
    /// let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// for _ in 0..10 {
    ///     let task = session.ask()?;
    ///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
    /// }
    /// let found = Findings::of(&mut session, "evaluations")?;
    /// assert_eq!((found.evaluations.len(), found.draws.len()), (10, 4000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(session: &mut Session, stop: &str) -> Result<Findings> {
        let (report, no_answer) = match Report::new(session, stop) {
            Ok(report) => (report.to_json(), None),
            Err(error) => (Json::Null, Some(error.to_string())),
        };
        let account = session.account();
        let workers = crate::under_way::most(&account);
        let in_logs = in_logs(session);
        let problem = session.problem();
        let mut found = Findings {
            report,
            no_answer,
            stop: stop.into(),
            names: problem.names.clone(),
            circles: circles(problem)?,
            mapped: problem.settings.mapped.clone(),
            problem: problem.canonical(),
            text: session.text().into(),
            budget: json!({
                "evaluations": problem.budget.evaluations, "seconds": problem.budget.seconds,
                "log_z_sd": problem.budget.log_z_sd, "audit": problem.budget.audit,
                "workers": problem.budget.workers.max(workers),
            }),
            trace: Vec::new(),
            in_logs,
            evaluations: Vec::new(),
            failures: Vec::new(),
            fits: Vec::new(),
            draws: Vec::new(),
            draws_log_f: Vec::new(),
            no_draws: None,
            prior: prior(session)?,
            trust: None,
        };
        for one in account.evaluations {
            found.evaluations.push(Evaluated {
                value: shown(one.value, in_logs),
                x: one.x,
                seconds: one.seconds,
                at: one.at,
                is_audit: one.is_audit,
            });
        }
        for one in account.failures {
            found.failures.push(Failed {
                x: one.x,
                reason: one.reason,
                seconds: one.seconds,
                is_given_up: one.is_given_up,
            });
        }
        let fits = account.fits.iter();
        found.fits = fits.map(|fit| (fit.evaluations, fit.is_full)).collect();
        if found.no_answer.is_none() {
            found.ask_belief(session)?;
        }
        Ok(found)
    }

    /// What only a belief about f can say.
    fn ask_belief(&mut self, session: &mut Session) -> Result<()> {
        let Some(mut engine) = session.engine().cloned() else {
            self.trace.push(step(&session.outcome()?));
            let reason = "this method keeps no belief about f, and so no posterior";
            self.no_draws = Some(reason.into());
            return Ok(());
        };
        self.trace = engine.trace(TRACE_STEPS)?.iter().map(step).collect();
        self.trust = Some(trust(&mut engine)?);
        match engine.posterior_sample(DRAWS, DRAWS_SEED) {
            Ok(sample) => {
                self.draws = sample.points.iter().map(<[f64]>::to_vec).collect();
                self.draws_log_f = sample.ln_f;
            }
            // An f of either sign has no posterior, and says so.
            Err(Error::Spec { reason, .. }) => self.no_draws = Some(reason),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// How many parameters there are.
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// The evaluation with the largest f, by its place.
    pub fn best(&self) -> Option<usize> {
        let value = |i: &usize| self.evaluations[*i].value;
        let known = (0..self.evaluations.len()).filter(|i| value(i).is_some());
        known.max_by(|a, b| {
            let (a, b) = (value(a), value(b));
            a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN))
        })
    }

    /// Evaluations of the run, without values that were given to it.
    pub fn evaluated(&self) -> usize {
        let given = self.report["given"].as_u64().unwrap_or(0) as usize;
        self.evaluations.len().saturating_sub(given)
    }

    /// What a value is called.
    pub fn value_name(&self) -> &'static str {
        if self.in_logs { "ln f" } else { "f" }
    }
}

/// A number that JSON has, or nothing.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn step(outcome: &Outcome) -> Step {
    let [low, high] = outcome.ln_interval(0.95);
    let log_z = finite(outcome.law.ln_quantile(0.5));
    let estimate = &outcome.estimate;
    let z = [estimate.mean(), estimate.sd_with_nodes()];
    Step {
        evaluations: outcome.evaluations,
        z: (log_z.is_none() && z.iter().all(|x| x.is_finite())).then_some(z),
        log_z,
        low: finite(low),
        high: finite(high),
    }
}

/// Values are shown as ln f where they were told so, or where f is positive without a bound.
fn in_logs(session: &Session) -> bool {
    let (_, values) = session.observations();
    let range = session.problem().settings.range;
    let told_so = !values.is_empty() && values.iter().all(|v| matches!(v, Value::Log(_)));
    told_so || (range.lo >= 0.0 && range.hi == f64::INFINITY)
}

fn shown(value: Value, in_logs: bool) -> Option<f64> {
    finite(match (value, in_logs) {
        (Value::Log(ln_f), true) => ln_f,
        (Value::Log(ln_f), false) => ln_f.exp(),
        (Value::Linear(f), true) => f.ln(),
        (Value::Linear(f), false) => f,
    })
}

/// Which parameters are angles.
fn circles(problem: &Problem) -> Result<Vec<Option<[f64; 2]>>> {
    let circles = problem.measure()?.circles();
    let each = circles.as_ref().map_or(&[][..], |circles| circles.each());
    let ends = |circle: &Option<Circle>| circle.map(|circle| [circle.start, circle.period]);
    Ok(each.iter().map(ends).collect())
}

/// Points that follow the prior, whatever the method.
fn prior(session: &Session) -> Result<Vec<Vec<f64>>> {
    let measure = session.problem().measure()?;
    let nodes = Nodes::sobol(measure.as_ref(), PRIOR_POINTS, session.seed())?;
    Ok(nodes.points.iter().map(<[f64]>::to_vec).collect())
}

fn trust(engine: &mut Engine) -> Result<Trust> {
    let seen = engine.diagnosis()?;
    let kinds = seen.kinds.into_iter().map(|kind| Kind {
        label: kind.label,
        weight: kind.weight,
        widening: kind.widening,
        log_z: finite(kind.ln_z),
        log_z_sd: finite(kind.ln_z_sd),
    });
    let left_out = seen.left_out.iter().map(|one| LeftOut {
        observed: one.observed,
        median: one.median,
        low: one.interval[0],
        high: one.interval[1],
        off_sd: one.off_sd,
    });
    let is_finite = |one: &LeftOut| {
        let all = [one.observed, one.median, one.low, one.high, one.off_sd];
        all.iter().all(|x| x.is_finite())
    };
    Ok(Trust {
        kinds: kinds.collect(),
        hindsight: seen.hindsight,
        in_logs: seen.in_logs,
        left_out: left_out.filter(is_finite).collect(),
    })
}
