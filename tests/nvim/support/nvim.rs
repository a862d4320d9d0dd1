//! A running Neovim with its screen: started clean, driven by keys and calls, checked at its end.
//! Knows how to talk to Neovim; knows nothing of the plugin but how to load it.
//!
//! Keys are typed as by a user: a call made right after may overtake them. Wait for what they
//! bring about (`wait_screen`, `wait_until`), never for time to pass.

use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::gate::Permit;
use super::rpc::{Notification, Rpc};
use super::scratch::{Scratch, root};
use super::screen::{Frame, Screen};
use super::target::Target;
use super::{json, process, snapshot};

mod ending;

/// How long anything may take unless the test says otherwise. Generous, as it is only waited for
/// by a test that fails: on a busy machine a Neovim may not run for seconds.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

const POLL: Duration = Duration::from_millis(10);

/// Settings that make every run look the same.
const FIXED: &str = "set background=dark belloff=all laststatus=2 nomodeline nomore noruler \
                     noshowcmd shortmess+=I statusline=%f termguicolors";

/// How to start.
pub(crate) struct Options {
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Variables beside those that every Neovim gets.
    pub(crate) env: Vec<(String, String)>,
    /// Lua to run before the plugin is loaded.
    pub(crate) before: String,
    /// The home and project to use; a new one if not given.
    pub(crate) scratch: Option<Rc<Scratch>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 100, height: 30, env: Vec::new(), before: String::new(), scratch: None }
    }
}

/// A Neovim. Dropping it ends it, and fails the test when it saw an error, when something wrote to
/// its stderr (in a terminal that is the screen), when it does not end, or when a process it
/// started outlives it.
pub(crate) struct Nvim {
    child: Child,
    rpc: Rpc,
    screen: Screen,
    notifications: Vec<Notification>,
    mark: String,
    title: String,
    errors_allowed: bool,
    /// The test ended it on purpose.
    ended: bool,
    scratch: Rc<Scratch>,
    _permit: Permit,
}

impl Nvim {
    /// Starts Neovim with nothing but the plugin.
    pub(crate) fn start(target: &Target, options: Options) -> Nvim {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let permit = Permit::take();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        // The dot keeps the mark of the first from being found in that of the tenth.
        let mark = format!("acp-test-{}-{number}.", std::process::id());
        let scratch = options.scratch.clone().unwrap_or_else(|| Rc::new(Scratch::new()));
        let mut child = command(target, &scratch)
            .stderr(File::create(scratch.stderr(&mark)).unwrap())
            .env(process::MARK_VARIABLE, &mark)
            .envs(options.env.iter().map(|(name, value)| (name, value)))
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", target.path.display()));
        let rpc = Rpc::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut nvim = Nvim {
            child,
            rpc,
            screen: Screen::new(),
            notifications: Vec::new(),
            mark,
            title: format!("{target} ({})", target.path.display()),
            errors_allowed: false,
            ended: false,
            scratch,
            _permit: permit,
        };
        nvim.load(&options);
        nvim
    }

    fn load(&mut self, options: &Options) {
        let ui = json!({ "rgb": true, "ext_linegrid": true, "ext_hlstate": true });
        self.request("nvim_ui_attach", json!([options.width, options.height, ui]));
        let pid = self.lua("return vim.fn.getpid()", json!([]));
        assert_eq!(pid, self.pid(), "the program must become Neovim (exec), not start it");
        self.command(FIXED);
        self.lua(&options.before, json!([]));
        self.command("runtime plugin/acp.lua");
        let size = (usize::from(options.width), usize::from(options.height));
        self.wait_until("the first frame", DEADLINE, |it| it.frame_size() == size);
    }

