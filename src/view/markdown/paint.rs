//! A piece of Markdown to its highlights.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pulldown_cmark::{
    BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::super::model::{Group, Span};
use super::lines::Lines;
use super::{CodeRows, fence, url};

/// Paints one piece.
pub(super) struct Painter<'a> {
    text: &'a str,
    lines: Lines<'a>,
    conceal: bool,
    painted: Painted,
    /// How many quotes this is in.
    quotes: usize,
    /// The links this is in, and where the words of each end so far.
    links: Vec<Link>,
    /// Text without any mark, in which an address may stand.
    run: Range<usize>,
    /// Up to where a row of a table has been looked at.
    cell: usize,
    /// The lines of the code this is in.
    code: Option<Body>,
}

/// What a piece looks like.
#[derive(Debug, Default)]
pub(super) struct Painted {
    pub(super) spans: Vec<Span>,
    /// Each block of fenced code, and where it ends.
    pub(super) code: Vec<(CodeRows, usize)>,
}

struct Link {
    kind: LinkType,
    label: Range<usize>,
}

struct Body {
    /// The language; none for code that is indented.
    fenced: Option<String>,
    /// The column it begins at.
    col: Option<usize>,
    /// Where its last line ends.
    end: usize,
}

impl<'a> Painter<'a> {
    /// The highlights of a piece whose first line is in this row.
    pub(super) fn paint(text: &'a str, row: usize, conceal: bool) -> Painted {
        let mut painter = Painter {
            text,
            lines: Lines::new(text, row),
            conceal,
            painted: Painted::default(),
            quotes: 0,
            links: Vec::new(),
            run: 0..0,
            cell: 0,
            code: None,
        };
        // A mistake in the parser costs colours, not the chat.
        if catch_unwind(AssertUnwindSafe(|| painter.read())).is_err() {
            return Painted::default();
        }
        painter.painted.spans.sort_by_key(|span| span.row);
        painter.painted
    }

    fn read(&mut self) {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let text = self.text;
        let elsewhere = |link: BrokenLink| is_link(text, &link).then_some(NOWHERE);
        let parser = Parser::new_with_broken_link_callback(text, options, Some(elsewhere));
        let mut definitions: Vec<_> =
            parser.reference_definitions().iter().map(|(_, it)| it.span.clone()).collect();
        definitions.sort_by_key(|it| it.start);
        for range in definitions {
            self.definition(range);
        }
        for (event, range) in parser.into_offset_iter() {
            self.event(event, range);
        }
        self.end_run();
    }

