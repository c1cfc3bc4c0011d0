//! Write what the readings came to: effects of the factors, every cell, and some readings by
//! halves of the spectra.

use super::chart;
use super::design::{ACQUISITIONS, Cell, FIRSTS, FITS, FLOORS, allowed, beside, factorial, varied};
use super::effects::{Effect, effect};
use super::runs::{EVALUATIONS, Run, Runs, is_for_tuning};
use crate::dla::subject::Subject;
use crate::table::{Table, digits, quantile};
use crate::{Context, Finding};
use warpquad::Result;

pub(super) fn write(
    context: &Context<'_>,
    runs: &Runs<'_>,
    design: &[&Subject],
    all: &[Subject],
) -> Result<Finding> {
    let mut cells = factorial();
    cells.extend(varied().into_iter().filter(|cell| cell.variation != "-"));
    let every = every(runs, &cells, design)?;
    let effects = main_effects(runs, design)?;
    let pairs = pairs(runs, design)?;
    let variations = variations(runs, design)?;
    let halves = halves(runs, all)?;
    let files = vec![
        context.write("readings.csv", &every.csv())?,
        context.write("readings_effects.csv", &effects.csv())?,
        context.write("readings_halves.csv", &halves.csv())?,
        context.write("readings.svg", &chart::picture(runs, design)?.svg())?,
    ];
    let paragraph = format!(
        "Ten spectra of the even-numbered half, spread over the table; one absorber, {EVALUATIONS} \
         evaluations, seed {}. Every combination of four factors that the paper's text leaves \
         open or that its claims are about, {} runs. A factor is a geometric mean over runs that \
         differ in nothing else, of errors between 0.001 and 10000; `+-` is what it is known to, \
         from its spread over spectra.\n\n{}\nMedian error where two factors meet, over the levels \
         of the others:\n\n{}\nVariations, one at a time, of five readings; factors are against the \
         reading itself:\n\n{}\nReadings on all {} spectra; `allowed` says whether the paper's text \
         allows it: a fit in f-space, points by uncertainty in f-space. A reading is chosen on \
         the even numbers and reported on the odd ones. `within` is the share of spectra within 0.1 nats, \
         `lost` that of errors above 5, `covered` how often the truth is within two sd of ln Z. \
         `log_p` and `mll` are the medians of the scores of tables 3 and 4:\n\n{}",
        context.seed,
        factorial().len() * design.len(),
        effects.markdown(),
        pairs.markdown(),
        variations.markdown(),
        all.len(),
        halves.markdown(),
    );
    Ok(Finding { paragraph, files })
}

fn errors(runs: &Runs<'_>, cells: &[Cell], subject: &Subject) -> Result<Vec<f64>> {
    let one = |cell: &Cell| Ok(runs.get(cell, subject)?.error);
    cells.iter().map(one).collect()
}

/// The errors of some cells, a list a spectrum.
pub(super) fn by_spectrum(
    runs: &Runs<'_>,
    cells: &[Cell],
    design: &[&Subject],
) -> Result<Vec<Vec<f64>>> {
    let one = |subject: &&Subject| errors(runs, cells, subject);
    design.iter().map(one).collect()
}

fn row(name: &str, level: &str, is_first: bool, effect: &Effect) -> Vec<String> {
    let (factor, known_to) = match is_first {
        true => (String::new(), String::new()),
        false => (digits(effect.factor, 2), digits(effect.known_to, 3)),
    };
    vec![
        name.into(),
        level.into(),
        digits(effect.median, 3),
        factor,
        known_to,
    ]
}

/// A factor of the design: its name, its levels, and how a cell takes one.
type Factor = (
    &'static str,
    &'static [&'static str],
    fn(Cell, &'static str) -> Cell,
);

const FACTORS: [Factor; 4] = [
    ("floor", &FLOORS, |cell, floor| Cell { floor, ..cell }),
    ("fit", &FITS, |cell, fit| Cell { fit, ..cell }),
    ("acquisition", &ACQUISITIONS, |cell, acquisition| Cell {
        acquisition,
        ..cell
    }),
    ("points first", &FIRSTS, |cell, first| Cell {
        first,
        ..cell
    }),
];

/// The cells of the factorial whose factors are at the first level, each factor in turn.
fn at_first(of: &Factor) -> Vec<Cell> {
    let first = |cell: &Cell| of.2(*cell, of.1[0]) == *cell;
    factorial().into_iter().filter(first).collect()
}

