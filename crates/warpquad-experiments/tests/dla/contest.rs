//! A small figure 4 with tables 3 and 4: two spectra, and the directions of the paper that hold.

use crate::reference::data;
use warpquad_experiments::dla::Folder;
use warpquad_experiments::dla::race::{Course, Limits, Moment, race};
use warpquad_experiments::dla::truth::{Effort, QUICK, truth};

const LIMITS: Limits = Limits {
    seconds: 600.0,
    evaluations: 60,
    looks: true,
};

const EFFORT: Effort = Effort {
    particles: 200,
    live: 20,
    ..Effort::QUICK
};

fn last(course: &Course) -> &Moment {
    course.moments.last().unwrap()
}

#[test]
fn fitting_in_f_space_pays_in_six_dimensions() {
    let Some(folder) = data().map(|data| Folder::new(&data)) else {
        return;
    };
    let (emission, quasars) = (folder.emission().unwrap(), folder.quasars().unwrap());
    for id in &QUICK[..2] {
        let quasar = quasars.iter().find(|quasar| quasar.id == *id).unwrap();
        let likelihood = folder.likelihood(&emission, quasar).unwrap();
        let truth = truth(&likelihood, 3, EFFORT, 0).unwrap();
        let run = |method: &str| race(&likelihood, 3, method, &truth, LIMITS, 0).unwrap();
        let (mmlt, g_space) = (run("mmlt"), run("mmlt-g"));
        for course in [&mmlt, &g_space] {
            assert!(course.failure.is_empty(), "{}", course.failure);
            assert_eq!(last(course).evaluations, LIMITS.evaluations);
        }
        let error = |course: &Course| (last(course).ln_mean - truth.first.ln_z).abs();
        println!(
            "{id}: errors {:.1} in f-space, {:.1} in g-space; MLL {:.2} and {:.2}",
            error(&mmlt),
            error(&g_space),
            mmlt.mll,
            g_space.mll
        );
        assert!(error(&mmlt) < error(&g_space), "{id}");
        assert!(mmlt.mll > g_space.mll, "{id}");
    }
}

#[test]
fn monte_carlo_stops_at_its_limit() {
    let Some(folder) = data().map(|data| Folder::new(&data)) else {
        return;
    };
    let (emission, quasars) = (folder.emission().unwrap(), folder.quasars().unwrap());
    let quasar = quasars.iter().find(|quasar| quasar.id == QUICK[0]).unwrap();
    let likelihood = folder.likelihood(&emission, quasar).unwrap();
    let truth = truth(&likelihood, 1, EFFORT, 0).unwrap();
    let limits = Limits {
        evaluations: 4096,
        ..LIMITS
    };
    for method in ["qmc", "smc"] {
        let course = race(&likelihood, 1, method, &truth, limits, 0).unwrap();
        let end = last(&course);
        assert!(end.evaluations <= 4096 && course.moments.len() > 2 && course.mll.is_nan());
        assert!(
            (end.ln_mean - truth.first.ln_z).abs() < 6.0 * end.ln_sd,
            "{method}: {end:?}"
        );
    }
}
