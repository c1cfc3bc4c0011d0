//! Run a method: a strategy decides, the engine keeps what was observed.
//!
//! ```text
//! Engine      observations, the strategy, the last fit: pure state
//!   Strategy  when to fit and how, where to look next, what to answer
//!     Published   one model, the paper's parts
//!     Auto        one file for each decision, all numbers in Tuning
//!   Ensemble  what is believed of f: weighted models; a published method has one
//! ```

mod another_prior;
mod answered;
mod answering;
mod ascent;
mod audit;
mod auto;
mod derived;
mod diagnosis;
mod fitter;
mod frame;
mod frames;
mod given;
mod history;
mod method;
mod outcome;
mod part;
mod peak;
mod posterior;
mod published;
mod range;
mod run;
mod strategy;
mod symmetry;
mod trace;

pub use another_prior::Looked;
pub use audit::Draw;
pub use auto::{Auto, Climb, Field, Tuning};
pub use derived::Interpolated;
pub use diagnosis::{Diagnosis, KindSays, LeftOut};
pub use frame::{Frame, TakenFrame};
pub use history::{History, LastFit};
pub use method::{AUTO, Entry, Method, Plan, REGISTRY, Reading};
pub use outcome::Outcome;
pub use peak::Peak;
pub use published::Published;
pub use run::{Engine, integrate};
pub use strategy::{Answer, Choice, Doubts, Kept, Strategy};
pub use symmetry::Image;
