//! What agents make of files, put together with what the user has in the editor: by threads that
//! may take their time, on texts that nobody changes meanwhile.
//!
//! Knows the disk and the texts that buffers were last in step with. Must not know buffers: what
//! it finds is good for the state of the buffer that it was given, and for no other.

use std::borrow::Cow;
use std::sync::Arc;

use super::at_rest;
use super::bases::Bases;
use super::buffers::BufferId;
use super::outbox::{Item, Outbox};
use super::reviews::Which;
pub use super::stamp::Stamp;
use super::stamp::stamp;
use super::versions::likely;
use crate::changes::edits::Edit;
use crate::changes::format::{Ending, Format, Split, split};
pub use crate::changes::merge::Choice;
use crate::changes::merge::{Conflict, merge, merge_value};
use crate::changes::mirror::Mirror;
use crate::session::event::DiskError;
use crate::session::ids::{AskId, Tag};
use crate::session::live::{Live, Whole};

/// Ends the lines of the other side, in a text with markers.
const THEIRS: &str = ">>>>>>> the agent's";

/// A merge that the editor wants.
#[derive(Debug)]
pub struct Wanted {
    /// The editor's name for it.
    pub tag: Tag,
    /// Whose change it is.
    pub of: Of,
    /// What the user has.
    pub live: Live,
    /// Where its text is, if it is not there yet.
    pub text_of: Option<BufferId>,
    /// And that text.
    pub(super) copy: Option<Mirror>,
    /// Conflicts that the user has settled.
    pub settled: Vec<Settled>,
    /// What the user made of a buffer's lines to settle conflicts.
    pub edited: Option<ByHand>,
}

/// What was put together by hand.
#[derive(Debug)]
pub struct ByHand {
    /// The lines of the buffer that it was made of.
    pub base: String,
    /// What became of them.
    pub text: String,
}

/// A conflict that the user has settled. It is known by its lines: what the user has typed since
/// is another one.
#[derive(Debug)]
pub struct Settled {
    /// The user's lines.
    pub ours: Vec<String>,
    /// The agent's.
    pub theirs: Vec<String>,
    /// What becomes of them.
    pub choice: Choice,
}

/// Whose change it is.
#[derive(Debug)]
pub enum Of {
    /// A write of an agent, into the buffer of this name.
    Write(AskId, String),
    /// A file that was changed on the disk.
    Disk(String),
    /// Hunks under review, which are rejected.
    Review(Which),
    /// A file that a rewind changes: the tag of the rewind, and the file.
    Rewind(Tag, String),
}

/// The texts to be put together.
#[derive(Debug)]
pub(super) enum Sides {
    /// A write.
    Write {
        /// The name of the buffer.
        name: String,
        /// What the agent has seen of the file.
        seen: Option<Whole>,
        /// What the file was when the turn began.
        begun: Option<Whole>,
        /// What the agent makes of it.
        theirs: Arc<str>,
    },
    /// A file on the disk.
    Disk(String),
    /// What a file was and what it shall be.
    Given(Arc<str>, Arc<str>),
}

/// What came of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The editor's name for it.
    pub tag: Tag,
    /// For which state of the buffer.
    pub tick: u64,
    /// What to do.
    pub result: Result<Plan, Refusal>,
}

/// Why nothing is to be done.
#[derive(Debug)]
pub enum Refusal {
    /// There is no such file any more.
    Gone,
    /// The buffer has changes, and nobody knows what they are changes to.
    NoBase,
    /// The core has no copy of this state of the buffer.
    NoCopy,
    /// Something else.
    Other(String),
}

/// What makes the merged text of a buffer.
#[derive(Debug)]
pub struct Plan {
    /// The changes, to be made in this order.
    pub changes: Vec<Change>,
    /// Whether the last line has an ending in the file.
    pub final_eol: bool,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
    /// Where both changed the same, in order; the changes leave these lines alone.
    pub clashes: Vec<Clash>,
    /// The whole text with markers where both changed the same.
    pub marked: Vec<String>,
    /// Whether what comes out is what the other side has.
    pub is_theirs: bool,
    /// What the disk said of the file.
    pub stamp: Option<Stamp>,
}

