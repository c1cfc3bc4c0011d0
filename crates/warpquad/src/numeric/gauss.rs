//! Compute Gauss-Hermite and Gauss-Legendre rules at run time, to the last bits of an `f64`.
//!
//! Both weights are even, so their orthonormal polynomials obey the three-term recurrence
//!
//! ```text
//! b_{k+1} p_{k+1}(x) = x p_k(x) - b_k p_{k-1}(x),     b_k^2 = k                  (Hermite)
//!                                                     b_k^2 = k^2 / (4 k^2 - 1)   (Legendre)
//! ```
//!
//! The nodes are the roots of `p_n`, isolated by Sturm counts and finished by Newton. The weights
//! are `1 / K(x)` with the Christoffel sum `K = sum_{k<n} p_k^2`, in which nothing cancels.
//!
//! A weight is more sensitive than its node: near the ends of a 128-point Legendre rule a half-ulp
//! of the node moves `K` by 1.6e-13 relative. So the last steps run in double-double arithmetic.

use std::f64::consts::LN_2;
use std::ops::{Add, Mul, Neg};

/// The nodes and weights of a quadrature rule, in increasing order of the nodes.
///
/// `ln_weights` holds the logarithms, which stay finite where a far Hermite weight underflows (n >
/// 370 or so).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// Where to evaluate.
    pub nodes: Vec<f64>,
    /// What each value counts for.
    pub weights: Vec<f64>,
    /// The natural logarithms of `weights`.
    pub ln_weights: Vec<f64>,
}

/// The `n`-point rule for the standard normal: `sum_i w_i f(z_i) = E f(Z)`, exact for degree
/// `2n - 1`.
///
/// The weights sum to one. `n = 0` gives an empty rule.
///
/// ```
/// use warpquad::numeric::gauss::hermite;
///
/// // E exp(Z) = exp(1/2).
/// let rule = hermite(20);
/// let mean: f64 = rule.nodes.iter().zip(&rule.weights).map(|(z, w)| w * z.exp()).sum();
/// assert!((mean - 0.5_f64.exp()).abs() < 1e-14);
/// ```
pub fn hermite(n: usize) -> Rule {
    // p_n has its roots inside |x| < 2 sqrt(n) (Gershgorin on the Jacobi matrix, b_k <= sqrt(n)).
    Jacobi::new(n, |k| Dd::from(k as f64), 1.0, 2.0 * (n as f64).sqrt()).rule()
}

/// The `n`-point rule on `[-1, 1]`: `sum_i w_i f(x_i) = int_{-1}^1 f(x) dx`, exact for degree
/// `2n - 1`.
///
/// The weights sum to two. `n = 0` gives an empty rule.
///
/// ```
/// use warpquad::numeric::gauss::legendre;
///
/// // The integral of cos over [-1, 1] is 2 sin(1).
/// let rule = legendre(12);
/// let sum: f64 = rule.nodes.iter().zip(&rule.weights).map(|(x, w)| w * x.cos()).sum();
/// assert!((sum - 2.0 * 1.0_f64.sin()).abs() < 1e-14);
/// ```
pub fn legendre(n: usize) -> Rule {
    let b2 = |k: usize| {
        let k2 = (k * k) as f64;
        Dd::from(k2) * Dd::from(4.0 * k2 - 1.0).reciprocal()
    };
    Jacobi::new(n, b2, 2.0, 1.0).rule()
}

/// The recurrence of one weight function: `b[k]` and its reciprocal for `k = 1..=n`, and the total
/// mass.
struct Jacobi {
    n: usize,
    b: Vec<Dd>,
    inverse: Vec<Dd>,
    mass: f64,
    bound: f64,
}

/// The recurrence evaluated at one point; the true Christoffel sum is `christoffel * 2^exponent`.
struct Evaluation {
    newton: Dd,
    christoffel: Dd,
    exponent: i32,
}

impl Jacobi {
    fn new(n: usize, b2: impl Fn(usize) -> Dd, mass: f64, bound: f64) -> Jacobi {
        let mut b = vec![Dd::from(0.0)];
        b.extend((1..=n).map(|k| b2(k).sqrt()));
        let inverse = b.iter().map(|b| b.reciprocal()).collect();
        Jacobi {
            n,
            b,
            inverse,
            mass,
            bound,
        }
    }

    fn rule(&self) -> Rule {
        let mut rule = Rule::default();
        // Nodes are symmetric about zero: compute the upper half. The middle one (odd n) is exactly
        // zero.
        let upper: Vec<(f64, f64, f64)> = (self.n / 2..self.n).map(|i| self.node(i)).collect();
        for &(x, w, ln_w) in upper.iter().skip(self.n % 2).rev() {
            rule.push(-x, w, ln_w);
        }
        for &(x, w, ln_w) in &upper {
            rule.push(x, w, ln_w);
        }
        rule
    }

