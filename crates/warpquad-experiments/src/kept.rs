//! Keep finished parts of an experiment in a CSV file, so that a stopped run continues.

use crate::experiment::{io, make_parent};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use warpquad::numeric::parallel;
use warpquad::{Error, Result};

/// Finished parts: rows of plain cells, of which the leading ones name the part.
///
/// The first line says which settings made them. A file of other settings is refused, never mixed
/// with. A row is flushed as it is added, and a row torn by a kill is dropped on opening.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    keys: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    rows: BTreeMap<Vec<String>, Vec<String>>,
}

impl Kept {
    /// Open the file, or begin it.
    pub fn open(path: &Path, settings: &str, columns: &[&str], keys: usize) -> Result<Kept> {
        make_parent(path)?;
        let head = format!("# {settings}\n{}\n", columns.join(","));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(io(path, error)),
        };
        let text = whole_lines(&text);
        let mut rows = BTreeMap::new();
        if !text.is_empty() {
            let body = text
                .strip_prefix(&head)
                .ok_or_else(|| other_settings(path, text, settings))?;
            for line in body.lines() {
                let cells: Vec<String> = line.split(',').map(str::to_string).collect();
                if cells.len() != columns.len() {
                    let reason = format!(
                        "'{line}' has {} cells, not {}; remove the file",
                        cells.len(),
                        columns.len()
                    );
                    return Err(Error::spec(path.display().to_string(), reason));
                }
                rows.insert(cells[..keys].to_vec(), cells[keys..].to_vec());
            }
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| io(path, error))?;
        let begin = |file: &mut File| {
            file.set_len(text.len() as u64)?;
            if text.is_empty() {
                file.write_all(head.as_bytes())
            } else {
                Ok(())
            }
        };
        begin(&mut file).map_err(|error| io(path, error))?;
        Ok(Kept {
            path: path.to_path_buf(),
            keys,
            state: Mutex::new(State { file, rows }),
        })
    }

    /// The cells after the keys, if that part is finished.
    pub fn get(&self, key: &[String]) -> Option<Vec<String>> {
        self.lock().rows.get(key).cloned()
    }

    /// All finished parts, key and cells, in the keys' order.
    pub fn rows(&self) -> Vec<(Vec<String>, Vec<String>)> {
        self.lock()
            .rows
            .iter()
            .map(|(key, cells)| (key.clone(), cells.clone()))
            .collect()
    }

    /// Keep a part. Cells hold neither commas nor line ends.
    pub fn add(&self, key: &[String], cells: &[String]) -> Result<()> {
        debug_assert_eq!(key.len(), self.keys);
        let line = format!("{},{}\n", key.join(","), cells.join(","));
        let mut state = self.lock();
        let written = state
            .file
            .write_all(line.as_bytes())
            .and_then(|()| state.file.flush());
        written.map_err(|error| io(&self.path, error))?;
        state.rows.insert(key.to_vec(), cells.to_vec());
        Ok(())
    }

    /// Finish the parts that are not kept yet, on all cores, and keep each as it is done. `done` is
    /// told how many are.
    pub fn complete(
        &self,
        parts: &[Vec<String>],
        work: impl Fn(&[String]) -> Result<Vec<String>> + Sync,
        done: impl Fn(usize, usize) + Sync,
    ) -> Result<()> {
        let open: Vec<&Vec<String>> = parts
            .iter()
            .filter(|part| self.get(part).is_none())
            .collect();
        let before = parts.len() - open.len();
        let count = Mutex::new(before);
        let outcomes = parallel::map(open.len(), |i| {
            let cells = work(open[i])?;
            self.add(open[i], &cells)?;
            let mut count = count
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            *count += 1;
            done(*count, parts.len());
            Ok(())
        });
        outcomes.into_iter().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic elsewhere leaves the map as it was: rows are inserted whole.
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The text up to its last line end.
fn whole_lines(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

fn other_settings(path: &Path, text: &str, settings: &str) -> Error {
    let first = text.lines().next().unwrap_or("").trim_start_matches("# ");
    let reason = format!(
        "its parts were made with '{first}', not '{settings}'; choose another --out, or remove the \
         file"
    );
    Error::spec(path.display().to_string(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn fresh(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("warpquad-kept-{name}-{}.csv", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn part(i: usize) -> Vec<String> {
        vec![i.to_string()]
    }

    #[test]
    fn a_stopped_run_continues_where_it_was() {
        let path = fresh("continue");
        let parts: Vec<Vec<String>> = (0..6).map(part).collect();
        let work = |key: &[String]| Ok(vec![format!("{}0", key[0])]);
        let first = Kept::open(&path, "s", &["i", "v"], 1).unwrap();
        first.complete(&parts[..4], work, |_, _| {}).unwrap();
        drop(first);
        // A kill in the middle of a line.
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"5,5").unwrap();
        let calls = AtomicUsize::new(0);
        let again = Kept::open(&path, "s", &["i", "v"], 1).unwrap();
        let counted = |key: &[String]| {
            calls.fetch_add(1, Ordering::Relaxed);
            work(key)
        };
        again.complete(&parts, counted, |_, _| {}).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        assert_eq!(
            Kept::open(&path, "s", &["i", "v"], 1).unwrap().rows().len(),
            6
        );
        assert_eq!(again.get(&part(5)), Some(vec!["50".into()]));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn parts_of_other_settings_are_refused() {
        let path = fresh("settings");
        Kept::open(&path, "quick", &["i", "v"], 1).unwrap();
        let error = Kept::open(&path, "full", &["i", "v"], 1)
            .unwrap_err()
            .to_string();
        assert!(error.contains("'quick', not 'full'"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn an_error_in_a_part_keeps_the_others() {
        let path = fresh("error");
        let parts: Vec<Vec<String>> = (0..4).map(part).collect();
        let kept = Kept::open(&path, "s", &["i", "v"], 1).unwrap();
        let work = |key: &[String]| match key[0].as_str() {
            "1" => Err(Error::spec("part", "bad")),
            _ => Ok(vec!["x".into()]),
        };
        assert!(kept.complete(&parts, work, |_, _| {}).is_err());
        assert_eq!(kept.rows().len(), 3);
        std::fs::remove_file(&path).unwrap();
    }
}
