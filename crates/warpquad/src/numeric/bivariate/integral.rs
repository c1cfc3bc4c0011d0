//! Integrate the bivariate density over the correlation, with relative accuracy for any arguments.

use crate::numeric::gauss::{Rule, legendre};
use crate::numeric::vmath;
use std::f64::consts::FRAC_1_PI;
use std::sync::LazyLock;

/// Beyond this argument exp(-h^2/2), a bound of every integrand here, is below the least double.
pub(super) const UNDERFLOW: f64 = 39.0;
/// What lies e^-38 = 3e-17 below the largest value of the integrand does not count.
const NEGLIGIBLE: f64 = 38.0;
/// The greatest quotient of the ends of a panel. Where h differs from k the integrand has an
/// essential singularity at q = 0.
const PANEL_RATIO: f64 = 4.0;
/// Numbers of nodes of the Gauss-Legendre rules to choose from.
const NODES: [usize; 6] = [8, 12, 16, 24, 32, 40];
/// Room for the nodes of any rule.
pub(super) const MOST_NODES: usize = 40;
/// The rule for max(|h|, |k|) up to 3, 6, 9 (rows) and rho up to 0.1, 0.3, 0.5, 0.75, 0.925, 1
/// (columns). Beyond 9 it is the last rule of `NODES`.
///
/// Each is the smallest in `NODES` whose relative error against 64 nodes on finer panels stayed
/// below 2e-14 in 1500 random cases a cell, a fifth with h = k and a quarter with h close to k.
/// (The error is 5e-14 up to 20 and 2e-13 up to 37, where it is the rounding of Q.)
const CHOICE: [[usize; 6]; 3] = [[0, 0, 1, 2, 3, 3], [0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 4]];

/// The rules on [0, 1].
static RULES: LazyLock<[Rule; 6]> = LazyLock::new(|| {
    NODES.map(|n| {
        let mut rule = legendre(n);
        rule.nodes.iter_mut().for_each(|x| *x = 0.5 * (*x + 1.0));
        rule.weights.iter_mut().for_each(|w| *w *= 0.5);
        rule
    })
});

/// The rule that resolves arguments up to `largest` and correlations up to `rho`.
pub(super) fn choose(largest: f64, rho: f64) -> &'static Rule {
    let row = [3.0, 6.0, 9.0].iter().position(|bound| largest <= *bound);
    let column = [0.1, 0.3, 0.5, 0.75, 0.925]
        .iter()
        .position(|bound| rho <= *bound);
    &RULES[row.map_or(5, |row| CHOICE[row][column.unwrap_or(5)])]
}

/// Q as a sum of two terms that are not negative, from 1 - r and 1 + r: with p = h k,
/// h^2 + k^2 - 2 p r is (h - k)^2 + 2 p (1 - r) and also (h + k)^2 - 2 p (1 + r).
#[derive(Clone, Copy)]
pub(super) struct Exponent {
    /// (h - k)^2 / 2 or (h + k)^2 / 2.
    square: f64,
    /// |h k|, divided by 1 + r or 1 - r.
    product: f64,
    same_sign: bool,
}

impl Exponent {
    pub(super) fn new(h: f64, k: f64) -> Self {
        let same_sign = h * k >= 0.0;
        let side = if same_sign { h - k } else { h + k };
        Self {
            square: 0.5 * side * side,
            product: (h * k).abs(),
            same_sign,
        }
    }

    #[inline]
    pub(super) fn at(self, minus: f64, plus: f64) -> f64 {
        // One division: square/((1-r)(1+r)) + product/(1+r), or with product/(1-r).
        let factor = if self.same_sign { minus } else { plus };
        (self.square + self.product * factor) / (minus * plus)
    }

    fn at_q(self, q: f64) -> f64 {
        let plus = 2.0 / (1.0 + q * q);
        self.at(q * q * plus, plus)
    }
}

/// The integral of exp(-Q)/(pi (1 + q^2)) over q, at one pair of arguments.
pub(super) struct Integral {
    h: f64,
    k: f64,
    exponent: Exponent,
    rule: &'static Rule,
}

impl Integral {
    pub(super) fn new(h: f64, k: f64, rho: f64) -> Self {
        let rule = choose(h.abs().max(k.abs()), rho);
        Self {
            h,
            k,
            exponent: Exponent::new(h, k),
            rule,
        }
    }

