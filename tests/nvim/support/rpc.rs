//! Speaks msgpack-RPC over two pipes. Knows nothing of screens, nor of what the calls mean.
//!
//! A thread on each pipe keeps both flowing, so that a peer that stops reading or writing costs
//! the test its deadline and never more.

use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rmpv::Value;

/// Something the peer said unasked.
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Vec<Value>,
}

/// A call under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallId(u64);

/// Our end of the line.
pub(crate) struct Rpc {
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Incoming>,
    calls: u64,
    answers: HashMap<CallId, Result<Value, String>>,
    notifications: VecDeque<Notification>,
    closed: Option<String>,
}

enum Incoming {
    Answer(CallId, Result<Value, String>),
    Notification(Notification),
    Request(Value),
    Closed(String),
}

impl Rpc {
    /// Takes over the peer's stdin and stdout.
    pub(crate) fn new<W, R>(stdin: W, stdout: R) -> Rpc
    where
        W: Write + Send + 'static,
        R: Read + Send + 'static,
    {
        let (outgoing, to_write) = channel();
        let (read, incoming) = channel();
        thread::spawn(move || write_all(stdin, &to_write));
        thread::spawn(move || read_all(stdout, &read));
        Rpc {
            outgoing,
            incoming,
            calls: 0,
            answers: HashMap::new(),
            notifications: VecDeque::new(),
            closed: None,
        }
    }

    /// Calls and waits for the answer. An error keeps the peer's words.
    pub(crate) fn request(
        &mut self,
        method: &str,
        params: Vec<Value>,
        deadline: Duration,
    ) -> Result<Value, String> {
        let call = self.send(method, params);
        match self.wait(call, deadline) {
            Some(answer) => answer,
            None => Err(format!("no answer to {method} within {deadline:?}")),
        }
    }

    /// Calls without waiting.
    pub(crate) fn send(&mut self, method: &str, params: Vec<Value>) -> CallId {
        self.calls += 1;
        let message = vec![0.into(), self.calls.into(), method.into(), Value::Array(params)];
        self.write(message);
        CallId(self.calls)
    }

    /// The answer, or `None` when it has not come in time.
    pub(crate) fn wait(
        &mut self,
        call: CallId,
        deadline: Duration,
    ) -> Option<Result<Value, String>> {
        let until = Instant::now() + deadline;
        loop {
            if let Some(answer) = self.answers.remove(&call) {
                return Some(answer);
            }
            if let Some(reason) = &self.closed {
                return Some(Err(format!("Neovim hung up: {reason}")));
            }
            if !self.receive(until.saturating_duration_since(Instant::now())) {
                return None;
            }
        }
    }

    /// Takes in what has come, waiting at most `patience` for the first message.
    pub(crate) fn pump(&mut self, patience: Duration) {
        let mut patience = patience;
        while self.receive(patience) {
            patience = Duration::ZERO;
        }
    }

    /// The notifications of which nobody has heard yet.
    pub(crate) fn take_notifications(&mut self) -> VecDeque<Notification> {
        std::mem::take(&mut self.notifications)
    }

    /// Whether there was a message.
    fn receive(&mut self, patience: Duration) -> bool {
        match self.incoming.recv_timeout(patience) {
            Ok(Incoming::Answer(call, result)) => drop(self.answers.insert(call, result)),
            Ok(Incoming::Notification(it)) => self.notifications.push_back(it),
            Ok(Incoming::Request(id)) => {
                // Left unanswered it would hang Neovim for ever.
                let error = Value::from("the test harness answers no requests");
                self.write(vec![1.into(), id, error, Value::Nil]);
            }
            Ok(Incoming::Closed(reason)) => self.closed = Some(reason),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                // The reader is gone, so this returns at once: keep to the caller's pace.
                thread::sleep(patience);
                return false;
            }
        }
        true
    }

    fn write(&self, message: Vec<Value>) {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Array(message)).unwrap();
        // The writer ends when the peer is gone; the reader then says so in better words.
        drop(self.outgoing.send(bytes));
    }
}

fn write_all(mut pipe: impl Write, messages: &Receiver<Vec<u8>>) {
    for bytes in messages {
        if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
            return;
        }
    }
}

fn read_all(pipe: impl Read, messages: &Sender<Incoming>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let message = match rmpv::decode::read_value(&mut pipe) {
            Ok(value) => decode(value).unwrap_or_else(Incoming::Closed),
            Err(error) => Incoming::Closed(error.to_string()),
        };
        let last = matches!(message, Incoming::Closed(_));
        if messages.send(message).is_err() || last {
            return;
        }
    }
}

fn decode(message: Value) -> Result<Incoming, String> {
    let complaint = format!("not a message: {message}");
    let Value::Array(parts) = message else { return Err(complaint) };
    match <[Value; 4]>::try_from(parts) {
        Ok([kind, id, method_or_error, result]) => match (kind.as_u64(), id.as_u64()) {
            (Some(0), Some(_)) => Ok(Incoming::Request(id)),
            (Some(1), Some(call)) if method_or_error.is_nil() => {
                Ok(Incoming::Answer(CallId(call), Ok(result)))
            }
            (Some(1), Some(call)) => {
                Ok(Incoming::Answer(CallId(call), Err(error_text(&method_or_error))))
            }
            _ => Err(complaint),
        },
        Err(parts) => match <[Value; 3]>::try_from(parts) {
            Ok([_, Value::String(method), Value::Array(params)]) => {
                let method = method.into_str().unwrap_or_default();
                Ok(Incoming::Notification(Notification { method, params }))
            }
            _ => Err(complaint),
        },
    }
}

/// Neovim's errors are pairs of a number and a text.
fn error_text(error: &Value) -> String {
    match error.as_array().and_then(|pair| pair.get(1)).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => error.to_string(),
    }
}
