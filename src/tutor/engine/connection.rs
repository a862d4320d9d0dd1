//! What all handlers of one connection share: the client, the sessions, the variables.
//!
//! It knows who is there and what is running; it must not know what steps do.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, watch};

use super::End;
use crate::tutor::host::Host;
use crate::tutor::peer::Peer;
use crate::tutor::report::{Report, Violation};
use crate::tutor::rules::Rules;
use crate::tutor::scenario::{Busy, Handler, Scenario};
use crate::tutor::template::merge;

/// Work that goes on beside the reading of input.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One client and everything about it.
pub(crate) struct Connection {
    pub(crate) host: Host,
    pub(crate) peer: Peer,
    pub(crate) report: Report,
    pub(crate) pace: f64,
    pub(crate) busy: Busy,
    pub(crate) on: BTreeMap<String, Arc<Handler>>,
    pub(crate) prompts: Vec<Arc<Handler>>,
    /// How many want that no input is read; at first it is the startup.
    reading_held: watch::Sender<i32>,
    /// Something a `wait_until` may wait for has changed.
    pub(crate) variables_changed: Notify,
    capabilities: Map<String, Value>,
    strict: bool,
    tasks: mpsc::UnboundedSender<Task>,
    end: watch::Sender<Option<End>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    variables: HashMap<String, Value>,
    sessions: HashMap<String, Arc<Session>>,
    sessions_made: u64,
    calls: HashMap<String, u64>,
    /// How to stop each request that is being handled.
    running: HashMap<String, Arc<Stop>>,
    rules: Rules,
}

impl Connection {
    pub(crate) fn new(
        scenario: Scenario,
        host: Host,
        (peer, report): (Peer, Report),
        tasks: mpsc::UnboundedSender<Task>,
    ) -> Self {
        let on = scenario.on.into_iter().map(|(method, it)| (method, Arc::new(it))).collect();
        let state = State { variables: scenario.vars, ..State::default() };
        Self {
            host,
            peer,
            report,
            pace: scenario.pace.unwrap_or(1.0),
            busy: scenario.busy,
            on,
            prompts: scenario.prompts.into_iter().map(Arc::new).collect(),
            reading_held: watch::Sender::new(1),
            variables_changed: Notify::new(),
            capabilities: scenario.capabilities,
            strict: scenario.strict,
            tasks,
            end: watch::Sender::new(None),
            state: Mutex::new(state),
        }
    }

