//! Judge a regression by each value, given all the others.

use super::Regressed;
use crate::warp::Marginal;

/// What one value was expected to be, given all the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// The mean of the observation, noise included.
    pub mean: f64,
    /// Its sd.
    pub sd: f64,
    /// Whether the value is in the central 95 % of its law.
    pub is_covered: bool,
    /// The ln density of the value.
    pub ln_density: f64,
}

/// All left-out values.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// One for each observation, in their order.
    pub each: Vec<LeftOut>,
    /// The mean of their ln densities.
    pub mean_ln_density: f64,
    /// The root of the mean squared error.
    pub rms_error: f64,
    /// The part that 95 % intervals cover.
    pub coverage: f64,
}

pub(super) fn scores(of: &Regressed) -> Scores {
    let posterior = &of.posterior;
    let theta_noise = posterior.process().theta().noise;
    let (values, n) = (&of.values, of.values.len());
    let mut each = Vec::with_capacity(n);
    for (i, at) in posterior.leave_one_out().into_iter().enumerate() {
        // Its own noise on g is in what the others say of the value; of g they say so much.
        let own = theta_noise + posterior.own_noise().get(i).unwrap_or(&0.0);
        let others = Marginal {
            s: (at.s - own).max(0.0),
            ..at
        };
        let law = of.law(others, *of.noise.get(i).unwrap_or(&of.noise[0]));
        let (mean, sd) = law.moments();
        let (low, high) = (law.quantile(0.025), law.quantile(0.975));
        each.push(LeftOut {
            mean,
            sd,
            is_covered: (low..=high).contains(&values[i]),
            ln_density: law.ln_density(values[i]),
        });
    }
    let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
    let mean_ln_density = mean(&|i| each[i].ln_density);
    let rms_error = mean(&|i| (each[i].mean - values[i]).powi(2)).sqrt();
    let coverage = mean(&|i| f64::from(u8::from(each[i].is_covered)));
    Scores {
        each,
        mean_ln_density,
        rms_error,
        coverage,
    }
}
