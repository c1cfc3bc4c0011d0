//! Make the parts of a run from its problem: the method, and the source of evaluations.

use super::arguments::Arguments;
use super::evaluator::{
    Answer, Closure, Command, Driver, Filled, Source, UmBridge, table as evaluations,
};
use super::expression::Expression;
use super::guard::within;
use super::options::{self, Kept};
use super::spec::{Integrand, OnFailure, Problem};
use crate::baseline::{self, Baseline};
use crate::data::Value;
use crate::engine::{Method, Plan, Reading};
use crate::error::{Error, Result};
use crate::fit::Space;
use crate::measure::Chart;
use crate::points::Points;
use crate::{acquisition, kernel, warp};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The baseline a problem asks for, if it does; what means nothing to the method is refused.
pub fn baseline(problem: &Problem) -> Result<Option<Arc<dyn Baseline>>> {
    options::allow_all(problem)?;
    let name = problem.method_name();
    if !baseline::is_baseline(name) {
        return Ok(None);
    }
    let made = baseline::by_name(name)?;
    let none = |field: &str, given: bool, reason: &str| match given {
        true => Err(problem.error(field, format!("{name} {reason}")).into()),
        false => Ok::<(), Error>(()),
    };
    let skip = problem.settings.on_failure == OnFailure::Skip;
    let reason = "cannot leave a point out; use \"stop\" or \"retry\", or answer with f = 0";
    none("integrand.on_failure", skip, reason)?;
    let table = matches!(problem.integrand, Integrand::Table { .. });
    none(
        "integrand.table",
        table,
        "chooses its own points; a table needs a Gaussian process",
    )?;
    let signed = problem.settings.range.lo < 0.0 && !made.takes_any_sign();
    let others = baseline::names_where(|one| one.takes_any_sign()).join(" and ");
    let reason = format!("needs f >= 0; {others} take any sign");
    none("integrand.range", signed, &reason)?;
    Ok(Some(made))
}

/// The largest part of the evaluations that an audit may take: the answer needs the rest.
const LARGEST_AUDIT: f64 = 0.5;

/// Refuse an audit that cannot be made.
pub(super) fn audit(problem: &Problem) -> Result<()> {
    let Some(part) = problem.budget.audit else {
        return Ok(());
    };
    let refuse = |reason: String| Err(problem.error("budget.audit", reason).into());
    if !(part > 0.0 && part <= LARGEST_AUDIT) {
        return refuse(format!(
            "is a part of the evaluations: it must be above 0 and at most {LARGEST_AUDIT}, got {part}"
        ));
    }
    if problem.budget.evaluations.is_none() {
        return refuse(
            "takes the last of the evaluations, so their number must be known: give a budget of \
             evaluations"
                .into(),
        );
    }
    options::by_keyword("audit").map_or(Ok(()), |audit| options::allow(problem, audit))
}

/// The most dimensions that a method reaches, if there are more.
pub(super) fn exceeded(method: &Method, dim: usize) -> Option<usize> {
    method.max_dimensions().filter(|most| dim > *most)
}

/// Refuse a method that the user did not name where it is out of its reach.
fn within_reach(problem: &Problem, method: &Method) -> Result<()> {
    let dim = problem.names.len();
    let Some(most) = exceeded(method, dim).filter(|_| problem.method.name.is_none()) else {
        return Ok(());
    };
    let reason = format!(
        "{dim} dimensions are out of reach of integration by a surrogate: beyond {most}, a few \
         hundred evaluations do not tell a model of f where its mass is. Name a baseline, \"smc\" or \
         \"nested\", and give it tens of thousands of evaluations; or name \"auto\" to try all the \
         same, and do not trust its interval"
    );
    Err(problem.error("method.name", reason).into())
}

/// The method a problem asks for, its parts replaced one by one where it says so.
///
/// Without a name it is `auto`, whose warp depends on the range of f.
pub fn method(problem: &Problem) -> Result<Method> {
    let spec = &problem.method;
    let at = |field: &str, error: Error| match error {
        Error::Spec { reason, .. } => problem.error(field, reason).into(),
        other => other,
    };
    let named = Method::named(problem.method_name(), problem.settings.range);
    let mut method = named.map_err(|e| at("method.name", e))?;
    within_reach(problem, &method)?;
    if let Some(warp) = &spec.warp {
        warp::by_name(warp).map_err(|e| at("method.warp", e))?;
        method.warp = warp.clone();
    }
    if let Some(kernel) = &spec.kernel {
        kernel::by_name(kernel).map_err(|e| at("method.kernel", e))?;
        method.kernel = kernel.clone();
    }
    if let Some(rule) = &spec.acquisition {
        acquisition::by_name(rule).map_err(|e| at("method.acquisition", e))?;
        method.acquisition = rule.clone();
    }
    if let Some(fit) = &spec.fit {
        method.space = Space::by_name(fit).map_err(|e| at("method.fit", e))?;
    }
    if let Some(chart) = &spec.coordinates {
        method.coordinates = Chart::parse(chart).map_err(|e| at("method.coordinates", e))?;
    }
    for (field, numbers) in spec.tuning.iter().flatten() {
        let tuned = method.tune(field, numbers);
        tuned.map_err(|e| at(&format!("method.tuning.{field}"), e))?;
    }
    method.nodes = spec.nodes.unwrap_or(method.nodes);
    method.refit_every = spec.refit_every.unwrap_or(method.refit_every);
    let fields = ["integrand.range", "method.warp", "method.name"];
    let field = fields
        .into_iter()
        .find(|field| problem.locate(field).is_some());
    let field = field.unwrap_or("integrand.range");
    let strategy = method.strategy()?;
    strategy
        .check_range(problem.settings.range)
        .map_err(|e| at(field, e))?;
    Ok(method)
}

