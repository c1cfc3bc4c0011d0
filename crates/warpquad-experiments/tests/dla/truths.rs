//! Two methods agree about the evidence.

use crate::reference::data;
use warpquad_experiments::dla::Folder;
use warpquad_experiments::dla::truth::{Answer, Effort, QUICK, cells, known, read, truth};

fn apart(a: &Answer, b: &Answer) -> f64 {
    (a.ln_z - b.ln_z).abs() / a.ln_sd.hypot(b.ln_sd)
}

#[test]
fn of_a_noisy_spectrum() {
    let Some(folder) = data().map(|data| Folder::new(&data)) else {
        return;
    };
    let quasars = folder.quasars().unwrap();
    let quasar = quasars.iter().find(|quasar| quasar.id == QUICK[0]).unwrap();
    let likelihood = folder
        .likelihood(&folder.emission().unwrap(), quasar)
        .unwrap();
    for absorbers in [1, 3] {
        let found = truth(&likelihood, absorbers, Effort::QUICK, 1).unwrap();
        // Two runs of tempering know their own spread to a factor of two.
        assert!(
            apart(&found.first, &found.second) < 6.0,
            "{absorbers}: {found:?}"
        );
        assert!(
            (found.first.ln_z - found.second.ln_z).abs() < 0.5,
            "{absorbers}: {found:?}"
        );
        if absorbers == 1 {
            let (reference, se) = quasar.ln_one;
            assert!((found.first.ln_z - reference).abs() < 4.0 * se, "{found:?}");
        }
        if let Some(committed) = known(&quasar.id, absorbers) {
            assert!(
                (found.first.ln_z - committed.first.ln_z).abs() < 0.5,
                "{found:?}"
            );
        }
        let again = read(&cells(&found)).unwrap();
        assert!((again.first.ln_z - found.first.ln_z).abs() < 1e-5);
    }
}

#[test]
fn the_committed_answers_agree() {
    let Some(folder) = data().map(|data| Folder::new(&data)) else {
        return;
    };
    for quasar in folder.quasars().unwrap() {
        if let Some(one) = known(&quasar.id, 1) {
            assert!(
                apart(&one.first, &one.second) < 6.0,
                "{}: {one:?}",
                quasar.id
            );
            assert!(
                (one.first.ln_z - quasar.ln_one.0).abs() < 5.0 * quasar.ln_one.1 + 0.01,
                "{}",
                quasar.id
            );
        }
        if let Some(three) = known(&quasar.id, 3) {
            assert!(
                apart(&three.first, &three.second) < 6.0,
                "{}: {three:?}",
                quasar.id
            );
        }
    }
}
