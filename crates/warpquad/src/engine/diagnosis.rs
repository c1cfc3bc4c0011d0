//! Say how far the models behind an answer are to be trusted: left-out predictions, and weights.

use super::Engine;
use super::answered::Believed;
use crate::belief::{Belief, Ensemble, Kind, MeanFunction, Model};
use crate::error::Result;
use crate::functional::{Drawing, law_of_tilted, law_of_z};
use crate::numeric::special::{ln_add_exp, ln_sum_exp, normal_quantile};
use crate::warp::{Marginal, Warp};

/// Draws and nodes behind what one kind of models says of Z: two digits of its sd are enough.
const DRAWS: usize = 200;
const NODES: usize = 4096;

/// Noise on g below this is rounding: such a model takes observations as exact.
const EXACT: f64 = 1e-12;

/// An observation, and what the others say of it.
///
/// Values are ln f where f is positive under the model, and f itself otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// The observation, as deep as the model tells depths apart.
    pub observed: f64,
    /// The median of what the others predict.
    pub median: f64,
    /// The central 95 % of what the others predict, as wide as the answer takes the model.
    pub interval: [f64; 2],
    /// How many standard deviations of g the observation is off.
    pub off_sd: f64,
}

/// Models that differ in their hyperparameters only, and what they say of Z by themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct KindSays {
    /// What sets it apart, in words.
    pub label: String,
    /// Its weight; all of them sum to 1.
    pub weight: f64,
    /// How many times as uncertain as its members claim it is taken, on average.
    pub widening: f64,
    /// The median of ln Z; NaN where Z is negative.
    pub ln_z: f64,
    /// The standard deviation of ln Z.
    pub ln_z_sd: f64,
}

/// What there is to judge an answer by.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The kinds of models, the heaviest first.
    pub kinds: Vec<KindSays>,
    /// How many times wider the whole was made, because an earlier law of Z was too narrow.
    pub hindsight: f64,
    /// Whether the left-out values are ln f rather than f.
    pub in_logs: bool,
    /// Every observation in the order it was told, left out of the heaviest kind's best model; of
    /// several frames those of each in turn.
    pub left_out: Vec<LeftOut>,
}

impl Engine {
    /// What there is to judge the present answer by.
    ///
    /// ```
    /// use warpquad::engine::{Engine, Method};
    /// use warpquad::measure::{Product, univariate};
    /// use warpquad::{Points, Value, warp::Range};
    /// let pi = Product::new(vec![univariate("normal", &[0.0, 1.0])?])?;
    /// let mut engine = Engine::new(Method::by_name("mmlt")?, Range::POSITIVE, &pi, 0)?;
    /// let none = Points::empty(1)?;
    /// for _ in 0..12 {
    ///     let x = engine.ask(&none, &none)?;
    ///     engine.tell(&x, Value::Log(-x[0] * x[0]))?;
    /// }
    /// let seen = engine.diagnosis()?;
    /// assert_eq!((seen.kinds.len(), seen.left_out.len()), (1, 12));
    /// assert!(seen.left_out.iter().all(|one| one.interval[0] < one.interval[1]));
    /// # Ok::<(), warpquad::Error>(())
    /// ```
    pub fn diagnosis(&mut self) -> Result<Diagnosis> {
        let mut kinds = self.kinds_say(0.0)?;
        kinds.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let ensemble = self.ensemble()?;
        let (hindsight, in_logs) = (ensemble.widening(), ensemble.heaviest().is_positive());
        let of_frame = |of: Believed| {
            let kinds = of.ensemble.kinds().iter();
            let heaviest = kinds.max_by(|a, b| a.weight.total_cmp(&b.weight));
            let wider = of.ensemble.widening() * heaviest.map_or(1.0, widening);
            left_out(of.ensemble.heaviest(), wider)
        };
        Ok(Diagnosis {
            hindsight,
            in_logs,
            left_out: self.believed()?.into_iter().flat_map(of_frame).collect(),
            kinds,
        })
    }

