//! Hold every prior to one contract, and the registry to the oracle table.

use super::*;
use crate::numeric::gauss::legendre;
use std::fs;

/// Parameters to try each registered prior with.
fn examples(name: &str) -> Vec<Vec<f64>> {
    match name {
        "uniform" => vec![vec![-1.0, 3.0]],
        "log-uniform" => vec![vec![0.01, 100.0], vec![2.0, 2.5]],
        "normal" => vec![vec![0.5, 2.0]],
        "truncated-normal" => vec![
            vec![0.0, 1.0, -1.0, 2.0],
            vec![0.0, 1.0, 30.0, 31.0],
            vec![1.0, 2.0, 0.0, f64::INFINITY],
            vec![0.0, 1.0, f64::NEG_INFINITY, -6.0],
        ],
        "half-normal" | "half-cauchy" | "exponential" => vec![vec![0.7]],
        "cauchy" => vec![vec![1.0, 2.0]],
        "log-normal" => vec![vec![0.3, 0.8]],
        "gamma" => vec![vec![0.4, 2.0], vec![3.0, 0.5], vec![200.0, 1.0]],
        "beta" => vec![vec![0.5, 0.5], vec![2.0, 5.0], vec![40.0, 70.0]],
        "student-t" => vec![vec![5.0, 1.0, 2.0], vec![1.5, 0.0, 1.0]],
        // A new member without an example of its own still meets the contract at ones.
        _ => vec![vec![1.0; entry(name).parameters.len()]],
    }
}

fn entry(name: &str) -> &'static Entry {
    REGISTRY.iter().find(|entry| entry.name == name).unwrap()
}

/// Every example of every registered prior, with a label, and its law in the natural coordinate.
fn laws() -> Vec<(String, Arc<dyn Univariate>)> {
    let mut out = Vec::new();
    for entry in REGISTRY {
        for numbers in examples(entry.name) {
            let law = univariate(entry.name, &numbers).unwrap();
            let label = format!("{} {numbers:?}", entry.name);
            if let Some(natural) = law.natural_law() {
                out.push((format!("natural law of {label}"), natural));
            }
            out.push((label, law));
        }
    }
    out
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    let size = a.abs().max(b.abs()).max(1e-300);
    assert!((a - b).abs() <= tolerance * size, "{what}: {a} and {b}");
}

#[test]
fn quantiles_invert_the_distribution_function() {
    for (label, law) in laws() {
        for mass in [1e-250, 1e-30, 1e-9, 0.01, 0.3, 0.5] {
            let (low, high) = (law.quantile(mass), law.quantile_sf(mass));
            let (lo, hi) = law.support();
            assert!(
                lo < low && (low <= high || mass == 0.5) && high < hi,
                "{label} {mass}: {low} {high}"
            );
            // x rounds to relative 2^-53, which moves the mass by x p(x)/mass times that.
            let slack =
                |x: f64| 1e-12 + 1e-15 * (law.ln_density(x) + x.abs().ln() - mass.ln()).exp();
            close(
                law.cdf(low),
                mass,
                slack(low),
                &format!("{label}, cdf of {low}"),
            );
            close(
                law.sf(high),
                mass,
                slack(high),
                &format!("{label}, sf of {high}"),
            );
        }
        assert!(law.quantile(f64::NAN).is_nan(), "{label}");
        assert_eq!(law.quantile(0.25), law.quantile_sf(0.75), "{label}");
    }
}

