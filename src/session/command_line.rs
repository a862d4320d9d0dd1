//! Command lines as a shell reads them: whether one is a single simple command, and which commands
//! may be in it.
//!
//! Two readers with two duties. Whoever allows a command wants to know that it is nothing but these
//! words, and whatever is not beyond doubt is not simple. Whoever rejects one wants to find it
//! wherever it hides, and what is found need not be exact. Must not know rules or agents.

mod escapes;
#[cfg(test)]
mod hiding_tests;
mod pattern;
mod reader;
#[cfg(test)]
mod tests;
mod wrappers;

pub use self::pattern::Pattern;
use self::reader::{Line, Reader, without_preamble};

/// How deep a command may hide in others.
const DEPTH: usize = 8;
/// How many bytes are read for one command, with what hides in it: enough for any that is meant,
/// and not enough for one that is made to keep us busy.
const BUDGET: usize = 256 << 10;

/// At how many places a command may begin: each pattern is tried at all of them.
const MOST_PLACES: usize = 4096;

/// Stands in a word for what only the shell knows: a variable, the output of a command.
const UNKNOWN: char = '\0';
/// Stands in a word before what may be replaced by the names of files.
const GLOB: char = '\u{1}';

/// A command, as an agent gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A line for a shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
    /// Several, one after the other; or one of them, where nobody knows which.
    Several(Vec<Command>),
}

/// What a shell would make of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The words of each command, if it is beyond doubt that they are simple commands and no more.
    pub simple: Option<Vec<Vec<String>>>,
    /// All commands that are in it, as far as can be seen.
    parts: Vec<Part>,
    /// It is too long or too deep to be read, or a quote is open at its end.
    pub unreadable: bool,
    /// It runs something that it does not say.
    pub hidden: bool,
}

/// A command in a command.
#[derive(Debug, Default, PartialEq, Eq)]
struct Part {
    words: Vec<String>,
    /// It reads what the one before it writes.
    piped: bool,
    /// Another command may begin at any word from here on.
    from: Option<usize>,
    /// Up to here a word that nobody knows may be a program.
    unknown_until: usize,
}

impl Command {
    /// The command as it would be typed, a line for each.
    pub fn text(&self) -> String {
        match self {
            Command::Line(line) => line.clone(),
            Command::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| pattern::quote(word)).collect();
                words.join(" ")
            }
            Command::Several(all) => {
                let all: Vec<String> = all.iter().map(Command::text).collect();
                all.join("\n")
            }
        }
    }

    /// A program with its arguments and the variables that are set for it, in one line, for people:
    /// whole, with what is between lines made visible.
    pub fn with_variables(env: &[(String, String)], words: Vec<String>) -> String {
        let set = |(name, value): &(String, String)| format!("{name}={}", pattern::quote(value));
        let mut all: Vec<String> = env.iter().map(set).collect();
        all.push(Command::Words(words).text());
        all.join(" ").replace('\n', "\\n")
    }

    /// What a shell would make of it.
    pub fn parse(&self) -> Parsed {
        let mut budget = BUDGET;
        let parsed = self.parse_within(DEPTH, &mut budget);
        let places = parsed.parts.iter().map(|it| it.begins().count());
        if places.sum::<usize>() > MOST_PLACES {
            return too_much();
        }
        parsed
    }

    fn parse_within(&self, depth: usize, budget: &mut usize) -> Parsed {
        let mut texts = Vec::new();
        let mut parsed = match self {
            Command::Line(line) => {
                let Some(line) = read(line, depth, budget) else { return too_much() };
                texts = line.texts;
                Parsed {
                    simple: line.simple.map(|words| vec![words]),
                    parts: line.parts,
                    unreadable: line.too_deep || line.unclosed,
                    hidden: false,
                }
            }
            Command::Words(words) => given_words(words, depth, budget),
            Command::Several(all) => return several(all, depth, budget),
        };
        parsed.unwrap(texts, depth, budget);
        parsed
    }
}

fn too_much() -> Parsed {
    Parsed { unreadable: true, ..Parsed::default() }
}

fn read(line: &str, depth: usize, budget: &mut usize) -> Option<Line> {
    *budget = budget.checked_sub(line.len() + 1)?;
    Some(Reader::new(line.trim_matches([' ', '\t', '\r', '\n'])).read(depth))
}

/// Programs are run as they are given, but some agents make a line of the words; so they must
/// mean the same in a line.
fn given_words(words: &[String], depth: usize, budget: &mut usize) -> Parsed {
    let special = words.iter().any(|word| word.contains(is_special));
    let mut parsed = match (shell_line(words), special) {
        (Some(line), _) => Command::Line(line.to_owned()).parse_within(depth, budget),
        (None, true) => match read(&words.join(" "), depth, budget) {
            // As a line it may have a quote that is open, which the words have not.
            Some(Line { parts, too_deep, .. }) => {
                Parsed { parts, unreadable: too_deep, ..Parsed::default() }
            }
            None => too_much(),
        },
        (None, false) => {
            let simple = is_plain(words).then(|| vec![words.to_vec()]);
            Parsed { simple, ..Parsed::default() }
        }
    };
    let words = without_preamble(words.to_vec());
    parsed.parts.push(Part { words, ..Part::default() });
    parsed
}