    /// What each kind of models with at least this weight says of Z by itself. Of several frames
    /// these are the kinds of that with most of Z; the others' parts of Z are the middles of their
    /// laws.
    pub fn kinds_say(&mut self, least_weight: f64) -> Result<Vec<KindSays>> {
        let believed = self.believed()?;
        let lead = self.answered.as_ref().map_or(0, |answered| answered.lead);
        let others = believed.iter().enumerate().filter(|(i, _)| *i != lead);
        let others: Vec<f64> = others.map(|(_, of)| of.law.ln_quantile(0.5)).collect();
        let ln_others = ln_sum_exp(&others);
        let Believed {
            frame, ensemble, ..
        } = &believed[lead];
        let streams = self.streams_of_kinds();
        let how = Drawing {
            draws: DRAWS,
            nodes: NODES,
            fine_nodes_factor: 1,
            ..Drawing::default()
        };
        let ln_ratio = self.ln_ratio(frame);
        let tilt = self.tilt(frame, &ln_ratio);
        let heavy = ensemble
            .kinds()
            .iter()
            .filter(|kind| kind.weight >= least_weight);
        heavy
            .map(|kind| {
                let one = alone(kind).within(ensemble.feasible().cloned());
                let drawn = match tilt.ln_ratio {
                    None => law_of_z(&one, frame.measure(), &how, streams)?,
                    Some(_) => law_of_tilted(&one, tilt, &how, streams)?,
                };
                let own = drawn.law.ln_quantile(0.5);
                let ln_z = match others.is_empty() {
                    true => own,
                    false => ln_add_exp(own, ln_others),
                };
                let part = match others.is_empty() {
                    true => 1.0,
                    false => (own - ln_z).exp(),
                };
                Ok(KindSays {
                    label: label(&kind.fitted),
                    weight: kind.weight,
                    widening: widening(kind),
                    ln_z,
                    ln_z_sd: part * drawn.law.ln_sd().hypot(drawn.node_error),
                })
            })
            .collect()
    }
}

/// A kind as if there were no other.
fn alone(kind: &Kind) -> Ensemble {
    Ensemble::of(vec![Kind {
        weight: 1.0,
        ..kind.clone()
    }])
}

/// How many times as uncertain as its members claim a kind is taken, on average.
fn widening(kind: &Kind) -> f64 {
    let total: f64 = kind.members.iter().map(|member| member.weight).sum();
    let members = kind.members.iter();
    let sum: f64 = members
        .map(|member| member.weight * member.widening)
        .sum::<f64>();
    if total > 0.0 { sum / total } else { 1.0 }
}

/// What sets a model apart, in words.
fn label(model: &Model) -> String {
    let theta = model.theta();
    let kernel = model.process().process().kernel().name();
    let mut out = match model.warp().name() {
        // A cap is on every model of `auto`, and tells none apart.
        "capped" => kernel.to_string(),
        warp => format!("{warp} warp, {kernel}"),
    };
    if let MeanFunction::Quadratic { .. } = theta.mean {
        out += ", mean that falls off";
    }
    if theta.axes.is_some() {
        out += ", learnt axes";
    }
    if theta.effects.is_some() {
        out += ", main effects";
    }
    if theta.noise > EXACT {
        out += &format!(", noise {:.0e}", theta.noise);
    } else {
        out += ", exact observations";
    }
    out
}

/// Every observation, and what the others say of it with everything so many times as uncertain.
fn left_out(model: &Model, wider: f64) -> Vec<LeftOut> {
    let process = model.process();
    let reach = normal_quantile(0.975) * wider;
    let value = |g: f64| {
        let local = model.warp().local(g);
        match model.is_positive() {
            true => local.ln_unit + local.value.ln(),
            false => model.warp().offset() + local.ln_unit.exp() * local.value,
        }
    };
    let one = |(&g, at): (&f64, Marginal)| {
        let sd = at.s.sqrt();
        LeftOut {
            observed: value(g),
            median: value(at.mu),
            interval: [value(at.mu - reach * sd), value(at.mu + reach * sd)],
            off_sd: (g - at.mu) / (wider * sd),
        }
    };
    let pairs = process.g().iter().zip(process.leave_one_out());
    pairs.map(one).collect()
}
