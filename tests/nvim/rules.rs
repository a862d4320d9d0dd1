//! Rules that answer permissions for the user: written in the options, stored for a project, edited,
//! and never more than what was said.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::permissions::{chosen, open_window, wait_armed, wait_no_window, wait_open, wait_window};
use crate::plugin::{chat, wait_state, with_agent};
use crate::report::{REPORT, answers, assert_polite, finish, send, wait_answers};
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::target::Target;

/// A step that asks to run a command; the answer is not waited for.
fn run(id: &str, command: &str) -> Value {
    json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": {
                "toolCallId": id, "title": command, "kind": "execute", "status": "pending",
                "rawInput": { "command": command }
            },
            "options": [
                { "optionId": "yes", "name": "Run it", "kind": "allow_once" },
                { "optionId": "always", "name": "Always run it", "kind": "allow_always" },
                { "optionId": "no", "name": "Do not", "kind": "reject_once" }
            ]
        },
        "id": id, "no_wait": true, "as": id
    } })
}

/// An agent that asks to run these, one after the other, for each prompt.
fn agent(commands: &[&str]) -> Value {
    let mut steps = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let id = format!("t{}", number + 1);
        steps.push(run(&id, command));
        steps.push(json!({ "await": id }));
    }
    json!({ "report": REPORT, "prompts": [{ "steps": steps }] })
}

/// A Neovim with these options for permissions.
fn with_permissions(target: &Target, scenario: &Value, permissions: &Value) -> Nvim {
    let mut nvim = with_agent(target, scenario);
    set_permissions(&mut nvim, permissions);
    nvim
}

fn set_permissions(nvim: &mut Nvim, permissions: &Value) {
    let code = "
        local agents = require('acp.config').get().agents
        require('acp').setup({ default_agent = 'fake', agents = agents, permissions = ... })";
    nvim.lua(code, json!([permissions]));
}

fn file(nvim: &mut Nvim) -> PathBuf {
    nvim.lua("return vim.fn.stdpath('state') .. '/acp/rules.json'", json!([]))
        .as_str()
        .unwrap()
        .into()
}

fn stored(nvim: &mut Nvim) -> Value {
    let text = fs::read_to_string(file(nvim)).unwrap_or_else(|_| "{}".to_owned());
    let project = nvim.scratch().project().canonicalize().unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["projects"][project.to_str().unwrap()].clone()
}

