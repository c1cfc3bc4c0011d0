//! Stand in for a user's xi by a table: Chebyshev series on short pieces.
//!
//! A xi that lives in another language is evaluated once, at [`Table::nodes`]. From then on nothing
//! calls back.

use super::Range;
use crate::error::{Error, Result, finite};
use std::f64::consts::PI;

/// How many values a piece has. A xi whose poles are at distance d from the line leaves an error of
/// about (d/h + sqrt(1 + d^2/h^2))^-16 with the half width h = 1/4: 3e-15 for d = 1, the least that
/// [`Numeric`](super::Numeric) asks for.
const VALUES: usize = 16;

/// The widest piece.
const WIDTH: f64 = 0.5;

/// A non-decreasing xi on an interval of g, and its continuation beyond.
///
/// Beyond the interval xi goes on as a constant towards a finite end of its range, and as a
/// straight line towards an infinite one.
///
/// ```
/// use warpquad::warp::{Range, Table};
/// let nodes = Table::nodes(-9.0, 9.0)?;
/// let values = nodes.iter().map(|g| g.tanh()).collect();
/// let table = Table::new(Range { lo: -1.0, hi: 1.0 }, -9.0, 9.0, values)?;
/// assert!((table.xi(0.3) - 0.3_f64.tanh()).abs() < 1e-14);
/// assert!((table.inverse(0.5) - 0.5_f64.atanh()).abs() < 1e-13);
/// # Ok::<(), warpquad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    range: Range,
    lo: f64,
    hi: f64,
    pieces: usize,
    /// The series of piece after piece.
    coefficients: Vec<f64>,
}

impl Table {
    /// Where xi has to be evaluated for a table on [lo, hi], ascending.
    pub fn nodes(lo: f64, hi: f64) -> Result<Vec<f64>> {
        let pieces = pieces(lo, hi)?;
        let half = 0.5 * (hi - lo) / pieces as f64;
        let middles = (0..pieces).map(|p| lo + half * (2 * p + 1) as f64);
        Ok(middles
            .flat_map(|middle| (0..VALUES).map(move |j| middle - half * angle(j).cos()))
            .collect())
    }

    /// The table of a xi with these values at the [`nodes`](Table::nodes).
    pub fn new(range: Range, lo: f64, hi: f64, values: Vec<f64>) -> Result<Table> {
        let nodes = Table::nodes(lo, hi)?;
        crate::error::same_length("values", values.len(), nodes.len())?;
        for (i, &f) in values.iter().enumerate() {
            finite(&format!("xi({})", nodes[i]), f)?;
            if f < range.lo || f > range.hi {
                let reason = format!("is {f}, outside the range {range}");
                return Err(Error::spec(format!("xi({})", nodes[i]), reason));
            }
            if i > 0 && f < values[i - 1] {
                let reason =
                    format!("is {f}, below its value at a smaller g; xi has to be non-decreasing");
                return Err(Error::spec(format!("xi({})", nodes[i]), reason));
            }
        }
        if values[0] == values[values.len() - 1] {
            return Err(Error::spec("xi", format!("is constant on [{lo}, {hi}]")));
        }
        Ok(Table {
            range,
            lo,
            hi,
            pieces: values.len() / VALUES,
            coefficients: values.chunks_exact(VALUES).flat_map(series).collect(),
        })
    }

    /// The range of xi.
    pub fn range(&self) -> Range {
        self.range
    }

    /// xi(g).
    pub fn xi(&self, g: f64) -> f64 {
        if g < self.lo {
            return self.beyond(self.lo, g, self.range.lo);
        }
        if g > self.hi {
            return self.beyond(self.hi, g, self.range.hi);
        }
        let width = (self.hi - self.lo) / self.pieces as f64;
        let piece = (((g - self.lo) / width) as usize).min(self.pieces - 1);
        let t = 2.0 * (g - self.lo - width * piece as f64) / width - 1.0;
        let series = &self.coefficients[piece * VALUES..(piece + 1) * VALUES];
        clenshaw(series, t).clamp(self.range.lo, self.range.hi)
    }

    /// The continuation past an end of the table.
    fn beyond(&self, end: f64, g: f64, limit: f64) -> f64 {
        if limit.is_finite() {
            return self.xi(end);
        }
        self.xi(end) + self.slope(end) * (g - end)
    }

    /// The slope at an end of the table, over a tenth of a piece. Over less, it would show the
    /// rounding of xi.
    fn slope(&self, end: f64) -> f64 {
        let step = 0.1 * WIDTH * if end == self.lo { 1.0 } else { -1.0 };
        (self.xi(end + step) - self.xi(end)) / step
    }

