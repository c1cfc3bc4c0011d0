//! Every warp's moments and partial derivatives against mpmath, and the contract all warps keep.

use crate::common::{number, numbers, oracle, relative};
use std::sync::Arc;
use warpquad::warp::{
    Affine, Equal, Gumbel, Identity, Log, Marginal, Numeric, Polynomial, Probit, Range, Square,
    Warp,
};
use warpquad::{Error, warp};

fn build(name: &str, parameters: &str) -> Arc<dyn Warp> {
    let (_, value) = parameters.split_once('=').unwrap_or(("", ""));
    match (name, value) {
        ("identity", _) => Arc::new(Identity),
        ("square", alpha) => Arc::new(Square::new(numbers(alpha)[0]).unwrap()),
        ("log", _) => Arc::new(Log),
        ("probit", _) => Arc::new(Probit),
        ("polynomial", coefficients) => Arc::new(Polynomial::new(numbers(coefficients)).unwrap()),
        ("gumbel", tau) => Arc::new(Gumbel::new(numbers(tau)[0]).unwrap()),
        ("numeric", "softplus") => Arc::new(Numeric::softplus()),
        ("numeric", "logistic") => Arc::new(Numeric::new(
            Range::UNIT,
            |g| 1.0 / (1.0 + (-g).exp()),
            |f| f.ln() - (-f).ln_1p(),
        )),
        other => panic!("unknown warp {other:?} in the table"),
    }
}

/// Worst error a column, over all rows of a warp.
#[test]
fn moments_and_partials_agree_with_mpmath() {
    let mut worst: Vec<(String, String, f64, String)> = Vec::new();
    for row in oracle("warps") {
        let warp = build(&row["warp"], &row["parameters"]);
        let left = Marginal {
            mu: number(&row, "mu"),
            s: number(&row, "s"),
        };
        let right = Marginal {
            mu: number(&row, "mu2"),
            s: number(&row, "s2"),
        };
        let c = number(&row, "c");
        let (mean, mean2) = (warp.mean(left), warp.mean(right));
        let (mut a, mut b) = (
            vec![0.0; warp.feature_count()],
            vec![0.0; warp.feature_count()],
        );
        warp.features(left, &mut a);
        warp.features(right, &mut b);
        let cov = warp.cov_partials(&a, &b, c);
        let alone = warp.cov(&a, &b, c);
        assert!(
            relative(alone, cov.value) < 1e-12,
            "{row:?}: {alone:e} {:e}",
            cov.value
        );
        let unit = mean.ln_unit.exp();
        let units = (mean.ln_unit + mean2.ln_unit).exp();
        let k = units * cov.value;
        let got = [
            ("m", warp.offset() + unit * mean.value),
            ("dm_dmu", unit * (mean.d_mu + mean.value * mean.ln_unit_mu)),
            ("dm_ds", unit * (mean.d_s + mean.value * mean.ln_unit_s)),
            ("K", k),
            ("dK_dc", units * cov.d_c),
            ("dK_dmu", units * cov.d_mu + k * mean.ln_unit_mu),
            ("dK_dmu2", units * cov.d_mu2 + k * mean2.ln_unit_mu),
            ("dK_ds", units * cov.d_s + k * mean.ln_unit_s),
            ("dK_ds2", units * cov.d_s2 + k * mean2.ln_unit_s),
        ];
        for (column, got) in got {
            let want = number(&row, column);
            let tolerance = if column == "m" || column == "K" {
                1e-12
            } else {
                1e-9
            };
            // A partial in mu or s can vanish by symmetry, while it is a difference of terms of the
            // size of K: below a thousandth of K it is measured against K.
            let floor = if column.starts_with("dK_dmu") || column.starts_with("dK_ds") {
                1e-3 * number(&row, "K").abs()
            } else {
                0.0
            };
            let error = if want.abs() < floor {
                (got - want).abs() / floor
            } else {
                relative(got, want)
            };
            if error > tolerance {
                let what = format!("got {got:e}, want {want:e} at {left:?} {right:?} c = {c:e}");
                worst.push((
                    format!("{} [{}]", row["warp"], row["parameters"]),
                    column.into(),
                    error,
                    what,
                ));
            }
        }
    }
    for (warp, column, error, what) in &worst {
        eprintln!("{warp} {column}: {error:e} {what}");
    }
    assert!(worst.is_empty(), "{} entries are off", worst.len());
}

