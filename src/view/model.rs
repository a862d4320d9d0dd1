//! The vocabulary of the view: plain data in the editor's terms. Rows and columns are 0-based,
//! columns are bytes, ends are exclusive.

use std::sync::Arc;

/// Somewhere that is rendered into: the editor's number of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceId(pub u64);

/// How everything is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// With nothing but ASCII in what we add.
    pub ascii: bool,
    /// With the marks of Markdown hidden.
    pub conceal: bool,
}

/// A change to the rows of a surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// What to do with the rows.
    pub place: Place,
    /// The text. For [`Place::Append`] the first line continues a row.
    pub lines: Vec<String>,
    /// What there is to know about each of these lines.
    pub rows: Vec<Row>,
    /// Highlights of the rows this patch touches, complete for each, relative to the first one.
    pub spans: Vec<Span>,
    /// Code that rows of this patch are the first to belong to.
    pub code: Vec<Code>,
    /// Rows above that stay and are highlighted otherwise.
    pub repaint: Option<Repaint>,
}

/// New highlights for rows whose text stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaint {
    /// The first of them, in the surface. They go on to the first row the patch touches.
    pub first: usize,
    /// What there is to know about each of them.
    pub rows: Vec<Row>,
    /// Their highlights, complete, relative to the first one.
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

/// What there is to know about one row beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row {
    /// In a transcript: the entry it belongs to, counted from 1. In a tool call: the file it
    /// belongs to, counted from 1. 0 is none.
    pub owner: u32,
    /// The [`Code`] it belongs to; 0 is none.
    pub code: u32,
    /// The number of the line in the old text of a file; 0 is none.
    pub old: u32,
    /// The number of the line in the new text of a file; 0 is none.
    pub new: u32,
    /// What the line is in a diff.
    pub sign: Sign,
    /// In a transcript: which of a message's attachments it stands for, counted from 1; 0 is none.
    pub part: u32,
}

/// What a line is in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Sign {
    #[default]
    None,
    Added,
    Removed,
    Kept,
    Hunk,
}

/// Rows that are code in some language, and complete. They need not stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// What [`Row::code`] says; never 0, and the same whenever it is rendered.
    pub id: u32,
    /// The word after the fence, or the path of a file.
    pub lang: Arc<str>,
    /// The column the code begins at.
    pub col: u32,
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

/// Names each group once, for the code and for Neovim.
macro_rules! groups {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// What a stretch of text is. How it looks is up to the highlight group of the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Group { $($(#[doc = $doc])+ $name,)* }

        impl Group {
            /// The highlight groups, in the order of the variants.
            pub const NAMES: &[&str] = &[$(concat!("Acp", stringify!($name)),)*];
        }
    };
}

groups! {
    /// The line that says the user speaks.
    User,
    /// A row of what the user says, to the edge of the window.
    UserText,
    /// The line that says the agent speaks.
    Agent,
    /// The agent's thoughts.
    Thought,
    /// Something failed.
    Error,
    /// Something is not as it should be.
    Warning,
    /// What to do next.
    Hint,
    /// Of little weight.
    Muted,
    /// What the agent does.
    Tool,
    /// The mark of a tool call that is done.
    Done,
    /// The mark of a tool call that is under way.
    Busy,
    /// Something waits for the user.
    Waiting,
    /// The icon that says what sort of tool call it is.
    Kind,
    /// How many lines a change adds.
    Plus,
    /// How many lines a change removes.
    Minus,
    /// Something that came with a message and can be opened.
    Attachment,
    /// Hidden.
    Conceal,
    /// A heading.
    Heading1,
    /// A heading.
    Heading2,
    /// A heading.
    Heading3,
    /// A heading.
    Heading4,
    /// A heading.
    Heading5,
    /// A heading.
    Heading6,
    /// Strong text.
    Strong,
    /// Emphasised text.
    Emphasis,
    /// Text struck through.
    Strike,
    /// The words of a link.
    Link,
    /// Where a link leads.
    Url,
    /// Code in a line.
    InlineCode,
    /// Lines of code.
    CodeBlock,
    /// The marks around lines of code.
    Fence,
    /// The language of lines of code.
    Language,
    /// A quote.
    Quote,
    /// The mark of an item.
    ListMark,
    /// The mark of an item that is done.
    Checked,
    /// The mark of an item that is not done.
    Unchecked,
    /// The head of a table.
    TableHead,
    /// The lines of a table.
    TableMark,
    /// A line across.
    Rule,
    /// A line that a change adds, to the edge of the window.
    Added,
    /// A line that a change removes, to the edge of the window.
    Removed,
    /// The words that a change adds.
    AddedWord,
    /// The words that a change removes.
    RemovedWord,
    /// Nothing, where the other side has a line, to the edge of the window.
    Filler,
    /// Where in a file a change is, to the edge of the window.
    Hunk,
    /// The name of a file.
    File,
    /// A name in what a tool was given.
    Key,
    /// A colour of the terminal: black.
    Ansi0,
    /// A colour of the terminal: red.
    Ansi1,
    /// A colour of the terminal: green.
    Ansi2,
    /// A colour of the terminal: yellow.
    Ansi3,
    /// A colour of the terminal: blue.
    Ansi4,
    /// A colour of the terminal: magenta.
    Ansi5,
    /// A colour of the terminal: cyan.
    Ansi6,
    /// A colour of the terminal: white.
    Ansi7,
    /// A colour of the terminal: bright black.
    Ansi8,
    /// A colour of the terminal: bright red.
    Ansi9,
    /// A colour of the terminal: bright green.
    Ansi10,
    /// A colour of the terminal: bright yellow.
    Ansi11,
    /// A colour of the terminal: bright blue.
    Ansi12,
    /// A colour of the terminal: bright magenta.
    Ansi13,
    /// A colour of the terminal: bright cyan.
    Ansi14,
    /// A colour of the terminal: bright white.
    Ansi15,
    /// Bold in a terminal.
    Bold,
    /// Italic in a terminal.
    Italic,
    /// Underlined in a terminal.
    Underline,
    /// Colours exchanged in a terminal.
    Reverse,
    /// Struck through in a terminal.
    Strikeout,
}
