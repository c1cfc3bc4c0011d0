//! Lay out rows as CSV and as a Markdown table.

/// A table: a header and rows of as many cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells without commas or line ends.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(header: &[&str]) -> Table {
        Table {
            header: header.iter().map(|name| name.to_string()).collect(),
            rows: Vec::new(),
        }
    }

    /// Add a row.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// As a CSV file.
    ///
    /// ```
    /// use warpquad_experiments::table::Table;
    /// let mut table = Table::new(&["warp", "m"]);
    /// table.push(vec!["log".into(), "1.5".into()]);
    /// assert_eq!(table.csv(), "warp,m\nlog,1.5\n");
    /// assert_eq!(table.markdown(), "| warp | m |\n| --- | --- |\n| log | 1.5 |\n");
    /// ```
    pub fn csv(&self) -> String {
        let lines = std::iter::once(&self.header).chain(&self.rows);
        lines.map(|row| row.join(",") + "\n").collect()
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule = vec!["---".to_string(); self.header.len()];
        let head = line(&self.header) + &line(&rule);
        head + &self.rows.iter().map(line).collect::<String>()
    }
}

/// A number with so many significant digits, with an exponent where it is very large or small.
///
/// ```
/// use warpquad_experiments::table::digits;
/// assert_eq!(digits(0.034567, 3), "0.0346");
/// assert_eq!(digits(-1.234e10, 2), "-1.2e10");
/// assert_eq!(digits(153.2, 3), "153");
/// ```
pub fn digits(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..6).contains(&exponent) {
        return format!("{x:.*e}", digits.saturating_sub(1));
    }
    let after = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{x:.after$}")
}

/// The mean of a sample.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// A quantile of a sample, linear between order statistics; NaN for an empty one.
///
/// ```
/// use warpquad_experiments::table::quantile;
/// assert_eq!(quantile(&[3.0, 1.0, 2.0, 4.0], 0.5), 2.5);
/// ```
pub fn quantile(sample: &[f64], p: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = p * sorted.len().saturating_sub(1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) if low != high => a + (at - low as f64) * (b - a),
        (Some(a), _) => *a,
        _ => f64::NAN,
    }
}
