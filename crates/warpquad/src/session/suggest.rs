//! Say what a misspelt name may have meant.

/// Say that `name` is unknown, with the nearest of `known` if one is near, or else all of them;
/// `what` they are, in the plural.
pub(super) fn unknown(name: &str, known: &[&str], what: &str) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown name '{name}'; did you mean '{near}'?"),
        None => format!("unknown name '{name}'; the {what} are {}", known.join(", ")),
    }
}

/// The name that was meant: one slip in three letters, or two swapped, is a slip; more is another
/// word.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|known| (distance(name, known), *known));
    let (edits, near) = near.min()?;
    let length = near.chars().count();
    (edits <= 1 + length / 3 && edits < length).then_some(near)
}

/// How many letters to insert, drop or change to get from `a` to `b` (Levenshtein's distance, row
/// by row).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_between_two_words() {
        assert_eq!(distance("kernel", "kernel"), 0);
        assert_eq!(distance("kernle", "kernel"), 2);
        assert_eq!(distance("", "warp"), 4);
    }

    #[test]
    fn a_slip_is_named_and_another_word_gets_the_list() {
        let known = ["kernel", "warp"];
        assert_eq!(nearest("kernle", &known), Some("kernel"));
        assert_eq!(nearest("budget", &known), None);
        let all = "unknown name 'budget'; the parts are kernel, warp";
        assert_eq!(unknown("budget", &known, "parts"), all);
    }
}
