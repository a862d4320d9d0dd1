//! Our client without processes or Neovim: the pure layers, driven by a recording.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::audit::By;
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Effect, Tell};
use acp_nvim::session::event::{Ask, Event, Happened, Origin, RealPath, Wish};
use acp_nvim::session::ids::{AskId, ConnectionId, SessionId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::question::{Body, FieldValue, Permission, Question, Reaction};
use acp_nvim::session::state::State;
use acp_nvim::view::export;
use acp_nvim::view::screen::Screen;
use serde_json::Value;

use crate::buffer::Buffer;

const CONNECTION: ConnectionId = ConnectionId(1);

/// The pure core with one agent.
pub(crate) struct Client {
    state: State,
    peer: Peer,
    agent: String,
    /// How many bytes the agent's words are cut into.
    chunk: usize,
    sessions: u64,
    /// Our open requests: method and id, in order.
    sent: Vec<(String, Value)>,
    /// The recorded client's requests whose counterparts are not known yet: id and method.
    recorded: HashMap<String, String>,
    /// What the recorded client did and ours does not; the answers are not for us.
    skipped: HashSet<String>,
    /// The agent's requests and how often each was answered.
    asked: HashMap<String, usize>,
    /// Answers to requests that we have yet to send: a prompt can wait in our queue.
    early: Vec<Value>,
    /// What is shown of each session, brought up to date with every event.
    shown: HashMap<SessionId, (Screen, Buffer)>,
    /// The permissions that the user was asked for.
    pub(crate) permissions: Vec<Permission>,
}

impl Client {
    pub(crate) fn new(agent: &str, chunk: usize) -> Client {
        Client {
            state: State::default(),
            peer: Peer::new(CONNECTION),
            agent: agent.to_owned(),
            chunk,
            sessions: 0,
            sent: Vec::new(),
            recorded: HashMap::new(),
            skipped: HashSet::new(),
            asked: HashMap::new(),
            early: Vec::new(),
            shown: HashMap::new(),
            permissions: Vec::new(),
        }
    }

    /// Makes a session the way the recorded client did.
    pub(crate) fn open(&mut self, origin: Origin) {
        self.sessions += 1;
        let launch = Launch {
            agent: self.agent.clone(),
            how: How::Program(vec![self.agent.clone()]),
            env: vec![],
            cwd: "/home/dev/project".into(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: Duration::ZERO,
        };
        self.apply(Event::User(Wish::Open { session: SessionId(self.sessions), launch, origin }));
        if self.sessions == 1 {
            self.apply(Event::Agent { connection: CONNECTION, happened: Happened::Started });
        }
    }

    /// Does what the recorded client did.
    pub(crate) fn does_as(&mut self, msg: &Value) {
        let Some(method) = msg["method"].as_str() else { return self.answers_as(msg) };
        let params = &msg["params"];
        let session = self.session_named(&params["sessionId"]);
        let word = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        let made = self.sessions;
        if made > 0 && self.state.session(session).is_none() {
            // Our user can't talk to a session that is closed.
            self.skipped.insert(msg["id"].to_string());
            return;
        }
        let wish = match method {
            "session/prompt" => {
                let content = params["prompt"].as_array().unwrap().iter().map(content).collect();
                Wish::Prompt { session, content, tag: 0 }
            }
            "session/cancel" => Wish::Cancel(session),
            "session/close" => Wish::Close(session),
            "initialize" => return self.remember(msg, method),
            "session/new" if made == 1 && self.waits_for("session/new") => {
                return self.remember(msg, method);
            }
            "session/load" | "session/resume" if made == 1 && self.sent_any() => {
                return self.remember(msg, method);
            }
            "session/new" => return self.open_as(msg, method, Origin::New),
            "session/load" | "session/resume" => {
                return self.open_as(msg, method, Origin::Kept(word("sessionId").into()));
            }
            "session/fork" => return self.open_as(msg, method, Origin::Fork(session)),
            _ => match self.ask_as(method, params) {
                Some(ask) => Wish::Ask { session, ask, tag: 0 },
                None => {
                    self.skipped.insert(msg["id"].to_string());
                    return;
                }
            },
        };
        let is_ask = matches!(wish, Wish::Ask { .. });
        self.apply(Event::User(wish));
        if is_ask && !self.waits_for(method) {
            // Ours knows that this agent can't, or says it in newer terms.
            self.skipped.insert(msg["id"].to_string());
            return;
        }
        self.remember(msg, method);
    }

    fn ask_as(&self, method: &str, params: &Value) -> Option<Ask> {
        let word = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        Some(match method {
            "session/set_mode" => Ask::SetMode(word("modeId")),
            "session/set_model" => Ask::SetModel(word("modelId")),
            "session/set_config_option" => match params["value"].as_bool() {
                Some(value) => Ask::SetSwitch(word("configId"), value),
                None => Ask::SetOption(word("configId"), word("value")),
            },
            "session/list" => Ask::ListSessions,
            "session/delete" => Ask::DeleteSession(word("sessionId").into()),
            _ => return None,
        })
    }

    fn open_as(&mut self, msg: &Value, method: &str, origin: Origin) {
        self.open(origin);
        self.remember(msg, method);
    }

    fn waits_for(&self, method: &str) -> bool {
        self.sent.iter().any(|(sent, _)| sent == method)
    }

    fn sent_any(&self) -> bool {
        self.waits_for("session/load") || self.waits_for("session/resume")
    }

    fn session_named(&self, remote: &Value) -> SessionId {
        let named = self.state.sessions().find(|it| it.remote.as_deref() == remote.as_str());
        named.map_or(SessionId(1), |it| it.id)
    }

    fn remember(&mut self, msg: &Value, method: &str) {
        if let Some(id) = msg.get("id") {
            self.recorded.insert(id.to_string(), method.to_owned());
        }
    }

    /// Answers a request of the agent as the recorded client did.
    fn answers_as(&mut self, msg: &Value) {
        let id = msg["id"].to_string();
        let Some(ask) = self.ask_with(&id) else { return };
        let result = &msg["result"];
        let reaction = match (&result["outcome"]["optionId"], &result["action"], &result["content"])
        {
            (Value::String(option), _, _) => Reaction::Option(option.clone()),
            (_, Value::String(_), Value::Object(values)) => {
                let value = |(name, value): (&String, &Value)| {
                    (name.clone(), FieldValue::Text(value.as_str().unwrap_or_default().to_owned()))
                };
                Reaction::Accept(values.iter().map(value).collect())
            }
            (_, _, Value::String(text)) => Reaction::Text(text.clone()),
            _ if msg.get("error").is_some() => Reaction::Failed(msg["error"].to_string()),
            _ if result.get("outcome").is_some() => Reaction::Dismiss,
            _ => Reaction::Done,
        };
        self.apply(Event::User(Wish::Answer { ask, reaction, by: By::User }));
    }

    fn ask_with(&self, id: &str) -> Option<AskId> {
        self.state.asks().find(|(_, it)| &*it.reply.id == id).map(|(ask, _)| ask)
    }

    /// Hears what the agent said, with our ids in the answers.
    pub(crate) fn hears(&mut self, msg: &Value) {
        let mut msg = msg.clone();
        if msg.get("method").is_none() {
            let id = msg["id"].to_string();
            if self.skipped.contains(&id) {
                return;
            }
            let Some(method) = self.recorded.get(&id) else {
                panic!("an answer to {id}, which nobody asked")
            };
            // Ours prefers to load where the recorded one resumed.
            let either = |it: &str| it.replace("session/resume", "session/load");
            let ours = self.sent.iter().position(|(sent, _)| either(sent) == either(method));
            let Some(at) = ours else {
                return self.early.push(msg);
            };
            msg["id"] = self.sent.remove(at).1;
            self.recorded.remove(&id);
        } else if let Some(id) = msg.get("id") {
            self.asked.insert(id.to_string(), 0);
        }
        self.receive(&format!("{msg}\n"));
        for early in std::mem::take(&mut self.early) {
            self.hears(&early);
        }
    }

    fn receive(&mut self, line: &str) {
        for bytes in line.as_bytes().chunks(self.chunk) {
            let mut out = Outcome::default();
            let state = &mut self.state;
            self.peer.receive(bytes, &mut |happened| {
                state.apply(Event::Agent { connection: CONNECTION, happened }, &mut out);
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
        self.show(&out);
        for effect in out.effects {
            let line = match effect {
                Effect::Call { call, .. } => self.peer.call(call),
                Effect::CancelTurn { remote, .. } => self.peer.cancel_turn(remote),
                Effect::Reply { reply, answer } => {
                    *self.asked.get_mut(&*reply.id).expect("asked") += 1;
                    self.peer.reply(reply, &answer)
                }
                Effect::Tell(Tell::Asked(
                    _,
                    Question { body: Body::Permission(permission), .. },
                )) => {
                    self.permissions.push(*permission);
                    continue;
                }
                Effect::Resolve { ask, path, .. } => {
                    self.apply(Event::Resolved {
                        ask,
                        real: RealPath { path, inside: true, repository: false },
                    });
                    continue;
                }
                Effect::ResolvePaths(wanted) => {
                    let real = wanted.paths.into_iter().map(|it| (it.clone(), it)).collect();
                    self.apply(Event::PathsResolved { ask: wanted.ask, real });
                    continue;
                }
                _ => continue,
            };
            let message: Value = serde_json::from_slice(&line).expect("we send JSON");
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                self.sent.push((method.to_owned(), id.clone()));
            }
        }
    }

    /// Shows what has changed; every other chat with everything open.
    fn show(&mut self, out: &Outcome) {
        for (id, entry) in out.dirty.iter().copied().collect::<BTreeSet<_>>() {
            let Some(session) = self.state.session(id) else { continue };
            let (screen, buffer) = self.shown.entry(id).or_default();
            let mut patches = Vec::new();
            if buffer.lines.is_empty() {
                screen.toggle_all(session, id.0.is_multiple_of(2), &mut patches);
            }
            screen.update(session, entry, &mut patches);
            buffer.take(&patches);
        }
    }

    /// What is shown must be what would be shown anew.
    pub(crate) fn check_rows(&mut self) {
        for (id, (screen, buffer)) in &mut self.shown {
            let Some(session) = self.state.session(*id) else { continue };
            let (mut patches, mut anew) = (Vec::new(), Buffer::default());
            screen.render_all(session, &mut patches);
            anew.take(&patches);
            assert_eq!(buffer.seen(), anew.seen());
        }
    }

    /// The chats as Markdown, one after the other.
    pub(crate) fn transcript(&self) -> String {
        let mut text = String::new();
        for session in self.state.sessions() {
            let entries = (0..session.entries.len()).map(|index| export::markdown(session, index));
            let settings = &session.settings;
            let title = session.title.as_deref().unwrap_or("-");
            let modes = settings.modes.as_ref().map_or("-", |it| it.current.as_str());
            let (options, commands) = (settings.options.len(), settings.commands.len());
            let plan = settings.plans.len();
            text.push_str(&format!(
                "# title {title}, mode {modes}, {options} options, {commands} commands, {plan} plans\n\n"
            ));
            text.extend(entries);
            text.push_str("\n\n");
        }
        text
    }

    /// Requests of the agent that were not answered exactly once, and answers of the agent that
    /// found nothing they answer.
    pub(crate) fn loose_ends(&self) -> Vec<String> {
        let wrong = self.asked.iter().filter(|(_, answers)| **answers != 1);
        let wrong = wrong.map(|(id, answers)| format!("{id}: {answers} answers"));
        wrong.chain(self.early.iter().map(|it| format!("to nothing: {it}"))).collect()
    }
}

fn content(block: &Value) -> Content {
    let word = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => Content::Text(word("text")),
        Some("image") => Content::Image { mime: word("mimeType"), data: word("data") },
        Some("audio") => Content::Audio { mime: word("mimeType"), data: word("data") },
        Some("resource_link") => Content::Link { uri: word("uri"), name: word("name") },
        _ => {
            let resource = &block["resource"];
            let word = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
            Content::Resource { uri: word("uri"), text: word("text"), mime: None }
        }
    }
}
