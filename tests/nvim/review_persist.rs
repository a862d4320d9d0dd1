//! Changes that wait when Neovim ends wait again in the next one.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::files::{lua, write};
use crate::plugin::with_options;
use crate::report::send;
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::scratch::Scratch;
use crate::support::target::Target;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const NEW: &str = "one\nTWO\nthree\nfour\nFIVE\nsix\n";

/// Changes an open file, one that is not, makes one and deletes one.
fn agent() -> Value {
    json!({
        "on": { "session/new": { "merge": { "sessionId": "one" } } },
        "prompts": [{ "steps": [
            write("open.txt", NEW),
            write("closed.txt", NEW),
            write("made.txt", "made\n"),
            { "request": { "method": "terminal/create", "save": "t", "params": {
                "command": "rm", "args": ["deleted.txt"], "cwd": "{{cwd}}" } } },
            { "request": { "method": "terminal/wait_for_exit", "params": { "terminalId": "{{t.terminalId}}" } } },
        ] }],
    })
}

/// What waits, by the names of files: kind and changes.
fn pending(nvim: &mut Nvim) -> Value {
    lua(nvim, "
        local all = vim.empty_dict()
        for _, file in ipairs(require('acp').changes()) do
            local hunks = vim.tbl_map(function(hunk)
                return ('%d %s>%s %s'):format(
                    hunk.start, table.concat(hunk.old, ','), table.concat(hunk.new, ','), hunk.state)
            end, file.hunks)
            all[vim.fs.basename(file.path)] = { file.kind, unpack(hunks) }
        end
        return all
    ")
}

fn wait_pending(nvim: &mut Nvim, expected: &Value) {
    let mut last = json!(null);
    nvim.wait_until(&format!("{expected}"), DEADLINE, |nvim| {
        let found = pending(nvim);
        if found != *expected && found != last {
            eprintln!("waits: {found}");
        }
        last = found;
        last == *expected
    });
}

fn everything() -> Value {
    let changed = json!(["changed", "2 two>TWO pending", "5 five>FIVE pending"]);
    json!({
        "open.txt": changed,
        "closed.txt": changed,
        "made.txt": ["made", "1 >made pending"],
        "deleted.txt": ["deleted", "1 old> pending"],
    })
}

/// A Neovim whose agent has changed all of these.
fn changed(target: &Target) -> Nvim {
    let mut nvim = with_options(target, Options::default(), &agent());
    nvim.scratch().write("open.txt", OLD);
    nvim.scratch().write("closed.txt", OLD);
    nvim.scratch().write("deleted.txt", "old\n");
    nvim.command("edit open.txt");
    send(&mut nvim, "go");
    nvim.wait_until("the end of the turn", DEADLINE, |nvim| !lua(nvim, "return _G.turn").is_null());
    wait_pending(&mut nvim, &everything());
    nvim
}

/// The next Neovim in the same project, with a session.
fn again(target: &Target, scratch: &Rc<Scratch>, before: &str) -> Nvim {
    let options =
        Options { scratch: Some(scratch.clone()), before: before.to_owned(), ..Options::default() };
    let mut nvim = with_options(target, options, &agent());
    ready(&mut nvim);
    nvim
}

fn ready(nvim: &mut Nvim) {
    lua(nvim, "
        _G.ready = nil
        assert(require('acp').open({ focus = false, on_ready = function(err) _G.ready = err or true end }))
    ");
    nvim.wait_until("the session is ready", DEADLINE, |nvim| lua(nvim, "return _G.ready") == true);
}

/// The files in which reviews are kept.
fn kept(nvim: &mut Nvim) -> Vec<PathBuf> {
    let folder = lua(nvim, "return vim.fn.stdpath('state') .. '/acp/reviews'");
    let folders = fs::read_dir(folder.as_str().unwrap()).into_iter().flatten().flatten();
    let files = folders.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
    files.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "json")).collect()
}

fn wait_kept(nvim: &mut Nvim, count: usize) -> Vec<PathBuf> {
    nvim.wait_for("reviews on the disk", DEADLINE, |nvim| {
        let kept = kept(nvim);
        (kept.len() == count).then_some(kept)
    })
}

