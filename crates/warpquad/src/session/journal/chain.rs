//! Chain the lines of a journal: each has its number and a checksum that covers the line before.
//!
//! A line that was changed, removed, repeated or moved breaks the chain at its place. The checksum
//! is no signature: who may write the file may write another chain.

use super::super::event::{Event, VERSION, other_version};

/// The last fields of a line: `,"line":12,"crc":"01234567"}`.
const CRC_LENGTH: usize = r#","crc":"01234567"}"#.len();

/// How far a chain has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chain {
    /// Lines so far.
    pub lines: usize,
    /// The checksum of the last of them.
    crc: u32,
}

impl Chain {
    /// The next line, with its end, and the chain after it.
    pub fn seal(self, json: &str) -> (String, Chain) {
        let lines = self.lines + 1;
        let body = format!(
            "{},\"line\":{lines}",
            json.strip_suffix('}').unwrap_or(json)
        );
        let crc = self.crc_of(&body);
        (
            format!("{body},\"crc\":\"{crc:08x}\"}}\n"),
            Chain { lines, crc },
        )
    }

    /// The event of the next line, without its end, and the chain after it; or what is wrong.
    pub fn unseal(self, line: &str) -> Result<(Event, Chain), String> {
        let cut = line.len().checked_sub(CRC_LENGTH);
        let parts = cut.and_then(|cut| line.split_at_checked(cut));
        let (body, tail) = parts.ok_or("the line is too short to be an event")?;
        let crc = self.crc_of(body);
        if tail != format!(",\"crc\":\"{crc:08x}\"}}") {
            return Err(self.break_at(line));
        }
        let event = Event::from_json(&format!("{body}}}"))?;
        let lines = self.lines + 1;
        Ok((event, Chain { lines, crc }))
    }

    fn crc_of(self, body: &str) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.crc.to_le_bytes());
        hasher.update(body.as_bytes());
        hasher.finalize()
    }

    /// Why a line does not follow: another format, another number, or other bytes.
    fn break_at(self, line: &str) -> String {
        let json = serde_json::from_str::<serde_json::Value>(line).unwrap_or_default();
        let number = |key: &str| json.get(key).and_then(serde_json::Value::as_u64);
        let expected = self.lines as u64 + 1;
        if self.lines == 0
            && let Some(version) = number("journal").filter(|&version| version != VERSION)
        {
            let program = json.get("program").and_then(serde_json::Value::as_str);
            return other_version(version, program.unwrap_or("of another version"));
        }
        match number("line") {
            Some(found) if found > expected => format!(
                "this is line {found} of the run: lines {expected} to {} before it are missing",
                found - 1
            ),
            Some(found) if found < expected => {
                format!("this is line {found} of the run again: it was repeated or moved")
            }
            _ => "the checksum does not match: this line, or the one before it, was damaged, \
                  replaced or edited"
                .into(),
        }
    }
}

/// What the bytes of a journal hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// The events of all good lines.
    pub events: Vec<Event>,
    /// The chain after them.
    pub chain: Chain,
    /// The bytes that they take.
    pub sound: usize,
    /// What comes after them, if anything.
    pub rest: Rest,
}

/// What comes after the good lines of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// What a crash leaves of a write: a line without its end, or with zeros in it. Nobody was told
    /// that it is kept, so it may be cut off.
    Torn(Torn),
    /// A line that no crash explains, and what is wrong with it.
    Damaged(String),
}

/// The rest of a write that a crash interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// Its number.
    pub line: usize,
    /// Its bytes.
    pub bytes: usize,
    /// What it was about, as far as that can be read.
    pub about: String,
}

impl std::fmt::Display for Torn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Torn { line, bytes, about } = self;
        write!(
            out,
            "journal line {line} was half written when the program or the machine stopped: its \
             {bytes} bytes were cut off ({about})"
        )
    }
}

/// Lines that may be under way at once: a fit is written with the point it chose, then both are
/// brought to the disk.
const UNDER_WAY: usize = 2;

/// All good lines from the start, and what follows them.
pub fn read(bytes: &[u8]) -> Contents {
    let mut contents = Contents {
        events: Vec::new(),
        chain: Chain::default(),
        sound: 0,
        rest: Rest::Nothing,
    };
    loop {
        let rest = &bytes[contents.sound..];
        if rest.is_empty() {
            return contents;
        }
        let Some(length) = rest.iter().position(|&b| b == b'\n') else {
            contents.rest = Rest::Torn(torn(contents.chain, rest));
            return contents;
        };
        let line = &rest[..length];
        let text = std::str::from_utf8(line).map_err(|e| e.to_string());
        match text.and_then(|line| contents.chain.unseal(line)) {
            Ok((event, chain)) => {
                contents.events.push(event);
                contents.chain = chain;
                contents.sound += length + 1;
            }
            Err(reason) => {
                let ends = rest.iter().filter(|&&b| b == b'\n').count();
                // Text has no zero bytes: they are room that was made and never filled.
                contents.rest = match line.contains(&0) && ends <= UNDER_WAY {
                    true => Rest::Torn(torn(contents.chain, rest)),
                    false => Rest::Damaged(reason),
                };
                return contents;
            }
        }
    }
}

