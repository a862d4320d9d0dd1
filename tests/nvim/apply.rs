//! Diffs and code of the chat, put into buffers.

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::{wait_choices, with_options};
use crate::report::{finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

const TEXT: &str = "\
fn one() {
    let a = 1;
    call(a);
}

fn two() {
    let b = 2;
    call(b);
}

fn three() {
    let c = 3;
    call(c);
}
";

const DIFF: &str = "\
Two changes, and one for another file:

```diff
--- a/a.rs
+++ b/a.rs
@@ -90,4 +90,5 @@
 fn two() {
-    let b = 2;
+    let b = 22;
+    check(b);
     call(b);
@@ -120,3 +121,3 @@
 fn three() {
-    let c = 3;
+    let c = 33;
     call(c);
```
";

/// A Neovim whose agent has said this, with `a.rs` open beside the chat and the cursor in the
/// transcript, where this is.
fn said(target: &Target, words: &str, at: &str) -> Nvim {
    let scenario = json!({ "prompts": [{ "steps": [{ "say": words }] }] });
    let mut nvim = with_options(target, Options::default(), &scenario);
    nvim.scratch().write("a.rs", TEXT);
    nvim.command("edit a.rs");
    send(&mut nvim, "go");
    finish(&mut nvim);
    nvim.command("AcpChat");
    nvim.input("<Esc><C-w>k");
    nvim.wait_until("the transcript has the cursor", DEADLINE, |nvim| {
        lua(nvim, "return vim.bo.filetype .. vim.fn.mode()") == "acpn"
    });
    find(&mut nvim, at);
    nvim
}

/// Goes to a text, which the code under it is complete with.
fn find(nvim: &mut Nvim, text: &str) {
    nvim.wait_until("the code is there", DEADLINE, |nvim| {
        nvim.lua("return vim.fn.search(...) > 0", json!([format!("\\V{text}")])) == true
    });
}

fn file(nvim: &mut Nvim) -> String {
    let lines = lua(nvim, "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.rs'), 0, -1, false)");
    let lines: Vec<String> = serde_json::from_value(lines).unwrap();
    lines.join("\n") + "\n"
}

/// How many marks the preview has in `a.rs`.
fn marks(nvim: &mut Nvim) -> Value {
    lua(
        nvim,
        "return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.rs'),
           vim.api.nvim_create_namespace('acp.apply'), 0, -1, {})",
    )
}

fn wait_message(nvim: &mut Nvim, text: &str) {
    nvim.wait_until(text, DEADLINE, |nvim| nvim.messages().contains(text));
}

fn both() -> String {
    TEXT.replace("let b = 2;", "let b = 22;\n    check(b);").replace("let c = 3;", "let c = 33;")
}