fn main_effects(runs: &Runs<'_>, design: &[&Subject]) -> Result<Table> {
    let mut table = Table::new(&[
        "factor",
        "level",
        "median error",
        "error is times",
        "+- times",
    ]);
    for factor in &FACTORS {
        let base = at_first(factor);
        let first = by_spectrum(runs, &base, design)?;
        for (i, level) in factor.1.iter().enumerate() {
            let cells: Vec<Cell> = base.iter().map(|cell| factor.2(*cell, level)).collect();
            let effect = effect(&by_spectrum(runs, &cells, design)?, &first);
            table.push(row(factor.0, level, i == 0, &effect));
        }
    }
    Ok(table)
}

fn pairs(runs: &Runs<'_>, design: &[&Subject]) -> Result<Table> {
    let mut header = vec!["floor"];
    header.extend(FITS);
    header.extend(ACQUISITIONS);
    header.extend(["8 first", "24 first"]);
    let mut table = Table::new(&header);
    for floor in FLOORS {
        let mut line = vec![floor.to_string()];
        let median = |wanted: &dyn Fn(&Cell) -> bool| -> Result<String> {
            let cells = factorial().into_iter();
            let cells: Vec<Cell> = cells.filter(|c| c.floor == floor && wanted(c)).collect();
            let all = by_spectrum(runs, &cells, design)?.concat();
            Ok(digits(quantile(&all, 0.5), 3))
        };
        for fit in FITS {
            line.push(median(&|cell| cell.fit == fit)?);
        }
        for acquisition in ACQUISITIONS {
            line.push(median(&|cell| cell.acquisition == acquisition)?);
        }
        for first in FIRSTS {
            line.push(median(&|cell| cell.first == first)?);
        }
        table.push(line);
    }
    Ok(table)
}

fn variations(runs: &Runs<'_>, design: &[&Subject]) -> Result<Table> {
    let mut table = Table::new(&[
        "reading",
        "variation",
        "median error",
        "error is times",
        "+- times",
    ]);
    for cell in varied() {
        let base = Cell {
            variation: "-",
            ..cell
        };
        let first = by_spectrum(runs, &[base], design)?;
        let effect = effect(&by_spectrum(runs, &[cell], design)?, &first);
        let name = cell.key()[..4].join(" ");
        table.push(row(&name, cell.variation, cell == base, &effect));
    }
    Ok(table)
}

/// The columns that sum up some runs.
const SUMMARY: [&str; 8] = [
    "runs",
    "median_error",
    "error_90",
    "within",
    "lost",
    "covered",
    "log_p",
    "mll",
];

fn summary(runs: &[Run]) -> Vec<String> {
    let column = |of: fn(&Run) -> f64| -> Vec<f64> {
        let low = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
        runs.iter().map(|run| low(of(run))).collect()
    };
    let share = |of: fn(&Run) -> bool| {
        let count = runs.iter().filter(|run| of(run)).count();
        digits(count as f64 / runs.len() as f64, 2)
    };
    let errors = column(|run| run.error);
    vec![
        runs.len().to_string(),
        digits(quantile(&errors, 0.5), 3),
        digits(quantile(&errors, 0.9), 3),
        share(|run| run.error < 0.1),
        share(|run| run.error > 5.0),
        share(|run| run.error < 2.0 * run.ln_sd),
        digits(quantile(&column(|run| run.ln_p), 0.5), 3),
        digits(quantile(&column(|run| run.mll), 0.5), 3),
    ]
}

fn every(runs: &Runs<'_>, cells: &[Cell], design: &[&Subject]) -> Result<Table> {
    let mut header = vec!["floor", "fit", "acquisition", "first", "variation"];
    header.extend(SUMMARY);
    let mut table = Table::new(&header);
    for cell in cells {
        let found: Result<Vec<Run>> = design.iter().map(|s| runs.get(cell, s)).collect();
        let mut line = cell.key().to_vec();
        line.extend(summary(&found?));
        table.push(line);
    }
    Ok(table)
}

fn halves(runs: &Runs<'_>, all: &[Subject]) -> Result<Table> {
    let allowed = allowed().into_iter().map(|cell| (cell, "yes"));
    let beside = beside().into_iter().map(|cell| (cell, "no"));
    let cells = allowed.chain(beside);
    let mut header = vec!["half", "allowed", "floor", "fit", "acquisition", "first"];
    header.extend(SUMMARY);
    let mut table = Table::new(&header);
    for (half, tuning) in [("even", true), ("odd", false)] {
        for (cell, is_allowed) in cells.clone() {
            let places = all.iter().enumerate();
            let mine = places.filter(|(place, _)| is_for_tuning(*place) == tuning);
            let found: Result<Vec<Run>> = mine.map(|(_, s)| runs.get(&cell, s)).collect();
            let mut line = vec![half.to_string(), is_allowed.to_string()];
            line.extend(cell.key()[..4].iter().cloned());
            line.extend(summary(&found?));
            table.push(line);
        }
    }
    Ok(table)
}
