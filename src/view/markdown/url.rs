//! Addresses that stand in a text without any mark.

use std::ops::Range;

/// The addresses in a text.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find("http")?;
            let rest = text.get(start..)?;
            from = start + "http".len();
            let after = rest.strip_prefix("http")?;
            let after = after.strip_prefix('s').unwrap_or(after);
            let before = text.get(..start)?.chars().next_back();
            if !after.starts_with("://") || before.is_some_and(char::is_alphanumeric) {
                continue;
            }
            let end = rest.find(ends).unwrap_or(rest.len());
            let address = trimmed(rest.get(..end)?);
            if address.ends_with("://") {
                continue;
            }
            from = start + address.len();
            return Some(start..from);
        }
    })
}

fn ends(it: char) -> bool {
    it.is_whitespace() || it.is_control() || matches!(it, '<' | '>' | '"' | '`' | '|')
}

/// Without what belongs to the sentence rather than to the address.
fn trimmed(mut address: &str) -> &str {
    let count = |it| address.matches(it).count();
    // Brackets that the address closes without having opened them.
    let mut round = count(')').saturating_sub(count('('));
    let mut square = count(']').saturating_sub(count('['));
    loop {
        match address.chars().next_back() {
            Some(')') if round > 0 => round -= 1,
            Some(']') if square > 0 => square -= 1,
            Some('.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~') => {}
            _ => return address,
        }
        address = address.get(..address.len() - 1).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_where_the_sentence_goes_on() {
        let found = |text| addresses(text).map(|it| &text[it]).collect::<Vec<_>>();
        assert_eq!(found("see https://a.b/c_d(e)."), ["https://a.b/c_d(e)"]);
        assert_eq!(found("(http://a.b), http://c"), ["http://a.b", "http://c"]);
        assert_eq!(found("xhttp://a https:// http"), [""; 0]);
    }
}
