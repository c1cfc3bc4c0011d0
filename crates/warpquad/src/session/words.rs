//! Write a count with its noun.

/// A count with its noun, in the plural where it is one.
///
/// ```
/// use warpquad::session::count;
/// assert_eq!(count(1, "evaluation"), "1 evaluation");
/// assert_eq!(count(0, "evaluation"), "0 evaluations");
/// ```
pub fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// The same with the verb to be.
pub(super) fn count_is(n: usize, noun: &str) -> String {
    let verb = if n == 1 { "is" } else { "are" };
    format!("{} {verb}", count(n, noun))
}
