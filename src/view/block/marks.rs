//! What our own rows begin with, and how it is told from what others write.

use super::super::model::Look;
use crate::session::tool_call::{ToolKind, ToolStatus};

/// The signs of one look.
#[derive(Debug)]
pub(super) struct Marks {
    /// Before the name of who speaks.
    pub(super) heading: &'static str,
    /// Before something that can be opened.
    pub(super) closed: &'static str,
    /// Before something that is open.
    pub(super) open: &'static str,
    /// Before a note.
    pub(super) note: &'static str,
    /// Before a failure.
    pub(super) failure: &'static str,
    /// Before something that came with a message.
    pub(super) attachment: &'static str,
    /// Before rows that show a part of something.
    pub(super) bar: &'static str,
    /// Between the facts in a row.
    pub(super) dot: &'static str,
    /// Where something is left out.
    pub(super) dots: &'static str,
    /// Before the number of lines removed.
    pub(super) minus: &'static str,
    /// With which characters our rows may begin.
    ours: &'static [char],
}

const UNICODE: Marks = Marks {
    heading: "▌ ",
    closed: "▸ ",
    open: "▾ ",
    note: "─ ",
    failure: "✗ ",
    attachment: "▣ ",
    bar: "┆ ",
    dot: " · ",
    dots: "…",
    minus: "−",
    ours: &['▌', '▸', '▾', '─', '✗', '▣', '┆', '…', '○', '◐', '●', '⊘', '◌'],
};

/// Here every mark is a word in brackets, but for headings. What stands behind a bar is not our
/// word anyway.
const ASCII: Marks = Marks {
    heading: "== ",
    closed: "[+] ",
    open: "[-] ",
    note: "[note] ",
    failure: "[error] ",
    attachment: "[attached] ",
    bar: "| ",
    dot: ", ",
    dots: "...",
    minus: "-",
    ours: &['=', '['],
};

impl Marks {
    /// The signs of a look.
    pub(super) fn of(look: Look) -> &'static Marks {
        if look.ascii { &ASCII } else { &UNICODE }
    }

    /// Where a blank has to be put into a row that others wrote, so that it does not look like
    /// one of ours.
    pub(super) fn guard(&self, line: &str) -> Option<usize> {
        let words = line.trim_start();
        words.starts_with(self.ours).then(|| line.len() - words.len())
    }
}

/// The sign of how far a tool call is.
pub(super) fn status(look: Look, status: ToolStatus) -> &'static str {
    match (status, look.ascii) {
        (ToolStatus::Pending, false) => "○",
        (ToolStatus::InProgress, false) => "◐",
        (ToolStatus::Completed, false) => "●",
        (ToolStatus::Failed, false) => "✗",
        (ToolStatus::Cancelled | ToolStatus::Rejected, false) => "⊘",
        (ToolStatus::Unfinished, false) => "◌",
        (ToolStatus::Pending, true) => "[wait]",
        (ToolStatus::InProgress, true) => "[run]",
        (ToolStatus::Completed, true) => "[ok]",
        (ToolStatus::Failed, true) => "[fail]",
        (ToolStatus::Cancelled, true) => "[stop]",
        (ToolStatus::Rejected, true) => "[no]",
        (ToolStatus::Unfinished, true) => "[?]",
    }
}

/// The sign of what sort of thing a tool call is. Each is one cell wide.
pub(super) fn icon(kind: &ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "▤",
        ToolKind::Edit => "✎",
        ToolKind::Delete => "⌫",
        ToolKind::Move => "→",
        ToolKind::Search => "⌕",
        ToolKind::Execute => "❯",
        ToolKind::Think => "✦",
        ToolKind::Fetch => "⇣",
        ToolKind::SwitchMode => "⇄",
        ToolKind::Other | ToolKind::Unknown(_) => "◆",
    }
}

/// The sign of a tool call that sets a subagent to work.
pub(super) const SUBAGENT: &str = "⇶";
