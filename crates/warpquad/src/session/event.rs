//! Say what can happen in a run: the lines of its journal, as JSON that a person can read.

mod fields;
mod read;
mod theta;
mod write;

pub use theta::theta_json;

use super::derived::Derived;
use super::initial::Initial;
use crate::belief::Theta;
use crate::data::Value;
use crate::engine::TakenFrame;
use serde_json::Value as Json;

/// The version of the journal's format.
pub const VERSION: u64 = 2;

/// Of a point drawn for the audit: ln of pi/q, and the draws before it that fell outside the prior.
pub type AuditDraw = (f64, usize);

/// One line of a journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The first line: what the run is about.
    Start {
        /// The program's version.
        program: String,
        /// What must agree on resuming: integrand, range, parameters and priors.
        problem: Json,
        /// The problem file's text, so that a run is complete in itself.
        text: String,
        /// The seed.
        seed: u64,
        /// The parts of the method by name.
        method: Json,
    },
    /// A point was asked for.
    Ask {
        /// Its number.
        id: u64,
        /// Where.
        x: Vec<f64>,
        /// How it was drawn, if it was for the audit.
        audit: Option<AuditDraw>,
    },
    /// A value came back.
    Tell {
        /// Whose.
        id: u64,
        /// f or ln f.
        value: Value,
        /// Numbers that the integrand derived beside it.
        derived: Derived,
        /// What the evaluation took.
        seconds: f64,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
    },
    /// What was known before was offered: what became of it.
    Initial(Initial),
    /// A value came that was not asked for.
    Given {
        /// Its number.
        id: u64,
        /// Where.
        x: Vec<f64>,
        /// f or ln f.
        value: Value,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
    },
    /// An evaluation failed.
    Fail {
        /// Whose.
        id: u64,
        /// What the integrand said.
        reason: String,
        /// What the evaluation took.
        seconds: f64,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
        /// Whether the point is given up; otherwise it is tried again.
        last: bool,
    },
    /// The hyperparameters were fitted to the first n values.
    Fit {
        /// In the frame of which peak, counted from 0.
        component: usize,
        /// How many values.
        n: usize,
        /// Whether from all starting points.
        full: bool,
        /// The hyperparameters.
        theta: Theta,
        /// Where the warp saturates, if that was chosen by the data.
        tau: Option<f64>,
    },
    /// A part of the integral is carried by another measure from now on.
    Frame(TakenFrame),
    /// The run stopped.
    Stop {
        /// Why.
        reason: String,
        /// Seconds of wall clock that the run had taken by then.
        at: f64,
        /// Seconds of them spent writing the journal.
        in_journal: f64,
    },
}

/// Say who reads a journal of another version: the program that wrote it.
pub(super) fn other_version(version: u64, program: &str) -> String {
    format!(
        "journal version {version}; this program reads {VERSION}. The run was written by warpquad \
         {program}: go on with that program, or start a new run"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Image, Peak};

    #[test]
    fn a_frame_comes_back_bit_for_bit() {
        let peak = Peak::new(
            vec![1.0 / 3.0, -2e-7],
            vec![vec![0.1], vec![1.0 / 7.0, 3e-9]],
        )
        .unwrap();
        let swap = vec![Image::new(vec![2, -1]).unwrap()];
        for (component, is_resumed) in [(0, false), (2, false), (0, true)] {
            let frame = Event::Frame(TakenFrame {
                n: 31,
                component,
                is_resumed,
                peak: peak.clone().with_images(swap.clone()).unwrap(),
            });
            let line = frame.to_json();
            // Of the first peak nothing is said, as in journals of runs that had one frame.
            assert_eq!(line.contains("component"), component > 0);
            assert_eq!(line.contains("resumed"), is_resumed);
            assert_eq!(Event::from_json(&line), Ok(frame));
        }
        let wrong = r#"{"event": "frame", "n": 3, "center": [0], "factor": [[-1]], "images": []}"#;
        assert!(
            Event::from_json(wrong)
                .unwrap_err()
                .contains("positive diagonal")
        );
    }

    #[test]
    fn what_was_derived_comes_back_bit_for_bit() {
        let tell = Event::Tell {
            id: 3,
            value: Value::Log(-1.0),
            derived: vec![("z".into(), 1.0 / 3.0), ("mass".into(), 1e-300)],
            seconds: 0.5,
            at: 1.0,
        };
        assert_eq!(Event::from_json(&tell.to_json()), Ok(tell));
    }

    #[test]
    fn what_was_given_comes_back_bit_for_bit() {
        let given = Event::Given {
            id: 3,
            x: vec![1.0 / 3.0, -2e-7],
            value: Value::Log(f64::NEG_INFINITY),
            at: 0.5,
        };
        assert_eq!(Event::from_json(&given.to_json()), Ok(given));
        let initial = Event::Initial(Initial {
            source: "points.csv".into(),
            offered: 9,
            taken: 3,
            outside: 2,
            repeated: 1,
            disputed: 1,
            thinned: 0,
            first: vec![vec![0.1, 0.2], vec![0.3, 1.0 / 7.0]],
        });
        assert_eq!(Event::from_json(&initial.to_json()), Ok(initial));
    }
}
