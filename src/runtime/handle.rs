//! The whole outside of the core: start, send, drain, shut down.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, channel, unbounded_channel};

pub use super::action::Action;
use super::audit::Audit;
use super::bell::Bell;
use super::core_loop::Core;
use super::kill_switch::KillSwitches;
use super::log::{Log, catch_panics};
use super::outbox::{Item, Outbox};
use super::published::{Published, Summary};
use crate::session::event::Wish;
use crate::session::ids::SessionId;

/// How many reads of agents may wait for the core. Bounded, so that a flood stays in the pipe.
const INPUTS: usize = 8;

/// How long the core may be busy before an agent that is to be killed is killed without it.
const BUSY: Duration = Duration::from_millis(300);

/// What the core needs to know of its surroundings.
#[derive(Debug)]
pub struct Options {
    /// Where the log goes.
    pub log_dir: PathBuf,
    /// What is worth a line there: `error warn info debug trace`.
    pub log_level: String,
    /// Where `acp-guard` is.
    pub programs: PathBuf,
}

/// A running core.
#[derive(Debug)]
pub struct Handle {
    actions: UnboundedSender<Action>,
    outbox: Arc<Outbox>,
    published: Arc<Published>,
    switches: Arc<KillSwitches>,
    log: Option<Log>,
    last_session: AtomicU64,
}

/// Why the core could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No thread to be had.
    #[error("the core's thread could not be started")]
    Thread(#[source] std::io::Error),
    /// No loop to be had.
    #[error("the core's loop could not be started")]
    Loop(#[source] std::io::Error),
}

impl Handle {
    /// Starts the core on its own thread.
    ///
    /// # Errors
    /// The system gives no thread or no event loop.
    pub fn start(options: Options, bell: Bell) -> Result<Handle, Error> {
        let outbox = Arc::new(Outbox::new(bell));
        let published = Arc::new(Published::default());
        let log = match Log::start(&options.log_dir, &options.log_level) {
            Ok(log) => Some(log),
            Err(reason) => {
                outbox.push([Item::Notice(format!("acp.nvim writes no log: {reason}"))]);
                None
            }
        };
        let to_user = outbox.clone();
        catch_panics(move |message| to_user.push([Item::Notice(message)]));
        let (actions, wishes) = unbounded_channel();
        let (to_core, inputs) = channel(INPUTS);
        let tokio = tokio::runtime::Builder::new_current_thread();
        let tokio = { tokio }.enable_all().build().map_err(Error::Loop)?;
        let mut core = Core::new(outbox.clone(), published.clone(), options.programs, to_core);
        let switches = core.switches.clone();
        let to_user = outbox.clone();
        core.audit = Audit::new(&options.log_dir, move |words| to_user.push([Item::Notice(words)]));
        let thread = std::thread::Builder::new().name("acp-core".into());
        thread.spawn(move || tokio.block_on(core.run(wishes, inputs))).map_err(Error::Thread)?;
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "started");
        let last_session = AtomicU64::new(0);
        Ok(Handle { actions, outbox, published, switches, log, last_session })
    }

    /// A name for a new session.
    pub fn new_session(&self) -> SessionId {
        SessionId(self.last_session.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Hands an action to the core. False when the core is gone.
    pub fn send(&self, action: Action) -> bool {
        if let Action::Wish(Wish::Open { session, launch, .. }) = &action {
            // Whoever opens a session finds it in the list at once.
            self.published.summary(Summary::starting(*session, launch));
        }
        let killed = match &action {
            Action::Wish(Wish::Kill(session)) => Some(*session),
            _ => None,
        };
        let sent = self.actions.send(action).is_ok();
        if let (true, Some(session)) = (sent, killed) {
            self.see_it_die(session);
        }
        sent
    }

    /// Lets the core know that somebody waits for a sign of life of it; none comes when it has
    /// ended.
    pub fn ping(&self) -> Receiver<()> {
        let (asker, answer) = std::sync::mpsc::channel();
        if self.actions.send(Action::Ping(asker)).is_err() {
            tracing::debug!("the core has ended");
        }
        answer
    }

    /// The core ends agents gently, if it has the time. If it has not, they are ended without it.
    fn see_it_die(&self, session: SessionId) {
        let (answer, switches) = (self.ping(), self.switches.clone());
        let watch = move || {
            if answer.recv_timeout(BUSY) == Err(RecvTimeoutError::Timeout) {
                switches.kill(session);
            }
        };
        let thread = std::thread::Builder::new().name("acp-kill".into()).spawn(watch);
        if let Err(error) = thread {
            tracing::warn!(%error, "there is no thread to kill an agent");
        }
    }

    /// The next things for Neovim, few enough to be dealt with in a moment.
    pub fn drain(&self) -> Option<Vec<Item>> {
        self.outbox.take()
    }

    /// Asks for another wake-up, whether or not the last one was used to drain.
    pub fn rearm(&self) {
        self.outbox.rearm();
    }

    /// What can be read at any time.
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// Changes what is worth a line in the log.
    pub fn set_log_level(&self, level: &str) {
        if let Some(log) = &self.log {
            log.set_level(level);
        }
    }

    /// Ends the core and with it all agents, waiting no longer than `patience`.
    pub fn shutdown(mut self, patience: Duration) {
        let (done, finished) = std::sync::mpsc::channel();
        if self.send(Action::Shutdown(done)) && finished.recv_timeout(patience).is_err() {
            tracing::warn!("the core did not end in time");
            self.switches.kill_all();
        }
        // The core may go on for a while, and Neovim's loop does not.
        self.outbox.silence();
        tracing::info!("ended");
        self.log.take();
    }
}
