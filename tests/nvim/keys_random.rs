//! A thousand random keys while a hundred questions arrive: none of the keys answers one, none is
//! lost, none goes elsewhere, and Neovim never stands at a prompt of its own.
//!
//! The keys are typed through the screen at several rhythms: into a file, a terminal and the command
//! line, then into the transcript and the prompt, where a question may come up after a pause. What
//! they did is compared with what the same keys do where nobody asks anything.
//!
//! Each run has a seed of its own, which it prints; `ACP_TEST_SEED` plays one again.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::permissions::{chosen, wait_open};
use crate::report::{REPORT, answers, assert_polite, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// Permissions and forms. The first six are permissions, which are answered on purpose at the end.
const QUESTIONS: usize = 90;
/// Sessions with an agent that never answers: each leads to an offer to kill it.
const SILENT: usize = 10;
/// Keys typed in each of the five places.
const KEYS: usize = 200;
/// A question may take the focus in the chat after a second without a key, and listens no earlier
/// than a second later.
const LISTENS: Duration = Duration::from_millis(1900);

/// What keys do in a file: motions, counts, operators, words that are typed, and the letters of the
/// options. A count is always followed by a motion, else it might repeat a paste a million times.
const MOTIONS: &[&str] =
    &["j", "k", "2j", "1k", "3l", "h", "w", "b", "0", "$", "G", "gg", "<CR>", "<Esc>", "l"];
const COMMANDS: &[&str] = &[
    "dd", "yy", "p", "P", "u", "x", "J", "~", "a", "i", "o", "A", "O", "r", "y", "d", "Y", "D",
    "q", ".", "v", "ok<CR>", "y<CR>",
];
const DIGITS: &[&str] = &["1", "2", "3", "5", "9"];
const LETTERS: &[&str] =
    &["a", "A", "y", "Y", "n", "r", "R", "j", "k", "q", "o", "s", " ", "1", "2", "7", "0"];

/// What random keys need: no key waits for a time, and there is something to paste.
const QUIET: &str = "
    vim.o.timeout, vim.o.ttimeout = false, false
    vim.fn.setreg('\"', 'register')
    vim.g.typed = {}";

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn new() -> Dice {
        let given = std::env::var("ACP_TEST_SEED").ok().and_then(|it| it.parse().ok());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = given.unwrap_or_else(now);
        eprintln!("ACP_TEST_SEED={seed}");
        Dice(seed | 1)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.roll(list.len())]
    }

    /// The pause before a key. Most keys come fast; now and then somebody thinks.
    fn pause(&mut self) -> Duration {
        let millis = match self.roll(100) {
            0 => 1000 + self.roll(600),
            1..=3 => 200 + self.roll(300),
            4..=30 => self.roll(40),
            _ => 0,
        };
        Duration::from_millis(millis as u64)
    }

    /// Keys for a file.
    fn file_keys(&mut self) -> Vec<&'static str> {
        let mut keys = Vec::new();
        while keys.len() < KEYS {
            match self.roll(10) {
                0 | 1 => keys.extend([self.one_of(DIGITS), self.one_of(MOTIONS)]),
                2..=4 => keys.push(self.one_of(COMMANDS)),
                5 => keys.push("<Esc>"),
                _ => keys.push(self.one_of(MOTIONS)),
            }
        }
        keys
    }

    /// Words, as one types them.
    fn words(&mut self, count: usize) -> Vec<&'static str> {
        (0..count).map(|_| self.one_of(LETTERS)).collect()
    }
}

/// Lets time pass, as a user who thinks does. Neovim may be in the middle of a command, and answers
/// no call.
fn think(nvim: &mut Nvim, pause: Duration) {
    let until = Instant::now() + pause;
    nvim.wait_until("the pause", DEADLINE, |_| Instant::now() >= until);
}

/// Fails when Neovim stands at hit-enter, at `-- More --` or at a confirmation.
fn assert_no_prompt(nvim: &mut Nvim, after: &str) {
    let mode = nvim.request("nvim_get_mode", json!([]));
    let mode = mode["mode"].as_str().unwrap();
    if mode.starts_with('r') {
        panic!("mode {mode:?} after {after:?}:\n{}", nvim.screen().text());
    }
}

fn type_all(nvim: &mut Nvim, dice: &mut Dice, keys: &[&str]) {
    for key in keys {
        think(nvim, dice.pause());
        nvim.input(key);
        assert_no_prompt(nvim, key);
    }
}

/// An agent that asks ninety times, a few times a second.
fn scenario() -> Value {
    let mut steps = Vec::new();
    for number in 1..=QUESTIONS {
        steps.push(if is_form(number) { form(number) } else { permission(number) });
        steps.push(json!({ "sleep_ms": 120 }));
    }
    steps.push(json!({ "sleep_ms": 600_000 }));
    json!({ "report": REPORT, "prompts": [{ "steps": steps }] })
}

