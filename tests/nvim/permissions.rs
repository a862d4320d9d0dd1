//! Permissions: how the user is asked, and that nothing but a choice answers.

use serde_json::{Value, json};

use crate::plugin::{chat, states, wait_state, wait_transcript, with_agent};
use crate::report::{REPORT, answers, assert_polite, finish, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// A picker like those of plugins: it does not wait for a key, and can be asked what it shows.
const PICKER: &str = "
    _G.pickers = {}
    vim.ui.select = function(items, opts, fn)
      table.insert(_G.pickers, {
        prompt = opts.prompt, kind = opts.kind,
        labels = vim.tbl_map(opts.format_item, items),
        choose = function(index) fn(items[index], index) end,
      })
    end";

/// Keeps the events of permissions with their data.
const EVENTS: &str = "
    _G.events = {}
    vim.api.nvim_create_autocmd('User', { pattern = 'AcpPermission*', callback = function(ev)
      table.insert(_G.events, { name = ev.match, data = ev.data })
    end })";

/// A step that asks; the answer is not waited for.
fn ask(id: &str, title: &str) -> Value {
    json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": { "toolCallId": id, "title": title, "kind": "edit", "status": "pending" },
            "options": [
                { "optionId": "yes", "name": "Go ahead", "kind": "allow_once" },
                { "optionId": "always", "name": "Go ahead, always", "kind": "allow_always" },
                { "optionId": "no", "name": "Rather not", "kind": "reject_once" }
            ]
        },
        "id": id, "no_wait": true, "as": id
    } })
}

/// An agent that asks for all of these at once, waits for the answers and says the last one.
fn scenario(titles: &[&str]) -> Value {
    let ids: Vec<String> = (1..=titles.len()).map(|it| format!("t{it}")).collect();
    let mut steps: Vec<Value> = ids.iter().zip(titles).map(|(id, title)| ask(id, title)).collect();
    steps.extend(ids.iter().map(|id| json!({ "await": { "as": id, "save": "answer" } })));
    steps
        .push(json!({ "say": "outcome: {{answer.outcome.outcome}} {{answer.outcome.optionId}}." }));
    json!({ "report": REPORT, "prompts": [{ "steps": steps }] })
}

/// The chat, in normal mode, with a prompt on its way.
fn asking(target: &Target, titles: &[&str]) -> Nvim {
    let mut nvim = chat(target, &scenario(titles));
    nvim.type_keys("go");
    nvim.input("<C-s><Esc>");
    nvim
}

/// The ids of those that wait, in order.
fn wait_open(nvim: &mut Nvim, count: usize) -> Vec<u64> {
    nvim.wait_for(&format!("{count} permissions"), DEADLINE, |nvim| {
        let ids = "return vim.tbl_map(function(it) return it.id end, require('acp').permissions())";
        let ids: Vec<u64> = serde_json::from_value(nvim.lua(ids, json!([]))).unwrap();
        (ids.len() == count).then_some(ids)
    })
}

fn wait_picker(nvim: &mut Nvim, number: usize) -> Value {
    nvim.wait_for("the picker", DEADLINE, |nvim| {
        let code = "local it = _G.pickers[...] return it and { it.prompt, it.labels, it.kind }";
        let picker = nvim.lua(code, json!([number]));
        (!picker.is_null()).then_some(picker)
    })
}

fn outcome(answer: &Value) -> &str {
    answer["result"]["outcome"]["outcome"].as_str().unwrap()
}

