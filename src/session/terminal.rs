//! Terminals: what commands have said so far, those that we run and the agent's own.

use std::collections::{BTreeMap, HashMap};

use super::ids::{ReplyTo, SessionId, TurnId};
use super::tool_call::{TerminalExit, TerminalId, TerminalNews};

/// How much of a terminal's output is kept when the agent names no limit.
const DEFAULT_LIMIT: usize = 1 << 20;
/// How much is kept at most, whatever the agent asks for.
const LARGEST_LIMIT: usize = 16 << 20;
/// How much more may gather before it is cut.
const SLACK: usize = 64 << 10;
/// How many terminals of an agent's own are kept for a session: the newest.
const MOST_OF_AGENT: usize = 4096;

/// Names a command that we run: its terminal's id means something in its session only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TerminalKey {
    /// Whose it is.
    pub session: SessionId,
    /// The id that the agent was given.
    pub terminal: TerminalId,
}

/// The terminals of one session.
///
/// Ours and the agent's own are kept apart: the ids of ours are given by us, the others are made up
/// by the agent, and nothing it says of its own may touch a command that we run.
#[derive(Debug, Default)]
pub struct Terminals {
    /// Of commands that we run.
    ours: BTreeMap<TerminalId, Terminal>,
    /// Of commands that the agent runs and tells of.
    of_agent: BTreeMap<TerminalId, Terminal>,
    /// The entry of the chat that shows a terminal.
    shown_in: HashMap<TerminalId, usize>,
    /// How much text is kept in all.
    bytes: usize,
    /// How many there have been.
    count: u64,
}

impl Terminals {
    /// What a tool call means by this id: one of ours, or else one of the agent's own.
    pub fn get(&self, id: &TerminalId) -> Option<&Terminal> {
        self.ours.get(id).or_else(|| self.of_agent.get(id))
    }

    /// A command that we run.
    pub fn ours(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.ours.get_mut(id)
    }

    /// All commands that we run or ran.
    pub fn all_ours(&mut self) -> impl Iterator<Item = (&TerminalId, &mut Terminal)> {
        self.ours.iter_mut()
    }

    /// How many commands have not ended.
    pub fn running(&self) -> usize {
        self.ours.values().filter(|it| it.exit.is_none()).count()
    }

    /// A command begins.
    pub fn begin(&mut self, id: TerminalId, terminal: Terminal) {
        self.count += 1;
        self.ours.insert(id, Terminal { number: self.count, ..terminal });
    }

    /// A command that we run says something.
    pub fn append(&mut self, id: &TerminalId, text: &str) {
        if let Some(terminal) = self.ours.get_mut(id) {
            self.bytes -= terminal.output.len();
            terminal.append(text);
            self.bytes += terminal.output.len();
        }
    }

    /// The agent tells of a terminal of its own, which may speak before anybody names it.
    pub fn told(&mut self, news: TerminalNews) {
        let TerminalNews { terminal: id, output, exit } = news;
        if !self.of_agent.contains_key(&id) {
            self.make_room();
            self.count += 1;
            let terminal = Terminal { number: self.count, ..Terminal::new(None) };
            self.of_agent.insert(id.clone(), terminal);
        }
        let Some(terminal) = self.of_agent.get_mut(&id) else { return };
        self.bytes -= terminal.output.len();
        terminal.append(output.as_deref().unwrap_or_default());
        self.bytes += terminal.output.len();
        terminal.exit = exit.or(terminal.exit.take());
    }

    /// Drops the oldest of the agent's own where there are too many.
    fn make_room(&mut self) {
        if self.of_agent.len() < MOST_OF_AGENT {
            return;
        }
        let oldest = self.of_agent.iter().min_by_key(|(_, it)| it.number);
        if let Some(id) = oldest.map(|(id, _)| id.clone())
            && let Some(terminal) = self.of_agent.remove(&id)
        {
            self.bytes -= terminal.output.len();
        }
    }

    /// An entry of the chat shows this terminal.
    pub fn show(&mut self, id: TerminalId, entry: usize) {
        self.shown_in.insert(id, entry);
    }

    /// The entry of the chat that showed a terminal last.
    pub fn shown_in(&self, id: &TerminalId) -> Option<usize> {
        self.shown_in.get(id).copied()
    }

    /// Forgets commands that have ended, that the agent has released, and that nobody sees.
    pub fn forget_released(&mut self, is_seen: impl Fn(&TerminalId, Option<usize>) -> bool) {
        let (shown_in, bytes) = (&self.shown_in, &mut self.bytes);
        self.ours.retain(|id, terminal| {
            let over = terminal.released && terminal.exit.is_some();
            let keep = !over || is_seen(id, shown_in.get(id).copied());
            if !keep {
                *bytes -= terminal.output.len();
            }
            keep
        });
    }

