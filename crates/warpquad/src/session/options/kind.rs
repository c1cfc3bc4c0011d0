//! Say what an option may be: the kind of its value, and the check that every front end makes.

use super::Setting;
use crate::error::Error;
use crate::session::suggest;

/// What an option may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A string that whoever uses it looks up; `warpquad list` shows the names of the family.
    Name {
        /// What to list.
        family: &'static str,
    },
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A file's name, relative to the problem file.
    Path,
    /// A list of strings.
    Texts,
    /// True or false.
    Flag,
    /// A whole number.
    Count {
        /// The smallest one allowed.
        least: usize,
        /// The largest one allowed: more would not fit in memory.
        most: usize,
    },
    /// A time limit: a finite number above 0.
    Seconds {
        /// The longest one allowed: a clock cannot count to much more.
        most: f64,
    },
    /// A finite number above 0.
    Positive,
    /// A variance: a finite number that is not negative.
    Variance,
    /// Two numbers, the lower one first; they may be infinite.
    Interval,
    /// A table whose fields are numbers or lists of numbers.
    Fields {
        /// The names of all fields.
        all: fn() -> Vec<&'static str>,
        /// The check of a field's numbers.
        check: fn(&str, &[f64]) -> crate::error::Result<()>,
    },
    /// Anything else, with its own check.
    Structure {
        /// What it is, with an example.
        wanted: &'static str,
        /// Its check.
        check: fn(&Setting) -> Result<(), Wrong>,
    },
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The way to the part that is wrong: names of fields, positions in lists; empty for the whole.
    pub inside: Vec<String>,
    /// Whether it is the part's name that is wrong.
    pub at_name: bool,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl Wrong {
    /// The whole is wrong.
    pub fn new(reason: impl Into<String>) -> Wrong {
        Wrong {
            inside: Vec::new(),
            at_name: false,
            reason: reason.into(),
        }
    }

    /// The same, of a part of that name.
    pub fn within(mut self, name: impl Into<String>) -> Wrong {
        self.inside.insert(0, name.into());
        self
    }

    fn at_name(mut self) -> Wrong {
        self.at_name = true;
        self
    }

    /// The reason, with the way to the part.
    pub fn full(&self) -> String {
        match self.inside.is_empty() {
            true => self.reason.clone(),
            false => format!("{}: {}", self.inside.join("."), self.reason),
        }
    }
}

type Checked = Result<(), Wrong>;

