//! Ends runs of agents from outside of the core's loop: whatever keeps the loop busy, `:Acp kill`
//! works.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};

use crate::session::ids::{ConnectionId, SessionId};

/// The switches of all runs of agents that are programs.
#[derive(Debug, Default)]
pub(super) struct KillSwitches(Mutex<Registered>);

#[derive(Debug, Default)]
struct Registered {
    guards: BTreeMap<ConnectionId, Guard>,
    /// The run that each session depends on.
    sessions: BTreeMap<SessionId, ConnectionId>,
}

/// A guard that can be told to end, with all that it watches. Named by a descriptor where the
/// system has such: a number may be somebody else's by the time it is used.
#[derive(Debug)]
struct Guard {
    #[cfg(target_os = "linux")]
    process: std::os::fd::OwnedFd,
    #[cfg(not(target_os = "linux"))]
    process: Pid,
}

/// A switch that works for as long as this is kept.
#[derive(Debug)]
pub(super) struct Registration {
    switches: Arc<KillSwitches>,
    connection: ConnectionId,
}

impl KillSwitches {
    /// A run of an agent has begun, under a guard with this process id that nobody has waited for.
    pub(super) fn register(
        self: &Arc<KillSwitches>,
        connection: ConnectionId,
        pid: Option<u32>,
    ) -> Option<Registration> {
        let guard = Guard::new(pid?)?;
        self.lock().guards.insert(connection, guard);
        Some(Registration { switches: self.clone(), connection })
    }

    /// A session depends on this run now, or on none.
    pub(super) fn set_session(&self, session: SessionId, connection: Option<ConnectionId>) {
        let mut registered = self.lock();
        match connection {
            Some(connection) => registered.sessions.insert(session, connection),
            None => registered.sessions.remove(&session),
        };
    }

    /// Ends the run that a session depends on.
    pub(super) fn kill(&self, session: SessionId) {
        let registered = self.lock();
        let connection = registered.sessions.get(&session);
        if let Some(guard) = connection.and_then(|it| registered.guards.get(it)) {
            tracing::warn!(%session, "the core is busy: its agent is killed all the same");
            guard.end();
        }
    }

    /// Ends all runs.
    pub(super) fn kill_all(&self) {
        self.lock().guards.values().for_each(Guard::end);
    }

    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.switches.lock().guards.remove(&self.connection);
    }
}

impl Guard {
    fn new(pid: u32) -> Option<Guard> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        #[cfg(target_os = "linux")]
        let process = {
            let opened = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
            opened.inspect_err(|error| tracing::debug!(%error, "no kill switch")).ok()?
        };
        #[cfg(not(target_os = "linux"))]
        let process = pid;
        Some(Guard { process })
    }

    fn end(&self) {
        #[cfg(target_os = "linux")]
        let ended = rustix::process::pidfd_send_signal(&self.process, Signal::TERM);
        #[cfg(not(target_os = "linux"))]
        let ended = rustix::process::kill_process(self.process, Signal::TERM);
        if let Err(error) = ended {
            tracing::debug!(%error, "the guard is gone already");
        }
    }
}
