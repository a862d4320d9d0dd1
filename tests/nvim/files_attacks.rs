//! An agent that puts something else into the place of a file: links, folders, repositories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::files::{lua, read, start, write};
use crate::report::{answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};

/// Answers the next question of this title.
fn answer(nvim: &mut Nvim, words: &str, option: &str) {
    let code = "
        local words, option = ...
        for _, it in ipairs(require('acp').permissions()) do
          if it.title:find(words, 1, true) then
            require('acp').respond(it.id, option)
            return true
          end
        end
        return false
    ";
    nvim.wait_for(words, DEADLINE, |nvim| {
        (nvim.lua(code, json!([words, option])) == true).then_some(())
    });
}

fn outside(nvim: &Nvim) -> PathBuf {
    let path = nvim.scratch().project().parent().unwrap().join("outside");
    fs::create_dir_all(&path).unwrap();
    path
}

fn wait_file(name: &str) -> Value {
    json!({ "wait_file": { "path": format!("{{{{cwd}}}}/{name}") } })
}

fn list(path: &str) -> Value {
    let params = json!({ "path": format!("{{{{cwd}}}}/{path}") });
    json!({ "request": { "method": "fs/list_directory", "params": params } })
}

const WORKED: &str = r#"{ "update": { "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit", "status": "completed" } }"#;

