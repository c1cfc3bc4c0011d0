//! Name the readings of the paper's method that are compared: what it leaves open, as factors.

use warpquad::Result;
use warpquad::engine::{Method, Plan, Reading};
use warpquad::fit::Space;
use warpquad::measure::Chart;

/// One reading: a level of each factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// How far below the largest value g is floored, in nats.
    pub floor: &'static str,
    /// What the fit maximises, one of [`FITS`].
    pub fit: &'static str,
    /// The acquisition's name.
    pub acquisition: &'static str,
    /// How many space-filling points a run begins with.
    pub first: &'static str,
    /// What else differs from the paper's method, one of [`VARIATIONS`].
    pub variation: &'static str,
}

/// The levels of each factor; the first is the literal reading's.
pub const FLOORS: [&str; 4] = ["none", "100", "30", "10"];
/// What the fit maximises: the likelihood in f-space within the limits that the library gives it,
/// the same without them, that in g-space, and the left-out densities of f.
pub const FITS: [&str; 4] = ["f", "f-free", "g", "f-loo"];
/// Where to look next.
pub const ACQUISITIONS: [&str; 3] = ["uncertainty", "uncertainty-prior", "information-gain"];
/// How many space-filling points a run begins with; eight are the library's.
pub const FIRSTS: [&str; 2] = ["8", "24"];
/// What is varied one at a time: nothing; the process in the unit cube, where the prior is uniform;
/// a fit from all starts at every evaluation; a noise on g that is not there.
pub const VARIATIONS: [&str; 4] = ["-", "unit cube", "refits", "noise"];

/// The variance of that noise: a tenth of a nat is its sd.
const NOISE: f64 = 0.01;

/// The readings that variations are added to: floor, fit, acquisition and points first.
const VARIED: [[&str; 4]; 5] = [
    ["none", "f", "uncertainty", "8"],
    ["30", "f", "uncertainty", "24"],
    ["30", "f-free", "uncertainty", "24"],
    ["30", "f-loo", "uncertainty", "24"],
    ["100", "f-free", "uncertainty-prior", "8"],
];

impl Cell {
    /// The paper's words as they stand.
    pub const LITERAL: Cell = Cell {
        floor: "none",
        fit: "f",
        acquisition: "uncertainty",
        first: "8",
        variation: "-",
    };

    /// The method of this reading.
    pub fn method(&self) -> Result<Method> {
        let mut method = Method::by_name("mmlt-literal")?;
        let mut reading = Reading {
            floor_nats: self.floor.parse().ok(),
            confined: self.fit != "f-free",
            initial_points: self.first.parse().ok().filter(|first| *first != 8),
            ..Reading::default()
        };
        method.space = match self.fit {
            "f-free" => Space::F,
            name => Space::by_name(name)?,
        };
        method.acquisition = self.acquisition.into();
        match self.variation {
            "unit cube" => method.coordinates = Chart::Unit,
            "refits" => method.refit_every = 1,
            "noise" => reading.nugget = NOISE,
            _ => {}
        }
        method.plan = Plan::Published(reading);
        Ok(method)
    }

    /// The cells that name it in a file of parts.
    pub fn key(&self) -> [String; 5] {
        let Cell {
            floor,
            fit,
            acquisition,
            first,
            variation,
        } = *self;
        [floor, fit, acquisition, first, variation].map(str::to_string)
    }
}

/// Every combination of the first four factors.
pub fn factorial() -> Vec<Cell> {
    let mut out = Vec::new();
    for floor in FLOORS {
        for fit in FITS {
            for acquisition in ACQUISITIONS {
                out.extend(FIRSTS.map(|first| plain([floor, fit, acquisition, first])));
            }
        }
    }
    out
}

/// The variations of a few readings, each beside the reading itself.
pub fn varied() -> Vec<Cell> {
    let cells = VARIED.iter().flat_map(|&levels| {
        VARIATIONS.map(|variation| Cell {
            variation,
            ..plain(levels)
        })
    });
    cells.collect()
}

/// The readings of the paper's text that are run on all spectra: fits in f-space, points chosen by
/// uncertainty in f-space, with and without pi^2. The literal one is the first; the others did best
/// in the factorial design.
pub fn allowed() -> Vec<Cell> {
    let levels = [
        ["none", "f", "uncertainty", "8"],
        ["none", "f-free", "uncertainty-prior", "24"],
        ["100", "f-free", "uncertainty-prior", "8"],
        ["100", "f-free", "uncertainty-prior", "24"],
    ];
    levels.map(plain).to_vec()
}

/// The readings that the text does not allow and that are run beside them.
pub fn beside() -> Vec<Cell> {
    let levels = [
        ["30", "g", "uncertainty-prior", "24"],
        ["30", "g", "information-gain", "24"],
        ["none", "f-loo", "uncertainty", "24"],
        ["none", "f-loo", "uncertainty-prior", "24"],
        ["100", "f-loo", "uncertainty-prior", "8"],
        ["100", "f-loo", "uncertainty-prior", "24"],
    ];
    levels.map(plain).to_vec()
}

pub(super) fn plain([floor, fit, acquisition, first]: [&'static str; 4]) -> Cell {
    Cell {
        floor,
        fit,
        acquisition,
        first,
        variation: "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_reading_is_the_method_of_that_name() {
        let literal = Method::by_name("mmlt-literal").unwrap();
        assert_eq!(Cell::LITERAL.method().unwrap(), literal);
        assert!(factorial().contains(&Cell::LITERAL));
    }

    #[test]
    fn no_two_readings_are_one_method() {
        let mut all = factorial();
        all.extend(varied().into_iter().filter(|cell| cell.variation != "-"));
        assert_eq!(all.len(), 96 + 15);
        let methods: Vec<Method> = all.iter().map(|cell| cell.method().unwrap()).collect();
        for (i, method) in methods.iter().enumerate() {
            assert!(!methods[..i].contains(method), "{:?}", all[i]);
        }
    }
}
