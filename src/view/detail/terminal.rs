//! What runs in a terminal: what it says, as it says it, and how it ended.

use super::page::{Page, one_line};
use crate::session::state::Session;
use crate::session::terminal::{Stop, Terminal};
use crate::session::tool_call::{TerminalExit, TerminalId, ToolCall};
use crate::view::ansi::{Ansi, Line};
use crate::view::model::{Group, Row};

/// How far one terminal has been read.
#[derive(Debug)]
struct Read {
    id: TerminalId,
    ansi: Ansi,
    /// How much of the output has been read.
    upto: usize,
    /// How much had been cut away from the start of it.
    dropped: usize,
}

/// The terminals as they were last rendered: what has been said is not read again.
#[derive(Debug, Default)]
pub(super) struct Live {
    read: Option<Read>,
    /// How many rows are finished.
    rows: usize,
}

impl Live {
    /// The rows that may have changed, and how many above them have not.
    pub(super) fn render(&mut self, session: &Session, tool_call: &ToolCall) -> (usize, Page) {
        let ids: Vec<&TerminalId> = tool_call.terminals().collect();
        let mut page = Page::default();
        if let [id] = *ids {
            let keep = self.follow(session, id, &mut page);
            return (keep, page);
        }
        *self = Live::default();
        for (index, id) in ids.iter().enumerate() {
            page.words(format!("terminal {}", index + 1), Group::Muted, Row::default());
            Live::default().follow(session, id, &mut page);
        }
        (0, page)
    }

    /// Reads on in one terminal.
    fn follow(&mut self, session: &Session, id: &TerminalId, page: &mut Page) -> usize {
        let Some(terminal) = session.terminals.get(id) else {
            *self = Live::default();
            page.words("no output yet", Group::Muted, Row::default());
            return 0;
        };
        let same = |read: &Read| {
            read.id == *id && read.dropped == terminal.dropped && read.upto <= terminal.output.len()
        };
        if !self.read.as_ref().is_some_and(same) {
            *self = Live::default();
        }
        let keep = self.rows;
        let start = page.len();
        let read = self.read.get_or_insert_with(|| begin(id, terminal, page));
        read.ansi.write(terminal.output.get(read.upto..).unwrap_or_default());
        read.upto = terminal.output.len();
        read.ansi.take_lines().into_iter().for_each(|line| put(line, page));
        self.rows += page.len() - start;
        if let Some(line) = read.ansi.last_line() {
            put(line, page);
        }
        match &terminal.exit {
            Some(exit) => {
                let group = group(exit);
                let stopped =
                    if terminal.stop == Stop::Done { "stopped with the turn, " } else { "" };
                page.words(format!("{stopped}{}", ended(exit)), group, Row::default());
            }
            None if keep == 0 && page.len() == start => {
                page.words("no output yet", Group::Muted, Row::default());
            }
            None => {}
        }
        keep
    }
}

/// Begins at the first whole line there is.
fn begin(id: &TerminalId, terminal: &Terminal, page: &mut Page) -> Read {
    let cut = terminal.dropped > 0;
    let upto = if cut { terminal.output.find('\n').map_or(0, |at| at + 1) } else { 0 };
    if cut {
        page.words("earlier output is not kept", Group::Muted, Row::default());
    }
    Read { id: id.clone(), ansi: Ansi::default(), upto, dropped: terminal.dropped }
}

fn put(line: Line, page: &mut Page) {
    page.push(line.text, Row::default());
    for span in line.spans {
        page.mark(span.start..span.end, span.group);
    }
}

/// The last row of what a command said.
pub(super) fn exit_row(exit: &TerminalExit, page: &mut Page) {
    page.words(ended(exit), group(exit), Row::default());
}

fn group(exit: &TerminalExit) -> Group {
    if exit.failed() { Group::Error } else { Group::Muted }
}

/// How a command ended, in words.
pub(in crate::view) fn ended(exit: &TerminalExit) -> String {
    match (&exit.signal, exit.code) {
        (Some(signal), _) => format!("ended by signal {}", one_line(signal)),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}
