//! The verbs: every single thing an agent can be told to do.
//!
//! One variant a verb, one struct for its options. The reference with an example for each is
//! `tests/scenarios/README.md`.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::base64::base64;
use super::given;
use super::short::{Short, short_form};

/// One step. In a file it is an object with the verb as its only key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Streams a message of the agent.
    Say(Say),
    /// Streams a thought.
    Think(Say),
    /// Streams a message of the user, as in a replay.
    User(Say),
    /// Sends a `session/update` with this payload.
    Update(Value),
    /// Sends any notification.
    Notify(Notify),
    /// Sends a line as it is.
    Raw(Raw),
    /// Sends bytes as they are, with no line end.
    Bytes(Bytes),
    /// Sends many equal chunks as fast as the pipe takes them.
    Flood(Flood),
    /// Sends one huge line.
    BigLine(BigLine),
    /// Asks the client.
    Request(Box<Request>),
    /// Waits for the answer to a request sent with `no_wait`.
    Await(Await),
    /// Asks the client the same many times and measures how long the answers take.
    Requests(Requests),
    /// Does nothing for a while.
    SleepMs(u64),
    /// Waits for the turn to be cancelled.
    WaitCancel(WaitCancel),
    /// Waits until variables, set by other handlers, have certain values.
    WaitUntil(WaitUntil),
    /// Waits until a file exists.
    WaitFile(WaitFile),
    /// Writes to standard error.
    Stderr(Stderr),
    /// Ends the program.
    Exit(i32),
    /// Ends the program by a signal.
    KillSelf(String),
    /// Survives SIGTERM from now on.
    IgnoreSigterm(bool),
    /// Leaves a process behind.
    Grandchild(Grandchild),
    /// Writes a file without asking the client.
    WriteFile(WriteFile),
    /// Deletes a file without asking the client.
    DeleteFile(String),
    /// Answers the current request now; later steps run after the answer.
    Reply(Reply),
    /// Answers the current request with this line; `{{id}}` is its id.
    ReplyRaw(String),
    /// Never answers, not even when cancelled.
    Hang(bool),
    /// Closes standard output but goes on.
    CloseStdout(bool),
    /// Stops reading input.
    StopReading(StopReading),
    /// Steps under a condition.
    If(If),
    /// Steps several times.
    Repeat(Repeat),
    /// Sets variables.
    Set(Map<String, Value>),
    /// Records a violation unless the variables fit this pattern.
    Expect(Value),
    /// Nothing; for the reader of the file.
    Note(String),
}

/// Options of `say`, `think` and `user`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Say {
    /// What is said.
    pub text: String,
    /// Characters in a chunk; the whole text when left out, or 4 when there is a pace.
    #[serde(default)]
    pub chunk: Option<usize>,
    /// Milliseconds after each chunk.
    #[serde(default)]
    pub pace_ms: u64,
    /// How often the text is said.
    #[serde(default)]
    pub repeat: Option<u64>,
    /// The message the chunks belong to.
    #[serde(default)]
    pub message_id: Option<String>,
}

impl Short for Say {
    const FORMS: &'static str = "a text or an object with `text`";

    fn from_text(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), ..Self::default() })
    }
}
short_form!(Say);

/// Options of `notify`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    /// Its method.
    pub method: String,
    /// Its parameters.
    #[serde(default, deserialize_with = "given")]
    pub params: Option<Value>,
}

/// Options of `raw`.
#[derive(Debug, Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Raw {
    /// The line.
    pub text: String,
    /// What follows it, `\n` when left out.
    #[serde(default)]
    pub end: Option<String>,
}

impl Short for Raw {
    const FORMS: &'static str = "a line or an object with `text`";

    fn from_text(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), end: None })
    }
}
short_form!(Raw);

/// Options of `bytes`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Bytes {
    /// The bytes in base 64.
    #[serde(rename = "base64", deserialize_with = "base64")]
    pub bytes: Vec<u8>,
}

