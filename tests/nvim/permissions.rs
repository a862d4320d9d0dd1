//! Permissions: how the user is asked, and that nothing but a choice answers.

use serde_json::{Value, json};

use crate::plugin::{chat, rows, states, wait_choices, wait_state, wait_transcript, with_agent};
use crate::report::{REPORT, answers, assert_polite, calls, finish, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// A picker like those of plugins: it does not wait for a key, and can be asked what it shows.
pub(crate) const PICKER: &str = "
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

/// What is in the window to choose from, and whether it takes keys: it says so at its foot.
pub(crate) const WINDOW: &str = "
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local buf = vim.api.nvim_win_get_buf(win)
      if vim.bo[buf].filetype == 'acp_select' then
        local title = vim.api.nvim_win_get_config(win).title
        return {
          title = vim.trim(title[1][1]),
          lines = vim.tbl_map(vim.trim, vim.api.nvim_buf_get_lines(buf, 0, -1, false)),
          armed = vim.inspect(vim.api.nvim_win_get_config(win).footer):match('any other key goes back') ~= nil,
          listens = vim.inspect(vim.api.nvim_win_get_config(win).footer):match('chooses') ~= nil
            and win == vim.api.nvim_get_current_win() and vim.fn.mode() == 'n',
        }
      end
    end";

/// A step that asks; the answer is not waited for.
pub(crate) fn ask(id: &str, title: &str) -> Value {
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
pub(crate) fn scenario(titles: &[&str]) -> Value {
    let ids: Vec<String> = (1..=titles.len()).map(|it| format!("t{it}")).collect();
    let mut steps: Vec<Value> = ids.iter().zip(titles).map(|(id, title)| ask(id, title)).collect();
    steps.extend(ids.iter().map(|id| json!({ "await": { "as": id, "save": "answer" } })));
    steps
        .push(json!({ "say": "outcome: {{answer.outcome.outcome}} {{answer.outcome.optionId}}." }));
    let echo = json!({ "steps": [{ "say": "You said: {{prompt}}" }] });
    json!({ "report": REPORT, "prompts": [{ "is": "go", "steps": steps }, echo] })
}

/// The chat, in normal mode, with a prompt on its way.
pub(crate) fn asking(target: &Target, titles: &[&str]) -> Nvim {
    let mut nvim = chat(target, &scenario(titles));
    nvim.type_keys("go");
    nvim.input("<C-s><Esc>");
    nvim
}

/// The ids of those that wait, in order.
pub(crate) fn wait_open(nvim: &mut Nvim, count: usize) -> Vec<u64> {
    nvim.wait_for(&format!("{count} permissions"), DEADLINE, |nvim| {
        let ids = "return vim.tbl_map(function(it) return it.id end, require('acp').permissions())";
        let ids: Vec<u64> = serde_json::from_value(nvim.lua(ids, json!([]))).unwrap();
        (ids.len() == count).then_some(ids)
    })
}

pub(crate) fn wait_picker(nvim: &mut Nvim, number: usize) -> Value {
    nvim.wait_for("the picker", DEADLINE, |nvim| {
        let code = "local it = _G.pickers[...] return it and { it.prompt, it.labels, it.kind }";
        let picker = nvim.lua(code, json!([number]));
        (!picker.is_null()).then_some(picker)
    })
}

/// Waits until our own window has the keyboard and asks this.
pub(crate) fn wait_window(nvim: &mut Nvim, title: &str) -> Value {
    nvim.wait_for(&format!("the choices of {title:?}"), DEADLINE, |nvim| {
        let window = nvim.lua(WINDOW, json!([]));
        (window["title"] == title && window["listens"] == true).then_some(window)
    })
}

/// Opens what waits with the user's own command, and waits until it has the keyboard.
pub(crate) fn open_window(nvim: &mut Nvim, title: &str) -> Value {
    nvim.wait_until("a question", DEADLINE, |nvim| {
        nvim.lua("return require('acp.questions').count() > 0", json!([])) == true
    });
    nvim.input(":Acp permissions<CR>");
    wait_window(nvim, title)
}

/// Waits until there is no window to choose from.
pub(crate) fn wait_no_window(nvim: &mut Nvim) {
    nvim.wait_until("no choices", DEADLINE, |nvim| nvim.lua(WINDOW, json!([])).is_null());
}

/// The option that each request was answered with, by the agent's id of the request.
pub(crate) fn chosen(answers: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let answers = answers.iter();
    answers.map(|it| (text(&it["id"]), text(&it["result"]["outcome"]["optionId"]))).collect()
}

fn outcome(answer: &Value) -> &str {
    answer["result"]["outcome"]["outcome"].as_str().unwrap()
}

nvim_tests! {
    fn the_user_chooses_among_the_options_of_the_agent(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        let window = wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        assert_eq!(window["lines"], json!([
            "Press a letter, or move and press <CR>",
            "a  ✓  Go ahead", "A  ✓✓ Go ahead, always", "r  ✗  Rather not", "w  ✗  Reject with a reason…", "s  ■  Stop the agent",
        ]));
        nvim.wait_screen("waiting for you");
        // The tool call has the same letters.
        let row = "  ┆ waiting for you  a Go ahead  A Go ahead, always  r Rather not · :Acp permissions";
        assert_eq!(rows(&mut nvim).last().map(String::as_str), Some(row));
        nvim.input("a");
        wait_transcript(&mut nvim, "outcome: selected yes.");
        wait_state(&mut nvim, "ready");
        assert!(!rows(&mut nvim).iter().any(|it| it.contains("waiting for you")));
        assert_eq!(answers(&nvim)[0]["result"]["outcome"], json!({ "outcome": "selected", "optionId": "yes" }));
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_promptn");
        assert_polite(&nvim);
    }

    fn one_moves_and_chooses_as_in_any_list(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("2jkjjj<CR>");
        nvim.wait_screen("What should fake do instead? ");
        nvim.type_keys("Ask me first");
        nvim.input("<CR>");
        wait_transcript(&mut nvim, "You said: Ask me first");
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "no".into())]);
        assert_polite(&nvim);
    }

    fn a_reason_that_was_not_given_leaves_it_open(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("w");
        nvim.wait_screen("What should fake do instead? ");
        nvim.input("<Esc>");
        nvim.wait_screen("Not answered yet: fake asks (edit): Edit main.lua");
        assert!(answers(&nvim).is_empty());
        assert_eq!(calls(&nvim, "session/prompt").len(), 1);
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("s");
        wait_transcript(&mut nvim, "*cancelled*");
        assert_eq!(outcome(&answers(&nvim)[0]), "cancelled");
        assert_polite(&nvim);
    }

    fn escape_leaves_it_open(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("<Esc>");
        nvim.wait_screen("Not answered yet: fake asks (edit): Edit main.lua");
        assert_eq!(wait_open(&mut nvim, 1).len(), 1);
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("r");
        wait_transcript(&mut nvim, "outcome: selected no.");
        wait_open(&mut nvim, 0);
    }

    fn who_goes_to_another_window_leaves_it_open(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("<C-w>t");
        nvim.wait_screen("Not answered yet: fake asks (edit): Edit main.lua");
        wait_no_window(&mut nvim);
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input(":quit<CR>");
        wait_no_window(&mut nvim);
        wait_open(&mut nvim, 1);
        assert!(answers(&nvim).is_empty());
    }

    fn one_looks_around_in_what_is_asked_and_comes_back(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        let role = "return vim.w.acp_role or 'none'";
        nvim.input("<Tab>");
        nvim.wait_until("the cursor is there", DEADLINE, |nvim| nvim.lua(role, json!([])) == "detail");
        nvim.input("<C-w>p");
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("<Tab>");
        nvim.wait_until("the cursor is there", DEADLINE, |nvim| nvim.lua(role, json!([])) == "detail");
        nvim.input("q");
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        assert!(answers(&nvim).is_empty());
        nvim.input("a");
        wait_transcript(&mut nvim, "outcome: selected yes.");
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_promptn");
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
        let listed = nvim.lua("return require('acp').permissions()", json!([]));
        for (name, value) in [("id", json!(ids[0])), ("session", json!(1)), ("title", json!("Edit main.lua")), ("kind", json!("edit")), ("tool_call", json!("t1")), ("options", options.clone())] {
            assert_eq!(listed[0][name], value, "{listed}");
        }
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
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 0);
        nvim.wait_until("no window", DEADLINE, |nvim| nvim.lua("return #vim.api.nvim_list_wins()", json!([])) == 1);
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

    fn cancel_closes_what_is_open(target: &Target) {
        let mut nvim = asking(target, &["Edit a.lua", "Edit b.lua"]);
        nvim.lua(EVENTS, json!([]));
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input(":Acp cancel<CR>");
        let answers = wait_answers(&mut nvim, 2);
        assert!(answers.iter().all(|it| outcome(it) == "cancelled"), "{answers:?}");
        wait_state(&mut nvim, "ready");
        wait_no_window(&mut nvim);
        nvim.wait_until("both are resolved", DEADLINE, |nvim| {
            let resolved = "return vim.iter(_G.events):filter(function(it) return it.name == 'AcpPermissionResolved' end)
                :map(function(it) return it.data.option or 'none' end):totable()";
            nvim.lua(resolved, json!([])) == json!(["none", "none"])
        });
        assert_eq!(nvim.lua("return vim.bo.filetype", json!([])), "acp_prompt");
        assert_polite(&nvim);
    }

    fn a_request_that_is_withdrawn_goes_by_itself(target: &Target) {
        let steps = json!([
            ask("t1", "Edit a.lua"), ask("t2", "Edit b.lua"),
            { "wait_file": "withdraw" },
            { "notify": { "method": "$/cancel_request", "params": { "requestId": "t1" } } },
            { "await": "t1" }, { "await": "t2" }, { "say": "done" }
        ]);
        let mut nvim = chat(target, &json!({ "report": REPORT, "prompts": [{ "steps": steps }] }));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.scratch().write("withdraw", "");
        // The next one comes, and the first is not asked again.
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("a");
        wait_transcript(&mut nvim, "done");
        assert_eq!(chosen(&answers(&nvim)).last().unwrap(), &("t2".to_owned(), "yes".to_owned()));
        wait_no_window(&mut nvim);
    }

    fn a_dead_agent_takes_its_questions_along(target: &Target) {
        let steps = json!([ask("t1", "Edit a.lua"), ask("t2", "Edit b.lua"), { "wait_file": "die" }, { "exit": 3 }]);
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": steps }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.scratch().write("die", "");
        wait_no_window(&mut nvim);
        wait_open(&mut nvim, 0);
        wait_transcript(&mut nvim, "exit code 3");
        nvim.type_keys("well");
        nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["well"]);
    }

    fn a_reason_that_comes_too_late_is_kept(target: &Target) {
        let mut nvim = asking(target, &["Edit main.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit main.lua");
        nvim.input("w");
        nvim.wait_screen("What should fake do instead? ");
        nvim.lua("require('acp').cancel()", json!([]));
        wait_answers(&mut nvim, 1);
        wait_state(&mut nvim, "ready");
        nvim.type_keys("Ask me first");
        nvim.input("<CR>");
        nvim.wait_until("the words are in the prompt", DEADLINE, |nvim| nvim.lines(0)[0] == "Ask me first");
        assert_eq!(calls(&nvim, "session/prompt").len(), 1);
        assert_polite(&nvim);
    }

    fn a_huge_request_is_cut_to_what_one_reads(target: &Target) {
        let long = "x".repeat(1_000_000);
        let mut step = ask("t1", &long);
        step["request"]["params"]["toolCall"]["locations"] = json!([{ "path": format!("/{}", "y".repeat(1000)) }]);
        step["request"]["params"]["options"][0]["name"] = json!(format!("a\u{1b}[31m\n{long}"));
        let steps = json!([step, { "await": "t1" }, { "say": "done" }]);
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": steps }] }));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>");
        let frame = wait_choices(&mut nvim, "s  ■  Stop the agent");
        assert!(frame.find("a  ✓  a [31m").is_some(), "{}", frame.text());
        nvim.input("a");
        wait_transcript(&mut nvim, "done");
    }

    fn answers_go_to_their_own_question(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.lua(PICKER, json!([]));
        send(&mut nvim, "go");
        let ids = wait_open(&mut nvim, 2);
        nvim.lua("local acp, a, b = require('acp'), ... acp.respond(b, 'no') acp.respond(a, 'yes')", json!(ids));
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim)), [("t2".into(), "no".into()), ("t1".into(), "yes".into())]);
    }

    fn several_are_answered_in_any_order(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua", "Edit c.lua"]));
        nvim.command("nmap <F2> <Plug>(acp-permission)");
        send(&mut nvim, "go");
        wait_open(&mut nvim, 3);
        nvim.wait_screen("fake asks (edit): Edit c.lua (3 of 3): :Acp permissions");
        assert_eq!(states(&mut nvim), ["waiting"]);
        nvim.input("<F2>");
        let window = wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        assert_eq!(window["lines"][0], "1 of 3   <C-n> shows the next");
        nvim.input("<C-n>");
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("<F2>");
        wait_window(&mut nvim, "fake asks (edit): Edit c.lua");
        nvim.input("<C-p>");
        wait_window(&mut nvim, "fake asks (edit): Edit b.lua");
        nvim.input("a");
        assert_eq!(chosen(&wait_answers(&mut nvim, 1)), [("t2".into(), "yes".into())]);
        // Nothing else opens by itself in a window that is not the chat's: two keys for each.
        wait_no_window(&mut nvim);
        nvim.input("<F2>r");
        wait_answers(&mut nvim, 2);
        nvim.input("<F2>a");
        finish(&mut nvim);
        let all = [("t2", "yes"), ("t1", "no"), ("t3", "yes")];
        assert_eq!(chosen(&answers(&nvim)), all.map(|(id, option)| (id.to_owned(), option.to_owned())));
    }

    fn there_is_always_a_no(target: &Target) {
        let mut step = ask("t1", "Do it");
        step["request"]["params"]["options"] = json!([{ "optionId": "yes", "name": "", "kind": "allow_once" }, { "optionId": "odd", "name": "Hm", "kind": "odd" }]);
        let mut nvim = with_agent(target, &json!({ "report": REPORT, "prompts": [{ "steps": [step, { "await": "t1" }] }] }));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.input(":Acp permissions<CR>");
        let window = wait_window(&mut nvim, "fake asks (edit): Do it");
        assert_eq!(window["lines"].as_array().unwrap()[1..], ["a  ✓  yes", "M  ?  Hm", "n  ✗  No (cancels the request)", "s  ■  Stop the agent"]);
        nvim.input("n");
        finish(&mut nvim);
        assert_eq!(outcome(&answers(&nvim)[0]), "cancelled");
    }
}

/// Sets options of permissions beside what the tests have.
pub(crate) fn set_permissions(nvim: &mut Nvim, options: Value) {
    let code = "require('acp').setup({ default_agent = 'fake', agents = require('acp.config').get().agents, permissions = ... })";
    nvim.lua(code, json!([options]));
}

/// Lets time pass, as a user who thinks does.
pub(crate) fn quiet_for(nvim: &mut Nvim, ms: u64) {
    nvim.lua("_G.paused = nil vim.defer_fn(function() _G.paused = true end, ...)", json!([ms]));
    nvim.wait_until("the pause", DEADLINE, |nvim| nvim.lua("return _G.paused", json!([])) == true);
}

/// Waits until a choice that lasts would take its second key.
pub(crate) fn wait_armed(nvim: &mut Nvim) {
    nvim.wait_until("the second key", DEADLINE, |nvim| {
        nvim.lua(WINDOW, json!([]))["armed"] == true
    });
}
