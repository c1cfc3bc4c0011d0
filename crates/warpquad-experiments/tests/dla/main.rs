//! Test the damped Lyman-alpha problem: against reference values where the data folder is there,
//! and against dense algebra everywhere.

mod contest;
mod reference;
mod synthetic;
mod truths;