impl Short for Bytes {
    const FORMS: &'static str = "a list of numbers or an object with `base64`";

    fn from_list<'de, A: serde::de::SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let bytes = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(list))?;
        Ok(Self { bytes })
    }
}
short_form!(Bytes);

/// Options of `flood`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// How many.
    pub chunks: u64,
    /// Length of the text of each; 16 when left out.
    #[serde(default)]
    pub bytes: Option<usize>,
    /// The kind of update, `agent_message_chunk` when left out.
    #[serde(default)]
    pub kind: Option<String>,
    /// The message the chunks belong to.
    #[serde(default)]
    pub message_id: Option<String>,
}

/// Options of `big_line`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct BigLine {
    /// Length of the text in millions of bytes.
    pub mb: u64,
    /// Not JSON at all.
    #[serde(default)]
    pub garbage: bool,
}

impl Short for BigLine {
    const FORMS: &'static str = "a number of megabytes or an object with `mb`";

    fn from_number(mb: u64) -> Option<Self> {
        Some(Self { mb, garbage: false })
    }
}
short_form!(BigLine);

/// Options of `request`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its parameters; `sessionId` is added when there is none, but not to extensions.
    #[serde(default, deserialize_with = "given")]
    pub params: Option<Value>,
    /// Its id, sent exactly as written; counted from 0 when left out.
    #[serde(default)]
    pub id: Option<Box<RawValue>>,
    /// The steps go on without the answer. `await` gets it later.
    #[serde(default)]
    pub no_wait: bool,
    /// The name for `await`.
    #[serde(default, rename = "as")]
    pub name: Option<String>,
    /// How long to wait for the answer; for ever when left out.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// The variable that takes the result, or the error.
    #[serde(default)]
    pub save: Option<String>,
    /// Steps by answer: the first that fits.
    #[serde(default)]
    pub answered: Vec<Answered>,
    /// Steps when none fits, or no answer came in time.
    #[serde(default)]
    pub otherwise: Vec<Step>,
}

/// Steps for one kind of answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// What the result has, or the error; anything when left out.
    #[serde(default, deserialize_with = "given")]
    pub when: Option<Value>,
    /// What to do then.
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// Options of `await`; the fields mean the same as in [`Request`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Await {
    /// The name given to the request with `as`.
    #[serde(rename = "as")]
    pub name: String,
    /// See [`Request`].
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// See [`Request`].
    #[serde(default)]
    pub save: Option<String>,
    /// See [`Request`].
    #[serde(default)]
    pub answered: Vec<Answered>,
    /// See [`Request`].
    #[serde(default)]
    pub otherwise: Vec<Step>,
}

impl Short for Await {
    const FORMS: &'static str = "the name of a request or an object with `as`";

    fn from_text(name: &str) -> Option<Self> {
        Some(Self { name: name.to_owned(), ..Self::default() })
    }
}
short_form!(Await);

/// Options of `requests`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Their method.
    pub method: String,
    /// Their parameters; `sessionId` is added as in [`Request`].
    #[serde(default, deserialize_with = "given")]
    pub params: Option<Value>,
    /// How many.
    pub times: u64,
    /// How many may be without an answer at once; 1 when left out.
    #[serde(default)]
    pub in_flight: Option<usize>,
    /// What makes each of them different.
    #[serde(default)]
    pub edit: Option<Edit>,
    /// The variable that takes the times and the result.
    pub save: String,
}

/// How a text changes from request to request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The parameter that has the text.
    pub param: String,
    /// How many lines further down the next change is; it begins anew after the last line.
    pub every: usize,
    /// What is added to the end of the line.
    pub add: String,
}

/// Options of `wait_cancel`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct WaitCancel {
    /// For ever when left out.
    pub timeout_ms: Option<u64>,
    /// Steps after the cancel.
    pub then: Vec<Step>,
    /// Steps when none came in time.
    pub otherwise: Vec<Step>,
}

