//! Bound the saturating warp more tightly above the largest observation, and deep observations from
//! below.

use super::{Cov, Equal, Gumbel, Local, Marginal, Mean, Numeric, Range, Warp};
use crate::error::{Result, positive};
use crate::numeric::vmath;

/// The Gumbel warp with a scale of its own for g > 0.
///
/// * Definition: ln xi(g) = -tau expm1(-g / tau) for g <= 0, the same with `top` in place of tau
///   above. Slopes agree at 0. Observations are at g <= 0, so only what is extrapolated differs.
///   Between points of huge range a smooth g overshoots by tens of nats, which exp would believe.
/// * Inverse: of max(ln f, -depth). A likelihood that is e^-1000 of the largest is as good as one
///   of e^-1000000, but a smooth g that has to tell them apart has no room left for the peak.
/// * Moments: by quadrature of xi, in units of the largest observation; what is far below it is 0
///   there.
/// * Range: (0, e^top).
///
/// ```
/// use warpquad::warp::{Capped, Warp};
/// let warp = Capped::new(30.0, 3.0, 100.0)?;
/// assert!(warp.ln_forward(1e9) <= 3.0);
/// assert!((warp.ln_forward(warp.inverse_ln(-99.0)) + 99.0).abs() < 1e-8);
/// assert_eq!(warp.inverse_ln(-27000.0), warp.inverse_ln(-100.0));
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Capped {
    below: Gumbel,
    above: Gumbel,
    depth: f64,
    moments: Numeric,
}

impl Capped {
    /// The Gumbel warp with scale tau below the largest observation, and `top` above it. What is
    /// observed more than `depth` nats below it counts as that far below.
    pub fn new(tau: f64, top: f64, depth: f64) -> Result<Capped> {
        positive("depth", depth)?;
        let (below, above) = (Gumbel::new(tau)?, Gumbel::new(top)?);
        let side = move |g: f64| if g > 0.0 { above } else { below };
        let moments = Numeric::new(
            above.range(),
            move |g| side(g).ln_forward(g).exp(),
            move |f| side(f.ln()).inverse(f),
        );
        let moments = moments.with_xi_of_many(move |g| {
            ln_forwards(&below, &above, g);
            vmath::exp(g);
        });
        Ok(Capped {
            below,
            above,
            depth,
            moments,
        })
    }

    fn side(&self, g: f64) -> &Gumbel {
        if g > 0.0 { &self.above } else { &self.below }
    }
}

/// ln xi of many g, in place.
fn ln_forwards(below: &Gumbel, above: &Gumbel, g: &mut [f64]) {
    let tau = |g: f64| if g > 0.0 { above.tau() } else { below.tau() };
    g.iter_mut().for_each(|g| *g /= -tau(*g));
    vmath::exp_m1(g);
    // expm1(-g / tau) is negative where g was positive.
    g.iter_mut().for_each(|m1| *m1 *= -tau(-*m1));
}

impl Warp for Capped {
    fn name(&self) -> &'static str {
        "capped"
    }

    fn range(&self) -> Range {
        self.above.range()
    }

    /// Its upper end is relative to the largest observation by design.
    fn scales(&self) -> bool {
        true
    }

    fn local(&self, g: f64) -> Local {
        self.side(g).local(g)
    }

    /// A look-ahead asks for a hundred thousand and more of these for every point it chooses.
    fn locals(&self, g: &mut [f64], values: &mut [f64]) {
        ln_forwards(&self.below, &self.above, g);
        values.fill(1.0);
    }

    fn inverse(&self, f: f64) -> f64 {
        self.inverse_ln(f.ln())
    }

    fn inverse_ln(&self, ln_f: f64) -> f64 {
        self.side(ln_f).inverse_ln(ln_f.max(-self.depth))
    }

    fn mean(&self, at: Marginal) -> Mean {
        self.moments.mean(at)
    }

    fn feature_count(&self) -> usize {
        self.moments.feature_count()
    }

    fn features(&self, at: Marginal, out: &mut [f64]) {
        self.moments.features(at, out);
    }

    fn cov(&self, left: &[f64], right: &[f64], c: f64) -> f64 {
        self.moments.cov(left, right, c)
    }

    fn cov_partials(&self, left: &[f64], right: &[f64], c: f64) -> Cov {
        self.moments.cov_partials(left, right, c)
    }

    fn equal(&self, at: Marginal, c: &[f64], out: Equal<'_>) {
        self.moments.equal(at, c, out);
    }

    fn starts(&self, g: &[f64]) -> Vec<Marginal> {
        self.below.starts(g)
    }

    fn f_space_limits(&self, g: &[f64]) -> Marginal {
        self.below.f_space_limits(g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let warp = Capped::new(10.0, 3.0, 100.0).unwrap();
        let g = [-900.0, -4.0, -1e-9, 0.0, 1e-9, 0.5, 40.0];
        let (mut units, mut values) = (g, [0.0; 7]);
        warp.locals(&mut units, &mut values);
        for (i, &g) in g.iter().enumerate() {
            let one = warp.local(g);
            let scale = one.ln_unit.abs().max(1e-9);
            assert!((units[i] - one.ln_unit).abs() < 1e-13 * scale, "{g}");
            assert_eq!(values[i], one.value);
        }
    }

    #[test]
    fn moments_of_many_at_once_are_those_of_one_by_one() {
        let warp = Capped::new(30.0, 3.0, 100.0).unwrap();
        let (below, above) = (warp.below, warp.above);
        let xi = move |g: f64| match g > 0.0 {
            true => above.ln_forward(g).exp(),
            false => below.ln_forward(g).exp(),
        };
        let one_by_one = Numeric::new(warp.range(), xi, f64::ln);
        for (mu, s) in [(-2.0, 4.0), (0.0, 1e-4), (1.0, 0.5), (-60.0, 30.0)] {
            let at = Marginal { mu, s };
            let (many, one) = (warp.mean(at), one_by_one.mean(at));
            let pairs = [
                (many.value, one.value),
                (many.d_mu, one.d_mu),
                (many.d_s, one.d_s),
            ];
            for (many, one) in pairs {
                assert!(
                    (many - one).abs() <= 1e-11 * one.abs(),
                    "{mu} {s}: {many} {one}"
                );
            }
        }
    }

    #[test]
    fn slopes_agree_at_the_largest_observation() {
        let warp = Capped::new(30.0, 3.0, 100.0).unwrap();
        let (before, after) = (warp.local(-1e-9), warp.local(1e-9));
        assert!((before.slope - after.slope).abs() < 1e-8);
    }

    #[test]
    fn mean_by_a_fine_sum() {
        let warp = Capped::new(30.0, 3.0, 100.0).unwrap();
        for (mu, s) in [(-2.0, 4.0), (0.0, 1.0), (1.0, 0.5), (-6.0, 30.0)] {
            let at = Marginal { mu, s };
            let step = 1e-3;
            let term = |k: i32| {
                let z = f64::from(k) * step;
                (warp.ln_forward(mu + s.sqrt() * z) - 0.5 * z * z).exp()
            };
            let sum: f64 = (-9000..=9000).map(term).sum();
            let exact = sum * step / std::f64::consts::TAU.sqrt();
            let mean = warp.mean(at).value;
            assert!((mean / exact - 1.0).abs() < 1e-4, "{mean} {exact}");
        }
    }
}
