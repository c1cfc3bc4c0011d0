//! Small versions of the experiments, with the directions that the paper claims and that hold.

use std::path::{Path, PathBuf};
use warpquad::fit::Space;
use warpquad::numeric::random::Rng;
use warpquad_experiments::moments::{PAIRS, misprints, moments, simulate, xi};
use warpquad_experiments::regression::grids::{GRIDS, Inputs};
use warpquad_experiments::regression::model::Model;
use warpquad_experiments::regression::{Group, in_model, scores};
use warpquad_experiments::t_test::paired;
use warpquad_experiments::table::{mean, quantile};
use warpquad_experiments::toy::{Comparison, fifteen};
use warpquad_experiments::{Context, Scope};

const SILENT: &(dyn Fn(&str) + Sync) = &|_| {};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A context with the data's folder, in a fresh output folder; `None` where the machine has no
/// data.
fn context(test: &str) -> Option<Context<'static>> {
    let data = std::env::var_os("WARPQUAD_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| root().join("../shared/data"));
    if !data.join("hpolib/lda.csv").is_file() {
        println!(
            "skipped: no hpolib/lda.csv in {}; set WARPQUAD_DATA",
            data.display()
        );
        return None;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("experiments-{test}"));
    let _ = std::fs::remove_dir_all(&out);
    Some(Context {
        data: Some(data),
        out,
        scope: Scope::Quick,
        spectra: None,
        until: None,
        seed: 0,
        progress: SILENT,
    })
}

#[test]
fn the_t_test_is_scipys() {
    let text = std::fs::read_to_string(root().join("data/oracle/t_test.csv")).unwrap();
    let sample = |cell: &str| {
        cell.split(';')
            .map(|x| x.parse().unwrap())
            .collect::<Vec<f64>>()
    };
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let test = paired(&sample(cells[0]), &sample(cells[1]));
        for (ours, theirs) in [test.df, test.t, test.p].iter().zip(&cells[2..]) {
            let theirs: f64 = theirs.parse().unwrap();
            // The table has ten digits.
            assert!(
                (ours - theirs).abs() <= 1e-9 * theirs.abs(),
                "{line}: {ours}"
            );
        }
        rows += 1;
    }
    assert_eq!(rows, 9);
    assert!(paired(&[1.0], &[0.0]).p.is_nan());
    assert_eq!(paired(&[1.0, 2.0], &[0.0, 1.0]).p, 0.0);
}

/// Table 1: every warp's moments are those of a simulation.
#[test]
fn moments_are_those_of_a_simulation() {
    for entry in warpquad::warp::REGISTRY {
        let warp = (entry.build)();
        let pair = &PAIRS[0];
        let ours = moments(warp.as_ref(), pair);
        let value = |g: f64, h: f64| {
            let (f, k) = (xi(warp.as_ref(), g), xi(warp.as_ref(), h));
            [f, k, (f - ours[0]) * (k - ours[1])]
        };
        for (simulated, ours) in simulate(pair, 20_000, 1, value).iter().zip(ours) {
            let z = (simulated.mean - ours) / simulated.error;
            assert!(
                z.abs() < 4.0,
                "{}: {simulated:?} against {ours}",
                entry.name
            );
        }
    }
}

/// What the supplement prints is wrong, and ours is right by two independent checks.
#[test]
fn misprints_are_misprints() {
    let all = misprints(20_000, 1);
    for m in &all {
        if let Some(difference) = m.difference {
            // A central difference with step 1e-5 is good to its square, and to rounding over the
            // step.
            assert!((m.ours - difference).abs() < 1e-9, "{m:?}");
        }
        assert!(
            (m.ours - m.simulated.mean).abs() < 4.0 * m.simulated.error,
            "{m:?}"
        );
        assert!((m.ours - m.printed).abs() > 0.02, "{m:?}");
    }
    let plackett = all.iter().find(|m| m.place == "supplement eq. 14").unwrap();
    assert!((plackett.printed + 0.1763).abs() < 1e-4 && (plackett.ours - 0.06612).abs() < 1e-5);
}

/// Figure 3: fitting in g-space "corresponds to a massive variance in f-space".
#[test]
fn fitting_in_g_space_gives_a_massive_variance_in_f_space() {
    for seed in 0..5 {
        let data = fifteen(&mut Rng::new(seed), true).unwrap();
        let numbers = Comparison::new(&data).unwrap().numbers().unwrap();
        assert!(
            numbers.mean_above > 2.0 && numbers.scales < 0.01,
            "{numbers:?}"
        );
        assert!(numbers.widest[1] > 2.0 * numbers.widest[0], "{numbers:?}");
        assert!(numbers.rmse[0] < numbers.rmse[1], "{numbers:?}");
    }
}

