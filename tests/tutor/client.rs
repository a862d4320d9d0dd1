//! A client for tests: writes lines, reads lines, and gives up after a while.

use std::time::Duration;

use acp_nvim::tutor::engine::{Summary, play};
use acp_nvim::tutor::host::Host;
use acp_nvim::tutor::scenario::Scenario;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Far more than anything here takes; reached only when something hangs.
const DEADLINE: Duration = Duration::from_secs(20);

/// One end of the pipe, with the engine at the other.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    engine: JoinHandle<Summary>,
    next_id: u64,
    /// Messages read while waiting for another.
    pub(crate) passed: Vec<Value>,
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("nothing happened for too long")
}

impl Client {
    /// Connects to an agent that plays this scenario.
    pub(crate) fn start(scenario: &Value) -> Self {
        Self::with(Scenario::parse(&scenario.to_string()).unwrap())
    }

    pub(crate) fn with(scenario: Scenario) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let playing = async move { play(scenario, input, output, Host::Embedded).await.unwrap() };
        let (reader, writer) = tokio::io::split(ours);
        Self {
            reader: BufReader::new(reader),
            writer,
            engine: tokio::spawn(playing),
            next_id: 1,
            passed: Vec::new(),
        }
    }

    /// Connects, initializes and opens a session in `/project`.
    pub(crate) async fn in_session(scenario: &Value) -> (Self, String) {
        let mut client = Self::start(scenario);
        client.initialize().await;
        let session = client.new_session().await;
        (client, session)
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await
    }

    pub(crate) async fn new_session(&mut self) -> String {
        let made = self.call("session/new", json!({"cwd": "/project", "mcpServers": []})).await;
        made["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Sends a request and gives its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and waits for the answer.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer_to(id).await
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a prompt and gives its id.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let blocks = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", json!({"sessionId": session, "prompt": blocks})).await
    }

    /// Sends a prompt, waits for the end of the turn and gives its stop reason.
    pub(crate) async fn turn(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text).await;
        self.stop_reason(id).await
    }

    pub(crate) async fn stop_reason(&mut self, id: u64) -> String {
        let answer = self.answer_to(id).await;
        answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session})).await;
    }

    /// Reads until the answer to a request; the rest is kept in `passed`.
    pub(crate) async fn answer_to(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none()).await
    }

    /// Reads until a request of the agent.
    pub(crate) async fn request(&mut self, method: &str) -> Value {
        self.until(|it| it["method"] == method && it.get("id").is_some()).await
    }

    /// Answers a request of the agent.
    pub(crate) async fn reply(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await.expect("the agent closed its output");
            if wanted(&message) {
                return message;
            }
            self.passed.push(message);
        }
    }

    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.next_line().await?;
        Some(serde_json::from_slice(&line).unwrap())
    }

    /// The next line, whatever it is, with its end.
    pub(crate) async fn next_line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let count = soon(self.reader.read_until(b'\n', &mut line)).await.unwrap();
        (count > 0).then_some(line)
    }

    /// All text of this kind of chunk that has passed.
    pub(crate) fn text(&self, kind: &str) -> String {
        let updates = self.passed.iter().map(|it| &it["params"]["update"]);
        let chunks = updates.filter(|it| it["sessionUpdate"] == kind);
        chunks.map(|it| it["content"]["text"].as_str().unwrap()).collect()
    }

    pub(crate) fn said(&self) -> String {
        self.text("agent_message_chunk")
    }

    /// Closes the pipe and gives what the agent has to say about us.
    pub(crate) async fn close(mut self) -> Summary {
        self.writer.shutdown().await.unwrap();
        soon(self.engine).await.unwrap()
    }

    /// Waits until the agent ends the connection.
    pub(crate) async fn ended(self) -> Summary {
        soon(self.engine).await.unwrap()
    }

    /// Closes the pipe and demands that we did nothing wrong.
    pub(crate) async fn close_clean(self) {
        let violations = self.close().await.violations;
        assert!(violations.is_empty(), "{violations:?}");
    }
}
