//! The vocabulary of the view: plain data in the editor's terms. Rows and columns are 0-based,
//! columns are bytes, ends are exclusive.

/// A change to the rows of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// What to do with the rows.
    pub place: Place,
    /// The text. For [`Place::Append`] the first line continues a row.
    pub lines: Vec<String>,
    /// Highlights of the rows this patch touches, complete for each, relative to the first one.
    pub spans: Vec<Span>,
}

/// Where the lines of a patch go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the place of whole rows.
    Rows {
        /// The first row replaced.
        first: usize,
        /// The row after the last one replaced.
        last: usize,
    },
    /// In the place of everything there is.
    All,
    /// At the end of a row; what streams goes this way.
    Append {
        /// The row.
        row: usize,
        /// Its length so far.
        col: usize,
    },
}

/// A stretch of one row that is highlighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The row.
    pub row: usize,
    /// From which column.
    pub start: usize,
    /// To which column.
    pub end: usize,
    /// As what.
    pub group: Group,
}

/// What a stretch of text is. How it looks is up to the highlight group of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Group {
    /// The line that says the user speaks.
    User,
    /// The line that says the agent speaks.
    Agent,
    /// The agent's thoughts.
    Thought,
    /// Something failed.
    Error,
    /// What to do next.
    Hint,
    /// Of little weight.
    Muted,
    /// What the agent does.
    Tool,
}

impl Group {
    /// The highlight groups, in the order of the variants.
    pub const NAMES: [&'static str; 7] =
        ["AcpUser", "AcpAgent", "AcpThought", "AcpError", "AcpHint", "AcpMuted", "AcpTool"];
}
