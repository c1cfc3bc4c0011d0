//! Fill the page of claims with numbers from the tables that the experiments wrote.
//!
//! The page's text stands in `claims.md`. A number stands there as a place in a table: the file,
//! what the row's cells are, and the column, as in `{{table2.csv data=LDA RMSE_mean}}`. Spaces in
//! names are written as underscores. So no number of the page is older than its table.

static TEMPLATE: &str = include_str!("claims.md");

/// What stands where a table has not been made.
const MISSING: &str = "(not run)";

/// The page, from files that are read by name.
pub fn filled(read: &dyn Fn(&str) -> Option<String>) -> String {
    fill(TEMPLATE, read)
}

fn fill(template: &str, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut parts = template.split("{{");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (place, rest) = part.split_once("}}").unwrap_or((part, ""));
        out.push_str(&cell(place, read).unwrap_or_else(|| MISSING.into()));
        out.push_str(rest);
    }
    out
}

/// The cell of a place.
fn cell(place: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut words = place.split_whitespace();
    let (file, column) = (words.next()?, words.next_back()?);
    let text = read(file)?;
    let split = |line: &str| -> Vec<String> {
        line.split(',').map(|cell| cell.replace(' ', "_")).collect()
    };
    let mut lines = text.lines();
    let header = split(lines.next()?);
    let at = |name: &str| header.iter().position(|cell| cell == name);
    let wanted: Option<Vec<(usize, &str)>> = words
        .map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((at(name)?, value))
        })
        .collect();
    let (wanted, column) = (wanted?, at(column)?);
    let fits = |row: &Vec<String>| wanted.iter().all(|(i, value)| row[*i] == *value);
    lines.map(split).find(fits).map(|row| row[column].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(file: &str) -> Option<String> {
        let text = "data,taken as,RMSE mean\nLDA,exact,162\nLDA,noisy,163\n";
        (file == "t.csv").then(|| text.to_string())
    }

    #[test]
    fn a_number_is_taken_from_its_table() {
        let page = fill("a {{t.csv data=LDA taken_as=noisy RMSE_mean}} b", &table);
        assert_eq!(page, "a 163 b");
    }

    #[test]
    fn what_is_not_there_is_said_to_be_missing() {
        for place in [
            "u.csv data=LDA RMSE_mean",
            "t.csv data=SVM RMSE_mean",
            "t.csv data=LDA x",
        ] {
            assert_eq!(fill(&format!("{{{{{place}}}}}"), &table), MISSING);
        }
    }

    /// Every number of the page stands in a committed table.
    #[test]
    fn the_page_has_all_its_numbers() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction/");
        let page = filled(&|file| std::fs::read_to_string(format!("{folder}{file}")).ok());
        assert!(!page.contains(MISSING), "{page}");
        assert!(!page.contains("{{") && !page.contains("}}"));
    }
}
