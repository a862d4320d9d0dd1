//! Timers: a while from now, something is raised.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use super::input::Input;
use crate::session::effect::Timer;
use crate::session::event::Event;

/// Raises [`Event::TimerFired`] after a while.
pub(super) fn set(timer: Timer, after: Duration, inputs: Sender<Input>) {
    let after = match timer {
        // Whoever lost the same agent at the same moment must not come back at the same moment.
        Timer::Reconnect { .. } => spread(after, RandomState::new().build_hasher().finish()),
        Timer::NoAnswer { .. }
        | Timer::NotStopped { .. }
        | Timer::StopCommands { .. }
        | Timer::NoEditor(_)
        | Timer::NoPaths(_) => after,
    };
    tokio::spawn(async move {
        sleep(after).await;
        if inputs.send(Input::Event(Event::TimerFired(timer))).await.is_err() {
            tracing::debug!("a timer outlived the core");
        }
    });
}

/// A quarter more or less, as chance has it.
fn spread(after: Duration, chance: u64) -> Duration {
    let percent = 75 + u32::try_from(chance % 51).unwrap_or(25);
    after * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_more_or_less() {
        let second = Duration::from_secs(1);
        assert_eq!(spread(second, 0), Duration::from_millis(750));
        assert_eq!(spread(second, 25), second);
        assert_eq!(spread(second, 50), Duration::from_millis(1250));
        let all: std::collections::BTreeSet<_> =
            (0..100).map(|_| spread(second, RandomState::new().build_hasher().finish())).collect();
        assert!(all.len() > 10, "no chance in it: {all:?}");
    }
}
