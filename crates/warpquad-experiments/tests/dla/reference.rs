//! Match the reference likelihoods of the data folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use warpquad_experiments::dla::{Folder, Likelihood, Workspace};

/// The data folder: WARPQUAD_DATA, or beside the repository; `None`, with a printed line, where
/// there is none.
pub fn data() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("WARPQUAD_DATA").map_or_else(beside, PathBuf::from);
    if folder.join("dla").is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no folder {}/dla; set WARPQUAD_DATA",
        folder.display()
    );
    None
}

fn relative(got: f64, want: f64) -> f64 {
    (got - want).abs() / want.abs()
}

#[test]
fn every_reference_value() {
    let Some(folder) = data().map(|data| Folder::new(&data)) else {
        return;
    };
    let emission = folder.emission().unwrap();
    let mut all: BTreeMap<String, Likelihood> = BTreeMap::new();
    let mut worst = [0_f64; 3];
    for quasar in folder.quasars().unwrap() {
        let spectrum = folder.spectrum(&quasar).unwrap();
        let (lo, hi) = spectrum.z_range().unwrap();
        assert!(relative(lo, quasar.z_range.0) < 1e-12 && relative(hi, quasar.z_range.1) < 1e-12);
        let likelihood = Likelihood::new(&emission, &spectrum).unwrap();
        let off = relative(likelihood.ln(&[]).unwrap(), quasar.ln_none);
        worst[0] = worst[0].max(off);
        all.insert(quasar.id, likelihood);
    }
    let mut work = Workspace::default();
    for (at, k, name) in [(1, 1, "reference_2d.csv"), (2, 3, "reference_6d.csv")] {
        let table = folder.reference(name).unwrap();
        for row in 0..table.count() {
            let likelihood = &all[table.text(row, "id").unwrap()];
            let (lo, hi) = likelihood.z_range();
            let mut x = Vec::new();
            for i in 1..=k {
                let of = |column: &str| match k {
                    1 => table.number(row, column).unwrap(),
                    _ => table.number(row, &format!("{column}_{i}")).unwrap(),
                };
                x.extend([lo + of("offset") * (hi - lo), of("log_nhi")]);
            }
            let want = table.number(row, "log_likelihood").unwrap();
            let off = relative(likelihood.ln_at(&x, &mut work).unwrap(), want);
            worst[at] = worst[at].max(off);
        }
    }
    println!(
        "largest relative differences: none {:.1e}, one {:.1e}, three {:.1e}",
        worst[0], worst[1], worst[2]
    );
    assert!(worst.iter().all(|&off| off < 1e-8), "{worst:?}");
}
