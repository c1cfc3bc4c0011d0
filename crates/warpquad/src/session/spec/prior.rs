//! Read the prior: a law for each parameter, or one normal law or a sample for all; and what is
//! fixed.

use super::reader::{Item, Section};
use super::{Law, PriorSpec, SpecError};
use crate::error::Error;
use crate::measure::{Entry, Gaussian, REGISTRY};
use crate::session::arguments::{Argument, ArgumentKind, Arguments};
use crate::session::options::Setting;

type Result<T> = std::result::Result<T, SpecError>;

/// The largest size of a vector.
const LARGEST_SIZE: i128 = 1000;

/// The field of a parameter that says how many numbers it has.
const SIZE: &str = "size";

/// The field of a parameter that says whether its two ends are one point.
const PERIODIC: &str = "periodic";

/// The integrand's arguments and the prior of those that are not fixed, from `[parameters]` or
/// `[joint]`.
pub(super) fn prior(top: &Section) -> Result<(Arguments, PriorSpec)> {
    match (top.get("parameters"), top.get("joint")) {
        (Some(item), None) => product(&item.section("a section [parameters]")?),
        (None, Some(item)) => {
            let (names, prior) = joint(&item.section("a section [joint]")?)?;
            Ok((names.into(), prior))
        }
        (Some(_), Some(joint)) => Err(joint.error_at_name(
            "stands beside [parameters]; keep one: [joint] names its parameters itself",
        )),
        (None, None) => Err(top.missing(
            "parameters",
            "is missing; add a section [parameters] with a line like x = { uniform = [-5, 5] }",
        )),
    }
}

/// `[parameters]`: one law each, or a fixed number.
fn product(section: &Section) -> Result<(Arguments, PriorSpec)> {
    let mut arguments = Vec::new();
    let mut laws: Vec<Law> = Vec::new();
    for item in &section.items {
        let (kind, law) = parameter(item)?;
        let name = item.name.clone();
        let argument = Argument { name, kind };
        laws.extend(law.into_iter().flat_map(|law| vec![law; argument.size()]));
        arguments.push(argument);
    }
    if laws.is_empty() {
        return Err(section
            .error("has no parameter with a prior; add a line like x = { uniform = [-5, 5] }"));
    }
    let arguments = Arguments::new(arguments);
    let mut names = arguments.names();
    names.sort();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let reason = format!(
            "has '{}' twice: an element of a vector has that name",
            pair[0]
        );
        return Err(section.error(reason));
    }
    Ok((arguments, PriorSpec::Product(laws)))
}

/// One parameter: `{ uniform = [-5, 5] }`, `{ normal = [0, 1], size = 3 }`, or a number that it is
/// fixed at.
fn parameter(item: &Item) -> Result<(ArgumentKind, Option<Law>)> {
    if item.is_number() {
        return match item.number()? {
            value if value.is_finite() => Ok((ArgumentKind::Fixed(value), None)),
            value => Err(item.error(format!("is fixed at {value}, but must be finite"))),
        };
    }
    let section = item.section("a prior, like { uniform = [-5, 5] }, or a number to fix it")?;
    let kind = match section.get(SIZE) {
        Some(size) => ArgumentKind::Vector(elements(size)?),
        None => ArgumentKind::Number,
    };
    Ok((kind, Some(law(item, &section)?)))
}

/// The size of a vector.
fn elements(item: &Item) -> Result<usize> {
    match item.setting()? {
        Setting::Integer(size) if (1..=LARGEST_SIZE).contains(&size) => Ok(size as usize),
        _ => Err(item.error(format!("must be a whole number from 1 to {LARGEST_SIZE}"))),
    }
}

/// True or false.
fn flag(item: &Item) -> Result<bool> {
    match item.setting()? {
        Setting::Flag(flag) => Ok(flag),
        other => Err(item.error(format!("must be true or false, got {}", other.what()))),
    }
}

/// The law of a parameter.
fn law(item: &Item, section: &Section) -> Result<Law> {
    let known: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    section.only(&[&known[..], &[SIZE, PERIODIC]].concat(), "priors")?;
    let is_prior = |item: &&Item| item.name != SIZE && item.name != PERIODIC;
    let priors = section.items.iter().filter(is_prior);
    let priors: Vec<&Item> = priors.collect();
    let [prior] = priors[..] else {
        let count = priors.len();
        return Err(item.error(format!("must have exactly one prior, got {count}")));
    };
    let Some(entry) = REGISTRY.iter().find(|entry| entry.name == prior.name) else {
        return Err(prior.unknown(&known, "priors"));
    };
    let items = numbers_of(prior, entry)?;
    let numbers: Vec<f64> = items.iter().map(Item::number).collect::<Result<_>>()?;
    let periodic = section.get(PERIODIC);
    let law = Law {
        is_periodic: periodic.map(flag).transpose()?.unwrap_or(false),
        ..Law::new(&prior.name, &numbers)
    };
    law.build().map_err(|error| match (&error, periodic) {
        (Error::Spec { field, reason, .. }, Some(item)) if field == PERIODIC => {
            item.error(reason.clone())
        }
        _ => blame(error, prior, entry, &items),
    })?;
    Ok(law)
}

