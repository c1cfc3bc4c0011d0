//! What the integrand is called with: parameters, vectors of them, and fixed numbers, by name.
//!
//! A point of a run holds the numbers that are integrated over. The integrand gets these and the
//! fixed ones, in the order of the problem file.

use serde_json::{Value as Json, json};

/// One argument of the integrand.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Where its numbers come from.
    pub kind: ArgumentKind,
}

/// Where the numbers of an argument come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArgumentKind {
    /// One coordinate of the point.
    Number,
    /// So many coordinates of the point, one after another.
    Vector(usize),
    /// A number that stays the same.
    Fixed(f64),
}

/// The arguments of an integrand, in order.
///
/// ```
/// use warpquad::session::arguments::{Argument, ArgumentKind, Arguments};
/// let argument = |name: &str, kind| Argument { name: name.to_string(), kind };
/// let arguments = Arguments::new(vec![
///     argument("c", ArgumentKind::Fixed(2.0)),
///     argument("beta", ArgumentKind::Vector(2)),
/// ]);
/// assert_eq!(arguments.coordinates(), ["beta[0]", "beta[1]"]);
/// assert_eq!(arguments.numbers(&[0.5, 0.7]), Some(vec![2.0, 0.5, 0.7]));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arguments(Vec<Argument>);

impl Arguments {
    /// These arguments.
    pub fn new(all: Vec<Argument>) -> Arguments {
        Arguments(all)
    }

    /// Each argument, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Argument> {
        self.0.iter()
    }

    /// The names of the coordinates of a point: those of a vector are `beta[0]`, `beta[1]` and so
    /// on, and fixed numbers are none.
    pub fn coordinates(&self) -> Vec<String> {
        let free = self.iter().filter(|argument| argument.fixed().is_none());
        free.flat_map(Argument::names).collect()
    }

    /// The names of all numbers that the integrand gets, fixed ones too.
    pub fn names(&self) -> Vec<String> {
        self.iter().flat_map(Argument::names).collect()
    }

    /// The names and the values of the fixed numbers.
    pub fn fixed(&self) -> impl Iterator<Item = (&str, f64)> {
        self.iter()
            .filter_map(|argument| Some((argument.name.as_str(), argument.fixed()?)))
    }

    /// Each argument with its numbers at a point; `None` if the point has another number of
    /// coordinates.
    pub fn split(&self, x: &[f64]) -> Option<Vec<(&Argument, Vec<f64>)>> {
        let mut rest = x;
        let mut out = Vec::with_capacity(self.0.len());
        for argument in &self.0 {
            let numbers = match argument.kind {
                ArgumentKind::Fixed(value) => vec![value],
                ArgumentKind::Number | ArgumentKind::Vector(_) => {
                    let (taken, left) = rest.split_at_checked(argument.size())?;
                    rest = left;
                    taken.to_vec()
                }
            };
            out.push((argument, numbers));
        }
        rest.is_empty().then_some(out)
    }

    /// All numbers that the integrand gets at a point, fixed ones too; `None` if the point has
    /// another number of coordinates.
    pub fn numbers(&self, x: &[f64]) -> Option<Vec<f64>> {
        let parts = self.split(x)?;
        Some(parts.into_iter().flat_map(|(_, numbers)| numbers).collect())
    }

    /// The coordinates of a point of all numbers, fixed ones too or left out; `None` if it has
    /// another number of them.
    pub(super) fn coordinates_of(&self, numbers: &[f64]) -> Option<Vec<f64>> {
        let free: usize = self
            .iter()
            .map(|one| one.size() - usize::from(one.fixed().is_some()))
            .sum();
        if numbers.len() == free {
            return Some(numbers.to_vec());
        }
        let (mut rest, mut out) = (numbers, Vec::with_capacity(free));
        for argument in self.iter() {
            let (taken, left) = rest.split_at_checked(argument.size())?;
            rest = left;
            if argument.fixed().is_none() {
                out.extend(taken);
            }
        }
        rest.is_empty().then_some(out)
    }

    /// What the journal keeps: `None` if every argument is a number of its own, since the names of
    /// the coordinates say all then.
    pub(super) fn to_json(&self) -> Option<Json> {
        let plain = |argument: &Argument| argument.kind == ArgumentKind::Number;
        if self.iter().all(plain) {
            return None;
        }
        let one = |argument: &Argument| {
            let name = argument.name.clone();
            match argument.kind {
                ArgumentKind::Number => json!(name),
                ArgumentKind::Vector(size) => json!({ name: { "size": size } }),
                ArgumentKind::Fixed(value) => json!({ name: { "fixed": value } }),
            }
        };
        Some(self.iter().map(one).collect())
    }
}

impl From<Vec<String>> for Arguments {
    /// Every name a number of its own.
    fn from(names: Vec<String>) -> Arguments {
        let kind = ArgumentKind::Number;
        let one = |name| Argument { name, kind };
        Arguments(names.into_iter().map(one).collect())
    }
}

impl Argument {
    /// How many numbers it has.
    pub fn size(&self) -> usize {
        match self.kind {
            ArgumentKind::Vector(size) => size,
            ArgumentKind::Number | ArgumentKind::Fixed(_) => 1,
        }
    }

    /// Its value, if it is fixed.
    pub fn fixed(&self) -> Option<f64> {
        match self.kind {
            ArgumentKind::Fixed(value) => Some(value),
            ArgumentKind::Number | ArgumentKind::Vector(_) => None,
        }
    }

    /// The name of each of its numbers.
    fn names(&self) -> Vec<String> {
        let name = &self.name;
        match self.kind {
            ArgumentKind::Vector(size) => (0..size).map(|i| format!("{name}[{i}]")).collect(),
            ArgumentKind::Number | ArgumentKind::Fixed(_) => vec![name.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Arguments {
        let argument = |name: &str, kind| Argument {
            name: name.to_string(),
            kind,
        };
        Arguments::new(vec![
            argument("x", ArgumentKind::Number),
            argument("c", ArgumentKind::Fixed(2.0)),
            argument("beta", ArgumentKind::Vector(2)),
        ])
    }

    #[test]
    fn a_point_is_split_by_the_arguments() {
        let arguments = mixed();
        assert_eq!(arguments.coordinates(), ["x", "beta[0]", "beta[1]"]);
        assert_eq!(arguments.names(), ["x", "c", "beta[0]", "beta[1]"]);
        let x = [1.0, 3.0, 4.0];
        let all = arguments.numbers(&x);
        assert_eq!(all, Some(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(arguments.coordinates_of(&all.unwrap()), Some(x.to_vec()));
        assert_eq!(arguments.coordinates_of(&x), Some(x.to_vec()));
        assert_eq!(arguments.coordinates_of(&x[..2]), None);
        let sizes = arguments.split(&x).unwrap();
        let sizes: Vec<usize> = sizes.iter().map(|(_, numbers)| numbers.len()).collect();
        assert_eq!(sizes, [1, 1, 2]);
        assert_eq!(arguments.numbers(&x[..2]), None);
        assert_eq!(arguments.numbers(&[0.0; 4]), None);
    }

    #[test]
    fn only_what_names_do_not_say_is_kept() {
        assert_eq!(Arguments::from(vec!["x".to_string()]).to_json(), None);
        let kept = json!(["x", { "c": { "fixed": 2.0 } }, { "beta": { "size": 2 } }]);
        assert_eq!(mixed().to_json(), Some(kept));
    }
}
