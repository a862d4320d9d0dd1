//! Saving for an agent, where that would damage something: it is not done, or told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::files::{lua, read, start, write};
use crate::files_disk::modified;
use crate::files_merge::{begin, pause, release};
use crate::report::{answers, finish};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// A Neovim with a file of these bytes, which its agent has read and is about to write.
fn opened(target: &Target, bytes: &[u8], theirs: &str) -> Nvim {
    let steps = [read("a.txt"), pause("go1"), write("a.txt", theirs), pause("go2")];
    let mut nvim = start(target, Options::default(), &steps);
    fs::write(nvim.scratch().project().join("a.txt"), bytes).unwrap();
    nvim.command("edit a.txt");
    begin(&mut nvim, 1);
    nvim
}

fn bytes(nvim: &Nvim) -> Vec<u8> {
    fs::read(nvim.scratch().project().join("a.txt")).unwrap()
}

/// Lets the agent write, and waits for the reason why that was not saved: on the screen, in one
/// line, and in the agent's answer.
fn refused(nvim: &mut Nvim, why: &str, hint: &str) {
    release(nvim, "go1");
    nvim.wait_until("the answer", DEADLINE, |nvim| answers(nvim).len() == 2);
    let answer = answers(nvim).remove(1);
    let words = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(words.contains("not saved") && words.contains(why), "{answer}");
    let frame = nvim.wait_screen("a.txt: not saved");
    assert!(frame.find(hint).is_some(), "{}", frame.text());
    assert_eq!(lua(nvim, "return vim.api.nvim_get_mode().blocking"), false);
    assert!(modified(nvim), "what is not saved is modified");
}

fn end(nvim: &mut Nvim) {
    release(nvim, "go2");
    finish(nvim);
}

/// Nothing that Neovim writes from now on is longer than this, if it is not 0.
fn limit_files(nvim: &mut Nvim, bytes: u64) {
    let code = "
        local ffi = require('ffi')
        if not limits then
          ffi.cdef([[
            struct limits { unsigned long now, most; };
            int setrlimit(int, const struct limits *);
            void *signal(int, intptr_t);
          ]])
          _G.limits = true
        end
        ffi.C.signal(25, 1)
        local most = 0xffffffffffffffffULL
        local now = ... > 0 and ... or most
        assert(ffi.C.setrlimit(1, ffi.new('struct limits', now, most)) == 0)";
    nvim.lua(code, json!([bytes]));
}

/// Neovim is nobody who may do more than others, until it is root again.
fn set_user(nvim: &mut Nvim, user: u32) {
    let code = "
        local ffi = require('ffi')
        if not users then
          ffi.cdef('int setresuid(unsigned, unsigned, unsigned);')
          _G.users = true
        end
        assert(ffi.C.setresuid(..., ..., 0) == 0)";
    nvim.lua(code, json!([user, user]));
}

nvim_tests! {
    fn what_the_encoding_has_not_got_is_not_saved(target: &Target) {
        let latin1 = b"one\ntw\xf6\nthree\n";
        for (user, theirs, line, character) in [
            ("1 substitute/one/a → b/", "one\ntwö\nTHREE\n", 1, "→"),
            ("1 substitute/one/mine/", "one\ntwö\n3 €\n", 3, "€"),
            ("1 substitute/one/mine/", "one\ntwö\ne\u{301}\n", 3, "\u{301}"),
        ] {
            let mut nvim = opened(target, latin1, theirs);
            assert_eq!(lua(&mut nvim, "return vim.bo.fileencoding"), "latin1");
            nvim.command(user);
            refused(&mut nvim, &format!("latin1 has no \"{character}\" (line {line})"), ":set fenc=utf-8, then :w");
            let first = if line == 1 { "a → b" } else { "mine" };
            let expected = format!("{first}\n{}", theirs.split_once('\n').unwrap().1);
            let text = |nvim: &mut Nvim| nvim.lines(0).join("\n") + "\n";
            assert_eq!((text(&mut nvim), bytes(&nvim)), (expected.clone(), latin1.to_vec()));
            end(&mut nvim);
            assert_eq!((text(&mut nvim), bytes(&nvim)), (expected.clone(), latin1.to_vec()));
            assert!(modified(&mut nvim));
            nvim.input(":set fenc=utf-8<CR>:w<CR>");
            nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
            assert_eq!(bytes(&nvim), expected.as_bytes());
        }
    }

    fn what_the_encoding_has_is_saved(target: &Target) {
        let mut nvim = opened(target, b"one\ntw\xf6\nthree\n", "one\ntwö\nß\n");
        nvim.command("1 substitute/one/à/");
        release(&nvim, "go1");
        end(&mut nvim);
        assert!(answers(&nvim)[1]["error"].is_null(), "{}", answers(&nvim)[1]);
        assert_eq!(bytes(&nvim), b"\xe0\ntw\xf6\n\xdf\n");
    }

    /// What is written as a backslash there is read as a yen sign.
    fn what_is_read_otherwise_in_its_encoding_is_saved(target: &Target) {
        let mut nvim = opened(target, b"one\ntwo\n", "one\n\u{65e5} \\ ~\n");
        nvim.command("set fileencoding=sjis");
        release(&nvim, "go1");
        end(&mut nvim);
        assert!(answers(&nvim)[1]["error"].is_null(), "{}", answers(&nvim)[1]);
        assert_eq!(bytes(&nvim), b"one\n\x93\xfa \\ ~\n");
    }

    fn a_full_disk_is_told_and_its_damage_not_followed(target: &Target) {
        let theirs = format!("one\ntwo\n{}", "a line of the agent\n".repeat(100_000));
        let mut nvim = opened(target, b"one\ntwo\n", &theirs);
        nvim.command("1 substitute/one/mine/");
        limit_files(&mut nvim, 1 << 20);
        refused(&mut nvim, "E514", "Make room, then :w");
        nvim.wait_screen("its file is damaged");
        assert_eq!(bytes(&nvim).len(), 1 << 20, "the test damages the file");
        let expected = theirs.replacen("one", "mine", 1);
        let text = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'";
        assert_eq!(lua(&mut nvim, text), expected);
        end(&mut nvim);
        nvim.wait_until("the turn to be over for good", DEADLINE, |nvim| {
            lua(nvim, "return #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' })") == 0
        });
        nvim.command("checktime");
        assert_eq!(lua(&mut nvim, text), expected);
        assert!(modified(&mut nvim));
        limit_files(&mut nvim, 0);
        nvim.input(":w<CR>");
        nvim.wait_until("the file to be saved", DEADLINE, |nvim| !modified(nvim));
        assert_eq!(bytes(&nvim), expected.as_bytes());
    }

    fn a_file_that_must_not_be_written_is_not(target: &Target) {
        // Nothing is forbidden to root: the test is somebody else then.
        let root = rustix::process::geteuid().is_root();
        let mut nvim = opened(target, b"one\ntwo\n", "one\nTWO\n");
        let path = nvim.scratch().project().join("a.txt");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
        if root {
            set_user(&mut nvim, 65534);
        }
        refused(&mut nvim, "permission denied", ":w! overrides that");
        if root {
            set_user(&mut nvim, 0);
        }
        assert_eq!((nvim.lines(0).join("\n"), bytes(&nvim)), ("one\nTWO".into(), b"one\ntwo\n".to_vec()));
        end(&mut nvim);
    }
}
