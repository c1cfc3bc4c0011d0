//! Read the prior: a law for each parameter, or one normal law or a sample for all.

use super::reader::{Item, Section};
use super::{PriorSpec, SpecError};
use crate::error::Error;
use crate::measure::{Entry, Gaussian, REGISTRY, univariate};

type Result<T> = std::result::Result<T, SpecError>;

/// The parameters' names and their prior, from `[parameters]` or `[joint]`.
pub(super) fn prior(top: &Section) -> Result<(Vec<String>, PriorSpec)> {
    match (top.get("parameters"), top.get("joint")) {
        (Some(item), None) => product(&item.section("a section [parameters]")?),
        (None, Some(item)) => joint(&item.section("a section [joint]")?),
        (Some(_), Some(joint)) => Err(joint.error_at_name(
            "stands beside [parameters]; keep one: [joint] names its parameters itself",
        )),
        (None, None) => Err(top.missing(
            "parameters",
            "is missing; add a section [parameters] with a line like x = { uniform = [-5, 5] }",
        )),
    }
}

/// `[parameters]`: one law each.
fn product(section: &Section) -> Result<(Vec<String>, PriorSpec)> {
    if section.items.is_empty() {
        return Err(section.error("has no parameter; add a line like x = { uniform = [-5, 5] }"));
    }
    let names = section.items.iter().map(|item| item.name.clone()).collect();
    let laws: Result<Vec<_>> = section.items.iter().map(law).collect();
    Ok((names, PriorSpec::Product(laws?)))
}

/// One parameter's law: `{ uniform = [-5, 5] }`.
fn law(item: &Item) -> Result<(String, Vec<f64>)> {
    let section = item.section("a prior, like { uniform = [-5, 5] }")?;
    let known: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    section.only(&known, "priors")?;
    let [prior] = &section.items[..] else {
        let count = section.items.len();
        return Err(item.error(format!("must have exactly one prior, got {count}")));
    };
    let Some(entry) = REGISTRY.iter().find(|entry| entry.name == prior.name) else {
        return Err(prior.unknown(&known, "priors"));
    };
    let items = numbers_of(prior, entry)?;
    let numbers: Vec<f64> = items.iter().map(Item::number).collect::<Result<_>>()?;
    univariate(entry.name, &numbers).map_err(|error| blame(error, prior, entry, &items))?;
    Ok((prior.name.clone(), numbers))
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
