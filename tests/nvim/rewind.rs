//! Going back to before a turn: whatever made, changed or deleted files, and whatever the user did
//! since.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::files::{keep, lua};
use crate::plugin::{open_choices, wait_choices, wait_transcript, with_options};
use crate::report::{REPORT, calls, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};

/// An agent whose nth turn does this, and that keeps its session.
pub(crate) fn agent(turns: &[Vec<Value>]) -> Value {
    let prompts: Vec<Value> = turns
        .iter()
        .enumerate()
        .map(|(at, steps)| json!({ "when": format!("prompt {}", at + 1), "steps": steps }))
        .collect();
    json!({
        "report": REPORT,
        "capabilities": { "loadSession": true, "sessionCapabilities": { "fork": {} } },
        "on": {
            "session/new": { "merge": { "sessionId": "one" } },
            "session/load": { "result": {} },
            "session/fork": { "result": { "sessionId": "branch" } },
        },
        "prompts": prompts,
    })
}

pub(crate) fn on_disk(path: &str, text: &str) -> Value {
    json!({ "write_file": { "path": path, "text": text } })
}

/// A command that the client runs for the agent.
fn shell(command: &str) -> [Value; 2] {
    let params = json!({ "command": "sh", "args": ["-c", command], "cwd": "{{cwd}}" });
    let terminal = json!({ "terminalId": "{{t.terminalId}}" });
    [
        json!({ "request": { "method": "terminal/create", "params": params, "save": "t" } }),
        json!({ "request": { "method": "terminal/wait_for_exit", "params": terminal } }),
    ]
}

fn git(project: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(project)
        .args(["-c", "user.name=n", "-c", "user.email=e"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Every file of a folder.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                true if name == ".git" => {}
                true => {
                    all.insert(name + "/", Vec::new());
                    folders.push(path);
                }
                false => {
                    all.insert(name, fs::read(path).unwrap());
                }
            }
        }
    }
    all
}

/// What the user has in git, to the byte.
fn repository(project: &Path) -> Vec<Vec<u8>> {
    let mut all = vec![
        git(project, &["--no-optional-locks", "status", "--porcelain=v2", "-z"]),
        git(project, &["stash", "list"]),
        git(project, &["reflog", "--all"]),
        git(project, &["for-each-ref"]),
        git(project, &["count-objects", "-v"]),
    ];
    for name in ["index", "HEAD", "config"] {
        all.push(fs::read(project.join(".git").join(name)).unwrap());
    }
    all
}

/// A project of some files, with something staged, stashed and not committed.
fn with_git(nvim: &Nvim) {
    let project = nvim.scratch().project();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "x"]);
    nvim.scratch().write("a.txt", "stashed\n");
    git(&project, &["stash", "-q"]);
    nvim.scratch().write("staged.txt", "staged\n");
    git(&project, &["add", "staged.txt"]);
    nvim.scratch().write("untracked.txt", "untracked\n");
}

pub(crate) const OLD: &str = "one\ntwo\nthree\nfour\nfive\n";

pub(crate) fn project(nvim: &Nvim) {
    for name in ["a.txt", "b.txt", "c.txt"] {
        nvim.scratch().write(name, OLD);
    }
    nvim.scratch().write("folder/d.txt", OLD);
}

pub(crate) fn turn(nvim: &mut Nvim, number: u64) {
    send(nvim, &format!("prompt {number}"));
    finish(nvim);
    wait_turn(nvim, &number.to_string());
    // The record does not wait for ever.
    let in_step = "local watch = require('acp.files.watch')
        local behind = vim.tbl_filter(watch.is_behind, vim.tbl_values(watch.buffers()))
        return #behind == 0 and not require('acp.files.job').busy()";
    nvim.wait_until("the buffers to follow", DEADLINE, |nvim| lua(nvim, in_step) == true);
}

/// Waits until this turn, or rewind, can be undone.
fn wait_turn(nvim: &mut Nvim, id: &str) {
    nvim.wait_until(&format!("turn {id} to be recorded"), DEADLINE, |nvim| {
        let ids = "local rewind = require('acp.rewind')
            local id = require('acp.session').resolve()
            return vim.tbl_map(function(turn) return turn.id end, id and rewind.turns(id) or {})";
        lua(nvim, ids).as_array().is_some_and(|it| it.contains(&json!(id)))
    });
}