/// A list may be several lines, or a program and its arguments.
fn several(all: &[Command], depth: usize, budget: &mut usize) -> Parsed {
    let line = |it: &Command| match it {
        Command::Line(line) => Some(line.clone()),
        Command::Words(_) | Command::Several(_) => None,
    };
    let words: Option<Vec<String>> = all.iter().map(line).collect();
    let words =
        words.filter(|it| it.first().is_some_and(|it| !it.trim().contains(char::is_whitespace)));
    let words = words.filter(|it| it.len() > 1).map(Command::Words);
    let mut result = Parsed { simple: Some(Vec::new()), ..Parsed::default() };
    for command in all.iter().chain(&words) {
        let parsed = match depth.checked_sub(1) {
            Some(depth) => command.parse_within(depth, budget),
            None => too_much(),
        };
        match (&mut result.simple, &parsed.simple) {
            (Some(all), Some(more)) => all.extend(more.iter().cloned()),
            (simple, _) => *simple = None,
        }
        result.include(parsed);
    }
    result
}

impl Parsed {
    fn include(&mut self, inner: Parsed) {
        self.parts.extend(inner.parts);
        self.unreadable |= inner.unreadable;
        self.hidden |= inner.hidden;
    }

    /// Looks into what is given to shells and to programs that run others.
    fn unwrap(&mut self, texts: Vec<String>, depth: usize, budget: &mut usize) {
        if let Some([words]) = self.simple.as_deref()
            && let Some(line) = shell_line(words)
        {
            let line = Command::Line(line.to_owned());
            let inner = depth.checked_sub(1).map(|depth| line.parse_within(depth, budget));
            self.simple = inner.and_then(|it| it.simple);
        }
        let mut inner = Parsed::default();
        for part in &mut self.parts {
            part.unwrap(&mut inner, depth, budget);
        }
        if self.parts.iter().any(|part| part.begins().any(wrappers::runs_script)) {
            self.hidden |= self.runs_unseen();
            for text in self.said().chain(texts) {
                inner.include(inner_line(&text, depth, budget));
                let decoded = escapes::decoded(&text);
                if decoded != text {
                    inner.include(inner_line(&decoded, depth, budget));
                }
            }
        }
        self.include(inner);
    }

    /// What the line has written somewhere: a script, where something in it runs scripts.
    fn said(&self) -> impl Iterator<Item = String> {
        self.parts.iter().filter_map(|part| {
            let (program, rest) = part.words.split_first()?;
            is_speaker(program).then(|| rest.join(" "))
        })
    }

    /// Whether a shell gets its commands from something whose output nobody knows.
    fn runs_unseen(&self) -> bool {
        let pipe = |word: &String| word.starts_with(['<', UNKNOWN]) && word.len() == 2;
        let substituted = |words: &[String]| wrappers::runs_script(words) && words.iter().any(pipe);
        let by_name = self.parts.iter().any(|part| part.begins().any(substituted));
        let by_pipe = self.parts.windows(2).any(|pair| match pair {
            [before, after] => {
                let known = before.words.first().is_some_and(|it| is_speaker(it));
                after.piped && !known && after.begins().any(wrappers::reads_commands)
            }
            _ => false,
        });
        by_pipe || (by_name && self.said().next().is_none())
    }
}

impl Part {
    /// The words from wherever a command may begin.
    fn begins(&self) -> impl Iterator<Item = &[String]> {
        let later = self.from.unwrap_or(self.words.len()).max(1)..self.words.len();
        std::iter::once(0).chain(later).filter_map(|at| self.words.get(at..))
    }

    fn unwrap(&mut self, inner: &mut Parsed, depth: usize, budget: &mut usize) {
        let mut all_lines = false;
        for at in 0..self.words.len() {
            if at > 0 && self.from.is_none_or(|from| at < from) {
                continue;
            }
            let words = self.words.get(at..).unwrap_or_default();
            let Some(found) = wrappers::wrapped(words) else { continue };
            let Some(left) = budget.checked_sub(words.len()) else {
                return inner.unreadable = true;
            };
            *budget = left;
            if found.from < words.len() {
                self.from = Some(self.from.map_or(at + found.from, |it| it.min(at + found.from)));
            }
            self.unknown_until = self.unknown_until.max(at + found.unknown_until);
            inner.hidden |= found.hidden;
            let lines = if all_lines { &[] } else { &found.lines[..] };
            for line in lines {
                inner.include(inner_line(line, depth, budget));
            }
            all_lines |= found.all_lines;
            for code in &found.code {
                let words = wrappers::words_of_code(code);
                inner.parts.push(Part { words, from: Some(0), ..Part::default() });
            }
        }
    }
}

fn inner_line(line: &str, depth: usize, budget: &mut usize) -> Parsed {
    match depth.checked_sub(1) {
        Some(depth) => {
            let inner = Command::Line(line.to_owned()).parse_within(depth, budget);
            Parsed { simple: None, ..inner }
        }
        None => too_much(),
    }
}

/// The line in `sh -c 'line'`, where it is beyond doubt that a shell gets that and nothing else.
fn shell_line(words: &[String]) -> Option<&str> {
    const KNOWN: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];
    let [shell, flag, line] = words else { return None };
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| shell.strip_prefix(folder));
    let known = KNOWN.contains(&name.unwrap_or(shell));
    (known && ["-c", "-lc"].contains(&flag.as_str())).then_some(line)
}

/// Whether a program writes what it is told to.
fn is_speaker(program: &str) -> bool {
    ["echo", "printf", "cat", "tee", "yes", "print"].contains(&wrappers::program(program).as_str())
}

/// What makes more than words of a line, even inside of words that some agent may join.
fn is_special(c: char) -> bool {
    ";&|<>`$".contains(c) || c.is_control()
}

/// Whether words begin with a program, rather than with a variable or a word of the shell.
fn is_plain(words: &[String]) -> bool {
    let Some(first) = words.first() else { return false };
    !first.is_empty() && !is_assignment(first) && !is_keyword(first)
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 28] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "in", "select", "function", "time", "coproc", "{", "}", "!", "[[", "]]", "begin", "end",
        "and", "or", "not", "repeat",
    ];
    KEYWORDS.contains(&word)
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || "_[]".contains(c) || c == GLOB)
}