    /// Runs work beside everything else.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Fails only while everything ends.
        self.tasks.send(Box::pin(task)).ok();
    }

    /// Ends the connection; the first reason counts.
    pub(crate) fn finish(&self, end: End) {
        self.end.send_if_modified(|it| it.is_none() && it.replace(end).is_none());
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        loop {
            if let Some(end) = &*end.borrow_and_update() {
                return end.clone();
            }
            // The sender lives as long as this connection.
            end.changed().await.ok();
        }
    }

    /// Holds the reading of input (1) or lets go of it (-1).
    pub(crate) fn hold_reading(&self, change: i32) {
        self.reading_held.send_modify(|held| *held += change);
    }

    /// Waits until input may be read.
    pub(crate) async fn may_read(&self) {
        self.reading_held.subscribe().wait_for(|held| *held == 0).await.ok();
    }

    /// Takes note of something the client must not do.
    pub(crate) fn violation(&self, violation: Violation) {
        if self.strict {
            let line = format!("acp-tutor: violation: {}: {}", violation.kind, violation.text);
            self.host.stderr(&line, 1);
            self.report.violation(violation);
            self.report.end("strict");
            self.host.exit(70);
            self.finish(End::Strict);
        } else {
            self.report.violation(violation);
        }
    }

    /// Judges a message with the rules, and notes what they find.
    pub(crate) fn judge(&self, judge: impl FnOnce(&mut Rules) -> Vec<Violation>) {
        let violations = judge(&mut self.lock().rules);
        violations.into_iter().for_each(|it| self.violation(it));
    }

    /// How often this method was called, this time included.
    pub(crate) fn count_call(&self, method: &str) -> u64 {
        let mut state = self.lock();
        let calls = state.calls.entry(method.to_owned()).or_default();
        *calls += 1;
        *calls
    }

    pub(crate) fn variable(&self, name: &str) -> Option<Value> {
        self.lock().variables.get(name).cloned()
    }

    pub(crate) fn set_variable(&self, name: &str, value: Value) {
        self.lock().variables.insert(name.to_owned(), value);
        self.variables_changed.notify_waiters();
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().sessions.get(id).cloned()
    }

    /// A name for a new session that no other agent process uses.
    pub(crate) fn new_session_id(&self) -> String {
        let mut state = self.lock();
        state.sessions_made += 1;
        format!("tutor-{}-{}", std::process::id(), state.sessions_made)
    }

    /// Makes a session known, with the directory it works in.
    pub(crate) fn open_session(&self, id: String, cwd: String) -> Arc<Session> {
        let session =
            Arc::new(Session { id, cwd, turns: AtomicU64::new(0), slot: Mutex::default() });
        self.lock().sessions.insert(session.id.clone(), Arc::clone(&session));
        // For steps outside of any session.
        self.set_variable("sessionId", Value::from(session.id.as_str()));
        session
    }

    /// Lets `$/cancel_request` find a request while it is handled.
    pub(crate) fn set_running(&self, request_id: &str, stop: Option<Arc<Stop>>) {
        let mut state = self.lock();
        match stop {
            Some(stop) => state.running.insert(request_id.to_owned(), stop),
            None => state.running.remove(request_id),
        };
    }

    pub(crate) fn stop_request(&self, request_id: &str) {
        let stop = self.lock().running.get(request_id).cloned();
        stop.inspect(|stop| stop.ask());
    }

    /// The answer to `initialize`, unless the scenario has another.
    pub(crate) fn default_initialize(&self) -> Value {
        let mut capabilities = json!({
            "loadSession": false,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": true},
        });
        merge(&mut capabilities, Value::Object(self.capabilities.clone()));
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "acp-tutor", "title": "ACP Tutor", "version": version},
            "agentCapabilities": capabilities,
            "authMethods": [],
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One conversation.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: String,
    turns: AtomicU64,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    running: Option<Arc<Stop>>,
    waiting: VecDeque<(Arc<Stop>, Task)>,
}

impl Session {
    /// The number of the next turn, from 1.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.lock().running.is_some()
    }

    /// Makes a turn the running one.
    pub(crate) fn take(&self, stop: Arc<Stop>) {
        self.lock().running = Some(stop);
    }

    /// Lets a turn wait for the running one.
    pub(crate) fn enqueue(&self, stop: Arc<Stop>, task: Task) {
        self.lock().waiting.push_back((stop, task));
    }

    /// The turn has been answered; gives the next one to run.
    pub(crate) fn release(&self, stop: &Arc<Stop>) -> Option<Task> {
        let mut slot = self.lock();
        if !slot.running.as_ref().is_some_and(|it| Arc::ptr_eq(it, stop)) {
            return None;
        }
        let (stop, task) = slot.waiting.pop_front().unzip();
        slot.running = stop;
        task
    }

    /// Asks the running turn to stop.
    pub(crate) fn stop(&self) {
        let running = self.lock().running.clone();
        running.inspect(|it| it.ask());
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wish that something stops. Steps can be shielded from it, and look at it themselves.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    asked: AtomicBool,
    shielded: AtomicBool,
    changed: Notify,
}

impl Stop {
    pub(crate) fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Turns the shield on or off; tells how it was.
    pub(crate) fn shield(&self, on: bool) -> bool {
        let was = self.shielded.swap(on, Ordering::SeqCst);
        self.changed.notify_waiters();
        was
    }

    /// Waits until asked.
    pub(crate) async fn asked(&self) {
        self.until(|| self.is_asked()).await;
    }

    /// Waits until asked and not shielded.
    pub(crate) async fn must_stop(&self) {
        self.until(|| self.is_asked() && !self.shielded.load(Ordering::SeqCst)).await;
    }

    async fn until(&self, condition: impl Fn() -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Registered before the check, or a change in between would be missed.
            changed.as_mut().enable();
            if condition() {
                return;
            }
            changed.await;
        }
    }
}