fn begin_rewind(nvim: &mut Nvim, id: &str) {
    let code = "_G.rewound = nil
        return { require('acp').rewind({ turn = ..., on_done = function(err, result)
            _G.rewound = { err = err, result = result } end }) }";
    let started = nvim.lua(code, json!([id]));
    assert_eq!(started, json!([true]), "{started}");
}

fn end_rewind(nvim: &mut Nvim) -> Value {
    let it = nvim.wait_for("the end of the rewind", DEADLINE, |nvim| {
        let it = lua(nvim, "return _G.rewound");
        (!it.is_null()).then_some(it)
    });
    assert!(it["err"].is_null(), "{it}");
    it["result"].clone()
}

fn rewind(nvim: &mut Nvim, id: &str) -> Value {
    begin_rewind(nvim, id);
    end_rewind(nvim)
}

fn three_turns() -> Value {
    let [create, wait] = shell(
        "rm -r folder && printf 'made\\n' > made.txt && mkdir -p new/deep && echo x > new/deep/y \
         && chmod +x b.txt && ln -s b.txt link && printf 'a\\000b' > binary",
    );
    agent(&[
        vec![on_disk("a.txt", "ONE\ntwo\nthree\nfour\nfive\n"), on_disk("untracked.txt", "x\n")],
        vec![create, wait],
        vec![
            on_disk("a.txt", "ONE\ntwo\nthree\nfour\nFIVE\n"),
            json!({ "delete_file": "c.txt" }),
            on_disk("made.txt", "changed\n"),
            on_disk("staged.txt", "more\n"),
        ],
    ])
}