/// Integrals over the law of 1, x and x^2 through the normal score of u: x = F^-1(Phi(s)), dx =
/// phi(s)/p(x) ds.
#[test]
fn densities_have_mass_one_and_the_stated_moments() {
    let rule = legendre(400);
    let nodes = || {
        rule.nodes
            .iter()
            .zip(&rule.weights)
            .map(|(t, w)| (9.0 * t, 9.0 * w))
    };
    for (label, law) in laws() {
        // The density is integrated over x between quantiles, panel by panel, so that the quantile
        // map is not taken on trust.
        let short = legendre(40);
        let mut mass = 0.0;
        let score = |i: i32| f64::from(i) * 0.25;
        let at = |s: f64| {
            let tail = crate::numeric::special::normal_cdf(-s.abs());
            law.quantile_at(if s < 0.0 {
                Tail::Lower(tail)
            } else {
                Tail::Upper(tail)
            })
        };
        for i in -30..30 {
            let (from, to) = (at(score(i)), at(score(i + 1)));
            let half = 0.5 * (to - from);
            let value = |t: &f64| law.ln_density(from + half * (1.0 + t)).exp();
            mass += half
                * short
                    .nodes
                    .iter()
                    .zip(&short.weights)
                    .map(|(t, w)| w * value(t))
                    .sum::<f64>();
        }
        // Doubles next to one are 1e-16 apart, where Beta(1/2, 1/2) still has a mass of 7e-9.
        let tolerance = if label.starts_with("beta") {
            1e-8
        } else {
            1e-10
        };
        close(mass, 1.0, tolerance, &format!("{label}, mass"));
        let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
            let phi = crate::numeric::special::normal_pdf;
            nodes().map(|(s, w)| w * phi(s) * f(at(s))).sum()
        };
        if let (Some(mean), Some(variance)) = (law.mean(), law.variance()) {
            let spread = variance.sqrt();
            let error = (moment(&|x| x) - mean).abs();
            assert!(
                error <= 1e-9 * (spread + mean.abs()),
                "{label}, mean {mean} off by {error}"
            );
            let second = moment(&|x| (x - mean) * (x - mean));
            // Student's t with five degrees of freedom still has 1e-6 of its variance beyond nine
            // sigma.
            let tolerance = if label.starts_with("student") {
                1e-4
            } else {
                1e-9
            };
            close(second, variance, tolerance, &format!("{label}, variance"));
        }
    }
}

#[test]
fn derivatives_agree_with_differences() {
    for (label, law) in laws() {
        for p in [0.001, 0.2, 0.5, 0.9] {
            let x = law.quantile(p);
            let width = law.quantile((1.01 * p).min(0.95)) - law.quantile(0.99 * p);
            let h = 0.01 * width;
            let f = |k: f64| law.ln_density(x + k * h);
            // Fourth order.
            let slope = (8.0 * (f(1.0) - f(-1.0)) - (f(2.0) - f(-2.0))) / (12.0 * h);
            let exact = law.d_ln_density(x);
            // A unit of slope is one over the width of the law.
            let unit = 1.0 / (law.quantile(0.75) - law.quantile(0.25)).min(100.0 * width);
            assert!(
                (slope - exact).abs() < 1e-6 * (exact.abs() + unit),
                "{label} {p}: {slope} {exact}"
            );
        }
    }
}

#[test]
fn nothing_lies_outside_the_support() {
    for (label, law) in laws() {
        let (lo, hi) = law.support();
        for x in [lo - 1.0, hi + 1.0] {
            if x.is_finite() {
                assert_eq!(law.ln_density(x), f64::NEG_INFINITY, "{label}");
                assert_eq!(law.d_ln_density(x), 0.0, "{label}");
                assert_eq!(
                    (law.cdf(x), law.sf(x)),
                    if x < lo { (0.0, 1.0) } else { (1.0, 0.0) }
                );
            }
        }
    }
}

