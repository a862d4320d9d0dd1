//! Where code of the chat, or what a tool call would change, goes in a buffer: found by a thread
//! that may take its time.
//!
//! Knows the chat and the state of the buffer it was given. Must not know buffers: what it finds is
//! good for that state, and for no other.

use std::sync::Arc;

use super::merging::{Change, change};
use super::outbox::{Item, Outbox};
pub use crate::changes::place::{At, Kind, LineEdit, Missing, Why};
use crate::changes::place::{
    FilePatch, Found as Place, Placing, Snippet, place_changes, place_code, place_patch,
};
use crate::session::effect::Texts;
use crate::session::entry::{Entry, Role};
use crate::session::ids::{SessionId, Tag};
use crate::session::live::Live;
use crate::session::state::State;
use crate::session::tool_call::ToolCallId;
use crate::view::export::{self, CodeText};

/// Something that is to go into a buffer.
#[derive(Debug)]
pub struct Wanted {
    /// The editor's name for it.
    pub tag: Tag,
    /// What.
    pub source: Source,
    /// Which of its files, from 0.
    pub file: usize,
    /// Where to; none to know first what it is.
    pub target: Option<Target>,
}

/// What is to go into a buffer.
#[derive(Debug)]
pub enum Source {
    /// A block of code in the chat, by its number; the last one if none is given.
    Code(SessionId, Option<u32>),
    /// What a tool call would change, or has changed.
    Proposed(SessionId, ToolCallId),
    /// A text, and the word that says what it is.
    Text(String, String),
}

/// The buffer.
#[derive(Debug)]
pub struct Target {
    /// What is in it.
    pub live: Live,
    /// Where the user is.
    pub at: At,
}

/// What is known of it.
#[derive(Debug)]
pub struct Placed {
    /// The editor's name for it.
    pub tag: Tag,
    /// What it is; nothing if there is no such code.
    pub read: Option<Read>,
    /// Where it goes, if that was asked.
    pub places: Option<Places>,
}

/// What it is.
#[derive(Debug)]
pub struct Read {
    /// Its number in the chat.
    pub id: Option<u32>,
    /// Whether it is a diff.
    pub is_diff: bool,
    /// The files it is for, those it names and those it does not.
    pub files: Vec<(Option<String>, Kind)>,
}

/// Where it goes.
#[derive(Debug)]
pub struct Places {
    /// For which state of the buffer.
    pub tick: u64,
    /// The places, in the order of the buffer.
    pub found: Vec<Found>,
    /// What has none.
    pub missing: Vec<Missing>,
    /// How the buffer is written: that stays.
    pub format: (bool, bool),
}

/// One place.
#[derive(Debug)]
pub struct Found {
    /// What changes, to be shown.
    pub lines: Vec<LineEdit>,
    /// What to do, in this order.
    pub changes: Vec<Change>,
    /// How sure it is, of a hundred.
    pub score: usize,
    /// How it was found.
    pub how: &'static str,
}

/// What is to be read, taken from the state.
enum Raw {
    Message { entry: usize, text: String, which: Option<usize> },
    Text(String, String),
    Changes(Vec<Texts>),
}

/// Finds the places; they go to the outbox.
pub(super) fn start(wanted: Wanted, state: &State, outbox: Arc<Outbox>) {
    let Wanted { tag, source, file, target } = wanted;
    let raw = match source {
        Source::Text(text, lang) => Some(Raw::Text(text, lang)),
        Source::Code(session, id) => message(state, session, id),
        Source::Proposed(session, id) => proposed(state, session, &id),
    };
    tokio::spawn(async move {
        let work = tokio::task::spawn_blocking(move || work(raw?, file, target));
        let found = work.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a place could not be looked for");
            None
        });
        let (read, places) = found.unzip();
        outbox.push([Item::Placed(Placed { tag, read, places: places.flatten() })]);
    });
}

