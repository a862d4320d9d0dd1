//! What a session can be set to, sessions that an agent has kept, and what the agent tells of its
//! work.

use serde_json::{Value, json};

use crate::plugin::{
    chat, open, states, transcript, wait_choices, wait_rows, wait_state, wait_transcript,
    with_options,
};
use crate::report::{REPORT, assert_polite, calls, finish, send, wait_call};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// An agent whose answer to `session/new` has this in it; it takes whatever it is set to.
fn setable(new: &Value) -> Value {
    json!({
        "report": REPORT,
        "capabilities": {
            "loadSession": true,
            "sessionCapabilities": { "list": {}, "fork": {}, "title": {}, "additionalDirectories": {} },
            "mcpCapabilities": { "http": true },
            "_meta": { "steering": { "supported": true } }
        },
        "on": {
            "session/new": { "merge": new },
            "session/set_mode": [], "session/set_model": [], "session/set_config_option": [], "session/set_title": [],
            "session/list": { "result": { "sessions": [
                { "sessionId": "kept-1", "cwd": "{{cwd}}", "title": "An old talk", "updatedAt": "2026-01-02T03:04:05Z" }
            ] } },
            "session/load": { "steps": [{ "user": "What was it?" }, { "say": "It was this." }], "result": {} },
            "session/fork": { "result": { "sessionId": "branch-1" } },
            "_session/steering": [{ "set": { "words": "{{params.prompt.0.text}}" } }]
        },
        "prompts": [
            { "when": "work", "steps": [
                { "say": "I begin." },
                { "wait_until": { "when": { "words": { "$exists": true } }, "timeout_ms": 60000 } },
                { "say": "\n\nheard: {{words}}" }
            ] },
            { "when": "use", "steps": [
                { "update": { "sessionUpdate": "usage_update", "used": 50000, "size": 200_000, "cost": { "amount": 0.125, "currency": "USD" } } }
            ] },
            { "steps": [{ "say": "you said {{prompt}}" }] }
        ]
    })
}

