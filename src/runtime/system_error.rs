//! The system's words for what went wrong, in a form that reads well inside a sentence.

use std::io;

/// `permission denied` rather than `Permission denied (os error 13)`.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        // An abbreviation stays one: `TLS`, `I/O`.
        Some(first) if !chars.as_str().starts_with(|c: char| c.is_uppercase() || c == '/') => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_numbers_and_capitals() {
        assert_eq!(words(&io::Error::from_raw_os_error(13)), "permission denied");
        assert_eq!(words(&io::Error::other("I/O is hard")), "I/O is hard");
        assert_eq!(words(&io::Error::other("")), "");
    }
}
