//! Add a warp, a kernel, an acquisition, a strategy and a baseline from outside the library.
//!
//! Every part is a value of a public trait. Nothing here is in a registry, and the session of
//! `tests/session.rs` runs with all of them.

mod acquisition;
mod baseline;
#[cfg(doctest)]
mod book;
mod kernel;
mod strategy;
mod warp;

pub use acquisition::Farthest;
pub use baseline::Midpoints;
pub use kernel::Cauchy;
pub use strategy::OneFit;
pub use warp::Exponential;
