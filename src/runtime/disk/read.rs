//! Reading: the lines that are wanted, of whatever encoding, and no more than that.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{CAP, failed, other};
use crate::changes::encoding::decode;
use crate::runtime::nofollow;
use crate::session::event::DiskError;
use crate::session::question::FileRange;

/// How long a text may be of which a part is read, to be remembered as a whole.
const WHOLE: u64 = 4 << 20;
/// How far into a file a line may be, and how long it may take to get there: a file can be as long
/// as it likes without taking any room on the disk.
const FAR: u64 = 1 << 30;
const LATE: Duration = Duration::from_secs(3);

/// What was read.
pub(super) struct Part {
    pub(super) text: String,
    /// The whole text of the file of which that is a part, if it is not too long to be kept.
    pub(super) whole: Option<Arc<str>>,
}

/// The text of a file or of some of its lines, with their line endings as they are. No part of the
/// path may be a symbolic link.
///
/// # Errors
/// There is no such file, it can't be read, or it is no text.
pub fn read(range: &FileRange) -> Result<String, DiskError> {
    let path = Path::new(&range.path);
    lines_of(&mut open(path)?, range, CAP)
}

/// The same, with the whole text where a part is wanted.
pub(super) fn part(range: &FileRange, most: u64) -> Result<Part, DiskError> {
    let path = Path::new(&range.path);
    let mut file = open(path)?;
    let small = file.metadata().map_err(|error| failed(path, &error))?.len() <= WHOLE;
    let is_part = range.line.is_some() || range.limit.is_some();
    let mut whole = None;
    if is_part && small {
        let all = FileRange { path: range.path.clone(), line: None, limit: None };
        whole = lines_of(&mut file, &all, CAP).ok().map(Arc::from);
        file.rewind().map_err(|error| failed(path, &error))?;
    }
    Ok(Part { text: lines_of(&mut file, range, most)?, whole })
}

fn open(path: &Path) -> Result<File, DiskError> {
    nofollow::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => other(path, "is a directory"),
        _ => failed(path, &error),
    })
}

/// Lines of a file that is at its beginning.
fn lines_of(file: &mut File, range: &FileRange, most: u64) -> Result<String, DiskError> {
    let path = Path::new(&range.path);
    let mut reader = BufReader::with_capacity(64 << 10, &mut *file);
    let bytes = match lines(&mut reader, range, most) {
        Ok(Lines::Found(bytes)) => bytes,
        Ok(Lines::TooMuch) => {
            let words = format!("is larger than {} MB: read it in parts", most >> 20);
            return Err(other(path, &words));
        }
        Ok(Lines::TooFar) => {
            let line = range.line.unwrap_or(1);
            return Err(other(path, &format!("is too large to look for its line {line}")));
        }
        Err(error) => return Err(failed(path, &error)),
    };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => decoded(file, range),
    }
}

/// The same for a file that is not UTF-8: its encoding is told by all of it.
fn decoded(file: &mut File, range: &FileRange) -> Result<String, DiskError> {
    let path = Path::new(&range.path);
    let mut bytes = Vec::new();
    let all = file.rewind().and_then(|()| file.take(CAP + 1).read_to_end(&mut bytes));
    let count = all.map_err(|error| failed(path, &error))? as u64;
    if count > CAP {
        return Err(other(path, "is not text, or too large to be read as one"));
    }
    let text = decode(bytes).map_err(|error| other(path, &format!("is not text: {error}")))?.text;
    let skipped = range.line.map_or(0, |line| line.saturating_sub(1) as usize);
    let limit = range.limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(text.split_inclusive('\n').skip(skipped).take(limit).collect())
}

enum Lines {
    Found(Vec<u8>),
    TooMuch,
    TooFar,
}

/// The lines wanted, reading no further than their end.
fn lines(file: &mut impl BufRead, range: &FileRange, most: u64) -> io::Result<Lines> {
    if !skip(file, range.line.unwrap_or(1).saturating_sub(1))? {
        return Ok(Lines::TooFar);
    }
    let mut bytes = Vec::new();
    let mut file = file.take(most + 1);
    match range.limit {
        None => {
            file.read_to_end(&mut bytes)?;
        }
        Some(limit) => {
            for _ in 0..limit {
                if file.read_until(b'\n', &mut bytes)? == 0 {
                    break;
                }
            }
        }
    }
    Ok(if bytes.len() as u64 <= most { Lines::Found(bytes) } else { Lines::TooMuch })
}

/// Skips so many lines, or all there are; whether that was not too far.
fn skip(file: &mut impl BufRead, mut lines: u32) -> io::Result<bool> {
    let (begin, mut skipped) = (Instant::now(), 0);
    while lines > 0 {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(true);
        }
        let mut count = bytes.len();
        for end in memchr::memchr_iter(b'\n', bytes) {
            lines -= 1;
            if lines == 0 {
                count = end + 1;
                break;
            }
        }
        file.consume(count);
        skipped += count as u64;
        if lines > 0 && (skipped > FAR || begin.elapsed() > LATE) {
            return Ok(false);
        }
    }
    Ok(true)
}
