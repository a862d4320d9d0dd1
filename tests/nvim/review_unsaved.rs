//! Changes of agents are rejected in buffers with something that is not saved: the agent's text
//! leaves the file too, and what is not saved does not get there.

use std::fs;

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::{wait_state, with_options};
use crate::report::{REPORT, calls, finish, send};
use crate::review::{
    Way, change, new, old, only, start, text, three, to_hunk, turn, wait_disk, wait_lua,
    wait_pending,
};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// A Neovim whose agent has written three changes to the disk, with a line that the user has typed
/// and not saved.
fn written(target: &Target, way: Way) -> Nvim {
    let mut nvim = start(target, Options::default(), &[change(way, "a.txt", Some(&old()), &new())]);
    written_in(&mut nvim);
    nvim
}

fn written_in(nvim: &mut Nvim) {
    nvim.scratch().write("a.txt", &old());
    nvim.command("edit a.txt");
    nvim.input("9GStyped<Esc>");
    nvim.wait_screen("typed");
    turn(nvim);
    wait_pending(nvim, &only("a.txt", "changed", &three()));
}

/// The same, with a report of what the agent hears.
fn start_reporting(target: &Target, turns: &[Vec<Value>]) -> Nvim {
    let prompts: Vec<Value> = turns.iter().map(|steps| json!({ "steps": steps })).collect();
    let scenario = json!({ "report": REPORT, "prompts": prompts });
    let mut nvim = with_options(target, Options::default(), &scenario);
    written_in(&mut nvim);
    nvim
}

/// How a text is written in a file.
type Encode = fn(&str) -> Vec<u8>;

/// With what the user has typed.
fn typed(text: &str) -> String {
    text.replace("line 9\n", "typed\n")
}

fn modified(nvim: &mut Nvim) -> Value {
    lua(nvim, "return vim.bo.modified")
}

/// Leaves files to Neovim again.
fn wait_idle(nvim: &mut Nvim) {
    nvim.wait_until("the turn to be over for good", DEADLINE, |nvim| {
        lua(nvim, "return #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })") == 0
    });
}

/// The buffer has this and is modified, the disk that, Neovim knows of it, and nothing is asked
/// when the user saves.
fn settled(nvim: &mut Nvim, buffer: &str, disk: &str) {
    wait_disk(nvim, "a.txt", disk);
    assert_eq!(text(nvim), buffer);
    assert_eq!(modified(nvim), true);
    wait_lua(
        nvim,
        "return require('acp.files.watch').is_behind(vim.fn.bufnr('a.txt'))",
        &json!(false),
    );
    nvim.command("checktime");
    assert_eq!((text(nvim), modified(nvim)), (buffer.to_owned(), json!(true)));
    silent(nvim);
}

/// Neovim has nothing to warn of, nor has anybody else.
fn silent(nvim: &mut Nvim) {
    let messages = nvim.messages();
    assert!(!messages.contains("W1") && !messages.contains("a.txt"), "{messages}");
}

