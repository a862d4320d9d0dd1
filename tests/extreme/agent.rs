//! An agent behind a socket that answers what it is asked for, and sends what it is told to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::generate::{Made, Maker};

pub(crate) struct Agent {
    listener: UnixListener,
    socket: PathBuf,
    project: String,
}

/// A talk that goes on.
pub(crate) struct Playing {
    done: Arc<AtomicBool>,
    thread: JoinHandle<Talk>,
}

/// What was said.
pub(crate) struct Talk {
    /// How often each request was answered.
    pub(crate) answers: BTreeMap<u64, usize>,
    /// How many bytes were sent.
    pub(crate) sent: usize,
}

/// The agent's name for its session.
pub(crate) const SESSION: &str = "s";
/// The id of the last request.
const LAST: u64 = u64::MAX;

/// A request of the client.
struct Asked {
    id: Value,
    method: String,
}

type Answers = Arc<Mutex<BTreeMap<u64, usize>>>;

impl Agent {
    pub(crate) fn listen(folder: &Path) -> Agent {
        let socket = folder.join("agent.sock");
        let project = folder.to_string_lossy().into_owned();
        Agent { listener: UnixListener::bind(&socket).unwrap(), socket, project }
    }

    pub(crate) fn url(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Sends so many messages of chance in the turn that comes first.
    pub(crate) fn play(self, seed: u64, count: usize) -> Playing {
        let mut maker = Maker::new(seed, SESSION, &self.project);
        self.send(std::iter::repeat_with(move || maker.next()).take(count))
    }

    /// Sends these messages in the turn that comes first.
    pub(crate) fn send(self, messages: impl Iterator<Item = Made> + Send + 'static) -> Playing {
        let done = Arc::new(AtomicBool::new(false));
        let sent_all = done.clone();
        let thread = std::thread::spawn(move || self.talk(messages, &sent_all));
        Playing { done, thread }
    }

    fn talk(self, messages: impl Iterator<Item = Made>, done: &AtomicBool) -> Talk {
        let (stream, _) = self.listener.accept().unwrap();
        let mut writer = stream.try_clone().unwrap();
        let answers = Answers::default();
        let (asked, requests) = channel();
        let heard = answers.clone();
        let reader = std::thread::spawn(move || listen(stream, &asked, &heard));
        let prompt = wait_for_prompt(&requests, &mut writer);
        let mut sent = 0;
        for made in messages {
            if let Some(id) = made.id {
                answers.lock().unwrap().entry(id).or_insert(0);
            }
            sent += made.line.len();
            writeln!(writer, "{}", made.line).unwrap();
        }
        say(&mut writer, &json!({ "id": prompt, "result": { "stopReason": "end_turn" } }));
        // When this is answered, everything before it was heard.
        answers.lock().unwrap().insert(LAST, 0);
        say(&mut writer, &json!({ "id": LAST, "method": "_extreme/last" }));
        while answers.lock().unwrap().get(&LAST) == Some(&0) {
            std::thread::sleep(Duration::from_millis(1));
        }
        done.store(true, Ordering::Release);
        // Until the session is closed, there may be more to answer.
        while let Ok(Asked { id, .. }) = requests.recv_timeout(Duration::from_secs(60)) {
            if writer
                .write_all(format!("{}\n", json!({ "id": id, "result": {} })).as_bytes())
                .is_err()
            {
                break;
            }
        }
        reader.join().unwrap();
        let answers = std::mem::take(&mut *answers.lock().unwrap());
        Talk { answers, sent }
    }
}

impl Playing {
    /// Whether everything is sent.
    pub(crate) fn is_done(&self) -> bool {
        assert!(
            !self.thread.is_finished() || self.done.load(Ordering::Acquire),
            "the agent is gone"
        );
        self.done.load(Ordering::Acquire)
    }

    pub(crate) fn end(self) -> Talk {
        self.thread.join().unwrap()
    }
}

fn say(writer: &mut UnixStream, message: &Value) {
    writeln!(writer, "{message}").unwrap();
}

/// Answers what comes before the first prompt, and says which request that is.
fn wait_for_prompt(requests: &Receiver<Asked>, writer: &mut UnixStream) -> Value {
    loop {
        let Asked { id, method } = requests.recv_timeout(Duration::from_secs(60)).unwrap();
        let result = match method.as_str() {
            "session/prompt" => return id,
            "initialize" => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            "session/new" => json!({ "sessionId": SESSION }),
            _ => json!({}),
        };
        say(writer, &json!({ "id": id, "result": result }));
    }
}

/// Reads what the client says until it is gone: its requests are passed on, its answers counted.
fn listen(stream: UnixStream, asked: &Sender<Asked>, answers: &Answers) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => {
                let (id, method) = (id.clone(), method.to_owned());
                // Once everything is said, nobody listens any more.
                asked.send(Asked { id, method }).unwrap_or_default();
            }
            (None, Some(id)) => {
                *answers.lock().unwrap().entry(id.as_u64().unwrap()).or_insert(0) += 1;
            }
            _ => {}
        }
    }
}
