//! Fuzz `csv_table` of targets.rs.
#![no_main]

#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::csv_table(bytes));