/// What must agree for a run of Bayesian quadrature to go on as it began: the method's parts and
/// the options that are kept with them.
pub(super) fn method_json(problem: &Problem, method: &Method) -> Json {
    let mut resolved = problem.clone();
    resolved.settings.noise.get_or_insert(0.0);
    let spec = &mut resolved.method;
    spec.name = Some(problem.method_name().to_string());
    spec.warp = Some(method.warp.clone());
    spec.kernel = Some(method.kernel.clone());
    spec.acquisition = Some(method.acquisition.clone());
    spec.coordinates = Some(method.coordinates.name().to_string());
    spec.nodes = Some(method.nodes);
    spec.refit_every = Some(method.refit_every);
    spec.fit = Some(method.space.name().to_string());
    let mut fields = options::agreed(&resolved, Kept::Method);
    fields.insert("linearised".into(), json!(method.is_linearised()));
    if let Some(reading) = reading_json(method) {
        fields.insert("reading".into(), reading);
    }
    Json::Object(fields)
}

/// What a published method leaves open, where it is not as the paper's words stand.
fn reading_json(method: &Method) -> Option<Json> {
    let Plan::Published(reading) = &method.plan else {
        return None;
    };
    let literal = Reading {
        matching: reading.matching,
        ..Reading::default()
    };
    (*reading != literal).then(|| {
        json!({
            "confined": reading.confined,
            "floor_nats": reading.floor_nats,
            "initial_points": reading.initial_points,
            "nugget": reading.nugget,
        })
    })
}

/// What must agree for a run of a baseline to go on as it began; it plans by the evaluations of its
/// first budget.
pub(super) fn baseline_json(problem: &Problem, planned_evaluations: Option<usize>) -> Json {
    let mut fields = options::agreed(problem, Kept::Method);
    fields.insert("planned_evaluations".into(), json!(planned_evaluations));
    Json::Object(fields)
}

/// Give a problem what the journal's first line keeps: the command line may have chosen it over the
/// file.
pub(super) fn restore(
    problem: &mut Problem,
    kept: &Json,
    method: &Json,
) -> std::result::Result<(), String> {
    options::restore(problem, Kept::Problem, kept)?;
    options::restore(problem, Kept::Method, method)
}

/// The source of evaluations; `None` for a table, whose evaluations exist already.
///
/// `dir` is the problem file's directory, against which programs are found; `run` is the run's
/// directory, for logs and work directories.
pub fn source(problem: &Problem, dir: &Path, run: &Path) -> Result<Option<Box<dyn Source>>> {
    let timeout = problem.settings.timeout.map(Duration::from_secs_f64);
    let arguments = problem.arguments.clone();
    Ok(Some(match &problem.integrand {
        Integrand::Log(text) => formula(text, arguments, Value::Log)?,
        Integrand::Value(text) => formula(text, arguments, Value::Linear)?,
        Integrand::Command { argv } => {
            let mut command = Command::new(argv.clone(), arguments);
            command.timeout = timeout;
            command.restarts = problem.settings.retries;
            command.stderr = Some(run.join("stderr.log"));
            command.dir = Some(dir.to_path_buf());
            Box::new(command)
        }
        Integrand::Driver { argv } => {
            let mut driver = Driver::new(argv.clone(), arguments, run.join("work"));
            driver.timeout = timeout;
            driver.dir = Some(dir.to_path_buf());
            Box::new(driver)
        }
        Integrand::UmBridge { url, model, config } => {
            let server = UmBridge::new(url, model, arguments.names().len());
            let server = server.timeout(timeout).config(&config.to_string())?;
            Box::new(Filled::new(server, arguments))
        }
        Integrand::Table { .. } => return Ok(None),
        Integrand::External { by } => {
            let reason = format!(
                "the values come from {by}: go on there, or hand points out with `warpquad ask` and \
                 take values in with `warpquad tell`"
            );
            return Err(problem.error("integrand.external", reason).into());
        }
    }))
}

fn formula(text: &str, arguments: Arguments, kind: fn(f64) -> Value) -> Result<Box<dyn Source>> {
    let parsed = Expression::parse(text, &arguments.names());
    let expression = parsed.map_err(|e| Error::spec("integrand", e.to_string()))?;
    let closure = Closure::new(move |x: &[f64]| kind(expression.evaluate(x)));
    Ok(Box::new(Filled::new(closure, arguments)))
}

/// The evaluations of a table; rows outside the prior or the range are refused by their line.
pub fn table(problem: &Problem, dir: &Path) -> Result<Option<(Points, Vec<Value>)>> {
    let Integrand::Table { path } = &problem.integrand else {
        return Ok(None);
    };
    let support = problem.measure()?.support();
    let judge = |x: &[f64], value: Value| {
        let ends = problem.names.iter().zip(&support);
        for (x, (name, &(lo, hi))) in x.iter().zip(ends) {
            if !(lo..=hi).contains(x) {
                return Err(format!(
                    "{name} = {x} is outside its prior, which goes from {lo} to {hi}; leave the row \
                     out, or state the prior that it is from"
                ));
            }
        }
        if let Ok(Some(constraint)) = problem.violated(x) {
            return Err(format!(
                "the point violates the constraint {constraint}; leave the row out"
            ));
        }
        match within(problem.settings.range, Answer::Value(value)) {
            Answer::Value(_) | Answer::With(..) => Ok(()),
            Answer::Failure(failure) => Err(failure.reason),
        }
    };
    evaluations::read_if(&dir.join(path), &problem.arguments, judge).map(Some)
}
