//! Our client without processes or Neovim: the pure layers, driven by a recording.

use std::collections::HashMap;

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::effect::Effect;
use acp_nvim::session::event::{Event, Happened, Wish};
use acp_nvim::session::ids::{ConnectionId, SessionId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::state::{Content, How, Launch, State};
use acp_nvim::view::export;
use serde_json::Value;

const SESSION: SessionId = SessionId(1);

/// The pure core with one agent.
pub(crate) struct Client {
    state: State,
    peer: Peer,
    /// How many bytes the agent's words are cut into.
    chunk: usize,
    /// Our open requests: method and id, in order.
    sent: Vec<(String, Value)>,
    /// The recorded client's request ids, and ours in their place.
    ids: HashMap<String, Value>,
    /// The agent's requests and how often each was answered.
    asked: HashMap<String, usize>,
}

impl Client {
    pub(crate) fn new(agent: &str, chunk: usize) -> Client {
        let connection = ConnectionId(1);
        let mut client = Client {
            state: State::default(),
            peer: Peer::new(connection),
            chunk,
            sent: Vec::new(),
            ids: HashMap::new(),
            asked: HashMap::new(),
        };
        let how = How::Program(vec![agent.into()]);
        let cwd = "/home/dev/project".into();
        let launch = Launch {
            agent: agent.into(),
            how,
            env: vec![],
            cwd,
            install: None,
            patience: std::time::Duration::ZERO,
        };
        client.apply(Event::User(Wish::Open { session: SESSION, launch }));
        client.apply(Event::Agent { connection, happened: Happened::Started });
        client
    }

    /// Does what the recorded client did.
    pub(crate) fn does_as(&mut self, msg: &Value) {
        match msg["method"].as_str() {
            Some("session/prompt") => {
                let text = msg["params"]["prompt"].as_array().unwrap().iter();
                let text: Vec<&str> = text.filter_map(|block| block["text"].as_str()).collect();
                let content = vec![Content::Text(text.join("\n"))];
                self.apply(Event::User(Wish::Prompt { session: SESSION, content, tag: 0 }));
            }
            Some("session/cancel") => self.apply(Event::User(Wish::Cancel(SESSION))),
            Some("initialize" | "session/new") => {}
            other => panic!("the recorded client did {other:?}"),
        }
        if let (Some(method), Some(id)) = (msg["method"].as_str(), msg.get("id")) {
            let sent = self.sent.iter().position(|(sent, _)| sent == method);
            let sent = sent.unwrap_or_else(|| panic!("we sent no {method}: {:?}", self.sent));
            self.ids.insert(id.to_string(), self.sent.remove(sent).1);
        }
    }

    /// Hears what the agent said, with our ids in the answers.
    pub(crate) fn hears(&mut self, msg: &Value) {
        let mut msg = msg.clone();
        if msg.get("method").is_none() {
            msg["id"] = self.ids[&msg["id"].to_string()].clone();
        } else if let Some(id) = msg.get("id") {
            self.asked.insert(id.to_string(), 0);
        }
        let line = format!("{msg}\n");
        for bytes in line.as_bytes().chunks(self.chunk) {
            let mut out = Outcome::default();
            let state = &mut self.state;
            self.peer.receive(bytes, &mut |happened| {
                state.apply(Event::Agent { connection: ConnectionId(1), happened }, &mut out);
            });
            self.follow(out);
        }
    }

    fn apply(&mut self, event: Event) {
        let mut out = Outcome::default();
        self.state.apply(event, &mut out);
        self.follow(out);
    }

    fn follow(&mut self, out: Outcome) {
        for effect in out.effects {
            let line = match effect {
                Effect::Call { call, .. } => self.peer.call(call),
                Effect::CancelTurn { remote, .. } => self.peer.cancel_turn(remote),
                Effect::Reply { reply, answer } => {
                    *self.asked.get_mut(&*reply.id).expect("asked") += 1;
                    self.peer.reply(reply, &answer)
                }
                Effect::Spawn { .. }
                | Effect::End(_)
                | Effect::SetTimer { .. }
                | Effect::Tell(_) => continue,
            };
            let message: Value = serde_json::from_slice(&line).expect("we send JSON");
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                self.sent.push((method.to_owned(), id.clone()));
            }
        }
    }

    /// The chat as Markdown.
    pub(crate) fn transcript(&self) -> String {
        let session = self.state.session(SESSION).expect("it is open");
        let entries = (0..session.entries.len()).map(|index| export::markdown(session, index));
        entries.collect::<String>() + "\n"
    }

    /// Requests of the agent that were not answered exactly once.
    pub(crate) fn unanswered(&self) -> Vec<String> {
        let wrong = self.asked.iter().filter(|(_, answers)| **answers != 1);
        wrong.map(|(id, answers)| format!("{id}: {answers} answers")).collect()
    }
}