impl Plan {
    /// These edits, and how the file is written from then on; as it is, without.
    pub(super) fn of_edits(edits: Vec<Edit>, format: Option<Format>, live: &Live) -> Plan {
        Plan {
            changes: edits.into_iter().map(change).collect(),
            final_eol: format.map_or(live.final_eol, |it| it.final_eol),
            bom: format.map_or(live.bom, |it| it.bom),
            clashes: Vec::new(),
            marked: Vec::new(),
            is_theirs: false,
            stamp: None,
        }
    }
}

/// A change to a buffer; rows and columns count from 0.
#[derive(Debug)]
pub enum Change {
    /// Rows from the first to the one before the last make place for these.
    Lines(usize, usize, Vec<String>),
    /// In a row, columns from the first to the one before the last make place for this.
    Text(usize, (usize, usize), String),
}

/// Lines that both changed.
#[derive(Debug)]
pub struct Clash {
    /// The user's first line, from 1.
    pub line: usize,
    /// The user's lines.
    pub ours: Vec<String>,
    /// The agent's.
    pub theirs: Vec<String>,
}

impl Wanted {
    /// A merge with this state of a buffer.
    pub fn new(tag: Tag, of: Of, live: Live, text_of: Option<BufferId>) -> Wanted {
        Wanted { tag, of, live, text_of, copy: None, settled: Vec::new(), edited: None }
    }

    /// Nothing comes of it, and why.
    pub(super) fn refused(&self, why: Refusal) -> Item {
        Item::Merged(Merged { tag: self.tag, tick: self.live.tick, result: Err(why) })
    }

    /// This comes of it.
    pub(super) fn planned(&self, plan: Plan) -> Item {
        Item::Merged(Merged { tag: self.tag, tick: self.live.tick, result: Ok(plan) })
    }
}

/// Finds what to do; it goes to the outbox.
pub(super) fn start(mut wanted: Wanted, sides: Sides, bases: Arc<Bases>, outbox: Arc<Outbox>) {
    tokio::spawn(async move {
        let (tag, tick) = (wanted.tag, wanted.live.tick);
        let work = tokio::task::spawn_blocking(move || {
            if let Some(copy) = wanted.copy.take() {
                let lines = Format { final_eol: false, ..Format::default() };
                wanted.live.text = copy.slice(1, None, lines);
                wanted.live.empty = copy.is_empty();
            }
            plan(&wanted, sides, &bases)
        });
        let result = work.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a merge failed");
            Err(Refusal::Other("a bug in acp.nvim".to_owned()))
        });
        outbox.push([Item::Merged(Merged { tag, tick, result })]);
    });
}

fn plan(wanted: &Wanted, sides: Sides, bases: &Bases) -> Result<Plan, Refusal> {
    let live = &wanted.live;
    if let Some(edited) = &wanted.edited {
        return Ok(put_by_hand(edited, live, sides, bases));
    }
    let ours = || file_text(live);
    let (base, theirs, stamp): (Arc<str>, Arc<str>, Option<Stamp>) = match sides {
        Sides::Write { seen: Some(seen), theirs, .. } => (seen.0.text(), theirs, None),
        Sides::Write { name, begun, theirs, .. } => {
            let in_step = || bases.get(&name).is_some_and(|it| *it == *ours());
            let base = match begun.filter(|_| live.modified || in_step()) {
                Some(begun) => begun.0.text(),
                // Who has seen nothing replaces what is there, but for what is not saved.
                None if !live.modified => ours().into(),
                None => bases.read(&name).map(|it| it.1).unwrap_or_else(|_| "".into()),
            };
            (base, theirs, None)
        }
        Sides::Given(base, theirs) => (base, theirs, None),
        Sides::Disk(path) => {
            let found = at_rest::read(|| bases.read(&path), || stamp(&bases.real(&path)));
            let (stamp, theirs) = found.map_err(|error| match error {
                DiskError::NotFound => Refusal::Gone,
                DiskError::Other(words) => Refusal::Other(words),
            })?;
            bases.follow(&path, stamp, theirs.clone());
            let base = match live.modified {
                false => ours().into(),
                true => bases.get(&path).ok_or(Refusal::NoBase)?,
            };
            // Who has not seen yet what the user saved has not taken it away.
            let past = bases.past().of(&path);
            (likely(&past, &base, &theirs).unwrap_or(base), theirs, Some(stamp))
        }
    };
    let mut plan = put_together(&base, live, &theirs, &|clash| chosen(&wanted.settled, clash));
    if let Of::Rewind(..) = wanted.of {
        for line in plan.marked.iter_mut().filter(|line| *line == THEIRS) {
            *line = ">>>>>>> from before".to_owned();
        }
    }
    Ok(Plan { stamp, ..plan })
}

