//! Writing: whole or not at all, in the encoding of the file, and never over what the agent has not
//! seen.

use std::io::{self, Read, Write};
use std::path::Path;

use rustix::fs::{FileType, Stat};

use super::{CAP, other};
use crate::changes::encoding::{Decoded, Encoding, decode, encode};
use crate::changes::format::{Ending, Format, Split, split};
use crate::changes::merge::{merge, merge_value};
use crate::changes::mirror::Mirror;
use crate::runtime::nofollow::{self, Place};
use crate::runtime::system_error::words;
use crate::session::event::DiskError;

/// How often somebody else may write a file while it is put together with what is written.
const TRIES: usize = 5;

/// What a file has.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// The text that was to be written.
    AsGiven,
    /// That, and what somebody else had changed.
    Merged(String),
}

/// Gives a file this text, whole or not at all. Its folders are made if need be. No part of the
/// path may be a symbolic link.
///
/// # Errors
/// It can't be written.
pub fn write(path: &str, text: &str) -> Result<(), DiskError> {
    write_over(path, text, None).map(|_| ())
}

/// The same for somebody who has last seen this text of it: what it has by now is kept.
///
/// # Errors
/// It can't be written, or the same lines have changed since.
pub fn write_over(path: &str, text: &str, seen: Option<&str>) -> Result<Written, DiskError> {
    let path = Path::new(path);
    // A folder that is missing is not a file that is missing: nothing was found, something failed.
    let failed = |error: io::Error| other(path, &format!("cannot be written: {}", words(&error)));
    let place = Place::make(path).map_err(failed)?;
    for _ in 0..TRIES {
        let Some(old) = place.stat().map_err(failed)? else {
            place.replace(text.as_bytes(), None).map_err(failed)?;
            return Ok(Written::AsGiven);
        };
        let now = Now::read(&place, &old).map_err(failed)?;
        let merged = match seen {
            Some(seen) => now.merged(seen, text).map_err(|words| other(path, &words))?,
            None => None,
        };
        let bytes = now.encode(merged.as_deref().unwrap_or(text)).map_err(failed)?;
        let same = |it: &Stat| stamp(it) == stamp(&old);
        if seen.is_some() && !place.stat().map_err(failed)?.is_some_and(|it| same(&it)) {
            continue;
        }
        overwrite(&place, &old, &bytes).map_err(failed)?;
        return Ok(merged.map_or(Written::AsGiven, Written::Merged));
    }
    Err(other(path, "is being written by somebody else: read it again"))
}

/// What is to be told apart of a file before and after.
fn stamp(it: &Stat) -> [i128; 4] {
    [it.st_ino.into(), it.st_size.into(), it.st_mtime.into(), it.st_mtime_nsec.into()]
}

/// The file that is about to be replaced.
struct Now {
    /// As agents read it; none where it is no text.
    text: Option<String>,
    encoding: Option<Encoding>,
}

impl Now {
    fn read(place: &Place, old: &Stat) -> io::Result<Now> {
        match FileType::from_raw_mode(old.st_mode) {
            FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            FileType::RegularFile | FileType::Symlink => {}
            _ => return Err(io::Error::other("it is not a regular file")),
        }
        let mut bytes = Vec::new();
        // Who may write it may not read it.
        match place.open() {
            Ok(file) => file.take(CAP).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => 0,
            Err(error) => return Err(error),
        };
        // As it is read, a byte order mark is a character.
        if let Ok(text) = str::from_utf8(&bytes)
            && !text.contains('\0')
        {
            return Ok(Now { text: Some(text.to_owned()), encoding: None });
        }
        let decoded = decode(bytes).ok();
        let encoding = decoded.as_ref().and_then(utf8_or_other);
        Ok(Now { text: decoded.map(|it| it.text), encoding })
    }

    fn encode(&self, text: &str) -> io::Result<Vec<u8>> {
        match self.encoding {
            Some(encoding) => encode(text, encoding).map_err(io::Error::other),
            None => Ok(text.as_bytes().to_vec()),
        }
    }

