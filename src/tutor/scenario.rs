//! The scenario format: what an agent does, as data.
//!
//! It knows how scenario files are written and rejects what it does not understand, with the place
//! of the mistake. It must not know how steps are carried out.

mod base64;
mod check;
pub(crate) mod short;
pub mod step;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use self::short::{Short, short_form};
use self::step::Step;

/// A whole scenario. Every field may be left out: `{}` is an agent that answers politely and says
/// nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// For the reader of the file.
    pub about: String,
    /// Factor on `pace_ms` and `sleep_ms`; 0 plays at once. Left out it is 1.
    pub pace: Option<f64>,
    /// Where to append what the client sent and did wrong, one JSON object a line.
    pub report: Option<PathBuf>,
    /// End with exit code 70 at the first violation.
    pub strict: bool,
    /// Cut all output in pieces of this many bytes, each written by itself.
    pub chop: Option<usize>,
    /// What happens to a prompt while a turn of the same session runs.
    pub busy: Busy,
    /// Initial values of variables.
    pub vars: HashMap<String, Value>,
    /// Laid over the default `agentCapabilities`.
    pub capabilities: Map<String, Value>,
    /// Steps before anything is read.
    pub startup: Vec<Step>,
    /// Steps when the client closed our input. Without them the agent just ends.
    pub on_eof: Vec<Step>,
    /// What to do on a request or notification, by method.
    pub on: BTreeMap<String, Handler>,
    /// What to do on a prompt: the first that fits.
    pub prompts: Vec<Handler>,
}

/// See [`Scenario::busy`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// Answer with an error, and count it as a violation.
    #[default]
    Reject,
    /// Run it after the running turn.
    Queue,
    /// Cancel the running turn and run it at once.
    Cancel,
}

/// What to do on one message: steps, then an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct Handler {
    /// For the reader of the file.
    pub about: String,
    /// Only for prompts that contain this text (letter case does not matter).
    pub when: Option<String>,
    /// Only for prompts that are this text (letter case and outer space do not matter).
    pub is: Option<String>,
    /// Only for the nth prompt of a session, from 1.
    pub turn: Option<u64>,
    /// What happens before the answer.
    pub steps: Vec<Step>,
    /// The steps go on when the turn is cancelled.
    pub ignore_cancel: bool,
    /// What happens between a cancel and the answer.
    pub on_cancel: Vec<Step>,
    /// How the request is answered after the steps.
    #[serde(deserialize_with = "given")]
    pub result: Option<Value>,
    /// Answers with an error instead.
    #[serde(deserialize_with = "given")]
    pub error: Option<Value>,
    /// Laid over the default result.
    #[serde(deserialize_with = "given")]
    pub merge: Option<Value>,
    /// Short for a `merge` of the stop reason.
    pub stop: Option<String>,
}

impl Short for Handler {
    const FORMS: &'static str = "a list of steps or an object";

    fn from_list<'de, A: serde::de::SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let steps = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(list))?;
        Ok(Self { steps, ..Self::default() })
    }
}
short_form!(Handler);

/// `"result": null` is an answer, no `result` is not.
pub(crate) fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Handler {
    /// Whether this handler is for that prompt.
    pub(crate) fn takes(&self, prompt: &str, turn: u64) -> bool {
        let prompt = prompt.trim().to_lowercase();
        self.turn.is_none_or(|it| it == turn)
            && self.is.as_ref().is_none_or(|it| it.trim().to_lowercase() == prompt)
            && self.when.as_ref().is_none_or(|it| prompt.contains(&it.to_lowercase()))
    }
}

/// Why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario: {0}")]
    Read(#[from] std::io::Error),
    /// Not JSON, or not a scenario; the message ends with line and column.
    #[error("not a scenario: {0}")]
    Form(#[from] serde_json::Error),
    /// Well formed, but it cannot mean anything.
    #[error("{place}: {problem}")]
    Meaning {
        /// Such as `prompts[0].steps[2].request`.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// When it is not readable or not a scenario.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        Self::parse(&std::fs::read_to_string(path)?)
    }

    /// Reads a scenario from JSON text.
    ///
    /// # Errors
    /// When it is not a scenario.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_json::from_str(text)?;
        check::check(&scenario)?;
        Ok(scenario)
    }
}
