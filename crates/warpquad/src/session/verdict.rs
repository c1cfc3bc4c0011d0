//! Decide whether an answer is settled, and say why if it is not.

use super::words::{count, count_is};
use crate::engine::Looked;
use serde_json::{Value as Json, json};

/// Why an answer is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A word for programs; the guide has a paragraph on each.
    pub code: &'static str,
    /// A sentence for people, with the numbers behind it.
    pub sentence: String,
}

impl Reason {
    /// The object of the report's `reasons`.
    pub fn to_json(&self) -> Json {
        json!({"code": self.code, "sentence": self.sentence})
    }
}

/// The two words of a verdict.
pub const SETTLED: &str = "settled";
/// The other one.
pub const UNSETTLED: &str = "unsettled";

/// What a verdict is made from. `None` where a method has no such thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Values that were told.
    pub evaluations: usize,
    /// The numbers of values that the frames of a narrow peak rest on, in order.
    pub frames: Vec<usize>,
    /// The number of parameters.
    pub dim: usize,
    /// How far the ln of the mean of Z is above the median of ln Z, in nats.
    pub tail_nats: f64,
    /// The standard deviation of ln Z.
    pub ln_z_sd: f64,
    /// The relative error of the nodes, and the belief's own sd of ln Z.
    pub node_error: f64,
    /// The belief's own sd of ln Z.
    pub belief_sd: f64,
    /// ln |f| of the values, in order.
    pub ln_f: Vec<f64>,
    /// Whether a climb to a narrow peak is under way.
    pub is_climbing: bool,
    /// Whether f may be of any sign.
    pub is_signed: bool,
    /// The sd of declared noise on ln f.
    pub noise_sd: f64,
    /// How many times wider the answer was made, because an earlier one was too narrow.
    pub widening: Option<f64>,
    /// The smallest and the largest median of ln Z that a kind of models with weight believes in.
    pub models: Option<[f64; 2]>,
    /// What the audit says, if it disagrees.
    pub audit: Option<String>,
    /// Evaluations that failed.
    pub failures: usize,
    /// The part of Z, as it is believed, where evaluations fail; `None` where that is not learnt.
    pub failed_part: Option<f64>,
    /// Whether a climb from elsewhere led to the same peak, where a climb found it.
    pub looked_elsewhere: Option<bool>,
    /// The part of Z in a peak outside the frame, of which the height and the shape are known.
    pub outside_part: Option<f64>,
    /// The sd of noise that seems to be on values that are said to be exact.
    pub suspected_noise_sd: Option<f64>,
    /// The effective number of draws that carry Z, for a prior that is a sample.
    pub effective_draws: Option<f64>,
    /// Whether a model of f is fitted at all; a baseline has none.
    pub has_model: bool,
    /// How well the run looked where the posterior is, if the prior is not the run's own.
    pub looked: Option<Looked>,
}

/// A mean of Z so far above its median says that the tail carries it.
const TAIL_NATS: f64 = 0.5;
/// An ln Z that is known no better is no answer to most questions.
const WIDE_NATS: f64 = 0.5;
/// The best value may rise by so much in the last part of the run.
const RISE_NATS: f64 = 1.0;
/// The last part of the run.
const LAST_PART: f64 = 0.2;
/// An estimate that moved so many times farther than it said does not know its own error.
const WIDENING: f64 = 3.0;
/// A frame after the climb, and one when the shape of the peak is known: more say that it is not.
const MANY_FRAMES: usize = 3;
/// ... unless the last has served for so long a part of the time since the first.
const STILL_PART: f64 = 0.5;
/// Observations for each parameter, and for one more, before lengths can be told.
const FEW_PER_DIMENSION: usize = 6;
/// Models may differ by so much, beside their interval.
const MODELS_NATS: f64 = 0.5;
/// Half a percent of Z is below what anyone asks of an evidence.
const NODE_ERROR: f64 = 5e-3;
/// More of Z than this may not lie where evaluations fail.
const FAILED_PART: f64 = 0.1;
/// More of Z than this may not lie in a peak outside the frame.
const OUTSIDE_PART: f64 = 0.05;
/// More of the evaluations than this may not fail, where nothing is learnt of where they do.
const FAILURES: f64 = 0.2;
/// More of another prior than this may not lie where the run's own has nothing.
const OUTSIDE: f64 = 1e-3;
/// Observations near a posterior for each parameter, and for one more.
const NEAR_PER_DIMENSION: usize = 2;
/// Fewer draws of a prior that is a sample do not carry an integral.
const THIN: f64 = 20.0;

