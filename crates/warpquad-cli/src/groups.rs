//! Print groups of rows under headings: labels in one column, long texts wrapped on a terminal.

use crate::output;
use console::{Style, Term};

/// Columns that a text keeps on the narrowest terminal.
const NARROWEST: usize = 30;

/// Rows of a label and a text under a heading.
#[derive(Debug, Default)]
pub struct Group {
    heading: String,
    tone: Tone,
    rows: Vec<(String, String)>,
}

/// How a heading is coloured on a terminal.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum Tone {
    /// A heading like the others.
    #[default]
    Plain,
    /// Good news.
    Good,
    /// Something to look at.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new().cyan().bold(),
            Tone::Good => Style::new().green().bold(),
            Tone::Bad => Style::new().yellow().bold(),
        }
    }
}

impl Group {
    pub fn new(heading: &str, tone: Tone) -> Group {
        Group {
            heading: heading.into(),
            tone,
            rows: Vec::new(),
        }
    }

    pub fn tone(&self) -> Tone {
        self.tone
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn row(&mut self, label: &str, text: impl Into<String>) {
        self.rows.push((label.into(), text.into()));
    }
}

/// Print the groups; one without rows is its heading alone. Colours and wrapping are for terminals:
/// elsewhere every row is one line. `NO_COLOR` is obeyed.
pub fn print(groups: &[Group]) {
    let terminal = Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    for line in lines(groups, width, console::colors_enabled()) {
        output::line(&line);
    }
}

/// The groups as lines; `None` as width wraps nothing.
fn lines(groups: &[Group], width: Option<usize>, is_coloured: bool) -> Vec<String> {
    let labels = groups.iter().flat_map(|group| &group.rows);
    let label = labels.map(|(label, _)| label.chars().count()).max();
    let label = label.unwrap_or(0);
    // Two blanks before the label, two after it.
    let room = width.map(|width| width.saturating_sub(label + 4).max(NARROWEST));
    let mut out = Vec::new();
    for (k, group) in groups.iter().enumerate() {
        if k > 0 {
            out.push(String::new());
        }
        let style = group.tone.style().force_styling(is_coloured);
        out.push(style.apply_to(&group.heading).to_string());
        for (name, text) in &group.rows {
            let mut name = name.as_str();
            for part in wrapped(text, room) {
                out.push(format!("  {name:<label$}  {part}"));
                name = "";
            }
        }
    }
    out
}

/// A text in lines of so many columns; a longer word has a line to itself.
fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else {
        return vec![text.into()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let room = width.saturating_sub(word.chars().count() + 1);
        match lines.last_mut() {
            Some(line) if line.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups() -> [Group; 2] {
        let mut answer = Group::new("answer", Tone::Plain);
        answer.row("log Z", "-1.0 +- 0.1");
        answer.row("95 % interval", "one two three four five six seven eight");
        [Group::new("verdict  settled", Tone::Good), answer]
    }

    #[test]
    fn labels_stand_in_one_column_under_their_headings() {
        let want = [
            "verdict  settled",
            "",
            "answer",
            "  log Z          -1.0 +- 0.1",
            "  95 % interval  one two three four five six seven eight",
        ];
        assert_eq!(lines(&groups(), None, false), want);
    }

    #[test]
    fn a_terminal_gets_lines_within_its_width() {
        let narrow = lines(&groups(), Some(47), false);
        assert_eq!(narrow[4], "  95 % interval  one two three four five six");
        assert_eq!(narrow[5], "                 seven eight");
        assert!(narrow.iter().all(|line| line.chars().count() <= 47));
        assert_eq!(wrapped("a bb", Some(2)), ["a", "bb"]);
        assert_eq!(wrapped("", Some(2)), [""]);
    }

    #[test]
    fn colours_are_for_headings_and_only_where_wanted() {
        let coloured = lines(&groups(), None, true);
        assert!(coloured[0].starts_with("\u{1b}[32m") && !coloured[3].contains('\u{1b}'));
        let plain = lines(&groups(), None, false).concat();
        assert!(!plain.contains('\u{1b}'));
    }
}
