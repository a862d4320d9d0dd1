//! How the lines of a buffer are written in its file, and how a text becomes lines again.
//!
//! Both as Neovim does it, so that what an agent reads and writes through a buffer is what it
//! would read and write on the disk. Must not know the encoding: these are characters.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

/// The character that some files begin with, to say how they are encoded.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// What lines end in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// `\n`: `fileformat` is "unix".
    #[default]
    Lf,
    /// `\r\n`: "dos".
    CrLf,
    /// `\r`: "mac". A `\n` in the file is a `\r` in the line.
    Cr,
}

impl Ending {
    /// Its characters.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Lf => "\n",
            Ending::CrLf => "\r\n",
            Ending::Cr => "\r",
        }
    }
}

/// How lines are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// What lines end in.
    pub ending: Ending,
    /// Whether the last line has an ending too.
    pub final_eol: bool,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
}

impl Default for Format {
    fn default() -> Format {
        Format { ending: Ending::Lf, final_eol: true, bom: false }
    }
}

/// A text as the lines of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split<'a> {
    /// The lines.
    pub lines: Vec<Cow<'a, str>>,
    /// How they were written.
    pub format: Format,
    /// Whether writing the lines in this format gives the text back. It does not where lines of a
    /// text for a "dos" buffer end in `\n` alone: saving it will give them the buffer's ending.
    pub exact: bool,
}

/// The lines of `text` for a buffer whose lines end in `ending`. Only what ends lines there does;
/// other carriage returns are part of the line.
pub fn split(text: &str, ending: Ending) -> Split<'_> {
    let bom = text.starts_with(BYTE_ORDER_MARK);
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let separator = if ending == Ending::Cr { b'\r' } else { b'\n' };
    let mut lines = Vec::with_capacity(memchr_iter(separator, body.as_bytes()).count() + 1);
    let mut exact = true;
    let mut rest = body;
    while let Some((line, after)) =
        memchr(separator, rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
    {
        lines.push(match ending {
            Ending::Lf => Cow::Borrowed(line),
            Ending::CrLf => {
                exact &= line.ends_with('\r');
                Cow::Borrowed(line.strip_suffix('\r').unwrap_or(line))
            }
            Ending::Cr => swapped(line),
        });
        rest = after.get(1..).unwrap_or_default();
    }
    if !rest.is_empty() {
        lines.push(if ending == Ending::Cr { swapped(rest) } else { Cow::Borrowed(rest) });
    }
    Split { lines, format: Format { ending, final_eol: rest.is_empty(), bom }, exact }
}

/// In a "mac" file `\n` is a character like any other. It can't be one in a buffer, where `\r` can:
/// they stand in for each other.
fn swapped(line: &str) -> Cow<'_, str> {
    match memchr(b'\n', line.as_bytes()) {
        Some(_) => Cow::Owned(line.replace('\n', "\r")),
        None => Cow::Borrowed(line),
    }
}

/// Adds a line to a text, without its ending.
pub(super) fn push_line(text: &mut String, line: &str, ending: Ending) {
    if ending == Ending::Cr && memchr(b'\r', line.as_bytes()).is_some() {
        text.push_str(&line.replace('\r', "\n"));
    } else {
        text.push_str(line);
    }
}