fn is_form(number: usize) -> bool {
    number > 6 && number.is_multiple_of(3)
}

fn permission(number: usize) -> Value {
    let id = format!("t{number}");
    json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": { "toolCallId": id, "title": format!("rm -rf build{number}"), "kind": "execute",
                "rawInput": { "command": format!("rm -rf build{number}") } },
            "options": [
                { "optionId": "yes", "name": "Go ahead", "kind": "allow_once" },
                { "optionId": "always", "name": "Go ahead, always", "kind": "allow_always" },
                { "optionId": "no", "name": "Rather not", "kind": "reject_once" }
            ]
        },
        "id": id, "no_wait": true, "as": id
    } })
}

fn form(number: usize) -> Value {
    let id = format!("f{number}");
    json!({ "request": {
        "method": "elicitation/create",
        "params": {
            "mode": "form", "message": format!("Question {number}?"),
            "requestedSchema": { "type": "object", "properties": {
                "sure": { "type": "boolean", "title": "Sure", "default": true },
                "name": { "type": "string", "title": "Name", "default": "Ada" }
            } }
        },
        "id": id, "no_wait": true, "as": id
    } })
}

/// A Neovim in which all of this is about to come.
fn neovim(target: &Target, picker: Option<&str>) -> Nvim {
    let mut nvim = Nvim::start(target, Options::default());
    let fake = nvim.scratch().scenario(&scenario());
    let never = json!({ "on": { "initialize": [{ "sleep_ms": 600_000 }] } });
    let silent = nvim.scratch().scenario(&never);
    let permissions = picker.map(|_| json!({ "picker": "vim.ui.select" }));
    let setup = json!({
        "default_agent": "fake",
        "start_timeout": 1,
        "agents": { "fake": { "command": fake }, "silent": { "command": silent } },
        "permissions": permissions.unwrap_or_else(|| json!({ "focus": "chat" })),
    });
    nvim.lua("require('acp').setup(...)", json!([setup]));
    nvim.lua(QUIET, json!([]));
    nvim.lua("vim.keymap.set({ 'n', 'i', 't' }, '<F2>', '<Plug>(acp-permission)')", json!([]));
    if let Some(picker) = picker {
        nvim.lua(include_str!("keys_pickers.lua"), json!([picker]));
    }
    nvim
}

/// Lets the agents begin to ask.
fn begin(nvim: &mut Nvim) {
    let open = "
        for _ = 1, ... do
          assert(require('acp').open({ agent = 'silent', new = true, focus = false }))
        end
        assert(require('acp').open({ agent = 'fake', new = true, focus = false }))";
    nvim.lua(open, json!([SILENT]));
    send(nvim, "go");
}

/// Twenty lines to move in.
fn edit(nvim: &mut Nvim, name: &str) {
    nvim.command(&format!("edit {name}"));
    let lines: Vec<_> = (1..=20).map(|it| format!("line {it} has five words")).collect();
    nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, lines]));
    nvim.request("nvim_win_set_cursor", json!([0, [10, 3]]));
}

/// What has become of the file, once Neovim is in normal mode.
fn file_state(nvim: &mut Nvim) -> Value {
    nvim.input("<Esc><Esc>");
    nvim.wait_until("normal mode", DEADLINE, |nvim| {
        nvim.request("nvim_get_mode", json!([])) == json!({ "mode": "n", "blocking": false })
    });
    if nvim.lua("return vim.fn.reg_recording()", json!([])) != "" {
        nvim.input("q");
    }
    nvim.lua(
        "return { vim.api.nvim_buf_get_lines(0, 0, -1, true), vim.fn.getcurpos(), vim.fn.getreg('\"') }",
        json!([]),
    )
}

/// What the same keys do where nobody asks anything.
fn control(target: &Target, keys: &[&str]) -> Value {
    let mut nvim = Nvim::start(target, Options::default());
    nvim.lua(QUIET, json!([]));
    // Such as of `do` where there is no diff.
    nvim.allow_errors();
    edit(&mut nvim, "main.lua");
    for key in keys {
        nvim.input(key);
    }
    file_state(&mut nvim)
}

fn types_into_a_file(nvim: &mut Nvim, dice: &mut Dice, target: &Target) {
    let keys = dice.file_keys();
    let expected = control(target, &keys);
    edit(nvim, "main.lua");
    type_all(nvim, dice, &keys);
    assert_eq!(file_state(nvim), expected, "after {}", keys.join(""));
}

