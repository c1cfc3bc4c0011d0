//! Propose where an absorber may be, from the likelihood of a single one on a grid.

use super::Problem;
use warpquad::Result;
use warpquad::numeric::random::Rng;
use warpquad::numeric::vmath;

/// Rows of the grid, of equal prior mass in log_nhi.
const ROWS: usize = 24;
/// Pixels of the spectrum to a cell.
const PIXELS_A_CELL: usize = 2;
/// The part of proposals that the prior makes, so that no place is out of reach.
const PRIOR: f64 = 0.1;

/// The log likelihood of one absorber on a grid of cells of equal prior mass.
#[derive(Debug)]
pub struct Guide {
    columns: usize,
    /// The largest value at the centres of a cell and its neighbours, so that a peak between
    /// centres is not passed over.
    ln_f: Vec<f64>,
}

/// A guide at one temperature: the density of a proposal relative to the prior, and how to draw
/// one.
#[derive(Debug)]
pub struct Tempered {
    columns: usize,
    density: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Guide {
    /// Evaluate the grid.
    pub fn new(problem: &Problem<'_>) -> Result<Guide> {
        let columns = problem.likelihood.len().div_ceil(PIXELS_A_CELL);
        let centre = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
        let mut ln_f = Vec::with_capacity(columns * ROWS);
        for row in 0..ROWS {
            let log_nhi = problem.coordinate(1, centre(row, ROWS));
            for column in 0..columns {
                let z = problem.coordinate(0, centre(column, columns));
                ln_f.push(problem.ln_f(&[z, log_nhi])?);
            }
        }
        let near = |i: usize, n: usize| i.saturating_sub(1)..(i + 2).min(n);
        let widened = (0..columns * ROWS).map(|cell| {
            let (row, column) = (cell / columns, cell % columns);
            let rows = near(row, ROWS).flat_map(|r| near(column, columns).map(move |c| (r, c)));
            rows.map(|(r, c)| ln_f[r * columns + c])
                .fold(f64::NEG_INFINITY, f64::max)
        });
        Ok(Guide {
            columns,
            ln_f: widened.collect(),
        })
    }

    /// Proposals proportional to f^beta.
    pub fn at(&self, beta: f64) -> Tempered {
        let top = self.ln_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut density: Vec<f64> = self.ln_f.iter().map(|f| beta * (f - top)).collect();
        vmath::exp(&mut density);
        let cells = density.len() as f64;
        let mean = density.iter().sum::<f64>() / cells;
        for p in &mut density {
            *p = PRIOR + (1.0 - PRIOR) * *p / mean;
        }
        let mut sum = 0.0;
        let cumulative = density.iter().map(|p| {
            sum += p / cells;
            sum
        });
        Tempered {
            columns: self.columns,
            cumulative: cumulative.collect(),
            density,
        }
    }
}

impl Tempered {
    /// A proposal: redshift and log_nhi, and ln of its density relative to the prior.
    pub fn draw(&self, problem: &Problem<'_>, rng: &mut Rng) -> ([f64; 2], f64) {
        let at = rng.uniform() * self.cumulative.last().copied().unwrap_or(1.0);
        let cell = self.cumulative.partition_point(|&c| c < at);
        let cell = cell.min(self.density.len() - 1);
        let (row, column) = (cell / self.columns, cell % self.columns);
        let z = problem.coordinate(0, (column as f64 + rng.uniform()) / self.columns as f64);
        let log_nhi = problem.coordinate(1, (row as f64 + rng.uniform()) / ROWS as f64);
        ([z, log_nhi], self.density[cell].ln())
    }

    /// ln of the density of proposing a given absorber, relative to the prior.
    pub fn ln_density(&self, problem: &Problem<'_>, x: [f64; 2]) -> f64 {
        let index = |d: usize, n: usize| ((problem.unit(d, x[d]) * n as f64) as usize).min(n - 1);
        self.density[index(1, ROWS) * self.columns + index(0, self.columns)].ln()
    }
}