nvim_tests! {
    fn a_diff_is_shown_and_then_applied(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        nvim.resize(120, 36);
        nvim.input("gA");
        wait_choices(&mut nvim, "Apply all 2 changes");
        nvim.assert_screen("apply_diff");
        assert_eq!(file(&mut nvim), TEXT, "it is only shown");
        nvim.input("1");
        wait_message(&mut nvim, "Applied 2 changes to a.rs");
        assert_eq!(file(&mut nvim), both());
        assert_eq!(marks(&mut nvim), 0);
        assert_eq!(lua(&mut nvim, "return vim.bo[vim.fn.bufnr('a.rs')].modified"), true);
        assert_eq!(nvim.scratch().read("a.rs"), TEXT, "saving is the user's");
        // One step to undo.
        nvim.input("<C-w>hu");
        assert_eq!(file(&mut nvim), TEXT);
        nvim.input("<C-r><C-w>l");
        find(&mut nvim, "let b = 2");
        nvim.input("gA");
        wait_message(&mut nvim, "is there already");
        assert_eq!(file(&mut nvim), both());
    }

    fn changes_are_chosen_one_by_one(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        nvim.input("gA");
        wait_choices(&mut nvim, "One by one");
        nvim.input("2");
        wait_choices(&mut nvim, "Change 1 of 2");
        nvim.input("2");
        wait_choices(&mut nvim, "Change 2 of 2");
        nvim.input("1");
        wait_message(&mut nvim, "Applied 1 change to a.rs");
        assert_eq!(file(&mut nvim), TEXT.replace("let c = 3;", "let c = 33;"));
        assert_eq!(marks(&mut nvim), 0);
    }

    fn nothing_is_done_when_it_is_cancelled(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        for keys in ["<Esc>", "3"] {
            nvim.input("gA");
            wait_choices(&mut nvim, "Cancel");
            nvim.input(keys);
            nvim.wait_until("the preview to be gone", DEADLINE, |nvim| marks(nvim) == 0);
            assert_eq!(file(&mut nvim), TEXT);
        }
        assert_eq!(lua(&mut nvim, "return vim.bo.filetype"), "acp", "the cursor is where it was");
    }

    fn code_takes_the_place_of_what_it_stands_for(target: &Target) {
        let mut nvim = said(
            target,
            "Write\n\n```rust\nfn two(x: u8) {\n    let b = x;\n    call(b);\n}\n```\n\nand be glad.",
            "fn two",
        );
        // From the buffer: the last code of the chat.
        nvim.input("<C-w>h:Acp apply<CR>");
        wait_choices(&mut nvim, "Apply it");
        nvim.input("1");
        wait_message(&mut nvim, "Applied 1 change to a.rs");
        let new = TEXT.replace("fn two() {\n    let b = 2;", "fn two(x: u8) {\n    let b = x;");
        assert_eq!(file(&mut nvim), new);
        // A selection makes place for it.
        nvim.input("u:1,4Acp apply<CR>");
        wait_choices(&mut nvim, "Apply it");
        nvim.input("1");
        let new = "fn two(x: u8) {\n    let b = x;\n    call(b);\n}\n";
        let all = TEXT.replace("fn one() {\n    let a = 1;\n    call(a);\n}\n", new);
        nvim.wait_until("it is applied", DEADLINE, |nvim| file(nvim) == all);
    }

    fn what_has_no_place_is_told(target: &Target) {
        let mut nvim = said(
            target,
            "```diff\n@@ -1 +1 @@\n-    let b = 2;\n+    let b = 22;\n@@ -9,2 +9,2 @@\n something else\n-entirely\n+different\n```\n\n```diff\n-nowhere to be seen\n+at all\n```",
            "let b = 2",
        );
        nvim.input("gA");
        wait_choices(&mut nvim, "Apply 1 change, and leave out 1");
        assert!(nvim.screen().find("\"different\" fits nowhere").is_some());
        nvim.input("1");
        wait_message(&mut nvim, "Applied 1 change to a.rs");
        assert_eq!(file(&mut nvim), TEXT.replace("let b = 2;", "let b = 22;"));
        find(&mut nvim, "nowhere to be seen");
        nvim.allow_errors();
        nvim.input("gA");
        wait_message(&mut nvim, "a.rs: \"at all\" fits nowhere");
        nvim.input("gggA");
        wait_message(&mut nvim, "There is no code block here");
    }

    fn a_buffer_that_can_not_be_changed_is_left_alone(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        nvim.allow_errors();
        lua(&mut nvim, "vim.bo[vim.fn.bufnr('a.rs')].modifiable = false");
        nvim.input("gA");
        wait_message(&mut nvim, "a.rs is not modifiable");
        nvim.input(":Acp apply missing.rs<CR>");
        wait_message(&mut nvim, "There is no buffer or file \"missing.rs\"");
        assert_eq!(file(&mut nvim), TEXT);
    }

    fn a_buffer_that_changes_meanwhile_is_looked_at_again(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        nvim.input("gA");
        wait_choices(&mut nvim, "Apply all 2 changes");
        lua(&mut nvim, "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.rs'), 0, 0, false, { '// new' })");
        nvim.input("1");
        wait_message(&mut nvim, "a.rs was changed meanwhile");
        wait_choices(&mut nvim, "Apply all 2 changes");
        nvim.input("1");
        wait_message(&mut nvim, "Applied 2 changes to a.rs");
        assert_eq!(file(&mut nvim), format!("// new\n{}", both()));
    }

    fn a_diff_for_several_files_goes_to_each(target: &Target) {
        let words = "```diff\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n fn one() {\n-    let a = 1;\n+    let a = 11;\n\
                     --- /dev/null\n+++ b/made.rs\n@@ -0,0 +1,2 @@\n+// made\n+fn made() {}\n\
                     --- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n```";
        let mut nvim = said(target, words, "let a = 1");
        nvim.input("gA");
        wait_choices(&mut nvim, "Apply to a.rs");
        nvim.input("1");
        wait_choices(&mut nvim, "Apply to made.rs");
        nvim.input("1");
        wait_message(&mut nvim, "The diff deletes gone.rs: that is left to you");
        assert_eq!(file(&mut nvim), TEXT.replace("let a = 1;", "let a = 11;"));
        let made = lua(&mut nvim, "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('made.rs'), 0, -1, false)");
        assert_eq!(made, json!(["// made", "fn made() {}"]));
    }

    fn a_selection_of_the_chat_goes_to_the_buffer_named(target: &Target) {
        let mut nvim = said(target, "- first\n  ```\n  let b = 2;\n  let d = 4;\n  ```\n", "let d");
        nvim.scratch().write("b.rs", "one\n    two\n");
        nvim.input("V:<C-u>'<lt>,'>Acp apply b.rs<CR>");
        wait_choices(&mut nvim, "Apply to b.rs");
        nvim.input("1");
        wait_message(&mut nvim, "Applied 1 change to b.rs");
        let lines = lua(&mut nvim, "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('b.rs'), 0, -1, false)");
        assert_eq!(lines, json!(["one", "let d = 4;", "    two"]));
        assert_eq!(file(&mut nvim), TEXT);
        assert_eq!(
            lua(&mut nvim, "return vim.fn.getcompletion('Acp apply ', 'cmdline')"),
            json!(["a.rs", "b.rs"])
        );
    }

    fn a_floating_chat_makes_room_for_what_is_shown(target: &Target) {
        let mut nvim = said(target, DIFF, "let b = 2");
        nvim.command("Acp layout float");
        nvim.wait_until("the chat floats", DEADLINE, |nvim| {
            lua(nvim, "return vim.api.nvim_win_get_config(0).relative") == "editor"
        });
        nvim.input("<Esc>:Acp apply<CR>");
        wait_choices(&mut nvim, "Apply all 2 changes");
        assert!(nvim.screen().find("check(b)").is_some());
        nvim.input("1");
        wait_message(&mut nvim, "Applied 2 changes to a.rs");
        assert_eq!(file(&mut nvim), both());
    }
}
