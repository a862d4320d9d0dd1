//! Changes written as what to look for and what to put there:
//! `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.

use super::patch::{FilePatch, Hunk, Kind, Mark};

/// Whether lines are such changes.
pub(super) fn is_search(lines: &[&str]) -> bool {
    let begins = lines.iter().any(|it| it.starts_with("<<<<<<< SEARCH"));
    begins && lines.iter().any(|it| it.starts_with(">>>>>>> REPLACE"))
}

/// Reads such changes; a line before one that could be a path is the file it is for.
pub(super) fn read(lines: &[&str]) -> Vec<FilePatch> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut name: Option<String> = None;
    let mut hunk = Hunk::default();
    let mut mark = Mark::Kept;
    for line in lines {
        if line.starts_with("<<<<<<< SEARCH") {
            (hunk, mark) = (Hunk::default(), Mark::Removed);
        } else if mark == Mark::Removed && line.starts_with("=======") {
            mark = Mark::Added;
        } else if mark == Mark::Added && line.starts_with(">>>>>>> REPLACE") {
            mark = Mark::Kept;
            let path = name.take().or_else(|| files.last().and_then(|it| it.path.clone()));
            let hunk = std::mem::take(&mut hunk);
            match files.last_mut().filter(|it| it.path == path) {
                Some(file) => file.hunks.push(hunk),
                None => files.push(FilePatch { path, kind: Kind::Changed, hunks: vec![hunk] }),
            }
        } else if mark == Mark::Kept {
            let word = line.trim();
            let is_path = !word.is_empty() && !word.contains(char::is_whitespace);
            name = is_path.then(|| word.to_owned());
        } else {
            hunk.lines.push((mark, (*line).to_owned()));
        }
    }
    files
}