fn torn(chain: Chain, rest: &[u8]) -> Torn {
    Torn {
        line: chain.lines + 1,
        bytes: rest.len(),
        about: about(rest),
    }
}

/// What a part of a line is about.
fn about(part: &[u8]) -> String {
    if part.iter().all(|&b| b == 0) {
        return "zeros, nothing of a run".into();
    }
    let text = String::from_utf8_lossy(part);
    let after = |key: &str| text.split_once(key).map(|(_, rest)| rest);
    let id: String = after("\"id\":").map_or(String::new(), |rest| {
        rest.chars().take_while(char::is_ascii_digit).collect()
    });
    let kind = after("\"event\":\"").and_then(|rest| rest.split_once('"'));
    match (kind.map(|(kind, _)| kind), id.as_str()) {
        (Some("tell"), id) if !id.is_empty() => {
            format!("the value of point {id}, which is evaluated again")
        }
        (Some("ask"), id) if !id.is_empty() => format!("point {id}, which is chosen again"),
        (Some("fit"), _) => "a fit, which is made again".into(),
        (Some("stop"), _) => "the word that the run had stopped".into(),
        _ => "it cannot be read what of".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(reason: &str) -> Event {
        Event::Stop {
            reason: reason.into(),
            at: 1.0,
            in_journal: 0.5,
        }
    }

    fn lines(n: usize) -> Vec<String> {
        let mut chain = Chain::default();
        let line = |i: usize| {
            let (line, next) = chain.seal(&stop(&format!("reason {i}")).to_json());
            chain = next;
            line
        };
        (0..n).map(line).collect()
    }

    fn damage(lines: &[String]) -> (usize, String) {
        let contents = read(lines.concat().as_bytes());
        match contents.rest {
            Rest::Damaged(reason) => (contents.events.len() + 1, reason),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_sealed_is_read_again() {
        let contents = read(lines(5).concat().as_bytes());
        assert_eq!(contents.rest, Rest::Nothing);
        assert_eq!((contents.events.len(), contents.chain.lines), (5, 5));
        assert_eq!(contents.events[3], stop("reason 3"));
    }

    #[test]
    fn removed_repeated_swapped_and_changed_lines_are_refused_with_their_number() {
        let whole = lines(6);
        for i in 0..5 {
            let mut removed = whole.clone();
            removed.remove(i);
            let (line, reason) = damage(&removed);
            assert_eq!(line, i + 1);
            assert!(
                reason.contains(&format!("this is line {}", i + 2)),
                "{reason}"
            );
            let mut repeated = whole.clone();
            repeated.insert(i, whole[i].clone());
            assert_eq!(damage(&repeated).0, i + 2);
            let mut swapped = whole.clone();
            swapped.swap(i, i + 1);
            assert_eq!(damage(&swapped).0, i + 1);
            let mut changed = whole.clone();
            changed[i] = changed[i].replace("reason", "season");
            let (line, reason) = damage(&changed);
            assert_eq!(line, i + 1);
            assert!(reason.contains("checksum"), "{reason}");
        }
        // A pair that belongs together, which the rest of the run does not miss.
        let mut pair = whole.clone();
        pair.drain(2..4);
        assert_eq!(damage(&pair).0, 3);
        // Another run's line of the same number.
        let mut other = whole.clone();
        other[3] = Chain { lines: 3, crc: 7 }
            .seal(&stop("reason 3").to_json())
            .0;
        assert_eq!(damage(&other).0, 4);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let whole = lines(3).concat().into_bytes();
        for i in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[i] ^= 1 << bit;
                let contents = read(&bytes);
                assert_ne!(contents.rest, Rest::Nothing, "byte {i}, bit {bit}");
                assert!(contents.events.len() < 3);
            }
        }
    }

    #[test]
    fn a_tail_that_a_crash_left_is_told_from_damage() {
        let whole = lines(4);
        let (sound, last) = (whole[..3].concat(), whole[3].as_bytes());
        let rest = |tail: &[u8]| read(&[sound.as_bytes(), tail].concat()).rest;
        for length in 1..last.len() {
            assert!(matches!(rest(&last[..length]), Rest::Torn(_)), "{length}");
        }
        let zeros = rest(&[0; 4096]);
        assert!(matches!(&zeros, Rest::Torn(torn) if torn.about.starts_with("zeros")));
        let mut holed = last.to_vec();
        holed[3..9].fill(0);
        assert!(matches!(rest(&holed), Rest::Torn(torn) if torn.line == 4));
        // Zeros that many good lines follow are no crash of the last write.
        let after = [&holed[..], b"one\n", b"two\n"].concat();
        assert!(matches!(rest(&after), Rest::Damaged(_)));
    }

    #[test]
    fn a_torn_line_says_what_is_lost() {
        for (part, words) in [
            (
                r#"{"at":1.5,"event":"tell","id":12,"log_f":-3."#,
                "the value of point 12",
            ),
            (
                r#"{"event":"ask","id":7,"x":[0.1"#,
                "point 7, which is chosen",
            ),
            (r#"{"event":"fit","full":tr"#, "a fit"),
            (r#"{"ev"#, "cannot be read"),
        ] {
            assert!(about(part.as_bytes()).contains(words), "{part}");
        }
    }
}
