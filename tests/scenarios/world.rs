//! A core, a fake agent, and what the test has been told so far.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use acp_nvim::runtime::bell::Bell;
use acp_nvim::runtime::handle::{Action, Handle, Options};
use acp_nvim::runtime::outbox::Item;
use acp_nvim::runtime::published::{SettingsInfo, Summary};
use acp_nvim::session::agent::{How, Launch};
use acp_nvim::session::audit::By;
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::failure::Failure;
use acp_nvim::session::ids::{AskId, SessionId};
use acp_nvim::session::question::{Body, Question, Reaction};
use acp_nvim::view::model::SurfaceId;
use serde_json::{Value, json};

/// How long anything may take. Only what hangs takes so long.
const DEADLINE: Duration = Duration::from_secs(40);
/// How often conditions are looked at that ring no bell.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How a prompt ended.
pub(crate) type Ending = Result<StopReason, Failure>;

/// A core, and everything it has told.
pub(crate) struct World {
    handle: Handle,
    rings: Receiver<()>,
    pub(crate) folder: tempfile::TempDir,
    told: RefCell<Vec<Tell>>,
    prompts: Cell<u64>,
    /// How long agents may be silent while starting.
    pub(crate) patience: Duration,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_acp-guard")).parent().unwrap().to_owned();
        let log_dir = folder.path().join("log");
        let options = Options { log_dir, log_level: "debug".into(), programs };
        let (ring, rings) = channel();
        let bell = Bell::new(move || ring.send(()).unwrap_or_default());
        let handle = Handle::start(options, bell).unwrap();
        // The core sends panics to the log, where nobody looks for why a test failed.
        drop(std::panic::take_hook());
        let (told, prompts) = (RefCell::default(), Cell::new(0));
        World { handle, rings, folder, told, prompts, patience: DEADLINE }
    }

    /// The project, which is also where the agent's files are.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// How to play a scenario. It reports, and is strict unless it says otherwise.
    pub(crate) fn launch(&self, scenario: &Value) -> Launch {
        self.launch_as("report", scenario)
    }

    /// Another agent beside the first, which reports elsewhere.
    pub(crate) fn launch_beside(&self, scenario: &Value) -> Launch {
        self.launch_as("report beside", scenario)
    }

    fn launch_as(&self, report: &str, scenario: &Value) -> Launch {
        let mut scenario = scenario.clone();
        let object = scenario.as_object_mut().unwrap();
        object.entry("strict").or_insert(true.into());
        object.insert("report".into(), self.path(report).into());
        let file = self.path(&format!("scenario of the {report}.json"));
        std::fs::write(&file, scenario.to_string()).unwrap();
        let tutor = env!("CARGO_BIN_EXE_acp-tutor").to_owned();
        self.reach(How::Program(vec![tutor, file]))
    }

    pub(crate) fn reach(&self, how: How) -> Launch {
        Launch {
            agent: "fake".into(),
            how,
            env: vec![],
            cwd: self.folder.path().to_string_lossy().into_owned(),
            directories: vec![],
            mcp_servers: vec![],
            install: None,
            patience: self.patience,
        }
    }

    pub(crate) fn open(&self, launch: Launch, origin: Origin) -> SessionId {
        let session = self.handle.new_session();
        self.wish(Wish::Open { session, launch, origin });
        session
    }

    pub(crate) fn wish(&self, wish: Wish) {
        assert!(self.handle.send(Action::Wish(wish)), "the core is gone");
    }

    pub(crate) fn show(&self, session: SessionId) {
        assert!(self.handle.send(Action::Show(session, SurfaceId(1))), "the core is gone");
    }

    /// Says something; what comes back is asked for by the tag.
    pub(crate) fn prompt(&self, session: SessionId, text: &str) -> u64 {
        let tag = self.prompts.get() + 1;
        self.prompts.set(tag);
        let content = vec![Content::Text(text.to_owned())];
        self.wish(Wish::Prompt { session, content, tag });
        tag
    }

    pub(crate) fn answer(&self, ask: AskId, reaction: Reaction) {
        self.wish(Wish::Answer { ask, reaction, by: By::User });
    }

    /// Fetches as Neovim would, until there is what the test waits for.
    pub(crate) fn until<T>(&self, what: &str, mut found: impl FnMut(&World) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        loop {
            while let Some(items) = self.handle.drain() {
                let tells = items.into_iter().filter_map(|item| match item {
                    Item::Tell(tell) => Some(tell),
                    _ => None,
                });
                self.told.borrow_mut().extend(tells);
            }
            if let Some(found) = found(self) {
                return found;
            }
            assert!(Instant::now() < end, "{what}: waited in vain after {:#?}", self.told.borrow());
            // Nothing rings for a file.
            self.rings.recv_timeout(LOOK_AGAIN).unwrap_or_default();
        }
    }

    /// Waits until this has been told, now or before.
    pub(crate) fn told<T>(&self, what: &str, wanted: impl Fn(&Tell) -> Option<T>) -> T {
        self.until(what, |world| world.told.borrow().iter().find_map(&wanted))
    }

    /// How often it has been told so far.
    pub(crate) fn count(&self, wanted: impl Fn(&Tell) -> bool) -> usize {
        self.told.borrow().iter().filter(|tell| wanted(tell)).count()
    }

    pub(crate) fn ready(&self, session: SessionId) {
        self.told("ready", |it| (*it == Tell::Ready(session)).then_some(()));
    }

    pub(crate) fn finished(&self, wanted: u64) -> Ending {
        self.told("the end of the turn", |it| match it {
            Tell::TurnFinished { tag, result, .. } if *tag == wanted => Some(result.clone()),
            _ => None,
        })
    }

    /// Waits for the question with this number, from 0.
    pub(crate) fn asked(&self, number: usize) -> (AskId, Question) {
        self.until("a question", |world| {
            let told = world.told.borrow();
            let mut asked = told.iter().filter_map(|it| match it {
                Tell::Asked(ask, question) => Some((*ask, question.clone())),
                _ => None,
            });
            asked.nth(number)
        })
    }

    pub(crate) fn transcript(&self, session: SessionId) -> String {
        self.handle.published().transcript(session).unwrap()
    }

    /// Waits until the chat has these words.
    pub(crate) fn shows(&self, session: SessionId, words: &str) {
        self.until(words, |world| world.transcript(session).contains(words).then_some(()));
    }

    pub(crate) fn settings(&self, session: SessionId) -> SettingsInfo {
        SettingsInfo::clone(&self.handle.published().settings(session).unwrap())
    }

    pub(crate) fn summary(&self, session: SessionId) -> Summary {
        let summaries = self.handle.published().summaries();
        summaries.into_iter().find(|it| it.id == session).unwrap()
    }

    pub(crate) fn exists(&self, file: &str) -> bool {
        Path::new(&self.path(file)).exists()
    }

    /// What the agent has noted so far.
    pub(crate) fn report(&self) -> Report {
        let text = std::fs::read_to_string(self.path("report")).unwrap_or_default();
        let lines = text.split_inclusive('\n').filter(|it| it.ends_with('\n'));
        Report { lines: lines.map(|it| serde_json::from_str(it).unwrap()).collect() }
    }

    /// Whether the last thing in the report is its end. The rest can be long.
    fn agent_ended(&self) -> bool {
        let text = std::fs::read_to_string(self.path("report")).unwrap_or_default();
        let last = text.lines().last().and_then(|it| serde_json::from_str::<Value>(it).ok());
        last.is_some_and(|it| it.get("end").is_some())
    }

    /// Closes the session, lets the agent end by itself, and looks whether everybody got what was
    /// due to them: each prompt one end, each question one answer, the agent no violation.
    pub(crate) fn close(&self, session: SessionId) -> Report {
        self.wish(Wish::Close(session));
        self.told("closed", |it| (*it == Tell::Closed(session)).then_some(()));
        self.until("the end of the agent", |world| world.agent_ended().then_some(()));
        self.all_settled();
        let report = self.report();
        assert_eq!(report.violations(), Vec::<String>::new());
        report
    }

    pub(crate) fn all_settled(&self) {
        for prompt in 1..=self.prompts.get() {
            let ends =
                self.count(|it| matches!(it, Tell::TurnFinished { tag, .. } if *tag == prompt));
            assert_eq!(ends, 1, "ends of prompt {prompt}");
        }
        let asks: Vec<_> = self
            .told
            .borrow()
            .iter()
            .filter_map(|it| match it {
                Tell::Asked(ask, Question { body, .. }) => Some((*ask, body.clone())),
                _ => None,
            })
            .collect();
        for (wanted, body) in asks {
            let settled =
                self.count(|it| matches!(it, Tell::Settled { ask, .. } if *ask == wanted));
            // What the editor answers by itself is nothing that anybody waits for.
            let expected = matches!(body, Body::Permission(_) | Body::Elicitation(_));
            assert_eq!(settled, usize::from(expected), "answers to {wanted:?}: {body:?}");
        }
    }
}