nvim_tests! {
    fn the_user_chooses_among_the_options_of_the_agent(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        let frame = nvim.wait_screen("Rather not");
        for text in ["fake asks (edit): Edit main.lua", "1: Go ahead", "2: Go ahead, always", "3: Rather not", "waits for you"] {
            assert!(frame.find(text).is_some(), "{text}\n{}", frame.text());
        }
        nvim.input("2<CR>");
        wait_transcript(&mut nvim, "outcome: selected always.");
        wait_state(&mut nvim, "ready");
        assert_eq!(answers(&nvim)[0]["result"]["outcome"], json!({ "outcome": "selected", "optionId": "always" }));
        assert_polite(&nvim);
    }

    fn escape_leaves_it_open(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        nvim.wait_screen("Rather not");
        nvim.input("<Esc>");
        nvim.wait_screen("Still open: fake asks (edit): Edit main.lua");
        assert_eq!(wait_open(&mut nvim, 1).len(), 1);
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        nvim.wait_screen("3: Rather not");
        nvim.input("3<CR>");
        wait_transcript(&mut nvim, "outcome: selected no.");
        wait_open(&mut nvim, 0);
    }

    fn typing_is_not_disturbed(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        let text = "1 and 3, then n and y and q: all of these are mine";
        for key in text.chars() {
            nvim.type_keys(&key.to_string());
            wait_open_or_less(&mut nvim);
        }
        wait_open(&mut nvim, 2);
        nvim.input("<CR>");
        nvim.type_keys("2");
        nvim.wait_until("all keys", DEADLINE, |nvim| nvim.lines(0) == [text, "2"]);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        assert!(answers(&nvim).is_empty());
        nvim.input("<Esc>");
        nvim.wait_screen("fake asks (edit): Edit a.lua");
        nvim.input("1<CR>");
        nvim.wait_screen("fake asks (edit): Edit b.lua");
        nvim.input("3<CR>");
        wait_transcript(&mut nvim, "outcome: selected no.");
        assert_eq!(nvim.lines(0), [text, "2"]);
        assert_polite(&nvim);
    }

    fn a_count_or_operator_is_not_disturbed(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, ["one", "two", "three"]]));
        nvim.input("v");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.input("jd");
        nvim.wait_until("the text is gone", DEADLINE, |nvim| nvim.lines(0) == ["wo", "three"]);
        wait_picker(&mut nvim, 1);
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        finish(&mut nvim);
    }

    fn a_command_line_is_not_disturbed(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.input(":let g:typed = 'before");
        nvim.wait_screen("'before");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.type_keys(" and after'");
        nvim.wait_screen(":let g:typed = 'before and after'");
        nvim.input("<CR>");
        wait_picker(&mut nvim, 1);
        assert_eq!(nvim.lua("return vim.g.typed", json!([])), "before and after");
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        finish(&mut nvim);
    }

    fn answered_without_a_window(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit main.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.lua(EVENTS, json!([]));
        send(&mut nvim, "go");
        let ids = wait_open(&mut nvim, 1);
        let options = json!([
            { "id": "yes", "name": "Go ahead", "kind": "allow_once" },
            { "id": "always", "name": "Go ahead, always", "kind": "allow_always" },
            { "id": "no", "name": "Rather not", "kind": "reject_once" },
        ]);
        assert_eq!(nvim.lua("return require('acp').permissions()", json!([])), json!([{
            "id": ids[0], "session": 1, "title": "Edit main.lua", "kind": "edit", "tool_call": "t1", "options": options,
        }]));
        let results = nvim.lua("
            local acp, id = require('acp'), ...
            local function result(ok, err) return ok or err.code end
            local list = { result(acp.respond(id, 'nonsense')), result(acp.respond(id + 1, 'yes')) }
            table.insert(list, result(acp.respond(id, 'yes')))
            table.insert(list, result(acp.respond(id, 'no')))
            table.insert(list, #acp.permissions())
            return list
        ", json!([ids[0]]));
        assert_eq!(results, json!(["no_option", "no_permission", true, "no_permission", 0]));
        finish(&mut nvim);
        let (session, permission, title, kind) = (1, ids[0], "Edit main.lua", "edit");
        assert_eq!(nvim.lua("return _G.events", json!([])), json!([
            { "name": "AcpPermissionRequested", "data": { "session": session, "permission": permission, "title": title, "kind": kind, "options": options } },
            { "name": "AcpPermissionResolved", "data": { "session": session, "permission": permission, "title": title, "kind": kind, "option": "yes" } },
        ]));
        assert_eq!(answers(&nvim)[0]["result"]["outcome"]["optionId"], "yes");
        assert_eq!(nvim.lua("return { #_G.pickers, #vim.api.nvim_list_wins() }", json!([])), json!([0, 1]));
    }

    fn a_listener_may_answer_at_once(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit main.lua", "Edit other.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.lua("vim.api.nvim_create_autocmd('User', { pattern = 'AcpPermissionRequested', callback = function(ev)
            assert(require('acp').respond(ev.data.permission, 'no'))
        end })", json!([]));
        send(&mut nvim, "go");
        finish(&mut nvim);
        assert!(answers(&nvim).iter().all(|it| it["result"]["outcome"]["optionId"] == "no"));
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 0);
    }

    fn cancel_settles_what_is_open(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.lua(PICKER, json!([]));
        nvim.lua(EVENTS, json!([]));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 2);
        assert_eq!(wait_picker(&mut nvim, 1), json!([
            "fake asks (edit): Edit a.lua", ["Go ahead", "Go ahead, always", "Rather not"], "acp_permission",
        ]));
        nvim.command("Acp cancel");
        let answers = wait_answers(&mut nvim, 2);
        assert!(answers.iter().all(|it| outcome(it) == "cancelled"), "{answers:?}");
        finish(&mut nvim);
        wait_open(&mut nvim, 0);
        nvim.wait_until("both are resolved", DEADLINE, |nvim| {
            let resolved = "return vim.tbl_map(function(it) return { it.name, it.data.option or 'none' } end, vim.list_slice(_G.events, 3))";
            nvim.lua(resolved, json!([])) == json!([["AcpPermissionResolved", "none"], ["AcpPermissionResolved", "none"]])
        });
        // What is still on the screen answers nothing any more.
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        assert!(nvim.messages().contains("This was not asked any more"), "{}", nvim.messages());
        wait_state(&mut nvim, "ready");
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 1);
        assert_polite(&nvim);
    }

    fn answers_go_to_their_own_question(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.lua(PICKER, json!([]));
        send(&mut nvim, "go");
        let ids = wait_open(&mut nvim, 2);
        nvim.lua("local acp, a, b = require('acp'), ... acp.respond(b, 'no') acp.respond(a, 'yes')", json!(ids));
        finish(&mut nvim);
        let answers: Vec<_> = answers(&nvim).iter().map(|it| (it["id"].clone(), it["result"]["outcome"]["optionId"].clone())).collect();
        assert_eq!(answers, [(json!("t2"), json!("no")), (json!("t1"), json!("yes"))]);
    }

    fn several_that_were_put_off_are_listed(target: &Target) {
        let mut nvim = asking(target, &["Edit a.lua", "Edit b.lua"]);
        for title in ["Edit a.lua", "Edit b.lua"] {
            nvim.wait_screen(&format!("fake asks (edit): {title}"));
            nvim.wait_screen("3: Rather not");
            nvim.input("<Esc>");
            nvim.wait_screen(&format!("Still open: fake asks (edit): {title}"));
        }
        assert_eq!(states(&mut nvim), ["waiting"]);
        nvim.input(":Acp permissions<CR>");
        nvim.wait_screen("2: fake asks (edit): Edit b.lua");
        nvim.input("2<CR>");
        nvim.wait_screen("1: Go ahead");
        nvim.input("1<CR>");
        assert_eq!(wait_answers(&mut nvim, 1)[0]["id"], "t2");
        wait_open(&mut nvim, 1);
        nvim.command("Acp cancel");
        wait_transcript(&mut nvim, "*cancelled*");
    }

    fn there_is_always_a_no(target: &Target) {
        let mut step = ask("t1", "Do it");
        step["request"]["params"]["options"] = json!([{ "optionId": "yes", "name": "", "kind": "allow_once" }]);
        let mut nvim = with_agent(target, &json!({ "report": REPORT, "prompts": [{ "steps": [step, { "await": "t1" }] }] }));
        nvim.lua(PICKER, json!([]));
        send(&mut nvim, "go");
        assert_eq!(wait_picker(&mut nvim, 1)[1], json!(["yes", "No (cancels the request)"]));
        nvim.lua("_G.pickers[1].choose(2)", json!([]));
        finish(&mut nvim);
        assert_eq!(outcome(&answers(&nvim)[0]), "cancelled");
    }
}

/// Lets Neovim take the key, as it does between two keys of a user.
fn wait_open_or_less(nvim: &mut Nvim) {
    let open = nvim.lua("return #require('acp').permissions()", json!([]));
    assert!(open.as_u64().unwrap() <= 2, "{open}");
}