fn write_file(nvim: &mut Nvim, text: &str) {
    let path = file(nvim);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The audit log, entry by entry.
fn audit(nvim: &mut Nvim) -> Vec<Value> {
    let path = nvim.lua("return vim.fn.stdpath('log') .. '/audit.log'", json!([]));
    let text = fs::read_to_string(path.as_str().unwrap()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Types into the rules of the project, in the line after the opening brace.
fn add_rule(nvim: &mut Nvim, rule: &str) {
    nvim.input(":call search('^{')<CR>o");
    nvim.type_keys(rule);
    nvim.input("<Esc>");
}

nvim_tests! {
    fn nothing_is_allowed_unless_somebody_said_so(target: &Target) {
        let mut nvim = with_agent(target, &agent(&["cargo test"]));
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): cargo test");
        assert!(answers(&nvim).is_empty());
        nvim.input("r");
        finish(&mut nvim);
    }

    fn rules_of_the_options_answer(target: &Target) {
        let rules = json!([
            { "kind": "execute", "command": "cargo publish *", "reject": true },
            { "kind": ["execute"], "command": "cargo *", "allow": true },
        ]);
        let commands = ["cargo test", "cargo publish x", "cargo test; rm -rf /"];
        let mut nvim = with_permissions(target, &agent(&commands), &json!({ "rules": rules }));
        send(&mut nvim, "go");
        // Only what no rule is about is asked.
        open_window(&mut nvim, "fake asks (execute): cargo test; rm -rf /");
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "yes".into()), ("t2".into(), "no".into())]);
        nvim.input("r");
        finish(&mut nvim);
        assert!(!nvim.messages().contains("by a rule"), "{}", nvim.messages());

        // Other options, and other rules are in force at once.
        let rules = json!([{ "kind": "execute", "ask": true, "command": "cargo test" }, { "allow": true }]);
        set_permissions(&mut nvim, &json!({ "rules": rules, "notify_rules": true }));
        send(&mut nvim, "again");
        open_window(&mut nvim, "fake asks (execute): cargo test");
        nvim.input("a");
        // To be asked, a part of a command is enough.
        open_window(&mut nvim, "fake asks (execute): cargo test; rm -rf /");
        nvim.input("r");
        finish(&mut nvim);
        let given: Vec<_> = chosen(&answers(&nvim)).into_iter().skip(3).map(|it| it.1).collect();
        assert_eq!(given, ["yes", "yes", "no"]);
        nvim.wait_until("the user is told", DEADLINE, |nvim| {
            nvim.messages().contains("Allowed by a rule: cargo publish x (")
        });
        assert_polite(&nvim);
    }

    fn what_is_wrong_with_a_rule_is_told_with_its_place(target: &Target) {
        let mut nvim = with_agent(target, &agent(&["cargo test"]));
        nvim.allow_errors();
        set_permissions(&mut nvim, &json!({ "rules": [{ "kind": "read", "allow": true }, { "kind": "reed", "allow": true }] }));
        let told = nvim.lua("return table.concat(require('acp.notify').lines(), ' ')", json!([]));
        let told = told.as_str().unwrap();
        assert!(told.contains("setup.permissions.rules[2].kind: expected one of \"read\""), "{told}");
        assert!(told.contains("got \"reed\""), "{told}");
        // None of them is in force.
        assert_eq!(nvim.lua("return #require('acp.config').get().permissions.rules", json!([])), 0);
    }

    fn always_may_become_a_rule_of_the_project(target: &Target) {
        let mut nvim = with_agent(target, &agent(&["cargo test --all"]));
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): cargo test --all");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.wait_screen("Y  Yes, in the agent only");
        nvim.wait_screen("S  Yes, and store the rule: allow execute `cargo test");
        assert!(answers(&nvim).is_empty());
        nvim.input("S");
        assert_eq!(chosen(&wait_answers(&mut nvim, 1)), [("t1".into(), "always".into())]);
        nvim.wait_screen("Rule stored: allow execute `cargo test");
        finish(&mut nvim);
        assert_eq!(stored(&mut nvim)[0]["action"], "allow");
        assert_eq!(stored(&mut nvim)[0]["kind"], "execute");
        let mode = fs::metadata(file(&mut nvim)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        // The same is not asked again, here or in another Neovim.
        send(&mut nvim, "again");
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim))[1], ("t1".into(), "yes".into()));
        let verdicts: Vec<_> = audit(&mut nvim);
        assert!(verdicts.len() >= 2, "{verdicts:?}");
    }

    fn always_in_the_middle_of_a_chat(target: &Target) {
        let mut nvim = chat(target, &agent(&["cargo test", "cargo build"]));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_window(&mut nvim, "fake asks (execute): cargo test");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("S");
        wait_window(&mut nvim, "fake asks (execute): cargo build");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("Y");
        wait_state(&mut nvim, "ready");
        nvim.type_keys("thanks");
        nvim.wait_until("one types on", DEADLINE, |nvim| nvim.lines(0) == ["thanks"]);
        assert_eq!(nvim.lua("return vim.bo.filetype .. vim.fn.mode()", json!([])), "acp_prompti");
        assert_eq!(stored(&mut nvim).as_array().unwrap().len(), 1);
    }

    fn always_is_only_for_now_where_no_rule_is_wanted(target: &Target) {
        let mut nvim = with_permissions(target, &agent(&["cargo test"]), &json!({ "store": "never" }));
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): cargo test");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("Y");
        finish(&mut nvim);
        wait_no_window(&mut nvim);
        assert!(stored(&mut nvim).is_null());
        set_permissions(&mut nvim, &json!({ "store": "always" }));
        send(&mut nvim, "again");
        open_window(&mut nvim, "fake asks (execute): cargo test");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("Y");
        finish(&mut nvim);
        nvim.wait_until("the rule", DEADLINE, |nvim| stored(nvim)[0]["action"] == "allow");
    }

    /// Whoever finds the file being written waits for its turn, also before there is one.
    fn no_rule_is_lost_where_several_neovims_store_one(target: &Target) {
        let mut nvim = with_agent(target, &agent(&[]));
        let code = "
            local repo = vim.api.nvim_get_runtime_file('lua/acp/rules.lua', false)[1]:gsub('/lua/acp/rules.lua$', '')
            local add = [[
              for i = 1, 10 do
                assert(require('acp.rules.file').change('/p', function(rules)
                  table.insert(rules, { action = 'ask', command = vim.env.WHO .. i })
                  return rules
                end))
              end]]
            local function start(who)
              local command = { vim.v.progpath, '-u', 'NONE', '-i', 'NONE', '--headless',
                '--cmd', 'set rtp^=' .. repo, '-c', 'lua ' .. add:gsub('%s+', ' '), '-c', 'qa!' }
              return vim.system(command, { env = { WHO = who }, text = true })
            end
            local all = { start('a'), start('b'), start('c'), start('d') }
            local said = ''
            for _, it in ipairs(all) do
              said = said .. (it:wait(20000).stderr or '')
            end
            return { said = said, count = #(require('acp.rules').of_project('/p') or {}) }";
        assert_eq!(nvim.lua(code, json!([])), json!({ "said": "", "count": 40 }));
        // A lock of somebody who works is waited for, one of somebody who is gone is not.
        let code = "
            local path = require('acp.rules.file').path() .. '.lock'
            local function lock(pid)
              vim.fn.writefile({ tostring(pid) }, path)
            end
            local function add(name)
              local rule = { action = 'ask', command = name, project = '/p' }
              return (require('acp.rules').add(rule))
            end
            lock(vim.uv.os_getpid())
            local other = vim.system({ 'sh', '-c', 'sleep 0.05; rm ' .. path })
            local waited = add('waited')
            other:wait()
            local gone = vim.system({ 'true' })
            gone:wait()
            lock(gone.pid)
            return { waited, add('gone'), vim.uv.fs_stat(path) == nil }";
        assert_eq!(nvim.lua(code, json!([])), json!([true, true, true]));
    }

    /// Some agents give a list of command lines.
    fn a_list_of_command_lines_is_read_as_lines(target: &Target) {
        let mut ask = run("t1", "run_commands: rm -rf zzz");
        ask["request"]["params"]["toolCall"]["rawInput"] = json!({ "commands": ["rm -rf zzz"] });
        let scenario = json!({ "report": REPORT, "prompts": [{ "steps": [ask, { "await": "t1" }] }] });
        let rules = json!({ "rules": [
            { "reject": true, "command": "rm *" }, { "allow": true, "kind": "execute" }
        ] });
        let mut nvim = with_permissions(target, &scenario, &rules);
        send(&mut nvim, "go");
        assert_eq!(chosen(&wait_answers(&mut nvim, 1)), [("t1".into(), "no".into())]);
        finish(&mut nvim);
        set_permissions(&mut nvim, &json!({ "rules": [], "open": "manual" }));
        send(&mut nvim, "again");
        let shown = "return (require('acp').permissions()[1] or {}).command";
        nvim.wait_until("it is asked", DEADLINE, |nvim| nvim.lua(shown, json!([])) == "rm -rf zzz");
        let log = "return vim.fs.joinpath(vim.fn.stdpath('log'), 'audit.log')";
        let path = nvim.lua(log, json!([]));
        let text = fs::read_to_string(path.as_str().unwrap()).unwrap();
        assert!(text.contains("\"command\":\"rm -rf zzz\""), "{text}");
        nvim.lua("require('acp').respond(require('acp').permissions()[1].id, 'no')", json!([]));
        finish(&mut nvim);
    }

    fn links_out_of_the_project_are_asked_for(target: &Target) {
        let read = |id: &str, path: &str| {
            let mut ask = run(id, path);
            let call = &mut ask["request"]["params"]["toolCall"];
            (call["kind"], call["rawInput"]) = (json!("read"), json!({ "path": path }));
            ask
        };
        let steps = [read("t1", "inner/a"), json!({ "await": "t1" }), read("t2", "outer/a"), json!({ "await": "t2" })];
        let scenario = json!({ "report": REPORT, "prompts": [{ "steps": steps }] });
        let rules = json!({ "open": "manual", "rules": [{ "allow": true, "kind": "read", "inside": true }] });
        let mut nvim = with_permissions(target, &scenario, &rules);
        let code = "
            vim.fn.mkdir('real', 'p')
            assert(vim.uv.fs_symlink('real', 'inner'))
            assert(vim.uv.fs_symlink(vim.fn.tempname():gsub('/[^/]*$', ''), 'outer'))";
        nvim.lua(code, json!([]));
        send(&mut nvim, "go");
        assert_eq!(chosen(&wait_answers(&mut nvim, 1)), [("t1".into(), "yes".into())]);
        let shown = "return (require('acp').permissions()[1] or {}).title";
        nvim.wait_until("it is asked", DEADLINE, |nvim| nvim.lua(shown, json!([])) == "outer/a");
        let rule = "return require('acp').permissions()[1].rule == nil";
        assert_eq!(nvim.lua(rule, json!([])), true, "no rule could mean it");
        nvim.lua("require('acp').respond(require('acp').permissions()[1].id, 'no')", json!([]));
        finish(&mut nvim);
    }

    fn the_rules_of_the_project_are_edited(target: &Target) {
        let options = json!({ "rules": [{ "kind": "read", "allow": true }] });
        let mut nvim = with_permissions(target, &agent(&["make all"]), &options);
        nvim.input(":Acp rules<CR>");
        nvim.wait_screen("--   { allow = true, kind = \"read\" },");
        add_rule(&mut nvim, "  { allow = true, command = \"make *\" }, -- mine");
        nvim.input(":w<CR>");
        nvim.wait_screen("1 rule in force for ");
        assert_eq!(stored(&mut nvim), json!([{ "action": "allow", "command": "make *" }]));
        assert_eq!(nvim.lua("return vim.bo.modified", json!([])), false);
        // It comes before those of the options, and is in force.
        send(&mut nvim, "go");
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "yes".into())]);
        nvim.input(":g/make/d<CR>:w<CR>");
        nvim.wait_screen("0 rules in force for ");
        assert!(stored(&mut nvim).is_null());
        send(&mut nvim, "again");
        nvim.input(":close<CR>");
        open_window(&mut nvim, "fake asks (execute): make all");
        nvim.input("r");
        finish(&mut nvim);
    }

    fn mistakes_in_the_rules_are_shown_where_they_are(target: &Target) {
        let mut nvim = with_agent(target, &agent(&["make all"]));
        nvim.allow_errors();
        nvim.input(":Acp rules<CR>");
        nvim.wait_screen("-- What agents may do in ");
        add_rule(&mut nvim, "  { alow = true },");
        nvim.input(":w<CR>");
        nvim.wait_until("the mistake", DEADLINE, |nvim| {
            let found = nvim.lua("return vim.tbl_map(function(it) return { vim.fn.getline(it.lnum + 1), it.message } end, vim.diagnostic.get(0))", json!([]));
            found[0][0] == "  { alow = true }," && found[0][1].as_str().unwrap().starts_with("alow: expected one of the fields")
        });
        assert_eq!(nvim.lua("return vim.bo.modified", json!([])), true);
        assert!(stored(&mut nvim).is_null());
        nvim.input(":%s/alow/allow<CR>:w<CR>");
        nvim.wait_until("the rule", DEADLINE, |nvim| stored(nvim) == json!([{ "action": "allow" }]));
        assert_eq!(nvim.lua("return #vim.diagnostic.get(0)", json!([])), 0);
        assert_eq!(nvim.lua("return vim.bo.modified", json!([])), false);
    }

    fn rules_that_were_stored_meanwhile_are_not_lost(target: &Target) {
        let mut nvim = with_permissions(target, &agent(&["make all"]), &json!({ "store": "always" }));
        nvim.allow_errors();
        nvim.input(":Acp rules<CR>");
        nvim.wait_screen("-- What agents may do in ");
        add_rule(&mut nvim, "  { ask = true, command = \"make clean\" },");
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): make all");
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("Y");
        finish(&mut nvim);
        nvim.wait_until("the rule", DEADLINE, |nvim| stored(nvim)[0]["action"] == "allow");
        nvim.input(":w<CR>");
        nvim.wait_until("the refusal", DEADLINE, |nvim| nvim.messages().contains("the rules have changed meanwhile"));
        assert_eq!(stored(&mut nvim)[0]["action"], "allow");
        nvim.input(":w!<CR>");
        nvim.wait_until("the other rule", DEADLINE, |nvim| stored(nvim) == json!([{ "action": "ask", "command": "make clean" }]));
    }

    fn a_broken_file_allows_nothing_and_stays_as_it_is(target: &Target) {
        let options = json!({ "rules": [{ "command": "make *", "allow": true }], "store": "always" });
        let mut nvim = with_permissions(target, &agent(&["make all"]), &options);
        nvim.allow_errors();
        let broken = "{ \"version\": 1, \"projects\": { \"/\": [{ \"action\": \"allow\" }] }";
        write_file(&mut nvim, broken);
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): make all");
        nvim.wait_until("the user is told", DEADLINE, |nvim| nvim.messages().contains("rules.json can not be used"));
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("Y");
        finish(&mut nvim);
        let path = file(&mut nvim);
        assert_eq!(fs::read_to_string(&path).unwrap(), broken);

        // It is mended in its own buffer, and then what the options say holds again.
        nvim.input(":Acp rules<CR>");
        nvim.wait_until("the file", DEADLINE, |nvim| nvim.lua("return vim.fn.expand('%:t')", json!([])) == "rules.json");
        nvim.input(":%d<CR>i");
        nvim.type_keys("{ \"version\": 1, \"projects\": {} }");
        nvim.input("<Esc>:w<CR>");
        nvim.wait_until("the user is told", DEADLINE, |nvim| nvim.messages().contains("The rules are in force again"));
        send(&mut nvim, "again");
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim))[1], ("t1".into(), "yes".into()));
    }

    fn what_another_neovim_stores_is_taken_in(target: &Target) {
        let mut nvim = with_agent(target, &agent(&["make all"]));
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): make all");
        nvim.input("a");
        finish(&mut nvim);
        let project = nvim.scratch().project().canonicalize().unwrap();
        let rules = json!({ "version": 1, "projects": { project.to_str().unwrap(): [{ "action": "allow", "command": "make *" }] } });
        write_file(&mut nvim, &rules.to_string());
        nvim.command("doautocmd FocusGained");
        send(&mut nvim, "again");
        finish(&mut nvim);
        wait_open(&mut nvim, 0);
        assert_eq!(chosen(&answers(&nvim))[1], ("t1".into(), "yes".into()));
    }

    fn all_of_it_is_in_the_audit_log(target: &Target) {
        let options = json!({ "rules": [{ "command": "make *", "allow": true }] });
        let mut nvim = with_permissions(target, &agent(&["make all", "rm x"]), &options);
        send(&mut nvim, "go");
        open_window(&mut nvim, "fake asks (execute): rm x");
        nvim.input("r");
        finish(&mut nvim);
        nvim.wait_until("both are written down", DEADLINE, |nvim| {
            let text = audit(nvim).iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
            text.contains("make all") && text.contains("rm x") && text.contains("permissions.rules[1]") && text.contains("\"user\"")
        });
        nvim.input(":Acp log audit<CR>");
        nvim.wait_until("the log", DEADLINE, |nvim| nvim.lua("return vim.fn.expand('%:t') == 'audit.log' and vim.fn.line('.') == vim.fn.line('$') and not vim.bo.modifiable", json!([])) == true);
    }
}
