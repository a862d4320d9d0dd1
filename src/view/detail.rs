//! One tool call with all that is known of it, as the rows of a buffer or of two.
//!
//! Knows what there is to see of a tool call and how it is laid out in rows. Must not know windows:
//! what a row is about goes along with it (`model::Row`), and how that looks is Neovim's.

mod diff;
mod input;
mod output;
mod page;
mod shown;
pub(super) mod terminal;

use std::sync::Arc;
use std::time::Duration;

pub use self::diff::File;
pub use self::output::Attached;
use self::page::Page;
use self::shown::Shown;
use self::terminal::Live;
use super::model::{Look, Patch};
use super::text::brief;
use crate::session::diff::FileDiff;
use crate::session::entry::Entry;
use crate::session::message::Message;
use crate::session::state::Session;
use crate::session::terminal::Terminal;
use crate::session::tool_call::{Location, ToolCall, ToolCallId, ToolContent, ToolStatus};

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A tool call.
    ToolCall(ToolCallId),
    /// An entry: a tool call, or a message with what came with it.
    Entry(usize),
}

/// A side of a tool call to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Tab {
    Diff,
    Terminal,
    Output,
    Input,
}

/// What is to be said about the rows, beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// What it does.
    pub title: String,
    /// What sort of thing it is.
    pub kind: String,
    /// How far it is; empty for a message.
    pub status: String,
    /// How long it took, or takes so far.
    pub elapsed: Option<Duration>,
    /// What there is to see.
    pub tabs: Vec<Tab>,
    /// What is seen.
    pub tab: Tab,
    /// What it changes; rows name them by their place, from 1.
    pub files: Vec<File>,
    /// Where it works.
    pub locations: Vec<Location>,
    /// What came with it; rows name them by their place, from 1.
    pub attachments: Vec<Attached>,
    /// More may come.
    pub live: bool,
    /// There is nothing any more that could be shown.
    pub gone: bool,
}

/// What has changed.
#[derive(Debug, Default)]
pub struct Update {
    /// For the buffer, or for that of the old text.
    pub left: Vec<Patch>,
    /// For the buffer of the new text.
    pub right: Vec<Patch>,
    /// What is said beside the rows, where that is something else now.
    pub header: Option<Header>,
}

/// One tool call on the screen.
#[derive(Debug)]
pub struct Detail {
    target: Target,
    /// The tab that is wished for.
    wish: Option<Tab>,
    split: bool,
    look: Look,
    /// The tab that is shown without a wish.
    tab: Option<Tab>,
    left: Shown,
    right: Shown,
    live: Live,
    /// The changes that are shown, while they are: they need not be rendered again.
    diffs: Option<Vec<Arc<FileDiff>>>,
    header: Option<Header>,
}

impl Detail {
    /// Nothing yet. With `split`, changes are shown side by side.
    pub fn new(target: Target, wish: Option<Tab>, split: bool, look: Look) -> Detail {
        Detail {
            target,
            wish,
            split,
            look,
            tab: None,
            left: Shown::default(),
            right: Shown::default(),
            live: Live::default(),
            diffs: None,
            header: None,
        }
    }

    /// Shows it another way; [`Detail::update`] does the rest.
    pub fn set_look(&mut self, look: Look) {
        self.look = look;
        self.diffs = None;
    }

    /// The entry that is shown.
    pub fn entry(&self, session: &Session) -> Option<usize> {
        match &self.target {
            Target::ToolCall(id) => session.tool_calls.get(id).copied(),
            Target::Entry(index) => Some(*index),
        }
    }

    /// Brings it up to date.
    pub fn update(&mut self, session: &Session) -> Update {
        let mut update = Update::default();
        let entry = self.entry(session).and_then(|index| session.entries.get(index));
        let header = match entry {
            Some(Entry::ToolCall(tool_call)) => self.tool_call(session, tool_call, &mut update),
            Some(Entry::Message(message)) => self.message(message, &mut update),
            Some(Entry::Failure(_) | Entry::Note(_)) | None => self.gone(&mut update),
        };
        if !self.header.as_ref().is_some_and(|it| it.says(&header)) {
            update.header = Some(header.clone());
            self.header = Some(header);
        }
        update
    }

    fn tool_call(
        &mut self,
        session: &Session,
        tool_call: &ToolCall,
        update: &mut Update,
    ) -> Header {
        let tabs = tabs(tool_call);
        let tab = self.choose(session, tool_call, &tabs);
        if tab != Tab::Terminal {
            self.live = Live::default();
        }
        if tab != Tab::Diff {
            self.diffs = None;
        }
        let mut keep = 0;
        let page = match tab {
            Tab::Diff => {
                self.changes((tool_call, &session.launch.cwd), update);
                None
            }
            Tab::Terminal => {
                let page;
                (keep, page) = self.live.render(session, tool_call);
                Some(page)
            }
            Tab::Output => Some(output::render(tool_call)),
            Tab::Input => Some(input::render(tool_call)),
        };
        if let Some(page) = page {
            let nothing = match tool_call.status.is_final() {
                true => "no output",
                false => "nothing yet",
            };
            let page = if keep == 0 { page.or_words(nothing) } else { page };
            self.page(keep, page, update);
        }
        let status = session.shown_status(tool_call);
        let live = !tool_call.status.is_final();
        // Of what was left unfinished nobody knows when it stopped.
        let until = tool_call.ended.or(live.then_some(session.now));
        Header {
            title: brief(&tool_call.label(&session.launch.cwd)),
            kind: tool_call.kind.word().to_owned(),
            status: status.word().to_owned(),
            elapsed: until.map(|it| it.saturating_sub(tool_call.began)),
            tabs,
            tab,
            files: diff::files(tool_call).into_iter().map(File::brief).collect(),
            locations: tool_call.locations.iter().map(brief_location).collect(),
            attachments: output::attached(tool_call),
            live,
            gone: false,
        }
    }