/// Table 2, LDA: a transform lowers the error. The twin setting ruins the likelihood of whoever
/// trained on its twin.
#[test]
fn transforms_help_on_lda() {
    let Some(context) = context("lda") else {
        return;
    };
    let group = Group {
        dataset: "LDA",
        inputs: "log",
        noise: "exact",
        splits: 12,
    };
    let scores = scores(&context, &group).unwrap();
    let all = |model: usize, pick: fn(&warpquad_experiments::regression::model::Score) -> f64| {
        let (_, scores) = scores.iter().nth(model).unwrap();
        scores.iter().flatten().map(pick).collect::<Vec<f64>>()
    };
    for model in 1..5 {
        assert!(
            mean(&all(model, |s| s.rmse)) < mean(&all(0, |s| s.rmse)),
            "model {model}"
        );
    }
    for model in 0..5 {
        assert!(mean(&all(model, |s| s.mll)) < -1e4, "model {model}");
        assert!(mean(&all(model, |s| s.mll_new)) > -20.0, "model {model}");
    }
}

/// Table 2, in-model: the transform wins in both measures.
#[test]
fn the_probit_helps_on_its_own_draws() {
    let [mut none, mut probit] = [vec![], vec![]];
    for split in 0..12 {
        let mut rng = Rng::new(split);
        let sample = in_model::draw(&mut rng, in_model::LENGTH_SCALE).unwrap();
        let low = sample.f.iter().copied().fold(1.0, f64::min);
        let high = sample.f.iter().copied().fold(0.0, f64::max);
        assert!((0.0..0.1).contains(&low) && (0.9..=1.0).contains(&high));
        let (train, test) = sample.split(in_model::TRAIN, &mut rng);
        assert_eq!((train.f.len(), test.f.len()), (40, 160));
        let score = |warp, space| {
            Model {
                warp,
                space,
                noisy: false,
                confined: true,
            }
            .score(&train, &test)
            .unwrap()
        };
        none.push(score("identity", Space::F));
        probit.push(score("probit", Space::G));
    }
    let rmse = |scores: &[warpquad_experiments::regression::model::Score]| {
        mean(&scores.iter().map(|s| s.rmse).collect::<Vec<_>>())
    };
    let mll = |scores: &[warpquad_experiments::regression::model::Score]| {
        quantile(&scores.iter().map(|s| s.mll).collect::<Vec<_>>(), 0.5)
    };
    assert!(rmse(&probit) < rmse(&none));
    assert!(mll(&probit) > mll(&none));
}

/// A fit in f-space reaches a higher f-space likelihood than a fit in g-space: the optimiser does
/// what it is asked to.
#[test]
fn the_f_space_fit_has_the_higher_f_space_likelihood() {
    let Some(context) = context("likelihood") else {
        return;
    };
    let lda = GRIDS[0].read(&context, Inputs::Log).unwrap();
    assert_eq!((lda.x.len(), lda.x.dim()), (289, 3));
    for split in 0..4 {
        let (train, _) = lda.split(GRIDS[0].train, &mut Rng::new(split));
        for warp in ["square", "log"] {
            let at = |space| {
                Model {
                    warp,
                    space,
                    noisy: false,
                    confined: true,
                }
                .ln_likelihood(&train)
                .unwrap()
            };
            assert!(at(Space::F) > at(Space::G), "split {split}, {warp}");
        }
    }
}

/// Table 2, SVM with a fitted noise variance: the f-space fit of the probit has a better likelihood
/// than no transform.
#[test]
fn the_probit_has_the_better_likelihood_on_noisy_svm() {
    let Some(context) = context("svm") else {
        return;
    };
    let group = Group {
        dataset: "SVM",
        inputs: "log",
        noise: "noisy",
        splits: 20,
    };
    let scores = scores(&context, &group).unwrap();
    let mll: Vec<f64> = scores
        .values()
        .map(|s| mean(&s.iter().flatten().map(|s| s.mll).collect::<Vec<_>>()))
        .collect();
    assert!(mll[2] > mll[0], "f-space against no transform: {mll:?}");
}
