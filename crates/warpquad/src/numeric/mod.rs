//! The numerical ground: the only modules that name a numerical crate.

pub mod bivariate;
pub mod gauss;
pub mod linalg;
pub(crate) mod loops;
pub(crate) mod mixture;
pub mod optimize;
pub mod parallel;
pub mod quantile;
pub mod random;
pub mod sobol;
mod sobol_directions;
pub mod special;
pub mod stream;
pub mod vmath;
pub mod weights;
