//! Patterns for commands: words, with `*` for parts of them, and at the end for all that follow.

use super::{Command, base};
use crate::session::glob::{Glob, escape};

/// A pattern such as `git status` or `cargo test *`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    words: Vec<Word>,
    /// Whether any words may follow.
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    glob: Glob,
    /// Whether it stands for a part of a word, as in `src/*`.
    partial: bool,
}

impl Pattern {
    /// Reads a pattern. Words with spaces are put in quotes.
    ///
    /// # Errors
    /// It is empty, or it has more in it than words, and so could never match.
    pub fn new(text: &str) -> Result<Pattern, String> {
        let mut words = split(text)?;
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        }
        if words.is_empty() && !open {
            return Err("a pattern for commands needs a word".to_owned());
        }
        let word = |text: &String| {
            let partial = text != "*" && text.contains(['*', '?', '[']);
            Ok(Word { glob: Glob::word(text)?, partial })
        };
        Ok(Pattern { words: words.iter().map(word).collect::<Result<_, String>>()?, open })
    }

    /// The pattern that means these very words.
    pub fn exactly(words: &[String]) -> String {
        let word = |word: &String| quote(&escape(word));
        words.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// Whether the whole command is one simple command that the pattern describes.
    pub fn is_all_of(&self, command: &Command) -> bool {
        command.parse().simple.is_some_and(|words| {
            self.matches(&words, |word, text| {
                // A part of a path does not lead out of its folder.
                word.glob.matches(text) && !(word.partial && text.split('/').any(|it| it == ".."))
            })
        })
    }

    /// Whether the pattern describes anything that the command may do.
    pub fn is_part_of(&self, command: &Command) -> bool {
        let parsed = command.parse();
        let program = |words: &[String]| words.first().map_or("", |it| base(it)).to_owned();
        parsed.parts.iter().any(|words| {
            let program = program(words);
            let mut named = words.clone();
            if let Some(first) = named.first_mut() {
                *first = program;
            }
            let glob = |word: &Word, text: &str| word.glob.matches(text);
            self.matches(words, glob) || self.matches(&named, glob)
        })
    }

    fn matches(&self, words: &[String], matches: impl Fn(&Word, &str) -> bool) -> bool {
        let long_enough = match self.open {
            true => words.len() >= self.words.len().max(1),
            false => words.len() == self.words.len(),
        };
        long_enough && self.words.iter().zip(words).all(|(word, text)| matches(word, text))
    }
}

/// The words of a pattern, as globs. What is in quotes stands for itself, but for `*` and `?`: they
/// mean the same everywhere, and a `\` before them makes them plain.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            (' ' | '\t', None) => words.extend(word.take()),
            ('\\', _) => {
                let next = chars.next().ok_or("a pattern can't end with `\\`")?;
                word.get_or_insert_default().extend(['\\', next]);
            }
            (';' | '&' | '|' | '<' | '>' | '`' | '$' | '\n', None) => {
                return Err(format!("a pattern has the words of one command, and no `{c}`"));
            }
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("a quote is open in `{text}`"));
    }
    words.extend(word);
    Ok(words)
}

/// A word as a shell and [`split`] read it.
pub(super) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=:,./@%\\*?[]{}^~!#".contains(c);
    match (word.is_empty() || !word.chars().all(plain), word.contains('\'')) {
        (false, _) => word.to_owned(),
        (true, false) => format!("'{word}'"),
        (true, true) => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
