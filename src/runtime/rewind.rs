//! Going back to before a turn: what the files are is recorded before and after each turn, and
//! turns are undone by merging the other way round.
//!
//! Knows sessions by their names, and which turns changed what. What the editor has loaded is
//! changed by the editor (`lua/acp/rewind.lua`), everything else here. All that takes time is on
//! threads that may wait; one after the other for a project, in the order in which it was asked.

mod carry;
mod having;
mod late;
mod look;
pub mod records;
mod touched;
mod undo;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::carry::Sides;
pub use self::having::{Having, Unsaved};
use self::late::Late;
use self::look::Begun;
use self::records::{Key, Record, What};
use self::touched::Touched;
use super::bases::Bases;
use super::input::Input;
use super::nofollow;
use super::outbox::{Item, Outbox};
use super::snapshot::{Error, Extra, Snapshot, Snapshots};
use crate::session::event::{Event, Wish};
use crate::session::ids::{SessionId, Tag, TurnId};
use crate::session::state::{Session, Turn};

/// How long the editor may take to tell what it has; longer where a prompt may wait longer, but an
/// editor that is busy for so long keeps no agent from working.
const EDITOR: Duration = Duration::from_millis(500);
const BUSY_EDITOR: Duration = Duration::from_secs(4);

/// What the user has set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where snapshots are kept.
    pub state: PathBuf,
    /// How many turns of a project are kept.
    pub keep: usize,
    /// For how long.
    pub days: u64,
    /// How many bytes a snapshot may add.
    pub most: u64,
    /// How long a prompt waits.
    pub wait: Duration,
    /// Whether turns are kept, to be undone.
    pub undo: bool,
    /// Whether what agents changed in files that are not open is looked for.
    pub look: bool,
}

/// What the editor asks for, or answers.
#[derive(Debug)]
pub enum Wanted {
    /// Record from now on, in this way; or not.
    Config(Option<Config>),
    /// What the editor has, before or after a turn.
    Has(SessionId, TurnId, Having),
    /// Go back.
    To {
        /// Of which session.
        session: SessionId,
        /// The editor's name for it.
        tag: Tag,
        /// To before this one.
        id: String,
        /// What the editor has.
        having: Having,
        /// The files of all loaded buffers.
        loaded: Vec<String>,
    },
    /// The editor's part of a rewind is done.
    Done(Tag, Having),
}

/// The turns of a session that can be undone.
#[derive(Debug)]
pub struct Turns {
    /// Which session.
    pub session: SessionId,
    /// The turn whose end is told with it: whether or not it can be undone, nothing more comes of it.
    pub ended: Option<TurnId>,
    /// What is known of them, oldest first.
    pub records: Vec<Record>,
}

/// What came of going back.
#[derive(Debug)]
pub struct Rewound {
    /// The editor's name for it.
    pub tag: Tag,
    /// Of which session.
    pub session: SessionId,
    /// What was done, or why nothing.
    pub result: Result<Outcome, Refused>,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Files that are what they were, and how: `deleted`, `restored` or `changed`.
    pub done: Vec<(String, &'static str)>,
    /// Files that are left alone, and why.
    pub kept: Vec<(String, String)>,
    /// Files that the editor has to change.
    pub merge: Vec<String>,
}

/// Why nothing was done.
#[derive(Debug)]
pub struct Refused {
    /// For programs.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// A session's place among the records.
#[derive(Debug, Clone)]
struct Whose {
    session: SessionId,
    key: Key,
    snapshots: Snapshots,
    config: Config,
    turn: Order,
}

/// One after the other, of those who look at the files of a project; and what they were when the
/// last one did.
type Order = Arc<tokio::sync::Mutex<Option<Snapshot>>>;

/// A turn that is recorded.
#[derive(Debug)]
struct Open {
    turn: TurnId,
    touched: Touched,
    begun: Begun,
    whose: Whose,
    before: oneshot::Receiver<(Record, Late)>,
}

/// A rewind that the editor is at.
#[derive(Debug)]
struct Going {
    whose: Whose,
    record: Record,
    sides: Sides,
}

/// All that is recorded.
#[derive(Debug)]
pub(super) struct Rewind {
    config: Option<Config>,
    inputs: Sender<Input>,
    outbox: Arc<Outbox>,
    bases: Arc<Bases>,
    turns: HashMap<PathBuf, Order>,
    open: HashMap<SessionId, Open>,
    asked: HashMap<(SessionId, TurnId), oneshot::Sender<Having>>,
    going: Arc<Mutex<HashMap<Tag, Going>>>,
}

impl Rewind {
    pub(super) fn new(inputs: Sender<Input>, outbox: Arc<Outbox>, bases: Arc<Bases>) -> Rewind {
        Rewind {
            config: None,
            inputs,
            outbox,
            bases,
            turns: HashMap::new(),
            open: HashMap::new(),
            asked: HashMap::new(),
            going: Arc::default(),
        }
    }