/// What the user has put together is all there is to do. With a file on the disk that was the text
/// which the buffer is to follow: what came after it comes after this.
fn put_by_hand(edited: &ByHand, live: &Live, sides: Sides, bases: &Bases) -> Plan {
    // Lines against lines: how the file is written is not what was edited.
    let plain = Live { ending: "unix".into(), final_eol: true, bom: false, ..live.clone() };
    let mut plan = put_together(&edited.base, &plain, &edited.text, &|_| Some(Choice::Theirs));
    (plan.final_eol, plan.bom) = (live.final_eol, live.bom);
    let theirs = match sides {
        Sides::Write { theirs, .. } | Sides::Given(_, theirs) => Some(theirs),
        Sides::Disk(path) => bases.to_follow(&path).map(|(stamp, text)| {
            plan.stamp = Some(stamp);
            text
        }),
    };
    let is_theirs = |theirs: Arc<str>| {
        let (theirs, lines) = (split(&theirs, ending(live)), split(&edited.text, Ending::Lf));
        let written = (theirs.format.final_eol, theirs.format.bom);
        theirs.lines == lines.lines && written == (live.final_eol, live.bom)
    };
    plan.is_theirs = plan.is_theirs && theirs.is_some_and(is_theirs);
    plan
}

/// The text of a buffer as its file would have it.
pub(super) fn file_text(live: &Live) -> Cow<'_, str> {
    if live.empty {
        return Cow::Borrowed("");
    }
    let mut text = match ending(live) {
        Ending::Lf if !live.bom && !live.final_eol => return Cow::Borrowed(&live.text),
        Ending::Lf => live.text.clone(),
        Ending::CrLf => live.text.replace('\n', "\r\n"),
        Ending::Cr => live.text.chars().map(swapped).collect(),
    };
    if live.final_eol {
        text.push_str(ending(live).as_str());
    }
    if live.bom {
        text.insert(0, crate::changes::format::BYTE_ORDER_MARK);
    }
    Cow::Owned(text)
}

/// Between the lines of a "mac" buffer and its file, these stand in for each other.
fn swapped(it: char) -> char {
    match it {
        '\n' => '\r',
        '\r' => '\n',
        other => other,
    }
}

fn ending(live: &Live) -> Ending {
    match live.ending.as_str() {
        "dos" => Ending::CrLf,
        "mac" => Ending::Cr,
        _ => Ending::Lf,
    }
}

/// What the user has said about a conflict.
fn chosen(settled: &[Settled], clash: &Clash) -> Option<Choice> {
    let it = settled.iter().find(|it| it.ours == clash.ours && it.theirs == clash.theirs)?;
    Some(it.choice.clone())
}

