//! Hold the points of a figure that a pointer can read.

use serde::Serialize;

/// One set of axes, in the picture's own units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Left, top, right and bottom.
    pub bounds: [i32; 4],
    /// Across, down, and the place of the label of each point.
    pub points: Vec<(i32, i32, usize)>,
}

/// What a pointer over a figure reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Hover {
    /// The sets of axes.
    pub panels: Vec<Panel>,
    /// A text for each thing that is shown, possibly in several panels.
    pub labels: Vec<String>,
}
