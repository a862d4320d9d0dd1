//! The buffers that the editor has loaded, with copies of those in projects: what agents read of
//! them needs nothing of the editor, and what they write is compared here.
//!
//! Knows what the editor tells, in its order. Must not know what becomes of a text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::indexed::Indexed;
use super::stamp::Stamp;
pub use crate::changes::format::{Ending, Format};
use crate::changes::mirror::Mirror;
pub use crate::changes::review::Author;
use crate::session::live::{Text, Whole};
use crate::session::question::{FileRange, Reaction};

/// The editor's number for a buffer.
pub type BufferId = u64;

/// What the editor tells of a buffer.
#[derive(Debug)]
pub enum News {
    /// It is loaded, or something about it has changed.
    Known(BufferId, Known),
    /// Some of its lines, each with a `\n` after it, in order.
    Seed(Seed),
    /// It has changed.
    Lines(Splice),
    /// Its file has this text.
    InStep(BufferId, Mirror, Stamp),
    /// Its number has changed, and nothing else.
    Tick(BufferId, u64),
    /// Whether it has no lines at all, where it shows a single empty one.
    Empty(BufferId, bool),
    /// A change of it could not be told: its text is none that we could copy.
    Lost(BufferId),
    /// It is not loaded any more.
    Gone(BufferId),
    /// From now on the editor tells of every buffer that it loads.
    All,
}

/// A loaded buffer, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// The file it stands for, with links resolved.
    pub path: String,
    /// How its lines are written.
    pub format: Format,
    /// Whether its file is UTF-8 with no byte order mark.
    pub plain: bool,
    /// Whether it has changes that are not saved.
    pub modified: bool,
}

/// Some lines of a buffer that is copied.
#[derive(Debug)]
pub struct Seed {
    /// Which.
    pub buffer: BufferId,
    /// Its number, the same for all its pieces.
    pub tick: u64,
    /// Which piece, from 0.
    pub piece: usize,
    /// The lines.
    pub lines: String,
    /// Whether it is the last piece.
    pub last: bool,
}

/// A change of a buffer.
#[derive(Debug)]
pub struct Splice {
    /// Which.
    pub buffer: BufferId,
    /// Its number after the change.
    pub tick: u64,
    /// The rows that made place.
    pub rows: Range<usize>,
    /// The new lines, each with a `\n` after it.
    pub lines: String,
    /// Who changed it.
    pub by: Author,
}

impl News {
    /// Which buffer it is about.
    pub(super) fn buffer(&self) -> Option<BufferId> {
        match self {
            News::Known(id, _)
            | News::InStep(id, ..)
            | News::Tick(id, _)
            | News::Empty(id, _)
            | News::Lost(id)
            | News::Gone(id) => Some(*id),
            News::Seed(seed) => Some(seed.buffer),
            News::Lines(splice) => Some(splice.buffer),
            News::All => None,
        }
    }
}

/// How far the copy of a buffer is.
#[derive(Debug, Default)]
enum Copy {
    #[default]
    None,
    /// So many pieces of it.
    Coming(usize, Mirror),
    Here(Mirror),
}

#[derive(Debug)]
struct Buffer {
    known: Known,
    copy: Copy,
    /// What the disk says of the file that has the very text of the copy.
    in_step: Option<Stamp>,
}

/// All loaded buffers.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    buffers: BTreeMap<BufferId, Buffer>,
    /// Whether there are no others.
    all: bool,
}

/// A copy of a buffer as it was.
#[derive(Debug)]
struct Held {
    mirror: Mirror,
    format: Format,
}

impl Text for Held {
    fn size(&self) -> usize {
        self.mirror.size()
    }

    fn text(&self) -> Arc<str> {
        self.mirror.slice(1, None, self.format).into()
    }
}

impl Buffers {
    /// Takes in what the editor tells.
    pub(super) fn take(&mut self, news: News) {
        match news {
            News::Known(id, known) => match self.buffers.get_mut(&id) {
                Some(buffer) => buffer.known = known,
                None => {
                    self.buffers.insert(id, Buffer { known, copy: Copy::None, in_step: None });
                }
            },
            News::Seed(seed) => self.seed(seed),
            News::Lines(splice) => self.splice(&splice),
            News::InStep(id, lines, stamp) => {
                if let Some(buffer) = self.buffers.get_mut(&id)
                    && matches!(&buffer.copy, Copy::Here(mirror) if mirror.same_lines(&lines))
                {
                    buffer.in_step = Some(stamp);
                }
            }
            News::Tick(id, tick) => {
                if let Some(mirror) = self.mirror_mut(id) {
                    mirror.reach(tick);
                }
            }
            News::Empty(id, empty) => {
                if let Some(mirror) = self.mirror_mut(id) {
                    mirror.declare_empty(empty);
                }
            }
            News::Lost(id) => {
                if let Some(buffer) = self.buffers.get_mut(&id) {
                    (buffer.known.modified, buffer.copy) = (true, Copy::None);
                    buffer.in_step = None;
                }
            }
            News::Gone(id) => {
                self.buffers.remove(&id);
            }
            News::All => self.all = true,
        }
    }

