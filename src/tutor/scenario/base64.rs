//! Bytes written as base 64 in a scenario file.

use serde::Deserialize;

/// Reads a text field as bytes.
pub(crate) fn base64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    decode(&text).ok_or_else(|| serde::de::Error::custom("`base64` is not base 64"))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_with_or_without_padding() {
        assert_eq!(decode(""), Some(vec![]));
        assert_eq!(decode("/w=="), Some(vec![0xff]));
        assert_eq!(decode("aGk"), Some(b"hi".to_vec()));
        assert_eq!(decode("aGkK"), Some(b"hi\n".to_vec()));
        assert_eq!(decode("a-b"), None);
    }
}
