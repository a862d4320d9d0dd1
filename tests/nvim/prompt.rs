//! What the tests of the prompt have in common, and its history: past prompts by key, by search and
//! by list, in this Neovim and the next.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, wait_transcript};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::scratch::Scratch;
use crate::support::target::Target;

/// An agent that says what it was told.
pub(crate) fn echo() -> Value {
    json!({ "prompts": [{ "steps": [{ "say": "you said {{prompt}}" }] }] })
}

/// A Neovim whose agent plays this scenario, with further options of the plugin.
pub(crate) fn with_setup(
    target: &Target,
    options: Options,
    scenario: &Value,
    more: &Value,
) -> Nvim {
    let mut nvim = Nvim::start(target, options);
    let command = nvim.scratch().scenario(scenario);
    let mut setup =
        json!({ "default_agent": "fake", "agents": { "fake": { "command": command } } });
    for (name, value) in more.as_object().unwrap() {
        setup[name] = value.clone();
    }
    nvim.lua("require('acp').setup(...)", json!([setup]));
    nvim
}

/// Another Neovim in the same home and project.
pub(crate) fn again(target: &Target, scratch: &Rc<Scratch>) -> Nvim {
    let options = Options { scratch: Some(Rc::clone(scratch)), ..Options::default() };
    with_setup(target, options, &echo(), &json!({}))
}

/// What is typed, once it is this.
pub(crate) fn wait_text(nvim: &mut Nvim, text: &str) {
    nvim.wait_until(&format!("{text:?} in the prompt"), DEADLINE, |nvim| {
        nvim.lines(0).join("\n") == text
    });
}

/// Sends a prompt and waits for its answer.
pub(crate) fn say(nvim: &mut Nvim, text: &str) {
    nvim.type_keys(text);
    nvim.input("<C-s>");
    wait_transcript(nvim, &format!("you said {}", text.lines().next().unwrap_or_default()));
    wait_state(nvim, "ready");
}

/// A file of ours in the home of a Neovim.
pub(crate) fn state_path(nvim: &mut Nvim, name: &str) -> PathBuf {
    let path = nvim.lua("return vim.fn.stdpath('state') .. '/acp/' .. ...", json!([name]));
    PathBuf::from(path.as_str().unwrap())
}

/// The menu in order, as word and description; empty when it is closed.
pub(crate) fn menu(nvim: &mut Nvim) -> Vec<(String, String)> {
    let code = "
        if vim.fn.pumvisible() == 0 then
          return {}
        end
        return vim.tbl_map(function(it) return { it.word, it.menu } end, vim.fn.complete_info({ 'items' }).items)
    ";
    serde_json::from_value(nvim.lua(code, json!([]))).unwrap()
}

/// Waits until the menu has these words, in order.
pub(crate) fn wait_menu(nvim: &mut Nvim, words: &[&str]) {
    nvim.wait_until(&format!("the menu {words:?}"), DEADLINE, |nvim| {
        menu(nvim).into_iter().map(|it| it.0).eq(words.iter().copied())
    });
}

fn mode(nvim: &mut Nvim) -> String {
    nvim.lua("return vim.fn.mode()", json!([])).as_str().unwrap().to_owned()
}

/// A chat in which these were said, in insert mode.
fn talked(target: &Target, prompts: &[&str]) -> Nvim {
    let mut nvim = with_setup(target, Options::default(), &echo(), &json!({}));
    open(&mut nvim, "AcpChat");
    for prompt in prompts {
        say(&mut nvim, prompt);
    }
    nvim
}

