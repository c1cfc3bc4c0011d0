//! Tell from the times of a journal how many evaluations were under way at once.

use warpquad::session::Account;

/// The most evaluations that were under way at once: a journal has no number of workers, and the
/// command line's may be another than the problem file's.
pub fn most(account: &Account) -> usize {
    let told = account.evaluations.iter().map(|one| (one.at, one.seconds));
    let failed = account.failures.iter().map(|one| (one.at, one.seconds));
    let mut spans: Vec<(f64, f64)> = calls(told).into_iter().chain(calls(failed)).collect();
    spans.retain(|(begin, end)| end > begin);
    let sorted = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times
    };
    let begun = sorted(spans.iter().map(|span| span.0).collect());
    let ended = sorted(spans.iter().map(|span| span.1).collect());
    // The most are under way when one begins.
    let (mut most, mut over) = (0, 0);
    for (k, begin) in begun.iter().enumerate() {
        while ended[over] <= *begin {
            over += 1;
        }
        most = most.max(k + 1 - over);
    }
    most
}

/// When calls began and ended. The points of one call share its time, so theirs is the same to the
/// last digit.
fn calls(each: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut last = f64::NAN;
    for (at, seconds) in each {
        match out.last_mut() {
            Some(call) if seconds == last => call.0 -= seconds,
            _ => out.push((at - seconds, at)),
        }
        last = seconds;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpquad::Value;
    use warpquad::session::{Evaluation, FailedAttempt};

    fn account(each: &[(f64, f64)]) -> Account {
        let one = |(id, &(at, seconds)): (usize, &(f64, f64))| Evaluation {
            id: id as u64,
            x: vec![0.0],
            value: Value::Log(0.0),
            seconds,
            at,
            is_audit: false,
            is_given: false,
        };
        Account {
            evaluations: each.iter().enumerate().map(one).collect(),
            ..Account::default()
        }
    }

    #[test]
    fn one_after_the_other_is_one() {
        assert_eq!(most(&account(&[(1.0, 0.9), (2.1, 1.0), (2.2, 0.05)])), 1);
        assert_eq!(most(&Account::default()), 0);
    }

    #[test]
    fn what_overlaps_is_counted_failures_too() {
        let mut three = account(&[(1.0, 0.9), (1.2, 1.1), (3.0, 0.1)]);
        assert_eq!(most(&three), 2);
        three.failures.push(FailedAttempt {
            id: 9,
            x: vec![0.0],
            reason: "no memory".into(),
            seconds: 0.6,
            at: 1.1,
            is_given_up: true,
        });
        assert_eq!(most(&three), 3);
    }

    #[test]
    fn the_points_of_one_call_are_one() {
        let call = [(3.0, 0.5), (3.001, 0.5), (3.002, 0.5), (4.0, 0.9)];
        assert_eq!(most(&account(&call)), 1);
    }
}
