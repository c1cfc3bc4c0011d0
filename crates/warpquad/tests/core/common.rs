//! Read oracle tables and say how far a number is from its oracle.

use std::collections::HashMap;

/// A row of an oracle table by column name.
pub type Row = HashMap<String, String>;

/// All rows of `data/oracle/{name}.csv`.
pub fn oracle(name: &str) -> Vec<Row> {
    let path = format!(
        "{}/../../data/oracle/{name}.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    lines
        .map(|line| {
            let cells = line.split(',');
            header
                .iter()
                .map(|h| h.to_string())
                .zip(cells.map(str::to_string))
                .collect()
        })
        .collect()
}

/// The number in a column.
pub fn number(row: &Row, column: &str) -> f64 {
    row[column]
        .parse()
        .unwrap_or_else(|e| panic!("{column} = {}: {e}", row[column]))
}

/// The numbers of a cell separated by ';'.
pub fn numbers(cell: &str) -> Vec<f64> {
    let cells = cell.split(';').filter(|c| !c.is_empty());
    cells.map(|c| c.parse().expect("a number")).collect()
}

/// |got - want| relative to |want|; absolute where want is 0.
pub fn relative(got: f64, want: f64) -> f64 {
    if want == 0.0 {
        got.abs()
    } else {
        ((got - want) / want).abs()
    }
}
