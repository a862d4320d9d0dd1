//! What is taken back in a buffer with changes that are not saved is taken out of its file too,
//! where the file has it: these changes stay the buffer's alone.
//!
//! Knows the disk, and the text that a buffer was last in step with. Must not know hunks, nor who
//! wants it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bases::{Bases, read};
use super::buffers::{BufferId, Buffers, Ending};
use super::disk;
use super::outbox::{Item, Outbox};
use super::stamp::{Stamp, stamp};
use crate::changes::format::split;
use crate::changes::merge::merge;
use crate::changes::mirror::Mirror;
use crate::session::event::DiskError;
use crate::session::ids::Tag;

/// What the editor tells.
#[derive(Debug, Clone, Copy)]
pub enum TakingBack {
    /// Something is about to be taken back in this state of a buffer.
    Begins(BufferId, u64),
    /// It is, which led to this state. The disk said this of the file when the buffer last followed
    /// it.
    Ends(Tag, BufferId, u64, Option<Stamp>),
}

/// What buffers had before.
#[derive(Debug, Default)]
pub(super) struct Held(BTreeMap<BufferId, Mirror>);

impl Held {
    /// Does it; the answer goes to the outbox.
    pub(super) fn take(
        &mut self,
        it: TakingBack,
        buffers: &Buffers,
        (bases, outbox): (&Arc<Bases>, &Arc<Outbox>),
    ) {
        let (tag, buffer, tick, stamp) = match it {
            TakingBack::Begins(buffer, tick) => {
                self.0.retain(|id, _| *id != buffer && buffers.get(*id).is_some());
                self.0.extend(buffers.copy(buffer, tick).map(|copy| (buffer, copy.clone())));
                return;
            }
            TakingBack::Ends(tag, buffer, tick, stamp) => (tag, buffer, tick, stamp),
        };
        let before = self.0.remove(&buffer);
        let known = buffers.get(buffer).map(|it| (it.0.name.clone(), it.0.format.ending));
        let (path, ending) = known.unwrap_or_default();
        let (bases, outbox) = (bases.clone(), outbox.clone());
        let texts = before.zip(buffers.copy(buffer, tick).cloned());
        tokio::task::spawn_blocking(move || {
            let done = match texts {
                Some(texts) => on_disk(&path, texts, ending, (&bases, stamp)),
                None => Err("the buffer has changed meanwhile".to_owned()),
            };
            outbox.push([Item::Rejected(tag, path, done.err())]);
        });
    }
}

fn on_disk(
    path: &str,
    (before, after): (Mirror, Mirror),
    ending: Ending,
    (bases, known): (&Bases, Option<Stamp>),
) -> Result<(), String> {
    let (seen, now) = match read(path) {
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
    let text = without(&now, (&before, &after), ending)?;
    if text == *now {
        return Ok(());
    }
    disk::write(path, &text).map_err(|error| match error {
        DiskError::NotFound => "there is no such file".to_owned(),
        DiskError::Other(words) => words,
    })?;
    bases.written(path, text.into());
    Ok(())
}

/// What becomes of a file's text if what happened to a buffer happens to it. The rest stays as it
/// is; why not, where it can't.
fn without(
    text: &str,
    (before, after): (&Mirror, &Mirror),
    ending: Ending,
) -> Result<String, &'static str> {
    let file = split(text, ending);
    let lines: Vec<&str> = file.lines.iter().map(AsRef::as_ref).collect();
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let merged = merge(&before, &lines, &after);
    if !file.exact {
        return Err("its lines end in another way there");
    } else if !merged.conflicts.is_empty() {
        return Err("you have changed the same lines");
    }
    Ok(Mirror::new(0, merged.resolve(&[])).slice(1, None, file.format))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Mirror {
        Mirror::new(0, text.lines())
    }

    #[test]
    fn what_is_not_saved_stays_out_of_the_file() {
        let file = "one\nTWO\nthree\nfour\nFIVE\n";
        let before = lines("mine\none\nTWO\nthree\nfour\nFIVE\n");
        let after = lines("mine\none\ntwo\nthree\nfour\nFIVE\n");
        let text = without(file, (&before, &after), Ending::Lf);
        assert_eq!(text.as_deref(), Ok("one\ntwo\nthree\nfour\nFIVE\n"));
        let dos = file.replace('\n', "\r\n");
        let text = without(&dos, (&before, &after), Ending::CrLf);
        assert_eq!(text.as_deref(), Ok("one\r\ntwo\r\nthree\r\nfour\r\nFIVE\r\n"));
        let text = without(file.trim_end(), (&before, &after), Ending::Lf);
        assert_eq!(text.as_deref(), Ok("one\ntwo\nthree\nfour\nFIVE"));
    }

    #[test]
    fn what_the_file_does_not_have_is_not_taken_from_it() {
        let (before, after) = (lines("one\nTWO\nthree\n"), lines("one\ntwo\nthree\n"));
        let file = "one\ntwo\nthree\n";
        assert_eq!(without(file, (&before, &after), Ending::Lf).as_deref(), Ok(file));
        assert_eq!(without("one\nother\nthree\n", (&before, &after), Ending::Lf).ok(), None);
        // Lines that end in another way would not any more.
        assert_eq!(without("one\r\nTWO\nthree\r\n", (&before, &after), Ending::CrLf).ok(), None);
    }
}
