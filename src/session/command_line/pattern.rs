//! Patterns for commands: words, with `*` for parts of them, and at the end for all that follow.

use super::wrappers::{program, wrapped};
use super::{GLOB, Parsed, Part, UNKNOWN};
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

    /// Whether the pattern describes the whole command, which is simple.
    pub fn is_all_of(&self, command: &Parsed) -> bool {
        let fits = |words: &Vec<String>| {
            let long_enough = match self.open {
                true => words.len() >= self.words.len().max(1),
                false => words.len() == self.words.len(),
            };
            // A part of a path does not lead out of its folder.
            let leads_out =
                |word: &Word, text: &str| word.partial && text.split('/').any(|it| it == "..");
            // Where the program runs another one, the rule says which, and not with its `*`.
            let runs = wrapped(words).filter(|it| it.from < words.len() || !it.lines.is_empty());
            long_enough
                && runs.is_none_or(|it| it.from <= self.words.len())
                && self
                    .words
                    .iter()
                    .zip(words)
                    .all(|(word, text)| word.glob.matches(text) && !leads_out(word, text))
        };
        let simple = command.simple.as_ref().filter(|it| !it.is_empty() && !command.unreadable);
        simple.is_some_and(|all| all.iter().all(fits))
    }

    /// Whether the pattern describes anything that the command may do.
    pub fn is_part_of(&self, command: &Parsed) -> bool {
        let within = |part: &Part| {
            let begins = part.from.unwrap_or(part.words.len()).max(1);
            let mut places = std::iter::once(0).chain(begins..part.words.len());
            places.any(|at| {
                let words = part.words.get(at..).unwrap_or_default();
                self.may_be(words, at == 0 || at < part.unknown_until)
            })
        };
        command.unreadable || command.hidden || command.parts.iter().any(within)
    }

    /// Whether these may be the pattern's words. Where nobody knows a word, they may, and whether
    /// one is a program that nobody knows is for the caller to say.
    fn may_be(&self, words: &[String], unknown_program: bool) -> bool {
        let mut rest = words.iter();
        for (index, word) in self.words.iter().enumerate() {
            let Some(text) = rest.next() else { return false };
            let unknown = match index {
                0 => last_part(text).contains([UNKNOWN, GLOB]) && unknown_program,
                _ => text.contains(UNKNOWN),
            };
            if unknown {
                return true;
            }
            let plain = text.replace(GLOB, "");
            let named = index == 0
                && (word.glob.matches(last_part(&plain)) || word.glob.matches(&program(&plain)));
            if !named && !word.glob.matches(&plain) {
                return false;
            }
        }
        match self.open {
            true => !words.is_empty(),
            false => rest.all(|it| it.contains(UNKNOWN)),
        }
    }
}

/// A program's name without its folder.
fn last_part(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
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
