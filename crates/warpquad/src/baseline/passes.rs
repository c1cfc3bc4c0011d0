//! Repeat a method with ever larger populations, and put what the passes say together.

use super::run::{Halt, Known, Run, Samples};
use crate::numeric::random::Rng;

/// The part of what is left that a last pass is planned to use: its number of evaluations scatters.
const SAFE: f64 = 0.85;

/// What one pass found.
#[derive(Debug)]
pub(super) struct Pass {
    pub ln_z: f64,
    pub ln_sd: f64,
    pub samples: Samples,
}

/// Go on with passes until the run is stopped. `one` makes a pass with so many particles; it is
/// `None` where every f was 0.
///
/// Passes double while two more of them fit into the budget; then one takes what is left.
pub(super) fn passes(
    run: &mut Run<'_>,
    smallest: usize,
    mut one: impl FnMut(&mut Run<'_>, usize, &mut Rng) -> Result<Option<Pass>, Halt>,
) -> Result<(), Halt> {
    let mut n = run.settings().particles.unwrap_or(smallest);
    let mut found: Vec<(f64, Pass)> = Vec::new();
    for stream in 0.. {
        let before = run.evaluations();
        let mut rng = run.rng(stream);
        if let Some(pass) = one(run, n, &mut rng)? {
            found.push((n as f64, pass));
            let (ln_z, ln_sd) = together(&found);
            if let Some((_, pass)) = found.last_mut() {
                let none = Samples::none(run.dim())?;
                let samples = std::mem::replace(&mut pass.samples, none);
                run.know(Known::ln(ln_z, ln_sd).with_samples(samples));
            }
        }
        n = next(run, n, run.evaluations() - before, smallest);
    }
    Ok(())
}

/// The size of the next pass.
fn next(run: &Run<'_>, n: usize, cost: usize, smallest: usize) -> usize {
    let settings = run.settings();
    if settings.particles.is_some() {
        return n;
    }
    let left = settings
        .budget
        .and_then(|budget| budget.checked_sub(run.evaluations()));
    let each = cost as f64 / n as f64;
    let fits = left.map(|left| left as f64 / each);
    match fits {
        // A doubled pass and one twice as large again.
        Some(fits) if fits < 6.0 * n as f64 => {
            let last = (SAFE * fits) as usize;
            // Beyond the plan, where a resumed run may go, passes double again.
            if last >= smallest { last } else { 2 * n }
        }
        _ => 2 * n,
    }
}

/// The mean of ln Z over passes and its sd. Passes are weighted by their sizes, since the variance
/// of each goes as 1/n. The sd is widened where the passes disagree by more than they claim
/// (Birge's ratio).
///
/// Passes of less than an eighth of the largest are left out. They would add next to nothing, and
/// the smaller a pass, the lower its ln Z, by half of its variance.
fn together(found: &[(f64, Pass)]) -> (f64, f64) {
    let largest = found.iter().map(|(n, _)| *n).fold(0.0, f64::max);
    let found = || found.iter().filter(|(n, _)| 8.0 * n >= largest);
    let total: f64 = found().map(|(n, _)| n).sum();
    let mean: f64 = found().map(|(n, pass)| n / total * pass.ln_z).sum();
    let var: f64 = found()
        .map(|(n, pass)| (n / total * pass.ln_sd).powi(2))
        .sum();
    let scattered = found().filter(|(_, pass)| pass.ln_sd > 0.0);
    let chi2: f64 = scattered
        .map(|(_, pass)| ((pass.ln_z - mean) / pass.ln_sd).powi(2))
        .sum();
    let freedom = (found().count() as f64 - 1.0).max(1.0);
    (mean, (var * (chi2 / freedom).max(1.0)).sqrt())
}