    /// What becomes of the text that somebody wrote who had seen `seen`; none where nothing else
    /// has changed since.
    fn merged(&self, seen: &str, text: &str) -> Result<Option<String>, String> {
        let Some(now) = self.text.as_deref() else {
            return Err("has changed since it was read, and is no text any more".to_owned());
        };
        if now == seen || now == text {
            return Ok(None);
        }
        let same_ending = |it: Ending| [seen, now, text].iter().all(|text| split(text, it).exact);
        let dos = now.contains("\r\n") && same_ending(Ending::CrLf);
        let ending = if dos { Ending::CrLf } else { Ending::Lf };
        let (base, ours, theirs) = (split(seen, ending), split(now, ending), split(text, ending));
        let (base_lines, our_lines, their_lines) = (lines(&base), lines(&ours), lines(&theirs));
        let merged = merge(&base_lines, &our_lines, &their_lines);
        if !merged.conflicts.is_empty() {
            let place = |it: &crate::changes::merge::Conflict| (it.ours.start + 1).to_string();
            let places: Vec<String> = merged.conflicts.iter().take(10).map(place).collect();
            return Err(format!(
                "has changed since it was read, at line {} too: nothing was written. Read it \
                 again before you change it",
                places.join(", ")
            ));
        }
        let value = |of: fn(&Format) -> bool| {
            merge_value(&of(&base.format), of(&ours.format), of(&theirs.format))
        };
        let format =
            Format { ending, final_eol: value(|it| it.final_eol), bom: value(|it| it.bom) };
        let result = Mirror::new(0, merged.resolve(&[])).slice(1, None, format);
        Ok((result != text).then_some(result))
    }
}

fn lines<'a>(split: &'a Split<'_>) -> Vec<&'a str> {
    split.lines.iter().map(AsRef::as_ref).collect()
}

fn utf8_or_other(decoded: &Decoded) -> Option<Encoding> {
    match decoded.encoding {
        Encoding::Utf8 { .. } => None,
        encoding => Some(encoding),
    }
}

/// A text in the encoding of the file that it replaces.
pub(in crate::runtime) fn encoded(target: &Path, text: &str) -> io::Result<Vec<u8>> {
    let plain = || Ok(text.as_bytes().to_vec());
    let Ok(file) = nofollow::open(target) else { return plain() };
    let mut bytes = Vec::new();
    file.take(CAP).read_to_end(&mut bytes)?;
    match decode(bytes).ok().as_ref().and_then(utf8_or_other) {
        None => plain(),
        Some(encoding) => encode(text, encoding).map_err(io::Error::other),
    }
}

/// Gives a file these bytes, whole or not at all, in the place of whatever file or link is there.
/// Its mode stays, but for whether it is a program. No part of the way may be a link.
pub(in crate::runtime) fn put(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let place = Place::make(path)?;
    match place.stat()? {
        Some(old) => match FileType::from_raw_mode(old.st_mode) {
            FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            FileType::RegularFile => overwrite(&place, &old, bytes)?,
            _ => place.replace(bytes, None)?,
        },
        None => place.replace(bytes, None)?,
    }
    let mode = place.stat()?.map_or(0o600, |it| it.st_mode);
    if (mode & 0o100 != 0) != executable {
        // Whoever may read it may run it.
        place.set_mode(if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 })?;
    }
    Ok(())
}

/// Replaces a file's text. A new file in its place would have another owner, and is not always to
/// be made: then the old one is written, which is worth the small danger of half a text. A file
/// with a second name is not: that one may be anywhere, and nobody has been asked about it.
fn overwrite(place: &Place, old: &Stat, bytes: &[u8]) -> io::Result<()> {
    // A file that must not be written must not be replaced either.
    let mut file = place.open_to_write()?;
    if old.st_uid == rustix::process::geteuid().as_raw() {
        match place.replace(bytes, Some(old)) {
            // The file is ours, but its folder or its group is not.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => return result,
        }
    }
    if old.st_nlink > 1 {
        return Err(io::Error::other("it has another name elsewhere, and cannot be replaced"));
    }
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_data()
}