    pub(super) fn set(&mut self, config: Option<Config>) {
        self.config = config;
    }

    fn whose(&mut self, session: &Session) -> Option<Whose> {
        let config = self.config.clone()?;
        let key = Key {
            agent: session.launch.agent.clone(),
            remote: session.remote.as_ref()?.to_string(),
        };
        let project = PathBuf::from(&session.launch.cwd);
        let turn = self.turns.entry(project.clone()).or_default().clone();
        let snapshots = Snapshots::new(&config.state, &project, config.most);
        Some(Whose { session: session.id, key, snapshots, config, turn })
    }

    /// Asks the editor what it has, and tells it which of its files are others by now: it has
    /// better things to do than to look at them all.
    fn ask(&mut self, session: SessionId, turn: TurnId) -> oneshot::Receiver<Having> {
        let (answer, having) = oneshot::channel();
        self.asked.insert((session, turn), answer);
        let (bases, outbox) = (self.bases.clone(), self.outbox.clone());
        tokio::task::spawn_blocking(move || {
            let behind = bases.paths().into_iter().filter(|it| bases.is_stamped(it)).collect();
            outbox.push([Item::Record(session, turn, behind)]);
        });
        having
    }

    /// The editor has answered.
    pub(super) fn has(&mut self, session: SessionId, turn: TurnId, having: Having) {
        // Who waited may have gone on.
        if let Some(answer) = self.asked.remove(&(session, turn))
            && answer.send(having).is_err()
        {
            tracing::debug!(%session, "the editor was late");
        }
    }

