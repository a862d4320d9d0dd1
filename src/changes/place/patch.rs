//! Diffs, in whatever shape they are written: line numbers and counts may be wrong or missing, and
//! so may headers, the blank before a line that stays, and the last lines around a change.

/// What a diff does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The file, if the diff says.
    pub path: Option<String>,
    /// What becomes of it.
    pub kind: Kind,
    /// The changes.
    pub hunks: Vec<Hunk>,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Its text changes.
    Changed,
    /// It is new.
    Made,
    /// It goes.
    Deleted,
}

/// A change with some of the lines around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line it says it begins at in the old text, from 1.
    pub line: Option<usize>,
    /// What it says it stands below.
    pub heading: String,
    /// Its lines.
    pub lines: Vec<(Mark, String)>,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It stays.
    Kept,
    /// It goes.
    Removed,
    /// It is new.
    Added,
}

impl Hunk {
    /// The lines of one side.
    fn side(&self, not: Mark) -> Vec<&str> {
        self.lines.iter().filter(|it| it.0 != not).map(|it| it.1.as_str()).collect()
    }

    /// What is there before.
    pub fn old_lines(&self) -> Vec<&str> {
        self.side(Mark::Added)
    }

    /// What is there after.
    pub fn new_lines(&self) -> Vec<&str> {
        self.side(Mark::Removed)
    }
}

/// Whether lines are a diff; `lang` is what stands at their fence.
pub(super) fn is_diff(lines: &[&str], lang: &str) -> bool {
    let mut pairs = lines.iter().zip(lines.iter().skip(1));
    let named =
        ["diff", "patch", "udiff", "git-diff"].iter().any(|it| lang.eq_ignore_ascii_case(it));
    let marked = |it: &&str| it.starts_with(['+', '-']) || it.starts_with("@@");
    let sure = |it: &&str| {
        it.starts_with("diff --git ")
            || it.starts_with("*** Begin Patch")
            || it.starts_with("*** Update File: ")
            || numbers(it).is_some()
    };
    (named && lines.iter().any(marked))
        || lines.iter().any(sure)
        || pairs.any(|(one, two)| one.starts_with("--- ") && two.starts_with("+++ "))
}

/// Reads a diff.
pub(super) fn read(lines: &[&str]) -> Vec<FilePatch> {
    let has_hunks = lines.iter().any(|it| it.starts_with("@@"));
    let mut reader = Reader { files: Vec::new(), hunk: None, headed: !has_hunks };
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        if let Some(skipped) = reader.header(line, after) {
            rest = after.get(skipped..).unwrap_or_default();
        } else {
            reader.body(line);
        }
    }
    reader.end_hunk();
    reader.files.retain(|it| !it.hunks.is_empty() || it.kind == Kind::Deleted);
    reader.files
}

struct Reader {
    files: Vec<FilePatch>,
    hunk: Option<Hunk>,
    /// Lines may begin without an `@@`.
    headed: bool,
}

