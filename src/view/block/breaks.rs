//! Lines that are too long to be drawn, broken into several.
//!
//! Each time Neovim draws a row it measures all of it, also what is not on the screen. Breaks are
//! put into a copy of the text, so that whoever reads it sees ordinary lines. Must not know what
//! the lines are.

use crate::view::text::{self, LONGEST_ROW as LONGEST};

/// Within how many further bytes a letter or digit is looked for to break before: what Markdown
/// opens or closes with such a character is short, so that a broken line means what it did.
const SEARCHED: usize = 4 * 1024;
/// How many bytes decide on a break: those and a character.
const DECISIVE: usize = LONGEST + SEARCHED + 8;

/// The breaks in a text that grows.
#[derive(Debug, Default)]
pub(super) struct Breaks {
    /// The text with its breaks; none while there are none.
    copy: Option<String>,
    /// Where they are in it.
    places: Vec<usize>,
    /// How much of the text was read, and where its last row begins.
    read: usize,
    start: usize,
}

/// A text as it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) text: &'a str,
    places: &'a [usize],
}

impl Breaks {
    /// Reads on. The text begins with what was read before. Where it is broken depends on the text
    /// up to there alone, and what was shown is not broken later.
    pub(super) fn follow<'a>(&'a mut self, text: &'a str) -> Shown<'a> {
        while let Some(at) = self.next(text) {
            let copy = self.copy.get_or_insert_default();
            copy.push_str(text.get(copy.len() - self.places.len()..at).unwrap_or_default());
            self.places.push(copy.len());
            copy.push('\n');
            (self.read, self.start) = (at, at);
        }
        self.read = text.len();
        if let Some(copy) = &mut self.copy {
            copy.push_str(text.get(copy.len() - self.places.len()..).unwrap_or_default());
        }
        Shown { text: self.copy.as_deref().unwrap_or(text), places: &self.places }
    }

    /// Goes on to the row with the next break, and says where that is.
    fn next(&mut self, text: &str) -> Option<usize> {
        loop {
            let row = text::beginning(text.get(self.start..)?, DECISIVE);
            let read = self.read.saturating_sub(self.start);
            let end = row.get(read..).and_then(|new| new.find('\n')).map(|at| read + at);
            let row = end.and_then(|end| row.get(..end)).map_or(row, |row| {
                // It is not shown.
                row.strip_suffix('\r').unwrap_or(row)
            });
            if let Some(at) = place(row) {
                return Some(self.start + at);
            }
            self.start += end? + 1;
        }
    }
}

impl Shown<'_> {
    /// Where something was before the text was broken.
    pub(super) fn origin(&self, offset: usize) -> usize {
        offset - self.places.partition_point(|it| *it < offset)
    }
}

/// Where a row is to be broken.
fn place(row: &str) -> Option<usize> {
    let from = |most: usize| (most..row.len()).find(|at| row.is_char_boundary(*at));
    let (first, last) = (from(LONGEST)?, from(LONGEST + SEARCHED));
    let searched = row.get(first..last.unwrap_or(row.len()))?;
    searched.find(char::is_alphanumeric).map(|at| first + at).or(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        Breaks::default().follow(text).text.to_owned()
    }

    #[test]
    fn lines_that_can_be_drawn_stay_whole() {
        for text in ["".to_owned(), "a\nb\r\n".repeat(LONGEST), "a".repeat(LONGEST) + "\r\nb"] {
            assert_eq!(shown(&text), text);
        }
    }

    #[test]
    fn longer_ones_are_broken_before_a_letter() {
        let row = "-".repeat(LONGEST);
        assert_eq!(shown(&format!("{row}--`é`\nb")), format!("{row}--`\né`\nb"));
        let most = "-".repeat(LONGEST + SEARCHED);
        assert_eq!(shown(&format!("{most}--\n")), format!("{most}\n--\n"));
        assert_eq!(shown(&most), most);
    }

    #[test]
    fn places_are_known_in_both() {
        let text = format!("é\n{}", "word ".repeat(LONGEST));
        let mut breaks = Breaks::default();
        let shown = breaks.follow(&text);
        assert!(shown.text.lines().all(|line| line.len() <= LONGEST + "word ".len()));
        for (offset, char) in shown.text.char_indices().filter(|(_, char)| *char != '\n') {
            assert_eq!(text.get(shown.origin(offset)..).unwrap().chars().next(), Some(char));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn breaks_do_not_depend_on_how_the_text_came(
            parts in prop::collection::vec(("[a-c`é漢 \r\n-]{0,6}", 0usize..6000), 1..6),
            cut in 700usize..6000,
        ) {
            let text: String = parts.iter().map(|(it, count)| it.repeat(*count)).collect();
            let trimmed = |text: &str| text.trim_end_matches(['\r', '\n']).to_owned();
            let mut breaks = Breaks::default();
            let mut before = String::new();
            let mut end = 0;
            while end < text.len() {
                end = text.ceil_char_boundary(end + cut);
                let read = trimmed(text.get(..end).unwrap());
                let now = breaks.follow(&read).text;
                prop_assert!(now.starts_with(&before));
                before = now.to_owned();
            }
            prop_assert_eq!(before, shown(&trimmed(&text)));
        }
    }
}
