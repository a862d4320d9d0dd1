//! Globs: `*`, `**`, `?`, `[a-z]`, `{a,b}`, and `\` before what is meant as it stands.
//!
//! Knows texts. Must not know files or folders. The patterns are the user's, the texts are an
//! agent's: matching takes no longer than the product of their lengths, whatever they are.

/// How many patterns the braces of one may stand for.
const ALTERNATIVES: usize = 256;
/// How deep braces may be nested.
const DEPTH: usize = 8;

/// A pattern, ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    alternatives: Vec<Vec<Token>>,
    /// Whether `*` and `?` stop at a slash.
    slashes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `[a-z]`: whether these are the ones not meant, and the ranges.
    Class(bool, Vec<(char, char)>),
    /// `**/`: any number of folders. Always followed by [`Token::Folders`].
    Deep,
    /// Inside a folder of a [`Token::Deep`].
    Folders,
    /// `**` at the end: anything, but something.
    Rest,
}

impl Glob {
    /// A pattern for a whole word, in which a slash is a character like any other.
    ///
    /// # Errors
    /// Its braces stand for too many patterns.
    pub fn word(pattern: &str) -> Result<Glob, String> {
        let alternatives = braces(pattern)?.iter().map(|it| tokens(it, false)).collect();
        Ok(Glob { alternatives, slashes: false })
    }

    /// A pattern for a whole path. `place` makes of each alternative the path that it stands for.
    ///
    /// # Errors
    /// Its braces stand for too many patterns.
    pub fn path(pattern: &str, place: impl Fn(&str) -> String) -> Result<Glob, String> {
        let alternatives = braces(pattern)?.iter().map(|it| tokens(&place(it), true)).collect();
        Ok(Glob { alternatives, slashes: true })
    }

    /// Whether this is the pattern's text, from beginning to end.
    pub fn matches(&self, text: &str) -> bool {
        self.alternatives.iter().any(|tokens| self.run(tokens, text))
    }

    /// Follows all ways through the pattern at once.
    fn run(&self, tokens: &[Token], text: &str) -> bool {
        let mut now = vec![false; tokens.len() + 1];
        let mut next = now.clone();
        reach(&mut now, tokens, 0);
        for c in text.chars() {
            let inner = !(self.slashes && c == '/');
            next.fill(false);
            for (at, token) in tokens.iter().enumerate() {
                if now.get(at) != Some(&true) {
                    continue;
                }
                let (stay, go) = match token {
                    Token::Char(wanted) => (false, *wanted == c),
                    Token::Any => (false, inner),
                    Token::Star => (inner, false),
                    Token::Class(not, ranges) => {
                        (false, inner && ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) != *not)
                    }
                    Token::Deep => (false, false),
                    Token::Folders => (true, c == '/'),
                    Token::Rest => (true, true),
                };
                if stay {
                    reach(&mut next, tokens, at);
                }
                if go {
                    reach(&mut next, tokens, at + 1);
                }
            }
            std::mem::swap(&mut now, &mut next);
            if !now.contains(&true) {
                return false;
            }
        }
        now.last() == Some(&true)
    }
}

/// Marks a place in the pattern as reached, and those that come after it at no cost.
fn reach(places: &mut [bool], tokens: &[Token], at: usize) {
    let Some(place) = places.get_mut(at) else { return };
    if std::mem::replace(place, true) {
        return;
    }
    match tokens.get(at) {
        Some(Token::Star) => reach(places, tokens, at + 1),
        Some(Token::Deep) => {
            reach(places, tokens, at + 1);
            reach(places, tokens, at + 2);
        }
        _ => {}
    }
}

/// The pattern that means this very text.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "*?[]{},\\".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn tokens(pattern: &str, slashes: bool) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    let mut begins = true;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if slashes && begins && rest == "**" {
            tokens.push(Token::Rest);
            return tokens;
        }
        if slashes
            && begins
            && let Some(after) = rest.strip_prefix("**/")
        {
            tokens.extend([Token::Deep, Token::Folders]);
            rest = after;
            continue;
        }
        begins = c == '/';
        rest = match c {
            '\\' => {
                let mut chars = after.chars();
                tokens.push(Token::Char(chars.next().unwrap_or('\\')));
                chars.as_str()
            }
            '?' => {
                tokens.push(Token::Any);
                after
            }
            '*' => {
                tokens.push(Token::Star);
                after.trim_start_matches('*')
            }
            '[' => match class(after) {
                Some((class, after)) => {
                    tokens.push(class);
                    after
                }
                None => {
                    tokens.push(Token::Char('['));
                    after
                }
            },
            c => {
                tokens.push(Token::Char(c));
                after
            }
        };
    }
    tokens
}