    /// Records what the files are before a turn. The core hears when the turn may begin.
    pub(super) fn before(&mut self, session: &Session, turn: TurnId) {
        let event = Input::Event(Event::Recorded(session.id, turn));
        let inputs = self.inputs.clone();
        let go = async move {
            if inputs.send(event).await.is_err() {
                tracing::debug!("the core is gone");
            }
        };
        let Some(whose) = self.whose(session) else {
            tokio::spawn(go);
            return;
        };
        let prompt = first_line(session);
        let having = self.ask(session.id, turn);
        let (done, before) = oneshot::channel();
        let (touched, begun) = (Touched::default(), Begun::new());
        let open = Open { turn, touched, begun: begun.clone(), whose: whose.clone(), before };
        self.open.insert(session.id, open);
        let late = Late::default();
        let flag = late.clone();
        let wait = whose.config.wait;
        let work = async move {
            let mut last = whose.turn.clone().lock_owned().await;
            let extra = editor(having, whose.config.wait).await;
            let what = if whose.config.undo { What::Turn(prompt) } else { What::Look };
            let began = flag.clone();
            let work = move || whose.begin(what, &extra(), (&mut last, &began));
            match tokio::task::spawn_blocking(work).await {
                Ok(Ok(record)) => {
                    if let Some(files) = record.before() {
                        begun.is(files);
                    }
                    if done.send((record, flag)).is_err() {
                        tracing::debug!("the turn was never begun");
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "this turn is not recorded"),
                Err(error) => tracing::error!(%error, "a record failed"),
            }
        };
        tokio::spawn(async move {
            if timeout(wait, tokio::spawn(work)).await.is_err() {
                late.begin();
            }
            go.await;
        });
    }

    /// What a session's turn is about to change is noted there.
    pub(super) fn touched(&self, session: SessionId) -> Option<Touched> {
        self.open.get(&session).map(|it| it.touched.clone())
    }

    /// Records what the files are after a turn; the next one waits for it.
    pub(super) fn after(&mut self, session: SessionId, turn: TurnId) {
        match self.open.get(&session) {
            Some(open) if open.turn == turn => {}
            _ => return,
        }
        let Some(Open { whose, before, touched, begun, .. }) = self.open.remove(&session) else {
            return;
        };
        let having = self.ask(session, turn);
        let (outbox, inputs) = (self.outbox.clone(), self.inputs.clone());
        tokio::spawn(async move {
            let mut last = whose.turn.clone().lock_owned().await;
            let Ok((mut record, late)) = before.await else {
                return whose.tell_on_thread(outbox, turn);
            };
            let extra = editor(having, whose.config.wait).await;
            let work = move || {
                record.late = late.since().is_some();
                let mut extra = extra();
                let found = touched.take();
                let ended = record.add(&whose.snapshots, &found).and_then(|ignored| {
                    extra.over.extend(ignored.into_iter().map(|path| {
                        let bytes = nofollow::read(&path).ok();
                        (path, bytes)
                    }));
                    record.end(&whose.snapshots, extra)
                });
                match ended {
                    Ok(now) => *last = now,
                    Err(error) => tracing::warn!(%error, "this turn is not recorded"),
                }
                let changed: Vec<_> = record.files.into_iter().map(|it| it.changed).collect();
                whose.found(&changed, begun.at, |found| inputs.blocking_send(found).map_err(drop));
                whose.tell(&outbox, Some(turn));
            };
            if let Err(error) = tokio::task::spawn_blocking(work).await {
                tracing::error!(%error, "a record failed");
            }
        });
    }

    /// Tells the editor which turns there are, for a session that begins. The first snapshot takes
    /// longest: it is taken while the user still thinks.
    pub(super) fn list(&mut self, session: &Session) {
        let Some(whose) = self.whose(session) else { return };
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            let mut last = whose.turn.clone().lock_owned().await;
            let work = move || {
                whose.tell(&outbox, None);
                let age = Duration::from_secs(whose.config.days * 24 * 3600);
                if let Err(error) = whose.snapshots.forget_others(age) {
                    tracing::debug!(%error, "other projects stay");
                }
                match whose.snapshots.take(&Extra::default()) {
                    Ok(now) => *last = Some(now),
                    Err(error) => tracing::warn!(%error, "no snapshot"),
                }
            };
            if let Err(error) = tokio::task::spawn_blocking(work).await {
                tracing::error!(%error, "turns were not listed");
            }
        });
    }

