//! Chats made by hand.

use std::sync::Arc;
use std::time::Duration;

use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::diff::{Change, DiffLine, FileDiff, Hunk};
use acp_nvim::session::entry::{Entry, Role};
use acp_nvim::session::event::Origin;
use acp_nvim::session::ids::{SessionId, TurnId};
use acp_nvim::session::message::Message;
use acp_nvim::session::state::{Running, Session, Turn};
use acp_nvim::session::terminal::Terminal;
use acp_nvim::session::tool_call::{
    Subagent, ToolCall, ToolCallId, ToolContent, ToolKind, ToolStatus,
};

/// A chat in the making.
pub(crate) struct Chat {
    pub(crate) session: Session,
}

impl Chat {
    pub(crate) fn new() -> Chat {
        let launch = Launch {
            agent: "agent".into(),
            how: How::Program(vec!["agent".into()]),
            env: vec![],
            cwd: "/project".into(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: Duration::ZERO,
        };
        Chat { session: Session::new(SessionId(1), launch, Origin::New) }
    }

    pub(crate) fn say(&mut self, role: Role, text: &str) {
        self.send(role, vec![Content::Text(text.into())]);
    }

    pub(crate) fn send(&mut self, role: Role, content: Vec<Content>) {
        let message = Message::said(role, content, Duration::ZERO);
        self.session.entries.push(Entry::Message(message));
    }

    pub(crate) fn last_message(&mut self) -> &mut Message {
        let last = self.session.entries.iter_mut().rev().find_map(|it| match it {
            Entry::Message(message) => Some(message),
            _ => None,
        });
        last.unwrap()
    }

    /// The agent works from now on.
    pub(crate) fn run(&mut self) {
        let running =
            Running { turn: TurnId(1), tag: 1, content: vec![], steered: vec![], waits: 0 };
        self.session.turn = Turn::Running(running);
    }

    /// A tool call that is done and has nothing to show.
    pub(crate) fn tool(&mut self, kind: ToolKind, title: &str) -> &mut ToolCall {
        let id: Arc<str> = self.session.tool_calls.len().to_string().into();
        self.session.tool_calls.insert(id.clone(), self.session.entries.len());
        let number = self.session.tool_calls.len() - 1;
        self.session.entries.push(Entry::ToolCall(Box::new(ToolCall {
            id,
            title: title.into(),
            kind,
            status: ToolStatus::Completed,
            ..Default::default()
        })));
        self.tool_call(number)
    }

    /// Makes the last tool call a part of this one.
    pub(crate) fn part_of(&mut self, parent: &ToolCallId) {
        let last = self.session.entries.len() - 1;
        self.tool_call(self.session.tool_calls.len() - 1).parent = Some(parent.clone());
        self.session.parts.moved(last, None, Some(parent.clone()));
    }

    /// The nth tool call.
    pub(crate) fn tool_call(&mut self, nth: usize) -> &mut ToolCall {
        let mut tool_calls = self.session.entries.iter_mut().filter_map(|it| match it {
            Entry::ToolCall(tool_call) => Some(&mut **tool_call),
            _ => None,
        });
        tool_calls.nth(nth).unwrap()
    }

    pub(crate) fn terminal(&mut self, id: &str, output: &str) {
        self.session.terminals.begin(id.into(), Terminal::new(None));
        self.session.terminals.append(&id.into(), output);
    }
}

pub(crate) fn text(text: &str) -> ToolContent {
    ToolContent::Block(Content::Text(text.into()))
}

pub(crate) fn terminal(id: &str) -> ToolContent {
    ToolContent::Terminal(id.into())
}

pub(crate) fn change(path: &str) -> ToolContent {
    ToolContent::Diff { path: path.into(), old: None, new: "x".into() }
}

pub(crate) fn subagent(kind: &str, description: &str, model: &str) -> Subagent {
    Subagent {
        kind: Some(kind.into()),
        description: Some(description.into()),
        model: Some(model.into()),
        ..Subagent::default()
    }
}

/// Two changes far from each other.
pub(crate) fn two_hunks(path: &str) -> Arc<FileDiff> {
    let (one, two) = (diff(path, 1, 1), diff(path, 0, 1));
    let hunks = one.hunks.iter().chain(&two.hunks).cloned().collect();
    Arc::new(FileDiff { path: path.into(), hunks, added: 1, removed: 2, ..FileDiff::default() })
}

/// So many lines removed, then so many added, below one that is kept.
pub(crate) fn diff(path: &str, added: usize, removed: usize) -> Arc<FileDiff> {
    let line = |change, text: String| DiffLine {
        change,
        old: None,
        new: None,
        words: if change == Change::Kept { vec![] } else { std::iter::once(0..3).collect() },
        text: text.into(),
        unended: false,
    };
    let mut lines = vec![line(Change::Kept, "kept".into())];
    lines.extend((0..removed).map(|it| line(Change::Removed, format!("old {it}"))));
    lines.extend((0..added).map(|it| line(Change::Added, format!("new {it}"))));
    let hunk = Hunk { old: (1, removed + 1), new: (1, added + 1), lines };
    Arc::new(FileDiff {
        path: path.into(),
        hunks: vec![hunk],
        added,
        removed,
        ..FileDiff::default()
    })
}