nvim_tests! {
    fn a_hunk_leaves_the_disk(target: &Target) {
        for way in [Way::Told, Way::Silent] {
            let mut nvim = written(target, way);
            if way == Way::Silent {
                wait_idle(&mut nvim);
            }
            to_hunk(&mut nvim, 1);
            nvim.input("glr");
            let rest = only("a.txt", "changed", &json!([three()[1], three()[2]]));
            wait_pending(&mut nvim, &rest);
            let rejected = new().replace("LINE 3", "line 3");
            settled(&mut nvim, &typed(&rejected), &rejected);
            wait_pending(&mut nvim, &rest);
            // What is undone and done again is so in the buffer.
            nvim.input("u");
            wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
            settled(&mut nvim, &typed(&new()), &rejected);
            nvim.input("<C-r>");
            wait_pending(&mut nvim, &rest);
            settled(&mut nvim, &typed(&rejected), &rejected);
            nvim.input(":write<CR>");
            wait_disk(&mut nvim, "a.txt", &typed(&rejected));
            wait_lua(&mut nvim, "return vim.bo.modified", &json!(false));
            wait_pending(&mut nvim, &rest);
        }
    }

    fn a_file_leaves_the_disk_whoever_asks_for_it(target: &Target) {
        let ways = [
            "vim.api.nvim_input('glR')",
            "vim.cmd('Acp reject file')",
            "vim.cmd('Acp reject all')",
            "assert(require('acp').reject({ path = 'a.txt' }))",
            "assert(require('acp').reject())",
            "for at = 3, 1, -1 do assert(require('acp').reject({ path = 'a.txt', hunk = at })) end",
        ];
        for way in ways {
            let mut nvim = written(target, Way::Told);
            lua(&mut nvim, way);
            wait_pending(&mut nvim, &json!([]));
            settled(&mut nvim, &typed(&old()), &old());
            // Nothing comes back with the file.
            nvim.command("edit!");
            assert_eq!(text(&mut nvim), old(), "{way}");
            wait_pending(&mut nvim, &json!([]));
        }
    }

    fn what_was_undone_is_not_taken_for_what_the_disk_has(target: &Target) {
        let mut nvim = written(target, Way::Told);
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        settled(&mut nvim, &typed(&old()), &old());
        // The rejection, the agent's change, what was typed.
        nvim.input("uuu");
        nvim.wait_until("the undo", DEADLINE, |nvim| text(nvim) == old());
        nvim.input("<C-r><C-r><C-r>");
        nvim.wait_until("all of it again", DEADLINE, |nvim| text(nvim) == typed(&old()));
        settled(&mut nvim, &typed(&old()), &old());
        wait_pending(&mut nvim, &json!([]));
    }

    fn what_is_accepted_stays_on_the_disk(target: &Target) {
        let mut nvim = written(target, Way::Told);
        to_hunk(&mut nvim, 2);
        nvim.input("gla");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[0], three()[2]])));
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        let accepted = old().replace("line 15\n", "line 15\nadded\nadded too\n");
        settled(&mut nvim, &typed(&accepted), &accepted);
    }

    fn a_rewind_after_it_leaves_what_was_typed(target: &Target) {
        let mut nvim = written(target, Way::Told);
        to_hunk(&mut nvim, 1);
        nvim.input("glr");
        let rejected = new().replace("LINE 3", "line 3");
        wait_disk(&mut nvim, "a.txt", &rejected);
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
        nvim.wait_until("the turn to be recorded", DEADLINE, |nvim| {
            lua(nvim, "return require('acp').rewind({ turn = 1, on_done = function(err, result)
                _G.rewound = { err = err, kept = result and #result.kept } end }) == true") == true
        });
        wait_lua(&mut nvim, "return _G.rewound", &json!({ "kept": 0 }));
        wait_pending(&mut nvim, &json!([]));
        assert_eq!(text(&mut nvim), typed(&old()));
        assert_eq!(modified(&mut nvim), true);
    }

    fn a_session_that_is_over_leaves_nothing_on_the_disk(target: &Target) {
        let mut nvim = start(target, Options::default(), &[change(Way::Told, "a.txt", Some(&old()), &new())]);
        nvim.scratch().write("a.txt", &old());
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &three()));
        lua(&mut nvim, "assert(require('acp').close())");
        nvim.wait_until("the session to be over", DEADLINE, |nvim| lua(nvim, "return #require('acp').sessions()") == 0);
        nvim.command("edit a.txt");
        nvim.input("9GStyped<Esc>");
        nvim.input("3G");
        nvim.wait_screen("glr reject");
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        settled(&mut nvim, &typed(&old()), &old());
    }

    fn the_agent_hears_what_is_on_the_disk(target: &Target) {
        let turns = [change(Way::Told, "a.txt", Some(&old()), &new()), vec![]];
        let mut nvim = start_reporting(target, &turns);
        for overlap in [false, true] {
            nvim.input(if overlap { "3GAmine<Esc>3G" } else { "27G" });
            nvim.wait_screen("glr reject");
            nvim.input("glw");
            nvim.wait_screen("Why is it rejected?");
            nvim.input("no<CR>");
            let told = nvim.wait_for("the prompt", DEADLINE, |nvim| {
                let prompts = calls(nvim, "session/prompt");
                Some(prompts.get(if overlap { 2 } else { 1 })?["prompt"][0]["text"].as_str()?.to_owned())
            });
            assert_eq!(told.contains("a.txt is not saved: until I save it, the disk has your version"), overlap, "{told}");
        }
    }

    fn what_was_typed_in_the_agents_lines_is_for_the_user_to_save(target: &Target) {
        let mut nvim = written(target, Way::Told);
        nvim.input("3GAmine<Esc>");
        let edited = json!([[3, ["line 3"], ["LINE 3mine"], "edited"], three()[1], three()[2]]);
        wait_pending(&mut nvim, &only("a.txt", "changed", &edited));
        nvim.input("3Gglr");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
        let frame = nvim.wait_screen(":w takes it out");
        assert!(frame.find("a.txt: what you rejected is still on the disk").is_some(), "{}", frame.text());
        assert_eq!(nvim.scratch().read("a.txt"), new());
        let rejected = typed(&new().replace("LINE 3", "line 3"));
        assert_eq!((text(&mut nvim), modified(&mut nvim)), (rejected.clone(), json!(true)));
        nvim.input(":w<CR>");
        wait_disk(&mut nvim, "a.txt", &rejected);
    }

    fn how_the_last_line_ends_is_put_back_too(target: &Target) {
        let agent = "one\nTWO";
        let steps = change(Way::Told, "a.txt", Some("one\ntwo\n"), agent);
        let mut nvim = start(target, Options::default(), &[steps]);
        nvim.scratch().write("a.txt", "one\ntwo\n");
        nvim.command("edit a.txt");
        nvim.input("Otyped<Esc>");
        nvim.wait_screen("typed");
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([[3, ["two"], ["TWO"], "pending"]])));
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        settled(&mut nvim, "typed\none\ntwo\n", "one\ntwo\n");
    }

    fn the_bytes_of_a_file_stay_what_they_are(target: &Target) {
        let cases: [(&str, Encode); 6] = [
            ("dos", |text| text.replace('\n', "\r\n").into()),
            ("noeol", |text| text.trim_end().into()),
            ("bom", |text| format!("\u{feff}{text}").into()),
            ("latin1", |text| text.chars().map(|it| it as u8).collect()),
            ("utf16", |text| {
                std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
            }),
            ("link", |text| text.into()),
        ];
        for (name, bytes) in cases {
            let before = "one\ntwö\nthree\nfour\nfive\n";
            let mut nvim = start(target, Options::default(), &[vec![json!({ "wait_file": "go" })]]);
            let folder = nvim.scratch().project();
            fs::create_dir(folder.join("there")).unwrap();
            let (path, real) = match name {
                "link" => (folder.join("a.txt"), folder.join("there/a.txt")),
                _ => (folder.join("a.txt"), folder.join("a.txt")),
            };
            fs::write(&real, bytes(before)).unwrap();
            if path != real {
                std::os::unix::fs::symlink("there/a.txt", &path).unwrap();
            }
            nvim.command("edit a.txt");
            nvim.command("set nofixendofline");
            nvim.input("5GStyped<Esc>");
            nvim.wait_screen("typed");
            send(&mut nvim, "go");
            wait_state(&mut nvim, "running");
            fs::write(&real, bytes(&before.replace("twö", "TWÖ").replace("three\n", ""))).unwrap();
            wait_lua(&mut nvim, "return require('acp.review.store').count() > 0", &json!(true));
            lua(&mut nvim, "assert(require('acp').reject())");
            wait_pending(&mut nvim, &json!([]));
            nvim.wait_until(&format!("the file {name} to be what it was"), DEADLINE, |_| fs::read(&real).unwrap() == bytes(before));
            assert_eq!(path.is_symlink(), path != real);
            assert_eq!(text(&mut nvim), before.replace("five", "typed"), "{name}");
            assert_eq!(modified(&mut nvim), true);
            silent(&mut nvim);
            nvim.scratch().write("go", "");
            finish(&mut nvim);
            wait_idle(&mut nvim);
            nvim.command("checktime");
            silent(&mut nvim);
            wait_pending(&mut nvim, &json!([]));
            nvim.input(":w<CR>");
            wait_lua(&mut nvim, "return vim.bo.modified", &json!(false));
            assert_eq!(fs::read(&real).unwrap(), bytes(&before.replace("five", "typed")), "{name}");
        }
    }

    fn a_made_file_goes_and_what_was_typed_stays(target: &Target) {
        let mut nvim = start(target, Options::default(), &[change(Way::Told, "a.txt", None, "one\ntwo\n")]);
        turn(&mut nvim);
        wait_pending(&mut nvim, &only("a.txt", "made", &json!([[1, [], ["one", "two"], "pending"]])));
        nvim.command("edit a.txt");
        nvim.wait_screen("glr reject");
        nvim.input("Gotyped<Esc>");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([[1, [], ["one", "two"], "pending"]])));
        nvim.input("glR");
        wait_pending(&mut nvim, &json!([]));
        let path = nvim.scratch().project().join("a.txt");
        nvim.wait_until("the file to be gone", DEADLINE, |_| !path.exists());
        assert_eq!((text(&mut nvim), modified(&mut nvim)), ("typed\n".into(), json!(true)));
        nvim.command("checktime");
        silent(&mut nvim);
        nvim.input(":write<CR>");
        wait_disk(&mut nvim, "a.txt", "typed\n");
        wait_pending(&mut nvim, &json!([]));
    }

    fn lines_that_end_otherwise_are_for_the_user_to_save(target: &Target) {
        let mut nvim = written(target, Way::Told);
        wait_idle(&mut nvim);
        nvim.command("set fileformat=dos");
        to_hunk(&mut nvim, 1);
        nvim.input("glr");
        wait_pending(&mut nvim, &only("a.txt", "changed", &json!([three()[1], three()[2]])));
        nvim.wait_screen(":w takes it out");
        assert_eq!(nvim.scratch().read("a.txt"), new());
        let rejected = typed(&new().replace("LINE 3", "line 3"));
        assert_eq!((text(&mut nvim), modified(&mut nvim)), (rejected.clone(), json!(true)));
        nvim.input(":w<CR>");
        wait_disk(&mut nvim, "a.txt", &rejected.replace('\n', "\r\n"));
    }
}