nvim_tests! {
    fn changes_wait_for_the_next_neovim(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        nvim.quit();
        let mut nvim = again(target, &scratch, "");
        wait_pending(&mut nvim, &everything());
        nvim.wait_screen("6 changes of last time wait for review: :Acp review");
        nvim.command("edit open.txt");
        nvim.wait_screen("┃ TWO");
        nvim.input("]g");
        nvim.wait_screen("glr");
        nvim.input("glr");
        nvim.wait_until("the rejected change is gone", DEADLINE, |_| {
            scratch.read("open.txt") == OLD.replace("five", "FIVE")
        });
        nvim.lua("assert(require('acp').reject({ path = ... }))", json!([scratch.project().join("closed.txt")]));
        nvim.lua("assert(require('acp').reject({ path = ... }))", json!([scratch.project().join("made.txt")]));
        nvim.lua("assert(require('acp').reject({ path = ... }))", json!([scratch.project().join("deleted.txt")]));
        wait_pending(&mut nvim, &json!({ "open.txt": ["changed", "5 five>FIVE pending"] }));
        assert_eq!(scratch.read("closed.txt"), OLD);
        assert_eq!(scratch.read("deleted.txt"), "old\n");
        assert!(!scratch.project().join("made.txt").exists());
    }

    fn changes_outlive_a_neovim_that_dies(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        wait_kept(&mut nvim, 4);
        nvim.kill(Signal::KILL);
        nvim.wait_exit(DEADLINE);
        drop(nvim);
        let mut nvim = again(target, &scratch, "");
        wait_pending(&mut nvim, &everything());
    }

    fn a_dead_neovim_that_nobody_waited_for_holds_nothing_back(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        wait_kept(&mut nvim, 4);
        nvim.kill(Signal::KILL);
        let mut next = again(target, &scratch, "");
        wait_pending(&mut next, &everything());
        nvim.wait_exit(DEADLINE);
    }

    fn what_is_dealt_with_does_not_come_back(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        wait_kept(&mut nvim, 4);
        nvim.lua("assert(require('acp').accept({ path = ... }))", json!([scratch.project().join("open.txt")]));
        nvim.lua("assert(require('acp').reject({ path = ... }))", json!([scratch.project().join("closed.txt")]));
        let rest = json!({ "made.txt": everything()["made.txt"], "deleted.txt": everything()["deleted.txt"] });
        wait_pending(&mut nvim, &rest);
        nvim.quit();
        let mut nvim = again(target, &scratch, "");
        wait_pending(&mut nvim, &rest);
        lua(&mut nvim, "assert(require('acp').accept())");
        wait_kept(&mut nvim, 0);
        nvim.quit();
        let mut nvim = again(target, &scratch, "");
        ready(&mut nvim);
        assert_eq!(pending(&mut nvim), json!({}));
    }

    fn what_the_user_does_meanwhile_is_not_the_agents(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        nvim.quit();
        scratch.write("open.txt", &format!("mine\n{}", NEW.replace("FIVE", "mine too")));
        scratch.write("closed.txt", OLD);
        fs::remove_file(scratch.project().join("made.txt")).unwrap();
        scratch.write("deleted.txt", "made again\n");
        let mut nvim = again(target, &scratch, "");
        let expected = json!({ "open.txt": ["changed", "3 two>TWO pending", "6 five>mine too edited"] });
        wait_pending(&mut nvim, &expected);
        wait_kept(&mut nvim, 1);
    }

    fn a_file_that_is_open_already(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        nvim.quit();
        let options = Options { scratch: Some(scratch.clone()), ..Options::default() };
        let mut nvim = with_options(target, options, &agent());
        nvim.command("edit closed.txt");
        nvim.input("ggOmine<Esc>");
        nvim.command("edit! open.txt");
        ready(&mut nvim);
        let mut expected = everything();
        expected["closed.txt"] = json!(["changed", "3 two>TWO pending", "6 five>FIVE pending"]);
        wait_pending(&mut nvim, &expected);
        nvim.wait_screen("┃ TWO");
    }

    fn what_another_neovim_reviews_stays_there(target: &Target) {
        let mut one = changed(target);
        let scratch = one.scratch().clone();
        wait_kept(&mut one, 4);
        let mut other = again(target, &scratch, "");
        ready(&mut other);
        other.quit();
        assert_eq!(kept(&mut one).len(), 4);
        one.quit();
        let mut next = again(target, &scratch, "");
        wait_pending(&mut next, &everything());
    }

    fn old_changes_expire(target: &Target) {
        let mut nvim = changed(target);
        let scratch = nvim.scratch().clone();
        let files = wait_kept(&mut nvim, 4);
        nvim.quit();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        for path in &files {
            let mut record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            let name = record["path"].as_str().unwrap();
            let days = if name.ends_with("open.txt") { 1 } else if name.ends_with("made.txt") { 2 } else { 4 };
            record["time"] = json!((now - Duration::from_secs(days * 24 * 3600)).as_secs());
            fs::write(path, record.to_string()).unwrap();
        }
        let before = "vim.g.acp = { review = { days = 3, keep = 1 } }";
        let mut nvim = again(target, &scratch, before);
        wait_pending(&mut nvim, &json!({ "open.txt": everything()["open.txt"] }));
        wait_kept(&mut nvim, 1);
    }
}
