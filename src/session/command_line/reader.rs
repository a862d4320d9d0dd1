//! Reads a line as a POSIX shell does, with what bash, zsh and fish add.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::escapes;
use super::{GLOB, Part, UNKNOWN, is_assignment, is_keyword, is_plain};

/// What a line has in it.
pub(super) struct Line {
    /// The words, if there is nothing but one simple command.
    pub simple: Option<Vec<String>>,
    /// All commands.
    pub parts: Vec<Part>,
    /// Texts that a command gets as its input: here-documents and here-strings.
    pub texts: Vec<String>,
    /// A quote or a parenthesis is open at the end.
    pub unclosed: bool,
    /// It goes deeper than we read.
    pub too_deep: bool,
}

/// Reads one line.
pub(super) struct Reader {
    chars: Peekable<IntoIter<char>>,
    parts: Vec<Part>,
    texts: Vec<String>,
    words: Vec<String>,
    word: Option<String>,
    /// Whether some of the word is in quotes.
    quoted: bool,
    /// What the next word is, if it is none of the command's.
    target: Target,
    /// Here-documents that begin after this line.
    pending: Vec<HereDocument>,
    /// How many `case` are open.
    cases: usize,
    /// The next command reads what the last one wrote.
    piped: bool,
    /// Nothing but words so far.
    simple: bool,
    unclosed: bool,
    too_deep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    None,
    /// Where something is read from or written to.
    File,
    /// The word is the input itself.
    Text,
    /// The word that ends a here-document, whose lines may be indented.
    HereDocument {
        indented: bool,
    },
}

struct HereDocument {
    end: String,
    indented: bool,
    /// Whether what it says is replaced, as in double quotes.
    expands: bool,
}

impl Reader {
    pub(super) fn new(line: &str) -> Reader {
        Reader {
            chars: line.chars().collect::<Vec<_>>().into_iter().peekable(),
            parts: Vec::new(),
            texts: Vec::new(),
            words: Vec::new(),
            word: None,
            quoted: false,
            target: Target::None,
            pending: Vec::new(),
            cases: 0,
            piped: false,
            simple: true,
            unclosed: false,
            too_deep: false,
        }
    }

    pub(super) fn read(mut self, depth: usize) -> Line {
        self.until(None, depth);
        let simple = match &self.parts[..] {
            [part] if self.simple && is_plain(&part.words) => Some(part.words.clone()),
            _ => None,
        };
        let Reader { parts, texts, unclosed, too_deep, .. } = self;
        let bare = |part: Part| Part { words: without_preamble(part.words), ..part };
        let parts = parts.into_iter().map(bare).filter(|it| !it.words.is_empty()).collect();
        Line { simple, parts, texts, unclosed, too_deep }
    }

    /// Reads up to the end, or to what closes the parenthesis we are in.
    fn until(&mut self, end: Option<char>, depth: usize) {
        while let Some(c) = self.chars.next() {
            match c {
                c if Some(c) == end => {
                    self.end_part();
                    // After a pattern of `case` stands one that closes nothing.
                    if self.cases == 0 {
                        return;
                    }
                }
                ' ' | '\t' => self.end_word(),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(depth),
                '\\' => self.escaped(),
                '$' => self.dollar(depth),
                '`' => self.backtick(depth),
                '(' => {
                    self.end_part();
                    self.nested(depth);
                }
                '\n' | '\r' => {
                    self.separator();
                    self.here_documents(depth);
                }
                '|' => {
                    self.separator();
                    self.piped = self.chars.next_if_eq(&'|').is_none();
                }
                ';' | '&' | ')' => {
                    self.separator();
                    self.piped = false;
                }
                '<' | '>' => self.redirection(c, depth),
                '#' if self.word.is_none() => {
                    self.simple = false;
                    while self.chars.next_if(|c| *c != '\n').is_some() {}
                }
                c => self.plain(c),
            }
        }
        self.end_part();
        self.unclosed |= end.is_some();
    }

    fn separator(&mut self) {
        self.simple = false;
        self.end_part();
    }

