//! Escapes as in `$'…'`, `printf` and `echo -e`.

use std::iter::Peekable;
use std::str::Chars;

/// A text with its escapes replaced by what they stand for.
pub(super) fn decoded(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        let Some(kind) = chars.next() else { break };
        result.extend(match kind {
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'e' | 'E' => Some('\u{1b}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            'x' => number(&mut chars, 2),
            'u' => number(&mut chars, 4),
            'U' => number(&mut chars, 8),
            'c' => chars.next().and_then(|c| char::from_u32(c as u32 & 0x1f)),
            '0'..='7' => {
                let first = kind.to_digit(8).unwrap_or(0);
                let rest = digits(&mut chars, 8, if first == 0 { 3 } else { 2 });
                let value = rest.iter().fold(first, |value, digit| value * 8 + digit);
                char::from_u32(value & 0xff)
            }
            c => Some(c),
        });
    }
    result
}

fn number(chars: &mut Peekable<Chars>, most: usize) -> Option<char> {
    let digits = digits(chars, 16, most);
    char::from_u32(digits.iter().fold(0, |value: u32, digit| value.wrapping_mul(16) + digit))
}

/// The next digits to this base, and no more than so many.
fn digits(chars: &mut Peekable<Chars>, base: u32, most: usize) -> Vec<u32> {
    let mut digits = Vec::new();
    while digits.len() < most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(base))
    {
        chars.next();
        digits.push(digit);
    }
    digits
}