/// Round trips, and the density and its gradient through each chart, against x and against
/// differences.
#[test]
fn charts_are_consistent() {
    let laws: Vec<_> = laws()
        .into_iter()
        .filter(|(label, _)| !label.starts_with("natural"))
        .collect();
    let product = Product::new(laws.iter().map(|(_, law)| law.clone()).collect()).unwrap();
    let gaussian = Gaussian::new(vec![1.0, -2.0], vec![2.0, 0.6, 0.6, 0.5]).unwrap();
    let measures: [&dyn Measure; 2] = [&product, &gaussian];
    for measure in measures {
        for chart in Chart::ALL {
            let coordinates = measure.coordinates(chart).unwrap();
            let z_law = coordinates.measure();
            let d = measure.dim();
            let u: Vec<f64> = (0..d)
                .map(|j| 0.1 + 0.8 * (0.618 * j as f64).fract())
                .collect();
            let (mut x, mut z, mut y) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
            measure.quantile(&u, &mut x);
            z_law.quantile(&u, &mut z);
            coordinates.from_natural(&z, &mut y);
            for j in 0..d {
                close(x[j], y[j], 1e-12, &format!("{chart:?} {j}"));
            }
            coordinates.to_natural(&x, &mut y).unwrap();
            for j in 0..d {
                assert!(
                    (z[j] - y[j]).abs() < 1e-11 * (1.0 + z[j].abs()),
                    "{chart:?} {j} {} {}",
                    z[j],
                    y[j]
                );
            }
            let pushed = measure.ln_density(&x) + coordinates.ln_jacobian(&z);
            assert!((z_law.ln_density(&z) - pushed).abs() < 1e-9, "{chart:?}");
            let mut gradient = vec![0.0; d];
            z_law.ln_density_gradient(&z, &mut gradient);
            for j in 0..d {
                let h = 1e-5 * z_law.scale()[j];
                let mut at = |step: f64| {
                    let mut moved = z.clone();
                    moved[j] += step;
                    coordinates.from_natural(&moved, &mut y);
                    measure.ln_density(&y) + coordinates.ln_jacobian(&moved)
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                let unit = 1.0 / z_law.scale()[j];
                assert!(
                    (slope - gradient[j]).abs() < 1e-5 * (unit + slope.abs()),
                    "{chart:?} {j} {slope} {}",
                    gradient[j]
                );
            }
            assert!(z_law.scale().iter().all(|s| *s > 0.0 && s.is_finite()));
        }
    }
}

#[test]
fn an_unnamed_law_is_pushed_like_a_named_one() {
    for name in ["gamma", "beta", "half-normal", "log-uniform"] {
        let law = univariate(name, &examples(name)[0]).unwrap();
        let (named, plain) = (
            law.natural_law().unwrap(),
            Pushed::new(law.clone(), law.coordinate()),
        );
        for p in [1e-6, 0.3, 0.999] {
            let z = named.quantile(p);
            close(plain.quantile(p), z, 1e-10, name);
            assert!((plain.ln_density(z) - named.ln_density(z)).abs() < 1e-10);
            assert!((plain.d_ln_density(z) - named.d_ln_density(z)).abs() < 1e-9);
            close(plain.cdf(z), named.cdf(z), 1e-10, name);
        }
    }
}

#[test]
fn a_quantile_that_underflows_is_right_in_the_log() {
    let law = univariate("gamma", &[0.01, 1.0]).unwrap();
    assert_eq!(law.quantile(1e-12), f64::MIN_POSITIVE);
    // P = y^a/Gamma(a+1) for tiny y.
    let exact = ((1e-12_f64).ln() + crate::numeric::special::ln_gamma(1.01)) / 0.01;
    close(
        law.natural_law().unwrap().quantile(1e-12),
        exact,
        1e-14,
        "ln quantile",
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let message = |name: &str, numbers: &[f64]| univariate(name, numbers).unwrap_err().to_string();
    assert!(message("nrmal", &[0.0, 1.0]).contains("truncated-normal"));
    assert_eq!(
        message("gamma", &[1.0]),
        "gamma: takes 2 numbers [shape, rate], got 1"
    );
    assert_eq!(
        message("uniform", &[2.0, 1.0]),
        "lo: must be below hi, got lo = 2 and hi = 1"
    );
    assert!(message("normal", &[f64::NAN, 1.0]).contains("mean"));
    assert!(message("truncated-normal", &[0.0, 1.0, f64::NAN, 1.0]).contains("lo"));
    for entry in REGISTRY {
        let numbers = vec![f64::NAN; entry.parameters.len()];
        assert!((entry.build)(&numbers).is_err(), "{}", entry.name);
    }
    let singular = Gaussian::new(vec![0.0; 2], vec![1.0, 1.0, 1.0, 1.0]).unwrap_err();
    assert!(singular.to_string().contains("not positive definite"));
    let skew = Gaussian::new(vec![0.0; 2], vec![1.0, 0.5, 0.4, 1.0]).unwrap_err();
    assert!(skew.to_string().contains("not symmetric"));
}

#[test]
fn gaussian_density_and_gradient() {
    let pi = Gaussian::new(vec![1.0, -2.0], vec![2.0, 0.6, 0.6, 0.5]).unwrap();
    // |cov| = 0.64; at (2, -2) the quadratic form is 0.5/0.64.
    let exact = -0.5 * 0.5 / 0.64 - 0.5 * 0.64_f64.ln() - (2.0 * std::f64::consts::PI).ln();
    close(pi.ln_density(&[2.0, -2.0]), exact, 1e-14, "density");
    let mut gradient = [0.0; 2];
    pi.ln_density_gradient(&[2.0, -2.0], &mut gradient);
    close(gradient[0], -0.5 / 0.64, 1e-14, "gradient");
    close(gradient[1], 0.6 / 0.64, 1e-14, "gradient");
}

#[test]
fn a_sample_is_itself() {
    let rows: Vec<_> = (0..8)
        .map(|i| vec![f64::from(i), f64::from(i * i)])
        .collect();
    let pi = Empirical::new(Points::from_rows(&rows).unwrap()).unwrap();
    let mut x = [0.0; 2];
    pi.quantile(&[0.99, 0.0], &mut x);
    assert_eq!(x, [7.0, 49.0]);
    close(pi.mean().unwrap()[1], 17.5, 1e-15, "mean");
    let (mut gradient, at) = ([0.0; 2], [2.5, 9.0]);
    pi.ln_density_gradient(&at, &mut gradient);
    let slope = (pi.ln_density(&[2.5 + 1e-5, 9.0]) - pi.ln_density(&[2.5 - 1e-5, 9.0])) / 2e-5;
    close(gradient[0], slope, 1e-7, "gradient");
    assert!(pi.coordinates(Chart::Score).is_err());
    let lone = Empirical::new(Points::from_rows(&[vec![3.0]]).unwrap()).unwrap();
    assert!(lone.ln_density(&[3.0]).is_finite() && lone.scale() == vec![1.0]);
}

#[test]
fn a_map_of_the_cube_needs_nothing_else() {
    let map: Map = Arc::new(|u, x| {
        x[0] = u[0].powi(2);
        x[1] = u[1] + u[0];
    });
    let bare = Transform::new(2, map).unwrap();
    assert!(!bare.has_density());
    assert_eq!(bare.ln_density(&[0.25, 1.0]), f64::NEG_INFINITY);
    let natural = bare.natural();
    assert_eq!(natural.measure().ln_density(&[0.5, 0.5]), 0.0);
    // dx/du has determinant 2 u_0.
    close(
        natural.ln_jacobian(&[0.7, 0.4]),
        1.4_f64.ln(),
        1e-8,
        "jacobian",
    );
    assert!(natural.to_natural(&[0.25, 1.0], &mut [0.0; 2]).is_err());
    let inverse: Map = Arc::new(|x, u| {
        u[0] = x[0].sqrt();
        u[1] = x[1] - u[0];
    });
    let full = bare.with_inverse(inverse);
    close(
        full.ln_density(&[0.49, 1.1]),
        -(1.4_f64.ln()),
        1e-8,
        "density",
    );
    let mut gradient = [0.0; 2];
    full.ln_density_gradient(&[0.49, 1.1], &mut gradient);
    // ln p = -ln 2 - ln(x_0)/2.
    assert!((gradient[0] + 0.5 / 0.49).abs() < 1e-4, "{gradient:?}");
    let mut z = [0.0; 2];
    full.natural().to_natural(&[0.49, 1.1], &mut z).unwrap();
    close(z[0], 0.7, 1e-15, "inverse");
}

#[test]
fn laws_agree_with_the_oracle() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/oracle/measures.csv"
    );
    let table = fs::read_to_string(path).unwrap();
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().ok();
        let numbers: Vec<f64> = cells[1].split(';').map(|v| v.parse().unwrap()).collect();
        let law = univariate(cells[0], &numbers).unwrap();
        let (exact, ln_density) = (number(4).unwrap(), number(5).unwrap());
        let x = match (number(2), number(3)) {
            (Some(p), _) => law.quantile(p),
            (_, q) => law.quantile_sf(q.unwrap()),
        };
        let error = if exact == 0.0 {
            x.abs()
        } else {
            (x / exact - 1.0).abs()
        };
        // The worst is 1.1e-13, of a gamma of shape 0.01, whose quantile multiplies the rounding of
        // ln p by 100.
        assert!(error < 1e-12, "{line}: {x:e}");
        // x rounds, which moves ln p by x times its slope.
        let slack =
            1e-13 * (1.0 + ln_density.abs()) + 1e-15 * (exact * law.d_ln_density(exact)).abs();
        assert!(
            (law.ln_density(exact) - ln_density).abs() < slack,
            "{line}: {}",
            law.ln_density(exact)
        );
        for (got, cell) in [(law.mean(), 6), (law.variance(), 7)] {
            match (got, number(cell)) {
                (Some(got), Some(exact)) => close(got, exact, 1e-12, line),
                (got, exact) => assert_eq!(got, exact, "{line}"),
            }
        }
        rows += 1;
    }
    assert!(rows >= 300);
}

