//! Terminals: what a command has said so far, ours and the agent's own.

use super::ids::{ReplyTo, SessionId};
use super::tool_call::TerminalExit;

/// How much of a terminal's output is kept when the agent names no limit.
const DEFAULT_LIMIT: usize = 1 << 20;
/// How much more may gather before it is cut.
const SLACK: usize = 64 << 10;

/// A command and what it says.
#[derive(Debug)]
pub struct Terminal {
    /// Whose it is.
    pub session: SessionId,
    /// What it said; [`Terminal::tail`] is what counts.
    pub output: String,
    /// How much is kept.
    pub limit: usize,
    /// Whether something has been cut away.
    pub truncated: bool,
    /// How many bytes that is.
    pub dropped: usize,
    /// How it ended.
    pub exit: Option<TerminalExit>,
    /// Who waits for its end.
    pub waiters: Vec<Waiter>,
    /// Released: the agent does not know it any more, the chat still shows it.
    pub released: bool,
}

/// Somebody who waits for the end of a command.
#[derive(Debug)]
pub enum Waiter {
    /// For how it ended.
    Exit(ReplyTo),
    /// For everything: output and how it ended.
    Run(ReplyTo),
}

impl Terminal {
    /// A terminal that has said nothing yet.
    pub fn new(session: SessionId, limit: Option<u64>) -> Terminal {
        let limit =
            limit.map_or(DEFAULT_LIMIT, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Terminal {
            session,
            output: String::new(),
            limit,
            truncated: false,
            dropped: 0,
            exit: None,
            waiters: Vec::new(),
            released: false,
        }
    }

    /// Adds output. What is too much goes from the start, now and then: cutting at every piece
    /// would move the whole text each time.
    pub fn append(&mut self, text: &str) {
        self.output.push_str(text);
        if self.output.len() > self.limit.saturating_mul(2).saturating_add(SLACK) {
            let start = self.start();
            self.output.drain(..start);
            self.truncated = true;
            self.dropped += start;
        }
    }

    /// What it said last, within the limit, and whether that is not all.
    pub fn tail(&self) -> (&str, bool) {
        let start = self.start();
        (self.output.get(start..).unwrap_or_default(), self.truncated || start > 0)
    }

    /// Where the last `limit` bytes begin, between characters.
    fn start(&self) -> usize {
        let excess = self.output.len().saturating_sub(self.limit);
        let start = (excess..self.output.len()).find(|at| self.output.is_char_boundary(*at));
        start.unwrap_or(self.output.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_at_the_start_between_characters() {
        let mut terminal = Terminal::new(SessionId(1), Some(5));
        terminal.append("a\u{e9}");
        assert_eq!(terminal.tail(), ("a\u{e9}", false));
        terminal.append("\u{65e5}b");
        assert_eq!(terminal.tail(), ("\u{65e5}b", true));
        let mut none = Terminal::new(SessionId(1), Some(0));
        none.append("x");
        assert_eq!(none.tail(), ("", true));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut terminal = Terminal::new(SessionId(1), Some(10));
        for _ in 0..100_000 {
            terminal.append("0123456789");
        }
        assert!(terminal.output.len() < 2 * SLACK);
        assert_eq!(terminal.tail(), ("0123456789", true));
    }
}