    fn seed(&mut self, seed: Seed) {
        let Some(buffer) = self.buffers.get_mut(&seed.buffer) else { return };
        buffer.in_step = None;
        let (pieces, mut mirror) = match std::mem::take(&mut buffer.copy) {
            _ if seed.piece == 0 => (0, Mirror::new(seed.tick, [])),
            Copy::Coming(pieces, mirror) => (pieces, mirror),
            other => return buffer.copy = other,
        };
        // Else the pieces of two states would not fit together.
        if mirror.version() == seed.tick && pieces == seed.piece {
            mirror.extend(each(&seed.lines));
            let whole = seed.last;
            buffer.copy = if whole { Copy::Here(mirror) } else { Copy::Coming(pieces + 1, mirror) };
        }
    }

    fn splice(&mut self, splice: &Splice) {
        let Some(buffer) = self.buffers.get_mut(&splice.buffer) else { return };
        (buffer.known.modified, buffer.in_step) = (true, None);
        let Copy::Here(mirror) = &mut buffer.copy else {
            // The pieces of before and those of after it would not fit together.
            buffer.copy = Copy::None;
            return;
        };
        if mirror.splice(splice.tick, splice.rows.clone(), each(&splice.lines)).is_err() {
            tracing::error!(name = buffer.known.name, rows = ?splice.rows, "a change was missed");
            buffer.copy = Copy::None;
        }
    }

    fn mirror_mut(&mut self, id: BufferId) -> Option<&mut Mirror> {
        match &mut self.buffers.get_mut(&id)?.copy {
            Copy::Here(mirror) => Some(mirror),
            _ => None,
        }
    }

    /// What is known of a buffer, and the copy of its text if it is here.
    pub(super) fn get(&self, id: BufferId) -> Option<(&Known, Option<&Mirror>)> {
        let Buffer { known, copy, .. } = self.buffers.get(&id)?;
        Some(match copy {
            Copy::Here(mirror) => (known, Some(mirror)),
            _ => (known, None),
        })
    }

    /// The copy of a buffer, if it is here and of this state of it.
    pub(super) fn copy(&self, id: BufferId, tick: u64) -> Option<&Mirror> {
        match &self.buffers.get(&id)?.copy {
            Copy::Here(mirror) if mirror.version() == tick => Some(mirror),
            _ => None,
        }
    }

