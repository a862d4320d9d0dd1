//! Words for rows we compose: what others wrote comes in one line, without anything that is not
//! meant for the eye.

use std::time::Duration;

use super::marks::Marks;
use crate::view::text::beginning;

/// The most characters of somebody else's words in a row of ours.
const LONGEST: usize = 200;

/// The most characters where several such words share a row.
const FEW: usize = 40;

/// A text in one line, and not too long a one.
pub(super) fn one_line(text: &str, marks: &Marks) -> String {
    // A title may come with megabytes; no more is read than can be shown.
    let text = beginning(text, 16 * LONGEST);
    let visible = visible(text);
    let words: Vec<&str> = visible.split_whitespace().collect();
    shortened(words.join(" "), marks)
}

/// A few words of somebody else's.
pub(super) fn short(text: &str, marks: &Marks) -> String {
    let mut text = one_line(text, marks);
    if let Some((end, _)) = text.char_indices().nth(FEW) {
        text.truncate(end);
        text.push_str(marks.dots);
    }
    text
}

/// A line of a text as it is, without what is not meant for the eye.
pub(super) fn line(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    // What was overwritten is not seen.
    let text = text.rsplit('\r').next().unwrap_or_default();
    visible(beginning(text, 16 * LONGEST))
}

/// The beginning of a line of a text.
pub(super) fn short_line(text: &str, marks: &Marks) -> String {
    shortened(line(text), marks)
}

fn shortened(mut text: String, marks: &Marks) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str(marks.dots);
    }
    text
}

/// Without control characters and sequences, and without characters that only turn the text.
fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' | '\u{9b}' => skip_sequence(char, &mut chars),
            '\t' => seen.push('\t'),
            '\n' | '\r' => seen.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {}
            '\u{feff}' => {}
            char if char.is_control() => {}
            char => seen.push(char),
        }
    }
    seen
}

/// Reads to the end of a control sequence of terminals.
fn skip_sequence(first: char, chars: &mut std::str::Chars) {
    let kind = if first == '\u{9b}' { Some('[') } else { chars.next() };
    match kind {
        Some('[') => {
            // Parameters, until the character that says what it is for.
            chars.find(|it| !matches!(it, ' '..='?'));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // A text, until a bell or the sequence that ends it.
            let end = chars.find(|it| matches!(it, '\u{7}' | '\u{1b}' | '\u{9c}'));
            end.filter(|it| *it == '\u{1b}').and_then(|_| chars.next());
        }
        Some('(' | ')' | '*' | '+') => {
            chars.next();
        }
        _ => {}
    }
}

/// A large number, in groups of three digits: "99 000".
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// How long something took or takes; nothing when it is not worth a word.
pub(super) fn elapsed(time: Duration, done: bool) -> Option<String> {
    let seconds = time.as_secs();
    Some(match seconds {
        0 => return None,
        1..10 if done => format!("{seconds}.{}s", time.subsec_millis() / 100),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    })
}

/// The size of something.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// A number of things.
pub(super) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::Look;
    use super::*;

    #[test]
    fn what_is_not_for_the_eye_is_left_out() {
        let marks = Marks::of(Look::default());
        let red = "a\u{1b}[31;1mb\u{1b}[0m c\u{1b}]0;title\u{7}d\u{1b}(Be\u{9b}2Kf\u{7}\u{202e}g";
        assert_eq!(one_line(red, marks), "ab cdefg");
        assert_eq!(one_line(" a\r\n\tb\u{0}\n", marks), "a b");
        assert_eq!(line("  10%\r  20%\r"), "  20%");
        assert_eq!(line("\u{1b}]8;;http://x\u{1b}\\link"), "link");
        assert_eq!(line("\u{1b}"), "");
        assert_eq!(one_line(&"é".repeat(5000), marks), "é".repeat(200) + "…");
    }

    #[test]
    fn times_are_as_exact_as_they_are_useful() {
        let word = |millis, done| elapsed(Duration::from_millis(millis), done).unwrap_or_default();
        assert_eq!([word(999, true), word(1250, true), word(1250, false)], ["", "1.2s", "1s"]);
        assert_eq!([word(59_900, true), word(125_000, true)], ["59s", "2m 05s"]);
        assert_eq!(word(3_725_000, false), "1h 02m");
    }
}