/// What follows a `[`, up to its `]`; none where there is no such.
fn class(text: &str) -> Option<(Token, &str)> {
    let (not, text) = match text.strip_prefix(['!', '^']) {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut ranges = Vec::new();
    let mut chars = text.chars();
    loop {
        let from = match chars.next()? {
            ']' if !ranges.is_empty() => return Some((Token::Class(not, ranges), chars.as_str())),
            '\\' => chars.next()?,
            c => c,
        };
        let mut ahead = chars.clone();
        let to = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                chars = ahead;
                to
            }
            _ => from,
        };
        ranges.push((from, to));
    }
}

/// The patterns that a pattern with braces stands for.
fn braces(pattern: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    expand(pattern, DEPTH, &mut all)?;
    Ok(all)
}

fn expand(pattern: &str, depth: usize, all: &mut Vec<String>) -> Result<(), String> {
    let Some((before, choices, after)) = first_braces(pattern) else {
        all.push(pattern.to_owned());
        return if all.len() > ALTERNATIVES { Err(too_many(pattern)) } else { Ok(()) };
    };
    if depth == 0 {
        return Err(too_many(pattern));
    }
    for choice in choices {
        expand(&format!("{before}{choice}{after}"), depth - 1, all)?;
    }
    Ok(())
}

fn too_many(pattern: &str) -> String {
    format!("the braces in `{pattern}` stand for too many patterns")
}

/// The first `{a,b}`: what stands before it, the choices, what stands after it.
fn first_braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut open, mut from) = (0usize, 0, 0);
    let mut choices = Vec::new();
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => {
                if depth == 0 {
                    (open, from) = (at, at + 1);
                }
                depth += 1;
            }
            ',' if depth == 1 => {
                choices.push(pattern.get(from..at)?);
                from = at + 1;
            }
            '}' if depth == 1 => {
                choices.push(pattern.get(from..at)?);
                return Some((pattern.get(..open)?, choices, pattern.get(at + 1..)?));
            }
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, text: &str) -> bool {
        Glob::path(pattern, str::to_owned).unwrap().matches(text)
    }

    fn word(pattern: &str, text: &str) -> bool {
        Glob::word(pattern).unwrap().matches(text)
    }

    #[test]
    fn paths() {
        let yes = [
            ("/p/*.rs", "/p/a.rs"),
            ("/p/**/*.rs", "/p/a.rs"),
            ("/p/**/*.rs", "/p/a/b/c.rs"),
            ("/p/**", "/p/a"),
            ("/p/**", "/p/.git/config"),
            ("/p{,/**}", "/p"),
            ("/p{,/**}", "/p/a/b"),
            ("**", "/anything"),
            ("/p/a?c", "/p/a\u{e9}c"),
            ("/p/[a-c]", "/p/b"),
            ("/p/[!a-c]", "/p/d"),
            ("/p/[]]", "/p/]"),
            ("/p/{a,b{1,2}}.x", "/p/b2.x"),
            ("/p/\\*", "/p/*"),
            ("/p/[ab", "/p/[ab"),
            ("/p/a**b", "/p/a1b"),
            ("/**/b", "/b"),
            ("/p/**/a/**/b", "/p/a/b"),
        ];
        for (pattern, text) in yes {
            assert!(path(pattern, text), "{pattern} {text}");
        }
        let no = [
            ("/p/*.rs", "/p/a/b.rs"),
            ("/p/*.rs", "/p/a.rsx"),
            ("/p/**", "/p"),
            ("/p/**", "/pp/a"),
            ("/p/**/b", "/p/ab"),
            ("/p/**/b", "/p/a/bb"),
            ("/p/a?c", "/p/a/c"),
            ("/p/[!a]", "/p//"),
            ("/p/a**b", "/p/a/b"),
            ("/p/\\*", "/p/a"),
            ("/p/{a,b}", "/p/{a,b}"),
            ("", "/"),
        ];
        for (pattern, text) in no {
            assert!(!path(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn words() {
        assert!(word("mcp__*", "mcp__a/b"));
        assert!(word("*", ""));
        assert!(word("{test,lint}", "lint"));
        assert!(word("**x", "a/x"));
        assert!(!word("bash", "bash2"));
        assert!(!word("b", ""));
    }

    #[test]
    fn what_is_escaped_means_itself() {
        for text in ["a*b", "a{b,c}", "[x]", "a\\b", "?", "a,b", "{"] {
            assert!(word(&escape(text), text), "{text}");
            assert!(!word(&escape(text), "axb"), "{text}");
            assert!(word(&format!("{{{},z}}", escape(text)), text), "{text}");
        }
    }

    #[test]
    fn no_pattern_takes_for_ever() {
        let text = "a".repeat(2_000);
        assert!(!word(&("*a".repeat(60) + "b"), &text));
        assert!(!path(&("/**".repeat(60) + "/b"), &"/a".repeat(1_000)));
        assert!(Glob::word(&"{a,b}".repeat(20)).is_err());
        assert!(Glob::word(&"{".repeat(10_000)).is_ok());
        assert!(Glob::word(&("{a,".repeat(50) + &"}".repeat(50))).is_err());
    }
}
