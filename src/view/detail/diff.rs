//! What a tool call changes in files, in one column or in two.

use std::sync::Arc;

use super::page::{Page, number, one_line};
use crate::session::diff::{Change, DiffLine, Ending, FileDiff, Hunk};
use crate::session::tool_call::{ToolCall, ToolContent};
use crate::view::model::{Group, Look, Row, Sign};
use crate::view::text::{brief, ending};

/// How many bytes of a path are enough to tell the language of a file.
const LONGEST_NAME: usize = 4096;

/// One file that is changed, in one piece or in several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Which one.
    pub path: String,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are removed.
    pub removed: usize,
}

impl File {
    /// The same, with a path that is not too long to be told beside the rows.
    pub(super) fn brief(self) -> File {
        File { path: brief(&self.path), ..self }
    }
}

/// The files, in the order of their first change. Pieces of a file that follow each other are one.
pub(super) fn files(tool_call: &ToolCall) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut diffs = tool_call.diffs.iter();
    for path in paths(tool_call) {
        let diff = diffs.next().filter(|it| it.path == path);
        let (added, removed) = diff.map_or((0, 0), |it| (it.added, it.removed));
        match files.last_mut() {
            Some(file) if file.path == path => {
                (file.added, file.removed) = (file.added + added, file.removed + removed);
            }
            _ => files.push(File { path: path.to_owned(), added, removed }),
        }
    }
    files
}

fn paths(tool_call: &ToolCall) -> impl Iterator<Item = &str> {
    tool_call.content.iter().filter_map(|content| match content {
        ToolContent::Diff { path, .. } => Some(path.as_str()),
        _ => None,
    })
}

/// The rows of a diff: of the old text and of the new one, or of both together in the first.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) left: Page,
    pub(super) right: Page,
}

/// Renders the changes. Files in the session's folder are named without it.
pub(super) fn render((tool_call, cwd): (&ToolCall, &str), split: bool, look: Look) -> Columns {
    let mut writer = Writer { columns: Columns::default(), split, look, owner: 0, codes: 0 };
    let mut diffs = tool_call.diffs.iter();
    let files = files(tool_call);
    let mut paths = paths(tool_call).peekable();
    for (index, file) in files.iter().enumerate() {
        writer.owner = number(index + 1);
        writer.heading(file, cwd);
        while paths.next_if(|path| *path == file.path).is_some() {
            // What was found for another state of the tool call is not what it changes now.
            match diffs.next().filter(|it| it.path == file.path) {
                Some(diff) => writer.diff(diff),
                None => writer.note("finding what differs"),
            }
        }
    }
    writer.columns
}

struct Writer {
    columns: Columns,
    split: bool,
    look: Look,
    owner: u32,
    /// How many pieces of code there are.
    codes: u32,
}

impl Writer {
    fn row(&self) -> Row {
        Row { owner: self.owner, ..Row::default() }
    }

    /// Does the same on both sides, or on the one there is.
    fn both(&mut self, write: impl Fn(&mut Page)) {
        write(&mut self.columns.left);
        if self.split {
            write(&mut self.columns.right);
        }
    }

    fn heading(&mut self, file: &File, cwd: &str) {
        let row = self.row();
        let gap = !self.columns.left.is_empty();
        let minus = if self.look.ascii { "-" } else { "−" };
        let inside = file.path.strip_prefix(cwd).and_then(|it| it.strip_prefix('/'));
        let path = one_line(inside.unwrap_or(&file.path));
        let added = format!("+{}", file.added);
        let text = format!("{path} {added} {minus}{}", file.removed);
        self.both(|page| {
            if gap {
                page.push("", Row::default());
            }
            page.push(text.clone(), row);
            let after = path.len() + 1;
            page.mark(0..path.len(), Group::File);
            page.mark(after..after + added.len(), Group::Plus);
            page.mark(after + added.len() + 1..text.len(), Group::Minus);
        });
    }