impl Kind {
    /// The kind's own name, in listings.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Name { .. } => "name",
            Kind::Word(_) => "word",
            Kind::Path => "path",
            Kind::Texts => "texts",
            Kind::Flag => "flag",
            Kind::Count { .. } => "count",
            Kind::Seconds { .. } => "seconds",
            Kind::Positive => "positive",
            Kind::Variance => "variance",
            Kind::Interval => "interval",
            Kind::Fields { .. } => "fields",
            Kind::Structure { .. } => "structure",
        }
    }

    /// Whether a flag may be given several times, each adding to what it says.
    pub fn repeats(&self) -> bool {
        matches!(self, Kind::Texts | Kind::Fields { .. })
    }

    /// Refuse a setting that is not of this kind.
    ///
    /// ```
    /// use warpquad::session::options::{Kind, Setting};
    /// let count = Kind::Count { least: 1, most: 1024 };
    /// let wrong = count.check(&Setting::Integer(0)).unwrap_err();
    /// assert_eq!(wrong.reason, "must be a whole number, 1 or more, got 0");
    /// let wrong = count.check(&Setting::Integer(2000)).unwrap_err();
    /// assert_eq!(wrong.reason, "must be at most 1024, got 2000");
    /// ```
    pub fn check(&self, setting: &Setting) -> Checked {
        match self {
            Kind::Name { .. } | Kind::Path => text(setting).map(|_| ()),
            Kind::Word(known) => word(setting, known),
            Kind::Texts => {
                let mut each = list(setting, "a list of strings")?.iter().enumerate();
                each.try_for_each(|(i, one)| match text(one) {
                    Ok(_) => Ok(()),
                    Err(wrong) => Err(wrong.within(i.to_string())),
                })
            }
            Kind::Flag => match setting {
                Setting::Flag(_) => Ok(()),
                other => {
                    let got = other.what();
                    Err(Wrong::new(format!("must be true or false, got {got}")))
                }
            },
            Kind::Count { least, most } => count(setting, *least, *most),
            Kind::Seconds { most } => match positive(setting)? {
                value if value <= *most => Ok(()),
                value => Err(Wrong::new(format!(
                    "must be at most {most} seconds, got {value}; leave it out for none"
                ))),
            },
            Kind::Positive => positive(setting).map(|_| ()),
            Kind::Variance => match number(setting)? {
                value if value.is_finite() && value >= 0.0 => Ok(()),
                value => Err(Wrong::new(format!(
                    "is a variance: it must be finite and must not be negative, got {value}"
                ))),
            },
            Kind::Interval => interval(setting),
            Kind::Fields { all, check } => fields(setting, &all(), *check),
            Kind::Structure { check, .. } => check(setting),
        }
    }

    /// The setting that a word of the command line means; it is not checked yet.
    pub fn of_text(&self, word: &str) -> Result<Setting, String> {
        let number = |text: &str, wanted: &str| {
            Setting::number_in(text).ok_or_else(|| format!("must be {wanted}, got '{text}'"))
        };
        match self {
            Kind::Name { .. } | Kind::Word(_) | Kind::Path => Ok(Setting::Text(word.into())),
            Kind::Texts => Ok(Setting::List(vec![Setting::Text(word.into())])),
            Kind::Flag => match word {
                "true" => Ok(Setting::Flag(true)),
                "false" => Ok(Setting::Flag(false)),
                other => Err(format!("must be true or false, got '{other}'")),
            },
            Kind::Count { .. } => number(word, "a whole number"),
            Kind::Seconds { .. } | Kind::Positive | Kind::Variance => number(word, "a number"),
            Kind::Interval => {
                let ends = word.split(',').map(|end| number(end, "two numbers LO,HI"));
                ends.collect::<Result<_, _>>().map(Setting::List)
            }
            Kind::Fields { .. } => {
                let (name, value) = word
                    .split_once('=')
                    .ok_or_else(|| format!("must be FIELD=VALUE, got '{word}'"))?;
                let numbers = value.split(',').map(|one| number(one, "a number"));
                let numbers = numbers.collect::<Result<Vec<_>, _>>();
                let mut numbers = numbers.map_err(|e| format!("{name}: {e}"))?;
                let value = match numbers.len() {
                    1 => numbers.remove(0),
                    _ => Setting::List(numbers),
                };
                Ok(Setting::Table(vec![(name.trim().into(), value)]))
            }
            Kind::Structure { wanted, .. } => {
                Setting::of_toml(word).map_err(|reason| format!("must be {wanted}: {reason}"))
            }
        }
    }

    /// What several flags say together: a list or a table grows, of all others the last one counts.
    pub fn together(&self, settings: impl IntoIterator<Item = Setting>) -> Option<Setting> {
        let join = |all: Setting, next: Setting| match (all, next) {
            (Setting::List(all), Setting::List(next)) => Setting::List([all, next].concat()),
            (Setting::Table(all), Setting::Table(next)) => {
                let kept = |(name, _): &(String, Setting)| next.iter().all(|(n, _)| n != name);
                let kept = all.into_iter().filter(kept).collect();
                Setting::Table([kept, next].concat())
            }
            (_, next) => next,
        };
        match self.repeats() {
            true => settings.into_iter().reduce(join),
            false => settings.into_iter().last(),
        }
    }
}

fn wrong_type(setting: &Setting, wanted: &str) -> Wrong {
    Wrong::new(format!("must be {wanted}, got {}", setting.what()))
}

fn text(setting: &Setting) -> Result<&str, Wrong> {
    match setting {
        Setting::Text(text) if !text.trim().is_empty() => Ok(text),
        Setting::Text(_) => Err(Wrong::new("must not be empty")),
        other => Err(wrong_type(other, "a string")),
    }
}

fn number(setting: &Setting) -> Result<f64, Wrong> {
    setting
        .number()
        .ok_or_else(|| wrong_type(setting, "a number"))
}

fn list<'a>(setting: &'a Setting, wanted: &str) -> Result<&'a [Setting], Wrong> {
    match setting {
        Setting::List(list) => Ok(list),
        other => Err(wrong_type(other, wanted)),
    }
}

fn word(setting: &Setting, known: &[&str]) -> Checked {
    match text(setting)? {
        word if known.contains(&word) => Ok(()),
        word => Err(Wrong::new(suggest::unknown(word, known, "choices"))),
    }
}

fn positive(setting: &Setting) -> Result<f64, Wrong> {
    match number(setting)? {
        value if value.is_finite() && value > 0.0 => Ok(value),
        value => Err(Wrong::new(format!(
            "must be positive and finite, got {value}"
        ))),
    }
}

fn count(setting: &Setting, least: usize, most: usize) -> Checked {
    let reason = match setting {
        Setting::Integer(integer) => match *integer {
            count if count < least as i128 => {
                format!("must be a whole number, {least} or more, got {count}")
            }
            count if count > most as i128 => format!("must be at most {most}, got {count}"),
            _ => return Ok(()),
        },
        Setting::Number(number) => format!("must be a whole number, got {number}"),
        other => return Err(wrong_type(other, "a whole number")),
    };
    Err(Wrong::new(reason))
}

