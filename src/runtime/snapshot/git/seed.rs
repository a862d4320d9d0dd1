//! The first index of ours: a copy of the user's, so that git need not read what it knows already.
//!
//! What the user's index says of a file is of use only if the file's bytes are those of the blob:
//! where line endings or filters come between, and where the user has told git not to look, the
//! file is read after all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{Git, listed};
use crate::runtime::git::theirs;
use crate::runtime::nofollow::open_regular;
use crate::runtime::snapshot::Error;

/// Attributes that change the length of a text whenever they change it.
const ENDINGS: [&str; 4] = ["text", "eol", "crlf", "ident"];
/// Attributes that may do anything.
const ANYTHING: [&str; 2] = ["filter", "working-tree-encoding"];

impl Git {
    /// Copies the user's index; the files that have to be read nevertheless.
    pub(super) fn seed(&self) -> Result<Vec<PathBuf>, Error> {
        let Ok(mut from) = open_regular(&self.user.index) else { return Ok(Vec::new()) };
        let place = self.own.join("index");
        let mut to = File::create(&place)?;
        let modified = from.metadata()?.modified()?;
        std::io::copy(&mut from, &mut to)?;
        // What was written after the index was may differ from what the index says, whatever its
        // stamp: git tells by the time of the index.
        to.set_modified(modified)?;
        drop(to);
        let unsure = self.unsure().inspect_err(|_| self.forget());
        match unsure {
            Ok(unsure) => {
                let git = self.git(&["update-index", "-z", "--force-remove", "--stdin"]);
                git.run(&listed(&unsure)).inspect_err(|_| self.forget())?;
                Ok(unsure)
            }
            Err(error) => {
                // An index in several files, for instance: then everything is read.
                tracing::info!(%error, "the index is of no use");
                Ok(Vec::new())
            }
        }
    }

    fn forget(&self) {
        if let Err(error) = fs::remove_file(self.own.join("index")) {
            tracing::debug!(%error, "left behind");
        }
    }

    /// Files of the index of which it does not tell the bytes.
    fn unsure(&self) -> Result<Vec<PathBuf>, Error> {
        let said = self.git(&["ls-files", "-z", "-v", "-s"]).run(&[])?;
        let (mut unsure, mut blobs) = (BTreeSet::new(), BTreeMap::new());
        for entry in said.split(|it| *it == 0) {
            let Some(at) = entry.iter().position(|it| *it == b'\t') else { continue };
            let (head, path) = entry.split_at(at);
            let path = PathBuf::from(OsStr::from_bytes(path.get(1..).unwrap_or_default()));
            let head = String::from_utf8_lossy(head);
            let mut words = head.split(' ');
            match (words.next(), words.next(), words.next()) {
                (_, Some("160000" | "120000"), _) => {}
                (Some("H" | "M"), _, Some(blob)) => {
                    blobs.insert(path, blob.to_owned());
                }
                // The user has told git not to look at it.
                _ => {
                    unsure.insert(path);
                }
            }
        }
        let resized = self.converted(&blobs, &mut unsure)?;
        let sizes = self.sizes(resized.iter().filter_map(|path| blobs.get(path)))?;
        for path in resized {
            let blob = blobs.get(&path).and_then(|it| sizes.get(it)).copied();
            let now = fs::symlink_metadata(self.user.top.join(&path)).ok().map(|it| it.len());
            if blob != now {
                unsure.insert(path);
            }
        }
        Ok(unsure.into_iter().collect())
    }

    /// Files whose line endings may differ from the blob's. Those with more than that are unsure.
    fn converted(
        &self,
        blobs: &BTreeMap<PathBuf, String>,
        unsure: &mut BTreeSet<PathBuf>,
    ) -> Result<BTreeSet<PathBuf>, Error> {
        let setting = theirs(&self.user.top, &["config", "--get", "core.autocrlf"]).run(&[]);
        let all = setting.is_ok_and(|it| it.trim_ascii() != b"false");
        let names: Vec<PathBuf> = blobs.keys().cloned().collect();
        let mut converted: BTreeSet<PathBuf> =
            if all { names.iter().cloned().collect() } else { BTreeSet::new() };
        let mut git = theirs(&self.user.top, &["check-attr", "-z", "--stdin"]);
        git.args(ENDINGS.iter().chain(&ANYTHING));
        let said = git.run(&listed(&names))?;
        let mut parts = said.split(|it| *it == 0);
        while let (Some(path), Some(name), Some(value)) = (parts.next(), parts.next(), parts.next())
        {
            if value == b"unspecified" || value == b"unset" {
                continue;
            }
            let path = PathBuf::from(OsStr::from_bytes(path));
            let anything = ANYTHING.iter().any(|it| it.as_bytes() == name);
            if anything {
                unsure.insert(path)
            } else {
                converted.insert(path)
            };
        }
        Ok(converted)
    }

    fn sizes<'a>(
        &self,
        blobs: impl Iterator<Item = &'a String>,
    ) -> Result<BTreeMap<String, u64>, Error> {
        let input: Vec<u8> = blobs.flat_map(|it| format!("{it}\n").into_bytes()).collect();
        let said =
            self.git(&["cat-file", "--batch-check=%(objectname) %(objectsize)"]).run(&input)?;
        let said = String::from_utf8_lossy(&said);
        let lines = said.lines().filter_map(|line| line.split_once(' '));
        Ok(lines.filter_map(|(blob, size)| Some((blob.to_owned(), size.parse().ok()?))).collect())
    }
}
