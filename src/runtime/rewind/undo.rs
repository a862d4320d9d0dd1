//! What becomes of one file when turns are undone: what the turns did goes, what the user did
//! stays. Knows contents, and no records.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;

use crate::changes::encoding::{decode, encode};
use crate::changes::merge::{Choice, merge, merge_value};
use crate::runtime::disk;
use crate::runtime::nofollow::Place;
use crate::runtime::snapshot::{Error, Snapshots, Was};

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Is {
    Missing,
    File { bytes: Vec<u8>, executable: bool },
    Link(Vec<u8>),
}

/// What to do with a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is as it shall be.
    Nothing,
    /// It becomes this.
    Set(Is),
    /// The user has changed the same lines, and is to be asked.
    Ask,
    /// It stays as it is, and why.
    Keep(&'static str),
}

impl Is {
    /// What a file was.
    pub(super) fn of(snapshots: &Snapshots, was: &Was) -> Result<Is, Error> {
        Ok(match was {
            Was::Missing => Is::Missing,
            Was::File { content, executable } => {
                Is::File { bytes: snapshots.read(content)?, executable: *executable }
            }
            Was::Link(content) => Is::Link(snapshots.read(content)?),
        })
    }

    /// What is on the disk.
    pub(super) fn now(path: &Path) -> io::Result<Is> {
        let gone = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        };
        // A folder that is a link by now leads to files that are none of our business.
        let place = match Place::find(path) {
            Err(error) if gone(&error) => return Ok(Is::Missing),
            place => place?,
        };
        let Some(found) = place.stat()? else { return Ok(Is::Missing) };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => Ok(Is::Link(place.read_link()?)),
            FileType::RegularFile => {
                let (mut bytes, executable) = (Vec::new(), found.st_mode & 0o100 != 0);
                place.open()?.read_to_end(&mut bytes)?;
                Ok(Is::File { bytes, executable })
            }
            _ => Err(io::Error::other("it is no file")),
        }
    }

    /// Its text, as merges want it.
    pub(super) fn text(&self) -> Option<String> {
        let Is::File { bytes, .. } = self else { return None };
        match str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Some(text.to_owned()),
            _ => decode(bytes.clone()).ok().map(|it| it.text),
        }
    }

    /// Makes the disk have it.
    pub(super) fn put(&self, path: &Path, project: &Path) -> io::Result<()> {
        match self {
            Is::Missing => {
                Place::find(path)?.remove()?;
                // Folders that have nothing else were made for it.
                let folders = path.ancestors().skip(1);
                let below = |it: &&Path| *it != project && it.starts_with(project);
                for folder in folders.take_while(below) {
                    if Place::find(folder).and_then(|it| it.remove_folder()).is_err() {
                        break;
                    }
                }
                Ok(())
            }
            Is::File { bytes, executable } => disk::put(path, bytes, *executable),
            Is::Link(target) => {
                let target = Path::new(std::ffi::OsStr::from_bytes(target));
                Place::make(path)?.put_link(target)
            }
        }
    }
}

/// What a file would be without a change from `before` to `after`, and whether that was all of
/// the change: what overlaps a later change of the user's stays.
pub(super) fn without(now: &Is, after: &Is, before: &Is) -> (Is, bool) {
    if now == after {
        return (before.clone(), true);
    }
    match merged(after, now, before) {
        Some((is, conflicts)) => (is, conflicts == 0),
        None => (now.clone(), now == before),
    }
}

/// What to do with a file that was `base` and shall be `wanted`, and is something else by now.
pub(super) fn step(base: &Is, wanted: &Is, now: &Is) -> Step {
    if wanted == base || now == wanted {
        return Step::Nothing;
    }
    if now == base {
        return Step::Set(wanted.clone());
    }
    match (merged(base, now, wanted), now) {
        (Some((is, 0)), _) if is == *now => Step::Nothing,
        (Some((is, 0)), _) => Step::Set(is),
        (Some(_), _) => Step::Ask,
        (None, Is::Missing) => Step::Keep("you have deleted it since"),
        (None, _) => Step::Keep("you have changed it since"),
    }
}

/// What both made of a text, and on how many places they disagree; there ours stays.
fn merged(base: &Is, ours: &Is, theirs: &Is) -> Option<(Is, usize)> {
    let (Is::File { executable: a, .. }, Is::File { bytes, executable: b }) = (base, ours) else {
        return None;
    };
    let Is::File { executable: c, .. } = theirs else { return None };
    let executable = merge_value(a, *b, *c);
    let (base, text, theirs) = (base.text()?, ours.text()?, theirs.text()?);
    let lines = |text: &'_ str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let all = [lines(&base), lines(&text), lines(&theirs)];
    let [base, ours, theirs] =
        &all.each_ref().map(|it| it.iter().map(String::as_str).collect::<Vec<_>>());
    let merged = merge(base, ours, theirs);
    let choices = vec![Choice::Ours; merged.conflicts.len()];
    let text: String = merged.resolve(&choices).concat();
    let bytes = match str::from_utf8(bytes) {
        Ok(_) => text.into_bytes(),
        Err(_) => encode(&text, decode(bytes.clone()).ok()?.encoding).ok()?,
    };
    Some((Is::File { bytes, executable }, merged.conflicts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Is {
        Is::File { bytes: text.into(), executable: false }
    }

    #[test]
    fn what_the_user_did_stays() {
        let (before, after) = (file("a\nb\nc\nd\n"), file("a\nB\nc\nd\n"));
        assert_eq!(step(&after, &before, &after), Step::Set(before.clone()));
        assert_eq!(step(&after, &before, &before), Step::Nothing);
        let edited = file("a\nB\nc\nmine\n");
        assert_eq!(step(&after, &before, &edited), Step::Set(file("a\nb\nc\nmine\n")));
        assert_eq!(step(&after, &before, &file("a\nmine\nc\nd\n")), Step::Ask);
        assert!(matches!(step(&after, &before, &Is::Missing), Step::Keep(_)));
        // A file that the turn made, and one that it deleted.
        assert_eq!(step(&after, &Is::Missing, &after), Step::Set(Is::Missing));
        assert!(matches!(step(&after, &Is::Missing, &edited), Step::Keep(_)));
        assert_eq!(step(&Is::Missing, &before, &Is::Missing), Step::Set(before.clone()));
        assert!(matches!(step(&Is::Missing, &before, &edited), Step::Keep(_)));
        // No text: all or nothing.
        let binary = |byte| Is::File { bytes: vec![0, byte], executable: false };
        assert_eq!(step(&binary(1), &binary(2), &binary(1)), Step::Set(binary(2)));
        assert!(matches!(step(&binary(1), &binary(2), &binary(3)), Step::Keep(_)));
    }

    #[test]
    fn one_turn_after_the_other() {
        let (one, two) = (file("a\nb\nc\nd\ne\n"), file("a\nB\nc\nd\ne\n"));
        let (three, four) = (file("a\nB\nc\nmine\ne\n"), file("a\nB\nc\nmine\nE\n"));
        let (is, all) = without(&four, &four, &three);
        assert_eq!((&is, all), (&three, true));
        assert_eq!(without(&is, &two, &one), (file("a\nb\nc\nmine\ne\n"), true));
        let instead = file("a\nmine\nc\nd\ne\n");
        assert_eq!(without(&instead, &two, &one), (instead.clone(), false));
    }
}