impl Short for WaitCancel {
    const FORMS: &'static str = "`true`, a timeout in milliseconds or an object";

    fn from_number(timeout_ms: u64) -> Option<Self> {
        Some(Self { timeout_ms: Some(timeout_ms), ..Self::default() })
    }

    fn from_true() -> Option<Self> {
        Some(Self::default())
    }
}
short_form!(WaitCancel);

/// Options of `wait_until`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitUntil {
    /// The pattern for the variables.
    pub when: Value,
    /// For ever when left out.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Steps when it did not happen in time.
    #[serde(default)]
    pub otherwise: Vec<Step>,
}

/// Options of `wait_file`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct WaitFile {
    /// The file, relative to the session's directory.
    pub path: String,
    /// For ever when left out.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Steps when it did not appear in time.
    #[serde(default)]
    pub otherwise: Vec<Step>,
}

impl Short for WaitFile {
    const FORMS: &'static str = "a path or an object with `path`";

    fn from_text(path: &str) -> Option<Self> {
        Some(Self { path: path.to_owned(), ..Self::default() })
    }
}
short_form!(WaitFile);

/// Options of `stderr`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Stderr {
    /// The line.
    pub text: String,
    /// How often.
    #[serde(default)]
    pub repeat: Option<u64>,
}

impl Short for Stderr {
    const FORMS: &'static str = "a line or an object with `text`";

    fn from_text(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), repeat: None })
    }
}
short_form!(Stderr);

/// Options of `grandchild`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grandchild {
    /// It survives SIGTERM.
    pub ignore_sigterm: bool,
    /// It leads a session of its own.
    pub setsid: bool,
    /// Its parent ends at once, so that it belongs to nobody.
    pub daemon: bool,
    /// It keeps the agent's standard output and error open.
    pub hold_output: bool,
    /// How long it lives; 60 when left out.
    pub seconds: Option<u64>,
    /// The variable that takes its process id.
    pub save: Option<String>,
}

/// Options of `write_file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file, relative to the session's directory.
    pub path: String,
    /// Its content.
    pub text: String,
    /// Adds to the file instead of replacing it.
    #[serde(default)]
    pub append: bool,
    /// Puts a new file in its place, so that nobody ever sees half of it.
    #[serde(default)]
    pub atomic: bool,
}

/// Options of `reply`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// Answers with this id instead of the request's own.
    pub id: Option<Box<RawValue>>,
    /// The whole result.
    #[serde(deserialize_with = "given")]
    pub result: Option<Value>,
    /// An error instead.
    #[serde(deserialize_with = "given")]
    pub error: Option<Value>,
    /// Laid over the default result.
    #[serde(deserialize_with = "given")]
    pub merge: Option<Value>,
    /// Short for a `merge` of the stop reason.
    pub stop: Option<String>,
}

/// Options of `stop_reading`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct StopReading {
    /// For ever when left out.
    #[serde(default)]
    pub ms: Option<u64>,
}

impl Short for StopReading {
    const FORMS: &'static str = "`true` or a number of milliseconds";

    fn from_number(ms: u64) -> Option<Self> {
        Some(Self { ms: Some(ms) })
    }

    fn from_true() -> Option<Self> {
        Some(Self { ms: None })
    }
}
short_form!(StopReading);

/// Options of `if`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct If {
    /// The pattern for the variables.
    pub when: Value,
    /// Steps when they fit.
    #[serde(default)]
    pub then: Vec<Step>,
    /// Steps when they do not.
    #[serde(default, rename = "else")]
    pub otherwise: Vec<Step>,
}

/// Options of `repeat`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How often.
    pub times: u64,
    /// What.
    pub steps: Vec<Step>,
    /// The variable that counts from 1; `i` when left out.
    #[serde(default, rename = "as")]
    pub counter: Option<String>,
}
