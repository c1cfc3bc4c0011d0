//! The damped Lyman-alpha problem: figures 1 and 4, tables 3 and 4.