/// The numbers of a prior in their order, from a list, a table of names, or one number alone.
fn numbers_of<'a>(prior: &Item<'a>, entry: &Entry) -> Result<Vec<Item<'a>>> {
    let names = entry.parameters;
    if let Some(section) = prior.as_section() {
        section.only(names, "numbers of this prior")?;
        let item = |name: &&str| section.require(name).cloned();
        return names.iter().map(item).collect();
    }
    let items = match prior.as_list() {
        Some(items) => items,
        None if names.len() == 1 => vec![prior.clone()],
        None => prior.list(&format!("numbers [{}]", names.join(", ")))?,
    };
    if items.len() != names.len() {
        let (want, got) = (names.len(), items.len());
        let numbers = if want == 1 { "number" } else { "numbers" };
        let reason = format!("takes {want} {numbers} [{}], got {got}", names.join(", "));
        return Err(prior.error(reason));
    }
    Ok(items)
}

/// Point at the number that the law refused.
fn blame(error: Error, prior: &Item, entry: &Entry, items: &[Item]) -> SpecError {
    let Error::Spec { field, reason, .. } = error else {
        return prior.error(error.to_string());
    };
    let which = entry.parameters.iter().position(|name| *name == field);
    let mut blamed = which
        .and_then(|i| items.get(i))
        .unwrap_or(prior)
        .error(format!("{field} {reason}"));
    blamed.field = prior.path.clone();
    blamed
}

/// `[joint]`: one normal law for all parameters, or draws from any law.
fn joint(section: &Section) -> Result<(Vec<String>, PriorSpec)> {
    section.only(
        &["names", "mean", "covariance", "draws"],
        "fields of [joint]",
    )?;
    let names = distinct(section.require("names")?)?;
    if let Some(item) = section.get("draws") {
        return draws(section, item, names);
    }
    let mean_item = section.require("mean")?;
    let mean = mean_item.numbers("a list of numbers")?;
    if mean.len() != names.len() {
        let (want, got) = (names.len(), mean.len());
        return Err(mean_item.error(format!(
            "must have {want} numbers, one for each name, got {got}"
        )));
    }
    let covariance_item = section.require("covariance")?;
    let covariance = matrix(covariance_item, names.len())?;
    let flat = covariance.concat();
    if let Err(error) = Gaussian::new(mean.clone(), flat) {
        return Err(match error {
            Error::Spec { field, reason, .. } if field.starts_with("mean") => {
                mean_item.error(reason)
            }
            Error::Spec { reason, .. } => covariance_item.error(reason),
            other => covariance_item.error(other.to_string()),
        });
    }
    Ok((names, PriorSpec::Joint { mean, covariance }))
}

/// `draws`: a row for each draw, a column for each name.
fn draws(section: &Section, item: &Item, names: Vec<String>) -> Result<(Vec<String>, PriorSpec)> {
    if let Some(other) = ["mean", "covariance"].iter().find_map(|n| section.get(n)) {
        return Err(other.error_at_name("stands beside draws; keep one"));
    }
    let rows = item.list("a list of draws")?;
    if rows.is_empty() {
        return Err(item.error("needs at least one draw"));
    }
    let row = |item: &Item| {
        let row = item.numbers("a draw: a row of numbers")?;
        if row.len() != names.len() {
            let (want, got) = (names.len(), row.len());
            let reason = format!("must have {want} numbers in each draw, got {got}");
            return Err(item.error(reason));
        }
        match row.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(item.error(format!("must be finite, got {x}"))),
            None => Ok(row),
        }
    };
    let rows = rows.iter().map(row).collect::<Result<_>>()?;
    Ok((names, PriorSpec::Draws(rows)))
}

/// Names that differ from each other.
fn distinct(item: &Item) -> Result<Vec<String>> {
    let items = item.list("a list of names")?;
    if items.is_empty() {
        return Err(item.error("needs at least one name"));
    }
    let mut names = Vec::new();
    for item in &items {
        let name = item.text()?;
        if names.contains(&name) {
            return Err(item.error(format!("'{name}' stands here twice")));
        }
        names.push(name);
    }
    Ok(names)
}

/// A square matrix, row after row.
fn matrix(item: &Item, order: usize) -> Result<Vec<Vec<f64>>> {
    let rows = item.list("a list of rows")?;
    if rows.len() != order {
        let got = rows.len();
        return Err(item.error(format!(
            "must have {order} rows, one for each name, got {got}"
        )));
    }
    let row = |item: &Item| {
        let row = item.numbers("a row of numbers")?;
        if row.len() == order {
            return Ok(row);
        }
        let got = row.len();
        Err(item.error(format!("must have {order} numbers in each row, got {got}")))
    };
    rows.iter().map(row).collect()
}