    /// Over `width` from q = `low`. The width is given apart: where rho is tiny it is known better
    /// than the ends.
    pub(super) fn over(&self, low: f64, width: f64) -> f64 {
        if self.h.abs().max(self.k.abs()) > UNDERFLOW || width <= 0.0 {
            return 0.0;
        }
        let high = low + width;
        let ends = [self.exponent.at_q(low), self.exponent.at_q(high)];
        let least = self.least(low, high, ends);
        if least > 0.5 * UNDERFLOW * UNDERFLOW {
            return 0.0;
        }
        // Q has one minimum, so it is nowhere above the larger end. (At low = 0 = h - k the end is
        // 0/0: no cut either.)
        let (mut low, mut width) = (low, width);
        if ends.iter().any(|end| *end > least + NEGLIGIBLE) {
            let (from, to) = self.support(least);
            (low, width) = (low.max(from), high.min(to) - low.max(from));
        }
        0.5 * FRAC_1_PI * (-least).exp() * self.panels(low, width, least)
    }

    /// The least Q on [low, high], given its values at the ends. As dQ/dr = -(h - k r)(k - h
    /// r)/(1 - r^2)^2, with |k| >= |h| it is k^2/2 at r = h/k, or at the end nearest to that.
    fn least(&self, low: f64, high: f64, ends: [f64; 2]) -> f64 {
        let (small, large) = if self.h.abs() < self.k.abs() {
            (self.h, self.k)
        } else {
            (self.k, self.h)
        };
        // r = (1 - q^2)/(1 + q^2) compared with small/large, without dividing.
        let side = |q: f64| (1.0 - q * q) * large * large - (1.0 + q * q) * small * large;
        if side(high) >= 0.0 {
            ends[1]
        } else if low > 0.0 && side(low) <= 0.0 {
            ends[0]
        } else {
            0.5 * large * large
        }
    }

    /// The q between which Q exceeds its least value by no more than counts.
    ///
    /// Q = c is quadratic in r, with the roots 1 - r = (h - k)^2/a and a/(2c), where a = 2c - h k +
    /// sqrt((2c - h^2)(2c - k^2)).
    fn support(&self, least: f64) -> (f64, f64) {
        let (h, k, twice) = (self.h, self.k, 2.0 * (least + NEGLIGIBLE));
        let a = twice - h * k + ((twice - h * h) * (twice - k * k)).sqrt();
        let square = (h - k) * (h - k);
        // q^2 = (1 - r)/(2 - (1 - r)); rounding may take the last difference below 0 where r = -1.
        let upper = a / (2.0 * twice - a).max(0.0);
        ((square / (2.0 * a - square)).sqrt(), upper.sqrt())
    }

    /// The integral of 2 exp(least - Q)/(1 + q^2), on panels that shrink geometrically towards q =
    /// 0 unless h = k.
    fn panels(&self, low: f64, width: f64, least: f64) -> f64 {
        let high = low + width;
        if self.h == self.k || high <= PANEL_RATIO * low {
            return self.panel(low, width, least);
        }
        let (mut sum, mut right) = (0.0, high);
        // Below 1e-17 of the first panel nothing is added any more.
        while right > low && right > 1e-17 * high {
            let next = right / PANEL_RATIO;
            let left = if next < 1.3 * low { low } else { next };
            sum += self.panel(left, right - left, least);
            right = left;
        }
        sum
    }

    fn panel(&self, low: f64, width: f64, least: f64) -> f64 {
        let n = self.rule.nodes.len();
        let (nodes, weights) = (&self.rule.nodes[..n], &self.rule.weights[..n]);
        let (mut exponents, mut factors) = ([0.0; MOST_NODES], [0.0; MOST_NODES]);
        let (exponents, factors) = (&mut exponents[..n], &mut factors[..n]);
        for i in 0..n {
            let q = low + width * nodes[i];
            let plus = 2.0 / (1.0 + q * q);
            exponents[i] = least - self.exponent.at(q * q * plus, plus);
            factors[i] = weights[i] * plus;
        }
        vmath::exp(exponents);
        width * (0..n).map(|i| exponents[i] * factors[i]).sum::<f64>()
    }
}
