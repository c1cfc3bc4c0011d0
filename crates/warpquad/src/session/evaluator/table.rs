//! Read evaluations that exist already from a CSV file.

use super::Answer;
use crate::data::Value;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::session::arguments::Arguments;
use csv::{Position, ReaderBuilder, StringRecord, Trim};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What the column of the values may be called.
const VALUES: [&str; 2] = ["log_f", "f"];

/// The points and values of a CSV file with a header.
///
/// Columns are found by name: one for each of `names`, in any order, and one of `log_f` or `f`;
/// others are ignored, and so are lines that begin with `#`. `-inf` in `log_f` is f = 0.
pub fn read(path: &Path, names: &[String]) -> Result<(Points, Vec<Value>)> {
    read_if(path, &names.to_vec().into(), |_, _| Ok(()))
}

/// The same, where `judge` refuses rows, which the error names by their line. A column of a fixed
/// number is not needed, but if there is one it has that number.
pub(crate) fn read_if(
    path: &Path,
    arguments: &Arguments,
    judge: impl Fn(&[f64], Value) -> std::result::Result<(), String>,
) -> Result<(Points, Vec<Value>)> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| wrong(format!("cannot read {shown}: {e}")))?;
    parse_if(file, arguments, judge).map_err(|error| match error {
        Error::Spec { field, reason, .. } => Error::spec(field, format!("{shown}: {reason}")),
        other => other,
    })
}

/// The same from text that is open already.
///
/// ```
/// use warpquad::{Value, session::evaluator::table};
/// let text = "y, log_f, x\n2, -1.5, 1\n4, -inf, 3\n";
/// let (points, values) = table::parse(text.as_bytes(), &["x".into(), "y".into()])?;
/// assert_eq!(points.row(1), &[3.0, 4.0]);
/// assert_eq!(values, [Value::Log(-1.5), Value::Log(f64::NEG_INFINITY)]);
/// # Ok::<(), warpquad::Error>(())
/// ```
pub fn parse(text: impl Read, names: &[String]) -> Result<(Points, Vec<Value>)> {
    parse_if(text, &names.to_vec().into(), |_, _| Ok(()))
}

fn parse_if(
    mut text: impl Read,
    arguments: &Arguments,
    judge: impl Fn(&[f64], Value) -> std::result::Result<(), String>,
) -> Result<(Points, Vec<Value>)> {
    let mut bytes = Vec::new();
    let unreadable = |e| wrong(format!("cannot read: {e}"));
    text.read_to_end(&mut bytes).map_err(unreadable)?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(&bytes[..]);
    let header = reader.headers().map_err(|e| malformed(&bytes, &e))?;
    let names = arguments.coordinates();
    let mut table = Table::new(&bytes, &names, header)?;
    let Some(column) = table.value else {
        let line = line(&bytes, header.position());
        return Err(missing(header, "`log_f` or `f`", line));
    };
    table.fixed = fixed(arguments, header, line(&bytes, header.position()))?;
    let (mut points, mut values) = (Points::empty(names.len())?, Vec::new());
    for row in reader.records() {
        let row = row.map_err(|e| malformed(&bytes, &e))?;
        let (point, value) = (table.point(&row)?, table.value(&row, column)?);
        table.check_fixed(&row)?;
        judge(&point, value)
            .map_err(|reason| wrong(format!("line {}: {reason}", line(&bytes, row.position()))))?;
        points.push(&point)?;
        values.push(value);
    }
    if values.is_empty() {
        return Err(wrong("there is a header but no evaluation below it"));
    }
    Ok((points, values))
}

/// The points of a CSV file with their values, where there are any: the column of the values may be
/// missing, or empty in some rows.
pub(crate) fn read_offered(
    path: &Path,
    arguments: &Arguments,
) -> Result<Vec<(Vec<f64>, Option<Value>)>> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {shown}: {e}"));
    let rows = bytes.and_then(|bytes| {
        offered(&bytes, arguments).map_err(|error| match error {
            Error::Spec { reason, .. } => format!("{shown}: {reason}"),
            other => other.to_string(),
        })
    });
    rows.map_err(|reason| Error::spec("integrand.initial", reason))
}

