//! Text, cut between characters.

/// How many bytes a row may have before it is broken. That is more than a screen, and takes a few
/// milliseconds to measure; a row of 64 KiB takes longer than a frame.
pub(super) const LONGEST_ROW: usize = 16 * 1024;

/// The most bytes of somebody else's words beside the rows.
const LONGEST_WORDS: usize = 4096;

/// Somebody else's words, of any length, for a place beside the rows.
pub(super) fn brief(text: &str) -> String {
    match beginning(text, LONGEST_WORDS) {
        whole if whole.len() == text.len() => whole.to_owned(),
        cut => format!("{cut}…"),
    }
}

/// The beginning of a text, of so many bytes at most.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The end of a text, of so many bytes at most.
pub(super) fn ending(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_whole_or_left_out() {
        assert_eq!(
            [0, 1, 2, 3, 9].map(|most| beginning("a\u{e9}", most)),
            ["", "a", "a", "aé", "aé"]
        );
        assert_eq!([0, 1, 2, 9].map(|most| ending("é\u{e9}", most)), ["", "", "é", "éé"]);
    }
}