/// All reasons why an answer is not settled.
pub fn reasons(of: &Evidence) -> Vec<Reason> {
    let all = [
        few(of),
        identical(&of.ln_f),
        rising(of),
        tail(of),
        wide(of),
        moved(of),
        drifting(of),
        models(of),
        node_error(of),
        audit(of),
        failures(of),
        noise(of),
        other_peak(of),
        one_climb(of),
        thin_prior(of),
        another_prior(of),
    ];
    all.into_iter().flatten().collect()
}

fn reason(code: &'static str, sentence: String) -> Option<Reason> {
    Some(Reason { code, sentence })
}

fn few(of: &Evidence) -> Option<Reason> {
    let needed = FEW_PER_DIMENSION * (of.dim + 1);
    let in_frames = of.frames.first().map(|first| of.evaluations - first);
    if let Some(known) = in_frames.filter(|known| *known < needed) {
        return reason(
            "few",
            format!(
                "{} too few since the peak was found, for {}: do not trust the interval before \
                 {needed}.",
                count_is(known, "evaluation"),
                count(of.dim, "parameter"),
            ),
        );
    }
    (of.has_model && of.evaluations < needed).then(|| Reason {
        code: "few",
        sentence: format!(
            "{} too few for {}: do not trust the interval before {needed}.",
            count_is(of.evaluations, "evaluation"),
            count(of.dim, "parameter")
        ),
    })
}

fn identical(ln_f: &[f64]) -> Option<Reason> {
    let first = ln_f.first()?;
    let same = ln_f.len() > 1 && ln_f.iter().all(|value| value == first);
    same.then(|| Reason {
        code: "identical",
        sentence: format!(
            "All {} values are the same, ln f = {first}: nothing is known of how f varies.",
            ln_f.len()
        ),
    })
}

fn rising(of: &Evidence) -> Option<Reason> {
    if of.is_climbing {
        return reason(
            "rising",
            "The climb to a narrow peak has not reached its top: raise the budget.".into(),
        );
    }
    let n = of.ln_f.len();
    let early = ((1.0 - LAST_PART) * n as f64) as usize;
    let best = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rise = best(&of.ln_f) - best(&of.ln_f[..early]);
    let allowed = RISE_NATS.max(4.0 * of.noise_sd);
    // An f of any sign may well be near 0 until late.
    (of.has_model && !of.is_signed && early > 0 && rise > allowed).then(|| Reason {
        code: "rising",
        sentence: format!(
        "The largest value rose by {rise:.1} nats in the last fifth of the run: raise the budget."
    ),
    })
}

fn tail(of: &Evidence) -> Option<Reason> {
    (of.tail_nats > TAIL_NATS).then(|| Reason {
        code: "tail",
        sentence: format!(
            "The mean of Z is e^{:.1} times its median: what is not known yet carries it.",
            of.tail_nats
        ),
    })
}

fn wide(of: &Evidence) -> Option<Reason> {
    (of.ln_z_sd > WIDE_NATS).then(|| Reason {
        code: "wide",
        sentence: format!(
            "log Z is known to {:.1} nats only: raise the budget.",
            of.ln_z_sd
        ),
    })
}

fn moved(of: &Evidence) -> Option<Reason> {
    // What is widened while a climb goes on is said by `rising`.
    let is_settling = !of.is_climbing;
    let widening = of.widening.filter(|w| is_settling && *w > WIDENING)?;
    // A move that is wide enough by now, and too small to matter, is no reason.
    (of.ln_z_sd > 0.01).then(|| Reason {
        code: "moved",
        sentence: format!(
        "The estimate moved {widening:.0} times farther than it said it would: it may move again."
    ),
    })
}

