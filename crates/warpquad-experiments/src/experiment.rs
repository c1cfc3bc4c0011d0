//! Say what an experiment is, what it is given, and what it hands back.

use crate::kept::Kept;
use crate::sources::Source;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use warpquad::{Error, Result};

/// One table or figure of the paper.
#[derive(Debug)]
pub struct Experiment {
    /// What users write.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    /// Run it: write files into `context.out` and hand back the paragraph.
    pub run: fn(&Context<'_>) -> Result<Finding>,
}

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// As much as the paper did.
    Full,
    /// Enough to see the direction, in minutes.
    Quick,
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Scope::Full => "full",
            Scope::Quick => "quick",
        })
    }
}

/// What an experiment is given.
pub struct Context<'a> {
    /// The folder of the data, with `hpolib` and `dla` in it.
    pub data: Option<PathBuf>,
    /// Where results go.
    pub out: PathBuf,
    /// How much to run.
    pub scope: Scope,
    /// How many spectra the absorber experiments take; their own choice if none is given.
    pub spectra: Option<usize>,
    /// When to begin no more runs on spectra; what is finished by then is reported.
    pub until: Option<Instant>,
    /// The seed of everything random.
    pub seed: u64,
    /// Told where a run is.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// What an experiment found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Markdown for its section: the paper's numbers beside ours, differences explained.
    pub paragraph: String,
    /// Names of the files written, in `context.out`.
    pub files: Vec<String>,
}

impl Context<'_> {
    /// Whether this is the small version.
    pub fn quick(&self) -> bool {
        self.scope == Scope::Quick
    }

    /// Whether the time for runs is over.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// `full` for a full run, `quick` for a quick one.
    pub fn choose<T>(&self, full: T, quick: T) -> T {
        if self.quick() { quick } else { full }
    }

    /// The path of a data file; without it, an error that says where to fetch it from.
    pub fn source(&self, source: &Source, file: &str) -> Result<PathBuf> {
        let Some(folder) = &self.data else {
            let reason = format!(
                "name the data's folder with --data or WARPQUAD_DATA. {}",
                source.advice(file)
            );
            return Err(Error::spec("data", reason));
        };
        let path = folder.join(source.folder).join(file);
        if path.is_file() {
            return Ok(path);
        }
        Err(Error::Io {
            path: path.display().to_string(),
            reason: format!("there is no such file. {}", source.advice(file)),
        })
    }

    /// Write a result file.
    pub fn write(&self, file: &str, text: &str) -> Result<String> {
        let path = self.out.join(file);
        make_parent(&path)?;
        std::fs::write(&path, text).map_err(|error| io(&path, error))?;
        Ok(file.to_string())
    }

    /// The finished parts of an experiment, kept in `parts/NAME.csv`: `keys` leading columns name a
    /// part.
    ///
    /// `settings` is everything else the parts depend on; scope and seed are added to it.
    pub fn kept(&self, name: &str, settings: &str, columns: &[&str], keys: usize) -> Result<Kept> {
        let path = self.out.join("parts").join(format!("{name}.csv"));
        let settings = format!("{}, seed {}; {settings}", self.scope, self.seed);
        Kept::open(&path, &settings, columns, keys)
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Context {{ data: {:?}, out: {:?}, {}, seed {} }}",
            self.data, self.out, self.scope, self.seed
        )
    }
}

/// Make the folder that a file goes into.
pub(crate) fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|error| io(parent, error)),
        None => Ok(()),
    }
}

/// A file system's error with the file's name.
pub(crate) fn io(path: &Path, error: std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
