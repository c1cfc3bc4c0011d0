//! Wrap the text of a Markdown page at 100 columns.

/// The widest line of prose.
const COLUMNS: usize = 100;

/// The page with its paragraphs and list items wrapped. Tables, headings, pictures, code and blank
/// lines stay as they are. A page that is wrapped already does not change.
pub fn wrap(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut in_fence = false;
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if in_fence || is_fence || is_kept(line) {
            finish(&mut paragraph, &mut lines);
            lines.push(line.to_string());
            in_fence ^= is_fence;
        } else {
            if line.starts_with("* ") {
                finish(&mut paragraph, &mut lines);
            }
            paragraph.extend(line.split_whitespace());
        }
    }
    finish(&mut paragraph, &mut lines);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Whether a line outside of fences is no prose.
fn is_kept(line: &str) -> bool {
    let starts = ["|", "#", "![", "    "];
    line.trim().is_empty() || starts.iter().any(|start| line.starts_with(start))
}

/// Put the words into lines.
fn finish(words: &mut Vec<&str>, lines: &mut Vec<String>) {
    let indent = if words.first() == Some(&"*") {
        "  "
    } else {
        ""
    };
    let mut line = String::new();
    for (i, unit) in units(words).into_iter().enumerate() {
        if i == 0 {
            line = unit;
        } else if line.chars().count() + 1 + unit.chars().count() <= COLUMNS {
            line.push(' ');
            line.push_str(&unit);
        } else {
            lines.push(std::mem::take(&mut line));
            line = format!("{indent}{unit}");
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    words.clear();
}

/// The words, each with those after it that would begin a list or a heading on a line of their own.
fn units(words: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        match out.last_mut() {
            Some(last) if begins_a_block(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => out.push(word.to_string()),
        }
    }
    out
}

fn begins_a_block(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    ["*", "-", "+", "|"].contains(&word)
        || word.starts_with('#')
        || word.starts_with("![")
        || word.strip_suffix('.').is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_the_rest_stays() {
        let words = "word ".repeat(30);
        let long = words.trim_end();
        let row = format!("| {} |", "cell ".repeat(30));
        let page = format!("# Title\n\n{long}\n\n{row}\n\n* {long}\n* short\n");
        let wrapped = wrap(&page);
        let prose = wrapped.lines().filter(|line| !line.starts_with('|'));
        assert!(prose.clone().all(|line| line.len() <= COLUMNS));
        assert!(wrapped.contains(&row) && wrapped.contains("\n* short\n"));
        assert!(wrapped.contains("\n  word"));
        assert_eq!(
            wrapped.split_whitespace().count(),
            page.split_whitespace().count()
        );
        assert_eq!(wrap(&wrapped), wrapped);
    }

    #[test]
    fn no_line_begins_a_list_by_chance() {
        let page = format!("{}- y\n", "x ".repeat(50));
        assert_eq!(wrap(&page).lines().nth(1), Some("x - y"));
    }

    #[test]
    fn the_committed_pages_are_wrapped() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction/");
        for page in ["README.md", "tables.md", "misprints.md"] {
            let text = std::fs::read_to_string(format!("{root}{page}")).unwrap();
            assert!(
                wrap(&text) == text,
                "{page} is not wrapped as `reproduce` wraps it"
            );
        }
    }
}
