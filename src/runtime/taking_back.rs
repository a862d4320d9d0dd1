//! What is taken back in a buffer with changes that are not saved is taken out of its file too,
//! where the file has it: these changes stay the buffer's alone.
//!
//! Knows the disk, and the text that a buffer was last in step with. Must not know hunks, nor who
//! wants it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bases::Bases;
use super::buffers::{BufferId, Buffers, Format};
use super::outbox::{Item, Outbox};
use super::reviews::{Reviews, put_back};
use super::stamp::{Stamp, stamp};
use crate::changes::format::split;
use crate::changes::merge::{merge, merge_value};
use crate::changes::mirror::Mirror;
use crate::session::event::DiskError;
use crate::session::ids::Tag;

/// What the editor tells.
#[derive(Debug, Clone, Copy)]
pub enum TakingBack {
    /// Something is about to be taken back in this state of a buffer.
    Begins(BufferId, u64),
    /// It is.
    Ends(TakenBack),
}

/// Something was taken back in a buffer.
#[derive(Debug, Clone, Copy)]
pub struct TakenBack {
    /// The editor's name for it.
    pub tag: Tag,
    /// Where.
    pub buffer: BufferId,
    /// The state that this led to.
    pub tick: u64,
    /// What the disk said of the file when the buffer last followed it.
    pub stamp: Option<Stamp>,
}

/// What a buffer has, and how that is written.
#[derive(Debug, Clone)]
struct BufferText {
    lines: Mirror,
    format: Format,
}

/// What a buffer had before.
#[derive(Debug)]
struct Before {
    text: BufferText,
    /// Whether the file was not there before an agent made it: with nothing left in it, it goes.
    made: bool,
}

/// What buffers had before.
#[derive(Debug, Default)]
pub(super) struct Held {
    before: BTreeMap<BufferId, Before>,
    /// One write at a time and in order: the next one is of what the last one has left.
    writes: Arc<tokio::sync::Mutex<()>>,
}

impl Held {
    /// Does it; the answer goes to the outbox.
    pub(super) fn take(
        &mut self,
        it: TakingBack,
        (buffers, reviews): (&Buffers, &Reviews),
        (bases, outbox): (&Arc<Bases>, &Arc<Outbox>),
    ) {
        let text = |buffer, tick| {
            let (lines, known) = (buffers.copy(buffer, tick)?.clone(), buffers.get(buffer)?.0);
            Some(BufferText { lines, format: known.format })
        };
        let it = match it {
            TakingBack::Begins(buffer, tick) => {
                self.before.retain(|id, _| *id != buffer && buffers.get(*id).is_some());
                let made = reviews.is_made(buffer);
                self.before.extend(text(buffer, tick).map(|text| (buffer, Before { text, made })));
                return;
            }
            TakingBack::Ends(it) => it,
        };
        let before = self.before.remove(&it.buffer);
        let path = buffers.get(it.buffer).map(|it| it.0.name.clone()).unwrap_or_default();
        let (bases, outbox) = (bases.clone(), outbox.clone());
        let (texts, writes) = (before.zip(text(it.buffer, it.tick)), self.writes.clone());
        tokio::spawn(async move {
            let alone = writes.lock_owned().await;
            tokio::task::spawn_blocking(move || {
                let done = match texts {
                    Some((before, after)) => take_out(&path, it.stamp, (&before, &after), &bases),
                    None => Err("the buffer has changed meanwhile".to_owned()),
                };
                drop(alone);
                outbox.push([Item::Rejected(it.tag, path, done.err())]);
            });
        });
    }
}