    fn event(&mut self, event: Event, range: Range<usize>) {
        if let Some(link) = self.links.last_mut()
            && !matches!(event, Event::End(TagEnd::Link | TagEnd::Image))
        {
            link.label.end = link.label.end.max(range.end);
        }
        if !matches!(event, Event::Text(_)) {
            self.end_run();
        }
        match event {
            Event::Text(_) => self.words(range),
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Code(_) => self.inline_code(range),
            Event::Html(_) | Event::InlineHtml(_) => self.stretch(range, Group::Muted),
            Event::Rule => self.stretch(range, Group::Rule),
            Event::TaskListMarker(true) => self.stretch(range, Group::Checked),
            Event::TaskListMarker(false) => self.stretch(range, Group::Unchecked),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.stretch(range, heading(level)),
            Tag::Strong => self.marked(range, Group::Strong, 2),
            Tag::Emphasis => self.marked(range, Group::Emphasis, 1),
            Tag::Strikethrough => {
                let marks = if self.at(&range).starts_with("~~") { 2 } else { 1 };
                self.marked(range, Group::Strike, marks);
            }
            Tag::Item => self.item(range),
            Tag::BlockQuote(_) => {
                if self.quotes == 0 {
                    self.quote(range);
                }
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                let fenced = match kind {
                    CodeBlockKind::Fenced(info) => Some(fence::language(&info).to_owned()),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some(Body { fenced, col: None, end: 0 });
            }
            Tag::Link { link_type, .. } => self.link(link_type, range.start + 1),
            Tag::Image { link_type, .. } => self.link(link_type, range.start + 2),
            Tag::TableHead => {
                self.cell = range.start;
                let row = self.lines.row(range.start);
                self.stretch(range, Group::TableHead);
                let below = self.lines.start(row + 1);
                let delimiters = below..below + self.lines.line(row + 1).len();
                self.stretch(delimiters, Group::TableMark);
            }
            Tag::TableRow => self.cell = range.start,
            Tag::TableCell => self.table_marks(range),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::CodeBlock => self.code_block(range),
            TagEnd::Link | TagEnd::Image => self.linked(range),
            TagEnd::TableHead | TagEnd::TableRow => self.table_marks(range.end..range.end),
            _ => {}
        }
    }

    /// Text that is nothing else.
    fn words(&mut self, range: Range<usize>) {
        if let Some(body) = &mut self.code {
            body.col.get_or_insert(self.lines.col(range.start));
            body.end = range.end;
            return self.stretch_code(range);
        }
        if self.run.end == range.start {
            self.run.end = range.end;
        } else {
            self.end_run();
            self.run = range;
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::replace(&mut self.run, 0..0);
        if run.is_empty() || !self.links.is_empty() {
            return;
        }
        for address in url::addresses(self.at(&run)) {
            self.stretch(run.start + address.start..run.start + address.end, Group::Url);
        }
    }

    fn item(&mut self, range: Range<usize>) {
        let item = self.at(&range);
        let digits = item.len() - item.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        self.stretch(range.start..range.start + digits + 1, Group::ListMark);
    }

    /// All of each row, with the marks.
    fn quote(&mut self, range: Range<usize>) {
        let rows = self.lines.row(range.start)..=self.lines.row(range.end.saturating_sub(1));
        for row in rows {
            let (start, line) = (self.lines.start(row), self.lines.line(row));
            let indent = line.len() - line.trim_start().len();
            let from = range.start.max(start + indent);
            self.stretch(from..start + line.len(), Group::Quote);
        }
    }

    fn inline_code(&mut self, range: Range<usize>) {
        let code = self.at(&range);
        let marks = code.len() - code.trim_start_matches('`').len();
        self.marked(range, Group::InlineCode, marks);
    }

    fn link(&mut self, kind: LinkType, start: usize) {
        self.links.push(Link { kind, label: start..start });
    }

    fn linked(&mut self, range: Range<usize>) {
        let Some(Link { kind, label }) = self.links.pop() else { return };
        if let LinkType::Autolink | LinkType::Email = kind {
            return self.marked(range, Group::Url, 1);
        }
        // Between the words and the address stand `](`, and after it `)`.
        let target = (label.end + 2).min(range.end)..range.end.saturating_sub(1);
        if self.conceal && !label.is_empty() {
            self.stretch(range.start..label.start, Group::Conceal);
            self.stretch(label.end..range.end, Group::Conceal);
        }
        self.stretch(label, Group::Link);
        if !target.is_empty() {
            self.stretch(target, Group::Url);
        }
    }

    /// Where a link is defined that others name.
    fn definition(&mut self, range: Range<usize>) {
        let Some(label) = self.at(&range).find("]:") else { return };
        self.stretch(range.start..range.start + label + 1, Group::Link);
        self.stretch(range.start + label + 2..range.end, Group::Url);
    }

    fn code_block(&mut self, range: Range<usize>) {
        let Some(Body { fenced: Some(lang), col, end: end_of_text }) = self.code.take() else {
            return;
        };
        let (first, last) =
            (self.lines.row(range.start), self.lines.row(range.end.saturating_sub(1)));
        let opener = self.lines.line(first);
        let start = self.lines.col(range.start);
        let mark = opener.get(start..).unwrap_or_default();
        let mark = mark.len() - mark.trim_start_matches(['`', '~']).len();
        let spans = &mut self.painted.spans;
        spans.push(Span { row: first, start, end: opener.len(), group: Group::Fence });
        fence::paint_language(opener, (first, start + mark), spans);
        let closer = self.lines.line(last).trim_start_matches([' ', '\t', '>']);
        let closed = last > first
            && end_of_text <= self.lines.start(last)
            && (closer.starts_with("```") || closer.starts_with("~~~"));
        let end = if closed { last } else { last + 1 };
        if closed {
            let length = self.lines.line(last).len();
            let start = length - closer.len();
            spans.push(Span { row: last, start, end: length, group: Group::Fence });
        }
        let rows = first + 1..end.max(first + 1);
        let col = col.unwrap_or_default();
        let start = self.lines.start(first + 1);
        let code = CodeRows { ordinal: 0, lang: lang.into(), rows, col, start };
        self.painted.code.push((code, range.end));
    }

    /// The marks of a table between the last cell and this one.
    fn table_marks(&mut self, cell: Range<usize>) {
        let between = self.cell..cell.start;
        let marks = self.at(&between).match_indices('|').map(|(at, _)| between.start + at);
        for at in marks {
            self.stretch(at..at + 1, Group::TableMark);
        }
        self.cell = cell.end;
    }

    /// A stretch with marks at both ends.
    fn marked(&mut self, range: Range<usize>, group: Group, marks: usize) {
        if self.conceal && range.len() >= 2 * marks {
            self.stretch(range.start..range.start + marks, Group::Conceal);
            self.stretch(range.end - marks..range.end, Group::Conceal);
        }
        self.stretch(range, group);
    }

    fn stretch(&mut self, range: Range<usize>, group: Group) {
        self.lines.stretch(range, group, &mut self.painted.spans);
    }

    /// Code keeps the blanks it begins with.
    fn stretch_code(&mut self, range: Range<usize>) {
        let mut start = range.start;
        for line in self.at(&range).split_inclusive('\n') {
            let end = start + line.len();
            self.stretch(start..end, Group::CodeBlock);
            start = end;
        }
    }

    fn at(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// Where a link leads that is defined in another piece.
const NOWHERE: (CowStr<'static>, CowStr<'static>) = (CowStr::Borrowed(""), CowStr::Borrowed(""));

/// Whether this is a link that is defined elsewhere, and not, say, an index into an array.
fn is_link(text: &str, link: &BrokenLink) -> bool {
    let before = text.get(..link.span.start).and_then(|it| it.chars().next_back());
    link.link_type == LinkType::Reference
        && before.is_none_or(|it| !it.is_alphanumeric() && !matches!(it, ']' | ')' | '_'))
}

fn heading(level: HeadingLevel) -> Group {
    match level {
        HeadingLevel::H1 => Group::Heading1,
        HeadingLevel::H2 => Group::Heading2,
        HeadingLevel::H3 => Group::Heading3,
        HeadingLevel::H4 => Group::Heading4,
        HeadingLevel::H5 => Group::Heading5,
        HeadingLevel::H6 => Group::Heading6,
    }
}
