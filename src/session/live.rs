//! Files as the editor has them, and what an agent has seen of them.
//!
//! Knows texts and names. Must not know how texts are compared or merged.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

use super::paths;

/// How much of what an agent has seen is remembered. What is forgotten is taken from the disk.
const MOST: usize = 64 << 20;

/// A buffer as it is at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// Its lines, with a `\n` between two.
    pub text: String,
    /// It has no lines at all: Neovim shows an empty one for that too.
    pub empty: bool,
    /// What ends its lines in the file: `unix`, `dos` or `mac`.
    pub ending: String,
    /// Whether the last line has an ending in the file.
    pub final_eol: bool,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
    /// Whether it has changes that are not saved.
    pub modified: bool,
    /// The editor's number for this state of it.
    pub tick: u64,
}

/// A whole text, held by whoever has it in whatever form.
pub trait Text: Debug + Send + Sync {
    /// How many bytes it has, about.
    fn size(&self) -> usize;
    /// The text.
    fn text(&self) -> Arc<str>;
}

impl Text for Arc<str> {
    fn size(&self) -> usize {
        self.len()
    }

    fn text(&self) -> Arc<str> {
        self.clone()
    }
}

/// A whole text that is not made before somebody needs it: an agent that reads a few lines of a
/// long file may never write it.
#[derive(Debug, Clone)]
pub struct Whole(pub Arc<dyn Text>);

impl<T: Into<Arc<str>>> From<T> for Whole {
    fn from(text: T) -> Whole {
        Whole(Arc::new(text.into()))
    }
}

impl PartialEq for Whole {
    fn eq(&self, other: &Whole) -> bool {
        self.0.text() == other.0.text()
    }
}

/// What an agent has seen of files: the whole text of each, as it was when the agent last read
/// some of it, or as the agent itself last wrote it.
///
/// After a write that is not what came of it: an agent that goes on from its own text does not
/// know what the user had in the buffer, and must not be taken to remove it.
#[derive(Debug, Default)]
pub struct Seen {
    /// Oldest first.
    texts: VecDeque<(String, Whole)>,
    bytes: usize,
}

impl Seen {
    /// What was last seen of a file.
    pub fn get(&self, path: &str) -> Option<Whole> {
        let path = paths::join("", path);
        self.texts.iter().find(|(it, _)| *it == path).map(|(_, text)| text.clone())
    }

    /// Remembers a file's text; the oldest ones are forgotten when there are too many.
    pub fn put(&mut self, path: &str, text: Whole) {
        let path = paths::join("", path);
        if let Some(index) = self.texts.iter().position(|(it, _)| *it == path)
            && let Some((_, old)) = self.texts.remove(index)
        {
            self.bytes -= old.0.size();
        }
        self.bytes += text.0.size();
        self.texts.push_back((path, text));
        while self.bytes > MOST
            && self.texts.len() > 1
            && let Some((_, old)) = self.texts.pop_front()
        {
            self.bytes -= old.0.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_text_counts_and_the_oldest_goes() {
        let mut seen = Seen::default();
        seen.put("/p/a", "one".into());
        seen.put("/p/x/../a", "two".into());
        assert_eq!(seen.get("/p/./a"), Some("two".into()));
        assert_eq!(seen.bytes, 3);
        seen.put("/p/b", "x".repeat(MOST).into());
        assert_eq!(seen.get("/p/a"), None);
        assert_eq!(seen.bytes, MOST);
        seen.put("/p/b", "".into());
        assert_eq!(seen.bytes, 0);
    }
}
