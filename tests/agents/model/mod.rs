//! A language model that does what the prompt says: `say hello; bash ls; quote`. See `script` for
//! what it understands. It serves OpenAI's chat completions on a loopback port of its own and ends
//! when it is dropped. Knows nothing of Neovim, and of agents only the names of their tools.
//!
//! It is a proxy too, one that lets nobody through: an agent that is told to use it can't reach the
//! network, which some try to even if told not to.

mod completions;
mod http;
mod script;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use completions::Question;
use http::Request;

/// A running model.
pub(crate) struct Model {
    port: u16,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    ending: AtomicBool,
    journal: Mutex<Journal>,
    /// All connections, to cut them at the end: their threads may wait for the other side.
    streams: Mutex<Vec<TcpStream>>,
}

/// What happened so far.
#[derive(Default)]
struct Journal {
    lines: Vec<String>,
    questions: Vec<Question>,
    cut: usize,
}

impl Model {
    /// Starts on a port of the system's choice, for this machine only.
    pub(crate) fn start() -> Model {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let listening = Arc::clone(&shared);
        let listener = thread::spawn(move || listen(&listener, &listening));
        Model { port, shared, listener: Some(listener) }
    }

    /// Where it answers, as an agent wants to have it: without the last part of the path.
    pub(crate) fn url(&self) -> String {
        format!("{}/v1", self.proxy())
    }

    /// Where it refuses to be a proxy.
    pub(crate) fn proxy(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the agent's tools told the model since the last prompt of the user.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        self.shared.journal().questions.last().map_or_else(Vec::new, |it| it.results.clone())
    }

    /// Everything said in the conversation so far, by any side, as the model was last told it.
    pub(crate) fn conversation(&self) -> String {
        let journal = self.shared.journal();
        journal.questions.last().map_or_else(String::new, |it| it.conversation.clone())
    }

    /// How many answers the agent cut short.
    pub(crate) fn cut(&self) -> usize {
        self.shared.journal().cut
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // The listener looks at the flag only when somebody comes.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let failed = self.listener.take().is_some_and(|it| it.join().is_err());
        if thread::panicking() {
            eprintln!("{} the model\n{}", "-".repeat(20), self.shared.journal().lines.join("\n"));
        } else {
            assert!(!failed, "the model broke");
        }
    }
}

impl Shared {
    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, line: String) {
        self.journal().lines.push(line);
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for stream in listener.incoming() {
        if shared.ending.load(Ordering::SeqCst) {
            break;
        }
        let stream = stream.unwrap();
        shared.streams().push(stream.try_clone().unwrap());
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || serve(stream, &shared)));
    }
    for stream in shared.streams().drain(..) {
        // Fails when the other side has gone already.
        drop(stream.shutdown(Shutdown::Both));
    }
    for thread in threads {
        thread.join().expect("a connection of the model broke");
    }
}

/// Answers the one request of a connection.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let Some(request) = http::read(&stream) else { return };
    let outcome = match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/chat/completions") => complete(&mut stream, &request, shared),
        ("GET", "/v1/models") => http::respond(&mut stream, 200, &completions::models()),
        _ => refuse(&mut stream, &request, shared),
    };
    if let Err(error) = outcome {
        shared.note(format!("{} {}: cut: {error}", request.method, request.path));
        shared.journal().cut += 1;
    }
    // The agent may keep the connection for another request unless it is told.
    drop(stream.shutdown(Shutdown::Both));
}

fn complete(stream: &mut TcpStream, request: &Request, shared: &Shared) -> std::io::Result<()> {
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return http::respond(stream, 400, &json!({ "error": { "message": "this is no JSON" } }));
    };
    let question = Question::read(&body);
    let answer = question.answer();
    shared.note(format!("{question}: {answer:?}"));
    if question.is_from_user() {
        shared.journal().questions.push(question);
    }
    match body["stream"].as_bool() {
        Some(true) => completions::stream(stream, &answer),
        _ => http::respond(stream, 200, &completions::whole(&answer)),
    }
}

fn refuse(stream: &mut TcpStream, request: &Request, shared: &Shared) -> std::io::Result<()> {
    shared.note(format!("{} {}: refused", request.method, request.path));
    http::respond(stream, 403, &json!({ "error": { "message": "there is nothing but the model" } }))
}
