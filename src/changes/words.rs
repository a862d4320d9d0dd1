//! A line to its words, and two lines to the words that differ.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// The most that is worth comparing in two lines: pairs of words that remain when what is common at
/// both ends is put aside.
const PAIRS: usize = 40_000;

/// The words of a line, the blanks and the signs between them.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    /// In the line's order; together they are the line.
    all: Vec<&'a str>,
    /// Those that are not blank, sorted.
    sorted: Vec<&'a str>,
    /// How many bytes are not blank.
    pub(super) weight: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(line: &'a str) -> Tokens<'a> {
        let all = split(line);
        let mut sorted: Vec<&str> = all.iter().copied().filter(|it| !is_blank(it)).collect();
        sorted.sort_unstable();
        let weight = sorted.iter().map(|it| it.len()).sum();
        Tokens { all, sorted, weight }
    }

    /// How many bytes of words both lines have, wherever they stand.
    pub(super) fn shared(&self, other: &Tokens<'_>) -> usize {
        let mut theirs = other.sorted.iter().peekable();
        let mut shared = 0;
        for mine in &self.sorted {
            while theirs.next_if(|it| *it < mine).is_some() {}
            if theirs.next_if(|it| *it == mine).is_some() {
                shared += mine.len();
            }
        }
        shared
    }
}

/// Which bytes of two lines differ. Words are compared as long as there is something left of the
/// budget, which counts pairs of them.
pub(super) fn changed(
    old: &Tokens<'_>,
    new: &Tokens<'_>,
    budget: &mut usize,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let shortest = old.all.len().min(new.all.len());
    let before = old.all.iter().zip(&new.all).take_while(|(one, other)| one == other).count();
    let backwards = old.all.iter().rev().zip(new.all.iter().rev()).take(shortest - before);
    let after = backwards.take_while(|(one, other)| one == other).count();
    let old_middle = old.all.get(before..old.all.len() - after).unwrap_or_default();
    let new_middle = new.all.get(before..new.all.len() - after).unwrap_or_default();
    let start: usize = old.all.iter().take(before).map(|it| it.len()).sum();
    let (mut removed, mut added) = (Ranges::new(start), Ranges::new(start));
    let pairs = old_middle.len().saturating_mul(new_middle.len());
    *budget = budget.saturating_sub(pairs);
    if pairs > PAIRS || *budget == 0 {
        removed.take(old_middle, true);
        added.take(new_middle, true);
    } else {
        for op in capture_diff_slices(Algorithm::Myers, old_middle, new_middle) {
            let (tag, old, new) = op.as_tag_tuple();
            let differs = tag != DiffTag::Equal;
            removed.take(old_middle.get(old).unwrap_or_default(), differs);
            added.take(new_middle.get(new).unwrap_or_default(), differs);
        }
    }
    (removed.found, added.found)
}

/// Gathers the ranges of a line that differ.
struct Ranges {
    found: Vec<Range<usize>>,
    at: usize,
    /// Whether what came after the last range is blank: then the next one continues it.
    blank_since: bool,
}

impl Ranges {
    fn new(at: usize) -> Ranges {
        Ranges { found: Vec::new(), at, blank_since: false }
    }

    fn take(&mut self, tokens: &[&str], differs: bool) {
        let len: usize = tokens.iter().map(|it| it.len()).sum();
        if len == 0 {
            return;
        }
        let end = self.at + len;
        if !differs {
            self.blank_since = tokens.iter().all(|it| is_blank(it));
        } else {
            match self.found.last_mut() {
                Some(last) if self.blank_since || last.end == self.at => last.end = end,
                _ => self.found.push(self.at..end),
            }
        }
        self.at = end;
    }
}

/// What a character is to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    /// Stands alone.
    Sign,
    /// Belongs to the character before it.
    Mark,
}

/// The words, signs and runs of blanks of a text; together they are the text.
pub(super) fn split(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, it) in line.char_indices() {
        let class = class(it);
        let goes_on = match (before, class) {
            (Some(_), Class::Mark) => continue,
            (Some(before), class) => before == class && class != Class::Sign,
            (None, _) => true,
        };
        if !goes_on {
            tokens.extend(line.get(start..at));
            start = at;
        }
        before = Some(class);
    }
    tokens.extend(line.get(start..).filter(|it| !it.is_empty()));
    tokens
}

fn class(it: char) -> Class {
    match it {
        '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Word,
        _ if it.is_ascii_whitespace() => Class::Blank,
        _ if it.is_ascii() => Class::Sign,
        // Combining marks, joiners, variants and skin tones: half a character is no word.
        '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => Class::Mark,
        '\u{1f3fb}'..='\u{1f3ff}' => Class::Mark,
        _ if it.is_whitespace() => Class::Blank,
        // Where no blanks part the words, each character is one.
        '\u{2e80}'.. => Class::Sign,
        _ if it.is_alphanumeric() => Class::Word,
        _ => Class::Sign,
    }
}

/// Whether a token is a run of blanks.
pub(super) fn is_blank(token: &str) -> bool {
    token.chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
        let (removed, added) = changed(&Tokens::of(old), &Tokens::of(new), &mut 1_000_000);
        let texts = |line: &'a str, ranges: Vec<Range<usize>>| {
            ranges.into_iter().map(|range| &line[range]).collect()
        };
        (texts(old, removed), texts(new, added))
    }

    #[test]
    fn words_are_told_apart() {
        assert_eq!(
            split("let a_1 = f(x);"),
            ["let", " ", "a_1", " ", "=", " ", "f", "(", "x", ")", ";"]
        );
        assert_eq!(split("\u{65e5}\u{672c}!"), ["\u{65e5}", "\u{672c}", "!"]);
        assert_eq!(
            split("ae\u{301}b \u{1f44d}\u{1f3fd}"),
            ["ae\u{301}b", " ", "\u{1f44d}\u{1f3fd}"]
        );
        assert_eq!(split(""), Vec::<&str>::new());
    }

    #[test]
    fn what_differs_is_found() {
        assert_eq!(differ("let a = 1;", "let a = 2;"), (vec!["1"], vec!["2"]));
        assert_eq!(differ("f(a)", "f(a, b)"), (vec![], vec![", b"]));
        assert_eq!(differ("same", "same"), (vec![], vec![]));
        assert_eq!(differ("", "x"), (vec![], vec!["x"]));
    }

    #[test]
    fn blanks_between_changes_change_too() {
        assert_eq!(differ("one two.", "eins zwei."), (vec!["one two"], vec!["eins zwei"]));
    }
}