nvim_tests! {
    fn an_open_file_that_becomes_a_link_leads_nowhere(target: &Target) {
        let worked = serde_json::from_str(WORKED).unwrap();
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"), wait_file("swapped"), worked, read("a.txt"), write("a.txt", "pwned\n"),
        ]);
        let secret = outside(&nvim).join("secret.txt");
        fs::write(&secret, "TOPSECRET\n").unwrap();
        let path = nvim.scratch().write("a.txt", "plain\n");
        nvim.command("edit a.txt");
        send(&mut nvim, "go");
        nvim.wait_until("the first answer", DEADLINE, |nvim| answers(nvim).len() == 1);
        fs::remove_file(&path).unwrap();
        symlink(&secret, &path).unwrap();
        nvim.scratch().write("swapped", "");
        answer(&mut nvim, "read /", "refuse");
        answer(&mut nvim, "write /", "refuse");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert_eq!(answers[0]["result"]["content"], "plain\n");
        for answer in &answers[1..] {
            let words = answer["error"]["message"].as_str().unwrap();
            assert!(words.contains("outside/secret.txt must not be touched"), "{words}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "TOPSECRET\n");
        let shown = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, false)";
        assert_eq!(lua(&mut nvim, shown), json!(["plain"]), "and the buffer does not follow");
    }

    /// What is not saved is in the buffer alone, and is not for whoever toggles links.
    fn a_changed_buffer_is_not_saved_through_a_link(target: &Target) {
        let mut nvim = start(target, Options::default(), &[read("a.txt"), write("a.txt", "theirs\n")]);
        let secret = outside(&nvim).join("secret.txt");
        fs::write(&secret, "TOPSECRET\n").unwrap();
        let path = nvim.scratch().write("a.txt", "plain\n");
        nvim.command("edit a.txt");
        // In the place of the file when it is about to be saved.
        let swap = format!(
            "vim.api.nvim_create_autocmd('User', {{ pattern = 'AcpTurnStarted', callback = function() \
             local find = require('acp.files.apply'); local apply = find.apply; \
             find.apply = function(...) local result = apply(...); \
             vim.uv.fs_unlink({path:?}); vim.uv.fs_symlink({secret:?}, {path:?}); return result end end }})"
        );
        lua(&mut nvim, &swap);
        send(&mut nvim, "go");
        finish(&mut nvim);
        let words = answers(&nvim)[1]["error"]["message"].as_str().unwrap().to_owned();
        assert!(words.contains("its file has become a link"), "{words}");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "TOPSECRET\n");
    }

    fn a_repository_is_not_written_unasked(target: &Target) {
        let options = Options { before: "vim.g.acp = { permissions = { rules = { { action = 'allow', kind = 'edit' } } } }".into(), ..Options::default() };
        let mut nvim = start(target, options, &[
            write(".git/config", "[core]\n"), write(".git/hooks/pre-commit", "x\n"), read(".git/config"), write(".gitignore", "x\n"),
        ]);
        fs::create_dir(nvim.scratch().project().join(".git")).unwrap();
        nvim.scratch().write(".git/config", "old\n");
        send(&mut nvim, "go");
        answer(&mut nvim, ".git/config (part of the repository itself)", "refuse");
        answer(&mut nvim, ".git/hooks/pre-commit (part of the repository itself)", "refuse");
        answer(&mut nvim, "read ", "allow");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert_eq!(answers[2]["result"]["content"], "old\n");
        assert!(answers[3]["error"].is_null(), "{}", answers[3]);
        assert!(!nvim.scratch().project().join(".git/hooks").exists());
    }

    fn a_folder_that_is_a_link_is_not_listed_unasked(target: &Target) {
        let mut nvim = start(target, Options::default(), &[list("link"), list("inner"), list("link")]);
        let outside = outside(&nvim);
        fs::write(outside.join("secret.txt"), "").unwrap();
        nvim.scratch().write("folder/a.txt", "");
        symlink(&outside, nvim.scratch().project().join("link")).unwrap();
        symlink("folder", nvim.scratch().project().join("inner")).unwrap();
        send(&mut nvim, "go");
        answer(&mut nvim, "list /", "refuse");
        nvim.wait_until("the next answers", DEADLINE, |nvim| answers(nvim).len() == 2);
        answer(&mut nvim, "list /", "allow");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert!(answers[0]["error"].is_object(), "{}", answers[0]);
        assert_eq!(answers[1]["result"]["entries"][0]["name"], "a.txt");
        assert_eq!(answers[2]["result"]["entries"][0]["name"], "secret.txt");
    }

    /// A file that is not open, changed by somebody since the agent has read it.
    fn a_closed_file_keeps_what_the_agent_has_not_seen(target: &Target) {
        let mut nvim = start(target, Options::default(), &[
            read("a.txt"), read("b.txt"), wait_file("changed"),
            write("a.txt", "one\ntwo\nthree\nfour\ntheirs\n"), write("b.txt", "theirs\n"),
        ]);
        nvim.scratch().write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        nvim.scratch().write("b.txt", "one\n");
        send(&mut nvim, "go");
        nvim.wait_until("the reads", DEADLINE, |nvim| answers(nvim).len() == 2);
        nvim.scratch().write("a.txt", "mine\none\ntwo\nthree\nfour\nfive\n");
        nvim.scratch().write("b.txt", "mine\n");
        nvim.scratch().write("changed", "");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert!(answers[2]["error"].is_null(), "{}", answers[2]);
        assert_eq!(nvim.scratch().read("a.txt"), "mine\none\ntwo\nthree\nfour\ntheirs\n");
        let words = answers[3]["error"]["message"].as_str().unwrap();
        assert!(words.contains("has changed since it was read, at line 1 too"), "{words}");
        assert_eq!(nvim.scratch().read("b.txt"), "mine\n");
        // What is to be reviewed is what the agent did, and nothing else.
        nvim.wait_for("the review", DEADLINE, |nvim| {
            let hunks = lua(nvim, "local c = require('acp').changes(); return c[1] and #c == 1 and c[1].hunks or vim.NIL");
            (hunks[0]["old"] == json!(["five"]) && hunks[0]["new"] == json!(["theirs"]) && hunks[1].is_null()).then_some(())
        });
    }

    fn a_deleted_file_is_not_brought_back_through_a_link(target: &Target) {
        let delete = json!({ "delete_file": "{{cwd}}/d/keys" });
        let mut nvim = start(target, Options::default(), &[delete]);
        let outside = outside(&nvim);
        nvim.scratch().write("d/keys", "old\n");
        nvim.scratch().write("b.txt", "");
        send(&mut nvim, "go");
        finish(&mut nvim);
        nvim.wait_for("the change", DEADLINE, |nvim| {
            (lua(nvim, "return #require('acp').changes()") == 1).then_some(())
        });
        let folder = nvim.scratch().project().join("d");
        fs::remove_dir_all(&folder).unwrap();
        symlink(&outside, &folder).unwrap();
        lua(&mut nvim, "_G.said = ''; vim.notify = function(words) _G.said = _G.said .. words end; require('acp').reject({})");
        nvim.wait_for("words about it", DEADLINE, |nvim| {
            let said = lua(nvim, "return _G.said");
            said.as_str().is_some_and(|it| it.contains("d/keys")).then_some(())
        });
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
