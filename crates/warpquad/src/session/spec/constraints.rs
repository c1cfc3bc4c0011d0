//! Read `[prior]`: constraints between parameters, as comparisons of formulas.

use super::reader::Item;
use super::{PriorSpec, Problem, SpecError};
use crate::error::Error;
use crate::measure::{Region, Restricted};
use crate::session::arguments::{ArgumentKind, Arguments};
use crate::session::expression::{Expression, ExpressionError};
use std::sync::{Arc, Mutex, PoisonError};

/// A comparison of two formulas in the parameters' names, or a formula that is 1 where it holds.
#[derive(Debug, Clone)]
struct Constraint {
    /// Whether it holds: 1 or 0.
    holds: Expression,
    /// The larger side less the smaller one; `None` for a formula of several comparisons.
    margin: Option<Expression>,
}

/// What compares two formulas, the longer ones first.
const COMPARISONS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

impl Constraint {
    fn parse(text: &str, names: &[String]) -> Result<Constraint, ExpressionError> {
        let holds = Expression::parse(text, names)?;
        let wrong = |position: usize, reason: &str| ExpressionError {
            position: Some(position),
            reason: reason.to_string(),
        };
        let found = outermost(text);
        let margin = match found {
            Some((at, "==")) => {
                let reason = "an equality leaves nothing of the prior: write one of the parameters as \
                              a function of the others, inside the integrand";
                return Err(wrong(at, reason));
            }
            Some((at, sign @ ("<" | "<=" | ">" | ">="))) => {
                let (left, right) = (&text[..at], &text[at + sign.len()..]);
                let (larger, smaller) = match sign.starts_with('<') {
                    true => (right, left),
                    false => (left, right),
                };
                Expression::parse(&format!("({larger}) - ({smaller})"), names).ok()
            }
            Some(_) => None,
            None if COMPARISONS.iter().any(|sign| text.contains(sign)) => None,
            None => return Err(wrong(0, "compares nothing: write it like a < b")),
        };
        Ok(Constraint { holds, margin })
    }
}

/// Where the comparison outside of all parentheses stands, and its sign.
fn outermost(text: &str) -> Option<(usize, &'static str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => {
                let sign = COMPARISONS
                    .into_iter()
                    .find(|sign| text[at..].starts_with(sign));
                if let Some(sign) = sign {
                    return Some((at, sign));
                }
            }
            _ => {}
        }
    }
    None
}

/// The points that satisfy all constraints of a problem.
#[derive(Debug, Clone)]
struct Satisfied {
    constraints: Vec<Constraint>,
    /// All numbers of the integrand's arguments, with a place for those of a point.
    numbers: Vec<f64>,
    places: Vec<usize>,
}

impl Satisfied {
    fn new(constraints: Vec<Constraint>, arguments: &Arguments) -> Satisfied {
        let (mut numbers, mut places) = (Vec::new(), Vec::new());
        for argument in arguments.iter() {
            for _ in 0..argument.size() {
                match argument.kind {
                    ArgumentKind::Fixed(value) => numbers.push(value),
                    ArgumentKind::Number | ArgumentKind::Vector(_) => {
                        places.push(numbers.len());
                        numbers.push(f64::NAN);
                    }
                }
            }
        }
        Satisfied {
            constraints,
            numbers,
            places,
        }
    }

    /// What the formulas are worked out from: the point itself where nothing is fixed.
    fn with<T>(&self, x: &[f64], of: impl FnOnce(&[f64]) -> T) -> T {
        if self.places.len() == self.numbers.len() {
            return of(x);
        }
        let mut numbers = self.numbers.clone();
        self.places
            .iter()
            .zip(x)
            .for_each(|(&at, x)| numbers[at] = *x);
        of(&numbers)
    }
}

impl Region for Satisfied {
    fn holds(&self, x: &[f64]) -> bool {
        // A constraint without a value does not hold.
        let holds = |one: &Constraint, x: &[f64]| one.holds.evaluate(x).abs() > 0.0;
        self.with(x, |x| self.constraints.iter().all(|one| holds(one, x)))
    }

    fn margins(&self, x: &[f64], out: &mut Vec<f64>) {
        self.with(x, |x| {
            out.extend(self.constraints.iter().map(|one| match &one.margin {
                Some(margin) => margin.evaluate(x),
                None if one.holds.evaluate(x).abs() > 0.0 => 1.0,
                None => -1.0,
            }));
        });
    }
}

/// The prior of a problem restricted to what satisfies its constraints.
fn restricted(problem: &Problem, texts: &[String]) -> Result<Restricted, Mistake> {
    let names = problem.arguments.names();
    let mut constraints = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let parsed = Constraint::parse(text, &names);
        constraints.push(parsed.map_err(|error| Mistake::Formula {
            number,
            text: text.clone(),
            error,
        })?);
    }
    let region = Satisfied::new(constraints, &problem.arguments);
    let base = problem.unrestricted().map_err(Mistake::Prior)?;
    Restricted::new(base, Arc::new(region)).map_err(Mistake::Prior)
}