fn offered(bytes: &[u8], arguments: &Arguments) -> Result<Vec<(Vec<f64>, Option<Value>)>> {
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let header = reader.headers().map_err(|e| malformed(bytes, &e))?;
    let names = arguments.coordinates();
    let mut table = Table::new(bytes, &names, header)?;
    table.fixed = fixed(arguments, header, line(bytes, header.position()))?;
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| malformed(bytes, &e))?;
        table.check_fixed(&row)?;
        let is_there = |text: &str| !(text.is_empty() || text.eq_ignore_ascii_case("nan"));
        let column = table.value.filter(|(column, _)| is_there(&row[*column]));
        let value = column.map(|column| table.value(&row, column)).transpose()?;
        rows.push((table.point(&row)?, value));
    }
    match rows.is_empty() {
        true => Err(wrong("there is a header but no point below it")),
        false => Ok(rows),
    }
}

/// A text whose header has been understood.
struct Table<'a> {
    text: &'a [u8],
    /// Column and name of each parameter.
    parameters: Vec<(usize, &'a str)>,
    /// Column and name of each fixed number that has a column, and the number.
    fixed: Vec<((usize, &'a str), f64)>,
    /// Column and name of the value, if there is one.
    value: Option<(usize, &'static str)>,
    make: fn(f64) -> Value,
}

impl<'a> Table<'a> {
    fn new(text: &'a [u8], names: &'a [String], header: &StringRecord) -> Result<Table<'a>> {
        let line = line(text, header.position());
        let parameter = |name: &'a String| {
            let column = position(header, name, line)?;
            let column = column.ok_or_else(|| missing(header, &format!("`{name}`"), line))?;
            Ok((column, name.as_str()))
        };
        let parameters = names.iter().map(parameter).collect::<Result<_>>()?;
        // A parameter may itself be called f; then the value's column is log_f.
        let position = |name: &str| {
            let free = !names.iter().any(|parameter| parameter == name);
            if free {
                position(header, name, line)
            } else {
                Ok(None)
            }
        };
        let (value, make) = match (position("log_f")?, position("f")?) {
            (Some(log_f), None) => (Some((log_f, "log_f")), Value::Log as fn(f64) -> Value),
            (None, Some(f)) => (Some((f, "f")), Value::Linear as fn(f64) -> Value),
            (None, None) => (None, Value::Log as fn(f64) -> Value),
            (Some(_), Some(_)) => {
                return Err(wrong(format!(
                    "line {line}: columns `log_f` and `f` are both there: keep one of them"
                )));
            }
        };
        Ok(Table {
            text,
            parameters,
            fixed: Vec::new(),
            value,
            make,
        })
    }

    fn point(&self, row: &StringRecord) -> Result<Vec<f64>> {
        let coordinate = |&column: &(usize, &str)| match self.number(row, column)? {
            x if x.is_finite() => Ok(x),
            _ => Err(self.at(row, column, "a coordinate must be finite")),
        };
        self.parameters.iter().map(coordinate).collect()
    }

    /// Refuse a row that was evaluated with another number in place of a fixed one.
    fn check_fixed(&self, row: &StringRecord) -> Result<()> {
        for &(column, fixed) in &self.fixed {
            if self.number(row, column)? != fixed {
                let advice = format!("but it is fixed at {fixed}; leave the row out");
                return Err(self.at(row, column, &advice));
            }
        }
        Ok(())
    }

    fn value(&self, row: &StringRecord, column: (usize, &str)) -> Result<Value> {
        match Answer::from((self.make)(self.number(row, column)?)) {
            Answer::Value(value) | Answer::With(value, _) => Ok(value),
            Answer::Failure(_) => {
                let advice = "not a value of the integrand; leave failed evaluations out";
                Err(self.at(row, column, advice))
            }
        }
    }

    fn number(&self, row: &StringRecord, column: (usize, &str)) -> Result<f64> {
        let number = row[column.0].parse();
        number.map_err(|_| self.at(row, column, "not a number"))
    }

    fn at(&self, row: &StringRecord, (column, name): (usize, &str), what: &str) -> Error {
        let (line, got) = (line(self.text, row.position()), &row[column]);
        wrong(format!("line {line}, column `{name}`: got `{got}`, {what}"))
    }
}

/// The column of that name, which must not be there twice.
fn position(header: &StringRecord, name: &str, line: usize) -> Result<Option<usize>> {
    let mut columns = (0..header.len()).filter(|&i| &header[i] == name);
    let first = columns.next();
    if columns.next().is_some() {
        return Err(wrong(format!(
            "line {line}: column `{name}` is there twice"
        )));
    }
    Ok(first)
}

fn missing(header: &StringRecord, what: &str, line: usize) -> Error {
    let found: Vec<String> = header.iter().map(|name| format!("`{name}`")).collect();
    wrong(format!(
        "line {line}: no column {what}; the header, separated by commas, has {}",
        found.join(", ")
    ))
}

fn malformed(text: &[u8], error: &csv::Error) -> Error {
    use csv::ErrorKind::{UnequalLengths, Utf8};
    let line = line(text, error.position());
    match error.kind() {
        UnequalLengths {
            expected_len, len, ..
        } => wrong(format!(
            "line {line}: expected {expected_len} columns, got {len}"
        )),
        Utf8 { err, .. } => {
            let column = err.field() + 1;
            wrong(format!("line {line}, column {column}: not UTF-8 text"))
        }
        _ => wrong(error.to_string()),
    }
}

/// The line a row is on. The reader's own count is of where it began to look, before the empty
/// lines and the comments that it skipped.
fn line(text: &[u8], position: Option<&Position>) -> usize {
    let start = position.map_or(0, |position| position.byte() as usize);
    let mut at = start.min(text.len());
    if text[at..].starts_with("\u{feff}".as_bytes()) {
        at += "\u{feff}".len();
    }
    while let Some(skipped) = skipped(&text[at..]) {
        at += skipped;
    }
    1 + text[..at].iter().filter(|&&byte| byte == b'\n').count()
}

/// The length of what the reader skips here: a line's end or a comment.
fn skipped(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'\r' | b'\n' => Some(1),
        b'#' => text.iter().position(|&byte| byte == b'\n'),
        _ => None,
    }
}

