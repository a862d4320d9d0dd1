//! The pure core by itself: how many messages one CPU takes in, from bytes to changed state.

use std::fs;

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Effect;
use acp_nvim::session::entry::Entry;
use acp_nvim::session::event::{Event, Happened, Origin, Wish};
use acp_nvim::session::ids::{ConnectionId, SessionId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::state::State;
use serde_json::{Value, json};

use crate::load::section_lines;
use crate::report::median;

const SESSION: SessionId = SessionId(1);
const CONNECTION: ConnectionId = ConnectionId(1);
const MESSAGES: usize = 200_000;
/// What the runtime reads at once.
const PIECE: usize = 64 << 10;

/// The measurement in one line.
pub(crate) fn measure(reps: usize) -> String {
    let stream = stream();
    let length = length_of_texts(&stream);
    let seconds = median((0..reps).map(|_| feed(&stream, length)).collect());
    let count = f64::from(u32::try_from(MESSAGES).unwrap());
    format!(
        "core: {:.2} million messages per CPU second, {:.0} ns each \
         ({MESSAGES} agent_message_chunk lines, frame, rpc, decode, reduce)",
        count / seconds / 1e6,
        seconds / count * 1e9
    )
}

fn stream() -> Vec<u8> {
    let mut lines = String::new();
    let section = section_lines().replace("{{sessionId}}", "remote");
    for number in 1..=MESSAGES / section.lines().count() {
        lines.push_str(&section.replace("{{i}}", &number.to_string()));
    }
    assert_eq!(lines.lines().count(), MESSAGES);
    lines.into_bytes()
}

/// CPU seconds for the whole stream, whose texts have this length together.
fn feed(stream: &[u8], length: usize) -> f64 {
    let mut core = Core::in_a_turn();
    let before = cpu_ns();
    for piece in stream.chunks(PIECE) {
        core.hears(piece);
    }
    let after = cpu_ns();
    assert_eq!(core.answer_length(), length, "text was lost");
    (after - before) / 1e9
}

struct Core {
    state: State,
    peer: Peer,
    /// Our requests that wait for an answer.
    asked: Vec<Value>,
}

impl Core {
    /// A core whose agent works on a prompt.
    fn in_a_turn() -> Core {
        let (state, asked) = Default::default();
        let mut core = Core { state, peer: Peer::new(CONNECTION), asked };
        let launch = Launch {
            agent: "bench".into(),
            how: How::Program(vec!["bench".into()]),
            env: Vec::new(),
            cwd: "/".into(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: std::time::Duration::ZERO,
        };
        core.apply(Event::User(Wish::Open { session: SESSION, launch, origin: Origin::New }));
        core.apply(Event::Agent { connection: CONNECTION, happened: Happened::Started });
        core.answer(json!({ "protocolVersion": 1 }));
        core.answer(json!({ "sessionId": "remote" }));
        let content = vec![Content::Text("go".into())];
        core.apply(Event::User(Wish::Prompt { session: SESSION, content, tag: 0 }));
        core
    }

    /// The agent answers our oldest request.
    fn answer(&mut self, result: Value) {
        let id = self.asked.remove(0);
        let line = format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        self.hears(line.as_bytes());
    }

    fn hears(&mut self, bytes: &[u8]) {
        let mut out = Outcome::default();
        let state = &mut self.state;
        self.peer.receive(bytes, &mut |happened| {
            state.apply(Event::Agent { connection: CONNECTION, happened }, &mut out);
        });
        self.follow(out);
    }

    fn apply(&mut self, event: Event) {
        let mut out = Outcome::default();
        self.state.apply(event, &mut out);
        self.follow(out);
    }

    fn follow(&mut self, out: Outcome) {
        for effect in out.effects {
            if let Effect::Call { call, .. } = effect {
                let line: Value = serde_json::from_slice(&self.peer.call(call)).unwrap();
                self.asked.push(line["id"].clone());
            }
        }
    }

    fn answer_length(&self) -> usize {
        match self.state.session(SESSION).unwrap().entries.last() {
            Some(Entry::Message(message)) => message.text.len(),
            other => panic!("the chat ends with {other:?}"),
        }
    }
}

fn length_of_texts(stream: &[u8]) -> usize {
    let length = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap();
        message["params"]["update"]["content"]["text"].as_str().unwrap().len()
    };
    str::from_utf8(stream).unwrap().lines().map(length).sum()
}

/// Nanoseconds this thread has run.
fn cpu_ns() -> f64 {
    // The kernel counts when it switches; giving way makes it count now.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}