/// What a restricted prior is made from.
type Ingredients = (Vec<String>, PriorSpec, Arguments);

/// The restricted prior of a problem and of its copies. Its mass takes a while, so it is worked out
/// once.
#[derive(Debug, Clone, Default)]
pub(super) struct Made(Arc<Mutex<Option<Known>>>);

/// A restricted prior with what it was made from.
type Known = (Ingredients, Arc<Restricted>);

impl Made {
    /// The restricted prior; `None` without constraints.
    pub fn get(&self, problem: &Problem) -> Result<Option<Arc<Restricted>>, Mistake> {
        let texts = problem.restriction.constraints.clone().unwrap_or_default();
        if texts.is_empty() {
            return Ok(None);
        }
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = (texts, problem.prior.clone(), problem.arguments.clone());
        if let Some((known, restricted)) = made.as_ref()
            && *known == from
        {
            return Ok(Some(restricted.clone()));
        }
        let restricted = Arc::new(restricted(problem, &from.0)?);
        *made = Some((from, restricted.clone()));
        Ok(Some(restricted))
    }
}

/// What is wrong with constraints.
#[derive(Debug)]
pub(super) enum Mistake {
    /// One of them cannot be read.
    Formula {
        number: usize,
        text: String,
        error: ExpressionError,
    },
    /// All together leave no prior.
    Prior(Error),
}

/// Refuse constraints of a file that cannot be read, or that leave no prior, where they stand.
pub(super) fn check(item: Option<&Item>, problem: &Problem) -> Result<(), SpecError> {
    let Some(item) = item else {
        return Ok(());
    };
    let items = item.list("a list of comparisons, like [\"a < b\"]")?;
    if items.is_empty() {
        return Err(item.error("has no comparison; add one, like [\"a < b\"], or leave it out"));
    }
    match problem.made.get(problem) {
        Ok(_) => Ok(()),
        Err(Mistake::Formula { number, error, .. }) => Err(match error.position {
            Some(position) => items[number].error_inside(position, error.reason),
            None => items[number].error(error.reason),
        }),
        Err(Mistake::Prior(Error::Spec { reason, .. })) => Err(item.error(reason)),
        Err(Mistake::Prior(other)) => Err(item.error(other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "c"].map(String::from).to_vec()
    }

    fn complaint(text: &str) -> (Option<usize>, String) {
        let error = Constraint::parse(text, &names()).unwrap_err();
        (error.position, error.reason)
    }

    #[test]
    fn a_comparison_has_a_margin() {
        for (text, margin, holds) in [
            ("a < b", Some(1.0), 1.0),
            ("a >= b", Some(-1.0), 0.0),
            ("a^2 + b^2 < 2*(a < b)", Some(-3.0), 0.0),
            ("(a < b)*(b < c)", None, 1.0),
            ("a != b", None, 1.0),
        ] {
            let one = Constraint::parse(text, &names()).unwrap();
            let x = [1.0, 2.0, 3.0];
            assert_eq!(one.margin.map(|m| m.evaluate(&x)), margin, "{text}");
            assert_eq!(one.holds.evaluate(&x), holds, "{text}");
        }
    }

    #[test]
    fn what_is_no_constraint_is_explained() {
        for (text, position, part) in [
            ("a + b", Some(0), "compares nothing"),
            ("a == b", Some(2), "an equality leaves nothing"),
            ("a < b < c", Some(6), "comparisons do not chain"),
            ("a < d", Some(4), "unknown name 'd'"),
        ] {
            let (at, reason) = complaint(text);
            assert!(
                at == position && reason.contains(part),
                "{text}: {at:?} {reason}"
            );
        }
    }

    #[test]
    fn fixed_numbers_and_vectors_may_be_compared() {
        let text = "integrand.log = 'x'\n[parameters]\nx.uniform = [0, 1]\nc = 0.25\n\
                    v = { uniform = [0, 1], size = 2 }\n\
                    [prior]\nconstraints = ['x < c', 'v[0] < v[1]']";
        let measure = Problem::parse(text).unwrap().measure().unwrap();
        let restricted = measure.restricted().unwrap();
        assert!(restricted.holds(&[0.2, 0.1, 0.3]) && !restricted.holds(&[0.3, 0.1, 0.3]));
        assert!(!restricted.holds(&[0.2, 0.4, 0.3]));
        assert!((restricted.ln_mass() - 0.125_f64.ln()).abs() < 1e-5);
    }
}
