//! Compare the likelihood with a dense multivariate normal, on a spectrum made up here.

use std::f64::consts::PI;
use std::path::Path;
use warpquad::numeric::linalg::{Cholesky, Mat};
use warpquad::numeric::random::Rng;
use warpquad_experiments::dla::{Depth, Emission, Folder, Likelihood, Line, RANK, Spectrum, voigt};

const LINES: [Line; 3] = [
    Line {
        wavelength: 1215.6701,
        strength: 0.4164,
        rate: 6.265e8,
    },
    Line {
        wavelength: 1025.7223,
        strength: 0.07912,
        rate: 1.897e8,
    },
    Line {
        wavelength: 972.5368,
        strength: 0.029,
        rate: 8.127e7,
    },
];
const Z_QUASAR: f64 = 2.3;

fn emission() -> Emission {
    let rest: Vec<f64> = (0..1200).map(|i| 900.0 + 0.3 * i as f64).collect();
    let row = |w: &f64| {
        let wave = |j: usize| 0.2 / (1 + j) as f64 * (w / (9.0 + j as f64)).sin();
        std::array::from_fn(|i| match i {
            0 => 1.0 + 0.1 * (w / 40.0).cos(),
            1 => -1.0 + 0.2 * (w / 30.0).sin(),
            i => wave(i - 2),
        })
    };
    Emission {
        rows: rest.iter().map(row).collect(),
        rest,
        noise: Depth {
            tau: 1e-4,
            beta: 5.0,
        },
        c_0: 0.15,
        mean: Depth {
            tau: 0.0055,
            beta: 3.2,
        },
        lines: LINES.to_vec(),
    }
}

fn spectrum() -> Spectrum {
    let mut out = Spectrum::empty("made-up", Z_QUASAR, 3.58);
    for i in 0..150 {
        let masked = i % 17 == 3;
        out.flux.push(if masked {
            f64::NAN
        } else {
            0.7 + 0.3 * (i as f64).sin()
        });
        out.noise_variance.push(if masked {
            f64::NAN
        } else {
            0.05 + 0.001 * i as f64
        });
        out.masked.push(masked);
    }
    out
}

/// The absorption at each kept pixel, term by term as the model is defined.
fn absorption(spectrum: &Spectrum, absorbers: &[[f64; 2]]) -> Vec<f64> {
    let response = [
        0.00217460992138080811,
        0.0411623059580451742,
        0.240309364651846963,
        0.432707438937454059,
    ];
    let (c, s) = (2.99792458e10, 9.08537121627923800e5);
    let raw = |i: f64, [z, log_nhi]: [f64; 2]| {
        let w = spectrum.wavelength(i);
        let depth = |l: &Line| {
            let cm = 1e-8 * l.wavelength;
            let strength =
                PI * 4.803204672997660e-10_f64.powi(2) * l.strength * cm / (9.10938356e-28 * c);
            let u = c * (w / (l.wavelength * (1.0 + z)) - 1.0);
            let root = s * 2_f64.sqrt();
            strength * voigt(u / root, l.rate * cm / (4.0 * PI) / root) / (root * PI.sqrt())
        };
        (-10_f64.powf(log_nhi) * LINES.iter().map(depth).sum::<f64>()).exp()
    };
    let one = |i: usize, absorber: [f64; 2]| {
        let weight = |k: i32| response[3 - k.unsigned_abs() as usize];
        (-3..=3)
            .map(|k| weight(k) * raw(i as f64 + f64::from(k), absorber))
            .sum::<f64>()
    };
    let all = |i: usize| absorbers.iter().map(|&a| one(i, a)).product();
    spectrum.unmasked().map(all).collect()
}

struct Dense {
    mean: Vec<f64>,
    factor: Cholesky,
}

fn dense(emission: &Emission, spectrum: &Spectrum, absorbers: &[[f64; 2]]) -> Dense {
    let kept: Vec<usize> = spectrum.unmasked().collect();
    let wavelengths: Vec<f64> = kept
        .iter()
        .map(|&i| spectrum.wavelength(i as f64))
        .collect();
    let laid = emission.lay(&wavelengths, spectrum.z_quasar).unwrap();
    let a = absorption(spectrum, absorbers);
    let covariance = Mat::from_fn(kept.len(), kept.len(), |i, j| {
        let common: f64 = (0..RANK)
            .map(|k| laid.factor[i][k] * laid.factor[j][k])
            .sum();
        let own = a[i] * a[i] * laid.omega2[i] + spectrum.noise_variance[kept[i]];
        a[i] * a[j] * common + if i == j { own } else { 0.0 }
    });
    Dense {
        mean: a.iter().zip(&laid.mean).map(|(a, m)| a * m).collect(),
        factor: Cholesky::new(covariance).unwrap(),
    }
}

const CASES: [&[[f64; 2]]; 4] = [
    &[],
    &[[2.15, 20.3]],
    &[[2.2, 22.5]],
    &[[2.14, 20.05], [2.18, 21.0], [2.25, 20.6]],
];

#[test]
fn the_likelihood_is_the_multivariate_normal_s() {
    let (emission, spectrum) = (emission(), spectrum());
    let likelihood = Likelihood::new(&emission, &spectrum).unwrap();
    let flux: Vec<f64> = spectrum.unmasked().map(|i| spectrum.flux[i]).collect();
    for absorbers in CASES {
        let Dense { mean, factor } = dense(&emission, &spectrum, absorbers);
        let mut r: Vec<f64> = flux.iter().zip(&mean).map(|(y, m)| y - m).collect();
        factor.solve_lower_vec(&mut r);
        let square: f64 = r.iter().map(|r| r * r).sum();
        let want = -0.5 * (square + factor.ln_det() + r.len() as f64 * (2.0 * PI).ln());
        let got = likelihood.ln(&absorbers.concat()).unwrap();
        assert!(
            (got / want - 1.0).abs() < 1e-11,
            "{absorbers:?}: {got} for {want}"
        );
    }
}

#[test]
fn drawn_spectra_follow_the_model() {
    let (emission, spectrum) = (emission(), spectrum());
    let likelihood = Likelihood::new(&emission, &spectrum).unwrap();
    let absorbers = CASES[1];
    let factor = dense(&emission, &spectrum, absorbers).factor;
    let (draws, n) = (200, likelihood.len() as f64);
    let mut rng = Rng::new(3);
    let mut sum = 0.0;
    for _ in 0..draws {
        let drawn = likelihood.drawn(&absorbers.concat(), &mut rng).unwrap();
        let ln = drawn.ln(&absorbers.concat()).unwrap();
        sum += -2.0 * ln - factor.ln_det() - n * (2.0 * PI).ln();
    }
    // The quadratic form is chi-squared with n degrees of freedom: its mean has sd sqrt(2 n/draws).
    let off = sum / f64::from(draws) - n;
    assert!(
        off.abs() < 4.0 * (2.0 * n / f64::from(draws)).sqrt(),
        "{off}"
    );
}

#[test]
fn bad_absorbers_and_missing_files_are_said() {
    let likelihood = Likelihood::new(&emission(), &spectrum()).unwrap();
    for x in [vec![2.2], vec![2.2, f64::NAN]] {
        let error = likelihood.ln(&x).unwrap_err().to_string();
        assert!(error.contains("pairs of redshift and log_nhi"), "{error}");
    }
    let error = Folder::new(Path::new("/nowhere"))
        .quasars()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("dla/quasars.csv") && error.contains("igmhub/picca"),
        "{error}"
    );
}
