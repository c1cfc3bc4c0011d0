//! Carry a checked setting into the field of a Rust struct, and back.

use super::Setting;
use crate::session::spec::{Failed, OnFailure};
use crate::warp::Range;
use std::collections::BTreeMap;

/// A type that a setting is kept as.
pub trait Typed: Sized {
    /// The setting that says this.
    fn write(&self) -> Setting;

    /// What a setting says; `None` if its kind does not go with this type.
    fn read(setting: &Setting) -> Option<Self>;
}

/// The field of an option: a value, or a value that may be left to somebody else.
pub trait Field: Sized {
    /// The setting that says this; `None` if nothing was said.
    fn get(&self) -> Option<Setting>;

    /// What a setting says; `None` if its kind does not go with this type.
    fn set(setting: &Setting) -> Option<Self>;
}

impl<T: Typed> Field for Option<T> {
    fn get(&self) -> Option<Setting> {
        self.as_ref().map(T::write)
    }

    fn set(setting: &Setting) -> Option<Self> {
        T::read(setting).map(Some)
    }
}

/// A type with a value of its own where nothing is said.
macro_rules! always_there {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn get(&self) -> Option<Setting> {
                Some(self.write())
            }

            fn set(setting: &Setting) -> Option<Self> {
                Typed::read(setting)
            }
        }
    )*};
}
always_there!(usize, f64, String, Range, OnFailure, Vec<String>);

impl Typed for usize {
    fn write(&self) -> Setting {
        Setting::Integer(*self as i128)
    }

    fn read(setting: &Setting) -> Option<usize> {
        match setting {
            Setting::Integer(integer) => usize::try_from(*integer).ok(),
            _ => None,
        }
    }
}

impl Typed for f64 {
    fn write(&self) -> Setting {
        Setting::Number(*self)
    }

    fn read(setting: &Setting) -> Option<f64> {
        setting.number()
    }
}

impl Typed for bool {
    fn write(&self) -> Setting {
        Setting::Flag(*self)
    }

    fn read(setting: &Setting) -> Option<bool> {
        match setting {
            Setting::Flag(flag) => Some(*flag),
            _ => None,
        }
    }
}

impl Typed for String {
    fn write(&self) -> Setting {
        Setting::Text(self.clone())
    }

    fn read(setting: &Setting) -> Option<String> {
        match setting {
            Setting::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Typed for Vec<String> {
    fn write(&self) -> Setting {
        Setting::List(self.iter().map(Typed::write).collect())
    }

    fn read(setting: &Setting) -> Option<Vec<String>> {
        match setting {
            Setting::List(list) => list.iter().map(Typed::read).collect(),
            _ => None,
        }
    }
}

/// The numbers of named fields.
pub type Fields = BTreeMap<String, Vec<f64>>;

impl Typed for Fields {
    fn write(&self) -> Setting {
        let written = |numbers: &Vec<f64>| match &numbers[..] {
            [number] => number.write(),
            several => Setting::List(several.iter().map(Typed::write).collect()),
        };
        let fields = self.iter();
        Setting::Table(fields.map(|(k, v)| (k.clone(), written(v))).collect())
    }

    fn read(setting: &Setting) -> Option<Fields> {
        let Setting::Table(fields) = setting else {
            return None;
        };
        let field = |(name, numbers): &(String, Setting)| Some((name.clone(), numbers.numbers()?));
        fields.iter().map(field).collect()
    }
}

/// Of a structure whoever uses it makes what it needs.
impl Typed for Setting {
    fn write(&self) -> Setting {
        self.clone()
    }

    fn read(setting: &Setting) -> Option<Setting> {
        Some(setting.clone())
    }
}

impl Typed for Range {
    fn write(&self) -> Setting {
        Setting::List(vec![self.lo.write(), self.hi.write()])
    }

    fn read(setting: &Setting) -> Option<Range> {
        match setting {
            Setting::List(ends) => match &ends[..] {
                [lo, hi] => Some(Range {
                    lo: lo.number()?,
                    hi: hi.number()?,
                }),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Typed for Failed {
    fn write(&self) -> Setting {
        Setting::Text(self.name().to_string())
    }

    fn read(setting: &Setting) -> Option<Failed> {
        match setting {
            Setting::Text(text) => Failed::ALL.into_iter().find(|one| one.name() == text),
            _ => None,
        }
    }
}

impl Typed for OnFailure {
    fn write(&self) -> Setting {
        Setting::Text(self.name().to_string())
    }

    fn read(setting: &Setting) -> Option<OnFailure> {
        match setting {
            Setting::Text(text) => OnFailure::ALL.into_iter().find(|one| one.name() == text),
            _ => None,
        }
    }
}
