//! One handler at work: its variables, its answer, and what a cancel does to it.
//!
//! It knows the life of a request; what the single steps do is in `steps`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::connection::{Connection, Session, Stop};
use crate::tutor::message::Answer;
use crate::tutor::report::Violation;
use crate::tutor::scenario::Handler;
use crate::tutor::scenario::step::Reply;
use crate::tutor::template::{Variables, expand, merge};

/// Why a step could not be done. The scenario is wrong, or the machine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    #[error("grandchild: {0}")]
    Grandchild(std::io::Error),
    #[error("await: no request `{0}` is open here")]
    NothingToAwait(String),
    #[error("there is no request to answer here, or it has been answered")]
    NothingToAnswer,
}

/// A request of the client that wants one answer.
pub(crate) struct Pending {
    pub(crate) id: Box<RawValue>,
    answered: AtomicBool,
}

impl Pending {
    pub(crate) fn new(id: Box<RawValue>) -> Self {
        Self { id, answered: AtomicBool::new(false) }
    }
}

/// What a handler works with.
pub(crate) struct Player {
    pub(crate) connection: Arc<Connection>,
    pub(crate) stop: Arc<Stop>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) method: String,
    pub(crate) request: Option<Pending>,
    pub(crate) scope: Mutex<Scope>,
}

/// What belongs to one run of a handler.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) locals: HashMap<String, Value>,
    pub(crate) awaited: HashMap<String, oneshot::Receiver<Answer>>,
    /// A step waited for the cancel and got it.
    pub(crate) caught_cancel: bool,
}

impl Player {
    /// A player outside of any message.
    pub(crate) fn outside(connection: &Arc<Connection>) -> Self {
        let cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        let locals = HashMap::from([
            ("pid".to_owned(), json!(std::process::id())),
            ("cwd".to_owned(), json!(cwd)),
        ]);
        Self {
            connection: Arc::clone(connection),
            stop: Arc::default(),
            session: None,
            method: String::new(),
            request: None,
            scope: Mutex::new(Scope { locals, ..Scope::default() }),
        }
    }

    /// Plays a handler to its end and answers the request.
    pub(crate) async fn play(self, handler: Arc<Handler>) {
        self.stop.shield(handler.ignore_cancel);
        if let Some(request) = &self.request {
            self.connection.set_running(request.id.get(), Some(Arc::clone(&self.stop)));
        }
        let played = tokio::select! {
            biased;
            () = self.stop.must_stop() => None,
            played = self.run(&handler.steps) => Some(played),
        };
        let finished = match played {
            Some(Ok(())) => self.answer_unless_done(&reply_of(&handler)).await,
            Some(Err(error)) => Err(error),
            None => self.cancelled(&handler).await,
        };
        if let Err(error) = finished {
            self.complain(&error).await;
        }
        self.done();
    }

    async fn cancelled(&self, handler: &Handler) -> Result<(), StepError> {
        self.stop.shield(true);
        self.scope().caught_cancel = true;
        self.run(&handler.on_cancel).await?;
        let reply = if self.method == "session/prompt" {
            Reply::default()
        } else {
            let error = json!({"code": -32800, "message": "request cancelled"});
            Reply { error: Some(error), ..Reply::default() }
        };
        self.answer_unless_done(&reply).await
    }

    /// A broken scenario should be seen by everyone who looks.
    pub(crate) async fn complain(&self, error: &StepError) {
        self.connection.host.stderr(&format!("acp-tutor: {error}"), 1);
        self.connection.violation(Violation::new("scenario", error.to_string()));
        let error = json!({"code": -32603, "message": format!("scenario: {error}")});
        let reply = Reply { error: Some(error), ..Reply::default() };
        self.answer_unless_done(&reply).await.ok();
    }

    async fn answer_unless_done(&self, reply: &Reply) -> Result<(), StepError> {
        let open = self.request.as_ref().is_some_and(|it| !it.answered.load(Ordering::SeqCst));
        if open { self.answer(reply).await } else { Ok(()) }
    }

    /// Answers the request of the client.
    pub(crate) async fn answer(&self, reply: &Reply) -> Result<(), StepError> {
        let id = self.take_request()?;
        let id = reply.id.as_deref().unwrap_or(id);
        let body = match &reply.error {
            Some(error) => format!("\"error\":{}", expand(error, self)),
            None => {
                let result = self.result(reply);
                self.learn_from(&result);
                format!("\"result\":{result}")
            }
        };
        self.send_answer(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}")).await;
        Ok(())
    }

    /// What we tell the client binds us too.
    fn learn_from(&self, result: &Value) {
        match (self.method.as_str(), result["sessionId"].as_str()) {
            ("initialize", _) => self.connection.judge(|rules| {
                rules.initialized(result.clone());
                Vec::new()
            }),
            ("session/new" | "session/fork", Some(id)) if self.connection.session(id).is_none() => {
                let cwd = self.value("cwd").unwrap_or_default();
                self.connection.open_session(id.to_owned(), cwd.as_str().unwrap_or("/").to_owned());
            }
            _ => {}
        }
    }

    /// Marks the request as answered.
    pub(crate) fn take_request(&self) -> Result<&RawValue, StepError> {
        let request = self.request.as_ref().ok_or(StepError::NothingToAnswer)?;
        if request.answered.swap(true, Ordering::SeqCst) {
            return Err(StepError::NothingToAnswer);
        }
        Ok(&request.id)
    }

    /// Sends an answer, after which the session is free for the next turn.
    pub(crate) async fn send_answer(&self, line: String) {
        // Freed before the client can see the answer and send its next prompt.
        self.done();
        self.connection.peer.send(format!("{line}\n").into_bytes().into()).await;
    }

    fn done(&self) {
        if let Some(request) = &self.request {
            self.connection.set_running(request.id.get(), None);
        }
        if let Some(next) = self.session.as_ref().and_then(|it| it.release(&self.stop)) {
            self.connection.spawn(next);
        }
    }

    fn result(&self, reply: &Reply) -> Value {
        let mut result = match &reply.result {
            Some(result) => expand(result, self),
            None => self.default_result(),
        };
        if let Some(patch) = &reply.merge {
            merge(&mut result, expand(patch, self));
        }
        if let Some(stop) = &reply.stop {
            merge(&mut result, json!({"stopReason": stop}));
        }
        result
    }

    fn default_result(&self) -> Value {
        match self.method.as_str() {
            "initialize" => self.connection.default_initialize(),
            "session/new" => json!({"sessionId": self.session_id()}),
            "session/prompt" if self.scope().caught_cancel => json!({"stopReason": "cancelled"}),
            "session/prompt" => json!({"stopReason": "end_turn"}),
            _ => json!({}),
        }
    }

    /// The session this is about; outside of any, the last one opened.
    pub(crate) fn session_id(&self) -> Value {
        self.value("sessionId").unwrap_or(Value::Null)
    }

    pub(crate) fn scope(&self) -> MutexGuard<'_, Scope> {
        self.scope.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Variables for Player {
    fn value(&self, name: &str) -> Option<Value> {
        if name == "cancelled" {
            return Some(Value::Bool(self.stop.is_asked()));
        }
        let local = self.scope().locals.get(name).cloned();
        local.or_else(|| self.connection.variable(name))
    }
}

fn reply_of(handler: &Handler) -> Reply {
    Reply {
        id: None,
        result: handler.result.clone(),
        error: handler.error.clone(),
        merge: handler.merge.clone(),
        stop: handler.stop.clone(),
    }
}
