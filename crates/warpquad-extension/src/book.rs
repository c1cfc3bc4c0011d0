//! The Rust of the guide: rustdoc runs the blocks of these pages as tests.

/// The first page.
#[doc = include_str!("../../../docs/guide/first-evidence.md")]
pub struct FirstEvidence;

/// A warp of one's own.
#[doc = include_str!("../../../docs/guide/your-own-warp.md")]
pub struct YourOwnWarp;

/// The README.
#[doc = include_str!("../../../README.md")]
pub struct Readme;
