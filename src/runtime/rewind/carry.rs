//! A rewind, carried out: which turns, which files, and what becomes of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::records::{self, Key, Record, What};
use super::undo::{Is, Step, step, without};
use super::{Outcome, Refused, shown};
use crate::runtime::snapshot::{Error, Extra, Name, Snapshots};
use crate::runtime::system_error::words;

/// By file: what it was, and what it shall be.
pub(super) type Sides = HashMap<String, (Arc<str>, Arc<str>)>;

/// Goes back to before a turn, as far as the disk is concerned. The record of it is open: it is
/// over when the editor has done its part.
pub(super) fn back(
    snapshots: &Snapshots,
    key: &Key,
    id: &str,
    (extra, loaded): (&Extra, &[String]),
) -> Result<(Record, Sides, Outcome), Refused> {
    let all = records::of(snapshots, key);
    let Some(at) = all.iter().position(|it| it.id == id) else {
        let message = format!("there is no turn {id} to go back to");
        return Err(Refused { code: "no_turn", message, hint: ":Acp rewind lists them" });
    };
    let undone = all.get(at..).unwrap_or_default();
    let failed = |error: Error| {
        let message = format!("what the files were can't be told: {error}");
        Refused { code: "failed", message, hint: "See :Acp log" }
    };
    let prompt = match undone.first() {
        Some(first) if first.is_rewind() => format!("to before rewind {id}"),
        Some(first) => format!("to before turn {id}: {}", first.prompt),
        None => String::new(),
    };
    // First of all, so that nothing is lost whatever comes.
    let record = Record::begin(snapshots, key, What::Rewind(prompt), extra).map_err(failed)?;
    let wanted = wanted(snapshots, undone).map_err(failed)?;
    let loaded: BTreeSet<PathBuf> = loaded.iter().map(PathBuf::from).collect();
    let modified: BTreeSet<&Path> = extra.over.iter().map(|(path, _)| path.as_path()).collect();
    let mut carrying =
        Carrying { snapshots, loaded, modified, sides: Sides::new(), outcome: Outcome::default() };
    // What goes makes place for what comes.
    let (gone, others): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|(_, it)| it.wanted == Is::Missing);
    for (path, it) in gone.into_iter().chain(others) {
        carrying.one(&path.0, it);
    }
    Ok((record, carrying.sides, carrying.outcome))
}

/// A file that turns have changed.
#[derive(Debug)]
struct Undone {
    /// What the last turn left.
    base: Is,
    /// What it would be without these turns.
    wanted: Is,
    /// Whether that is all of what they did.
    all: bool,
}

/// What the files would be without these turns, if nobody had touched them since.
fn wanted(snapshots: &Snapshots, undone: &[Record]) -> Result<BTreeMap<Name, Undone>, Error> {
    let mut files: BTreeMap<Name, Undone> = BTreeMap::new();
    for record in undone.iter().rev() {
        for file in &record.files {
            let before = Is::of(snapshots, &file.changed.before)?;
            let after = Is::of(snapshots, &file.changed.after)?;
            match files.get_mut(&file.changed.path) {
                None => {
                    let undone = Undone { base: after, wanted: before, all: true };
                    files.insert(file.changed.path.clone(), undone);
                }
                Some(undone) => {
                    let (wanted, all) = without(&undone.wanted, &after, &before);
                    undone.wanted = wanted;
                    undone.all &= all;
                }
            }
        }
    }
    Ok(files)
}

struct Carrying<'a> {
    snapshots: &'a Snapshots,
    loaded: BTreeSet<PathBuf>,
    modified: BTreeSet<&'a Path>,
    sides: Sides,
    outcome: Outcome,
}

impl Carrying<'_> {
    fn one(&mut self, path: &Path, it: Undone) {
        let Undone { base, wanted, all } = it;
        if !all {
            self.keep(path, "some lines that you changed between the turns");
        }
        let texts = base.text().zip(wanted.text());
        let now = match Is::now(path) {
            Ok(now) => now,
            Err(error) => return self.keep(path, &words(&error)),
        };
        let next = step(&base, &wanted, &now);
        let is_loaded = self.loaded.contains(path);
        match (next, texts) {
            (_, Some(texts)) if is_loaded && base != wanted => self.ask(path, texts),
            (Step::Nothing, _) => {}
            (Step::Ask, Some(texts)) if path.to_str().is_some() => self.ask(path, texts),
            (Step::Ask, _) => self.keep(path, "you have changed the same lines since"),
            (Step::Keep(why), _) => self.keep(path, why),
            // What is in the buffer only would lose its file.
            (Step::Set(_), _) if self.modified.contains(path) && base != Is::Missing => {
                self.keep(path, "you have changed it since");
            }
            (Step::Set(is), _) => self.set(path, &is, &now),
        }
    }

    fn set(&mut self, path: &Path, is: &Is, now: &Is) {
        let what = match (is, now) {
            (Is::Missing, _) => "deleted",
            (_, Is::Missing) => "restored",
            _ => "changed",
        };
        match is.put(path, &self.snapshots.project) {
            Ok(()) => self.outcome.done.push((shown(path), what)),
            Err(error) => self.keep(path, &words(&error)),
        }
    }

    /// The editor puts it together, and asks the user if need be.
    fn ask(&mut self, path: &Path, (base, wanted): (String, String)) {
        self.sides.insert(shown(path), (base.into(), wanted.into()));
        self.outcome.merge.push(shown(path));
    }

    fn keep(&mut self, path: &Path, why: &str) {
        self.outcome.kept.push((shown(path), why.to_owned()));
    }
}
