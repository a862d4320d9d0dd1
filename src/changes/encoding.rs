//! The bytes of a file to text, and text to bytes in the same encoding.
//!
//! Knows the encodings that Neovim tells apart by itself, as its `fileencodings` are by default.
//! Whatever is read gives the same bytes when written again. Must not know lines.

use std::fmt;

use memchr::memchr;

use super::format::BYTE_ORDER_MARK;

/// Of how many bytes that are not UTF-8 one may be a control character, in a text.
const CONTROLS: usize = 50;

/// How a text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8 {
        /// Whether the bytes begin with a byte order mark.
        bom: bool,
    },
    /// UTF-16, the low byte first, after a byte order mark.
    Utf16Le,
    /// UTF-16, the high byte first, after a byte order mark.
    Utf16Be,
    /// ISO 8859-1: a byte is a character. So is what can't be anything else.
    Latin1,
}

impl fmt::Display for Encoding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Encoding::Utf8 { .. } => "UTF-8",
            Encoding::Utf16Le | Encoding::Utf16Be => "UTF-16",
            Encoding::Latin1 => "latin1",
        })
    }
}

/// What was in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Its text, without a byte order mark.
    pub text: String,
    /// How it was written.
    pub encoding: Encoding,
}

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// They hold NUL or too many other control characters.
    #[error("it is binary")]
    Binary,
    /// They begin as UTF-16 does and go on otherwise.
    #[error("it begins with the byte order mark of UTF-16, but is not UTF-16")]
    Utf16,
}

/// A character that an encoding does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("U+{:04X} in line {line} cannot be written in {encoding}", u32::from(*.character))]
pub struct Unsayable {
    /// The character.
    pub character: char,
    /// In which line of the text, from 1.
    pub line: usize,
    /// The encoding.
    pub encoding: Encoding,
}

/// The text of a file.
///
/// # Errors
/// The bytes are no text.
pub fn decode(bytes: Vec<u8>) -> Result<Decoded, NotText> {
    let decoded = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes, Encoding::Utf16Le)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes, Encoding::Utf16Be)?,
        _ => match String::from_utf8(bytes) {
            Ok(mut text) => {
                let bom = text.starts_with(BYTE_ORDER_MARK);
                if bom {
                    text.drain(..BYTE_ORDER_MARK.len_utf8());
                }
                Decoded { text, encoding: Encoding::Utf8 { bom } }
            }
            Err(error) => latin1(error.as_bytes())?,
        },
    };
    if memchr(0, decoded.text.as_bytes()).is_some() {
        return Err(NotText::Binary);
    }
    Ok(decoded)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, encoding: Encoding) -> Result<Decoded, NotText> {
    let (units, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(units.iter().map(|it| unit(*it))).collect::<Result<String, _>>();
    match text {
        Ok(text) if rest.is_empty() => Ok(Decoded { text, encoding }),
        _ => Err(NotText::Utf16),
    }
}

fn latin1(bytes: &[u8]) -> Result<Decoded, NotText> {
    let control = |it: &&u8| it.is_ascii_control() && !matches!(it, 0x08..=0x0d | 0x1b);
    if bytes.iter().filter(control).count() * CONTROLS > bytes.len() {
        return Err(NotText::Binary);
    }
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for run in bytes.chunk_by(|one, next| one.is_ascii() == next.is_ascii()) {
        match run.first() {
            Some(first) if first.is_ascii() => text.push_str(&String::from_utf8_lossy(run)),
            _ => text.extend(run.iter().copied().map(char::from)),
        }
    }
    Ok(Decoded { text, encoding: Encoding::Latin1 })
}

/// A text in an encoding, with the byte order mark that belongs to it.
///
/// # Errors
/// The encoding does not have all of its characters.
pub fn encode(text: &str, encoding: Encoding) -> Result<Vec<u8>, Unsayable> {
    match encoding {
        Encoding::Utf8 { bom: false } => Ok(text.as_bytes().to_vec()),
        Encoding::Utf8 { bom: true } => {
            let mut bytes = Vec::with_capacity(text.len() + BYTE_ORDER_MARK.len_utf8());
            bytes.extend(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4]).as_bytes());
            bytes.extend(text.as_bytes());
            Ok(bytes)
        }
        Encoding::Utf16Le => Ok(units(text).flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Be => Ok(units(text).flat_map(u16::to_be_bytes).collect()),
        Encoding::Latin1 => {
            let byte = |(at, character): (usize, char)| {
                u8::try_from(character).map_err(|_| {
                    let before = text.get(..at).unwrap_or_default();
                    let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
                    Unsayable { character, line, encoding }
                })
            };
            text.char_indices().map(byte).collect()
        }
    }
}

fn units(text: &str) -> impl Iterator<Item = u16> {
    BYTE_ORDER_MARK.encode_utf16(&mut [0; 2]).to_vec().into_iter().chain(text.encode_utf16())
}