/// A peak that is found anew at every look goes on farther than anyone has looked.
fn drifting(of: &Evidence) -> Option<Reason> {
    let (first, last) = (of.frames.first()?, of.frames.last()?);
    let (known, still) = (of.evaluations - first, of.evaluations - last);
    let is_still = still as f64 >= STILL_PART * known as f64;
    (of.frames.len() >= MANY_FRAMES && !is_still).then(|| Reason {
        code: "moved",
        sentence: format!(
            "The peak has changed its shape or place {} times since it was found, the last time {} \
             ago: it may go on where nothing was evaluated.",
            of.frames.len() - 1,
            count(still, "evaluation"),
        ),
    })
}

fn models(of: &Evidence) -> Option<Reason> {
    let [low, high] = of.models?;
    (high - low > MODELS_NATS).then(|| Reason {
        code: "models",
        sentence: format!(
            "Models that explain the values alike disagree: log Z from {low:.2} to {high:.2}."
        ),
    })
}

fn node_error(of: &Evidence) -> Option<Reason> {
    let large = of.node_error > 0.5 * of.belief_sd && of.node_error > NODE_ERROR;
    large.then(|| Reason {
        code: "node_error",
        sentence: format!(
            "The nodes' own error in log Z is {:.1e}: raise `nodes`, which costs no evaluations.",
            of.node_error
        ),
    })
}

fn audit(of: &Evidence) -> Option<Reason> {
    of.audit.as_ref()?;
    reason(
        "audit",
        "The audit disagrees with the answer: see the warning.".into(),
    )
}

fn noise(of: &Evidence) -> Option<Reason> {
    let sd = of.suspected_noise_sd?;
    reason(
        "noise",
        format!(
            "The values look as if they had noise of sd {sd:.2} or so: declare it with `noise`, or \
             make the integrand exact."
        ),
    )
}

fn other_peak(of: &Evidence) -> Option<Reason> {
    let part = of.outside_part.filter(|part| *part > OUTSIDE_PART)?;
    reason(
        "peaks",
        format!(
            "About {:.0} % of Z lies in another peak, of which only the height and the curvature \
             are known: constrain the prior to one peak at a time, and add their Z.",
            100.0 * part
        ),
    )
}

/// One climb ends on one peak, which may be the lesser of two.
fn one_climb(of: &Evidence) -> Option<Reason> {
    let is_alone = !of.is_climbing && of.looked_elsewhere == Some(false);
    is_alone.then(|| Reason {
        code: "one_climb",
        sentence:
            "One climb found the peak, and none from elsewhere has led to it yet: there may be a \
             higher peak elsewhere."
                .into(),
    })
}

fn failures(of: &Evidence) -> Option<Reason> {
    if let Some(part) = of.failed_part {
        return (part > FAILED_PART).then(|| Reason {
            code: "failures",
            sentence: format!(
                "About {:.0} % of Z lies where evaluations fail: f there is a guess from around.",
                100.0 * part
            ),
        });
    }
    let asked = of.evaluations + of.failures;
    let many = of.failures as f64 > FAILURES * asked as f64;
    many.then(|| Reason {
        code: "failures",
        sentence: format!(
            "{} of {} failed: Z knows nothing of f there.",
            of.failures,
            count(asked, "evaluation")
        ),
    })
}

fn thin_prior(of: &Evidence) -> Option<Reason> {
    let draws = of.effective_draws.filter(|draws| *draws < THIN)?;
    reason(
        "thin_prior",
        format!("About {draws:.1} draws of the prior carry Z: give more of them, or a density."),
    )
}

fn another_prior(of: &Evidence) -> Option<Reason> {
    let Looked { outside, near } = of.looked?;
    if outside > OUTSIDE {
        return reason(
            "prior",
            format!(
                "{:.1} % of the other prior lies where the run's own has nothing: f is not known \
                 there, and Z leaves it out.",
                100.0 * outside
            ),
        );
    }
    let needed = NEAR_PER_DIMENSION * (of.dim + 1);
    (near < needed).then(|| Reason {
        code: "prior",
        sentence: format!(
            "Only {} {} near the posterior under the other prior: start a new run with it, and give \
             it this one as `initial`.",
            count(near, "evaluation"),
            if near == 1 { "lies" } else { "lie" }
        ),
    })
}

#[cfg(test)]
mod tests;
