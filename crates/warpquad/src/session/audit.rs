//! Check the answer by importance sampling: true values at points drawn from the belief.

use super::Session;
use super::spec::Budget;
use super::words::count;
use crate::data::Value;
use crate::engine::Outcome;
use crate::numeric::special::ln_sum_exp;
use serde_json::{Value as Json, json};

/// The audit and the answer disagree beyond so many standard deviations of their difference.
const TOO_FAR: f64 = 3.0;

/// A fifth of the draws are the prior's own. If f has its mass in a small part of the prior they
/// find none of it: the terms are 0 with probability 1/5, and the relative sd of one is sqrt(0.2 /
/// 0.8). Among few draws none may be such, and their spread does not know of it.
const LEAST_SD: f64 = 0.5;

/// What the audit says of Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// ln of the mean of f pi/q over the draws, which is unbiased for Z; -inf if f was 0 at all of
    /// them.
    pub ln_z: f64,
    /// The relative standard error of that mean; infinite for a single draw.
    pub ln_z_sd: f64,
    /// The values that it rests on.
    pub evaluations: usize,
    /// The point whose draw carries most of the sum.
    pub heaviest: Vec<f64>,
    /// Its part of the sum.
    pub share: f64,
}

impl Audit {
    /// The audit of terms ln(f pi/q), each with its point, among `misses` draws more that were 0.
    ///
    /// The draws go on until so many have a value, so their number N = k + misses is random: the
    /// part of the draws that have one is (k - 1) / (N - 1) without bias (Haldane 1945), not k / N.
    fn new(terms: &[f64], points: &[&[f64]], misses: usize) -> Option<Audit> {
        let k = terms.len();
        let top = (0..k).max_by(|&a, &b| terms[a].total_cmp(&terms[b]))?;
        let all = k + misses;
        let part = match (k, misses) {
            (_, 0) => 1.0,
            (1, _) => 1.0 / all as f64,
            _ => (k - 1) as f64 / (all - 1) as f64,
        };
        let ln_sum = ln_sum_exp(terms);
        let share = |term: f64| (term - ln_sum).exp();
        // With shares s of the sum, the mean is 1/N of it and its squared error sum (s - 1/N)^2 /
        // (N (N - 1)); the misses have the share 0.
        let mean = 1.0 / all as f64;
        let spread: f64 = terms.iter().map(|&t| (share(t) - mean).powi(2)).sum();
        let spread = spread + misses as f64 * mean * mean;
        let ln_z_sd = match (all, ln_sum > f64::NEG_INFINITY) {
            (1, _) | (_, false) => f64::INFINITY,
            _ => (spread * all as f64 / (all - 1) as f64).sqrt(),
        };
        Some(Audit {
            ln_z: ln_sum - (k as f64).ln() + part.ln(),
            ln_z_sd,
            evaluations: k,
            heaviest: points[top].to_vec(),
            share: if ln_sum > f64::NEG_INFINITY {
                share(terms[top])
            } else {
                0.0
            },
        })
    }

    /// The object that `--json` prints; what JSON has no number for is null.
    pub(super) fn to_json(&self) -> Json {
        json!({"log_z": self.ln_z, "log_z_sd": self.ln_z_sd, "evaluations": self.evaluations})
    }

    /// What to know if the audit and the answer disagree. `at` writes a point with names.
    pub(super) fn warning(
        &self,
        outcome: &Outcome,
        at: impl Fn(&[f64]) -> String,
    ) -> Option<String> {
        let (ln_z, sd) = (outcome.law.ln_quantile(0.5), outcome.ln_sd());
        let least = LEAST_SD / (self.evaluations as f64).sqrt();
        let far = (self.ln_z - ln_z).abs() > TOO_FAR * self.ln_z_sd.max(least).hypot(sd);
        // One draw with most of the sum is what a missed mode looks like; its standard error, which
        // is about 1 then, hides it.
        let lone = self.share > 0.5 && self.ln_z > outcome.ln_interval(0.95)[1];
        if !far && !lone {
            return None;
        }
        let audit = format!(
            "the audit of {} says log Z = {:.3} +- {:.3}, the answer is {ln_z:.3} +- {sd:.3}: do not trust the interval",
            count(self.evaluations, "evaluation"),
            self.ln_z,
            self.ln_z_sd
        );
        let advice = match self.ln_z > ln_z {
            true => format!(
                "raise the budget, and look for a missed mode near {}, which carries {:.0} % of the audit",
                at(&self.heaviest),
                100.0 * self.share
            ),
            false => {
                "raise the budget: the belief expects mass where f turned out to be small".into()
            }
        };
        Some(format!("{audit}; {advice}"))
    }
}

/// Whether the next point is one of the audit's, which takes the last part of the budget of
/// evaluations. `committed` are told, given up or under way.
pub(super) fn is_due(budget: &Budget, committed: usize) -> bool {
    let (Some(part), Some(evaluations)) = (budget.audit, budget.evaluations) else {
        return false;
    };
    // In floating point 0.07 * 100 is a little above 7, and 7 evaluations are what is meant.
    let drawn = (part * evaluations as f64 * (1.0 - 1e-12)).ceil() as usize;
    (evaluations.saturating_sub(drawn)..evaluations).contains(&committed)
}