#[test]
fn ends_beyond_all_mass_change_nothing() {
    for hi in [50.0, 1e3, 1e9, 1e300] {
        let (cut, half) = (
            TruncatedNormal::new(0.0, 1.0, 0.0, hi).unwrap(),
            HalfNormal::new(1.0).unwrap(),
        );
        let flipped = TruncatedNormal::new(0.0, 1.0, -hi, 0.0).unwrap();
        for p in [1e-300, 1e-9, 0.3, 0.5, 0.9, 1.0 - 1e-12] {
            let x = half.quantile(p);
            assert!((cut.quantile(p) / x - 1.0).abs() < 1e-12, "{hi} {p}");
            assert!(
                (-flipped.quantile_sf(p) / x - 1.0).abs() < 1e-12,
                "{hi} {p}"
            );
        }
        assert_eq!(cut.support(), (0.0, hi));
        assert_eq!(cut.ln_density(2.0 * hi), f64::NEG_INFINITY);
    }
    for (lo, hi) in [(-1e300, 1e300), (-1.0, 1.0)] {
        let narrow = TruncatedNormal::new(0.0, 1e-9, lo, hi).unwrap();
        assert!((narrow.quantile(0.975) / 1e-9 - 1.959_963_984_540_054).abs() < 1e-12);
    }
}

#[test]
fn shapes_whose_quantiles_would_take_for_ever_are_refused() {
    for (name, numbers) in [
        ("gamma", &[1e300, 1.0][..]),
        ("beta", &[1.0, 1e9]),
        ("beta", &[1e9, 1.0]),
        ("student-t", &[1e300, 0.0, 1.0]),
    ] {
        let error = univariate(name, numbers).unwrap_err().to_string();
        assert!(error.contains("must be at most 1e8"), "{error}");
    }
}
