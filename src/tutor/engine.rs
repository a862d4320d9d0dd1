//! Plays a scenario to a client: reads its messages, starts handlers, ends.
//!
//! It knows which handler is for which message. It must not know what steps do, nor how a scenario
//! is written.

pub(crate) mod connection;
pub(crate) mod player;
mod steps;
mod stream;
mod volley;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::connection::Connection;
use self::player::{Pending, Player};
use super::host::Host;
use super::message::{self, Answer, Message, text};
use super::peer::{Lines, Peer, Stray};
use super::report::{Report, Violation};
use super::rules::{self, Call};
use super::scenario::step::Step;
use super::scenario::{Busy, Handler, Scenario};
use super::template::expand_text;

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The client closed our input.
    Eof,
    /// The scenario said so.
    Exit(i32),
    /// A violation in strict mode.
    Strict,
}

/// How it went.
#[derive(Debug)]
pub struct Summary {
    /// Why it ended.
    pub end: End,
    /// What the client did wrong.
    pub violations: Vec<Violation>,
}

/// Plays a scenario until the client closes `input` or the scenario ends it.
///
/// # Errors
/// When the report cannot be written.
pub async fn play<R, W>(
    mut scenario: Scenario,
    input: R,
    output: W,
    host: Host,
) -> io::Result<Summary>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let report = Report::new(scenario.report.as_deref())?;
    let startup = std::mem::take(&mut scenario.startup);
    let on_eof = std::mem::take(&mut scenario.on_eof);
    let (peer, writer) = Peer::new(output, scenario.chop);
    let (tasks, mut new_tasks) = mpsc::unbounded_channel();
    let connection = Arc::new(Connection::new(scenario, host, (peer, report), tasks));
    let mut running = JoinSet::new();
    running.spawn(writer.run());

    let starter = Arc::clone(&connection);
    running.spawn(async move {
        run_outside(&starter, &startup).await;
        starter.hold_reading(-1);
    });
    let mut lines = Lines::new(input);
    let mut on_eof = Some(on_eof);
    let end = loop {
        tokio::select! {
            biased;
            end = connection.ended() => break end,
            Some(task) = new_tasks.recv() => { running.spawn(task); }
            Some(_) = running.join_next() => {}
            line = next_line(&connection, &mut lines), if on_eof.is_some() => match line {
                Some((line, at)) => receive(&connection, &line, at),
                None => at_eof(&connection, on_eof.take().unwrap_or_default()),
            },
        }
    };
    connection.peer.flush().await;
    connection.report.end(&format!("{end:?}").to_lowercase());
    Ok(Summary { end, violations: connection.report.violations() })
}

async fn next_line<R: AsyncRead + Unpin>(
    connection: &Connection,
    lines: &mut Lines<R>,
) -> Option<(Vec<u8>, Instant)> {
    connection.may_read().await;
    // An input that fails is an input that ends.
    let line = lines.next().await.unwrap_or_default()?;
    // Before it is read: how long that takes is not the client's fault.
    Some((line, Instant::now()))
}

async fn run_outside(connection: &Arc<Connection>, steps: &[Step]) {
    let player = Player::outside(connection);
    if let Err(error) = player.run(steps).await {
        player.complain(&error).await;
    }
}

fn at_eof(connection: &Arc<Connection>, steps: Vec<Step>) {
    for request in connection.peer.unanswered() {
        connection.violation(Violation::new("unanswered", format!("{request} got no answer")));
    }
    let connection = Arc::clone(connection);
    connection.clone().spawn(async move {
        run_outside(&connection, &steps).await;
        connection.finish(End::Eof);
    });
}

fn receive(connection: &Arc<Connection>, line: &[u8], at: Instant) {
    if connection.peer.answer_again(line, at) {
        return connection.report.received(line, true);
    }
    let envelope = message::read(line);
    connection.report.received(line, envelope.is_some());
    let Some(envelope) = envelope else {
        let start: String = String::from_utf8_lossy(line).chars().take(80).collect();
        return connection.violation(Violation::new("not_json", start));
    };
    let good = envelope.oddities.is_empty();
    for oddity in envelope.oddities {
        connection.violation(Violation::new("bad_envelope", oddity));
    }
    match envelope.message {
        Some(Message::Request { id, method, params }) => {
            on_request(connection, id, Incoming { method, params });
        }
        Some(Message::Notification { method, params }) => {
            on_notification(connection, Incoming { method, params });
        }
        Some(Message::Answer { id, answer }) => {
            let is_model = on_answer(connection, &id, answer, at);
            if is_model && good {
                connection.peer.keep_model(line, &id);
            }
        }
        None => {}
    }
}

/// A request or notification without its id.
struct Incoming {
    method: String,
    params: Value,
}

/// Whether the answers to others may be compared with this one.
fn on_answer(connection: &Connection, id: &RawValue, answer: Answer, at: Instant) -> bool {
    let mut is_model = false;
    let violation = match connection.peer.take(id) {
        Ok(open) => {
            let violation = rules::answer(&open.question, &answer);
            let good = violation.is_none() && matches!(answer, Answer::Result(_));
            is_model = good && open.is_one_of_many();
            open.answer(answer, at);
            violation
        }
        Err(Stray::Twice) => Some(Violation::new("second_answer", format!("id {id} again"))),
        Err(Stray::Unasked) => Some(Violation::new("unknown_answer", format!("id {id}"))),
    };
    violation.into_iter().for_each(|it| connection.violation(it));
    is_model
}

