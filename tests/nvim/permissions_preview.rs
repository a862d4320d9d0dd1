//! A change that is asked for, looked at in its file before it is allowed, and allowed in part.

use serde_json::{Value, json};

use crate::files::{lua, write};
use crate::permissions::{
    PICKER, open_window, set_permissions, wait_open, wait_picker, wait_window,
};
use crate::plugin::with_options;
use crate::report::{REPORT, answers, assert_polite, calls, finish, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

const OLD: &str = "\
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

const NEW: &str = "\
fn one() {
    let a = 11;
    call(a);
}

fn two() {
    let b = 22;
    check(b);
    call(b);
}

fn three() {
    let c = 3;
}
";

/// What is left of it without its second part.
const WITHOUT: &str = "\
fn one() {
    let a = 11;
    call(a);
}

fn two() {
    let b = 2;
    call(b);
}

fn three() {
    let c = 3;
}
";

const QUOTE: &str = "```diff\n-    let b = 2;\n+    let b = 22;\n+    check(b);\n```";

const TITLE: &str = "fake asks (edit): Edit a.rs";

fn ask(diffs: &Value, then: &[Value]) -> Value {
    json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": { "toolCallId": "t1", "title": "Edit a.rs", "kind": "edit", "status": "pending", "content": diffs },
            "options": [
                { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
                { "optionId": "no", "name": "Reject", "kind": "reject_once" }
            ]
        },
        "id": "t1",
        "answered": [{ "when": { "outcome": { "optionId": "yes" } }, "steps": then }],
        "otherwise": [{ "say": "Then not." }]
    } })
}

fn diff(path: &str, old: Option<&str>, new: &str) -> Value {
    json!({ "type": "diff", "path": format!("{{{{cwd}}}}/{path}"), "oldText": old, "newText": new })
}

fn completed() -> Value {
    json!({ "update": { "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed" } })
}

fn on_disk(text: &str) -> Value {
    json!({ "write_file": { "path": "a.rs", "text": text } })
}

/// A Neovim with `a.rs` open, whose agent asks for this and does that when it may.
fn asked(target: &Target, options: Options, (diffs, then): (&Value, &[Value])) -> Nvim {
    let echo = json!({ "steps": [{ "say": "You said: {{prompt}}" }] });
    let scenario = json!({ "report": REPORT, "prompts": [
        { "is": "go", "steps": [ask(diffs, then), { "say": " The end." }] }, echo,
    ] });
    let mut nvim = with_options(target, options, &scenario);
    nvim.scratch().write("a.rs", OLD);
    nvim.command("edit a.rs");
    nvim
}

/// Sends the prompt, and goes from the list to the file.
fn preview(nvim: &mut Nvim) {
    send(nvim, "go");
    open_window(nvim, TITLE);
    nvim.input("p");
    wait_bar(nvim, "3 of 3 accepted");
}

fn wait_bar(nvim: &mut Nvim, words: &str) {
    nvim.wait_screen(words);
}

fn whole(then: &[Value]) -> (Value, Vec<Value>) {
    (json!([diff("a.rs", Some(OLD), NEW)]), then.to_vec())
}

fn buffer(nvim: &mut Nvim) -> String {
    let lines = lua(nvim, "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.rs'), 0, -1, false)");
    let lines: Vec<String> = serde_json::from_value(lines).unwrap();
    lines.join("\n") + "\n"
}

fn wait_buffer(nvim: &mut Nvim, text: &str) {
    let mut seen = String::new();
    nvim.wait_until(&format!("the buffer to be {text}"), DEADLINE, |nvim| {
        seen = buffer(nvim);
        seen == text
    });
}

fn disk(nvim: &Nvim) -> String {
    nvim.scratch().read("a.rs")
}