#[test]
fn the_log_domain_path_holds_where_doubles_underflow() {
    for row in oracle("warps_ln") {
        let warp = build(&row["warp"], &row["parameters"]);
        let at = |mu: &str, s: &str| Marginal {
            mu: number(&row, mu),
            s: number(&row, s),
        };
        let (left, right) = (at("mu", "s"), at("mu2", "s2"));
        let (mean, mean2) = (warp.mean(left), warp.mean(right));
        let ln_m = mean.ln_unit + mean.value.ln();
        let error = (ln_m - number(&row, "ln_m")).abs();
        assert!(
            error < 1e-12 * number(&row, "ln_m").abs().max(1.0),
            "{row:?}: ln m {ln_m}"
        );
        let (mut a, mut b) = (
            vec![0.0; warp.feature_count()],
            vec![0.0; warp.feature_count()],
        );
        warp.features(left, &mut a);
        warp.features(right, &mut b);
        let value = warp.cov(&a, &b, number(&row, "c"));
        let want = number(&row, "ln_abs_K");
        if value == f64::INFINITY {
            // More than e^709 times the product of the means: nothing is known, and it says so.
            assert!(want - mean.ln_unit - mean2.ln_unit > 709.0, "{row:?}");
            continue;
        }
        let ln_k = mean.ln_unit + mean2.ln_unit + value.abs().ln();
        assert!(
            (ln_k - want).abs() < 1e-11 * want.abs().max(1.0),
            "{row:?}: ln K {ln_k}"
        );
    }
}

fn marginals() -> Vec<Marginal> {
    let mut out = Vec::new();
    for mu in [-1.5, -0.2, 0.0, 0.7, 2.0] {
        for s in [1e-10, 1e-3, 0.3, 1.0] {
            out.push(Marginal { mu, s });
        }
    }
    out
}

#[test]
fn every_warp_keeps_the_contract() {
    for entry in warp::REGISTRY {
        let warp = (entry.build)();
        assert_eq!(warp.name(), entry.name);
        keeps_the_contract(warp.as_ref());
        let flipped = Affine::new(warp.clone(), 3.0, -0.5).unwrap();
        keeps_the_contract(&flipped);
        keeps_the_contract(&Affine::scaled(warp, -40.0).unwrap());
    }
}

/// What any warp, ours or a user's, must do.
fn keeps_the_contract(warp: &dyn Warp) {
    let name = warp.name();
    let Range { lo, hi } = warp.range();
    for g in [0.1, 0.9, 2.0] {
        let f = warp.forward(g);
        assert!(
            f > lo && f < hi,
            "{name}: xi({g}) = {f} is inside ({lo}, {hi})"
        );
        assert!(
            (warp.inverse(f) - g).abs() < 1e-7,
            "{name}: xi^-1(xi({g})) = {}",
            warp.inverse(f)
        );
        let local = warp.local(g);
        let h = 1e-6;
        let difference = (warp.forward(g + h) - warp.forward(g - h)) / (2.0 * h);
        let slope = local.ln_unit.exp() * local.slope;
        assert!(relative(difference, slope) < 1e-6, "{name}: slope at {g}");
    }
    for at in marginals() {
        let mut features = vec![0.0; warp.feature_count()];
        warp.features(at, &mut features);
        let var = warp.cov(&features, &features, at.s);
        assert!(var >= 0.0, "{name}: variance at {at:?}");
        assert_eq!(
            warp.cov(&features, &features, 0.0),
            0.0,
            "{name}: K vanishes with c"
        );
        let ln_var = warp.ln_var(at);
        let expected = 2.0 * warp.mean(at).ln_unit + var.ln();
        assert!(
            (ln_var.value - expected).abs() < 1e-9,
            "{name}: ln var at {at:?}"
        );
        equal_agrees_with_pairs(warp, at);
        ln_var_moves_as_it_says(warp, at);
    }
}