impl Reader {
    /// Reads a line that is none of a file's; how many more belong to it.
    fn header(&mut self, line: &str, after: &[&str]) -> Option<usize> {
        let next = after.first().copied().unwrap_or_default();
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let path = rest.split_once(" b/").map(|it| it.1.trim().to_owned());
            self.file(path, Kind::Changed);
            self.headed = false;
            return Some(0);
        }
        if let Some(rest) = line.strip_prefix("*** ") {
            return self.patch_header(rest).then_some(0);
        }
        if let Some(rest) = line.strip_prefix("@@") {
            self.end_hunk();
            let heading = heading(rest).to_owned();
            let line = numbers(line);
            self.hunk = Some(Hunk { line, heading, lines: Vec::new() });
            return Some(0);
        }
        if let Some(old) = line.strip_prefix("--- ")
            && (next.starts_with("+++ ") || (self.hunk.is_none() && next.starts_with("@@")))
            && (self.hunk.is_none() || after.get(1).is_none_or(|it| it.starts_with("@@")))
        {
            let new = next.strip_prefix("+++ ");
            self.names(old, new);
            return Some(usize::from(new.is_some()));
        }
        self.hunk.is_none().then(|| self.git_header(line))?
    }

    /// What git says of a file between its name and its changes.
    fn git_header(&mut self, line: &str) -> Option<usize> {
        let file = self.files.last_mut()?;
        if line.starts_with("new file mode") {
            file.kind = Kind::Made;
        } else if line.starts_with("deleted file mode") {
            file.kind = Kind::Deleted;
        } else {
            let words = ["index ", "old mode", "new mode", "similarity ", "rename ", "Binary "];
            words.iter().find(|it| line.starts_with(**it))?;
        }
        Some(0)
    }

    /// `*** Update File: …` and the like.
    fn patch_header(&mut self, rest: &str) -> bool {
        let (word, path) = rest.split_once(':').unwrap_or((rest, ""));
        let kind = match word.trim() {
            "Update File" => Kind::Changed,
            "Add File" => Kind::Made,
            "Delete File" => Kind::Deleted,
            "Begin Patch" | "End Patch" | "End of File" | "Move to" => {
                self.end_hunk();
                return true;
            }
            _ => return false,
        };
        self.file(Some(path.trim().to_owned()), kind);
        self.headed = true;
        true
    }

    /// `--- old` and `+++ new`.
    fn names(&mut self, old: &str, new: Option<&str>) {
        let old_name = clean(old);
        let new_name = new.map_or(old_name, clean);
        let is_git = old_name.starts_with("a/") && (new.is_none() || new_name.starts_with("b/"))
            || old_name == NOTHING && new_name.starts_with("b/")
            || old_name.starts_with("a/") && new_name == NOTHING;
        let kind = match (old_name == NOTHING, new_name == NOTHING) {
            (true, _) => Kind::Made,
            (_, true) => Kind::Deleted,
            _ => Kind::Changed,
        };
        let name = if kind == Kind::Deleted { old_name } else { new_name };
        let name = if is_git { name.get(2..).unwrap_or(name) } else { name };
        let fresh = self.hunk.is_none() && self.files.last().is_some_and(|it| it.hunks.is_empty());
        match self.files.last_mut().filter(|_| fresh) {
            // `diff --git` has begun it.
            Some(file) => {
                file.path = Some(name.to_owned());
                if kind != Kind::Changed {
                    file.kind = kind;
                }
            }
            None => self.file(Some(name.to_owned()), kind),
        }
        self.headed = true;
    }

    fn file(&mut self, path: Option<String>, kind: Kind) {
        self.end_hunk();
        let path = path.filter(|it| !it.is_empty());
        self.files.push(FilePatch { path, kind, hunks: Vec::new() });
    }

    fn end_hunk(&mut self) {
        let Some(mut hunk) = self.hunk.take() else { return };
        // An empty line before the next header is no line of the file.
        while hunk.lines.last().is_some_and(|(mark, it)| *mark == Mark::Kept && it.is_empty()) {
            hunk.lines.pop();
        }
        unmark(&mut hunk);
        if self.files.is_empty() {
            self.files.push(FilePatch { path: None, kind: Kind::Changed, hunks: Vec::new() });
        }
        let changes = hunk.lines.iter().any(|it| it.0 != Mark::Kept);
        if let Some(file) = self.files.last_mut().filter(|_| changes) {
            file.hunks.push(hunk);
        }
    }

    fn body(&mut self, line: &str) {
        if self.hunk.is_none() && !self.headed {
            return;
        }
        let made = self.files.last().is_some_and(|it| it.kind == Kind::Made);
        let (mark, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (Mark::Added, text),
            Some(("-", text)) if !made => (Mark::Removed, text),
            Some(("\\", text)) if text.starts_with(" No newline") => return,
            _ if made => (Mark::Added, line),
            _ => (Mark::Kept, line),
        };
        if mark == Mark::Kept && matches!(text.trim(), "..." | "…") {
            // Something was left out: what follows has a place of its own.
            self.end_hunk();
            self.hunk = Some(Hunk::default());
            return;
        }
        let hunk = self.hunk.get_or_insert_default();
        if hunk.lines.is_empty() && mark == Mark::Kept && line.is_empty() {
            return;
        }
        hunk.lines.push((mark, text.to_owned()));
    }
}

/// Takes the blank away that stands before lines that stay. Where it got lost before one line, the
/// others have none either.
fn unmark(hunk: &mut Hunk) {
    let is_bare = |(mark, line): &(Mark, String)| {
        *mark == Mark::Kept && !line.is_empty() && !line.starts_with(' ')
    };
    if hunk.lines.iter().any(is_bare) {
        return;
    }
    for (_, line) in hunk.lines.iter_mut().filter(|it| it.0 == Mark::Kept) {
        if !line.is_empty() {
            line.remove(0);
        }
    }
}

/// What stands for a file that is not there.
const NOTHING: &str = "/dev/null";

/// A name without the time that may follow it, and without quotes.
fn clean(name: &str) -> &str {
    let name = name.split('\t').next().unwrap_or_default().trim();
    name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name)
}

/// The old line of `@@ -12,3 +14,4 @@`.
fn numbers(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("@@")?.trim_start().strip_prefix('-')?;
    let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// What a hunk says it stands below: `@@ -1,2 +1,2 @@ fn main()`, `@@ def main():`.
fn heading(rest: &str) -> &str {
    let (inner, after) = rest.split_once("@@").unwrap_or((rest, ""));
    let inner = inner.trim();
    let heading = if after.trim().is_empty() { inner } else { after.trim() };
    let is_numbers = heading.starts_with('-') || heading.chars().all(|it| !it.is_alphanumeric());
    if is_numbers { "" } else { heading }
}