fn take_out(
    path: &str,
    known: Option<Stamp>,
    (before, after): (&Before, &BufferText),
    bases: &Bases,
) -> Result<(), String> {
    let (seen, now) = match bases.read(path) {
        Ok(it) => it,
        // Nothing is there that could have it.
        Err(DiskError::NotFound) => return Ok(()),
        Err(DiskError::Other(words)) => return Err(words),
    };
    // What the buffer has followed just now may not be known here yet.
    let followed = known == Some(seen) && stamp(path) == known;
    if !followed && bases.get(path).is_none_or(|it| it != now) {
        return Err("the file has changed meanwhile".to_owned());
    }
    let text = without(&now, &before.text, after)?;
    if before.made && text.is_empty() {
        return put_back(&bases.real(path), Some(&now), None);
    } else if text == *now {
        return Ok(());
    }
    put_back(&bases.real(path), Some(&now), Some(&text))?;
    bases.written(path, text.into());
    Ok(())
}

/// What becomes of a file's text if what happened to a buffer happens to it. The rest stays as it
/// is; why not, where it can't.
fn without(text: &str, before: &BufferText, after: &BufferText) -> Result<String, &'static str> {
    let file = split(text, before.format.ending);
    let lines: Vec<&str> = file.lines.iter().map(AsRef::as_ref).collect();
    let (was, is): (Vec<&str>, Vec<&str>) =
        (before.lines.lines().collect(), after.lines.lines().collect());
    let merged = merge(&was, &lines, &is);
    if !file.exact {
        return Err("its lines end in another way there");
    } else if !merged.conflicts.is_empty() {
        return Err("you have changed the same lines");
    }
    let (old, new) = (before.format, after.format);
    let format = Format {
        final_eol: merge_value(&old.final_eol, file.format.final_eol, new.final_eol),
        bom: merge_value(&old.bom, file.format.bom, new.bom),
        ..file.format
    };
    Ok(Mirror::new(0, merged.resolve(&[])).slice(1, None, format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::format::Ending;

    fn lines(text: &str) -> BufferText {
        BufferText { lines: Mirror::new(0, text.lines()), format: Format::default() }
    }

    fn with_ending(text: &str, ending: Ending) -> BufferText {
        BufferText { format: Format { ending, ..Format::default() }, ..lines(text) }
    }

    #[test]
    fn what_is_not_saved_stays_out_of_the_file() {
        let file = "one\nTWO\nthree\nfour\nFIVE\n";
        let was = "mine\none\nTWO\nthree\nfour\nFIVE\n";
        let is = "mine\none\ntwo\nthree\nfour\nFIVE\n";
        let text = without(file, &lines(was), &lines(is));
        assert_eq!(text.as_deref(), Ok("one\ntwo\nthree\nfour\nFIVE\n"));
        let dos = file.replace('\n', "\r\n");
        let (before, after) = (with_ending(was, Ending::CrLf), with_ending(is, Ending::CrLf));
        let text = without(&dos, &before, &after);
        assert_eq!(text.as_deref(), Ok("one\r\ntwo\r\nthree\r\nfour\r\nFIVE\r\n"));
        let text = without(file.trim_end(), &lines(was), &lines(is));
        assert_eq!(text.as_deref(), Ok("one\ntwo\nthree\nfour\nFIVE"));
    }

    #[test]
    fn how_the_last_line_ends_is_taken_back_too() {
        let open = Format { final_eol: false, ..Format::default() };
        let before = BufferText { format: open, ..lines("mine\none\nTWO\n") };
        let text = without("one\nTWO", &before, &lines("mine\none\ntwo\n"));
        assert_eq!(text.as_deref(), Ok("one\ntwo\n"));
    }

    #[test]
    fn what_the_file_does_not_have_is_not_taken_from_it() {
        let (before, after) = (lines("one\nTWO\nthree\n"), lines("one\ntwo\nthree\n"));
        let file = "one\ntwo\nthree\n";
        assert_eq!(without(file, &before, &after).as_deref(), Ok(file));
        assert_eq!(without("one\nother\nthree\n", &before, &after).ok(), None);
        // Lines that end in another way would not any more.
        let before = with_ending("one\nTWO\nthree\n", Ending::CrLf);
        let after = with_ending("one\ntwo\nthree\n", Ending::CrLf);
        assert_eq!(without("one\r\nTWO\nthree\r\n", &before, &after).ok(), None);
    }
}