fn equal_agrees_with_pairs(warp: &dyn Warp, at: Marginal) {
    let cs: Vec<f64> = [-0.5, 1e-9, 0.1, 0.6, 0.95, 1.0]
        .iter()
        .map(|r| r * at.s)
        .collect();
    let n = cs.len();
    let mut out = [vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    let [value, d_c, d_mu, d_s] = &mut out;
    warp.equal(
        at,
        &cs,
        Equal {
            value,
            d_c,
            d_mu,
            d_s,
        },
    );
    let mut features = vec![0.0; warp.feature_count()];
    warp.features(at, &mut features);
    for (i, &c) in cs.iter().enumerate() {
        let pair = warp.cov_partials(&features, &features, c);
        let want = [
            pair.value,
            pair.d_c,
            pair.d_mu + pair.d_mu2,
            pair.d_s + pair.d_s2,
        ];
        for (k, want) in want.iter().enumerate() {
            let got = out[k][i];
            // A partial that vanishes by symmetry is rounding of the size of K's own derivative.
            let scale = want.abs().max(1e-6 * pair.value.abs());
            assert!(
                (got - want).abs() <= 1e-9 * scale + 1e-18,
                "{}: equal[{k}] at {at:?}, c = {c:e}: {got:e} against {want:e}",
                warp.name()
            );
        }
    }
}

fn ln_var_moves_as_it_says(warp: &dyn Warp, at: Marginal) {
    let value = |mu: f64, s: f64| warp.ln_var(Marginal { mu, s }).value;
    let ln_var = warp.ln_var(at);
    let (h, k) = (1e-5, 1e-5 * at.s);
    let d_mu = (value(at.mu + h, at.s) - value(at.mu - h, at.s)) / (2.0 * h);
    let d_s = (value(at.mu, at.s + k) - value(at.mu, at.s - k)) / (2.0 * k);
    let name = warp.name();
    assert!(
        (d_mu - ln_var.d_mu).abs() < 1e-4 * (1.0 + d_mu.abs()),
        "{name}: d ln var / d mu at {at:?}"
    );
    assert!(
        relative(ln_var.d_s * at.s, d_s * at.s) < 1e-4,
        "{name}: d ln var / d s at {at:?}"
    );
}

#[test]
fn the_supplements_equation_14_is_wrong_and_plackett_right() {
    // At this point the printed formula gives -0.176.
    let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
    Probit.features(Marginal { mu: 0.3, s: 0.8 }, &mut a);
    Probit.features(Marginal { mu: -0.7, s: 1.5 }, &mut b);
    let exact = Probit.cov_partials(&a, &b, 0.5).d_c;
    assert!((exact - 0.06612).abs() < 5e-6, "{exact}");
    let h = 1e-5;
    let difference = (Probit.cov(&a, &b, 0.5 + h) - Probit.cov(&a, &b, 0.5 - h)) / (2.0 * h);
    assert!((exact - difference).abs() < 1e-10);
}

#[test]
fn ranges_follow_shift_and_scale() {
    let positive = |lo: f64, hi: f64| Affine::onto(lo, hi).unwrap();
    for (lo, hi) in [(2.0, 5.0), (f64::NEG_INFINITY, 1.0), (-3.0, f64::INFINITY)] {
        let warp = positive(lo, hi);
        assert_eq!(warp.range(), Range { lo, hi });
        for g in [-3.0, 0.0, 2.5] {
            let f = warp.forward(g);
            assert!(f > lo && f < hi);
            assert!((warp.inverse(f) - g).abs() < 1e-9);
        }
    }
    assert!(matches!(Affine::onto(1.0, 1.0), Err(Error::Spec { .. })));
    assert!(matches!(
        Affine::onto(f64::NAN, 1.0),
        Err(Error::Spec { .. })
    ));
}