    fn note(&mut self, words: &str) {
        let row = self.row();
        self.both(|page| page.words(words, Group::Muted, row));
    }

    fn diff(&mut self, diff: &FileDiff) {
        let lang: Arc<str> = ending(&diff.path, LONGEST_NAME).into();
        if let Some((old, new)) = diff.endings {
            let name = |ending| if ending == Ending::Lf { "LF" } else { "CRLF" };
            self.note(&format!("line endings change from {} to {}", name(old), name(new)));
        } else if diff.hunks.is_empty() {
            self.note("nothing changes");
        }
        for hunk in &diff.hunks {
            self.hunk(hunk, &lang);
        }
        if diff.left_out > 0 {
            self.note(&format!("{} more lines are not shown", diff.left_out));
        }
    }

    fn hunk(&mut self, hunk: &Hunk, lang: &Arc<str>) {
        let row = Row { sign: Sign::Hunk, ..self.row() };
        let ((old, removed), (new, added)) = (hunk.old, hunk.new);
        let text = format!("@@ -{old},{removed} +{new},{added} @@");
        self.both(|page| {
            page.push(text.clone(), row);
            page.mark_whole(Group::Hunk);
        });
        let (old_code, new_code) = (self.codes + 1, self.codes + 2);
        self.codes += 2;
        let (lang, split) = (lang.clone(), self.split);
        self.both(|page| {
            page.code(old_code, lang.clone(), 0);
            page.code(new_code, lang.clone(), 0);
        });
        let code = |line: &DiffLine, right: bool| match line.change {
            Change::Removed => old_code,
            Change::Kept if split && !right => old_code,
            Change::Kept | Change::Added => new_code,
        };
        match split {
            false => hunk.lines.iter().for_each(|line| self.line(line, code(line, true), false)),
            true => self.side_by_side(&hunk.lines, code),
        }
    }

    /// What is removed stands beside what is added for it; the shorter of both is filled up.
    fn side_by_side(&mut self, lines: &[DiffLine], code: impl Fn(&DiffLine, bool) -> u32) {
        let groups = lines.chunk_by(|one, next| {
            (one.change == Change::Kept) == (next.change == Change::Kept)
                && (one.change, next.change) != (Change::Added, Change::Removed)
        });
        for group in groups {
            for line in group {
                if line.change != Change::Added {
                    self.line(line, code(line, false), false);
                }
                if line.change != Change::Removed {
                    self.line(line, code(line, true), true);
                }
            }
            let row = self.row();
            let Columns { left, right } = &mut self.columns;
            let rows = left.len().max(right.len());
            for page in [left, right] {
                while page.len() < rows {
                    page.push("", row);
                    page.mark_whole(Group::Filler);
                }
            }
        }
    }

    fn line(&mut self, line: &DiffLine, code: u32, right: bool) {
        let (sign, whole, word) = match line.change {
            Change::Kept => (Sign::Kept, None, None),
            Change::Added => (Sign::Added, Some(Group::Added), Some(Group::AddedWord)),
            Change::Removed => (Sign::Removed, Some(Group::Removed), Some(Group::RemovedWord)),
        };
        let (old, new) = match (self.split, right) {
            (false, _) => (line.old, line.new),
            (true, false) => (line.old, None),
            (true, true) => (None, line.new),
        };
        let place = |line: Option<usize>| line.map_or(0, number);
        let row = Row { code, old: place(old), new: place(new), sign, ..self.row() };
        let muted = self.row();
        let page = if right { &mut self.columns.right } else { &mut self.columns.left };
        page.push(&*line.text, row);
        if let Some(group) = whole {
            page.mark_whole(group);
        }
        for words in &line.words {
            if let Some(group) = word {
                page.mark(words.clone(), group);
            }
        }
        if line.unended {
            page.words("\\ No newline at end of file", Group::Muted, muted);
        }
    }
}
