//! The public Lua API, with no window at all.

use serde_json::{Value, json};

use crate::plugin::with_agent;
use crate::report::REPORT;
use crate::support::nvim::{DEADLINE, Nvim};

/// Runs Lua that ends by setting `_G.done`, and gives what it set.
fn until_done(nvim: &mut Nvim, code: &str) -> Value {
    nvim.lua(code, json!([]));
    nvim.wait_for("_G.done", DEADLINE, |nvim| {
        let done = nvim.lua("return _G.done", json!([]));
        (!done.is_null()).then_some(done)
    })
}

nvim_tests! {
    /// Notifications are left to whoever waits, so they have to have their turn before: also where
    /// they are loaded later.
    fn who_listens_late_is_called_in_order(target: &Target) {
        let mut nvim = with_agent(target, &json!({}));
        let done = until_done(&mut nvim, r#"
            local called = {}
            vim.notify = function() table.insert(called, 'notified') end
            require('acp').setup({ agents = { fake = { command = { 'no-such-program' } } } })
            require('acp.client').start()
            require('acp.client').subscribe('failed', function()
              table.insert(called, package.loaded['acp.failures'] and 'all others' or 'too early')
              _G.done = called
            end)
            assert(not package.loaded['acp.failures'])
            require('acp').open({ agent = 'fake', new = true, focus = false, on_ready = function(err)
              table.insert(called, err and 'who waits' or 'no error')
            end })
        "#);
        assert_eq!(done, json!(["who waits", "all others"]));
    }

    /// The core may have said no before anybody listens.
    fn the_reason_of_a_failure_is_never_missed(target: &Target) {
        let mut nvim = with_agent(target, &json!({}));
        let done = until_done(&mut nvim, r#"
            local acp = require('acp')
            local function slowly(opts)
              local watch = require('acp.files.watch')
              local track_all = watch.track_all
              watch.track_all = function()
                vim.wait(5000, function() return vim.iter(acp.sessions()):any(function(it)
                  return it.state == 'failed'
                end) end, 5, true)
              end
              local id = acp.open(opts)
              watch.track_all = track_all
              return id
            end
            acp.open({ focus = false, on_ready = function(err, session)
              assert(not err)
              local failed
              failed = slowly({ fork = session.id, focus = false, on_ready = function(first)
                local told = vim.iter(acp.sessions()):find(function(it) return it.id == failed end)
                require('acp.session').touch(failed)
                acp.open({ focus = false, on_ready = function(again)
                  _G.done = { first.code, told.state, told.failure.code, again.code, again.message }
                end })
              end })
            end })
        "#);
        let code = "not_supported";
        assert_eq!(done, json!([code, "failed", code, code, "fake can't branch off a session"]));
    }

    fn a_session_works_with_no_window(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "prompts": [{ "steps": [{ "say": "answer to {{prompt}}" }] }] }));
        let done = until_done(&mut nvim, r#"
            local acp = require('acp')
            _G.events = {}
            vim.api.nvim_create_autocmd('User', { pattern = 'Acp*', callback = function(ev)
              table.insert(_G.events, ev.match .. ' ' .. tostring(ev.data.session))
            end })
            local id
            id = acp.open({ agent = 'fake', new = true, focus = false, on_ready = function(err, session)
              assert(not err and session.id == id and session.state == 'ready', vim.inspect({ err, session }))
              acp.prompt('question', { session = id, on_done = function(err, result)
                _G.done = { err = err, result = result, text = acp.transcript(id), buf = acp.buffer(id), wins = #vim.api.nvim_list_wins() }
              end })
            end })
            assert(type(id) == 'number')
            assert(#acp.sessions() == 1 and acp.sessions()[1].state == 'starting')
        "#);
        assert_eq!(done["result"]["stop_reason"], "end_turn");
        assert_eq!(done["text"], "## You\n\nquestion\n\n## fake\n\nanswer to question\n");
        assert_eq!(done["buf"], Value::Null);
        assert_eq!(done["wins"], 1);
        let events = nvim.lua("return _G.events", json!([]));
        assert_eq!(events, json!(["AcpSessionReady 1", "AcpTurnStarted 1", "AcpTurnFinished 1"]));
        let sessions = nvim.lua("return require('acp').sessions()", json!([]));
        let cwd = nvim.scratch().project();
        let remote = sessions[0]["remote"].clone();
        assert!(remote.is_string(), "{sessions}");
        assert_eq!(sessions, json!([{
            "id": 1, "agent": "fake", "title": "", "cwd": cwd.to_str().unwrap(), "state": "ready",
            "pending_permissions": 0, "queued": 0, "remote": remote,
        }]));
        assert_eq!(nvim.lua("return type(require('acp').status())", json!([])), "string");
    }

    fn blocks_can_be_sent(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "report": REPORT, "prompts": [{ "steps": [] }] }));
        let done = until_done(&mut nvim, r#"
            local acp = require('acp')
            acp.open({ focus = false })
            acp.prompt({
              { type = 'text', text = 'look' },
              { type = 'resource_link', uri = 'file:///a.lua', name = 'a.lua' },
              { type = 'resource', resource = { uri = 'file:///b.lua', text = 'return 1' } },
            }, { on_done = function(err, result) _G.done = { err = err, result = result } end })
        "#);
        assert_eq!(done["err"], Value::Null);
        let report = nvim.scratch().read(REPORT);
        assert!(report.contains(r#""uri":"file:///a.lua""#) && report.contains(r#""text":"return 1""#), "{report}");
    }

    fn failures_are_values(target: &Target) {
        let mut nvim = with_agent(target, &json!({}));
        let results = nvim.lua(r#"
            local acp = require('acp')
            local function code(_, err) return err and err.code end
            return {
              code(acp.prompt('x')), code(acp.cancel()), code(acp.close(7)), code(acp.transcript()),
              code(acp.open({ agent = 'no such agent', focus = false })),
            }
        "#, json!([]));
        let results: Vec<Option<String>> = serde_json::from_value(results).unwrap();
        assert!(results.iter().all(Option::is_some), "{results:?}");
    }

    fn callbacks_come_when_the_session_is_closed(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "prompts": [{ "steps": [{ "hang": true }] }] }));
        let done = until_done(&mut nvim, r#"
            local acp = require('acp')
            local got = {}
            local id = acp.open({ focus = false })
            for n = 1, 2 do
              acp.prompt('x', { session = id, on_done = function(err)
                got[n] = err and err.code
                if #got == 2 then _G.done = got end
              end })
            end
            vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnStarted', callback = function() acp.close(id) end })
        "#);
        assert_eq!(done, json!(["session_closed", "session_closed"]));
        nvim.wait_until("it is gone", DEADLINE, |nvim| nvim.lua("return #require('acp').sessions()", json!([])) == json!(0));
    }

    fn two_sessions_share_one_agent(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "prompts": [{ "steps": [{ "say": "{{sessionId}} {{pid}}" }] }] }));
        let done = until_done(&mut nvim, r#"
            local acp = require('acp')
            local texts = {}
            local function ask(id)
              acp.prompt('x', { session = id, on_done = function()
                table.insert(texts, acp.transcript(id):match('## fake\n\n(%S+ %S+)'))
                if #texts == 2 then _G.done = texts end
              end })
            end
            ask(acp.open({ focus = false }))
            ask(acp.open({ focus = false, new = true }))
        "#);
        let words: Vec<Vec<&str>> = done.as_array().unwrap().iter().map(|it| it.as_str().unwrap().split(' ').collect()).collect();
        assert_ne!(words[0][0], words[1][0], "two sessions");
        assert_eq!(words[0][1], words[1][1], "one process");
    }
}
