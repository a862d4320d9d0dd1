//! Command lines as a shell reads them: whether one is a single simple command, and which commands
//! may be in it.
//!
//! Two readers with two duties. Whoever allows a command wants to know that it is nothing but these
//! words, and whatever is not beyond doubt is not simple. Whoever rejects one wants to find it
//! wherever it hides, and what is found need not be exact. Must not know rules or agents.

mod pattern;
mod reader;
#[cfg(test)]
mod tests;

pub use self::pattern::Pattern;
use self::reader::Reader;

/// How deep a command may hide in others.
const DEPTH: usize = 8;
/// How many bytes are read for one command, with what hides in it: enough for any that is meant,
/// and not enough for one that is made to keep us busy.
const BUDGET: usize = 1 << 20;

/// A command, as an agent gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A line for a shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// What a shell would make of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The words, if it is beyond doubt that it is one simple command and no more.
    pub simple: Option<Vec<String>>,
    /// All commands that are in it, as far as can be seen.
    pub parts: Vec<Vec<String>>,
}

impl Command {
    /// The command in one line, for people.
    pub fn text(&self) -> String {
        match self {
            Command::Line(line) => line.clone(),
            Command::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| pattern::quote(word)).collect();
                words.join(" ")
            }
        }
    }

    /// What a shell would make of it.
    pub fn parse(&self) -> Parsed {
        let mut budget = BUDGET;
        self.parse_within(DEPTH, &mut budget)
    }

    fn parse_within(&self, depth: usize, budget: &mut usize) -> Parsed {
        let mut parsed = match self {
            Command::Line(line) => {
                let Some(left) = budget.checked_sub(line.len() + 1) else {
                    return Parsed::default();
                };
                *budget = left;
                Reader::new(line.trim_matches([' ', '\t', '\r', '\n'])).read(depth)
            }
            Command::Words(words) => given_words(words, depth, budget),
        };
        if depth > 0 {
            parsed.unwrap(depth - 1, budget);
        }
        parsed
    }
}

/// Programs are run as they are given, but some agents make a line of the words; so they must
/// mean the same in a line.
fn given_words(words: &[String], depth: usize, budget: &mut usize) -> Parsed {
    let special = words.iter().any(|word| word.contains(is_special));
    let mut parsed = match (shell_line(words), special) {
        (Some(line), _) => Command::Line(line.to_owned()).parse_within(depth, budget),
        (None, true) => {
            let line = Command::Line(words.join(" "));
            Parsed { simple: None, ..line.parse_within(depth, budget) }
        }
        (None, false) => {
            let simple = is_plain(words).then(|| words.to_vec());
            Parsed { simple, parts: Vec::new() }
        }
    };
    parsed.parts.push(words.to_vec());
    parsed
}

impl Parsed {
    /// Looks into what is given to shells and to programs that run others.
    fn unwrap(&mut self, depth: usize, budget: &mut usize) {
        if let Some(words) = &self.simple
            && let Some(line) = shell_line(words)
        {
            self.simple = Command::Line(line.to_owned()).parse_within(depth, budget).simple;
        }
        let mut inner = Vec::new();
        for part in &self.parts {
            for at in std::iter::once(0).chain(wrapped(part)) {
                let words = part.get(at..).unwrap_or_default();
                for line in lines_in(words) {
                    inner.append(&mut Command::Line(line).parse_within(depth, budget).parts);
                }
                if at > 0 {
                    inner.push(words.to_vec());
                }
            }
        }
        self.parts.append(&mut inner);
    }
}

const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// Programs that run what comes after them.
const WRAPPERS: [&str; 24] = [
    "sudo", "doas", "env", "nohup", "time", "timeout", "command", "builtin", "exec", "nice",
    "ionice", "setsid", "stdbuf", "xargs", "parallel", "watch", "chroot", "strace", "find", "fd",
    "script", "unshare", "busybox", "coproc",
];

/// The line in `sh -c 'line'`, where it is beyond doubt that a shell gets that and nothing else.
fn shell_line(words: &[String]) -> Option<&str> {
    let [shell, flag, line] = words else { return None };
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| shell.strip_prefix(folder));
    let known = SHELLS.contains(&name.unwrap_or(shell));
    (known && ["-c", "-lc"].contains(&flag.as_str())).then_some(line)
}

/// The lines that a command may give to a shell.
fn lines_in(words: &[String]) -> Vec<String> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    match base(first) {
        "eval" => vec![rest.join(" ")],
        shell if SHELLS.contains(&shell) => {
            let flag = |it: &&String| it.starts_with('-') && it.ends_with('c');
            let at = rest.iter().position(|it| flag(&it));
            at.and_then(|at| rest.get(at + 1)).cloned().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Where in these words another command may begin.
fn wrapped(words: &[String]) -> std::ops::Range<usize> {
    match words.first() {
        Some(first) if WRAPPERS.contains(&base(first)) => 1..words.len().min(24),
        _ => 0..0,
    }
}

/// A program's name without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
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
    const KEYWORDS: [&str; 24] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "in", "select", "function", "time", "coproc", "{", "}", "!", "[[", "]]", "begin", "end",
    ];
    KEYWORDS.contains(&word)
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || "_[]".contains(c))
}
