//! Reads a line as a POSIX shell does, with what bash, zsh and fish add.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::{Parsed, is_assignment, is_keyword, is_plain};

/// Reads one line.
pub(super) struct Reader {
    chars: Peekable<IntoIter<char>>,
    parts: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is where something is read from or written to.
    target: bool,
    /// Nothing but words so far.
    simple: bool,
}

impl Reader {
    pub(super) fn new(line: &str) -> Reader {
        Reader {
            chars: line.chars().collect::<Vec<_>>().into_iter().peekable(),
            parts: Vec::new(),
            words: Vec::new(),
            word: None,
            target: false,
            simple: true,
        }
    }

    pub(super) fn read(mut self, depth: usize) -> Parsed {
        self.until(None, depth);
        self.end_part();
        let simple = match &self.parts[..] {
            [words] if self.simple && is_plain(words) => Some(words.clone()),
            _ => None,
        };
        let parts = self.parts.into_iter().map(without_preamble);
        Parsed { simple, parts: parts.filter(|it| !it.is_empty()).collect() }
    }

    /// Reads up to the end, or to what closes the parenthesis we are in.
    fn until(&mut self, end: Option<char>, depth: usize) {
        while let Some(c) = self.chars.next() {
            match c {
                c if Some(c) == end => return self.end_part(),
                ' ' | '\t' => self.end_word(),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(depth),
                '\\' => self.escaped(),
                '$' => self.dollar(depth),
                '`' => self.backtick(depth),
                '(' => {
                    self.end_part();
                    self.nested(')', depth);
                }
                '\n' | ';' | '&' | '|' | ')' => {
                    self.simple = false;
                    self.end_part();
                }
                '<' | '>' => self.redirection(depth),
                '#' if self.word.is_none() => {
                    self.simple = false;
                    while self.chars.next_if(|c| *c != '\n').is_some() {}
                }
                c => self.plain(c),
            }
        }
        self.end_part();
    }

    fn plain(&mut self, c: char) {
        let expands = "*?[]{}".contains(c) || (self.word.is_none() && "~=!^%".contains(c));
        if expands || c.is_control() || c.is_whitespace() {
            self.simple = false;
        }
        self.push(c);
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.target)
        {
            self.words.push(word);
        }
    }

    fn end_part(&mut self) {
        self.end_word();
        self.target = false;
        if !self.words.is_empty() {
            self.parts.push(std::mem::take(&mut self.words));
        }
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.quoted(c),
                None => return self.simple = false,
            }
        }
    }

    fn quoted(&mut self, c: char) {
        if c == '\0' {
            self.simple = false;
        }
        self.push(c);
    }

    fn double_quoted(&mut self, depth: usize) {
        self.word.get_or_insert_default();
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some('$') => self.dollar(depth),
                Some('`') => self.backtick(depth),
                Some('\\') => match self.chars.next_if(|c| "$`\"\\\n".contains(*c)) {
                    Some('\n') => self.simple = false,
                    Some(c) => self.push(c),
                    None => self.push('\\'),
                },
                Some(c) => self.quoted(c),
                None => return self.simple = false,
            }
        }
    }

    fn escaped(&mut self) {
        match self.chars.next() {
            Some(c) if c.is_control() => {
                self.simple = false;
                if c != '\n' {
                    self.push(c);
                }
            }
            Some(c) => self.push(c),
            None => self.simple = false,
        }
    }

    fn dollar(&mut self, depth: usize) {
        self.simple = false;
        match self.chars.next_if_eq(&'(') {
            Some(_) => self.nested(')', depth),
            None => self.push('$'),
        }
    }

    /// A command inside of a word or a parenthesis; the words around it go on after it.
    fn nested(&mut self, end: char, depth: usize) {
        self.simple = false;
        let outer = (std::mem::take(&mut self.words), self.word.take(), self.target);
        self.target = false;
        if depth > 0 {
            self.until(Some(end), depth - 1);
        }
        (self.words, self.word, self.target) = outer;
    }

    fn backtick(&mut self, depth: usize) {
        self.simple = false;
        let mut line = String::new();
        while let Some(c) = self.chars.next() {
            match c {
                '`' => break,
                '\\' => line.extend(self.chars.next()),
                c => line.push(c),
            }
        }
        if depth > 0 {
            let inner = Reader::new(&line).read(depth - 1);
            self.parts.extend(inner.parts);
        }
    }

    fn redirection(&mut self, depth: usize) {
        self.simple = false;
        // The number before it is a file's, not a word.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        while self.chars.next_if(|c| "<>&|-".contains(*c)).is_some() {}
        match self.chars.next_if_eq(&'(') {
            Some(_) => self.nested(')', depth),
            None => self.target = true,
        }
    }
}

/// A command without what may stand before it: words of the shell, and variables.
fn without_preamble(words: Vec<String>) -> Vec<String> {
    let before = words.iter().take_while(|word| is_assignment(word) || is_keyword(word)).count();
    words.into_iter().skip(before).collect()
}
