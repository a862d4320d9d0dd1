//! Texts to their words.

use super::words::{is_blank, split};

/// The words and signs of a text, and each blank by itself: of an indent that grows, some stays.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::with_capacity(text.len() / 2);
    for token in split(text) {
        match is_blank(token) {
            true => tokens.extend(token.split_inclusive(|_| true)),
            false => tokens.push(token),
        }
    }
    tokens
}

/// How many bytes two texts have in common at the start, up to the end of a character.
pub(super) fn common_start(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    let mut count = pairs.take_while(|(one, other)| one == other).count();
    while !one.is_char_boundary(count) || !other.is_char_boundary(count) {
        count -= 1;
    }
    count
}

/// How many bytes two texts have in common at the end, from the start of a character.
pub(super) fn common_end(one: &str, other: &str) -> usize {
    let pairs = one.bytes().rev().zip(other.bytes().rev());
    let mut count = pairs.take_while(|(one, other)| one == other).count();
    while !one.is_char_boundary(one.len() - count) {
        count -= 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        assert_eq!(
            tokens("let a_1 =  f(x);"),
            ["let", " ", "a_1", " ", "=", " ", " ", "f", "(", "x", ")", ";"]
        );
        assert_eq!(tokens("日本\t\tne\u{301}"), ["日", "本", "\t", "\t", "ne\u{301}"]);
        assert_eq!(tokens(""), Vec::<&str>::new());
    }

    #[test]
    fn what_is_common_ends_between_characters() {
        assert_eq!((common_start("né", "nè"), common_end("é!", "è!")), (1, 1));
        assert_eq!((common_start("né", "n©"), common_end("é", "©")), (1, 0));
        assert_eq!((common_start("aa", "aa"), common_end("", "a")), (2, 0));
    }
}
