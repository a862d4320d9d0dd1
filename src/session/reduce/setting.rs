//! What the user sets or asks of an agent beside the conversation.

use crate::session::agent::Capabilities;
use crate::session::effect::{Call, Effect, Tell};
use crate::session::event::{Ask, Told};
use crate::session::failure::{Failure, RpcError};
use crate::session::ids::{SessionId, Tag};
use crate::session::outcome::Outcome;
use crate::session::settings::Setting;
use crate::session::state::{Link, Session, State};

/// How many pages of kept sessions are fetched: an agent that has more loses count of them.
const PAGES: usize = 200;

impl State {
    pub(super) fn ask_agent(&mut self, id: SessionId, (ask, tag): (Ask, Tag), out: &mut Outcome) {
        let can = self.sessions.get(&id).and_then(|it| self.agent_of(it)).map(|it| it.can);
        let Some(session) = self.sessions.get_mut(&id) else {
            let result = Err(Failure::NoSession);
            return out.tell(Tell::AskDone { session: id, tag, result });
        };
        let agent = session.launch.agent.clone();
        let Link::Ready(connection, remote) = session.link.clone() else {
            let result = Err(Failure::NotReady { agent });
            return out.tell(Tell::AskDone { session: id, tag, result });
        };
        let ask = session.in_its_terms(ask);
        if let Some(what) = session.lacks(&ask, can.unwrap_or_default()) {
            let result = Err(Failure::NotSupported { agent, what });
            return out.tell(Tell::AskDone { session: id, tag, result });
        }
        session.asked.push(tag);
        let cwd = session.launch.cwd.clone();
        let call = Call::Ask { session: id, remote, ask, tag, cursor: None, cwd };
        out.effects.push(Effect::Call { connection, call });
    }

    /// The agent has answered.
    pub(super) fn agent_told(
        &mut self,
        id: SessionId,
        (ask, tag, result): (Ask, Tag, Result<Told, RpcError>),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(at) = session.asked.iter().position(|it| *it == tag) else { return };
        let result = match result {
            Ok(Told::Sessions(page, next)) => {
                let pages = self.lists.entry(tag).or_default();
                let more = !page.is_empty();
                pages.extend(page);
                if let (Some(cursor), Link::Ready(connection, remote)) =
                    (next, session.link.clone())
                    && more
                    && pages.len() < PAGES * 50
                {
                    let cwd = session.launch.cwd.clone();
                    let cursor = Some(cursor);
                    let call = Call::Ask { session: id, remote, ask, tag, cursor, cwd };
                    return out.effects.push(Effect::Call { connection, call });
                }
                Ok(self.lists.remove(&tag).unwrap_or_default())
            }
            Ok(told) => {
                session.set(&ask, told);
                out.tell(Tell::SettingsChanged(id));
                out.tell(Tell::SessionChanged(id));
                Ok(Vec::new())
            }
            Err(error) => {
                self.lists.remove(&tag);
                Err(Failure::AskRefused { agent: session.launch.agent.clone(), error })
            }
        };
        session.asked.swap_remove(at);
        out.tell(Tell::AskDone { session: id, tag, result });
    }
}

impl Session {
    /// Modes and models are options where the agent has them as such.
    fn in_its_terms(&self, ask: Ask) -> Ask {
        let option = |category| self.settings.option_for(category).map(|it| it.id.clone());
        match ask {
            Ask::SetMode(id) => match option("mode") {
                Some(option) => Ask::SetOption(option, id),
                None => Ask::SetMode(id),
            },
            Ask::SetModel(id) => match option("model") {
                Some(option) => Ask::SetOption(option, id),
                None => Ask::SetModel(id),
            },
            other => other,
        }
    }

    /// What the agent can't do of this, in words.
    fn lacks(&self, ask: &Ask, can: Capabilities) -> Option<&'static str> {
        let (able, what) = match ask {
            Ask::SetMode(_) => (self.settings.modes.is_some(), "change its mode"),
            Ask::SetModel(_) => (self.settings.models.is_some(), "change its model"),
            Ask::SetOption(..) | Ask::SetSwitch(..) => {
                (!self.settings.options.is_empty(), "be set that way")
            }
            Ask::SetTitle(_) => (can.set_title, "rename sessions"),
            Ask::ListSessions => (can.list, "list its sessions"),
            Ask::DeleteSession(_) => (can.delete, "delete sessions"),
            Ask::LogOut => (can.logout, "log out"),
        };
        (!able).then_some(what)
    }

    /// The agent did what was asked.
    fn set(&mut self, ask: &Ask, told: Told) {
        match (ask, told) {
            (_, Told::Options(Some(options))) => self.settings.options = options,
            // It did not say how the options are now: what was asked for is the best guess.
            (Ask::SetOption(id, value), _) => {
                if let Some(Setting::Select(choice)) = self.option(id) {
                    choice.current.clone_from(value);
                }
            }
            (Ask::SetSwitch(id, value), _) => {
                if let Some(Setting::Boolean(current)) = self.option(id) {
                    *current = *value;
                }
            }
            (Ask::SetMode(id), _) => {
                if let Some(modes) = &mut self.settings.modes {
                    modes.current.clone_from(id);
                }
            }
            (Ask::SetModel(id), _) => {
                if let Some(models) = &mut self.settings.models {
                    models.current.clone_from(id);
                }
            }
            (_, Told::Title(title)) => self.title = Some(title),
            (Ask::SetTitle(title), _) => self.title = Some(title.clone()),
            _ => {}
        }
    }

    pub(super) fn option(&mut self, id: &str) -> Option<&mut Setting> {
        let option = self.settings.options.iter_mut().find(|it| it.id == id)?;
        Some(&mut option.setting)
    }
}
