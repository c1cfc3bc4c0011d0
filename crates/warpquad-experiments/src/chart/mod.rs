//! Draw charts as SVG: lines, bands, dots, intervals and heat maps in a grid of panels.
//!
//! ```
//! use warpquad_experiments::chart::{Axis, Figure, Mark, Panel, Style};
//! let x: Vec<f64> = (0..=100).map(|i| 0.1 * i as f64).collect();
//! let wave = x.iter().map(|x| (*x, x.sin())).collect();
//! let panel = Panel::new("a wave", Axis::linear("x"), Axis::linear("sin x"))
//!     .with(Mark::Line { points: wave, style: Style::color(0).named("sine") });
//! let svg = Figure::new("A figure", 1).with(panel).svg();
//! assert!(svg.starts_with("<svg") && svg.contains("sine"));
//! ```

mod axis;
mod draw;

pub use axis::Axis;

/// Colours that the colour-blind tell apart (Okabe and Ito), black, and a ninth.
pub const COLORS: [&str; 9] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#222222",
    "#e7298a",
];

/// How a mark looks, and its name in the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Any SVG colour.
    pub color: String,
    /// The legend's text; marks of one name share one entry, and none without a name.
    pub name: Option<String>,
    /// Whether a line is dashed.
    pub dashed: bool,
    /// The width of a line, or the radius of a dot, in pixels.
    pub size: f64,
}

impl Style {
    /// The i-th colour of the palette, round and round.
    pub fn color(i: usize) -> Style {
        Style {
            color: COLORS[i % COLORS.len()].to_string(),
            name: None,
            dashed: false,
            size: 1.8,
        }
    }

    /// Black.
    pub fn black() -> Style {
        Style::color(7)
    }

    /// With a name for the legend.
    pub fn named(mut self, name: &str) -> Style {
        self.name = Some(name.to_string());
        self
    }

    /// As a dashed line.
    pub fn dashed(mut self) -> Style {
        self.dashed = true;
        self
    }

    /// With that width or radius.
    pub fn sized(mut self, size: f64) -> Style {
        self.size = size;
        self
    }
}

/// Something drawn in a panel. A point that is not finite breaks a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// x and y.
        points: Vec<(f64, f64)>,
        /// Its looks.
        style: Style,
    },
    /// The area between two curves.
    Band {
        /// x, lower and upper y.
        points: Vec<(f64, f64, f64)>,
        /// Its looks.
        style: Style,
    },
    /// Dots.
    Dots {
        /// x and y.
        points: Vec<(f64, f64)>,
        /// Their looks.
        style: Style,
    },
    /// Upright intervals, each with a dot in it.
    Intervals {
        /// x, lower end, dot and upper end.
        points: Vec<(f64, f64, f64, f64)>,
        /// Their looks.
        style: Style,
    },
    /// A grid of coloured cells over the axes' ranges, row by row from the lowest y.
    Heat {
        /// The ends of x and of y.
        ends: [(f64, f64); 2],
        /// Cells in a row.
        columns: usize,
        /// The values.
        values: Vec<f64>,
        /// The colour bar's text.
        name: String,
    },
}

/// One chart of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The upright axis.
    pub y: Axis,
    /// What is drawn, in this order.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// An empty chart.
    pub fn new(title: &str, x: Axis, y: Axis) -> Panel {
        Panel {
            title: title.to_string(),
            x,
            y,
            marks: Vec::new(),
        }
    }

    /// With one more mark.
    pub fn with(mut self, mark: Mark) -> Panel {
        self.marks.push(mark);
        self
    }
}

/// Charts in a grid under one title, with one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// Charts in a row.
    pub columns: usize,
    /// The charts, row by row.
    pub panels: Vec<Panel>,
    /// Width and height of a chart with its labels, in pixels.
    pub size: (f64, f64),
}

impl Figure {
    /// An empty figure with so many charts in a row.
    pub fn new(title: &str, columns: usize) -> Figure {
        Figure {
            title: title.to_string(),
            columns: columns.max(1),
            panels: Vec::new(),
            size: (400.0, 300.0),
        }
    }

    /// With one more chart.
    pub fn with(mut self, panel: Panel) -> Figure {
        self.panels.push(panel);
        self
    }

    /// With charts of that width and height.
    pub fn sized(mut self, width: f64, height: f64) -> Figure {
        self.size = (width, height);
        self
    }

    /// The picture.
    pub fn svg(&self) -> String {
        draw::figure(self)
    }
}
