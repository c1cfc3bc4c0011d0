//! One table of options, from which problem files, journals, flags, Python's keywords and the guide
//! are made.
//!
//! To add an option, write its entry in `table.rs` and use its value: `problem.method.nodes` is the
//! value of the entry `nodes` of the section `[method]`.
//!
//! ```
//! use warpquad::session::options;
//! let nodes = options::by_keyword("nodes").unwrap();
//! assert_eq!((nodes.field().as_str(), nodes.flag().as_str()), ("method.nodes", "--nodes"));
//! ```

mod field;
mod journal;
mod kind;
mod listing;
mod rules;
mod setting;
mod table;

pub use field::Fields;
pub use kind::{Kind, Wrong};
pub use listing::listing;
pub use rules::Case;
pub use setting::Setting;
pub use table::{Budget, IntegrandSettings, MethodSpec, Restriction, TABLE};

pub(super) use journal::{agreed, restore};
pub(super) use rules::{allow, allow_all};

use super::spec::Problem;
use field::Field;

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in its section of the problem file.
    pub name: &'static str,
    /// Its name on the command line, without the dashes, and in Python.
    pub keyword: &'static str,
    /// The section of the problem file.
    pub section: Section,
    /// What it may be.
    pub kind: Kind,
    /// What stands for its value in help texts.
    pub value: &'static str,
    /// What holds if it is not given; not used where the option has a default.
    pub unset: &'static str,
    /// Where the journal's first line keeps it; then it must agree on resuming.
    pub kept: Kept,
    /// Who takes it.
    pub reach: Reach,
    /// Where it is refused, and why; see [`Case`].
    pub refused: &'static [(Case, &'static str)],
    /// One line that says what it is.
    pub help: &'static str,
    /// What a problem says; `None` if nothing.
    pub get: fn(&Problem) -> Option<Setting>,
    /// Make a problem say this; whether the setting goes with the option's type.
    pub set: fn(&mut Problem, &Setting) -> bool,
    /// Make a problem say nothing of it.
    pub clear: fn(&mut Problem),
}

/// The columns that most options share.
const PLAIN: Entry = Entry {
    name: "",
    keyword: "",
    section: Section::Top,
    kind: Kind::Positive,
    value: "VALUE",
    unset: "nothing",
    kept: Kept::Nowhere,
    reach: Reach::Everybody,
    refused: &[],
    help: "",
    get: |_| None,
    set: |_, _| false,
    clear: |_| {},
};

/// A section of the problem file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// `[integrand]`
    Integrand,
    /// `[prior]`
    Prior,
    /// `[method]`
    Method,
    /// `[budget]`
    Budget,
    /// The top of the file: an option that is a section of its own.
    Top,
}

impl Section {
    /// All sections, in the order of a problem file.
    pub const ALL: [Section; 5] = [
        Section::Top,
        Section::Integrand,
        Section::Prior,
        Section::Method,
        Section::Budget,
    ];

    /// Its name; empty for the top.
    pub fn name(self) -> &'static str {
        match self {
            Section::Integrand => "integrand",
            Section::Prior => "prior",
            Section::Method => "method",
            Section::Budget => "budget",
            Section::Top => "",
        }
    }

    /// Its options.
    pub fn options(self) -> impl Iterator<Item = &'static Entry> {
        TABLE.iter().filter(move |entry| entry.section == self)
    }
}

/// The part of the journal's first line that keeps an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// None: it may change when a run is gone on with.
    Nowhere,
    /// What is integrated.
    Problem,
    /// How it is integrated.
    Method,
}

/// Who takes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Problem files, flags and Python.
    Everybody,
    /// Problem files and flags: in Python the function is called by other means.
    Program,
    /// Problem files alone.
    File,
}

impl Entry {
    /// Its name from the top of the problem file, like `method.kernel`.
    pub fn field(&self) -> String {
        match self.section {
            Section::Top => self.name.to_string(),
            section => format!("{}.{}", section.name(), self.name),
        }
    }

    /// Its flag, like `--log-z-sd`.
    pub fn flag(&self) -> String {
        format!("--{}", self.keyword.replace('_', "-"))
    }

    /// What holds if nothing is said, if that is a value.
    pub fn default(&self) -> Option<Setting> {
        (self.get)(&Problem::blank())
    }

    /// Make a problem say this, if it is right.
    pub fn put(&self, problem: &mut Problem, setting: &Setting) -> Result<(), Wrong> {
        self.kind.check(setting)?;
        match (self.set)(problem, setting) {
            true => Ok(()),
            false => Err(Wrong::new("is of another kind than its field")),
        }
    }
}

/// The option of that name on the command line and in Python.
pub fn by_keyword(keyword: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.keyword == keyword)
}

#[cfg(test)]
mod tests;
