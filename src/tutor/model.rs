//! Answers that are alike but for their id, told apart without reading them.
//!
//! An agent that measures must not spend longer on an answer than the client did. It knows how an
//! id looks in a line; it must not know who waits for it.

use memchr::memmem;

/// So far from the beginning or the end of a line an id is looked for.
const NEAR: usize = 64;
/// No text of JSON can contain it: its quotes would be escaped.
const KEY: &[u8] = b"\"id\":";

/// A line, without the id in it.
#[derive(Debug)]
pub(crate) struct Model {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Model {
    /// Takes a line as the model, if its id can be found in others by its place.
    pub(crate) fn of(line: &[u8], id: &str) -> Option<Self> {
        // One in the result could be taken for the one of the answer.
        if memmem::find_iter(line, KEY).count() != 1 {
            return None;
        }
        let (before, found, after) = cut(line)?;
        (found == id).then(|| Self { before: before.to_vec(), after: after.to_vec() })
    }

    /// The id of a line that is otherwise the same.
    pub(crate) fn id_of<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        let (before, id, after) = cut(line)?;
        (before == self.before && after == self.after).then_some(id)
    }
}

/// What is before the number that is the id, the number, and the rest.
fn cut(line: &[u8]) -> Option<(&[u8], &str, &[u8])> {
    let head = line.get(..NEAR).unwrap_or(line);
    let tail_at = line.len().saturating_sub(NEAR);
    let tail = || memmem::rfind(line.get(tail_at..)?, KEY).map(|at| tail_at + at);
    let from = memmem::find(head, KEY).or_else(tail)? + KEY.len();
    let (before, rest) = line.split_at_checked(from)?;
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let (id, after) = rest.split_at_checked(digits)?;
    let id = str::from_utf8(id).ok()?;
    (!id.is_empty()).then_some((before, id, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_the_id_alone_are_alike() {
        let text = "x".repeat(1000);
        for line in [
            |id: u32, text: &str| format!(r#"{{"id":{id},"result":{{"content":"{text}"}}}}"#),
            |id: u32, text: &str| format!(r#"{{"result":{{"content":"{text}"}},"id":{id}}}"#),
        ] {
            let model = Model::of(line(7, &text).as_bytes(), "7").unwrap();
            assert_eq!(model.id_of(line(12, &text).as_bytes()), Some("12"));
            assert_eq!(model.id_of(line(12, "y").as_bytes()), None);
        }
    }

    #[test]
    fn an_id_that_may_be_another_is_no_place_to_cut() {
        let none = |line: &str, id: &str| assert!(Model::of(line.as_bytes(), id).is_none());
        none(r#"{"id":1,"result":{"id":1}}"#, "1");
        none(r#"{"id":"1","result":null}"#, "\"1\"");
        none(r#"{"result":{"id":2}}"#, "1");
        none("", "");
        let text = r#"{"id":1,"result":{"content":"\"id\":5"}}"#;
        assert!(Model::of(text.as_bytes(), "1").is_some());
    }
}