fn types_into_a_terminal(nvim: &mut Nvim, dice: &mut Dice) {
    nvim.input(":terminal cat > ../typed.txt<CR>i");
    nvim.wait_until("terminal mode", DEADLINE, |nvim| {
        nvim.request("nvim_get_mode", json!([]))["mode"] == "t"
    });
    let mut keys = dice.words(KEYS);
    for at in (0..KEYS).step_by(20) {
        keys[at] = "<CR>";
    }
    keys.push("<CR>");
    type_all(nvim, dice, &keys);
    let expected = keys.concat().replace("<CR>", "\n");
    let path = nvim.scratch().project().join("../typed.txt");
    nvim.wait_until("the program has all of it", DEADLINE, |_| {
        std::fs::read_to_string(&path).is_ok_and(|it| it == expected)
    });
    nvim.input("<C-\\><C-n>:bwipeout!<CR>");
    nvim.wait_until("the terminal is gone", DEADLINE, |nvim| {
        nvim.lua("return vim.bo.buftype", json!([])) == ""
    });
}

fn types_commands(nvim: &mut Nvim, dice: &mut Dice) {
    let mut expected = Vec::new();
    for _ in 0..KEYS / 40 {
        let words = dice.words(16);
        let mut keys: Vec<String> = ":let g:typed += ['".chars().map(String::from).collect();
        keys.extend(words.iter().map(|it| (*it).to_owned()));
        keys.extend(["'", "]", "<CR>"].map(str::to_owned));
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        type_all(nvim, dice, &keys);
        expected.push(words.concat());
    }
    nvim.wait_until("the commands", DEADLINE, |nvim| {
        nvim.lua("return vim.g.typed", json!([])) == json!(expected)
    });
}

/// Types where a question may take the focus. One that has had it for long enough is on purpose
/// there: where the machine was too slow to type in time, it is put off first.
fn type_in_chat(nvim: &mut Nvim, dice: &mut Dice, keys: &[&str]) {
    let mut last = Instant::now();
    for key in keys {
        think(nvim, dice.pause());
        if last.elapsed() > LISTENS && nvim.lua("return vim.bo.filetype", json!([])) == "acp_select"
        {
            nvim.input("<Esc>");
        }
        nvim.input(key);
        last = Instant::now();
        assert_no_prompt(nvim, key);
    }
}

fn types_into_the_prompt(nvim: &mut Nvim, dice: &mut Dice) {
    nvim.input(":AcpChat<CR>");
    nvim.wait_until("the prompt has the cursor", DEADLINE, |nvim| in_prompt(nvim, "i"));
    for _ in 0..KEYS / 40 {
        // The prompt is empty: this is when a question may come up.
        think(nvim, Duration::from_millis(900 + dice.roll(700) as u64));
        let keys = dice.words(39);
        type_in_chat(nvim, dice, &keys);
        let expected = keys.concat();
        nvim.wait_until(&format!("{expected:?} in the prompt"), DEADLINE, |nvim| {
            in_prompt(nvim, "i") && nvim.lines(0) == [expected.as_str()]
        });
        // Once for what was typed since Insert mode began again, once for the rest.
        nvim.input("<C-u><C-u>");
        nvim.wait_until("an empty prompt", DEADLINE, |nvim| nvim.lines(0) == [""]);
    }
}

fn in_prompt(nvim: &mut Nvim, mode: &str) -> bool {
    nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])) == format!("acp_prompt{mode}")
}

/// Goes to the transcript or the prompt, in normal mode.
fn focus_chat(nvim: &mut Nvim, filetype: &str) {
    nvim.input("<Esc><Esc>");
    let code = "
        vim.cmd.AcpChat()
        vim.cmd.stopinsert()
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == ... then
            vim.api.nvim_set_current_win(win)
          end
        end";
    nvim.lua(code, json!([filetype]));
    nvim.wait_until("the cursor is in the chat", DEADLINE, |nvim| {
        nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])) == format!("{filetype}n")
    });
}

fn types_into_the_transcript(nvim: &mut Nvim, dice: &mut Dice) {
    focus_chat(nvim, "acp");
    let mut keys = dice.file_keys();
    keys.retain(|key| !["d", "D", "x", "dd"].contains(key));
    type_in_chat(nvim, dice, &keys);
    // Whatever that did, a motion after a pause is a motion, with its count.
    focus_chat(nvim, "acp");
    nvim.input("gg");
    let mut row = 1;
    for key in ["j", "2", "j", "j"] {
        think(nvim, Duration::from_millis(1000 + dice.roll(500) as u64));
        nvim.input(key);
        row += if key == "j" { 1 } else { key.parse::<u64>().unwrap() - 1 };
    }
    let code =
        "return vim.api.nvim_win_get_cursor(vim.fn.win_findbuf(require('acp').buffer())[1])[1]";
    nvim.wait_until(&format!("row {row}"), DEADLINE, |nvim| nvim.lua(code, json!([])) == row);
}