    /// How much text is kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How much text each terminal keeps.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.ours.values().chain(self.of_agent.values()).map(|it| it.output.len())
    }

    /// Keeps so much of each terminal, its end.
    pub fn cut(&mut self, most: usize) {
        let all = self.ours.values_mut().chain(self.of_agent.values_mut());
        for terminal in all.filter(|it| it.output.len() > most) {
            self.bytes -= terminal.output.len();
            terminal.cut(most);
            terminal.output.shrink_to_fit();
            self.bytes += terminal.output.len();
        }
    }
}

/// A command and what it says.
#[derive(Debug)]
pub struct Terminal {
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
    /// What it runs, for people.
    pub command: String,
    /// The turn it was started in.
    pub turn: Option<TurnId>,
    /// Whether it is ended because that turn was cancelled.
    pub stop: Stop,
    /// Which of its session's it is.
    number: u64,
}

/// Whether a command is ended because its turn was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// It is not.
    #[default]
    No,
    /// It has been told to end.
    Asked,
    /// It has ended.
    Done,
    /// It does not end.
    Failed,
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
    pub fn new(limit: Option<u64>) -> Terminal {
        let limit =
            limit.map_or(DEFAULT_LIMIT, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Terminal {
            output: String::new(),
            limit: limit.min(LARGEST_LIMIT),
            truncated: false,
            dropped: 0,
            exit: None,
            waiters: Vec::new(),
            released: false,
            command: String::new(),
            turn: None,
            stop: Stop::No,
            number: 0,
        }
    }

    /// Adds output. What is too much goes from the start, now and then: cutting at every piece
    /// would move the whole text each time.
    fn append(&mut self, text: &str) {
        self.output.push_str(text);
        if self.output.len() > self.limit + self.limit / 4 + SLACK {
            self.cut(self.limit);
        }
    }

    fn cut(&mut self, most: usize) {
        let start = self.start(most);
        self.output.drain(..start);
        self.truncated |= start > 0;
        self.dropped += start;
    }

    /// What it said last, within the limit, and whether that is not all.
    pub fn tail(&self) -> (&str, bool) {
        let start = self.start(self.limit);
        (self.output.get(start..).unwrap_or_default(), self.truncated || start > 0)
    }

    /// Where the last so many bytes begin, between characters.
    fn start(&self, most: usize) -> usize {
        let excess = self.output.len().saturating_sub(most);
        let start = (excess..self.output.len()).find(|at| self.output.is_char_boundary(*at));
        start.unwrap_or(self.output.len())
    }
}

/// How much each of so long texts may keep for all of them to stay within a sum: the long ones pay,
/// those below an equal share keep what they have.
pub fn fair_share(mut lengths: Vec<usize>, sum: usize) -> usize {
    lengths.sort_unstable();
    let mut left = sum;
    for (index, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - index);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_at_the_start_between_characters() {
        let mut terminal = Terminal::new(Some(5));
        terminal.append("a\u{e9}");
        assert_eq!(terminal.tail(), ("a\u{e9}", false));
        terminal.append("\u{65e5}b");
        assert_eq!(terminal.tail(), ("\u{65e5}b", true));
        let mut none = Terminal::new(Some(0));
        none.append("x");
        assert_eq!(none.tail(), ("", true));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut terminal = Terminal::new(Some(10));
        for _ in 0..100_000 {
            terminal.append("0123456789");
        }
        assert!(terminal.output.len() < 2 * SLACK);
        assert_eq!(terminal.tail(), ("0123456789", true));
    }

    #[test]
    fn an_agent_does_not_choose_how_much_is_kept() {
        let mut terminal = Terminal::new(Some(8_000_000_000));
        let piece = "x".repeat(1 << 20);
        for _ in 0..64 {
            terminal.append(&piece);
            assert!(terminal.output.len() <= LARGEST_LIMIT * 5 / 4 + SLACK);
        }
        assert_eq!(terminal.tail(), (&*"x".repeat(LARGEST_LIMIT), true));
    }

    #[test]
    fn long_texts_pay_for_all() {
        assert_eq!(fair_share(vec![], 10), usize::MAX);
        assert_eq!(fair_share(vec![5, 5], 10), usize::MAX);
        assert_eq!(fair_share(vec![100, 2, 50], 10), 4);
        assert_eq!(fair_share(vec![3, 3, 3, 3], 10), 2);
    }

    #[test]
    fn terminals_of_the_agent_are_bounded_in_number() {
        let mut terminals = Terminals::default();
        let told = |id: usize| TerminalNews {
            terminal: format!("t{id}").into(),
            output: Some("x".into()),
            exit: None,
        };
        for id in 0..MOST_OF_AGENT + 10 {
            terminals.told(told(id));
        }
        assert_eq!((terminals.of_agent.len(), terminals.bytes()), (MOST_OF_AGENT, MOST_OF_AGENT));
        assert!(terminals.get(&"t9".into()).is_none(), "the oldest went");
        assert!(terminals.get(&"t10".into()).is_some());
    }
}