nvim_tests! {
    fn three_turns_are_undone(target: &Target) {
        for with_repository in [true, false] {
            let mut nvim = with_options(target, Options::default(), &three_turns());
            project(&nvim);
            if with_repository {
                with_git(&nvim);
            }
            let folder = nvim.scratch().project();
            let before = tree(&folder);
            let user = with_repository.then(|| repository(&folder));
            nvim.command("edit a.txt");
            for number in 1..=3 {
                turn(&mut nvim, number);
            }
            let after = tree(&folder);
            assert_ne!(after, before);
            rewind(&mut nvim, "1");
            assert_eq!(tree(&folder), before);
            assert_eq!(with_repository.then(|| repository(&folder)), user);
            assert_eq!(nvim.lines(0), ["one", "two", "three", "four", "five"]);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), false);
            nvim.command("checktime");
            assert_eq!(nvim.messages(), "");
            // A rewind can be undone like any turn, and that too.
            wait_turn(&mut nvim, "r1");
            rewind(&mut nvim, "r1");
            assert_eq!(tree(&folder), after);
            wait_turn(&mut nvim, "r2");
            rewind(&mut nvim, "3");
            assert_eq!(nvim.scratch().read("made.txt"), "made\n");
            assert_eq!(nvim.lines(0), ["ONE", "two", "three", "four", "five"]);
        }
    }

    fn what_the_user_did_stays(target: &Target) {
        let mut nvim = with_options(target, Options::default(), &three_turns());
        project(&nvim);
        with_git(&nvim);
        nvim.command("edit a.txt");
        turn(&mut nvim, 1);
        nvim.command("3 substitute/three/between/ | write");
        turn(&mut nvim, 2);
        turn(&mut nvim, 3);
        nvim.command("4 substitute/four/unsaved/");
        nvim.scratch().write("made.txt", "changed\nby me\n");
        nvim.scratch().write("mine.txt", "mine\n");
        let result = rewind(&mut nvim, "1");
        assert_eq!(nvim.lines(0), ["one", "two", "between", "unsaved", "five"]);
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true, "it was before");
        assert_eq!(nvim.scratch().read("made.txt"), "changed\nby me\n");
        assert_eq!(nvim.scratch().read("mine.txt"), "mine\n");
        assert_eq!(nvim.scratch().read("c.txt"), OLD);
        let kept = result["kept"].as_array().unwrap();
        assert_eq!(kept.len(), 1, "{result}");
        assert!(kept[0]["path"].as_str().unwrap().ends_with("/made.txt"), "{result}");
        // One step to undo.
        nvim.command("undo");
        assert_eq!(nvim.lines(0), ["ONE", "two", "between", "unsaved", "FIVE"]);
    }

    fn unsaved_text_is_not_the_agents(target: &Target) {
        let write = json!({ "request": { "method": "fs/write_text_file", "params": {
            "path": "{{cwd}}/a.txt", "content": "one\ntwo\nthree\nfour\nFIVE\n" } } });
        for options in [Options::default(), keep()] {
            let saves = options.before.is_empty();
            let mut nvim = with_options(target, options, &agent(&[vec![write.clone()]]));
            project(&nvim);
            nvim.command("edit a.txt");
            nvim.command("1 substitute/one/unsaved/");
            turn(&mut nvim, 1);
            assert_eq!(nvim.lines(0), ["unsaved", "two", "three", "four", "FIVE"]);
            assert_eq!(lua(&mut nvim, "return vim.bo.modified"), !saves);
            rewind(&mut nvim, "1");
            assert_eq!(nvim.lines(0), ["unsaved", "two", "three", "four", "five"]);
        }
    }

    /// The turn is over before the buffer has followed.
    fn what_was_written_at_the_very_end_is_undone_too(target: &Target) {
        let last = on_disk("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
        let mut nvim = with_options(target, Options::default(), &agent(&[vec![last]]));
        project(&nvim);
        nvim.command("edit a.txt");
        nvim.command("1 substitute/one/unsaved/");
        turn(&mut nvim, 1);
        nvim.wait_until("the buffer to follow", DEADLINE, |nvim| nvim.lines(0)[4] == "FIVE");
        rewind(&mut nvim, "1");
        assert_eq!(nvim.lines(0), ["unsaved", "two", "three", "four", "five"]);
    }

    fn who_changed_the_same_is_asked(target: &Target) {
        let change = |name: &str| on_disk(name, "one\nTWO\nthree\nfour\nfive\n");
        let mut nvim = with_options(target, Options::default(), &agent(&[vec![change("a.txt"), change("b.txt")]]));
        project(&nvim);
        with_git(&nvim);
        nvim.command("edit a.txt");
        turn(&mut nvim, 1);
        nvim.command("2 substitute/TWO/mine/ | write");
        nvim.scratch().write("b.txt", "one\nmine\nthree\nfour\nfive\n");
        begin_rewind(&mut nvim, "1");
        let frame = open_choices(&mut nvim, "Take the lines from before");
        // They are put together side by side, and asked about as they come.
        let about = |name: &str| format!("You changed what the rewind would undo in {name}");
        let a_first = frame.find(&about("a.txt")).is_some();
        let (next, keys) = if a_first { ("b.txt", ["t", "o"]) } else { ("a.txt", ["o", "t"]) };
        nvim.input(keys[0]);
        nvim.wait_screen(&about(next));
        open_choices(&mut nvim, "Keep your lines");
        nvim.input(keys[1]);
        end_rewind(&mut nvim);
        assert_eq!(nvim.scratch().read("a.txt"), OLD);
        assert_eq!(nvim.scratch().read("b.txt"), "one\nmine\nthree\nfour\nfive\n");
        assert_eq!(lua(&mut nvim, "return vim.fn.bufloaded('b.txt')"), 0, "it was loaded for the question alone");
    }

    fn an_ignored_file_that_the_agent_writes(target: &Target) {
        let write = json!({ "request": { "method": "fs/write_text_file", "params": {
            "path": "{{cwd}}/build.log", "content": "agent\n" } } });
        let mut nvim = with_options(target, Options::default(), &agent(&[vec![write]]));
        nvim.scratch().write(".gitignore", "*.log\n");
        nvim.scratch().write("build.log", "mine\n");
        project(&nvim);
        with_git(&nvim);
        turn(&mut nvim, 1);
        assert_eq!(nvim.scratch().read("build.log"), "agent\n");
        rewind(&mut nvim, "1");
        assert_eq!(nvim.scratch().read("build.log"), "mine\n");
    }

    fn loaded_files_that_were_deleted_and_made(target: &Target) {
        let steps = vec![json!({ "delete_file": "c.txt" }), on_disk("made.txt", "made\n"), on_disk("seen.txt", "made\n")];
        let mut nvim = with_options(target, Options::default(), &agent(&[steps]));
        project(&nvim);
        with_git(&nvim);
        nvim.command("edit c.txt");
        turn(&mut nvim, 1);
        nvim.wait_until("the buffer to be marked", DEADLINE, |nvim| lua(nvim, "return vim.bo.modified") == true);
        nvim.command("split made.txt | hide | split seen.txt");
        rewind(&mut nvim, "1");
        assert_eq!(nvim.scratch().read("c.txt"), OLD);
        nvim.wait_until("the buffer to have its file again", DEADLINE, |nvim| {
            lua(nvim, "return vim.bo[vim.fn.bufnr('c.txt')].modified") == false
        });
        let files = tree(&nvim.scratch().project());
        assert!(!files.contains_key("made.txt") && !files.contains_key("seen.txt"), "{:?}", files.keys());
        assert_eq!(lua(&mut nvim, "return vim.fn.bufloaded('made.txt')"), 0, "nobody sees it");
        // What the user looks at stays, and is all there is.
        assert_eq!(nvim.lines(0), ["made"]);
        assert_eq!(lua(&mut nvim, "return vim.bo.modified"), true);
        nvim.command("bwipeout!");
    }

    fn what_was_deleted_before_the_snapshot_was_taken(target: &Target) {
        let steps = vec![json!({ "delete_file": "c.txt" }), json!({ "delete_file": "folder/d.txt" }), json!({ "say": "deleted" })];
        for with_repository in [true, false] {
            let mut nvim = with_options(target, Options::default(), &agent(&[vec![], steps.clone()]));
            project(&nvim);
            if with_repository {
                with_git(&nvim);
            }
            nvim.scratch().write("mine/e.txt", OLD);
            turn(&mut nvim, 1);
            // What the user deletes before the agent begins is not the agent's.
            let mine = nvim.scratch().project().join("mine");
            fs::remove_file(mine.join("e.txt")).unwrap();
            fs::File::open(mine).unwrap().set_modified(UNIX_EPOCH).unwrap();
            let before = tree(&nvim.scratch().project());
            // As if another Neovim were at it: the prompt does not wait.
            let lock = lua(&mut nvim, "require('acp.config').get().rewind.wait_ms = 0
                require('acp.options').send()
                return vim.fn.glob(require('acp.rewind').folder() .. '/*/lock')");
            let lock = fs::File::open(lock.as_str().unwrap()).unwrap();
            rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
            send(&mut nvim, "prompt 2");
            wait_transcript(&mut nvim, "deleted");
            drop(lock);
            finish(&mut nvim);
            wait_turn(&mut nvim, "2");
            rewind(&mut nvim, "2");
            assert_eq!(tree(&nvim.scratch().project()), before);
        }
    }

    fn old_turns_are_forgotten(target: &Target) {
        let options = Options { before: "vim.g.acp = { rewind = { keep = 2 } }".into(), ..Options::default() };
        let mut nvim = with_options(target, options, &three_turns());
        project(&nvim);
        for number in 1..=3 {
            turn(&mut nvim, number);
        }
        assert_eq!(lua(&mut nvim, "return vim.fn.getcompletion('Acp rewind ', 'cmdline')"), json!(["3", "2"]));
        rewind(&mut nvim, "2");
        assert_eq!(nvim.scratch().read("folder/d.txt"), OLD);
    }

    fn turns_are_chosen_from_a_list(target: &Target) {
        let mut nvim = with_options(target, Options::default(), &three_turns());
        project(&nvim);
        with_git(&nvim);
        for number in 1..=2 {
            turn(&mut nvim, number);
        }
        lua(&mut nvim, "vim.api.nvim_create_autocmd('User', { pattern = 'AcpRewound', callback = function(ev) _G.told = ev.data end })");
        nvim.input(":Acp rewind<CR>");
        let frame = wait_choices(&mut nvim, "before turn 1: prompt 1");
        assert!(frame.find("2 files +2 −2  before turn 1: prompt 1").is_some(), "{}", frame.text());
        nvim.input("2");
        let frame = wait_choices(&mut nvim, "Rewind to before turn 1");
        assert!(frame.find("a.txt  changed +1 −1").is_some(), "{}", frame.text());
        nvim.input("r");
        nvim.wait_screen("Rewound to before turn 1");
        assert_eq!(nvim.scratch().read("a.txt"), OLD);
        assert_eq!(lua(&mut nvim, "return told.turn"), "1");
        wait_turn(&mut nvim, "r1");
        assert_eq!(lua(&mut nvim, "return vim.fn.getcompletion('Acp rewind ', 'cmdline')"), json!(["r1", "2", "1"]));
        // The agent learns of it with the next prompt, and once.
        turn(&mut nvim, 3);
        send(&mut nvim, "prompt 4");
        finish(&mut nvim);
        let prompts = calls(&nvim, "session/prompt");
        assert_eq!(prompts[2]["prompt"][0]["text"], "prompt 3");
        assert!(prompts[2]["prompt"][1]["text"].as_str().unwrap().contains("has rewound the files"), "{prompts:?}");
        assert_eq!(prompts[3]["prompt"].as_array().unwrap().len(), 1);
    }

    fn a_restart_forgets_nothing(target: &Target) {
        let mut nvim = with_options(target, Options::default(), &three_turns());
        let scratch = nvim.scratch().clone();
        project(&nvim);
        with_git(&nvim);
        let before = tree(&scratch.project());
        for number in 1..=3 {
            turn(&mut nvim, number);
        }
        nvim.quit();
        drop(nvim);
        let options = Options { scratch: Some(Rc::clone(&scratch)), ..Options::default() };
        let mut nvim = with_options(target, options, &three_turns());
        lua(&mut nvim, "return require('acp').open({ load = 'one', focus = false })");
        wait_turn(&mut nvim, "3");
        rewind(&mut nvim, "1");
        assert_eq!(tree(&scratch.project()), before);
    }

    fn a_turn_that_neovim_did_not_survive(target: &Target) {
        let steps = vec![on_disk("a.txt", "x\n"), json!({ "say": "working" }), json!({ "hang": true })];
        let mut nvim = with_options(target, Options::default(), &agent(std::slice::from_ref(&steps)));
        let scratch = nvim.scratch().clone();
        project(&nvim);
        with_git(&nvim);
        let before = tree(&scratch.project());
        send(&mut nvim, "prompt 1");
        wait_transcript(&mut nvim, "working");
        nvim.kill(rustix::process::Signal::KILL);
        nvim.wait_exit(DEADLINE);
        drop(nvim);
        let options = Options { scratch: Some(Rc::clone(&scratch)), ..Options::default() };
        let mut nvim = with_options(target, options, &agent(&[steps]));
        lua(&mut nvim, "return require('acp').open({ load = 'one', focus = false })");
        wait_turn(&mut nvim, "1");
        rewind(&mut nvim, "1");
        assert_eq!(tree(&scratch.project()), before);
    }

    fn nothing_is_recorded_where_nobody_wants_it(target: &Target) {
        let off = "vim.g.acp = { rewind = { enabled = false }, review = { unopened = false } }";
        let options = Options { before: off.into(), ..Options::default() };
        let mut nvim = with_options(target, options, &three_turns());
        project(&nvim);
        send(&mut nvim, "prompt 1");
        finish(&mut nvim);
        let code = "local ok, err = require('acp').rewind({ turn = 1 }) return err.code";
        assert_eq!(lua(&mut nvim, code), "not_recorded");
        assert_eq!(lua(&mut nvim, "return vim.uv.fs_stat(require('acp.rewind').folder()) == nil"), true);
    }
}
