//! A text as a string of JSON, eight bytes at a time. Whole files cross this way, and nearly all of
//! their bytes stand for themselves.

const QUOTE: u8 = 0x22;
const ONES: u64 = u64::MAX / 255;
const TOPS: u64 = ONES << 7;

/// Appends a text, with its quotes.
pub(super) fn push(line: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    line.push(QUOTE);
    // Where what is not written yet begins.
    let mut rest = 0;
    for (at, chunk) in bytes.chunks(8).enumerate() {
        if <[u8; 8]>::try_from(chunk).is_ok_and(|it| is_plain(u64::from_ne_bytes(it))) {
            continue;
        }
        for (offset, byte) in chunk.iter().enumerate().filter(|(_, byte)| is_special(**byte)) {
            let at = at * 8 + offset;
            line.extend_from_slice(bytes.get(rest..at).unwrap_or_default());
            escape(line, *byte);
            rest = at + 1;
        }
    }
    line.extend_from_slice(bytes.get(rest..).unwrap_or_default());
    line.push(QUOTE);
}

/// Whether eight bytes all stand for themselves.
fn is_plain(word: u64) -> bool {
    let below = |limit: u8, word: u64| word.wrapping_sub(ONES * u64::from(limit)) & !word & TOPS;
    let is = |byte: u8| below(1, word ^ (ONES * u64::from(byte)));
    below(b' ', word) | is(QUOTE) | is(b'\\') == 0
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == QUOTE || byte == b'\\'
}

fn escape(line: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        8 => b'b',
        12 => b'f',
        QUOTE | b'\\' => byte,
        _ => return line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    };
    line.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    fn json(text: &str) -> String {
        let mut line = Vec::new();
        super::push(&mut line, text);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn every_character_of_one_byte_at_every_place() {
        for byte in 0..128_u8 {
            for before in 0..9 {
                let text =
                    format!("{}{}{}", "a".repeat(before), char::from(byte), "ä€".repeat(before));
                assert_eq!(json(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn as_everybody_writes_it(text in any::<String>(), lines in prop::collection::vec("[ -~äé\u{1f980}]*", 0..20)) {
            for text in [text, lines.join("\n")] {
                prop_assert_eq!(json(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }
}
