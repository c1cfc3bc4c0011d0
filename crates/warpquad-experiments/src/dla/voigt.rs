//! Evaluate the Voigt function H(x, y) = Re w(x + iy), w the Faddeeva function, for the narrow
//! lines of hydrogen: y <= 0.001.
//!
//! Relative accuracy matters, not absolute: in the wings H is of the order of y, and a column
//! density of 1e23 multiplies it by 1e9. So two parts are summed apart. The part of H that is even
//! in y is exp(y^2 - x^2) cos(2xy). The odd part is y F(x) - y^3/6 F''(x); it follows from
//! harmonicity, H_yy = -H_xx, with F(x) = (2/sqrt pi)(2 x D(x) - 1) and D Dawson's integral.

use std::f64::consts::PI;

/// The largest y served: the first term left out, y^5 F''''/120, is below 1e-13 of H up to here.
pub const MAX_Y: f64 = 1e-3;

/// Where the divergent series of F begins to reach 1e-16. Below, 2 x D(x) - 1 loses a factor of 2
/// x^2 = 128 at most.
const SERIES_FROM: f64 = 8.0;

/// From here on five terms of the series serve, the sixth being below 1e-14, and exp(-x^2)
/// underflows.
pub const WING_FROM: f64 = 50.0;

/// (2k+1)!!/2^k: F(x) = x^-2/sqrt(pi) sum_k c_k x^-2k.
const WING: [f64; 5] = [1.0, 1.5, 3.75, 13.125, 59.0625];

/// 1/sqrt(pi).
pub const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// H(x, y) for 0 <= y <= `MAX_Y`, to 1e-13 relative.
///
/// ```
/// use warpquad_experiments::dla::voigt;
/// // Without damping it is a bell; far out it is Lorentz's profile.
/// assert_eq!(voigt(1.5, 0.0), (-2.25_f64).exp());
/// let lorentz = 1e-4 / std::f64::consts::PI.sqrt() / 1e12;
/// assert!((voigt(1e6, 1e-4) / lorentz - 1.0).abs() < 1e-11);
/// ```
pub fn voigt(x: f64, y: f64) -> f64 {
    let x = x.abs();
    if x >= WING_FROM {
        return y * FRAC_1_SQRT_PI * wing(1.0 / (x * x + y * y), y * y);
    }
    let even = (y * y - x * x).exp() * (2.0 * x * y).cos();
    if x >= SERIES_FROM {
        return even + y * FRAC_1_SQRT_PI * series(x, y);
    }
    let dawson = dawson(x);
    let slope = 1.0 - 2.0 * x * dawson;
    // F and F'', without the factor 2/sqrt(pi).
    let (first, third) = (-slope, 4.0 * (1.0 - x * x) * slope - 4.0 * x * dawson);
    even + 2.0 * FRAC_1_SQRT_PI * y * (first - y * y / 6.0 * third)
}

/// sqrt(pi) H/y in the far wings, from s = 1/(x^2 + y^2): the first terms are Re i/z = y s and Re
/// i/(2 z^3) = y (3 s^2 - 4 y^2 s^3)/2.
#[inline(always)]
pub fn wing(s: f64, y2: f64) -> f64 {
    s * (WING[0] + s * (WING[1] + s * (WING[2] - 2.0 * y2 + s * (WING[3] + s * WING[4]))))
}

/// sqrt(pi) H/y by the series of F and F'', whose terms shrink below 1e-16 before they grow again.
fn series(x: f64, y: f64) -> f64 {
    let q = 1.0 / (x * x);
    let (mut term, mut sum, mut k) = (q, 0.0, 0.0);
    while term > 1e-17 * sum {
        sum += term * (1.0 - y * y * q * (2.0 * k + 2.0) * (2.0 * k + 3.0) / 6.0);
        k += 1.0;
        term *= (k + 0.5) * q;
    }
    sum
}

/// Dawson's integral D(x) = exp(-x^2) int_0^x exp(t^2) dt for 0 <= x < 8, by Rybicki's sum.
///
/// D(x) = 1/sqrt(pi) sum over odd n of exp(-(x - n h)^2)/n, off by exp(-(pi/2h)^2) = 7e-18 for h =
/// 1/4.
fn dawson(x: f64) -> f64 {
    const H: f64 = 0.25;
    // Terms further than 6.25 from x are below 1e-17.
    let centre = 2 * (x / (2.0 * H)).floor() as i32;
    let mut sum = 0.0;
    for n in (centre - 25..=centre + 27).step_by(2) {
        let n = f64::from(n);
        let from = x - n * H;
        sum += (-from * from).exp() / n;
    }
    sum / PI.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_digits() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/oracle/voigt.csv");
        let mut table = csv::Reader::from_path(path).unwrap();
        let mut worst: f64 = 0.0;
        for row in table.deserialize() {
            let (x, y, want): (f64, f64, f64) = row.unwrap();
            let off = (voigt(x, y) / want - 1.0).abs();
            assert!(off < 1e-13, "H({x}, {y}): off by {off:e} of {want}");
            worst = worst.max(off);
        }
        assert!(worst > 0.0);
    }

    #[test]
    fn regions_join() {
        for y in [1e-6, 4e-5, 4.7e-4, MAX_Y] {
            for edge in [SERIES_FROM, WING_FROM] {
                let (below, above) = (voigt(edge.next_down(), y), voigt(edge, y));
                assert!((below / above - 1.0).abs() < 1e-13, "at {edge}, {y}");
            }
        }
    }
}
