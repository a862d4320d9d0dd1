//! How a Neovim ends: what it must not have done, what the reader of a failed test wants to see,
//! and that nothing outlives it. Also runs while a test fails, so it must not panic by itself.

use std::fs;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::{DEADLINE, Nvim, POLL};
use crate::support::process;

/// What a Lua error looks like in `:messages`.
const LUA_ERRORS: [&str; 2] = ["E5108", "stack traceback"];

impl Drop for Nvim {
    fn drop(&mut self) {
        if thread::panicking() {
            self.report();
            // One failure is enough to tell of.
            drop(self.finish(Duration::ZERO));
            return;
        }
        let mut complaints = match self.child.try_wait() {
            Ok(Some(status)) if !self.ended => vec![format!("it ended by itself: {status}")],
            Ok(None) if !self.ended => self.complaints(),
            _ => Vec::new(),
        };
        if !complaints.is_empty() {
            self.report();
        }
        if !self.ended {
            self.ask_to_quit();
        }
        complaints.extend(self.finish(DEADLINE));
        assert!(complaints.is_empty(), "{}: {}", self.title, complaints.join("\n"));
    }
}

impl Nvim {
    /// What the test must not overlook.
    pub(super) fn complaints(&mut self) -> Vec<String> {
        self.leave_prompts();
        let (error, messages) = match self.errors() {
            Ok(found) => found,
            Err(reason) => return vec![format!("it does not answer any more: {reason}")],
        };
        let mut complaints = Vec::new();
        if !error.is_empty() || LUA_ERRORS.iter().any(|it| messages.contains(it)) {
            complaints.push(format!("there was an error: {error}\n:messages\n{messages}"));
        }
        let stderr = self.stderr();
        if !stderr.is_empty() {
            complaints.push(format!("its stderr should be silent: {stderr}"));
        }
        if self.errors_allowed { Vec::new() } else { complaints }
    }

    pub(super) fn ask_to_quit(&mut self) {
        self.rpc.send("nvim_command", vec!["qall!".into()]);
    }

    pub(super) fn exit_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(POLL / 2),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Waits for the end of Neovim and of all it started; ends by force what does not end itself.
    fn finish(&mut self, patience: Duration) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.exit_within(patience).is_none() {
            complaints.push(format!("it was told to end, and still ran after {patience:?}"));
            // Fails only if it has just ended.
            drop(self.child.kill());
            drop(self.child.wait());
        }
        for pid in process::outlasting(&process::marked(&self.mark), patience / 2) {
            complaints.push(format!("it left behind {}", process::describe(pid)));
            process::signal(pid, Signal::KILL);
        }
        complaints
    }

    /// For the one who wants to know why the test failed.
    fn report(&mut self) {
        let screen = self.screen().text();
        self.leave_prompts();
        let messages = match self.errors() {
            Ok((_, messages)) => messages,
            Err(reason) => reason,
        };
        let (rule, title, stderr) = ("-".repeat(20), &self.title, self.stderr());
        eprintln!("{rule} {title}\n{screen}{rule} :messages\n{messages}");
        eprintln!("{rule} stderr\n{stderr}{rule}");
    }

    /// A prompt would hold up every further call.
    fn leave_prompts(&mut self) {
        for _ in 0..3 {
            if self.awaited_key().is_none() {
                return;
            }
            drop(self.rpc.request("nvim_input", vec!["<C-c>".into()], Duration::from_secs(1)));
        }
    }

    fn stderr(&self) -> String {
        let bytes = fs::read(self.scratch.stderr(&self.mark)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last error message and what `:messages` shows.
    fn errors(&mut self) -> Result<(String, String), String> {
        let code =
            "return { vim.v.errmsg, vim.api.nvim_exec2('messages', { output = true }).output }";
        let found = self.try_request("nvim_exec_lua", json!([code, []]), DEADLINE)?;
        let text = |at: usize| found[at].as_str().unwrap_or_default().to_owned();
        Ok((text(0), text(1)))
    }
}