fn put_together(
    base: &str,
    live: &Live,
    theirs: &str,
    chosen: &dyn Fn(&Clash) -> Option<Choice>,
) -> Plan {
    let (base, theirs) = (split(base, ending(live)), split(theirs, ending(live)));
    let ours: Vec<&str> = if live.empty { Vec::new() } else { live.text.split('\n').collect() };
    let (base_lines, their_lines) = (lines(&base), lines(&theirs));
    let merged = merge(&base_lines, &ours, &their_lines);
    let clashes: Vec<Clash> =
        merged.conflicts.iter().map(|it| clash(it, &ours, &their_lines)).collect();
    let choices: Vec<Choice> = clashes.iter().map_while(chosen).collect();
    let open = choices.len() < clashes.len();
    let marked = if open { marked(&merged, &clashes) } else { Vec::new() };
    let final_eol = merge_value(&base.format.final_eol, live.final_eol, theirs.format.final_eol);
    let bom = merge_value(&base.format.bom, live.bom, theirs.format.bom);
    let whole = merged.resolve(&choices);
    let is_theirs = whole == their_lines
        && (final_eol == theirs.format.final_eol || whole.is_empty())
        && bom == theirs.format.bom;
    let changes = merged.edits(&choices).into_iter().map(change).collect();
    let clashes = clashes.into_iter().filter(|it| open && chosen(it).is_none()).collect();
    Plan { changes, final_eol, bom, clashes, marked, is_theirs, stamp: None }
}

fn lines<'a>(split: &'a Split<'_>) -> Vec<&'a str> {
    split.lines.iter().map(AsRef::as_ref).collect()
}

fn owned(lines: &[&str], range: &std::ops::Range<usize>) -> Vec<String> {
    lines.get(range.clone()).unwrap_or_default().iter().map(|&it| it.to_owned()).collect()
}

fn clash(conflict: &Conflict, ours: &[&str], theirs: &[&str]) -> Clash {
    Clash {
        line: conflict.ours.start + 1,
        ours: owned(ours, &conflict.ours),
        theirs: owned(theirs, &conflict.theirs),
    }
}

fn marked(merged: &crate::changes::merge::Merged<'_>, clashes: &[Clash]) -> Vec<String> {
    let mark = |clash: &Clash| {
        let mut lines = vec!["<<<<<<< yours".to_owned()];
        lines.extend(clash.ours.iter().cloned());
        lines.push("=======".to_owned());
        lines.extend(clash.theirs.iter().cloned());
        lines.push(THEIRS.to_owned());
        Choice::Edited(lines)
    };
    let choices: Vec<Choice> = clashes.iter().map(mark).collect();
    merged.resolve(&choices).into_iter().map(str::to_owned).collect()
}

/// A change in the editor's terms.
pub(super) fn change(edit: Edit) -> Change {
    match edit {
        Edit::Lines { rows, lines } => Change::Lines(rows.start, rows.end, lines),
        Edit::Text { row, columns, text } => Change::Text(row, (columns.start, columns.end), text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str) -> Live {
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        Live { text, ending: "unix".into(), final_eol: true, modified: true, ..Live::default() }
    }

    #[test]
    fn a_choice_is_for_the_lines_it_was_made_for() {
        let (base, theirs) = ("one\ntwo\nthree\n", "1\ntwo\n3\n");
        let ours = live("mine\ntwo\nmine too\n");
        let first = Settled {
            ours: vec!["mine".to_owned()],
            theirs: vec!["1".to_owned()],
            choice: Choice::Theirs,
        };
        let plan = put_together(base, &ours, theirs, &|it| chosen(&[], it));
        assert_eq!(plan.clashes.len(), 2, "{plan:?}");
        let plan =
            put_together(base, &ours, theirs, &|it| chosen(std::slice::from_ref(&first), it));
        assert_eq!(plan.clashes.len(), 1, "{plan:?}");
        assert_eq!(plan.clashes[0].ours, ["mine too"]);
        let ours = live("mine\ntwo\nthree\n");
        let plan =
            put_together(base, &ours, theirs, &|it| chosen(std::slice::from_ref(&first), it));
        assert!(plan.clashes.is_empty() && plan.is_theirs, "{plan:?}");
    }

    #[test]
    fn the_same_change_twice_is_one() {
        let plan = put_together(
            "one\ntwo\nthree\n",
            &live("one\ntyped\nthree\n"),
            "one\ntyped\nTHREE\n",
            &|_| None,
        );
        assert!(plan.clashes.is_empty(), "{plan:?}");
        assert!(plan.is_theirs, "{plan:?}");
        assert_eq!(plan.changes.len(), 1, "{plan:?}");
    }
}