    /// Whether a path is that of an open file with no link in it, and in one of these folders.
    pub(super) fn is_open(&self, path: &str, roots: &[String]) -> bool {
        let below = |root: &String| {
            let rest = path.strip_prefix(root.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        roots.iter().any(below) && self.buffers.values().any(|it| it.known.path == path)
    }

    /// The files that are open, with links resolved.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.buffers.values().map(|it| it.known.path.as_str())
    }

    /// The buffer whose changes are those of a file.
    pub(super) fn copy_of(&self, path: &str) -> Option<(BufferId, &Known, &Mirror)> {
        self.buffers.iter().find_map(|(id, it)| match &it.copy {
            Copy::Here(mirror) if it.known.path == path => Some((*id, &it.known, mirror)),
            _ => None,
        })
    }

    /// The text of a buffer as its file would have it.
    pub(super) fn text(&self, id: BufferId) -> Option<Whole> {
        let Buffer { known, copy: Copy::Here(mirror), .. } = self.buffers.get(&id)? else {
            return None;
        };
        Some(Whole(Arc::new(Held { mirror: mirror.clone(), format: known.format })))
    }

    /// What a read of an agent is answered with; nothing when only the editor can tell. `on_disk`
    /// knows what the disk says of a file, and maybe its text.
    pub(super) fn read(
        &self,
        range: &FileRange,
        most: u64,
        on_disk: impl FnOnce(&str) -> Option<(Stamp, Option<Indexed>)>,
    ) -> Option<Reaction> {
        let mut of_path = self.buffers.values().filter(|it| it.known.path == range.path);
        let Some(Buffer { known, copy, in_step }) = of_path.next() else {
            return self.all.then_some(Reaction::NotLoaded);
        };
        if of_path.next().is_some() {
            return None;
        }
        // An agent may have written it just now.
        if known.plain
            && !known.modified
            && let Some((stamp, text)) = on_disk(&known.name)
            && *in_step != Some(stamp)
        {
            let part = text.and_then(|it| part(&it, range, most));
            return Some(part.unwrap_or(Reaction::NotLoaded));
        }
        let Copy::Here(mirror) = copy else { return None };
        if range.line.is_none() && range.limit.is_none() && mirror.size() as u64 > most {
            return None;
        }
        let count = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let line = range.line.map_or(1, count);
        let text = mirror.slice(line, range.limit.map(count), known.format);
        let held = Held { mirror: mirror.clone(), format: known.format };
        Some(Reaction::Part { text, whole: Some(Whole(Arc::new(held))) })
    }
}

/// Some lines of a file's text, unless they are too much.
fn part(text: &Indexed, range: &FileRange, most: u64) -> Option<Reaction> {
    let lines = Some(text.lines(range)).filter(|it| it.len() as u64 <= most)?;
    Some(Reaction::Part { text: lines.to_owned(), whole: Some(text.text.clone().into()) })
}

/// Lines that each have a `\n` after them.
fn each(lines: &str) -> impl Iterator<Item = &str> {
    lines.split_terminator('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { seconds: 1, nanoseconds: 2, size: 3, changed: (4, 5), inode: 6 };

    fn known(modified: bool) -> Known {
        let format = Format::default();
        Known { name: "/p/a".into(), path: "/p/a".into(), format, plain: true, modified }
    }

    fn seed(piece: usize, lines: &str, last: bool) -> News {
        News::Seed(Seed { buffer: 1, tick: 4, piece, lines: lines.to_owned(), last })
    }

    fn lines(tick: u64, rows: Range<usize>, lines: &str) -> News {
        let (buffer, lines, by) = (1, lines.to_owned(), Author::User);
        News::Lines(Splice { buffer, tick, rows, lines, by })
    }

    fn read(buffers: &Buffers, line: Option<u32>) -> Option<Reaction> {
        let range = FileRange { path: "/p/a".into(), line, limit: None };
        buffers.read(&range, 100, |_| Some((STAMP, None)))
    }

    fn text_of(reaction: Option<Reaction>) -> Option<String> {
        match reaction? {
            Reaction::Part { text, .. } => Some(text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_buffer_is_read_as_it_is() {
        let mut buffers = Buffers::default();
        assert_eq!(read(&buffers, None), None, "there may be a buffer that nobody has told of");
        buffers.take(News::All);
        assert_eq!(read(&buffers, None), Some(Reaction::NotLoaded));
        buffers.take(News::Known(1, known(false)));
        assert_eq!(read(&buffers, None), Some(Reaction::NotLoaded), "the disk has the same");
        buffers.take(seed(0, "one\ntwo\n", false));
        buffers.take(seed(1, "three\n", true));
        assert_eq!(read(&buffers, None), Some(Reaction::NotLoaded), "it may have another");
        buffers.take(News::InStep(1, Mirror::new(0, ["one", "two", "three"]), STAMP));
        assert_eq!(text_of(read(&buffers, None)).unwrap(), "one\ntwo\nthree\n");
        buffers.take(lines(5, 1..2, "typed\n\n"));
        assert_eq!(text_of(read(&buffers, None)).unwrap(), "one\ntyped\n\nthree\n");
        assert_eq!(text_of(read(&buffers, Some(4))).unwrap(), "three\n");
        assert!(buffers.copy(1, 5).is_some() && buffers.copy(1, 4).is_none());
        buffers.take(News::Gone(1));
        assert_eq!(read(&buffers, None), Some(Reaction::NotLoaded));
    }

    #[test]
    fn what_the_disk_is_known_to_have_is_told_before_there_is_a_copy() {
        let mut buffers = Buffers::default();
        buffers.take(News::Known(1, known(false)));
        let text: Arc<str> = "one\r\ntwo\r\nthree".into();
        let read = |buffers: &Buffers, line, most| {
            let range = FileRange { path: "/p/a".into(), line, limit: Some(1) };
            buffers.read(&range, most, |_| Some((STAMP, Some(Indexed::new(text.clone())))))
        };
        let Some(Reaction::Part { text: part, whole }) = read(&buffers, Some(2), 100) else {
            panic!()
        };
        assert_eq!((part.as_str(), whole), ("two\r\n", Some(text.clone().into())));
        assert_eq!(read(&buffers, None, 4), Some(Reaction::NotLoaded), "too much");
        buffers.take(seed(0, "ours\n", true));
        assert_eq!(text_of(read(&buffers, None, 100)).unwrap(), "one\r\n", "it was not saved so");
        buffers.take(lines(5, 0..1, "typed\n"));
        assert_eq!(text_of(read(&buffers, None, 100)).unwrap(), "typed\n");
    }

    #[test]
    fn what_is_out_of_step_is_not_told() {
        let mut buffers = Buffers::default();
        buffers.take(News::Known(1, known(true)));
        buffers.take(seed(0, "one\n", false));
        buffers.take(lines(5, 0..1, "typed\n"));
        buffers.take(seed(1, "two\n", true));
        assert_eq!(read(&buffers, None), None, "typed in while it was copied");
        buffers.take(seed(0, "one\n", true));
        assert!(read(&buffers, None).is_some());
        buffers.take(lines(9, 7..8, "far away\n"));
        assert_eq!(read(&buffers, None), None);
        buffers.take(seed(0, "", true));
        buffers.take(News::Empty(1, true));
        assert_eq!(text_of(read(&buffers, None)).unwrap(), "");
        buffers.take(News::Known(2, known(true)));
        assert_eq!(read(&buffers, None), None, "two buffers of one file");
    }
}