/// What a tool call says it changes.
fn proposed(state: &State, session: SessionId, id: &ToolCallId) -> Option<Raw> {
    let session = state.session(session)?;
    match session.entries.get(*session.tool_calls.get(id)?)? {
        Entry::ToolCall(it) => Some(it.texts()).filter(|it| !it.is_empty()).map(Raw::Changes),
        _ => None,
    }
}

/// The message that a block of code is in.
fn message(state: &State, session: SessionId, id: Option<u32>) -> Option<Raw> {
    let entries = &state.session(session)?.entries;
    let place = match id {
        Some(id) => Some(export::code_place(id)?),
        None => None,
    };
    let has_code = |entry: &Entry| match entry {
        Entry::Message(it) => {
            it.role == Role::Agent && (it.text.contains("```") || it.text.contains("~~~"))
        }
        _ => false,
    };
    let entry = match place {
        Some((entry, _)) => entry,
        None => entries.iter().rposition(has_code)?,
    };
    match entries.get(entry)? {
        Entry::Message(it) => {
            Some(Raw::Message { entry, text: it.text.clone(), which: place.map(|it| it.1) })
        }
        _ => None,
    }
}

fn work(raw: Raw, file: usize, target: Option<Target>) -> Option<(Read, Option<Places>)> {
    let (id, text, lang, path) = match raw {
        Raw::Changes(texts) => return Some(changes(&texts, file, target)),
        Raw::Text(text, lang) => (None, text, lang, None),
        Raw::Message { entry, text, which } => {
            let CodeText { id, lang, path, text } = export::code(entry, &text, which)?;
            (Some(id), text, lang, path)
        }
    };
    let snippet = Snippet::read(&text, &lang);
    let named = |it: &FilePatch| (it.path.clone().or_else(|| path.clone()), it.kind);
    let (is_diff, files) = match &snippet {
        Snippet::Diff(files) => (true, files.iter().map(named).collect()),
        Snippet::Code(_) => (false, vec![(path.clone(), Kind::Changed)]),
    };
    let places = target.map(|target| places(&snippet, file, &target));
    Some((Read { id, is_diff, files }, places))
}

/// Changes by their files, in the order in which these are first named.
fn changes(all: &[Texts], file: usize, target: Option<Target>) -> (Read, Option<Places>) {
    let mut files: Vec<(&str, Vec<Texts>)> = Vec::new();
    for it in all {
        match files.iter_mut().find(|file| file.0 == it.path) {
            Some(file) => file.1.push(it.clone()),
            None => files.push((&it.path, vec![it.clone()])),
        }
    }
    let kind = |its: &[Texts]| match its {
        [only] if only.old.as_ref().is_none_or(|it| it.is_empty()) => Kind::Made,
        _ => Kind::Changed,
    };
    let places = target.map(|target| {
        let texts = files.get(file).map(|it| it.1.as_slice()).unwrap_or_default();
        told(place_changes(texts, &rows(&target.live)), &target.live)
    });
    let files = files.iter().map(|it| (Some(it.0.to_owned()), kind(&it.1))).collect();
    (Read { id: None, is_diff: true, files }, places)
}

fn rows(live: &Live) -> Vec<&str> {
    if live.empty { Vec::new() } else { live.text.split('\n').collect() }
}

fn places(snippet: &Snippet, file: usize, target: &Target) -> Places {
    let text = rows(&target.live);
    let placing = match snippet {
        Snippet::Diff(files) => files.get(file).map(|it| place_patch(it, &text)),
        Snippet::Code(code) => {
            let code: Vec<&str> = code.iter().map(String::as_str).collect();
            Some(place_code(&code, &text, &target.at))
        }
    };
    told(placing.unwrap_or_default(), &target.live)
}

/// What is told of places.
fn told(placing: Placing, live: &Live) -> Places {
    let Placing { found, missing } = placing;
    let found = found.into_iter().map(|it: Place| Found {
        lines: it.lines,
        changes: it.edits.into_iter().map(change).collect(),
        score: it.score,
        how: it.how.word(),
    });
    let format = (live.final_eol, live.bom);
    Places { tick: live.tick, found: found.collect(), missing, format }
}