/// A scenario that was opened and prompted with `go`.
pub(crate) struct Played {
    pub(crate) world: World,
    pub(crate) session: SessionId,
    pub(crate) tag: u64,
}

/// Opens a session with the scenario and prompts it.
pub(crate) fn go(scenario: &Value) -> Played {
    let world = World::new();
    let session = world.open(world.launch(scenario), Origin::New);
    let tag = world.prompt(session, "go");
    Played { world, session, tag }
}

impl Played {
    pub(crate) fn finished(&self) -> Ending {
        self.world.finished(self.tag)
    }

    pub(crate) fn cancel(&self) {
        self.world.wish(Wish::Cancel(self.session));
    }

    pub(crate) fn transcript(&self) -> String {
        self.world.transcript(self.session)
    }

    pub(crate) fn close(&self) -> Report {
        self.world.close(self.session)
    }

    /// The turn ends well, having said this and nothing else, and so does the next.
    pub(crate) fn says(&self, words: &str) -> Report {
        self.shows(&said(words))
    }

    /// The turn ends well with this transcript, and so does the next.
    pub(crate) fn shows(&self, transcript: &str) -> Report {
        assert_eq!(self.finished(), Ok(StopReason::EndTurn));
        assert_eq!(self.transcript(), transcript);
        self.goes_on();
        self.close()
    }