    /// Node, weight and log weight of the root with `i` roots below it.
    fn node(&self, i: usize) -> (f64, f64, f64) {
        let mut x = Dd::from(0.0);
        if 2 * i + 1 != self.n {
            x = Dd::from(self.isolate(i));
            // Newton squares an error of at most 1e-12 by a factor p''/(2 p') below 1e5 (n <= 512):
            // the first step is good to about 1e-19, the second to the precision of the arithmetic.
            for _ in 0..2 {
                x = x + self.evaluate(x).newton;
            }
        }
        let last = self.evaluate(x);
        let k = last.christoffel;
        let weight = k.reciprocal().hi * 2f64.powi(-last.exponent);
        let ln_weight = -(k.hi.ln() + k.lo / k.hi + f64::from(last.exponent) * LN_2);
        (x.hi, weight, ln_weight)
    }

    /// Bisect on the number of roots below, down to the accuracy of the count (about 1e-14 of the
    /// bound).
    fn isolate(&self, i: usize) -> f64 {
        let (mut low, mut high) = (0.0, self.bound);
        while high - low > 1e-13 * self.bound {
            let middle = 0.5 * (low + high);
            if self.roots_below(middle) > i {
                high = middle;
            } else {
                low = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Sturm count: the ratios `q_k = x - b_k^2 / q_{k-1}` are positive once for each root below
    /// `x`.
    fn roots_below(&self, x: f64) -> usize {
        // A zero ratio must be counted with the sign it divides with (four Hermite nodes, x = 1).
        // Call it tiny and positive.
        let nonzero = |q: f64| if q == 0.0 { f64::MIN_POSITIVE } else { q };
        let mut q = nonzero(x);
        let mut count = usize::from(q > 0.0);
        for b in &self.b[1..self.n] {
            q = nonzero(x - b.hi * b.hi / q);
            count += usize::from(q > 0.0);
        }
        count
    }

    /// One sweep of the recurrence: the Christoffel sum, and the Newton step that it gives for
    /// free.
    ///
    /// Christoffel-Darboux: `K = b_n (p_n' p_{n-1} - p_{n-1}' p_n)`. So near a root
    /// `p_n' = K / (b_n p_{n-1})`, and Newton's step is `-p_n b_n p_{n-1} / K`.
    fn evaluate(&self, x: Dd) -> Evaluation {
        // Rescale before squares overflow: 2^600 squared would, 2^300 squared does not.
        const STEP: i32 = 300;
        let (big, shrink) = (2f64.powi(STEP), 2f64.powi(-STEP));
        let mut exponent = 0;
        let mut previous = Dd::from(0.0);
        let mut p = Dd::from(self.mass).sqrt().reciprocal();
        let mut sum = p * p;
        for k in 1..=self.n {
            let next = (x * p + -(self.b[k - 1] * previous)) * self.inverse[k];
            (previous, p) = (p, next);
            if k < self.n {
                sum = sum + p * p;
            }
            if p.hi.abs() > big {
                (previous, p) = (previous.scale(shrink), p.scale(shrink));
                sum = sum.scale(shrink).scale(shrink);
                exponent += 2 * STEP;
            }
        }
        let newton = -(p * self.b[self.n] * previous * sum.reciprocal());
        Evaluation {
            newton,
            christoffel: sum,
            exponent,
        }
    }
}

impl Rule {
    fn push(&mut self, node: f64, weight: f64, ln_weight: f64) {
        self.nodes.push(node);
        self.weights.push(weight);
        self.ln_weights.push(ln_weight);
    }
}

/// An unevaluated sum `hi + lo` with `|lo|` at most half an ulp of `hi`: about 31 digits.
#[derive(Clone, Copy)]
struct Dd {
    hi: f64,
    lo: f64,
}

impl Dd {
    /// Renormalise `a + b` where `|a| >= |b|`.
    fn fast(a: f64, b: f64) -> Dd {
        let hi = a + b;
        Dd {
            hi,
            lo: b - (hi - a),
        }
    }

    /// The exact product of two doubles, by Veltkamp's splitting (a fused multiply-add would be a
    /// slow library call on targets that lack the instruction).
    fn product(a: f64, b: f64) -> Dd {
        let split = |v: f64| {
            let t = 134_217_729.0 * v; // 2^27 + 1 halves the 53 bits.
            let high = t - (t - v);
            (high, v - high)
        };
        let hi = a * b;
        let ((ah, al), (bh, bl)) = (split(a), split(b));
        Dd {
            hi,
            lo: ((ah * bh - hi) + ah * bl + al * bh) + al * bl,
        }
    }

    fn scale(self, power_of_two: f64) -> Dd {
        Dd {
            hi: self.hi * power_of_two,
            lo: self.lo * power_of_two,
        }
    }

    /// One Newton step on the double reciprocal. `b_0 = 0` has no reciprocal, and none is ever
    /// read: it maps to itself.
    fn reciprocal(self) -> Dd {
        if self.hi == 0.0 {
            return self;
        }
        let r = Dd::from(1.0 / self.hi);
        r + r * (Dd::from(1.0) + -(self * r))
    }

    /// One Newton step on the double root (the argument is positive).
    fn sqrt(self) -> Dd {
        let r = self.hi.sqrt();
        let rest = self + -Dd::product(r, r);
        Dd::fast(r, rest.hi / (2.0 * r))
    }
}

impl From<f64> for Dd {
    fn from(hi: f64) -> Dd {
        Dd { hi, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Dd;
    fn add(self, other: Dd) -> Dd {
        let hi = self.hi + other.hi;
        let t = hi - self.hi;
        let error = (self.hi - (hi - t)) + (other.hi - t);
        Dd::fast(hi, error + (self.lo + other.lo))
    }
}

impl Mul for Dd {
    type Output = Dd;
    fn mul(self, other: Dd) -> Dd {
        let p = Dd::product(self.hi, other.hi);
        Dd::fast(p.hi, p.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Neg for Dd {
    type Output = Dd;
    fn neg(self) -> Dd {
        Dd {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(got: f64, want: f64) -> f64 {
        if want == 0.0 {
            got.abs()
        } else {
            ((got - want) / want).abs()
        }
    }

    #[test]
    fn agrees_with_fifty_digits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/oracle/gauss.csv");
        let text = std::fs::read_to_string(path).unwrap();
        let mut worst = [0.0_f64; 3];
        let mut rows = 0;
        let mut current: Option<(String, usize, Rule)> = None;
        for line in text.lines().filter(|l| !l.starts_with('#')).skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let (n, i): (usize, usize) = (cells[1].parse().unwrap(), cells[2].parse().unwrap());
            let want: Vec<f64> = cells[3..].iter().map(|c| c.parse().unwrap()).collect();
            if !current
                .as_ref()
                .is_some_and(|(f, m, _)| f == cells[0] && *m == n)
            {
                let rule = if cells[0] == "hermite" {
                    hermite(n)
                } else {
                    legendre(n)
                };
                assert_eq!(rule.nodes.len(), n);
                current = Some((cells[0].to_string(), n, rule));
            }
            let rule = &current.as_ref().unwrap().2;
            worst[0] = worst[0].max(relative(rule.nodes[i], want[0]));
            worst[1] = worst[1].max(relative(rule.weights[i], want[1]));
            worst[2] = worst[2].max((rule.ln_weights[i] - want[2]).abs() / want[2].abs().max(1.0));
            rows += 1;
        }
        println!("{rows} rows, worst: {worst:?}");
        assert!(rows > 400);
        // One ulp (2.2e-16) each: the last double-double result is only rounded.
        assert!(worst.iter().all(|w| *w <= 4.5e-16), "{worst:?}");
    }

    #[test]
    fn large_rules_are_finite_and_exact() {
        for n in [3, 4, 17, 255, 400] {
            let (h, l) = (hermite(n), legendre(n));
            assert!(h.nodes.windows(2).all(|w| w[0] < w[1]));
            assert!(l.nodes.windows(2).all(|w| w[0] < w[1]));
            assert!((h.weights.iter().sum::<f64>() - 1.0).abs() < 1e-13);
            assert!((l.weights.iter().sum::<f64>() - 2.0).abs() < 1e-13);
            let second: f64 = h.nodes.iter().zip(&h.weights).map(|(z, w)| w * z * z).sum();
            assert!((second - 1.0).abs() < 1e-13);
            let second: f64 = l.nodes.iter().zip(&l.weights).map(|(z, w)| w * z * z).sum();
            assert!((second - 2.0 / 3.0).abs() < 1e-13);
            assert!(h.ln_weights.iter().all(|w| w.is_finite()));
        }
        // The far weights of the 400-point rule underflow; their logarithms do not.
        let far = hermite(400);
        assert_eq!(far.weights[0], 0.0);
        assert!(far.ln_weights[0] < -745.0 && far.ln_weights[0] > -800.0);
    }

    #[test]
    fn no_points_no_rule() {
        assert_eq!(hermite(0), Rule::default());
        assert_eq!(legendre(0), Rule::default());
        assert_eq!(hermite(1).nodes, [0.0]);
        assert_eq!(legendre(1).weights, [2.0]);
    }
}
