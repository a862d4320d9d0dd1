//! Prompts that wait: listed, changed, moved, taken back.

use crate::session::effect::Tell;
use crate::session::event::QueueChange;
use crate::session::failure::Failure;
use crate::session::ids::{SessionId, Tag};
use crate::session::outcome::Outcome;
use crate::session::state::{Session, State};

impl State {
    pub(super) fn change_queue(
        &mut self,
        id: SessionId,
        (tag, change): (Tag, QueueChange),
        out: &mut Outcome,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(at) = session.queue.iter().position(|it| it.tag == tag && !it.shown) else {
            return;
        };
        match change {
            QueueChange::Edit(content) => {
                if let Some(prompt) = session.queue.get_mut(at) {
                    prompt.content = content;
                }
            }
            QueueChange::Move(to) => {
                // What the chat shows already stays in front.
                let shown = session.queue.iter().take_while(|it| it.shown).count();
                if let Some(prompt) = session.queue.remove(at) {
                    let to = shown.saturating_add(to).min(session.queue.len());
                    session.queue.insert(to, prompt);
                }
            }
            QueueChange::Remove => {
                session.queue.remove(at);
                let result = Err(Failure::Withdrawn);
                out.tell(Tell::TurnFinished { session: id, turn: None, tag, result });
                out.tell(Tell::SessionChanged(id));
            }
        }
        out.tell(Tell::QueueChanged(id));
    }
}

impl Session {
    /// Tells the editor of prompts that it does not know to be waiting.
    pub(super) fn list_queue(&mut self, out: &mut Outcome) {
        let mut news = false;
        for prompt in self.queue.iter_mut().filter(|it| !it.shown && !it.listed) {
            prompt.listed = true;
            news = true;
        }
        if news {
            out.tell(Tell::QueueChanged(self.id));
        }
    }
}