    /// xi^-1(f) by bisection. An f closer to a finite end of the range than the table reaches is
    /// put at the table's end.
    pub fn inverse(&self, f: f64) -> f64 {
        if f.is_nan() || f < self.range.lo || f > self.range.hi {
            return f64::NAN;
        }
        for (end, limit, past) in [
            (self.lo, self.range.lo, f <= self.xi(self.lo)),
            (self.hi, self.range.hi, f >= self.xi(self.hi)),
        ] {
            if past && limit.is_finite() {
                return end;
            }
            if past {
                return end + (f - self.xi(end)) / self.slope(end);
            }
        }
        let (mut low, mut high) = (self.lo, self.hi);
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return middle;
            }
            if self.xi(middle) < f {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

fn pieces(lo: f64, hi: f64) -> Result<usize> {
    finite("domain", lo)?;
    finite("domain", hi)?;
    // 10 000 units of g would be 320 000 values: no g is that large.
    if lo >= hi || hi - lo > 1e4 {
        let reason = format!("must go up, over at most 10000, got [{lo}, {hi}]");
        return Err(Error::spec("domain", reason));
    }
    // An odd number: a kink in the middle of the domain falls into a piece, where a check of the
    // table sees it.
    Ok(((hi - lo) / WIDTH).ceil() as usize | 1)
}

fn angle(j: usize) -> f64 {
    PI * (j as f64 + 0.5) / VALUES as f64
}

/// Chebyshev coefficients of the interpolant, from values at t_j = -cos(angle(j)).
fn series(values: &[f64]) -> Vec<f64> {
    (0..VALUES)
        .map(|k| {
            let pairs = values.iter().enumerate();
            // T_k(-cos a) = (-1)^k cos(k a).
            let sum: f64 = pairs.map(|(j, f)| f * (k as f64 * angle(j)).cos()).sum();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let weight = if k == 0 { 1.0 } else { 2.0 };
            sign * weight * sum / VALUES as f64
        })
        .collect()
}

/// The sum of c_k T_k(t).
fn clenshaw(c: &[f64], t: f64) -> f64 {
    let (mut last, mut this) = (0.0, 0.0);
    for &c in c[1..].iter().rev() {
        (last, this) = (this, 2.0 * t * this - last + c);
    }
    t * this - last + c[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn softplus(g: f64) -> f64 {
        g.max(0.0) + (-g.abs()).exp().ln_1p()
    }

    fn table(lo: f64, hi: f64, range: Range, xi: fn(f64) -> f64) -> Result<Table> {
        let values = Table::nodes(lo, hi)?.into_iter().map(xi).collect();
        Table::new(range, lo, hi, values)
    }

    #[test]
    fn the_table_is_the_function() {
        let table = table(-40.0, 40.0, Range::POSITIVE, softplus).unwrap();
        for i in 0..4000 {
            let g = -39.99 + 0.02 * f64::from(i);
            // A rounding of g = -40 alone moves xi by 40 eps of it, 9e-15.
            assert!((table.xi(g) / softplus(g) - 1.0).abs() < 2e-14, "{g}");
            assert!(
                (table.inverse(softplus(g)) - g).abs() < 1e-13 * g.abs().max(1.0),
                "{g}"
            );
        }
        assert!((table.xi(50.0) - 50.0).abs() < 1e-10, "a straight line");
        assert!((table.inverse(50.0) - 50.0).abs() < 1e-10);
        assert_eq!(table.xi(-90.0), table.xi(-40.0), "a constant");
        assert_eq!(table.inverse(0.0), -40.0);
        assert!(table.inverse(-1.0).is_nan() && table.inverse(f64::NAN).is_nan());
    }

    #[test]
    fn what_is_no_warp_is_refused_with_the_place() {
        let message = |t: Result<Table>| t.unwrap_err().to_string();
        assert!(message(table(-4.0, 4.0, Range::REAL, |g| -g)).contains("non-decreasing"));
        assert!(message(table(-4.0, 4.0, Range::UNIT, |g| g)).contains("outside the range (0, 1)"));
        assert!(message(table(-4.0, 4.0, Range::REAL, |_| 1.0)).contains("constant"));
        assert!(message(table(4.0, -4.0, Range::REAL, |g| g)).contains("domain"));
        assert!(message(table(0.0, 800.0, Range::REAL, f64::exp)).contains("finite"));
    }
}
