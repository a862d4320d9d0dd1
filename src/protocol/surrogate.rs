//! Half characters. Agents written in JavaScript cut texts between the two halves of a character
//! and send the half as `\ud83d`, which no JSON reader takes. Each becomes U+FFFD.

use std::borrow::Cow;

/// The line with every half character replaced; borrowed when there is none.
pub(super) fn repaired(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        // Any other escape is two bytes long as far as finding the next one goes.
        at = start + 2;
        match escape(line, start) {
            Some(0xd800..=0xdbff) if matches!(escape(line, start + 6), Some(0xdc00..=0xdfff)) => {
                at = start + 12;
            }
            Some(0xd800..=0xdfff) => {
                out.push_str(line.get(copied..start).unwrap_or_default());
                out.push_str("\\ufffd");
                at = start + 6;
                copied = at;
            }
            _ => {}
        }
        // The byte after a backslash can begin a longer character in a line that is no JSON.
        while at < line.len() && !line.is_char_boundary(at) {
            at += 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(line.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The number of the `\uXXXX` that begins here.
fn escape(line: &str, start: usize) -> Option<u16> {
    let digits = line.get(start..start + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_wholes_stay() {
        for (line, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00b""#, r#""\ufffdb""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud83dx\n\u00e9""#, r#""\ufffdx\n\u00e9""#),
            ("\\\u{e9}\\ud83", "\\\u{e9}\\ud83"),
            ("", ""),
            ("\\", "\\"),
        ] {
            assert_eq!(repaired(line), expected);
        }
    }
}
