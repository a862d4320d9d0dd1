//! What every verb does.
//!
//! One function decides, the others do. Steps end early only by being dropped: everything they
//! await must be safe to abandon.

use std::fs;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::End;
use super::player::{Player, StepError};
use crate::tutor::message::Answer;
use crate::tutor::report::Violation;
use crate::tutor::scenario::step::{
    Answered, Await, Grandchild, Repeat, Request, Step, StopReading, WaitCancel, WaitFile,
    WaitUntil, WriteFile,
};
use crate::tutor::template::{expand, expand_text, fits, variables_fit};

type Played<'a> = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send + 'a>>;

/// How often a file is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl Player {
    /// Plays steps one after the other.
    pub(crate) fn run<'a>(&'a self, steps: &'a [Step]) -> Played<'a> {
        Box::pin(async move {
            for step in steps {
                self.step(step).await?;
            }
            Ok(())
        })
    }

    async fn step(&self, step: &Step) -> Result<(), StepError> {
        let peer = &self.connection.peer;
        let host = self.connection.host;
        match step {
            Step::Say(say) => self.say("agent_message_chunk", say).await,
            Step::Think(say) => self.say("agent_thought_chunk", say).await,
            Step::User(say) => self.say("user_message_chunk", say).await,
            Step::Update(update) => self.update(expand(update, self)).await,
            Step::Notify(it) => {
                let params = it.params.as_ref().map_or(json!({}), |params| expand(params, self));
                let message = json!({"jsonrpc": "2.0", "method": it.method, "params": params});
                peer.send_json(&message).await;
            }
            Step::Raw(raw) => {
                let end = raw.end.as_deref().unwrap_or("\n");
                let text = expand_text(&raw.text, self) + end;
                peer.send(text.into_bytes().into()).await;
            }
            Step::Bytes(it) => peer.send(it.bytes.as_slice().into()).await,
            Step::Flood(flood) => self.flood(flood).await,
            Step::BigLine(big_line) => self.big_line(big_line).await,
            Step::SleepMs(ms) => self.sleep(*ms).await,
            Step::Stderr(it) => {
                host.stderr(&expand_text(&it.text, self), it.repeat.unwrap_or(1));
            }
            Step::IgnoreSigterm(on) if *on => host.ignore_sigterm(),
            Step::CloseStdout(on) if *on => {
                peer.close().await;
                host.close_stdout();
            }
            Step::Reply(reply) => self.answer(reply).await?,
            Step::ReplyRaw(line) => {
                let line = expand_text(line, self);
                self.take_request()?;
                self.send_answer(line).await;
            }
            Step::Hang(on) if *on => self.hang().await,
            Step::Set(values) => {
                for (name, value) in values {
                    self.connection.set_variable(name, expand(value, self));
                }
            }
            Step::Expect(pattern) => self.expect(pattern),
            Step::Exit(code) => self.exit(*code).await,
            Step::KillSelf(signal) => self.kill_self(signal).await,
            Step::StopReading(it) => self.stop_reading(it),
            other => self.branching_step(other).await?,
        }
        Ok(())
    }

    /// The verbs that contain steps or touch files and processes.
    async fn branching_step(&self, step: &Step) -> Result<(), StepError> {
        match step {
            Step::Request(request) => self.request(request).await,
            Step::Await(it) => self.await_answer(it).await,
            Step::Requests(it) => {
                self.requests(it).await;
                Ok(())
            }
            Step::WaitCancel(it) => self.wait_cancel(it).await,
            Step::WaitUntil(it) => self.wait_until(it).await,
            Step::WaitFile(it) => self.wait_file(it).await,
            Step::If(it) => {
                let holds = variables_fit(&expand(&it.when, self), self);
                self.run(if holds { &it.then } else { &it.otherwise }).await
            }
            Step::Repeat(repeat) => self.repeat(repeat).await,
            Step::WriteFile(it) => self.write_file(it),
            Step::DeleteFile(path) => {
                let path = self.path(path);
                fs::remove_file(&path)
                    .map_err(|error| StepError::File(path.display().to_string(), error))
            }
            Step::Grandchild(it) => self.grandchild(it),
            _ => Ok(()),
        }
    }

    async fn request(&self, request: &Request) -> Result<(), StepError> {
        let params = self.request_params(&request.method, request.params.as_ref());
        let peer = &self.connection.peer;
        let answer = peer.request(request.id.as_deref(), &request.method, params).await;
        if request.no_wait {
            // A request nobody awaits may be answered at any time, or never.
            let name = request.name.clone().unwrap_or_default();
            self.scope().awaited.insert(name, answer);
            return Ok(());
        }
        let branches = Branches {
            timeout_ms: request.timeout_ms,
            save: request.save.as_deref(),
            answered: &request.answered,
            otherwise: &request.otherwise,
        };
        self.branch(answer, branches).await
    }

    /// The parameters as they are sent.
    pub(super) fn request_params(&self, method: &str, params: Option<&Value>) -> Value {
        let mut params = params.map_or(json!({}), |it| expand(it, self));
        if let Value::Object(entries) = &mut params
            && !method.starts_with('_')
            && !entries.contains_key("requestId")
        {
            entries.entry("sessionId").or_insert_with(|| self.session_id());
        }
        params
    }

    async fn await_answer(&self, it: &Await) -> Result<(), StepError> {
        let answer = self.scope().awaited.remove(&it.name);
        let answer = answer.ok_or_else(|| StepError::NothingToAwait(it.name.clone()))?;
        let branches = Branches {
            timeout_ms: it.timeout_ms,
            save: it.save.as_deref(),
            answered: &it.answered,
            otherwise: &it.otherwise,
        };
        self.branch(answer, branches).await
    }

    async fn branch(
        &self,
        answer: oneshot::Receiver<Answer>,
        branches: Branches<'_>,
    ) -> Result<(), StepError> {
        let Some(Ok(answer)) = within(branches.timeout_ms, answer).await else {
            return self.run(branches.otherwise).await;
        };
        let (Answer::Result(value) | Answer::Error(value)) = answer;
        if let Some(name) = branches.save {
            self.connection.set_variable(name, value.clone());
        }
        let suits =
            |it: &&Answered| it.when.as_ref().is_none_or(|when| fits(&expand(when, self), &value));
        let chosen = branches.answered.iter().find(suits);
        self.run(chosen.map_or(branches.otherwise, |it| &it.steps)).await
    }

    async fn wait_cancel(&self, wait: &WaitCancel) -> Result<(), StepError> {
        let was_shielded = self.stop.shield(true);
        if within(wait.timeout_ms, self.stop.asked()).await.is_some() {
            self.scope().caught_cancel = true;
            return self.run(&wait.then).await;
        }
        self.stop.shield(was_shielded);
        self.run(&wait.otherwise).await
    }

    async fn wait_until(&self, wait: &WaitUntil) -> Result<(), StepError> {
        let condition = async {
            loop {
                let mut changed = std::pin::pin!(self.connection.variables_changed.notified());
                // Registered before the check, or a change in between would be missed.
                changed.as_mut().enable();
                if variables_fit(&expand(&wait.when, self), self) {
                    return;
                }
                changed.await;
            }
        };
        match within(wait.timeout_ms, condition).await {
            Some(()) => Ok(()),
            None => self.run(&wait.otherwise).await,
        }
    }

    async fn wait_file(&self, wait: &WaitFile) -> Result<(), StepError> {
        let path = self.path(&wait.path);
        let exists = async {
            while !path.exists() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        match within(wait.timeout_ms, exists).await {
            Some(()) => Ok(()),
            None => self.run(&wait.otherwise).await,
        }
    }

    async fn repeat(&self, repeat: &Repeat) -> Result<(), StepError> {
        let counter = repeat.counter.as_deref().unwrap_or("i");
        for count in 1..=repeat.times {
            self.scope().locals.insert(counter.to_owned(), json!(count));
            self.run(&repeat.steps).await?;
        }
        Ok(())
    }

    async fn hang(&self) {
        self.stop.shield(true);
        std::future::pending().await
    }

    async fn exit(&self, code: i32) {
        self.connection.peer.flush().await;
        self.connection.report.end(&format!("exit({code})"));
        self.connection.host.exit(code);
        self.connection.finish(End::Exit(code));
        std::future::pending().await
    }

    async fn kill_self(&self, signal: &str) {
        self.connection.peer.flush().await;
        self.connection.host.kill_self(signal);
        self.connection.finish(End::Exit(1));
        std::future::pending().await
    }

    fn stop_reading(&self, stop: &StopReading) {
        self.connection.hold_reading(1);
        if let Some(ms) = stop.ms {
            let connection = std::sync::Arc::clone(&self.connection);
            self.connection.spawn(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                connection.hold_reading(-1);
            });
        }
    }

    fn expect(&self, pattern: &Value) {
        let pattern = expand(pattern, self);
        if !variables_fit(&pattern, self) {
            let names = pattern.as_object().into_iter().flatten().map(|(path, _)| path.as_str());
            let found: Vec<String> = names
                .map(|path| format!("{path} = {}", expand(&json!(format!("{{{{{path}}}}}")), self)))
                .collect();
            let text = format!("expected {pattern}, found {}", found.join(", "));
            self.connection.violation(Violation::new("expectation", text));
        }
    }

    fn write_file(&self, it: &WriteFile) -> Result<(), StepError> {
        let path = self.path(&it.path);
        let text = expand_text(&it.text, self);
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            if it.atomic {
                let beside = path.with_extension("new");
                fs::write(&beside, &text)?;
                return fs::rename(&beside, &path);
            }
            let mut options = fs::File::options();
            options.create(true).write(true).append(it.append).truncate(!it.append);
            std::io::Write::write_all(&mut options.open(&path)?, text.as_bytes())
        };
        write().map_err(|error| StepError::File(path.display().to_string(), error))
    }

    fn grandchild(&self, options: &Grandchild) -> Result<(), StepError> {
        let pid = self.connection.host.grandchild(options).map_err(StepError::Grandchild)?;
        if let Some(name) = &options.save {
            self.connection.set_variable(name, json!(pid));
        }
        Ok(())
    }

    /// A path of the scenario, relative to the directory of the session.
    fn path(&self, path: &str) -> PathBuf {
        PathBuf::from(expand_text("{{cwd}}", self)).join(expand_text(path, self))
    }
}

/// What an answer leads to.
struct Branches<'a> {
    timeout_ms: Option<u64>,
    save: Option<&'a str>,
    answered: &'a [Answered],
    otherwise: &'a [Step],
}

/// Waits, but not longer than told; `None` when the time was up.
async fn within<T>(timeout_ms: Option<u64>, future: impl Future<Output = T>) -> Option<T> {
    match timeout_ms {
        Some(ms) => timeout(Duration::from_millis(ms), future).await.ok(),
        None => Some(future.await),
    }
}