fn old_settings() -> Value {
    json!({
        "modes": { "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "Ask" }, { "id": "plan", "name": "Plan first" }] },
        "models": { "currentModelId": "s", "availableModels": [{ "modelId": "s", "name": "Small" }, { "modelId": "b", "name": "Big" }] }
    })
}

fn options() -> Value {
    let value = |id: &str, name: &str| json!({ "value": id, "name": name });
    json!({ "configOptions": [
        { "id": "how", "name": "How", "category": "mode", "type": "select", "currentValue": "ask", "options": [value("ask", "Ask"), value("plan", "Plan")] },
        { "id": "level", "name": "Level", "type": "select", "currentValue": "low", "options": [value("low", "Low"), value("high", "High")] },
        { "id": "web", "name": "Web", "type": "boolean", "currentValue": false }
    ] })
}

/// The chat with its session open and the cursor in the prompt, in normal mode.
fn ready(target: &Target, scenario: &Value) -> Nvim {
    let mut nvim = chat(target, scenario);
    wait_state(&mut nvim, "ready");
    nvim.input("<Esc>");
    nvim.wait_until("normal mode", DEADLINE, |nvim| {
        nvim.lua("return vim.fn.mode()", json!([])) == "n"
    });
    nvim
}

/// Waits for a call whose parameters, but for the session, are these.
fn wait_params(nvim: &mut Nvim, method: &str, expected: &Value) {
    let mut params = wait_call(nvim, method);
    assert!(params.as_object_mut().unwrap().remove("sessionId").is_some_and(|it| it.is_string()));
    assert_eq!(&params, expected, "{method}");
}

nvim_tests! {
    fn mode_and_model(target: &Target) {
        let mut nvim = ready(target, &setable(&old_settings()));
        nvim.wait_screen("Ask · Small  ready");
        nvim.input(":Acp mode plan<CR>");
        wait_params(&mut nvim, "session/set_mode", &json!({ "modeId": "plan" }));
        nvim.wait_screen("Plan first · Small  ready");
        // By its name, chosen from a list.
        nvim.input(":Acp model<CR>");
        wait_choices(&mut nvim, "2    Big");
        nvim.input("2");
        wait_params(&mut nvim, "session/set_model", &json!({ "modelId": "b" }));
        nvim.wait_screen("Plan first · Big  ready");
        // Said when the agent has answered: what is said next must not come before.
        nvim.wait_screen("model: Big");
        assert_eq!(nvim.lua("return vim.fn.getcompletion('Acp mode ', 'cmdline')", json!([])), json!(["ask", "plan"]));
        nvim.input(":Acp mode nonsense<CR>");
        nvim.wait_screen("fake has no mode \"nonsense\", there are ask, plan");
        assert_eq!(calls(&nvim, "session/set_mode").len(), 1);
        assert_polite(&nvim);
        nvim.allow_errors();
    }

    fn options_of_the_session(target: &Target) {
        let mut nvim = ready(target, &setable(&options()));
        nvim.wait_screen("Ask  ready");
        nvim.input(":Acp mode Plan<CR>");
        wait_params(&mut nvim, "session/set_config_option", &json!({ "configId": "how", "value": "plan" }));
        nvim.wait_screen("Plan  ready");
        nvim.input(":Acp config web on<CR>");
        nvim.wait_until("the switch", DEADLINE, |nvim| calls(nvim, "session/set_config_option").len() == 2);
        let switch = &calls(&nvim, "session/set_config_option")[1];
        assert_eq!((&switch["configId"], &switch["value"]), (&json!("web"), &json!(true)));
        nvim.wait_screen("Web: on");
        nvim.input(":Acp config<CR>");
        let frame = wait_choices(&mut nvim, "2  Level: Low");
        assert!(frame.find("1  How: Plan").is_some() && frame.find("3  Web: on").is_some(), "{}", frame.text());
        nvim.input("2");
        wait_choices(&mut nvim, "2    High");
        nvim.input("2");
        nvim.wait_until("the level", DEADLINE, |nvim| calls(nvim, "session/set_config_option").len() == 3);
        assert_eq!(calls(&nvim, "session/set_config_option")[2]["value"], "high");
        assert_polite(&nvim);
    }

    /// Some agents have the provider of the model in the same category, and tell it first.
    fn the_model_is_the_option_of_that_name(target: &Target) {
        let value = |id: &str, name: &str| json!({ "value": id, "name": name });
        let select = |id: &str, name: &str, current: &str, values: Value| {
            json!({ "id": id, "name": name, "category": "model", "type": "select", "currentValue": current, "options": values })
        };
        let mut nvim = ready(target, &setable(&json!({ "configOptions": [
            select("provider", "Provider", "cloud", json!([value("cloud", "Cloud"), value("local", "Local")])),
            select("model", "Model", "s", json!([value("s", "Small"), value("b", "Big")])),
        ] })));
        nvim.wait_screen("Small  ready");
        nvim.input(":Acp model<CR>");
        wait_choices(&mut nvim, "2    Big");
        nvim.input("2");
        wait_params(&mut nvim, "session/set_config_option", &json!({ "configId": "model", "value": "b" }));
        nvim.wait_screen("Big  ready");
    }

    /// What is said is what the agent has answered, not what was wanted.
    fn an_agent_may_take_another_value(target: &Target) {
        let mut scenario = setable(&options());
        scenario["on"]["session/set_config_option"] = json!({ "result": options() });
        let mut nvim = ready(target, &scenario);
        nvim.wait_screen("Ask  ready");
        nvim.input(":Acp config level high<CR>");
        nvim.wait_screen("Level is Low: fake did not take High");
        nvim.input(":Acp config level low<CR>");
        nvim.wait_screen("Level: Low");
    }

    fn an_agent_may_change_its_mode(target: &Target) {
        let mut scenario = setable(&old_settings());
        scenario["prompts"] = json!([{ "steps": [{ "update": { "sessionUpdate": "current_mode_update", "currentModeId": "plan" } }] }]);
        let mut nvim = ready(target, &scenario);
        nvim.wait_screen("Ask · Small");
        nvim.input("igo<C-s><Esc>");
        nvim.wait_screen("Plan first · Small");
        assert!(transcript(&mut nvim).contains("mode: Plan first"));
    }

    fn title(target: &Target) {
        let mut nvim = ready(target, &setable(&json!({})));
        nvim.input(":Acp title A fine day<CR>");
        wait_params(&mut nvim, "session/set_title", &json!({ "title": "A fine day" }));
        nvim.wait_screen("fake  A fine day");
        assert_eq!(nvim.lua("return require('acp').sessions()[1].title", json!([])), "A fine day");
    }

    fn a_kept_session_is_taken_up(target: &Target) {
        let mut nvim = ready(target, &setable(&json!({})));
        nvim.input(":Acp load<CR>");
        let frame = wait_choices(&mut nvim, "1  An old talk");
        assert!(frame.find("Sessions of fake").is_some(), "{}", frame.text());
        nvim.input("1");
        nvim.wait_screen("It was this.");
        wait_rows(&mut nvim, 0, &["▌ You", "What was it?", "", "▌ fake", "It was this."]);
        let load = wait_call(&mut nvim, "session/load");
        let cwd = nvim.scratch().project();
        assert_eq!((&load["sessionId"], &load["cwd"]), (&json!("kept-1"), &json!(cwd.to_str().unwrap())));
        nvim.wait_until("both are ready", DEADLINE, |nvim| states(nvim) == ["ready", "ready"]);
        nvim.wait_until("the prompt", DEADLINE, |nvim| nvim.lua("return vim.bo.filetype", json!([])) == "acp_prompt");
        nvim.input("imore<C-s><Esc>");
        wait_transcript(&mut nvim, "you said more");
        assert_eq!(wait_call(&mut nvim, "session/prompt")["sessionId"], "kept-1");
        assert_polite(&nvim);
    }

    /// Times as people say them, and the folder only where it is another one.
    fn kept_sessions_are_told_apart(target: &Target) {
        let mut scenario = setable(&json!({}));
        let kept = |title: &str, cwd: &str, time: &str| json!({ "sessionId": title, "cwd": cwd, "title": title, "updatedAt": time });
        scenario["on"]["session/list"] = json!({ "result": { "sessions": [
            kept("first", "{{cwd}}", "2026-11-18T01:40:24.736261044+00:00"),
            kept("second", "{{cwd}}", "2026-11-17T23:40:30-03:00"),
            kept("third", "/somewhere/else", "2026-11-16T01:00:00Z"),
            kept("fourth", "{{cwd}}/", "1793410824000"),
            kept("fifth", "{{cwd}}", "soon"),
        ] } });
        let mut nvim = ready(target, &scenario);
        nvim.lua("local now = 1794966024 + 7300 require('acp.ago').now = function() return now end", json!([]));
        nvim.input(":Acp load<CR>");
        let frame = wait_choices(&mut nvim, "first");
        let text = frame.text();
        for row in ["first  2 h ago", "second  1 h ago", "third  2 days ago  /somewhere/else", "fourth  2026-10-31", "fifth  soon"] {
            let line = text.lines().find(|it| it.contains(row));
            assert!(line.is_some_and(|it| it.trim_end().trim_end_matches(['│', ' ']).ends_with(row)), "{row} is not in\n{text}");
        }
        nvim.input("<Esc>");
    }

    fn a_branch(target: &Target) {
        let mut nvim = ready(target, &setable(&json!({})));
        nvim.input(":Acp fork<CR>");
        let fork = wait_call(&mut nvim, "session/fork");
        let first = nvim.lua("return require('acp').sessions()[1].remote", json!([]));
        assert_eq!(fork["sessionId"], first);
        nvim.wait_until("both are ready", DEADLINE, |nvim| states(nvim) == ["ready", "ready"]);
        assert_eq!(nvim.lua("return require('acp').sessions()[2].remote", json!([])), "branch-1");
    }

    fn usage(target: &Target) {
        let mut nvim = ready(target, &setable(&old_settings()));
        nvim.input(":Acp usage<CR>");
        nvim.wait_screen("has not said what it used");
        nvim.input("qiuse<C-s><Esc>");
        nvim.wait_screen("25% context  ready");
        nvim.input(":Acp usage<CR>");
        nvim.wait_screen("█░░░░░░░░░░░░░░░░░░░░░░  25%  50 000 of 200 000 tokens");
        nvim.wait_screen("cost: 0.125 USD");
    }

    fn words_into_the_running_turn(target: &Target) {
        let mut nvim = ready(target, &setable(&json!({})));
        nvim.input("iwork<C-s><Esc>");
        nvim.wait_screen("I begin.");
        nvim.input(":Acp steer and be quick<CR>");
        let text = wait_transcript(&mut nvim, "heard: and be quick");
        assert!(text.contains("## You\n\nand be quick\n"), "{text}");
        assert_eq!(calls(&nvim, "session/prompt").len(), 1);
        assert_polite(&nvim);
    }

    fn tool_servers_and_folders(target: &Target) {
        let before = "vim.g.acp = {
            mcp_servers = {
              files = { command = { 'sh', '-c', 'true' }, env = { A = 'b' } },
              web = { url = 'https://example.com/mcp', headers = { Authorization = 'Bearer x' } },
              old = { type = 'sse', url = 'https://example.com/sse' },
              off = { command = 'nothing', enabled = false },
            },
            directories = { '/opt/library', 'inside' },
        }";
        let options = Options { before: before.into(), ..Options::default() };
        let mut nvim = with_options(target, options, &setable(&json!({})));
        send(&mut nvim, "go");
        finish(&mut nvim);
        let new = wait_call(&mut nvim, "session/new");
        let folders = json!(["/opt/library", nvim.scratch().project().join("inside").to_str().unwrap()]);
        assert_eq!(new["additionalDirectories"], folders);
        let servers = new["mcpServers"].as_array().unwrap();
        assert_eq!(servers.len(), 2, "{servers:?}");
        assert_eq!(servers[0]["name"], "files");
        assert!(servers[0]["command"].as_str().unwrap().ends_with("/sh"), "{}", servers[0]);
        assert_eq!((&servers[0]["args"], &servers[0]["env"]), (&json!(["-c", "true"]), &json!([{ "name": "A", "value": "b" }])));
        assert_eq!(servers[1], json!({
            "type": "http", "name": "web", "url": "https://example.com/mcp", "headers": [{ "name": "Authorization", "value": "Bearer x" }],
        }));
        // The agent takes no servers of the older kind, and the user is told so.
        assert!(transcript(&mut nvim).contains("left out: "), "{}", transcript(&mut nvim));
    }

    fn tool_calls_are_lines_that_change(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [
            { "say": "I look." },
            { "update": { "sessionUpdate": "tool_call", "toolCallId": "a", "title": "Read a.lua", "kind": "read", "status": "pending" } },
            { "update": { "sessionUpdate": "tool_call", "toolCallId": "b", "title": "Run\nthe tests", "kind": "execute", "status": "pending" } },
            { "wait_file": "one" },
            { "update": { "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "in_progress" } },
            { "wait_file": "two" },
            { "update": { "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed", "title": "Read a.lua (10 lines)" } },
            { "update": { "sessionUpdate": "tool_call_update", "toolCallId": "b", "status": "failed" } },
            { "say": "Done." }
        ] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>");
        nvim.wait_screen("○ ❯ Run the tests");
        nvim.wait_screen("○ ▤ Read a.lua");
        nvim.scratch().write("one", "");
        nvim.wait_screen("◐ ▤ Read a.lua");
        nvim.scratch().write("two", "");
        wait_transcript(&mut nvim, "Done.");
        nvim.wait_screen("Done.");
        wait_rows(&mut nvim, 3, &[
            "▌ fake", "I look.", "", "● ▤ Read a.lua (10 lines)", "✗ ❯ Run the tests", "", "Done.",
        ]);
    }

    fn export(target: &Target) {
        let mut nvim = ready(target, &setable(&json!({})));
        nvim.input("ihello<C-s><Esc>");
        wait_transcript(&mut nvim, "you said hello");
        wait_state(&mut nvim, "ready");
        nvim.command("Acp export");
        assert_eq!(nvim.lines(0), ["## You", "", "hello", "", "## fake", "", "you said hello"]);
        assert_eq!(nvim.lua("return { vim.bo.filetype, vim.bo.modified }", json!([])), json!(["markdown", false]));
        open(&mut nvim, "AcpChat");
    }
}