    /// Goes back to before a turn.
    pub(super) fn to(&mut self, session: Option<&Session>, wanted: Wanted) {
        let Wanted::To { session: id, tag, id: turn, having, loaded } = wanted else { return };
        let outbox = self.outbox.clone();
        let answer =
            move |result| outbox.push([Item::Rewound(Rewound { tag, session: id, result })]);
        let idle = session.is_none_or(|it| it.turn == Turn::Idle);
        if !idle {
            let message = "the agent is working".to_owned();
            return answer(Err(Refused {
                code: "busy",
                message,
                hint: "Cancel first: :Acp cancel",
            }));
        }
        let whose = session.and_then(|it| self.whose(it)).filter(|it| it.config.undo);
        let Some(whose) = whose else {
            let message = "nothing is recorded for this session".to_owned();
            let hint = "See :help acp-rewind";
            return answer(Err(Refused { code: "not_recorded", message, hint }));
        };
        let going = self.going.clone();
        tokio::spawn(async move {
            let _turn = whose.turn.clone().lock_owned().await;
            let work = move || {
                let (snapshots, key) = (&whose.snapshots, &whose.key);
                carry::back(snapshots, key, &turn, (&having.extra(), &loaded)).map(|done| {
                    let (record, sides, outcome) = done;
                    let mut going = going.lock().unwrap_or_else(PoisonError::into_inner);
                    going.insert(tag, Going { whose, record, sides });
                    outcome
                })
            };
            let result = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                tracing::error!(%error, "a rewind failed");
                let message = "a bug in acp.nvim".to_owned();
                Err(Refused { code: "failed", message, hint: "See :Acp log" })
            });
            answer(result);
        });
    }

    /// What a file was before a rewind undid what an agent did, and what it shall be.
    pub(super) fn sides(&self, tag: Tag, path: &str) -> Option<(Arc<str>, Arc<str>)> {
        let going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        going.get(&tag)?.sides.get(path).cloned()
    }

    /// The editor has done its part: what the rewind did is a record like any other.
    pub(super) fn done(&mut self, tag: Tag, having: Having) {
        let going = self.going.lock().unwrap_or_else(PoisonError::into_inner).remove(&tag);
        let Some(Going { whose, mut record, .. }) = going else { return };
        let (inputs, outbox) = (self.inputs.clone(), self.outbox.clone());
        let text = format!(
            "Note: the user has rewound the files of this project ({}). What was changed since then \
             is undone. Read files again before you change them.",
            record.prompt
        );
        let wish = Wish::Note { session: whose.session, text };
        tokio::spawn(async move {
            if inputs.send(Input::Event(Event::User(wish))).await.is_err() {
                tracing::debug!("the core is gone");
            }
            let _turn = whose.turn.clone().lock_owned().await;
            let work = move || {
                if let Err(error) = record.end(&whose.snapshots, having.extra()) {
                    tracing::warn!(%error, "this rewind is not recorded");
                }
                whose.tell(&outbox, None);
            };
            if let Err(error) = tokio::task::spawn_blocking(work).await {
                tracing::error!(%error, "a record failed");
            }
        });
    }
}

impl Whose {
    /// A turn begins: what the files are is taken down.
    fn begin(
        &self,
        what: What,
        extra: &Extra,
        (last, late): (&mut Option<Snapshot>, &Late),
    ) -> Result<Record, Error> {
        let mut record = Record::begin(&self.snapshots, &self.key, what, extra)?;
        if let (Some(last), Some(since)) = (&last, late.since())
            && let Err(error) = record.catch_up(&self.snapshots, last, since)
        {
            tracing::warn!(%error, "what was deleted at once is not known");
        }
        *last = record.before().cloned();
        Ok(record)
    }

    /// The same where nobody may wait.
    fn tell_on_thread(self, outbox: Arc<Outbox>, ended: TurnId) {
        tokio::task::spawn_blocking(move || self.tell(&outbox, Some(ended)));
    }

    /// Tells the editor which turns there are.
    fn tell(&self, outbox: &Outbox, ended: Option<TurnId>) {
        let (keep, days) = (self.config.keep, self.config.days);
        // What is for the review alone leaves contents behind, and no turn to expire.
        if (records::expire(&self.snapshots, keep, days) || !self.config.undo)
            && let Err(error) = records::sweep(&self.snapshots)
        {
            tracing::warn!(%error, "old contents stay");
        }
        let mut records = records::of(&self.snapshots, &self.key);
        if !self.config.undo {
            records.clear();
        }
        outbox.push([Item::Turns(Turns { session: self.session, ended, records })]);
    }
}

/// What the editor has, if it says so in time: in half of what a prompt may wait, so that there is
/// time for the rest. It is put into bytes elsewhere.
async fn editor(having: oneshot::Receiver<Having>, wait: Duration) -> impl FnOnce() -> Extra {
    let patience = (wait / 2).clamp(EDITOR, BUSY_EDITOR);
    let having = timeout(patience, having).await.ok().and_then(Result::ok).unwrap_or_default();
    move || having.extra()
}

/// The first line of the prompt that is about to be sent.
fn first_line(session: &Session) -> String {
    use crate::session::content::Content;
    let Turn::Preparing(running) = &session.turn else { return String::new() };
    let text = running.content.iter().find_map(|it| match it {
        Content::Text(text) => text.lines().find(|line| !line.trim().is_empty()),
        _ => None,
    });
    text.unwrap_or_default().trim().chars().take(200).collect()
}

/// How a path is told to people and to the editor.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
