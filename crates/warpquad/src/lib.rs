//! Integrate expensive, constrained functions from few evaluations, and say how sure the answer is.
//!
//! The integrand f is known to lie in a range: a likelihood is positive, a rate is between 0 and 1.
//! A Gaussian process on the unconstrained g = xi^-1(f) is conditioned on what was observed, the
//! first two moments of f = xi(g) are matched, and any affine functional of that belief is normal.
//! Five steps, in the words and the order of Chai and Garnett (2019):
//!
//! ```
//! use warpquad::measure::Product;
//! use warpquad::{Data, Fit, Functional, Points, Process, Theta, Value, Warped, fit};
//! use warpquad::{kernel::Matern32, warp::Log};
//! # let rows: Vec<_> = (0..21).map(|i| vec![0.4 * i as f64 - 4.0]).collect();
//! # let points = Points::from_rows(&rows)?;
//! # let values = points.iter().map(|x| Value::Log(-9000.0 - 2.0 * x[0] * x[0])).collect();
//! # let measure = Product::uniform(&[(-4.0, 4.0)])?;
//! let process = Process::new(Matern32, Theta::constant(-1.0, 1.0, vec![1.0])?); // 1  p(g)
//! let data = Data::new(points, values)?;                                        // 2  D, f or ln f
//! let warp = data.warp(Log)?;                                                   //    in D's units
//! let process = fit(&process, &warp, &data, &Fit::default())?;                  //    theta
//! let posterior = process.condition(data.points(), &data.g(&warp)?)?;           // 3  p(g | D)
//! let belief = Warped::new(&warp, &posterior);                                  // 4  p(f | D)
//! let z = Functional::integral(&measure, 4096).apply(&belief)?;                 // 5  p(Z | D)
//!
//! let exact = (std::f64::consts::PI / 2.0).sqrt() / 8.0; // of exp(-2 x^2), times e^-9000
//! assert!((z.ln_mean() + 9000.0 - exact.ln()).abs() < 0.01);
//! # Ok::<(), warpquad::Error>(())
//! ```
//!
//! [`engine`] names the methods that go through these steps and chooses points by an
//! [`acquisition`]; [`session`] runs them against a program, a server or a formula, with a journal
//! that loses nothing.

pub mod acquisition;
pub mod baseline;
pub mod belief;
pub mod data;
pub mod engine;
pub mod error;
pub mod fit;
pub mod functional;
pub mod kernel;
pub mod measure;
pub mod numeric;
pub mod points;
pub mod regression;
pub mod session;
pub mod warp;

pub use belief::{
    Axes, Belief, Effects, Ensemble, Feasible, Linearised, Matching, Model, PosteriorProcess,
    Process, Theta, Warped,
};
pub use data::{Data, Value};
pub use error::{Error, Result};
pub use fit::{Fit, fit};
pub use functional::Functional;
pub use points::Points;