fn on_notification(connection: &Arc<Connection>, incoming: Incoming) {
    let Incoming { method, params } = &incoming;
    let handler = connection.on.get(method).cloned();
    let call = Call { method, params, handled: handler.is_some() };
    connection.judge(|rules| rules.notification(call));
    let session_id = text(params, "sessionId");
    match (method.as_str(), session_id) {
        ("session/cancel", Some(session_id)) => {
            connection.peer.cancel_session(session_id);
            match connection.session(session_id) {
                Some(session) => session.stop(),
                None => unknown_session(connection, session_id),
            }
            // `cancelled` is a variable too.
            connection.variables_changed.notify_waiters();
        }
        ("$/cancel_request", _) => connection.stop_request(&params["requestId"].to_string()),
        _ => {}
    }
    if let Some(handler) = handler {
        let player = player(connection, incoming, None);
        connection.spawn(player.play(handler));
    }
}

fn on_request(connection: &Arc<Connection>, id: Box<RawValue>, incoming: Incoming) {
    let Incoming { method, params } = &incoming;
    let handler = connection.on.get(method).cloned();
    let call = Call { method, params, handled: handler.is_some() };
    connection.judge(|rules| rules.request(id.get(), call));
    match method.as_str() {
        "session/prompt" => return on_prompt(connection, id, incoming),
        "initialize" => connection.set_variable("client", params.clone()),
        "session/close" => {
            let session = text(params, "sessionId").and_then(|it| connection.session(it));
            session.inspect(|it| it.stop());
        }
        _ => {}
    }
    let known = matches!(method.as_str(), "initialize" | "session/new");
    let handler = match handler {
        Some(handler) => handler,
        None if known => Arc::default(),
        None => error_handler(-32601, &format!("method not found: {method}")),
    };
    let mut player = player(connection, incoming, Some(Pending::new(id)));
    open_session(&mut player, &handler);
    connection.spawn(player.play(handler));
}

/// Methods that open a session know its id before they answer: updates may come first.
fn open_session(player: &mut Player, handler: &Handler) {
    let (given, cwd) = {
        let scope = player.scope();
        let params = scope.locals.get("params").cloned().unwrap_or_default();
        let given = text(&params, "sessionId").unwrap_or_default().to_owned();
        (given, text(&params, "cwd").unwrap_or("/").to_owned())
    };
    let id = match player.method.as_str() {
        "session/new" | "session/fork" => {
            let fixed = [&handler.result, &handler.merge].into_iter().flatten();
            let fixed = fixed.filter_map(|it| text(it, "sessionId")).next_back();
            fixed.map_or_else(|| player.connection.new_session_id(), |it| expand_text(it, player))
        }
        "session/load" | "session/resume" if handler.error.is_none() => given,
        _ => return,
    };
    player.scope().locals.insert("sessionId".to_owned(), json!(id));
    player.session = Some(player.connection.open_session(id, cwd));
}

fn on_prompt(connection: &Arc<Connection>, id: Box<RawValue>, incoming: Incoming) {
    let session_id = text(&incoming.params, "sessionId").unwrap_or_default();
    let Some(session) = connection.session(session_id) else {
        unknown_session(connection, session_id);
        let handler = error_handler(-32002, &format!("no such session: {session_id}"));
        let player = player(connection, incoming, Some(Pending::new(id)));
        return connection.spawn(player.play(handler));
    };
    let prompt = prompt_text(&incoming.params);
    let player = player(connection, incoming, Some(Pending::new(id)));
    let stop = Arc::clone(&player.stop);
    if session.is_busy() && connection.busy == Busy::Reject {
        let text = format!("a turn of {} is running", session.id);
        connection.violation(Violation::new("busy_session", text.as_str()));
        return connection.spawn(player.play(error_handler(-32600, &text)));
    }
    let turn = session.next_turn();
    player
        .scope()
        .locals
        .extend([("prompt".to_owned(), json!(prompt)), ("turn".to_owned(), json!(turn))]);
    let fitting = connection.prompts.iter().find(|it| it.takes(&prompt, turn));
    let handler = fitting.or_else(|| connection.on.get("session/prompt")).cloned();
    let task = player.play(handler.unwrap_or_default());
    if session.is_busy() && connection.busy == Busy::Queue {
        return session.enqueue(stop, Box::pin(task));
    }
    session.stop();
    session.take(stop);
    connection.spawn(task);
}

fn prompt_text(params: &Value) -> String {
    let blocks = params["prompt"].as_array().into_iter().flatten();
    blocks.filter_map(|block| text(block, "text")).collect::<Vec<_>>().join("\n")
}

fn unknown_session(connection: &Connection, session_id: &str) {
    connection.violation(Violation::new("unknown_session", format!("no session {session_id:?}")));
}

fn error_handler(code: i64, message: &str) -> Arc<Handler> {
    let error = Some(json!({"code": code, "message": message}));
    Arc::new(Handler { error, ..Handler::default() })
}

fn player(connection: &Arc<Connection>, incoming: Incoming, request: Option<Pending>) -> Player {
    let Incoming { method, params } = incoming;
    let session = text(&params, "sessionId").and_then(|id| connection.session(id));
    let mut player = Player::outside(connection);
    let mut locals = HashMap::from([
        ("call".to_owned(), json!(connection.count_call(&method))),
        ("method".to_owned(), json!(method)),
    ]);
    if let Some(session) = &session {
        locals.insert("sessionId".to_owned(), json!(session.id));
        locals.insert("cwd".to_owned(), json!(session.cwd));
    } else if let Some(cwd) = text(&params, "cwd") {
        locals.insert("cwd".to_owned(), json!(cwd));
    }
    if let Some(request) = &request {
        // As text: it is for lines written by hand.
        locals.insert("id".to_owned(), json!(request.id.get()));
    }
    locals.insert("params".to_owned(), params);
    player.scope().locals.extend(locals);
    player.session = session;
    player.method = method;
    player.request = request;
    player
}