fn interval(setting: &Setting) -> Checked {
    let wanted = "two numbers [lo, hi]";
    let ends = list(setting, wanted)?.iter().enumerate();
    let ends = ends.map(|(i, end)| number(end).map_err(|wrong| wrong.within(i.to_string())));
    let [lo, hi] = ends.collect::<Result<Vec<f64>, Wrong>>()?[..] else {
        return Err(Wrong::new(format!("must be {wanted}")));
    };
    match lo < hi {
        true => Ok(()),
        false => Err(Wrong::new(format!(
            "is empty: lo must be below hi, got [{lo}, {hi}]"
        ))),
    }
}

fn fields(
    setting: &Setting,
    names: &[&str],
    check: fn(&str, &[f64]) -> crate::error::Result<()>,
) -> Checked {
    let Setting::Table(fields) = setting else {
        return Err(wrong_type(setting, "a table of numbers"));
    };
    for (name, value) in fields {
        if !names.contains(&name.as_str()) {
            let hint = suggest::nearest(name, names)
                .map_or(String::new(), |near| format!("did you mean '{near}'? "));
            let listed = names.join(", ");
            let reason = format!("unknown field '{name}'; {hint}the fields are {listed}");
            return Err(Wrong::new(reason).at_name().within(name));
        }
        let wrong = |reason| Wrong::new(reason).within(name);
        let numbers = value
            .numbers()
            .ok_or_else(|| wrong_type(value, "a number or a list of numbers").within(name))?;
        if let Some(bad) = numbers.iter().find(|number| !number.is_finite()) {
            return Err(wrong(format!("must be finite, got {bad}")));
        }
        check(name, &numbers).map_err(|error| match error {
            Error::Spec { reason, .. } => wrong(reason),
            other => wrong(other.to_string()),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Kind = Kind::Fields {
        all: || vec!["width", "height"],
        check: |name, numbers| match (name, numbers.len()) {
            ("width", 2..) => Err(Error::spec(name, "must be one number")),
            _ => Ok(()),
        },
    };

    const COUNT: Kind = Kind::Count { least: 1, most: 9 };

    fn reason(kind: Kind, word: &str) -> String {
        let setting = match kind.of_text(word) {
            Ok(setting) => setting,
            Err(reason) => return reason,
        };
        kind.check(&setting)
            .map_or_else(|w| w.full(), |()| "fine".into())
    }

    #[test]
    fn words_of_the_command_line() {
        for (kind, word, said) in [
            (COUNT, "5", "fine"),
            (COUNT, "0", "must be a whole number, 1 or more, got 0"),
            (COUNT, "1.5", "must be a whole number, got 1.5"),
            (COUNT, "many", "must be a whole number, got 'many'"),
            (COUNT, "10", "must be at most 9, got 10"),
            (Kind::Seconds { most: 9.0 }, "0.5", "fine"),
            (
                Kind::Seconds { most: 9.0 },
                "10",
                "must be at most 9 seconds, got 10; leave it out for none",
            ),
            (Kind::Positive, "1e-3", "fine"),
            (
                Kind::Positive,
                "inf",
                "must be positive and finite, got inf",
            ),
            (Kind::Variance, "0", "fine"),
            (
                Kind::Variance,
                "-1",
                "is a variance: it must be finite and must not be negative, got -1",
            ),
            (Kind::Interval, "-inf,3", "fine"),
            (
                Kind::Interval,
                "3,-3",
                "is empty: lo must be below hi, got [3, -3]",
            ),
            (Kind::Interval, "3", "must be two numbers [lo, hi]"),
            (
                Kind::Word(&["stop", "skip"]),
                "skpi",
                "unknown name 'skpi'; did you mean 'skip'?",
            ),
            (Kind::Name { family: "warps" }, "", "must not be empty"),
            (SHAPE, "width=2", "fine"),
            (SHAPE, "width", "must be FIELD=VALUE, got 'width'"),
            (SHAPE, "width=inf", "width: must be finite, got inf"),
            (SHAPE, "height=1,2,3", "fine"),
            (SHAPE, "height=1,two", "height: must be a number, got 'two'"),
            (SHAPE, "width=1,2", "width: must be one number"),
        ] {
            assert_eq!(reason(kind, word), said, "{kind:?} {word}");
        }
    }

    #[test]
    fn an_unknown_field_gets_the_list() {
        let said = reason(SHAPE, "depth=3");
        assert!(said.contains("the fields are width, height"), "{said}");
        let said = reason(SHAPE, "widht=3");
        assert!(said.contains("did you mean 'width'?"), "{said}");
    }

    #[test]
    fn flags_add_up_where_they_may_be_repeated() {
        let words = ["width=1", "height=2", "width=3"];
        let all = SHAPE.together(words.map(|word| SHAPE.of_text(word).unwrap()));
        let [height, width] = [("height", 2), ("width", 3)]
            .map(|(name, value)| (name.to_string(), Setting::Integer(value)));
        assert_eq!(all, Some(Setting::Table(vec![height, width])));
        let count = COUNT;
        let last = count.together(["1", "2"].map(|word| count.of_text(word).unwrap()));
        assert_eq!(last, Some(Setting::Integer(2)));
    }
}
