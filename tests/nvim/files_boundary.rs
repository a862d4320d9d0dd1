//! Files that an agent must not touch unasked.

use serde_json::json;

use crate::files::{keep, lua, read, run, start, write};
use crate::plugin::open_choices;
use crate::report::{answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};

/// Asks, answers with these keys, and waits for the end of the turn.
fn answer(nvim: &mut Nvim, words: &str, keys: &str) {
    open_choices(nvim, words);
    nvim.input(keys);
}

nvim_tests! {
    fn what_is_outside_is_asked_for(target: &Target) {
        let mut nvim = start(target, keep(), &[read("../outside.txt"), write("../outside.txt", "new\n"), read("link/../../outside.txt"), read("link.txt")]);
        let outside = nvim.scratch().project().parent().unwrap().join("outside.txt");
        std::fs::write(&outside, "secret\n").unwrap();
        // Another name, so that nobody takes the question before for this one.
        let other = outside.with_file_name("other.txt");
        std::fs::write(&other, "secret\n").unwrap();
        std::os::unix::fs::symlink(&other, nvim.scratch().project().join("link.txt")).unwrap();
        send(&mut nvim, "go");
        answer(&mut nvim, "read /", "a");
        nvim.wait_until("the first answer", DEADLINE, |nvim| answers(nvim).len() == 1);
        answer(&mut nvim, "write /", "3j<CR>");
        nvim.wait_until("the second answer", DEADLINE, |nvim| answers(nvim).len() == 2);
        answer(&mut nvim, "read /", "r");
        nvim.wait_until("the third answer", DEADLINE, |nvim| answers(nvim).len() == 3);
        // A link does not hide where it leads.
        answer(&mut nvim, "other.txt", "r");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert_eq!(answers[0]["result"]["content"], "secret\n");
        for answer in &answers[1..] {
            assert!(answer["error"]["message"].as_str().unwrap().contains("the user does not allow it"), "{answer}");
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "secret\n");
    }

    fn rules_speak_for_the_user(target: &Target) {
        let rules = "vim.g.acp = { permissions = { rules = { { action = 'allow', kind = 'read', inside = false }, { action = 'reject', kind = 'edit', inside = false } } } }";
        let options = Options { before: rules.into(), ..Options::default() };
        let mut nvim = start(target, options, &[read("../outside.txt"), write("../outside.txt", "new\n"), write("folder/new.txt", "new\n")]);
        let outside = nvim.scratch().project().parent().unwrap().join("outside.txt");
        std::fs::write(&outside, "old\n").unwrap();
        let answers = run(&mut nvim);
        assert_eq!(answers[0]["result"]["content"], "old\n");
        assert!(answers[1]["error"]["message"].as_str().unwrap().contains("a rule of the user"), "{}", answers[1]);
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "old\n");
        assert!(answers[2]["error"].is_null());
    }

    fn private_files_are_asked_for(target: &Target) {
        let rules = "vim.g.acp = { permissions = { rules = { { action = 'allow', kind = 'read' } } } }";
        let options = Options { before: rules.into(), ..Options::default() };
        let mut nvim = start(target, options, &[read(".env"), read(".ssh/config"), read("environment.txt")]);
        for name in [".env", ".ssh/config", "environment.txt"] {
            nvim.scratch().write(name, "x\n");
        }
        send(&mut nvim, "go");
        answer(&mut nvim, ".env (private)", "a");
        nvim.wait_until("the first answer", DEADLINE, |nvim| answers(nvim).len() == 1);
        answer(&mut nvim, ".ssh/config (private)", "r");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert_eq!(answers[0]["result"]["content"], "x\n");
        assert!(answers[1]["error"].is_object(), "{}", answers[1]);
        assert_eq!(answers[2]["result"]["content"], "x\n");
    }

    fn a_cancel_refuses(target: &Target) {
        let mut nvim = start(target, keep(), &[read("../outside.txt")]);
        send(&mut nvim, "go");
        open_choices(&mut nvim, "Refuse");
        assert_eq!(lua(&mut nvim, "return #require('acp').permissions()"), json!(1));
        lua(&mut nvim, "require('acp').cancel()");
        nvim.wait_until("the answer", DEADLINE, |nvim| answers(nvim).len() == 1);
        assert!(answers(&nvim)[0]["error"].is_object());
        nvim.wait_until("the question to go", DEADLINE, |nvim| nvim.screen().find("Refuse").is_none());
    }
}