/// The texts in the file, in order.
fn in_file(nvim: &mut Nvim) -> Vec<String> {
    let text = std::fs::read_to_string(state_path(nvim, "history.jsonl")).unwrap_or_default();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

nvim_tests! {
    fn arrows_go_through_past_prompts(target: &Target) {
        let mut nvim = talked(target, &["first", "second"]);
        nvim.type_keys("a draft");
        for (key, text) in [("<Up>", "second"), ("<Up>", "first"), ("<Up>", "first"), ("<Down>", "second"), ("<Down>", "a draft"), ("<Down>", "a draft")] {
            nvim.input(key);
            wait_text(&mut nvim, text);
        }
        assert_eq!(mode(&mut nvim), "i");
        // What was changed on the way is still there on the way back.
        nvim.input("<Up>!");
        wait_text(&mut nvim, "second!");
        nvim.input("<Up>");
        wait_text(&mut nvim, "first");
        nvim.input("<Down>");
        wait_text(&mut nvim, "second!");
        // The same in normal mode.
        nvim.input("<Esc><Down>");
        wait_text(&mut nvim, "a draft");
        nvim.input("<Up><Up>");
        wait_text(&mut nvim, "first");
        nvim.input("<CR>");
        wait_state(&mut nvim, "ready");
        wait_text(&mut nvim, "");
        // It was sent again, and is there once.
        nvim.input("<Up><Up>");
        wait_text(&mut nvim, "second");
        nvim.input("<Up>");
        wait_text(&mut nvim, "second");
    }

    fn arrows_move_within_a_text_first(target: &Target) {
        let mut nvim = talked(target, &["before"]);
        nvim.type_keys("one\ntwo\nthree");
        nvim.input("<Up>x<Up>y");
        wait_text(&mut nvim, "oney\ntwox\nthree");
        nvim.input("<Up>");
        wait_text(&mut nvim, "before");
        nvim.input("<Down>");
        wait_text(&mut nvim, "oney\ntwox\nthree");
        nvim.input("<Esc>ggdGi");
        // A row of the screen counts too.
        let long = "word ".repeat(30);
        nvim.type_keys(&long);
        nvim.input("<Up><Up><Up>X");
        nvim.wait_until("the mark on the first row", DEADLINE, |nvim| {
            nvim.lines(0)[0].find('X').is_some_and(|at| at < 50)
        });
        assert_eq!(nvim.lines(0)[0].replace('X', ""), long);
        nvim.input("<Up>");
        wait_text(&mut nvim, "before");
    }

    fn several_rows_are_recalled_whole(target: &Target) {
        let mut nvim = talked(target, &["one\ntwo", "after"]);
        nvim.input("<Up><Up>");
        wait_text(&mut nvim, "one\ntwo");
        assert_eq!(nvim.lua("return vim.fn.line('.')", json!([])), 1);
        nvim.input("<Down><Down>");
        wait_text(&mut nvim, "after");
    }

    fn the_menu_keeps_its_keys(target: &Target) {
        let mut nvim = talked(target, &["before"]);
        nvim.scratch().write("one.txt", "");
        nvim.scratch().write("two.txt", "");
        nvim.type_keys("@o");
        wait_menu(&mut nvim, &["@one.txt", "@two.txt"]);
        nvim.input("<Down>");
        nvim.wait_until("a choice", DEADLINE, |nvim| {
            nvim.lua("return vim.fn.complete_info({ 'selected' }).selected", json!([])) == 0
        });
        nvim.input("<C-y>");
        wait_text(&mut nvim, "@one.txt");
    }

    fn the_history_outlives_neovim(target: &Target) {
        let mut nvim = talked(target, &["kept\nfor later", "twice", "other", "twice"]);
        let scratch = Rc::clone(nvim.scratch());
        let path = state_path(&mut nvim, "history.jsonl");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        nvim.quit();
        let mut nvim = again(target, &scratch);
        open(&mut nvim, "AcpChat");
        for text in ["twice", "other", "kept\nfor later"] {
            nvim.input("<Up>");
            wait_text(&mut nvim, text);
        }
    }

    fn two_neovims_share_the_history(target: &Target) {
        let mut nvim = talked(target, &["from one"]);
        let scratch = Rc::clone(nvim.scratch());
        let mut other = again(target, &scratch);
        open(&mut other, "AcpChat");
        say(&mut other, "from two");
        nvim.input("<Up>");
        wait_text(&mut nvim, "from two");
        nvim.input("<Up>");
        wait_text(&mut nvim, "from one");
        nvim.input("<Esc>cc");
        say(&mut nvim, "one again");
        other.input("<Up>");
        wait_text(&mut other, "one again");
        assert_eq!(in_file(&mut nvim), ["from one", "from two", "one again"]);
    }

    fn prompts_of_this_project_come_first(target: &Target) {
        let mut nvim = with_setup(target, Options::default(), &echo(), &json!({}));
        let path = state_path(&mut nvim, "history.jsonl");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let project = nvim.lua("return vim.fn.getcwd()", json!([]));
        let line = |text: &str, cwd: &Value, at: u64| json!({ "text": text, "cwd": cwd, "at": at }).to_string() + "\n";
        // Half a line and rubbish cost nothing but themselves.
        let text = line("here", &project, 1) + "rubbish\n{\"text\":1}\n" + &line("elsewhere", &json!("/elsewhere"), 2) + "{\"text\":\"half";
        std::fs::write(&path, text).unwrap();
        open(&mut nvim, "AcpChat");
        say(&mut nvim, "new");
        for text in ["new", "here", "elsewhere"] {
            nvim.input("<Up>");
            wait_text(&mut nvim, text);
        }
    }

    fn the_history_has_a_limit(target: &Target) {
        let more = json!({ "history": { "size": 3 } });
        let mut nvim = with_setup(target, Options::default(), &echo(), &more);
        open(&mut nvim, "AcpChat");
        for number in 0..8 {
            say(&mut nvim, &format!("number {number}"));
        }
        nvim.input("<Up><Up><Up><Up><Up>");
        wait_text(&mut nvim, "number 5");
        assert_eq!(in_file(&mut nvim).len(), 8);
        // Whoever reads the file next makes it shorter.
        let scratch = Rc::clone(nvim.scratch());
        nvim.input("<Esc>cc");
        nvim.quit();
        let options = Options { scratch: Some(scratch), ..Options::default() };
        let mut nvim = with_setup(target, options, &echo(), &more);
        open(&mut nvim, "AcpChat");
        nvim.input("<Up>");
        wait_text(&mut nvim, "number 7");
        assert_eq!(in_file(&mut nvim), ["number 5", "number 6", "number 7"]);
    }

    fn the_history_can_stay_in_memory(target: &Target) {
        let more = json!({ "history": { "persist": false } });
        let mut nvim = with_setup(target, Options::default(), &echo(), &more);
        open(&mut nvim, "AcpChat");
        say(&mut nvim, "secret");
        nvim.input("<Up>");
        wait_text(&mut nvim, "secret");
        assert!(!state_path(&mut nvim, "history.jsonl").exists());
    }

    fn prompts_go_out_where_nothing_can_be_stored(target: &Target) {
        let mut nvim = with_setup(target, Options::default(), &echo(), &json!({}));
        let folder = state_path(&mut nvim, "").components().as_path().to_owned();
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::fs::write(&folder, "in the way").unwrap();
        open(&mut nvim, "AcpChat");
        say(&mut nvim, "hello");
        nvim.input("<Up>");
        wait_text(&mut nvim, "hello");
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "in the way");
    }

    fn past_prompts_are_searched(target: &Target) {
        let mut nvim = talked(target, &["fix the tests\nof the parser", "write the docs", "run the tests"]);
        nvim.type_keys("TESTS");
        nvim.input("<C-x><C-h>");
        wait_menu(&mut nvim, &["run the tests", "fix the tests of the parser"]);
        // What is typed further narrows it.
        nvim.type_keys(" pars");
        wait_menu(&mut nvim, &["fix the tests of the parser"]);
        nvim.input("<C-n><C-y>");
        wait_text(&mut nvim, "fix the tests\nof the parser");
        nvim.type_keys("!");
        wait_text(&mut nvim, "fix the tests\nof the parser!");
    }

    fn a_past_prompt_is_chosen_from_a_list(target: &Target) {
        let mut nvim = talked(target, &["one\nthing", "another"]);
        nvim.type_keys("a draft");
        nvim.input("<Esc>:Acp history<CR>");
        nvim.wait_screen("2  one thing");
        nvim.input("2");
        wait_text(&mut nvim, "one\nthing");
        // The draft is not lost.
        nvim.input("gg<Up>");
        wait_text(&mut nvim, "a draft");
        nvim.input(":Acp history another<CR>");
        nvim.wait_screen("1  another");
        nvim.input("<CR>");
        wait_text(&mut nvim, "another");
    }
}
