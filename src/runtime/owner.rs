//! The Neovim that something on the disk belongs to, and whether it still lives.
//!
//! Several Neovims share what is kept for the next start. Each leaves alone what belongs to another
//! one for as long as that one lives. Must not know what is owned.

use std::fs;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A Neovim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    pid: u32,
    /// When its process began, where the system tells: numbers are given again.
    born: Option<String>,
}

impl Owner {
    /// This one.
    pub(super) fn me() -> Owner {
        Owner::of(std::process::id())
    }

    fn of(pid: u32) -> Owner {
        Owner { pid, born: Stat::read(pid).map(|it| it.born) }
    }

    /// Whether it may still do something. A process that has ended and that nobody has waited for
    /// has its number still, and answers signals as if it lived.
    pub(super) fn lives(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if pid.is_none_or(|it| test_kill_process(it).is_err()) {
            return false;
        }
        match (Stat::read(self.pid), &self.born) {
            (Some(stat), Some(born)) => stat.born == *born && !stat.ended,
            // The system told once, and now it does not: the process went in between.
            (None, Some(_)) => false,
            // Nothing but the number is known.
            (stat, None) => stat.is_none_or(|it| !it.ended),
        }
    }
}

/// What the system says of a process; Linux does.
struct Stat {
    born: String,
    /// A zombie, or dead.
    ended: bool,
}

impl Stat {
    fn read(pid: u32) -> Option<Stat> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program is in parentheses, and may have anything in it.
        let (_, after) = stat.rsplit_once(") ")?;
        let mut fields = after.split(' ');
        let ended = matches!(fields.next()?, "Z" | "X" | "x");
        Some(Stat { born: fields.nth(18)?.to_owned(), ended })
    }
}

#[cfg(test)]
impl Owner {
    /// One that is gone: its number is in use, by a process that began later.
    pub(super) fn dead() -> Owner {
        Owner { pid: std::process::id(), born: Some("long ago".into()) }
    }

    /// Another process than this one.
    pub(super) fn other(process: &std::process::Child) -> Owner {
        Owner::of(process.id())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_number_that_is_given_again_is_somebody_else() {
        assert!(Owner::me().lives());
        assert!(!Owner::dead().lives());
        assert!(!Owner { pid: 0, born: None }.lives());
        assert!(Owner { pid: std::process::id(), born: None }.lives(), "nothing says otherwise");
    }

    #[test]
    fn a_process_that_ended_and_was_not_waited_for_does_not_live() {
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner::other(&process);
        assert!(owner.lives());
        process.kill().unwrap();
        let begin = Instant::now();
        while owner.lives() && begin.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        assert!(!owner.lives());
        assert!(!Owner { born: None, ..owner.clone() }.lives());
        process.wait().unwrap();
        assert!(!owner.lives());
    }
}
