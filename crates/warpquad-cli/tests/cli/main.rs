//! Drive the real binary: what it prints, what it keeps, and what it survives.
#![cfg(unix)]

mod arguments;
mod ask_tell;
mod audit;
mod bad_input;
mod baselines;
mod budget;
mod common;
mod compare;
mod constraints;
mod disk;
mod examples;
mod failures;
mod help;
mod hostile;
mod interrupt;
mod journal;
mod kill;
mod look;
mod options;
mod page;
mod reach;
mod regress;
mod repair;
mod reproduce;
mod result;
mod sources;
mod umbridge;
mod warm;
mod watch;