/// How many marks the preview has in `a.rs`, and whether its keys are there.
fn traces(nvim: &mut Nvim) -> Value {
    lua(nvim, "local buf = vim.fn.bufnr('a.rs')
        local ns = vim.api.nvim_create_namespace('acp.apply')
        local bars = vim.tbl_filter(function(win) return vim.w[win].acp_role == 'proposal' end, vim.api.nvim_list_wins())
        return { #vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, {}), #bars,
          vim.api.nvim_buf_call(buf, function() return vim.fn.maparg('glq', 'n') == '' and 0 or 1 end) }")
}

/// The second prompt that the agent got.
fn told(nvim: &mut Nvim) -> String {
    nvim.wait_for("the second prompt", DEADLINE, |nvim| {
        let prompt = calls(nvim, "session/prompt").get(1)?.clone();
        Some(prompt["prompt"][0]["text"].as_str()?.to_owned())
    })
}

fn chosen(nvim: &mut Nvim) -> Value {
    wait_answers(nvim, 1)[0]["result"]["outcome"]["optionId"].clone()
}

nvim_tests! {
    fn a_part_is_refused_and_reverted_when_the_agent_writes_through_us(target: &Target) {
        let (diffs, then) = whole(&[write("a.rs", NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        nvim.input("ggOmine();<Esc>");
        preview(&mut nvim);
        assert_eq!(lua(&mut nvim, "return { vim.fn.expand('%:t'), vim.fn.line('.') }"), json!(["a.rs", 3]));
        nvim.input("]gglr");
        wait_bar(&mut nvim, "2 of 3 accepted");
        nvim.assert_screen("permissions_preview");
        assert!(answers(&nvim).is_empty());
        nvim.input("glA");
        assert_eq!(chosen(&mut nvim), "yes");
        let told = told(&mut nvim);
        assert!(told.contains("I have reverted this") && told.contains(QUOTE), "{told}");
        assert!(told.contains("a.rs, lines 8-9:") && !told.contains("let a") && !told.contains("not saved"), "{told}");
        let expected = format!("mine();\n{WITHOUT}");
        assert_eq!(buffer(&mut nvim), expected);
        assert_eq!(disk(&nvim), expected);
        assert_eq!(traces(&mut nvim), json!([0, 0, 0]));
        nvim.input(":buffer a.rs<CR>u");
        wait_buffer(&mut nvim, &format!("mine();\n{NEW}"));
        assert_polite(&nvim);
    }

    fn a_part_is_reverted_when_the_agent_writes_to_the_disk(target: &Target) {
        let (diffs, then) = whole(&[on_disk(NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("]gglrglA");
        let told = told(&mut nvim);
        assert!(told.contains(QUOTE) && !told.contains("not saved"), "{told}");
        assert_eq!(buffer(&mut nvim), WITHOUT);
        assert_eq!(disk(&nvim), WITHOUT);
    }

    fn the_disk_is_put_right_without_what_is_not_saved(target: &Target) {
        for edited in [false, true] {
            let (diffs, then) = whole(&[on_disk(NEW), completed()]);
            let mut nvim = asked(target, Options::default(), (&diffs, &then));
            nvim.input("ggOmine();<Esc>");
            preview(&mut nvim);
            let mut expected = WITHOUT.to_owned();
            if edited {
                nvim.input("]ggle");
                nvim.wait_until("the editor", DEADLINE, |nvim| lua(nvim, "return vim.bo.buftype") == "acwrite");
                nvim.input("gg:s/22/222/<CR>:wq<CR>");
                nvim.wait_screen("with your edits");
                nvim.input("glA");
                expected = NEW.replace("22", "222");
            } else {
                nvim.input("]gglrglA");
            }
            let told = told(&mut nvim);
            assert!(told.contains("let b = 22;") && !told.contains("not saved"), "{told}\n{}", nvim.messages());
            assert_eq!(buffer(&mut nvim), format!("mine();\n{expected}"));
            assert_eq!(disk(&nvim), expected);
            assert_eq!(lua(&mut nvim, "return vim.bo[vim.fn.bufnr('a.rs')].modified"), true);
            // Neovim has nothing to warn of, and nothing comes back.
            nvim.command("buffer a.rs");
            nvim.command("checktime");
            nvim.command("write");
            assert_eq!(disk(&nvim), format!("mine();\n{expected}"));
            let messages = lua(&mut nvim, "return vim.fn.execute('messages')");
            assert!(!messages.as_str().unwrap().contains("W1"), "{messages}");
        }
    }

    fn what_is_still_on_the_disk_is_told(target: &Target) {
        let (diffs, then) = whole(&[on_disk(NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        // All lines of the file would have to be written otherwise.
        nvim.command("set fileformat=dos");
        nvim.input("ggOmine();<Esc>");
        preview(&mut nvim);
        nvim.input("]gglrglA");
        nvim.wait_screen("still on the disk");
        let told = told(&mut nvim);
        assert!(told.contains(QUOTE) && told.contains("a.rs is not saved"), "{told}");
        assert_eq!(buffer(&mut nvim), format!("mine();\n{WITHOUT}"));
        assert_eq!(disk(&nvim), NEW);
    }

    fn a_part_is_edited_first(target: &Target) {
        let (diffs, then) = whole(&[write("a.rs", NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("]ggle");
        nvim.wait_until("the editor", DEADLINE, |nvim| lua(nvim, "return vim.bo.buftype") == "acwrite");
        nvim.input("gg:s/22/222/<CR>:wq<CR>");
        nvim.wait_screen("with your edits");
        nvim.assert_screen("permissions_preview_edited");
        nvim.input("glA");
        let told = told(&mut nvim);
        assert!(told.contains("I have changed this"), "{told}");
        assert!(told.contains("```diff\n-    let b = 22;\n-    check(b);\n+    let b = 222;\n+    check(b);\n```"), "{told}");
        let expected = NEW.replace("22", "222");
        assert_eq!(buffer(&mut nvim), expected);
        assert_eq!(disk(&nvim), expected);
    }

    fn a_part_can_be_a_reason_to_reject(target: &Target) {
        let options = Options { before: "vim.g.acp = { permissions = { partial = 'reject' } }".into(), ..Options::default() };
        let (diffs, then) = whole(&[write("a.rs", NEW)]);
        let mut nvim = asked(target, options, (&diffs, &then));
        preview(&mut nvim);
        nvim.input("]gglrglA");
        assert_eq!(chosen(&mut nvim), "no");
        let told = told(&mut nvim);
        assert!(told.contains("I have rejected your change as a whole") && told.contains(QUOTE), "{told}");
        assert_eq!(disk(&nvim), OLD);
        assert_eq!(traces(&mut nvim), json!([0, 0, 0]));
    }

    fn all_of_it_is_allowed_or_rejected_from_there(target: &Target) {
        let (diffs, then) = whole(&[write("a.rs", NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("glr");
        wait_bar(&mut nvim, "2 of 3 accepted");
        nvim.input("gla");
        wait_bar(&mut nvim, "3 of 3 accepted");
        nvim.input("glA");
        finish(&mut nvim);
        assert_eq!(buffer(&mut nvim), NEW);
        assert_eq!(calls(&nvim, "session/prompt").len(), 1);

        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("glR");
        nvim.wait_screen("What should fake do instead?");
        nvim.type_keys("Nothing");
        nvim.input("<CR>");
        assert_eq!(chosen(&mut nvim), "no");
        assert_eq!(told(&mut nvim), "Nothing");
        assert_eq!(traces(&mut nvim), json!([0, 0, 0]));
    }

    fn who_leaves_finds_it_as_it_was(target: &Target) {
        let (diffs, then) = whole(&[]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("glrglq");
        nvim.wait_screen("Not answered yet: ");
        assert_eq!(traces(&mut nvim), json!([0, 0, 0]));
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, TITLE);
        nvim.input("p");
        wait_bar(&mut nvim, "2 of 3 accepted");
    }

    fn who_closes_the_file_leaves_it_open(target: &Target) {
        let (diffs, then) = whole(&[]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input(":bwipeout!<CR>");
        nvim.wait_screen("Not answered yet: ");
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, TITLE);
        nvim.input("p");
        wait_bar(&mut nvim, "3 of 3 accepted");
        nvim.input(":split<CR>:quit<CR>");
        wait_bar(&mut nvim, "3 of 3 accepted");
        nvim.input("glA");
        assert_eq!(chosen(&mut nvim), "yes");
    }

    fn a_picker_of_others_leads_there_too(target: &Target) {
        let (diffs, then) = whole(&[]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        nvim.lua(PICKER, json!([]));
        set_permissions(&mut nvim, json!({ "picker": "vim.ui.select" }));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.command("Acp permissions");
        assert_eq!(wait_picker(&mut nvim, 1)[1][4], "»  Preview in the file");
        lua(&mut nvim, "pickers[1].choose(5)");
        wait_bar(&mut nvim, "3 of 3 accepted");
        nvim.input("glA");
        assert_eq!(chosen(&mut nvim), "yes");
    }

    fn what_is_answered_elsewhere_or_withdrawn_is_gone(target: &Target) {
        let (diffs, then) = whole(&[]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        let id = wait_open(&mut nvim, 1)[0];
        nvim.lua("assert(require('acp').respond(..., 'no'))", json!([id]));
        nvim.wait_until("no traces", DEADLINE, |nvim| traces(nvim) == json!([0, 0, 0]));
        assert_eq!(buffer(&mut nvim), OLD);

        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.command("Acp cancel");
        nvim.wait_until("no traces", DEADLINE, |nvim| traces(nvim) == json!([0, 0, 0]));
    }

    fn what_the_user_types_meanwhile_moves_it(target: &Target) {
        let (diffs, then) = whole(&[write("a.rs", NEW), completed()]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("]gglr");
        wait_bar(&mut nvim, "2 of 3 accepted");
        nvim.input("ggOmine();<Esc>");
        nvim.input("glA");
        let told = told(&mut nvim);
        assert!(told.contains(QUOTE), "{told}");
        assert_eq!(buffer(&mut nvim), format!("mine();\n{WITHOUT}"));
    }

    fn pieces_and_new_files_are_shown_too(target: &Target) {
        let diffs = json!([diff("a.rs", Some("a = 1"), "a = 0"), diff("new.rs", None, "one\ntwo\n")]);
        let mut nvim = asked(target, Options::default(), (&diffs, &[]));
        send(&mut nvim, "go");
        open_window(&mut nvim, TITLE);
        nvim.input("p");
        wait_bar(&mut nvim, "1 of 1 accepted, file 1 of 2");
        nvim.wait_screen("let a = 0;");
        nvim.input("]g");
        wait_bar(&mut nvim, "1 of 1 accepted, file 2 of 2");
        nvim.wait_screen("two");
        nvim.input("glq");
        nvim.wait_screen("Not answered yet: ");
        assert_eq!(lua(&mut nvim, "return vim.fn.bufexists('new.rs')"), 0);
    }

    fn what_has_no_place_is_told_and_the_list_comes_back(target: &Target) {
        let diffs = json!([diff("a.rs", Some("nothing of the kind"), "x")]);
        let mut nvim = asked(target, Options::default(), (&diffs, &[]));
        send(&mut nvim, "go");
        open_window(&mut nvim, TITLE);
        nvim.input("p");
        nvim.wait_screen("fits nowhere");
        wait_window(&mut nvim, TITLE);
        assert_eq!(traces(&mut nvim), json!([0, 0, 0]));
    }

    fn what_does_not_come_is_told_to_the_user(target: &Target) {
        let (diffs, then) = whole(&[write("a.rs", &OLD.replace("let a", "let other"))]);
        let mut nvim = asked(target, Options::default(), (&diffs, &then));
        preview(&mut nvim);
        nvim.input("]gglrglA");
        nvim.wait_screen("did not come like that");
        assert_eq!(calls(&nvim, "session/prompt").len(), 1);
    }
}
