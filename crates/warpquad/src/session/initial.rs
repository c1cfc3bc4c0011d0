//! Take in what is known before a run: values are data, points without one are evaluated first.

use super::Session;
use super::evaluator::{Answer, table};
use super::guard::within;
use super::spec::{Integrand, Problem};
use super::words::count;
use crate::data::Value;
use crate::error::{Error, Result};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::path::Path;

/// The most values that are taken from one source: beyond it a fit takes minutes, and the best of
/// many thousands of a sampler's points say the same as all of them.
const MOST_VALUES: usize = 500;

/// A point with its value.
type Known = (Vec<f64>, Value);

/// What is known before a run: points, with values or without.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Where it is from, for the report.
    pub source: String,
    /// Points in the parameters' order, with f or ln f where it is known.
    pub rows: Vec<(Vec<f64>, Option<Value>)>,
    /// Further points that were left out already, because they lie outside the prior.
    pub outside: usize,
}

/// What became of what was offered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Initial {
    /// Where it is from.
    pub source: String,
    /// How many points were offered.
    pub offered: usize,
    /// How many values became data.
    pub taken: usize,
    /// Points left out because they lie outside the prior.
    pub outside: usize,
    /// Points left out because the run has them already.
    pub repeated: usize,
    /// Of those, points that came back with another value: the first one counts.
    pub disputed: usize,
    /// Points left out because there were more than are of use.
    pub thinned: usize,
    /// The points without a value, which are evaluated first.
    pub first: Vec<Vec<f64>>,
}

impl Initial {
    /// The counts as JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "source": self.source, "offered": self.offered, "taken": self.taken,
            "outside": self.outside, "repeated": self.repeated, "disputed": self.disputed,
            "thinned": self.thinned, "evaluated_first": self.first.len(),
        })
    }

    /// What was taken and what was left out, in words.
    ///
    /// ```
    /// use warpquad::session::Initial;
    /// let initial = Initial {
    ///     source: "points.csv".into(), offered: 9, taken: 7, outside: 2, ..Initial::default()
    /// };
    /// let said = "7 values of 9 points of points.csv; left out: 2 outside the prior";
    /// assert_eq!(initial.words(), said);
    /// ```
    pub fn words(&self) -> String {
        let first = match self.first.len() {
            0 => String::new(),
            n => format!(", {n} evaluated first"),
        };
        let left = [
            (self.outside, "outside the prior"),
            (self.repeated - self.disputed, "known already"),
            (self.disputed, "known with another value"),
            (self.thinned, "more than are of use"),
        ];
        let left = left.iter().filter(|(count, _)| *count > 0);
        let left: Vec<String> = left.map(|(count, why)| format!("{count} {why}")).collect();
        let left = match left.is_empty() {
            true => String::new(),
            false => format!("; left out: {}", left.join(", ")),
        };
        format!(
            "{} of {} of {}{first}{left}",
            count(self.taken, "value"),
            count(self.offered, "point"),
            self.source
        )
    }
}

impl Offered {
    /// What a CSV file says, or a run in a directory.
    pub fn read(path: &Path, problem: &Problem) -> Result<Offered> {
        let source = path.display().to_string();
        match path.is_dir() {
            false => {
                let rows = table::read_offered(path, &problem.arguments)?;
                let outside = 0;
                Ok(Offered {
                    source,
                    rows,
                    outside,
                })
            }
            true => Offered::of_run(&Session::peek(path)?, problem, source),
        }
    }

    /// What another run observed; its parameters are found by their names.
    fn of_run(run: &Session, problem: &Problem, source: String) -> Result<Offered> {
        let names = &run.problem().names;
        let place = |name: &String| names.iter().position(|known| known == name);
        let places: Option<Vec<usize>> = problem.names.iter().map(place).collect();
        let Some(places) = places.filter(|places| places.len() == names.len()) else {
            let reason = format!(
                "the run {source} has the parameters {}, this problem has {}; give its points as a \
                 CSV file with the columns of this problem",
                names.join(", "),
                problem.names.join(", ")
            );
            return Err(Error::spec("integrand.initial", reason));
        };
        let (points, values) = run.observations();
        let row = |(x, value): (&[f64], &Value)| {
            let x: Vec<f64> = places.iter().map(|&place| x[place]).collect();
            (x, Some(*value))
        };
        // Nothing shows whether its values are of this f: say where they seem not to be.
        let external = |one: &Integrand| matches!(one, Integrand::External { .. });
        let (own, other) = (&problem.integrand, &run.problem().integrand);
        let source = match own == other || external(own) || external(other) {
            true => source,
            false => format!("{source} (a run of another integrand)"),
        };
        Ok(Offered {
            source,
            rows: points.iter().zip(values).map(row).collect(),
            outside: 0,
        })
    }