    /// The tab to show: what is wished for if it is there. Else the one that says most; once there
    /// is one it stays, so that nothing moves under the eyes of whoever reads.
    fn choose(&mut self, session: &Session, tool_call: &ToolCall, tabs: &[Tab]) -> Tab {
        if let Some(wish) = self.wish.filter(|it| tabs.contains(it)) {
            return wish;
        }
        let best = best(session, tool_call, tabs);
        let stays = self.tab.filter(|it| *it != Tab::Input && tabs.contains(it));
        let tab = stays.or(best);
        self.tab = tab;
        tab.unwrap_or(Tab::Output)
    }

    fn changes(&mut self, (tool_call, cwd): (&ToolCall, &str), update: &mut Update) {
        let same = |shown: &Vec<Arc<FileDiff>>| {
            let mut pairs = shown.iter().zip(&tool_call.diffs);
            shown.len() == tool_call.diffs.len()
                && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
        };
        // Where some are still to be found, the rows say so.
        let all = tool_call.content.iter().filter(|it| matches!(it, ToolContent::Diff { .. }));
        if self.diffs.as_ref().is_some_and(same) && all.count() == tool_call.diffs.len() {
            return;
        }
        let columns = diff::render((tool_call, cwd), self.split, self.look);
        self.left.show(0, columns.left.into_block(), &mut update.left);
        if self.split {
            self.right.show(0, columns.right.into_block(), &mut update.right);
        }
        self.diffs = Some(tool_call.diffs.clone());
    }

    fn message(&mut self, message: &Message, update: &mut Update) -> Header {
        let contents = || message.attachments.iter().map(|it| &it.content);
        self.page(0, output::render_attached(contents()).or_words("nothing"), update);
        Header {
            attachments: output::attachments(contents()),
            kind: "message".to_owned(),
            ..Header::empty()
        }
    }

    /// Shows rows below those that are kept.
    fn page(&mut self, keep: usize, page: Page, update: &mut Update) {
        self.left.show(keep, page.into_block(), &mut update.left);
        if self.split {
            // There are two buffers as long as Neovim does not know that one is enough.
            self.right.show(0, Page::default().into_block(), &mut update.right);
        }
    }

    /// What is gone stays on the screen as it was.
    fn gone(&mut self, update: &mut Update) -> Header {
        let header = self.header.clone().unwrap_or_else(|| {
            self.page(0, Page::default().or_words("nothing"), update);
            Header::empty()
        });
        Header { live: false, gone: true, ..header }
    }
}

impl Header {
    fn empty() -> Header {
        Header {
            title: String::new(),
            kind: String::new(),
            status: String::new(),
            elapsed: None,
            tabs: Vec::new(),
            tab: Tab::Output,
            files: Vec::new(),
            locations: Vec::new(),
            attachments: Vec::new(),
            live: false,
            gone: false,
        }
    }

    /// Whether it says what the other one says. Time goes by without a word.
    fn says(&self, other: &Header) -> bool {
        let elapsed = other.elapsed;
        Header { elapsed, ..self.clone() } == *other
    }
}

impl Tab {
    /// All there are, the one that says most first.
    pub const ALL: [Tab; 4] = [Tab::Diff, Tab::Terminal, Tab::Output, Tab::Input];

    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Tab::Diff => "diff",
            Tab::Terminal => "terminal",
            Tab::Output => "output",
            Tab::Input => "input",
        }
    }

    /// The word for people.
    pub fn label(self) -> &'static str {
        match self {
            Tab::Diff => "Diff",
            Tab::Terminal => "Terminal",
            Tab::Output => "Output",
            Tab::Input => "Input",
        }
    }

    /// The tab of this word.
    pub fn named(word: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| tab.word() == word)
    }
}

fn brief_location(location: &Location) -> Location {
    Location { path: brief(&location.path), line: location.line }
}

fn tabs(tool_call: &ToolCall) -> Vec<Tab> {
    let has = |tab: &Tab| match tab {
        Tab::Diff => tool_call.content.iter().any(|it| matches!(it, ToolContent::Diff { .. })),
        Tab::Terminal => tool_call.terminals().next().is_some(),
        Tab::Output => output::has_any(tool_call),
        Tab::Input => input::has_any(tool_call),
    };
    Tab::ALL.into_iter().filter(has).collect()
}

/// The tab that says most. Before a command runs, that is what it will be.
fn best(session: &Session, tool_call: &ToolCall, tabs: &[Tab]) -> Option<Tab> {
    let silent = |terminal: &Terminal| terminal.output.is_empty() && terminal.exit.is_none();
    let waits = tool_call.status == ToolStatus::Pending
        && tool_call.terminals().all(|id| session.terminals.get(id).is_none_or(silent));
    let says = |tab: &&Tab| **tab != Tab::Terminal || !waits || !tabs.contains(&Tab::Input);
    tabs.iter().find(says).copied()
}
