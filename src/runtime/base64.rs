//! Base64 as agents write it: either alphabet, padded or not, in lines or as an address.

/// The bytes; none where it is not base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = match text.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,")?.1,
        None => text,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    let mut ended = false;
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace()) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                ended = true;
                continue;
            }
            _ => return None,
        };
        if ended {
            return None;
        }
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(((bits >> count) & 0xff) as u8);
        }
    }
    // A single letter is not even a byte.
    (count < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes() {
        let cases: [(&str, Option<&[u8]>); 12] = [
            ("", Some(b"")),
            ("TWFu", Some(b"Man")),
            ("TWE=", Some(b"Ma")),
            ("TQ==", Some(b"M")),
            ("TQ", Some(b"M")),
            ("TW\nFu\r\n", Some(b"Man")),
            ("-_-_", Some(&[0xfb, 0xff, 0xbf])),
            ("+/+/", Some(&[0xfb, 0xff, 0xbf])),
            ("data:image/png;base64,TWFu", Some(b"Man")),
            ("T", None),
            ("TQ==TQ==", None),
            ("T\u{e9}", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text).as_deref(), bytes, "{text:?}");
        }
    }
}
