//! Show what a run has found: figures as SVG and PNG, one self-contained page, and tables of draws.
//!
//! Everything that costs time is worked out once, into [`Findings`]; figures and pages are made
//! from that value alone. [`look`] keeps it beside a run's journal.
//!
//! ```
//! use warpquad::session::{Session, evaluator::Answer, spec::Problem};
//! use warpquad::Value;
//! use warpquad_report::{Findings, figures, page};
//! let text = "integrand.log = '-x^2'\nparameters.x.normal = [0, 1]";
//! let mut session = Session::new(Problem::parse(text)?, text, 0)?;
//! for _ in 0..10 {
//!     let task = session.ask()?;
//!     session.tell(task.id, Answer::Value(Value::Log(-task.x[0].powi(2))), 0.0)?;
//! }
//! let found = Findings::of(&mut session, "evaluations")?;
//! assert!(figures(&found, None)?.iter().any(|figure| figure.name == "corner"));
//! assert!(page(&found, "a run", None)?.starts_with("<!doctype html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod axis;
mod comparison;
mod cut;
mod density;
mod figure;
mod findings;
mod kept;
mod page;
#[cfg(feature = "png")]
mod png;
mod summary;
pub mod table;
mod under_way;
mod words;

pub use comparison::comparison;
pub use cut::turn;
pub use figure::{Figure, Hover, Panel};
pub use findings::{DRAWS, DRAWS_SEED, Evaluated, Failed, Findings, Kind, LeftOut, Step, Trust};
pub use kept::{FILE, look};
pub use page::page;
#[cfg(feature = "png")]
pub use png::png;
pub use summary::{Row, summary};

use warpquad::Result;

/// Every figure that there is something to show in; the corner plot of the named parameters.
pub fn figures(found: &Findings, parameters: Option<&[String]>) -> Result<Vec<Figure>> {
    let mut out = Vec::new();
    out.extend(figure::convergence::draw(found)?);
    if !found.evaluations.is_empty() {
        out.push(corner(found, parameters)?);
    }
    if let Some(trust) = &found.trust {
        out.extend(figure::left_out::draw(trust)?);
        out.extend(figure::calibration::draw(trust)?);
    }
    out.extend(figure::models::draw(found)?);
    out.extend(figure::failures::draw(found)?);
    out.extend(figure::time::draw(found)?);
    Ok(out)
}

/// The corner plot of the named parameters, or of all.
pub fn corner(found: &Findings, parameters: Option<&[String]>) -> Result<Figure> {
    let found = cut::cut(found);
    let shown = figure::corner::chosen(&found, parameters)?;
    figure::corner::draw(&found, &shown)
}
