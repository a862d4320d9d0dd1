//! What one agent can have written to the log: so many lines a minute, then a number.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::session::ids::ConnectionId;

/// How many lines about one agent are written a minute.
const LINES: u32 = 100;
const MINUTE: Duration = Duration::from_secs(60);

thread_local! {
    /// Only the core's thread reads what agents say.
    static AGENTS: RefCell<Agents> = RefCell::default();
}

#[derive(Debug, Default)]
struct Agents {
    /// The one whose words are being read.
    current: Option<ConnectionId>,
    minutes: BTreeMap<ConnectionId, Minute>,
}

#[derive(Debug)]
struct Minute {
    began: Instant,
    lines: u32,
    left_out: u64,
}

/// Does something because of what an agent has said; lines that are written meanwhile count as the
/// agent's.
pub(in crate::runtime) fn on_behalf<T>(connection: ConnectionId, work: impl FnOnce() -> T) -> T {
    let over = |it: &mut Minute| it.began.elapsed() >= MINUTE;
    AGENTS
        .with_borrow_mut(|agents| {
            if agents.minutes.get_mut(&connection).is_some_and(over) {
                return agents.minutes.remove(&connection);
            }
            None
        })
        .inspect(|minute| tell(connection, minute));
    let before = AGENTS.with_borrow_mut(|agents| agents.current.replace(connection));
    let result = work();
    AGENTS.with_borrow_mut(|agents| agents.current = before);
    result
}

/// The agent is gone.
pub(in crate::runtime) fn forget(connection: ConnectionId) {
    let minute = AGENTS.with_borrow_mut(|agents| agents.minutes.remove(&connection));
    if let Some(minute) = minute {
        tell(connection, &minute);
    }
}

fn tell(connection: ConnectionId, minute: &Minute) {
    if minute.left_out > 0 {
        let lines = minute.left_out;
        tracing::warn!(%connection, lines, "more lines about this agent were left out");
    }
}

/// Lets lines pass, or counts them.
pub(super) struct Limit;

impl<S: Subscriber> Layer<S> for Limit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        // Whoever has set a lower level wants to see it all.
        if *event.metadata().level() > Level::INFO {
            return true;
        }
        // A line that is written while one is counted is ours.
        AGENTS.with(|agents| agents.try_borrow_mut().map_or(true, |mut agents| agents.may_speak()))
    }
}

impl Agents {
    fn may_speak(&mut self) -> bool {
        let Some(current) = self.current else { return true };
        let minute = self.minutes.entry(current).or_insert_with(|| Minute {
            began: Instant::now(),
            lines: 0,
            left_out: 0,
        });
        if minute.lines < LINES {
            minute.lines += 1;
            return true;
        }
        minute.left_out += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_lines() {
        let (one, two) = (ConnectionId(1), ConnectionId(2));
        let mut agents = Agents { current: Some(one), ..Agents::default() };
        let passed = (0..1_000).filter(|_| agents.may_speak()).count();
        assert_eq!(passed, 100);
        agents.current = Some(two);
        assert!(agents.may_speak());
        agents.current = None;
        assert!(agents.may_speak());
        assert_eq!(agents.minutes.get(&one).unwrap().left_out, 900);
    }
}