    /// Calls an API function; panics with Neovim's words when it fails.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        match self.try_request(method, params, DEADLINE) {
            Ok(result) => result,
            Err(message) => panic!("{method}: {message}"),
        }
    }

    /// Calls an API function.
    pub(crate) fn try_request(
        &mut self,
        method: &str,
        params: Value,
        deadline: Duration,
    ) -> Result<Value, String> {
        let Value::Array(params) = params else { panic!("{method} takes an array: {params}") };
        let call = self.rpc.send(method, params.iter().map(json::to_pack).collect());
        let until = Instant::now() + deadline;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if let Some(answer) = self.rpc.wait(call, left.min(Duration::from_secs(1))) {
                return answer.map(|it| json::from_pack(&it));
            }
            if left.is_zero() {
                return Err(format!("no answer within {deadline:?}"));
            }
            // A prompt (hit-enter, a choice, the rest of a command) holds up every call until
            // somebody types; nobody will while we wait.
            if let Some(mode) = self.awaited_key() {
                return Err(format!("no answer, for Neovim waits for a key (mode {mode:?})"));
            }
        }
    }

    /// Runs Lua; `args`, an array, is `...` in it.
    pub(crate) fn lua(&mut self, code: &str, args: Value) -> Value {
        self.try_lua(code, args).unwrap_or_else(|message| panic!("{message}\nin: {code}"))
    }

    /// Runs Lua that may fail.
    pub(crate) fn try_lua(&mut self, code: &str, args: Value) -> Result<Value, String> {
        self.try_request("nvim_exec_lua", json!([code, args]), DEADLINE)
    }

    /// Runs an Ex command.
    pub(crate) fn command(&mut self, command: &str) {
        self.request("nvim_command", json!([command]));
    }

    /// Types keys in Neovim's notation: `<CR>`, `<C-w>`; a real `<` is `<lt>`.
    pub(crate) fn input(&mut self, keys: &str) {
        let mut rest = keys;
        while !rest.is_empty() {
            let taken = self.request("nvim_input", json!([rest])).as_u64().unwrap();
            rest = &rest[usize::try_from(taken).unwrap()..];
        }
    }

    /// Types text that means itself; a line break is the return key.
    pub(crate) fn type_keys(&mut self, text: &str) {
        self.input(&text.replace('<', "<lt>").replace('\n', "<CR>"));
    }

    /// All lines of a buffer; 0 is the current one.
    pub(crate) fn lines(&mut self, buf: u64) -> Vec<String> {
        let lines = self.request("nvim_buf_get_lines", json!([buf, 0, -1, true]));
        serde_json::from_value(lines).unwrap()
    }

    /// What `:messages` shows.
    pub(crate) fn messages(&mut self) -> String {
        let output = self.request("nvim_exec2", json!(["messages", { "output": true }]));
        output["output"].as_str().unwrap().to_owned()
    }

    /// What is on the screen now, as far as Neovim has told.
    pub(crate) fn screen(&mut self) -> Frame {
        self.pump(Duration::ZERO);
        self.screen.shown().clone()
    }

    /// What reached screen or title so far and should not have; see [`Screen::smuggled`].
    pub(crate) fn smuggled(&mut self) -> Vec<String> {
        self.pump(Duration::ZERO);
        self.screen.smuggled().to_vec()
    }

    /// Waits until the text is on the screen, in one row; returns that frame.
    pub(crate) fn wait_screen(&mut self, text: &str) -> Frame {
        self.wait_for(&format!("{text:?} on the screen"), DEADLINE, |it| {
            let frame = it.screen();
            frame.find(text).is_some().then_some(frame)
        })
    }

    /// Waits until the screen is the one in `snapshots/<name>.txt`.
    pub(crate) fn assert_screen(&mut self, name: &str) {
        if snapshot::updating() {
            let text = self.quiet_screen();
            return snapshot::assert_snapshot(name, &text);
        }
        let until = Instant::now() + DEADLINE;
        while let Some(complaint) = snapshot::compare(name, &self.screen().text()) {
            assert!(Instant::now() < until, "{complaint}");
            self.pump(POLL);
        }
    }

    /// Changes the size of the screen and waits until it is painted so.
    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.request("nvim_ui_try_resize", json!([width, height]));
        let size = (usize::from(width), usize::from(height));
        self.wait_until("the new size", DEADLINE, |it| it.frame_size() == size);
    }

    /// Waits until the condition holds.
    pub(crate) fn wait_until(
        &mut self,
        what: &str,
        deadline: Duration,
        mut condition: impl FnMut(&mut Nvim) -> bool,
    ) {
        self.wait_for(what, deadline, |it| condition(it).then_some(()));
    }

    /// Waits until there is something.
    pub(crate) fn wait_for<T>(
        &mut self,
        what: &str,
        deadline: Duration,
        mut look: impl FnMut(&mut Nvim) -> Option<T>,
    ) -> T {
        let until = Instant::now() + deadline;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < until, "waited {deadline:?} in vain for {what}");
            self.pump(POLL);
        }
    }

    /// The parameters of the next notification of this name (`vim.rpcnotify(1, name, …)`:
    /// the harness is channel 1).
    pub(crate) fn wait_notification(&mut self, method: &str) -> Value {
        self.wait_notification_for(method, DEADLINE)
    }

    /// The same, for what takes longer.
    pub(crate) fn wait_notification_for(&mut self, method: &str, deadline: Duration) -> Value {
        self.wait_for(&format!("the notification {method}"), deadline, |it| {
            it.pump(Duration::ZERO);
            let at = it.notifications.iter().position(|it| it.method == method)?;
            Some(it.notifications.remove(at).params.iter().map(json::from_pack).collect())
        })
    }

    /// Neovim's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What all its descendants carry in `ACP_TEST_MARK`, however they were re-parented.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Its home and project.
    pub(crate) fn scratch(&self) -> &Rc<Scratch> {
        &self.scratch
    }

    /// Lets the test go on after errors; without this any error message fails it at the end.
    pub(crate) fn allow_errors(&mut self) {
        self.errors_allowed = true;
    }

    /// Sends a signal to Neovim.
    pub(crate) fn kill(&mut self, signal: Signal) {
        self.ended |= ![Signal::STOP, Signal::CONT].contains(&signal);
        process::signal(self.pid(), signal);
    }

    /// Waits until Neovim has ended, by a signal or by what was typed.
    pub(crate) fn wait_exit(&mut self, deadline: Duration) -> ExitStatus {
        self.ended = true;
        match self.exit_within(deadline) {
            Some(status) => status,
            None => panic!("Neovim still runs after {deadline:?}"),
        }
    }

    /// Ends Neovim with `:qall!` after the checks that otherwise come when it is dropped.
    pub(crate) fn quit(&mut self) -> ExitStatus {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
        self.ask_to_quit();
        self.wait_exit(DEADLINE)
    }
}