    /// What is new to a run, and of use: the values, and the points to evaluate first.
    ///
    /// `place` gives a point's coordinates, `None` outside the prior. `known` are the coordinates
    /// that the run has, with their values, `None` for a pending point. `repeats` says that a point
    /// may be observed again, because values carry noise; `most_first` limits the points without
    /// a value.
    pub(super) fn sift(
        &self,
        problem: &Problem,
        place: impl Fn(&[f64]) -> Option<Vec<f64>>,
        known: &HashMap<Vec<u64>, Option<Value>>,
        repeats: bool,
        most_first: usize,
    ) -> Result<(Initial, Vec<Known>)> {
        let mut out = Initial {
            source: self.source.clone(),
            offered: self.rows.len() + self.outside,
            outside: self.outside,
            ..Initial::default()
        };
        let mut seen: HashMap<Vec<u64>, Option<Value>> = HashMap::new();
        let (mut values, mut first) = (Vec::new(), Vec::new());
        for (i, (x, value)) in self.rows.iter().enumerate() {
            self.check(i, x, problem)?;
            let value = value
                .map(|value| self.in_range(i, value, problem))
                .transpose()?;
            let Some(z) = place(x) else {
                out.outside += 1;
                continue;
            };
            let key = key(&z);
            if let Some(before) = seen.get(&key)
                && !(repeats && value.is_some())
            {
                out.repeated += 1;
                out.disputed += usize::from(value.is_some() && *before != value);
                continue;
            }
            seen.insert(key.clone(), value);
            match value {
                Some(value) => values.push((x.clone(), value, key)),
                None => first.push((x.clone(), key)),
            }
        }
        let all = values.len() + first.len();
        let kept = spread_by_value(
            &values
                .iter()
                .map(|(_, v, _)| v.ln_abs())
                .collect::<Vec<_>>(),
        );
        let kept = kept.into_iter().map(|i| values[i].clone());
        let even = evenly(first.len(), most_first)
            .into_iter()
            .map(|i| first[i].clone());
        let (kept, first): (Vec<_>, Vec<_>) = (kept.collect(), even.collect());
        out.thinned = all - kept.len() - first.len();
        let mut taken = Vec::new();
        for (x, value, key) in kept {
            match known.get(&key) {
                Some(before) if !repeats || *before == Some(value) => {
                    out.repeated += 1;
                    out.disputed += usize::from(before.is_some_and(|before| before != value));
                }
                _ => taken.push((x, value)),
            }
        }
        for (x, key) in first {
            match known.contains_key(&key) {
                true => out.repeated += 1,
                false => out.first.push(x),
            }
        }
        out.taken = taken.len();
        Ok((out, taken))
    }

    fn check(&self, row: usize, x: &[f64], problem: &Problem) -> Result<()> {
        let dim = problem.names.len();
        if x.len() == dim && x.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        let reason = format!("point {} is {x:?}, not {dim} finite numbers", row + 1);
        Err(self.wrong(reason))
    }

    /// The value, if the range of f has it.
    fn in_range(&self, row: usize, value: Value, problem: &Problem) -> Result<Value> {
        match within(problem.settings.range, Answer::from(value)) {
            Answer::Value(value) | Answer::With(value, _) => Ok(value),
            Answer::Failure(failure) => {
                let reason = format!("point {}: {}", row + 1, failure.reason);
                Err(self.wrong(reason))
            }
        }
    }

    fn wrong(&self, reason: String) -> Error {
        Error::spec("initial", format!("{}: {reason}", self.source))
    }
}

/// Coordinates as a key of a map. Adding 0 makes -0 and 0 one.
pub(super) fn key(z: &[f64]) -> Vec<u64> {
    z.iter().map(|z| (z + 0.0).to_bits()).collect()
}

