//! Warp by any xi and xi^-1 a user brings, with moments by quadrature.

use super::hermite::{self, BASIS, FEATURES, HERMITE_NODES, TERMS};
use super::{Cov, Equal, Local, Marginal, Mean, Range, Table, Warp};
use std::fmt;
use std::sync::Arc;

/// A function of one number that threads may share.
type Function = Arc<dyn Fn(f64) -> f64 + Send + Sync>;
/// The same of many numbers, in place.
type OfMany = Arc<dyn Fn(&mut [f64]) + Send + Sync>;

/// Below this sd the coefficients are taken at this sd and carried back by the heat equation.
const STEP: f64 = 0.3;

/// A warp from a user's own smooth, monotone xi and its inverse.
///
/// * Definition: xi as given.
/// * Moments: by quadrature and the series of the module `hermite`, from values of xi alone.
/// * Range: as given.
/// * Numerics: xi should be smooth on the scale of the sd of g (315 nodes). For a small sd the
///   differences of xi would cancel. So coefficients are computed at sd 0.3 and continued by
///   a_k(s) = sum over j of a_(k+2j)(s0) ((s - s0)/2)^j / j!. Then xi must be analytic with a
///   radius of about 1 or more.
///
/// ```
/// use warpquad::warp::{Log, Marginal, Numeric, Range, Warp};
/// let exp = Numeric::new(Range::POSITIVE, f64::exp, f64::ln);
/// let at = Marginal { mu: 0.4, s: 0.5 };
/// let (by_nodes, exact) = (exp.mean(at).value, Log.mean(at).ln_unit.exp());
/// assert!((by_nodes / exact - 1.0).abs() < 1e-13);
/// ```
#[derive(Clone)]
pub struct Numeric {
    range: Range,
    xi: Function,
    xi_of_many: OfMany,
    inverse: Function,
}

impl Numeric {
    /// The warp with this range, xi and xi^-1.
    pub fn new(
        range: Range,
        xi: impl Fn(f64) -> f64 + Send + Sync + 'static,
        inverse: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Numeric {
        let xi: Function = Arc::new(xi);
        let one_by_one = xi.clone();
        Numeric {
            range,
            xi,
            xi_of_many: Arc::new(move |g| g.iter_mut().for_each(|g| *g = one_by_one(*g))),
            inverse: Arc::new(inverse),
        }
    }

    /// The same warp with a faster way to xi of many numbers, for its moments.
    pub(super) fn with_xi_of_many(
        self,
        xi_of_many: impl Fn(&mut [f64]) + Send + Sync + 'static,
    ) -> Numeric {
        Numeric {
            xi_of_many: Arc::new(xi_of_many),
            ..self
        }
    }

    /// ln(1 + e^g), written so that neither tail loses digits.
    pub fn softplus() -> Numeric {
        Numeric::new(
            Range::POSITIVE,
            |g| g.max(0.0) + (-g.abs()).exp().ln_1p(),
            |f| f + (-(-f).exp_m1()).ln(),
        )
    }

    /// The warp of a tabulated xi.
    pub fn tabulated(table: Table) -> Numeric {
        let (range, table) = (table.range(), Arc::new(table));
        let same = table.clone();
        Numeric::new(range, move |g| table.xi(g), move |f| same.inverse(f))
    }

    /// a_0, a_1, ... each times root^k / sqrt(k!) with root = sqrt(s), the first `most` of them as
    /// far as they matter.
    fn scaled_expectations(&self, at: Marginal, most: usize) -> Vec<f64> {
        let root = at.s.sqrt();
        let step = root.max(STEP);
        let nodes = BASIS.nodes.iter();
        let mut values: Vec<f64> = nodes.map(|z| at.mu + step * z).collect();
        (self.xi_of_many)(&mut values);
        // A level taken out first, xi at the node in the middle, keeps the rounding of xi(mu) out
        // of the higher coefficients.
        let level = values[HERMITE_NODES / 2];
        values.iter_mut().for_each(|value| *value -= level);
        let mut out = match root < STEP {
            true => continue_to(&BASIS.coefficients(HIGHEST + 1, &values), STEP, at.s, most),
            false => BASIS.coefficients(most, &values),
        };
        out[0] += level;
        out
    }
}

/// The highest order carried back from sd 0.3. For a xi with poles at distance pi, as softplus and
/// the logistic function have, the rest is below 1e-15; what lies beyond is rounding.
const HIGHEST: usize = 32;

/// Carry root^k a_k / sqrt(k!) from sd `step` to variance `s`, the first `most` of them:
/// a_k(s) = sum over j of a_(k+2j)(step^2) ((s - step^2)/2)^j / j!.
fn continue_to(from: &[f64], step: f64, s: f64, most: usize) -> Vec<f64> {
    let back = (s / (step * step) - 1.0) / 2.0; // (s - step^2)/2 in units of step^2
    let shrink = s.sqrt() / step;
    let mut out = vec![0.0; most.min(from.len())];
    for (k, a) in out.iter_mut().enumerate() {
        // In units of step^k, a_(k+2j) is from[k+2j] sqrt((k+2j)!), over sqrt(k!).
        let mut weight = 1.0;
        for (j, coefficient) in from[k..].iter().step_by(2).enumerate() {
            if j > 0 {
                let top = (k + 2 * j) as f64;
                weight *= back / j as f64 * (top * (top - 1.0)).sqrt();
            }
            *a += weight * coefficient;
        }
        *a *= shrink.powi(k as i32);
    }
    out
}

impl fmt::Debug for Numeric {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Numeric onto {} by {HERMITE_NODES} nodes", self.range)
    }
}

impl Warp for Numeric {
    fn name(&self) -> &'static str {
        "numeric"
    }

    fn range(&self) -> Range {
        self.range
    }

    fn local(&self, g: f64) -> Local {
        let a = self.scaled_expectations(Marginal { mu: g, s: 1e-12 }, 2);
        Local {
            ln_unit: 0.0,
            value: (self.xi)(g),
            slope: a[1] / 1e-6,
        }
    }

    fn inverse(&self, f: f64) -> f64 {
        let Range { lo, hi } = self.range;
        if f < lo || f > hi {
            return f64::NAN;
        }
        (self.inverse)(f)
    }

    fn mean(&self, at: Marginal) -> Mean {
        let a = self.scaled_expectations(at, 3);
        let s = at.s.max(f64::MIN_POSITIVE);
        Mean::plain(a[0], a[1] / s.sqrt(), a[2] / (2.0_f64.sqrt() * s))
    }

    fn feature_count(&self) -> usize {
        FEATURES
    }

    fn features(&self, at: Marginal, out: &mut [f64]) {
        let a = self.scaled_expectations(at, TERMS + 3);
        let order = a.len().saturating_sub(3).min(TERMS);
        let root = at.s.sqrt();
        let divisor = root.max(f64::MIN_POSITIVE);
        hermite::write(root, order, out, |k| {
            let kf = k as f64;
            let first = a[k + 1] * (kf + 1.0).sqrt() / divisor;
            let second = a[k + 2] * ((kf + 1.0) * (kf + 2.0)).sqrt() / divisor / divisor;
            [a[k], first, second]
        });
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        hermite::cov(left, right, c)
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        hermite::cov_partials(left, right, c)
    }

    fn equal(&self, at: Marginal, c: &[f64], out: Equal<'_>) {
        let mut features = vec![0.0; FEATURES];
        self.features(at, &mut features);
        hermite::equal(at, &features, c, out.value, out.d_c, out.d_mu, out.d_s);
    }
}