impl Nvim {
    fn pump(&mut self, patience: Duration) {
        self.rpc.pump(patience);
        for it in self.rpc.take_notifications() {
            match it.method.as_str() {
                "redraw" => self.screen.redraw(&it.params),
                _ => self.notifications.push(it),
            }
        }
    }

    fn frame_size(&mut self) -> (usize, usize) {
        self.pump(Duration::ZERO);
        (self.screen.shown().width, self.screen.shown().height)
    }

    /// The screen once nothing was painted for a while: good enough to write a snapshot.
    fn quiet_screen(&mut self) -> String {
        let until = Instant::now() + DEADLINE;
        let (mut frames, mut since) = (self.screen.frames(), Instant::now());
        while since.elapsed() < Duration::from_millis(500) && Instant::now() < until {
            self.pump(POLL);
            if self.screen.frames() != frames {
                (frames, since) = (self.screen.frames(), Instant::now());
            }
        }
        self.screen.shown().text()
    }

    /// The mode, when Neovim can't go on without a key.
    fn awaited_key(&mut self) -> Option<String> {
        let mode = self.rpc.request("nvim_get_mode", Vec::new(), Duration::from_secs(1)).ok()?;
        let mode = json::from_pack(&mode);
        (mode["blocking"] == true).then(|| mode["mode"].as_str().unwrap_or_default().to_owned())
    }
}

fn command(target: &Target, scratch: &Scratch) -> Command {
    let mut command = Command::new(&target.path);
    command
        .args(["--embed", "-u", "NONE", "-i", "NONE", "-n"])
        .args(["--cmd", "lua vim.opt.runtimepath:prepend(vim.env.ACP_TEST_ROOT)"])
        .env_clear()
        .envs(scratch.environment())
        .env("ACP_TEST_ROOT", root())
        .current_dir(scratch.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}
