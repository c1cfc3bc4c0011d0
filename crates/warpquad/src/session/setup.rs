//! Make the parts of a run from its problem: the method, and the source of evaluations.

use super::evaluator::{Answer, Closure, Command, Driver, Source, UmBridge, table as evaluations};
use super::expression::Expression;
use super::guard::within;
use super::spec::{Integrand, MethodSpec, OnFailure, Problem};
use crate::baseline::{self, Baseline};
use crate::data::Value;
use crate::engine::{AUTO, Method};
use crate::error::{Error, Result};
use crate::fit::Space;
use crate::measure::{Chart, Form};
use crate::points::Points;
use crate::{acquisition, kernel, warp};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The baseline a problem asks for, if it does; what only a Gaussian process has is refused.
pub fn baseline(problem: &Problem) -> Result<Option<Arc<dyn Baseline>>> {
    let spec = &problem.method;
    let Some(name) = spec
        .name
        .as_deref()
        .filter(|name| baseline::is_baseline(name))
    else {
        return match spec.particles {
            None => Ok(None),
            Some(_) => Err(problem
                .error("method.particles", "is for smc, ais, nested and bridge")
                .into()),
        };
    };
    let made = baseline::by_name(name)?;
    let none = |field: &str, given: bool, reason: &str| match given {
        true => Err(problem.error(field, format!("{name} {reason}")).into()),
        false => Ok::<(), Error>(()),
    };
    let gp = "has no Gaussian process: leave it out";
    none("method.warp", spec.warp.is_some(), gp)?;
    none("method.kernel", spec.kernel.is_some(), gp)?;
    none("method.fit", spec.fit.is_some(), gp)?;
    none("method.acquisition", spec.acquisition.is_some(), gp)?;
    none("method.coordinates", spec.coordinates.is_some(), gp)?;
    none("method.nodes", spec.nodes.is_some(), gp)?;
    none("method.refit_every", spec.refit_every.is_some(), gp)?;
    none(
        "method.batch",
        spec.batch.is_some(),
        "chooses its own batches: leave it out",
    )?;
    none("integrand.noise", problem.noise.is_some(), gp)?;
    let averages = ["mc", "qmc"].contains(&name);
    let particles = spec.particles.is_some();
    none(
        "method.particles",
        averages && particles,
        "has no particles: leave it out",
    )?;
    let skip = problem.on_failure == OnFailure::Skip;
    let reason = "cannot leave a point out; use \"stop\" or \"retry\", or answer with f = 0";
    none("integrand.on_failure", skip, reason)?;
    let table = matches!(problem.integrand, Integrand::Table { .. });
    none(
        "integrand.table",
        table,
        "chooses its own points; a table needs a Gaussian process",
    )?;
    let signed = problem.range.lo < 0.0 && !made.takes_any_sign();
    none(
        "integrand.range",
        signed,
        "needs f >= 0; mc and qmc take any sign",
    )?;
    Ok(Some(made))
}

/// The largest part of the evaluations that an audit may take: the answer needs the rest.
const LARGEST_AUDIT: f64 = 0.5;

/// Refuse an audit that cannot be made.
pub(super) fn audit(problem: &Problem) -> Result<()> {
    let Some(part) = problem.budget.audit else {
        return Ok(());
    };
    let refuse = |reason: String| match problem.locate("budget.audit") {
        Some(_) => Err(problem.error("budget.audit", reason).into()),
        None => Err(Error::spec("audit", reason)),
    };
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
    let method = name(problem);
    if baseline::is_baseline(method) {
        return refuse(format!(
            "draws points from the belief of Bayesian quadrature, and {method} has none: leave it out"
        ));
    }
    if matches!(problem.integrand, Integrand::Table { .. }) {
        return refuse(
            "draws points of its own, and a table has only those it has: leave it out".into(),
        );
    }
    if problem.range.lo < 0.0 {
        return refuse("needs f >= 0, because it compares ln Z: leave it out".into());
    }
    if matches!(problem.measure()?.form(), Form::Sample(_)) {
        return refuse("draws points of a density, and the prior is a sample: leave it out".into());
    }
    Ok(())
}

/// The most dimensions in which `auto` is taken without being named.
pub(super) const REACH: usize = 10;

