//! The core's tests in one binary: oracles, properties, the paper's claims, bad input, layers.

mod another_prior;
mod audit;
mod auto;
mod axes;
mod bad_input;
mod circles;
mod common;
mod constraints;
mod derived;
mod doubt;
mod effects;
mod ensemble;
mod fit_gradients;
mod fitting;
mod frames;
mod layers;
mod nodes;
mod paper;
mod posterior;
mod properties;
mod prose;
mod warm;
mod warps;
