//! Sum up the posterior of each parameter in a row of a table.

use crate::axis::quantile;
use crate::cut::cut;
use crate::figure::corner::column;
use crate::findings::Findings;

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The mean of the draws.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// Their median.
    pub median: f64,
    /// Their central 95 %.
    pub interval: [f64; 2],
    /// Where the largest f was seen.
    pub best: Option<f64>,
}

/// A row for each parameter, in their order; numbers are NaN where there are no draws. Those of a
/// periodic parameter are of the turn that shows its draws whole.
pub fn summary(found: &Findings) -> Vec<Row> {
    let found = &*cut(found);
    let best = found.best().map(|i| &found.evaluations[i].x);
    let row = |(k, name): (usize, &String)| {
        let mut draws = column(&found.draws, k);
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let squares: f64 = draws.iter().map(|x| (x - mean).powi(2)).sum();
        Row {
            name: name.clone(),
            mean,
            sd: (squares / (n - 1.0)).sqrt(),
            median: quantile(&draws, 0.5),
            interval: [0.025, 0.975].map(|p| quantile(&draws, p)),
            best: best.and_then(|x| x.get(k).copied()),
        }
    };
    found.names.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_moments_of_the_draws() {
        let mut found = Findings {
            names: vec!["a".into()],
            ..Findings::default()
        };
        found.draws = (0..=40).map(|i| vec![f64::from(i)]).collect();
        let row = &summary(&found)[0];
        assert_eq!(
            (row.mean, row.median, row.interval),
            (20.0, 20.0, [1.0, 39.0])
        );
        // The variance of 0..=40 is 41 * 42 / 12.
        assert!((row.sd - (41.0 * 42.0 / 12.0_f64).sqrt()).abs() < 1e-12);
        assert_eq!(row.best, None);
    }
}