/// The columns of fixed numbers, where a header has them. One named like a value is taken for the
/// value.
fn fixed<'a>(
    arguments: &'a Arguments,
    header: &StringRecord,
    line: usize,
) -> Result<Vec<((usize, &'a str), f64)>> {
    let mut found = Vec::new();
    for (name, value) in arguments.fixed().filter(|(name, _)| !VALUES.contains(name)) {
        if let Some(column) = position(header, name, line)? {
            found.push(((column, name), value));
        }
    }
    Ok(found)
}

fn wrong(reason: impl Into<String>) -> Error {
    Error::spec("integrand.table", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["x".into(), "y".into()]
    }

    fn error(text: &[u8]) -> String {
        parse(text, &names()).unwrap_err().to_string()
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "\u{feff}# made by hand\r\ny,\"a, b\",f,x\r\n1,no,-0.5,2\r\n3,no,0,4\r\n";
        let (points, values) = parse(text.as_bytes(), &names()).unwrap();
        assert_eq!(points.as_slice(), &[2.0, 1.0, 4.0, 3.0]);
        assert_eq!(values, [Value::Linear(-0.5), Value::Linear(0.0)]);
    }

    #[test]
    fn points_may_have_no_value() {
        let names: Arguments = names().into();
        let text = b"x,y,log_f\n1,2,\n3,4,-1\n5,6,nan\n";
        let rows = offered(text, &names).unwrap();
        let values: Vec<Option<Value>> = rows.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, [None, Some(Value::Log(-1.0)), None]);
        assert_eq!(
            offered(b"y,x\n1,2\n", &names).unwrap(),
            [(vec![2.0, 1.0], None)]
        );
        let error = offered(b"x,y\n1,two\n", &names).unwrap_err().to_string();
        assert!(error.contains("line 2, column `y`: got `two`"), "{error}");
    }

    #[test]
    fn a_parameter_may_be_called_f() {
        let text = "f,log_f\n1,-2\n".as_bytes();
        let (points, values) = parse(text, &["f".into()]).unwrap();
        assert_eq!(
            (points.row(0), values),
            (&[1.0][..], vec![Value::Log(-2.0)])
        );
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        for (text, words) in [
            (
                &b"x,y,log_f\n1,2,3\n1,two,3\n"[..],
                "line 3, column `y`: got `two`, not a number",
            ),
            (
                b"x,y,log_f\n1,inf,3\n",
                "line 2, column `y`: got `inf`, a coordinate must be finite",
            ),
            (
                b"x,y,log_f\n\n1,2,NaN\n",
                "line 3, column `log_f`: got `NaN`",
            ),
            (
                b"# a\r\n\r\nx,y,f\r\n# b\r\n1,2,3\r\n# c\r\n1,2,-inf",
                "line 7, column `f`: got `-inf`",
            ),
            (b"x,y,f\n1,2,\n", "line 2, column `f`: got ``, not a number"),
            (b"x,y,f\n1,2\n", "line 2: expected 3 columns, got 2"),
            (b"x,y,f\n1,2,\xff\n", "line 2, column 3: not UTF-8"),
            (
                b"x,f\n1,2\n",
                "no column `y`; the header, separated by commas, has `x`, `f`",
            ),
            (b"x,y,z\n1,2,3\n", "no column `log_f` or `f`"),
            (b"x,y,f,log_f\n1,2,3,4\n", "keep one of them"),
            (b"x,y,x,f\n1,2,3,4\n", "column `x` is there twice"),
            (b"x,y,f\n", "no evaluation"),
            (b"", "no column `x`"),
        ] {
            let error = error(text);
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_row_that_is_refused_is_named_by_its_line() {
        let judge = |x: &[f64], _| match x[0] < 2.0 {
            true => Ok(()),
            false => Err("too far".to_string()),
        };
        let text = &b"x,f\n1,1\n# far\n2,1\n"[..];
        let error = parse_if(text, &vec!["x".to_string()].into(), judge).unwrap_err();
        assert!(error.to_string().ends_with("line 4: too far"), "{error}");
    }

    #[test]
    fn a_fixed_number_needs_no_column_and_has_one_value() {
        let kind = crate::session::arguments::ArgumentKind::Fixed(2.0);
        let c = crate::session::arguments::Argument {
            name: "c".into(),
            kind,
        };
        let x = Arguments::from(vec!["x".to_string()]);
        let arguments = Arguments::new(x.iter().cloned().chain([c]).collect());
        let read = |text: &'static str| parse_if(text.as_bytes(), &arguments, |_, _| Ok(()));
        assert_eq!(read("x,f\n1,1\n").unwrap().0.as_slice(), &[1.0]);
        assert_eq!(read("c,x,f\n2.0,1,1\n").unwrap().0.as_slice(), &[1.0]);
        let error = read("c,x,f\n2,1,1\n3,1,1\n").unwrap_err().to_string();
        let words = "line 3, column `c`: got `3`, but it is fixed at 2; leave the row out";
        assert!(error.ends_with(words), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("no/such/table.csv"), &names()).unwrap_err();
        assert!(error.to_string().contains("cannot read no/such/table.csv"));
    }
}