/// Places of at most [`MOST_VALUES`] values, evenly spread over their ranks, the largest among
/// them, in the order of the list.
///
/// The points of a nested sampler shrink towards the peak, those of a chain are around it: so ranks
/// spread over the way in for one, and over the posterior for the other.
fn spread_by_value(ln_f: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ln_f.len()).collect();
    if ln_f.len() <= MOST_VALUES {
        return order;
    }
    order.sort_by(|&a, &b| ln_f[b].total_cmp(&ln_f[a]));
    let mut kept: Vec<usize> = evenly(order.len(), MOST_VALUES)
        .into_iter()
        .map(|rank| order[rank])
        .collect();
    kept.sort_unstable();
    kept
}

/// At most `most` of the numbers below `n`, evenly spread, 0 among them.
fn evenly(n: usize, most: usize) -> Vec<usize> {
    match n <= most {
        true => (0..n).collect(),
        false => (0..most).map(|k| k * n / most).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem::parse("integrand.log = '-x^2'\nparameters.x.uniform = [-1, 1]").unwrap()
    }

    fn inside(x: &[f64]) -> Option<Vec<f64>> {
        (x[0].abs() <= 1.0).then(|| x.to_vec())
    }

    fn log(ln_f: f64) -> Option<Value> {
        Some(Value::Log(ln_f))
    }

    #[test]
    fn what_is_outside_or_known_is_left_out_and_counted() {
        let rows = [
            (0.5, log(-1.0)),
            (2.0, log(-1.0)),
            (0.5, log(-1.0)),
            (0.5, log(-3.0)),
            (0.25, None),
            (-0.25, None),
            (0.75, log(-2.0)),
        ];
        let rows = rows.iter().map(|(x, value)| (vec![*x], *value)).collect();
        let offered = Offered {
            source: "here".into(),
            rows,
            outside: 0,
        };
        let known = HashMap::from([(key(&[0.75]), log(-2.0)), (key(&[0.25]), None)]);
        let (initial, taken) = offered.sift(&problem(), inside, &known, false, 9).unwrap();
        assert_eq!(taken, [(vec![0.5], Value::Log(-1.0))]);
        assert_eq!(initial.first, [[-0.25]]);
        let counts = (initial.offered, initial.taken, initial.outside);
        assert_eq!(counts, (7, 1, 1));
        assert_eq!((initial.repeated, initial.disputed), (4, 1));
        let said = "1 value of 7 points of here, 1 evaluated first; left out: 1 outside the \
                    prior, 3 known already, 1 known with another value";
        assert_eq!(initial.words(), said);
        // With noise a second value is a second observation.
        let (initial, taken) = offered.sift(&problem(), inside, &known, true, 9).unwrap();
        assert_eq!((taken.len(), initial.disputed), (3, 0));
    }

    #[test]
    fn values_of_no_function_are_refused_by_their_place() {
        let refusal = |x: f64, value| {
            let rows = vec![(vec![0.0], None), (vec![x], value)];
            let offered = Offered {
                source: "a.csv".into(),
                rows,
                outside: 0,
            };
            let error = offered.sift(&problem(), inside, &HashMap::new(), false, 9);
            error.unwrap_err().to_string()
        };
        for (x, value, words) in [
            (
                f64::NAN,
                None,
                "a.csv: point 2 is [NaN], not 1 finite numbers",
            ),
            (
                0.5,
                Some(Value::Linear(-1.0)),
                "a.csv: point 2: f = -1 is outside",
            ),
            (
                0.5,
                log(f64::INFINITY),
                "a.csv: point 2: the integrand returned +inf",
            ),
        ] {
            let refusal = refusal(x, value);
            assert!(refusal.contains(words), "{refusal}");
        }
    }

    #[test]
    fn many_values_are_spread_over_their_ranks() {
        let ln_f: Vec<f64> = (0..10_000).map(|i| -((i * 7919 % 10_000) as f64)).collect();
        let kept = spread_by_value(&ln_f);
        assert_eq!(kept.len(), MOST_VALUES);
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        let mut values: Vec<f64> = kept.iter().map(|&i| ln_f[i]).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(values[0], 0.0);
        assert!(values.windows(2).all(|pair| pair[0] - pair[1] == 20.0));
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        assert_eq!(evenly(10, 3), [0, 3, 6]);
    }
}
