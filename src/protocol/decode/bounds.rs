//! How much of a message is taken. Agents can send lists of a hundred thousand and titles of ten
//! megabytes; nobody reads them, but somebody would have to store, convert and draw them.
//!
//! Works on any value, before anybody knows what it means, so that no kind of message is forgotten.
//! What tools were given and gave is left alone: rules look at it, and only a part of it is shown.

use serde_json::Value;

use crate::session::entry::LeftOut;

/// The most items of one list.
pub(in crate::protocol) const LIST: usize = 1_000;
/// The most items of all lists of one message together.
const ALL_LISTS: usize = 2_000;
/// The most bytes of one title, name or description.
const LABEL: usize = 4_000;
/// The most bytes of all of them in one message; beyond, they are cut to [`SHORT_LABEL`].
const ALL_LABELS: usize = 256 << 10;
const SHORT_LABEL: usize = 100;
/// The longest id. It must come back as it was sent, so it can't be cut.
const ID: usize = 1_024;

/// What tools are given and give, and what is for programs, in all spellings.
const RAW: [&str; 7] = ["rawinput", "rawoutput", "input", "output", "arguments", "params", "meta"];
/// Words for people, and words that may be shown where they are not known.
const LABELS: [&str; 12] = [
    "title",
    "name",
    "displayname",
    "description",
    "hint",
    "label",
    "severity",
    "category",
    "currency",
    "kind",
    "status",
    "error",
];

/// Cuts what may not be cut silently: there the message is refused as a whole.
///
/// # Errors
/// Something is too long.
pub(in crate::protocol) fn refuse(value: &mut Value) -> Result<(), String> {
    match cut(value)?.first() {
        Some(LeftOut { what, count }) => Err(format!("{count} {what} too many")),
        None => Ok(()),
    }
}

/// Cuts what is too long, and says which lists were cut.
///
/// # Errors
/// Something that can't be cut is too long.
pub(in crate::protocol) fn cut(value: &mut Value) -> Result<Vec<LeftOut>, String> {
    let mut bounds = Bounds { items: ALL_LISTS, labels: ALL_LABELS, left_out: Vec::new() };
    bounds.walk("items", value)?;
    if let Some(LeftOut { what, count }) = bounds.left_out.first() {
        tracing::warn!(what, count, "too many: left out");
    }
    Ok(bounds.left_out)
}

struct Bounds {
    /// How many items and bytes of labels may still come.
    items: usize,
    labels: usize,
    left_out: Vec<LeftOut>,
}

impl Bounds {
    fn walk(&mut self, name: &str, value: &mut Value) -> Result<(), String> {
        match value {
            Value::Array(list) => {
                let most = LIST.min(self.items);
                if list.len() > most {
                    self.note(name, list.len() - most);
                    list.truncate(most);
                }
                self.items -= list.len();
                list.iter_mut().try_for_each(|item| self.walk(name, item))
            }
            Value::Object(object) => object.iter_mut().try_for_each(|(key, value)| {
                if value.is_string() {
                    return self.text(key, value);
                }
                match RAW.contains(&plain(key).as_str()) {
                    true => Ok(()),
                    false => self.walk(key, value),
                }
            }),
            _ => Ok(()),
        }
    }

    fn text(&mut self, key: &str, value: &mut Value) -> Result<(), String> {
        let Value::String(text) = value else { return Ok(()) };
        if text.len() <= SHORT_LABEL {
            return Ok(());
        }
        let key = plain(key);
        if key.ends_with("id") && text.len() > ID {
            return Err(format!("an id of {} bytes; {ID} are the most", text.len()));
        }
        if LABELS.contains(&key.as_str()) {
            let most = LABEL.min(self.labels).max(SHORT_LABEL);
            shorten(text, most);
            self.labels = self.labels.saturating_sub(text.len());
        }
        Ok(())
    }

    /// Lists of one name count as one, and a message with very many names is not worth telling
    /// them all.
    fn note(&mut self, name: &str, count: usize) {
        let what = words(name);
        if let Some(known) = self.left_out.iter_mut().find(|it| it.what == what) {
            known.count += count;
        } else if self.left_out.len() < 4 {
            self.left_out.push(LeftOut { what, count });
        }
    }
}

/// Cuts a text to so many bytes.
pub(super) fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
}

/// A key without what differs between spellings. A key that is longer than any that is known is
/// none of them.
fn plain(key: &str) -> String {
    let letters = key.chars().take(40).filter(char::is_ascii_alphanumeric);
    letters.map(|it| it.to_ascii_lowercase()).collect()
}

/// A key in words: `availableCommands` is "available commands".
fn words(key: &str) -> String {
    let mut words = String::new();
    for c in key.chars().take(40) {
        match c {
            'A'..='Z' if !words.is_empty() => words.extend([' ', c.to_ascii_lowercase()]),
            '_' | '-' => words.push(' '),
            c if c.is_alphanumeric() => words.push(c),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_ordinary_stays() {
        let mut value = json!({ "entries": [{ "content": "x".repeat(9_000) }], "title": "t",
            "toolCallId": "i".repeat(ID), "rawInput": { "paths": vec![1; 5_000] } });
        let before = value.clone();
        assert_eq!(cut(&mut value), Ok(vec![]));
        assert_eq!(value, before);
    }

    #[test]
    fn lists_are_cut() {
        let mut value =
            json!({ "availableCommands": vec![json!({}); 100_000], "x": vec![1; 1_500] });
        let left_out = cut(&mut value).unwrap();
        let told: Vec<_> = left_out.iter().map(|it| (it.what.as_str(), it.count)).collect();
        assert_eq!(told, [("available commands", 99_000), ("x", 500)]);
        assert_eq!(value["availableCommands"].as_array().unwrap().len(), LIST);
    }

    #[test]
    fn lists_in_lists_are_cut_together() {
        let option = json!({ "options": vec![json!({}); 900] });
        let mut value = json!({ "configOptions": vec![option; 900] });
        cut(&mut value).unwrap();
        let options = value["configOptions"].as_array().unwrap();
        let values = options.iter().map(|it| it["options"].as_array().unwrap().len());
        assert_eq!(options.len() + values.sum::<usize>(), ALL_LISTS);
    }

    #[test]
    fn words_are_cut_and_ids_are_not() {
        let mut value = json!({ "title": "é".repeat(9_000), "currentModeId": "m" });
        cut(&mut value).unwrap();
        assert_eq!(value["title"].as_str().unwrap().len(), LABEL + "…".len());
        let mut value = json!({ "names": vec![json!({ "name": "n".repeat(9_000) }); 1_000] });
        cut(&mut value).unwrap();
        assert!(value.to_string().len() < ALL_LABELS + 1_000 * (SHORT_LABEL + 20));
        assert!(cut(&mut json!({ "plan_id": "i".repeat(ID + 1) })).is_err());
    }
}
