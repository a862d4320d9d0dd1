//! The last look at a row before it leaves: whatever wrote it, no terminal obeys what is in it, and
//! it reads the way it is written.
//!
//! What stands in for a character has as many bytes, so that columns stay true.

use std::borrow::Cow;

/// A row as it may be shown.
pub fn harmless(line: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte == b'\t' || (b' '..0x7f).contains(&byte);
    if line.bytes().all(plain) || !line.contains(is_odd) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    for char in line.chars() {
        match (is_odd(char), char.len_utf8()) {
            (false, _) => shown.push(char),
            (true, 1) => shown.push('?'),
            (true, 2) => shown.push('¿'),
            (true, 3) => shown.push('\u{fffd}'),
            (true, _) => shown.push_str("\u{fffd} "),
        }
    }
    Cow::Owned(shown)
}

/// Whether terminals obey it, it turns the direction of text, or it is not seen at all. What joins
/// others to one sign (U+200D) is ordinary.
fn is_odd(char: char) -> bool {
    match char {
        '\t' => false,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        char => char.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_rows_stay_as_they_are() {
        for line in
            ["", "\tplain text ~", "漢字, é, 👨\u{200d}👩\u{200d}👧, ▌ You", "a\u{301}\u{ad}"]
        {
            assert!(matches!(harmless(line), Cow::Borrowed(same) if same == line), "{line:?}");
        }
    }

    #[test]
    fn what_terminals_obey_is_replaced_byte_for_byte() {
        let cases = [
            ("a\u{1b}[31mb\u{7}\0\u{8}\u{7f}c", "a?[31mb????c"),
            ("a\u{9b}2Jb\u{61c}", "a¿2Jb¿"),
            (
                "\u{202e}a\u{2066}b\u{200b}\u{feff}\u{2028}",
                "\u{fffd}a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("flag \u{e0041}.", "flag \u{fffd} ."),
        ];
        for (line, expected) in cases {
            assert_eq!(harmless(line), expected);
            assert_eq!(harmless(line).len(), line.len());
        }
    }
}
