//! Completion in the prompt: commands of the agent, files, buffers and what is at hand.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, with_options};
use crate::prompt::{echo, menu, wait_menu, wait_text, with_setup};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// An agent with commands.
fn commands() -> Value {
    let mut scenario = echo();
    scenario["on"] = json!({ "session/new": [
        { "reply": {} },
        { "update": { "sessionUpdate": "available_commands_update", "availableCommands": [
            { "name": "review", "description": "Look at a pull request", "input": { "hint": "number" } },
            { "name": "compact", "description": "Forget the\n\u{1b}[31mdetails" }
        ] } }
    ] });
    scenario
}

/// The chat beside a file of the project, in insert mode.
fn beside(target: &Target, before: &str) -> Nvim {
    let options = Options { before: before.to_owned(), ..Options::default() };
    let mut nvim = with_options(target, options, &commands());
    nvim.scratch().write("src/main.rs", "fn main() {}\n");
    nvim.scratch().write("src/parser.rs", "");
    nvim.scratch().write("notes/to do.md", "");
    nvim.command("edit src/main.rs");
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    nvim.wait_until("the commands", DEADLINE, |nvim| {
        nvim.lua(
            "return #(vim.tbl_get(require('acp.settings').get(1) or {}, 'commands') or {})",
            json!([]),
        ) == 2
    });
    nvim
}

/// Whether this is what 'omnifunc' has found. The older Neovim puts a single find in at once.
fn asked(nvim: &mut Nvim, word: &str) -> bool {
    nvim.lines(0) == [word] || menu(nvim).iter().any(|it| it.0 == word)
}

