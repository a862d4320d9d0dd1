//! Patterns of the fields of forms. They are an agent's, and are matched while the user waits: in
//! time that grows with the product of two bounded lengths, whatever they are.

use regex::RegexBuilder;

/// The longest pattern and the longest text that are looked at, in bytes.
const PATTERN: usize = 1_000;
const TEXT: usize = 1_000;
/// How large a pattern may become when what it counts is written out, in bytes.
const SIZE: usize = 48 << 10;
/// How deep it may be nested.
const DEPTH: u32 = 20;

/// Whether a text has what a pattern describes somewhere in it, as JSON Schema has it.
///
/// # Errors
/// It can't be told, and why, in words: the pattern is none that we know, or too much work.
pub fn matches(pattern: &str, text: &str) -> Result<bool, String> {
    if pattern.len() > PATTERN || text.len() > TEXT {
        return Err("it is too long".to_owned());
    }
    let regex = RegexBuilder::new(&ascii(pattern)).size_limit(SIZE).nest_limit(DEPTH).build();
    match regex {
        Ok(regex) => Ok(regex.is_match(text)),
        Err(regex::Error::CompiledTooBig(_)) => Err("it is too much work".to_owned()),
        Err(_) => Err("it is written in a way that is not known here".to_owned()),
    }
}

/// The pattern with JavaScript's meaning of digits and letters of words, which is ASCII. All those
/// of Unicode would be a large pattern.
fn ascii(pattern: &str) -> String {
    let mut ascii = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match (chars.next(), in_class) {
                (Some('d'), true) => ascii.push_str("0-9"),
                (Some('w'), true) => ascii.push_str("0-9A-Za-z_"),
                (Some('d'), false) => ascii.push_str("[0-9]"),
                (Some('D'), false) => ascii.push_str("[^0-9]"),
                (Some('w'), false) => ascii.push_str("[0-9A-Za-z_]"),
                (Some('W'), false) => ascii.push_str("[^0-9A-Za-z_]"),
                (escaped, _) => {
                    ascii.push('\\');
                    ascii.extend(escaped);
                }
            },
            c => {
                in_class = c == '[' || in_class && c != ']';
                ascii.push(c);
            }
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forms_use() {
        for (pattern, text, expected) in [
            ("^[a-z]+$", "abc", true),
            ("^[a-z]+$", "abC", false),
            ("b", "abc", true),
            (r"^\d{3}-\d{4}$", "555-1234", true),
            (r"^\w+\/\w+$", "a/b", true),
            (r"^(?:a|b)*?c\b", "abac", true),
            (r"^(?<year>\d{4})$", "2026", true),
            ("^é.$", "éa", true),
            (r"^[\w.-]{1,64}$", "a.b-c_9", true),
            (r"^[^\d]\D\W\S$", "ab c", true),
            (
                r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
                "0f8fad5b-d9cb-469f-a165-70867728950e",
                true,
            ),
            (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "ada@example.com", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), Ok(expected), "{pattern} {text}");
        }
        for pattern in ["(", "a(?=b)", r"(a)\1", "^((a{1,64}){1,64}){1,64}$", &"a".repeat(1_001)] {
            assert!(matches(pattern, "aaa").is_err(), "{pattern}");
        }
        assert!(matches("a", &"a".repeat(5_000)).is_err());
    }

    /// One that did would never come to its end.
    #[test]
    fn no_pattern_takes_long() {
        let text = "a".repeat(999) + "b";
        for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*a){20}c", "^(a?){50}a{50}$", "(a{1,9}){1,9}$"] {
            assert!(matches(pattern, &text).is_ok(), "{pattern}");
        }
    }
}
