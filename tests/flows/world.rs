//! A state, and what followed from the last event.

use acp_nvim::session::agent::{AgentInfo, AuthKind, AuthMethod, Capabilities};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Effect, Reply, Tell};
use acp_nvim::session::entry::{Chunk, Entry, Role};
use acp_nvim::session::event::{
    Answer, Event, Happened, Made, Origin, RealPath, Request, Update, Wish,
};
use acp_nvim::session::failure::RpcError;
use acp_nvim::session::ids::{ConnectionId, ReplyTo, SessionId};
use acp_nvim::session::outcome::Outcome;
use acp_nvim::session::paths;
use acp_nvim::session::question::{PermissionKind, PermissionOption};
use acp_nvim::session::state::{Session, State};
use acp_nvim::session::tool_call::{ToolCallUpdate, ToolStatus};

use crate::support::{error, launch};

pub(crate) const ONE: SessionId = SessionId(1);

/// A state and everything that followed from the last event.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) last: Vec<Effect>,
    pub(crate) dirty: Vec<usize>,
    pub(crate) connection: u64,
}

impl World {
    pub(crate) fn event(&mut self, event: Event) -> &mut World {
        let mut out = Outcome::default();
        self.state.apply(event, &mut out);
        self.last = out.effects;
        self.dirty = out.dirty.into_iter().map(|(_, entry)| entry).collect();
        for effect in &self.last {
            if let Effect::Spawn { connection, .. } = effect {
                self.connection = connection.0;
            }
        }
        self
    }

    pub(crate) fn wish(&mut self, wish: Wish) -> &mut World {
        self.event(Event::User(wish))
    }

    pub(crate) fn agent(&mut self, happened: Happened) -> &mut World {
        let connection = ConnectionId(self.connection);
        self.event(Event::Agent { connection, happened })
    }

    pub(crate) fn answers(&mut self, answer: Answer) -> &mut World {
        self.agent(Happened::Answered(answer))
    }

    pub(crate) fn updates(&mut self, update: Update) -> &mut World {
        self.agent(Happened::Updated { remote: "r1".into(), update })
    }

    /// A request about a file that leads there.
    pub(crate) fn requests_file(&mut self, request: Request, real: RealPath) -> &mut World {
        let reply = ReplyTo { connection: ConnectionId(self.connection), id: "file".into() };
        self.agent(Happened::Requested { reply, request });
        let [Effect::Resolve { ask, .. }] = &self.last[..] else { panic!("{:?}", self.last) };
        let ask = *ask;
        self.event(Event::Resolved { ask, real })
    }

    pub(crate) fn requests(&mut self, id: &str, request: Request) -> &mut World {
        let reply = ReplyTo { connection: ConnectionId(self.connection), id: id.into() };
        self.agent(Happened::Requested { reply, request });
        // Every path leads where it seems to, into the project.
        if let [Effect::Resolve { ask, path, .. }] = &self.last[..] {
            let (ask, path) = (*ask, path.clone());
            self.event(Event::Resolved {
                ask,
                real: RealPath { path, inside: true, repository: false },
            });
        }
        self.without_links()
    }

    /// If somebody has to follow links, there are none: what followed from that comes after what
    /// followed before.
    pub(crate) fn without_links(&mut self) -> &mut World {
        let resolve = |it: &Effect| match it {
            Effect::ResolvePaths(it) => Some((it.ask, it.paths.clone())),
            _ => None,
        };
        if let Some((ask, paths)) = self.last.iter().find_map(resolve) {
            let before = std::mem::take(&mut self.last);
            let real = paths.into_iter().map(|it| (it.clone(), paths::join("", &it))).collect();
            self.event(Event::PathsResolved { ask, real });
            self.last.splice(0..0, before);
        }
        self
    }

    pub(crate) fn open(&mut self, agent: u64, origin: Origin) -> &mut World {
        self.wish(Wish::Open { session: ONE, launch: launch(agent), origin });
        self.agent(Happened::Started)
    }

    pub(crate) fn initialized(
        &mut self,
        can: Capabilities,
        auth_methods: Vec<AuthMethod>,
    ) -> &mut World {
        let info = AgentInfo { protocol: "1".into(), can, auth_methods, ..Default::default() };
        self.answers(Answer::Initialize(Ok(info)))
    }

    pub(crate) fn made(&mut self) -> &mut World {
        let made = Made { remote: Some("r1".into()), ..Default::default() };
        self.answers(Answer::Session { session: ONE, result: Ok(made) })
    }

    pub(crate) fn prompt(&mut self) -> &mut World {
        let content = vec![Content::Text("hi".into())];
        self.wish(Wish::Prompt { session: ONE, content, tag: 1 })
    }

    /// An agent that can do everything, in the middle of a turn.
    pub(crate) fn running() -> World {
        let mut world = World::default();
        world.open(0, Origin::New).initialized(able(), vec![]).made().prompt();
        world
    }

    pub(crate) fn session(&self) -> &Session {
        self.state.session(ONE).unwrap()
    }

    pub(crate) fn calls(&self) -> Vec<&Call> {
        self.last
            .iter()
            .filter_map(|it| match it {
                Effect::Call { call, .. } => Some(call),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn replies(&self) -> Vec<(&str, &Result<Reply, RpcError>)> {
        self.last
            .iter()
            .filter_map(|it| match it {
                Effect::Reply { reply, answer } => Some((&*reply.id, answer)),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn told(&self, wanted: impl Fn(&Tell) -> bool) -> bool {
        self.last.iter().any(|it| matches!(it, Effect::Tell(tell) if wanted(tell)))
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.session()
            .entries
            .iter()
            .filter_map(|it| match it {
                Entry::Message(message) => Some(message.text.as_str()),
                _ => None,
            })
            .collect()
    }
}

pub(crate) fn able() -> Capabilities {
    Capabilities {
        load: true,
        resume: true,
        list: true,
        close: true,
        fork: true,
        ..Default::default()
    }
}

pub(crate) fn refused(code: i64) -> RpcError {
    RpcError { code, ..error() }
}

pub(crate) fn says(text: &str) -> Update {
    Update::Chunk(Chunk { role: Role::Agent, content: Content::Text(text.into()), message: None })
}

pub(crate) fn tool(status: ToolStatus) -> Update {
    let update = ToolCallUpdate { status: Some(status), ..Default::default() };
    Update::ToolCall("t".into(), Box::new(update))
}

pub(crate) fn status(world: &World) -> ToolStatus {
    world
        .session()
        .entries
        .iter()
        .find_map(|it| match it {
            Entry::ToolCall(it) => Some(it.status),
            _ => None,
        })
        .unwrap()
}

pub(crate) fn method(kind: AuthKind) -> Vec<AuthMethod> {
    vec![AuthMethod { id: "m".into(), name: "M".into(), description: None, kind }]
}

pub(crate) fn permission() -> Request {
    let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
    let options =
        vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)];
    Request::Permission {
        remote: "r1".into(),
        tool_call: "t".into(),
        update: Box::default(),
        options,
    }
}