impl Session {
    /// What the audit says of Z so far; `None` if it has no value yet. Points that were given up
    /// are left out.
    ///
    /// ```
    /// use warpquad::session::{Session, evaluator::Answer, spec::Problem};
    /// use warpquad::Value;
    /// let budget = "budget = { evaluations = 30, audit = 0.5 }";
    /// let text = &format!("integrand.log = '-x^2'\nparameters.x.normal = [0, 1]\n{budget}");
    /// let mut session = Session::new(Problem::parse(text)?, text, 0)?;
    /// for _ in 0..30 {
    ///     let task = session.ask()?;
    ///     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
    /// }
    /// let audit = session.audit().unwrap();
    /// assert_eq!(audit.evaluations, 15);
    /// assert!((audit.ln_z + 0.5 * 3.0_f64.ln()).abs() < 4.0 * audit.ln_z_sd);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn audit(&self) -> Option<Audit> {
        let points = self.observations().0;
        let (mut terms, mut at, mut misses) = (Vec::new(), Vec::new(), 0);
        for ((id, value), x) in self.driver.told().iter().zip(points.iter()) {
            let Some((ln_ratio, missed)) = self.driver.audit_draw(*id) else {
                continue;
            };
            let ln_f = match *value {
                Value::Linear(f) => f.ln(),
                Value::Log(ln_f) => ln_f,
            };
            terms.push(ln_f + ln_ratio);
            at.push(x);
            misses += missed;
        }
        Audit::new(&terms, &at, misses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Rng;
    use crate::session::target::tests::outcome;

    fn audit(terms: &[f64], misses: usize) -> Audit {
        let points: Vec<[f64; 1]> = (0..terms.len()).map(|i| [i as f64]).collect();
        let points: Vec<&[f64]> = points.iter().map(|x| x.as_slice()).collect();
        Audit::new(terms, &points, misses).unwrap()
    }

    #[test]
    fn the_last_part_of_the_evaluations_is_drawn() {
        let budget = |audit| Budget {
            evaluations: Some(100),
            audit,
            ..Budget::default()
        };
        let due = |audit| (0..120).filter(|&n| is_due(&budget(audit), n)).collect();
        let seven: Vec<usize> = due(Some(0.07));
        assert_eq!(seven, (93..100).collect::<Vec<_>>());
        assert_eq!(due(None), [0; 0]);
    }

    #[test]
    fn the_mean_and_its_error_are_those_of_the_textbook() {
        let terms = [1.0, 2.0, 4.0, 9.0];
        let logs = terms.map(|t: f64| t.ln() - 2000.0);
        let found = audit(&logs, 0);
        // Mean 4, sum of squares about it 38: se = sqrt(38 / 12).
        assert!((found.ln_z - (4.0_f64.ln() - 2000.0)).abs() < 1e-12);
        assert!((found.ln_z_sd - (38.0_f64 / 12.0).sqrt() / 4.0).abs() < 1e-12);
        assert_eq!((found.heaviest, found.evaluations), (vec![3.0], 4));
        assert!((found.share - 9.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn misses_leave_it_unbiased() {
        // Draws that miss with probability 0.6 and are uniform on [0, 1] otherwise, until three
        // have a value: the mean is 0.2.
        let mut rng = Rng::new(5);
        let mut means = Vec::new();
        for _ in 0..40_000 {
            let (mut terms, mut misses) = (Vec::new(), 0);
            while terms.len() < 3 {
                match rng.uniform() < 0.6 {
                    true => misses += 1,
                    false => terms.push(rng.uniform().ln()),
                }
            }
            means.push(audit(&terms, misses).ln_z.exp());
        }
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let spread: f64 = means.iter().map(|z| (z - mean).powi(2)).sum();
        let error = (spread / (n * (n - 1.0))).sqrt();
        assert!((mean - 0.2).abs() < 4.0 * error, "{mean} {error}");
    }

    #[test]
    fn too_little_to_say_is_said() {
        let zeros = audit(&[f64::NEG_INFINITY; 3], 0);
        assert_eq!(
            (zeros.ln_z, zeros.ln_z_sd),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert!(zeros.to_json()["log_z"].is_null());
        assert_eq!(audit(&[-1.0], 0).ln_z_sd, f64::INFINITY);
        assert!(Audit::new(&[], &[], 0).is_none());
    }

    #[test]
    fn disagreement_is_heard_and_agreement_is_not() {
        let answer = |ln_z: f64, sd: f64| outcome(9, ln_z, sd);
        let at = |x: &[f64]| format!("a = {}", x[0]);
        let even = audit(&[-3.0, -3.1, -2.9, -3.0], 0);
        assert_eq!(even.warning(&answer(-3.3, 0.01), at), None);
        let low = even.warning(&answer(-2.0, 0.01), at).unwrap();
        assert!(
            low.contains("-2.9") && low.contains("-2.000") && low.contains("small"),
            "{low}"
        );
        // One draw of three nats more: the error is about 1, and the warning comes all the same.
        let lone = audit(&[-3.0, -3.1, 0.0, -3.0], 0);
        assert!((lone.ln_z + 3.0).abs() < 3.0 * lone.ln_z_sd);
        let high = lone.warning(&answer(-3.0, 0.01), at).unwrap();
        assert!(high.contains("near a = 2,"), "{high}");
        assert_eq!(lone.warning(&answer(-1.2, 0.2), at), None);
    }
}