nvim_tests! {
    fn commands_are_offered_at_the_start(target: &Target) {
        let mut nvim = beside(target, "");
        nvim.type_keys("/");
        wait_menu(&mut nvim, &["/review", "/compact"]);
        let frame = nvim.wait_screen("/compact Forget the [31mdetails");
        assert!(frame.find("/review  <number> Look at").is_some(), "{}", frame.text());
        nvim.type_keys("cp");
        wait_menu(&mut nvim, &["/compact"]);
        // Nothing is put in that was not chosen.
        wait_text(&mut nvim, "/cp");
        nvim.input("<C-n><C-y>");
        wait_text(&mut nvim, "/compact");
        nvim.input("<C-u>/re");
        wait_menu(&mut nvim, &["/review"]);
        nvim.input("<C-n>");
        wait_text(&mut nvim, "/review");
        nvim.wait_screen("/review number");
        nvim.type_keys(" 12");
        wait_text(&mut nvim, "/review 12");
        assert!(nvim.screen().find("12 number").is_none());
        // Anywhere else it is a slash.
        nvim.type_keys("\n/re");
        wait_text(&mut nvim, "/review 12\n/re");
        assert!(menu(&mut nvim).is_empty());
    }

    fn files_and_buffers_are_offered(target: &Target) {
        let mut nvim = beside(target, "");
        nvim.type_keys("see @");
        wait_menu(&mut nvim, &["@buffer", "@diff", "@src/main.rs", "@\"notes/to do.md\"", "@src/parser.rs"]);
        nvim.type_keys("pars");
        wait_menu(&mut nvim, &["@src/parser.rs"]);
        nvim.input("<BS><BS><BS><BS>");
        nvim.type_keys("td");
        wait_menu(&mut nvim, &["@\"notes/to do.md\""]);
        nvim.input("<C-n><C-y> now");
        wait_text(&mut nvim, "see @\"notes/to do.md\" now");
        // Within quotes it goes on.
        nvim.input("<C-u>@\"to d");
        wait_menu(&mut nvim, &["@\"notes/to do.md\""]);
        nvim.input("<C-e><C-u>me@main");
        wait_text(&mut nvim, "me@main");
        assert!(menu(&mut nvim).is_empty());
    }

    fn what_is_at_hand_is_offered(target: &Target) {
        let mut nvim = beside(target, "");
        nvim.input("<Esc><C-w>hVy");
        let code = "
            local namespace = vim.api.nvim_create_namespace('test')
            vim.diagnostic.set(namespace, 0, { { lnum = 0, col = 0, message = 'wrong' } })
        ";
        nvim.lua(code, json!([]));
        nvim.input(":AcpChat<CR>@");
        nvim.wait_until("the words", DEADLINE, |nvim| {
            let menu = menu(nvim);
            let has = |word: &str, about: &str| menu.contains(&(word.to_owned(), about.to_owned()));
            has("@selection", "selected: src/main.rs:1")
                && has("@diagnostics", "what is wrong in src/main.rs: 1")
                && has("@buffer", "the text of src/main.rs")
        });
    }

    fn the_users_options_stay(target: &Target) {
        let mut nvim = beside(target, "vim.o.completeopt = 'menu,preview'");
        nvim.type_keys("@ma");
        wait_menu(&mut nvim, &["@src/main.rs"]);
        assert_eq!(nvim.lua("return vim.go.completeopt", json!([])), "menu,preview");
        nvim.input("<C-n>");
        wait_text(&mut nvim, "@src/main.rs");
        // No window has opened for a preview.
        assert_eq!(nvim.lua("return #vim.api.nvim_list_wins()", json!([])), 3);
    }

    fn enter_breaks_the_line(target: &Target) {
        let mut nvim = beside(target, "");
        nvim.type_keys("@ma");
        wait_menu(&mut nvim, &["@src/main.rs"]);
        nvim.input("<CR>x");
        wait_text(&mut nvim, "@ma\nx");
    }

    fn sending_closes_the_menu(target: &Target) {
        let mut nvim = beside(target, "");
        nvim.type_keys("@ma");
        wait_menu(&mut nvim, &["@src/main.rs"]);
        nvim.input("<C-s>");
        wait_text(&mut nvim, "");
        nvim.wait_until("no menu", DEADLINE, |nvim| menu(nvim).is_empty());
        nvim.type_keys("more");
        wait_text(&mut nvim, "more");
    }

    fn it_can_wait_to_be_asked(target: &Target) {
        let more = json!({ "prompt": { "complete": "manual" } });
        let mut nvim = with_setup(target, Options::default(), &commands(), &more);
        nvim.scratch().write("main.rs", "");
        open(&mut nvim, "AcpChat");
        wait_state(&mut nvim, "ready");
        nvim.type_keys("@ma");
        wait_text(&mut nvim, "@ma");
        assert!(menu(&mut nvim).is_empty());
        // The files are listed beside the main loop: the first time there may be none yet.
        nvim.wait_until("the menu", DEADLINE, |nvim| {
            nvim.input("<C-e><C-x><C-o>");
            asked(nvim, "@main.rs")
        });
    }

    fn other_completion_is_left_alone(target: &Target) {
        let mut nvim = beside(target, "package.loaded.cmp = {}");
        nvim.type_keys("/re");
        wait_text(&mut nvim, "/re");
        assert!(menu(&mut nvim).is_empty());
        nvim.input("<C-x><C-o>");
        nvim.wait_until("what was asked for", DEADLINE, |nvim| asked(nvim, "/review"));
    }

    fn a_big_project_does_not_hold_up_the_keys(target: &Target) {
        let mut nvim = with_options(target, Options::default(), &echo());
        for number in 0..20_000 {
            if number % 200 == 0 {
                nvim.scratch().write(&format!("part{}/file{number}.txt", number / 200), "");
            } else {
                let path = nvim.scratch().project().join(format!("part{}/file{number}.txt", number / 200));
                std::fs::write(path, "").unwrap();
            }
        }
        open(&mut nvim, "AcpChat");
        nvim.type_keys("@");
        nvim.type_keys("p9f18");
        nvim.wait_until("the files", DEADLINE, |nvim| menu(nvim).iter().any(|it| it.0 == "@part9/file1800.txt"));
        wait_text(&mut nvim, "@p9f18");
    }
}