    /// Whatever happened, the next turn is one like any other.
    pub(crate) fn goes_on(&self) {
        let again = self.world.prompt(self.session, "again");
        assert_eq!(self.world.finished(again), Ok(StopReason::EndTurn));
    }
}

/// A scenario with these steps in the first turn.
pub(crate) fn turn(steps: Value) -> Value {
    json!({ "prompts": [{ "turn": 1, "steps": steps }] })
}

/// The chat after a turn in which the agent said this.
pub(crate) fn said(words: &str) -> String {
    format!("## You\n\ngo\n\n## fake\n\n{words}\n")
}

/// What the agent noted.
pub(crate) struct Report {
    lines: Vec<Value>,
}

impl Report {
    pub(crate) fn violations(&self) -> Vec<String> {
        let found = self.lines.iter().filter_map(|it| it.get("violation"));
        found.map(Value::to_string).collect()
    }

    fn heard(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter_map(|it| it.get("in"))
    }

    /// The parameters of all calls of a method.
    pub(crate) fn calls(&self, method: &str) -> Vec<&Value> {
        let calls = self.heard().filter(|it| it["method"] == method);
        calls.map(|it| &it["params"]).collect()
    }

    /// Our answers to the agent, in order.
    pub(crate) fn answers(&self) -> Vec<&Value> {
        self.heard().filter(|it| it.get("method").is_none()).collect()
    }

    /// Our answer to the request with this id; there must be one.
    pub(crate) fn answer(&self, id: &Value) -> &Value {
        let answers: Vec<_> = self.answers().into_iter().filter(|it| it["id"] == *id).collect();
        assert_eq!(answers.len(), 1, "answers to {id}: {answers:?}");
        answers[0]
    }
}