    fn plain(&mut self, c: char) {
        let next = self.chars.peek().copied().unwrap_or(' ');
        let starts = self.word.is_none();
        match c {
            // Blanks to some programs, letters to others.
            c if c.is_whitespace() => {
                self.simple = false;
                self.end_word();
            }
            c if is_invisible(c) => self.simple = false,
            c if c.is_control() => self.unknown(),
            '*' | '?' => self.glob(c),
            '[' if !(starts && (next.is_whitespace() || next == '[')) => self.glob(c),
            '{' if next != '}' && !next.is_whitespace() => {
                self.push(c);
                self.unknown();
            }
            '[' | ']' | '{' | '}' => {
                self.simple = false;
                self.push(c);
            }
            c => {
                if starts && "~=!^%".contains(c) {
                    self.simple = false;
                }
                self.push(c);
            }
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    /// The word has something in it that only the shell knows.
    fn unknown(&mut self) {
        self.simple = false;
        self.push(UNKNOWN);
    }

    fn glob(&mut self, c: char) {
        self.simple = false;
        self.word.get_or_insert_default().extend([GLOB, c]);
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.target, Target::None) {
            Target::None => self.words.push(word),
            Target::File => {}
            Target::Text => self.texts.push(word),
            Target::HereDocument { indented } => {
                self.pending.push(HereDocument { end: word, indented, expands: !quoted });
            }
        }
    }

    fn end_part(&mut self) {
        self.end_word();
        self.target = Target::None;
        if !self.words.is_empty() {
            let closed = self.words.iter().filter(|it| *it == "esac").count();
            self.cases = (self.cases + usize::from(opens_case(&self.words))).saturating_sub(closed);
            let (words, piped) = (std::mem::take(&mut self.words), self.piped);
            self.parts.push(Part { words, piped, ..Part::default() });
            self.piped = false;
        }
    }

    fn single_quoted(&mut self) {
        self.quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.in_quotes(c),
                None => return self.open_end(),
            }
        }
    }

    fn open_end(&mut self) {
        self.simple = false;
        self.unclosed = true;
    }

    fn in_quotes(&mut self, c: char) {
        match c {
            UNKNOWN | GLOB => self.unknown(),
            c => self.push(c),
        }
    }

    fn double_quoted(&mut self, depth: usize) {
        self.quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some('$') => self.dollar_in_quotes(depth),
                Some('`') => self.backtick(depth),
                Some('\\') => match self.chars.next_if(|c| "$`\"\\\n".contains(*c)) {
                    Some('\n') => self.simple = false,
                    Some(c) => self.push(c),
                    None => self.push('\\'),
                },
                Some(c) => self.in_quotes(c),
                None => return self.open_end(),
            }
        }
    }

    fn escaped(&mut self) {
        self.quoted = true;
        match self.chars.next() {
            Some('\n') => self.simple = false,
            Some(c) if c.is_control() => self.unknown(),
            Some(c) => self.push(c),
            None => self.simple = false,
        }
    }

    fn dollar(&mut self, depth: usize) {
        self.simple = false;
        match self.chars.peek() {
            Some('\'') => {
                self.chars.next();
                self.quoted = true;
                let mut text = String::new();
                loop {
                    match self.chars.next() {
                        Some('\'') => break,
                        Some('\\') => text.extend(['\\'].into_iter().chain(self.chars.next())),
                        Some(c) => text.push(c),
                        None => return self.open_end(),
                    }
                }
                self.word.get_or_insert_default();
                escapes::decoded(&text).chars().for_each(|c| self.in_quotes(c));
            }
            // Of a text that is to be translated.
            Some('"') => {}
            _ => self.dollar_in_quotes(depth),
        }
    }

    fn dollar_in_quotes(&mut self, depth: usize) {
        match self.chars.peek() {
            Some('(') => {
                self.chars.next();
                self.nested(depth);
            }
            Some('{') => {
                self.chars.next();
                self.parameter(depth);
            }
            Some(c) if c.is_alphanumeric() || "_@*#?$!-".contains(*c) => {
                self.chars.next();
                while self.chars.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {}
            }
            _ => {
                self.simple = false;
                return self.push('$');
            }
        }
        self.unknown();
    }

    /// What follows a `${`, up to its brace.
    fn parameter(&mut self, depth: usize) {
        if depth == 0 {
            return self.too_deep = true;
        }
        loop {
            match self.chars.next() {
                Some('}') => return,
                Some('\\') => {
                    self.chars.next();
                }
                Some('$') => self.dollar_in_quotes(depth - 1),
                Some('`') => self.backtick(depth - 1),
                Some(_) => {}
                None => return self.open_end(),
            }
        }
    }

    /// A command inside of a word or a parenthesis; the words around it go on after it.
    fn nested(&mut self, depth: usize) {
        self.simple = false;
        let Some(depth) = depth.checked_sub(1) else { return self.too_deep = true };
        let outer = (std::mem::take(&mut self.words), self.word.take(), self.target, self.quoted);
        let cases = std::mem::take(&mut self.cases);
        self.target = Target::None;
        self.until(Some(')'), depth);
        self.cases = cases;
        (self.words, self.word, self.target, self.quoted) = outer;
    }

    fn backtick(&mut self, depth: usize) {
        let mut line = String::new();
        loop {
            match self.chars.next() {
                Some('`') => break,
                Some('\\') => line.extend(self.chars.next()),
                Some(c) => line.push(c),
                None => {
                    self.open_end();
                    break;
                }
            }
        }
        match depth.checked_sub(1) {
            Some(depth) => self.include(Reader::new(&line).read(depth)),
            None => self.too_deep = true,
        }
        self.unknown();
    }

    fn include(&mut self, line: Line) {
        self.parts.extend(line.parts);
        self.texts.extend(line.texts);
        self.unclosed |= line.unclosed;
        self.too_deep |= line.too_deep;
    }

    fn redirection(&mut self, c: char, depth: usize) {
        self.simple = false;
        // The number before it is a file's, not a word.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut operator = String::from(c);
        while let Some(c) = self.chars.next_if(|c| "<>&|-".contains(*c)) {
            operator.push(c);
        }
        if self.chars.next_if_eq(&'(').is_some() {
            self.nested(depth);
            // The name of a pipe, which no word begins with that is typed.
            self.push('<');
            return self.unknown();
        }
        self.target = match operator.as_str() {
            "<<<" => Target::Text,
            "<<" => Target::HereDocument { indented: false },
            "<<-" => Target::HereDocument { indented: true },
            _ => Target::File,
        };
    }

    /// Reads the here-documents that begin with this line.
    fn here_documents(&mut self, depth: usize) {
        for document in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            while self.chars.peek().is_some() {
                let mut line: String =
                    std::iter::from_fn(|| self.chars.next_if(|c| *c != '\n')).collect();
                self.chars.next();
                if document.indented {
                    line = line.trim_start_matches('\t').to_owned();
                }
                if line.trim_end_matches('\r') == document.end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            if document.expands {
                let mut inner = Reader::new(&text);
                inner.replaced(depth);
                self.include(inner.read(depth));
            }
            self.texts.push(text);
        }
    }

    /// Reads what is replaced in a text, and nothing else of it.
    fn replaced(&mut self, depth: usize) {
        while let Some(c) = self.chars.next() {
            match c {
                '$' => self.dollar_in_quotes(depth),
                '`' => self.backtick(depth),
                '\\' => {
                    self.chars.next();
                }
                _ => {}
            }
        }
        self.word = None;
    }
}

/// Whether words begin with `case`, after what may stand before a command.
fn opens_case(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|it| it == "case") else { return false };
    let mut before = words.iter().take(at);
    before.all(|it| is_keyword(it)) || words.first().is_some_and(|it| it == "function")
}

/// Characters that nobody sees: they hide a word from whoever reads it, on the screen or here.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A command without what may stand before it: words of the shell, and variables.
pub(super) fn without_preamble(words: Vec<String>) -> Vec<String> {
    let mut rest = &words[..];
    while let Some((first, after)) = rest.split_first() {
        rest = match first.as_str() {
            // These run what follows, with options of their own.
            "time" | "coproc" => break,
            // Its name.
            "function" => after.get(1..).unwrap_or_default(),
            word if is_assignment(word) || is_keyword(word) => after,
            _ => break,
        };
    }
    rest.to_vec()
}