/// Nothing was answered, and no rule was stored.
fn assert_no_answer(nvim: &mut Nvim) {
    wait_open(nvim, (1..=QUESTIONS).filter(|it| !is_form(*it)).count());
    assert!(answers(nvim).is_empty(), "{:?}", answers(nvim));
    let stored = nvim.lua("return vim.fn.stdpath('state') .. '/acp/rules.json'", json!([]));
    assert!(!std::path::Path::new(stored.as_str().unwrap()).exists(), "a rule was stored");
    let opened = nvim.lua("return _G.pickers_opened or 0", json!([]));
    assert_eq!(opened, 0, "a picker came up by itself");
    assert_polite(nvim);
}

/// Answers one question in two keys: one that opens it, and a letter, or <CR> in a picker of others,
/// which has the first option.
fn answer(nvim: &mut Nvim, picker: Option<&str>, count: usize) {
    nvim.input("<F2>");
    nvim.wait_until("the question", DEADLINE, |nvim| {
        let filetype = nvim.lua("return vim.bo.filetype", json!([]));
        match picker {
            Some(name) => filetype == format!("picker_{name}"),
            None => filetype == "acp_select" && nvim.screen().find("a letter chooses").is_some(),
        }
    });
    nvim.input(if picker.is_some() { "<CR>" } else { "a" });
    let answers = wait_answers(nvim, count);
    assert_eq!(chosen(&answers)[count - 1].1, "yes", "{answers:?}");
}

/// The same questions are answered on purpose, from wherever one is.
fn answer_on_purpose(nvim: &mut Nvim, picker: Option<&str>) {
    focus_chat(nvim, "acp");
    answer(nvim, picker, 1);
    focus_chat(nvim, "acp_prompt");
    answer(nvim, picker, 2);
    nvim.input("<Esc>:tabnew other.lua<CR>");
    nvim.wait_until("a file", DEADLINE, |nvim| {
        nvim.lua("return vim.fn.expand('%')", json!([])) == "other.lua"
    });
    kill_the_silent(nvim, picker);
    answer(nvim, picker, 3);
    nvim.input("iword");
    answer(nvim, picker, 4);
    nvim.type_keys("s");
    nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["words"]);
    nvim.input("<Esc>:terminal cat<CR>i");
    answer(nvim, picker, 5);
    nvim.input("<C-\\><C-n>:bwipeout!<CR>");
}

/// Takes up the offer to kill, a few questions further on. All sessions have the same process: the
/// other offers go with it.
fn kill_the_silent(nvim: &mut Nvim, picker: Option<&str>) {
    if picker.is_some() {
        nvim.input(":Acp kill 1<CR>");
    } else {
        nvim.input("<F2>");
        nvim.wait_until("the offer to kill", DEADLINE, |nvim| {
            let frame = nvim.screen();
            if frame.find("a letter chooses").is_some() && frame.find("fake asks").is_some() {
                nvim.input("<C-n>");
            }
            frame.find("silent has not answered").is_some()
        });
        nvim.input("x");
    }
    let code = "
        return #vim.tbl_filter(function(it)
          return it.agent == 'silent' and it.state == 'failed'
        end, require('acp').sessions())";
    nvim.wait_until("their end", DEADLINE, |nvim| nvim.lua(code, json!([])) == SILENT);
}

/// Goes through all places with random keys.
fn random_keys(target: &Target, picker: Option<&str>) {
    let mut dice = Dice::new();
    let mut nvim = neovim(target, picker);
    // Keys in the transcript may try to change it.
    nvim.allow_errors();
    begin(&mut nvim);
    types_into_a_file(&mut nvim, &mut dice, target);
    types_into_a_terminal(&mut nvim, &mut dice);
    types_commands(&mut nvim, &mut dice);
    types_into_the_prompt(&mut nvim, &mut dice);
    types_into_the_transcript(&mut nvim, &mut dice);
    assert_no_answer(&mut nvim);
    answer_on_purpose(&mut nvim, picker);
    let messages = nvim.messages();
    assert!(!messages.contains("acp: error"), "{messages}");
}

nvim_tests! {
    fn random_keys_answer_nothing(target: &Target) {
        random_keys(target, None);
    }

    fn random_keys_answer_nothing_beside_snacks(target: &Target) {
        random_keys(target, Some("snacks"));
    }

    fn random_keys_answer_nothing_beside_telescope(target: &Target) {
        random_keys(target, Some("telescope"));
    }

    fn random_keys_answer_nothing_beside_dressing(target: &Target) {
        random_keys(target, Some("dressing"));
    }

    fn random_keys_answer_nothing_beside_fzf_lua(target: &Target) {
        random_keys(target, Some("fzf-lua"));
    }
}