/// Refuse the default method where it is out of its reach.
fn within_reach(problem: &Problem) -> Result<()> {
    let dim = problem.names.len();
    if problem.method.name.is_some() || dim <= REACH {
        return Ok(());
    }
    let reason = format!(
        "{dim} dimensions are out of reach of integration by a surrogate: beyond {REACH}, a few hundred evaluations \
         do not tell a model of f where its mass is. Name a baseline, \"smc\" or \"nested\", and give it tens of thousands \
         of evaluations; or name \"auto\" to try all the same, and do not trust its interval"
    );
    Err(problem.error("method.name", reason).into())
}

/// Whether `auto` runs where it is out of its reach.
pub(super) fn out_of_reach(problem: &Problem) -> bool {
    name(problem) == AUTO && problem.names.len() > REACH
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
    within_reach(problem)?;
    let mut method = match name(problem) {
        AUTO => Method::auto(problem.range),
        name => Method::by_name(name).map_err(|e| at("method.name", e))?,
    };
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
        method.space = if fit == "g" { Space::G } else { Space::F };
    }
    if let Some(chart) = &spec.coordinates {
        method.coordinates = Chart::parse(chart).map_err(|e| at("method.coordinates", e))?;
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
        .check_range(problem.range)
        .map_err(|e| at(field, e))?;
    Ok(method)
}

fn name(problem: &Problem) -> &str {
    problem.method.name.as_deref().unwrap_or(AUTO)
}

/// The method by name and by parts, and the noise: what must agree for a run to go on as it began.
pub(super) fn method_json(problem: &Problem, method: &Method) -> Json {
    json!({
        "name": name(problem),
        "warp": method.warp, "kernel": method.kernel, "acquisition": method.acquisition,
        "fit": match method.space { Space::F => "f", Space::G => "g" },
        "linearised": method.is_linearised(),
        "coordinates": method.coordinates.name(),
        "nodes": method.nodes, "refit_every": method.refit_every,
        "noise": problem.noise.unwrap_or(0.0),
    })
}

/// The method that a journal's first line names; the command line may have chosen it over the file.
pub(super) fn method_spec(json: &Json) -> MethodSpec {
    let text = |key: &str| json[key].as_str().map(str::to_string);
    let number = |key: &str| json[key].as_u64().map(|n| n as usize);
    MethodSpec {
        name: text("name"),
        warp: text("warp"),
        kernel: text("kernel"),
        fit: text("fit"),
        acquisition: text("acquisition"),
        coordinates: text("coordinates"),
        nodes: number("nodes"),
        refit_every: number("refit_every"),
        batch: None,
        particles: number("particles"),
    }
}

/// The source of evaluations; `None` for a table, whose evaluations exist already.
///
/// `dir` is the problem file's directory, against which programs are found; `run` is the run's
/// directory, for logs and work directories.
pub fn source(problem: &Problem, dir: &Path, run: &Path) -> Result<Option<Box<dyn Source>>> {
    let timeout = problem.timeout.map(Duration::from_secs_f64);
    let names = problem.names.clone();
    Ok(Some(match &problem.integrand {
        Integrand::Log(text) => formula(text, &names, Value::Log)?,
        Integrand::Value(text) => formula(text, &names, Value::Linear)?,
        Integrand::Command { argv } => {
            let mut command = Command::new(argv.clone(), names);
            command.timeout = timeout;
            command.restarts = problem.retries;
            command.stderr = Some(run.join("stderr.log"));
            command.dir = Some(dir.to_path_buf());
            Box::new(command)
        }
        Integrand::Driver { argv } => {
            let mut driver = Driver::new(argv.clone(), names, run.join("work"));
            driver.timeout = timeout;
            driver.dir = Some(dir.to_path_buf());
            Box::new(driver)
        }
        Integrand::UmBridge { url, model, config } => {
            let server = UmBridge::new(url, model, names.len());
            Box::new(server.timeout(timeout).config(&config.to_string())?)
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

fn formula(text: &str, names: &[String], kind: fn(f64) -> Value) -> Result<Box<dyn Source>> {
    let parsed = Expression::parse(text, names);
    let expression = parsed.map_err(|e| Error::spec("integrand", e.to_string()))?;
    Ok(Box::new(Closure::new(move |x: &[f64]| {
        kind(expression.evaluate(x))
    })))
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
        match within(problem.range, Answer::Value(value)) {
            Answer::Value(_) => Ok(()),
            Answer::Failure(failure) => Err(failure.reason),
        }
    };
    evaluations::read_if(&dir.join(path), &problem.names, judge).map(Some)
}
