//! `acp.rewind()`: when it is possible, and what it says when it is not.

use serde_json::{Value, json};

use crate::files::lua;
use crate::plugin::{open, wait_state, with_options};
use crate::report::send;
use crate::rewind::{OLD, agent, on_disk, project, turn};
use crate::support::nvim::{DEADLINE, Nvim, Options};

nvim_tests! {
    /// Whoever hears that a turn is over may undo it: what it changed is written down meanwhile.
    fn a_turn_is_undone_as_soon_as_it_is_over(target: &Target) {
        let turns = [vec![on_disk("a.txt", "one\n")], vec![on_disk("a.txt", "two\n")]];
        let mut nvim = with_options(target, Options::default(), &agent(&turns));
        project(&nvim);
        lua(&mut nvim, "
            local acp = require('acp')
            _G.events = {}
            vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnFinished', callback = function(ev)
              local ok, err = acp.rewind({ session = ev.data.session, turn = ev.data.turn, on_done = function(err, result)
                table.insert(_G.events, err and err.code or result.turn .. ' ' .. #result.files)
              end })
              table.insert(_G.events, ok or err.code)
            end })
            acp.open({ focus = false })
            acp.prompt('prompt 1', { on_done = function() end })
        ");
        let undone = |nvim: &mut Nvim, events: &Value| {
            nvim.wait_until(&format!("{events}"), DEADLINE, |nvim| lua(nvim, "return _G.events") == *events);
        };
        undone(&mut nvim, &json!([true, "1 1"]));
        assert_eq!(nvim.scratch().read("a.txt"), OLD);
        // From the callback, and only once the first is done with.
        lua(&mut nvim, "
            vim.api.nvim_clear_autocmds({ event = 'User', pattern = 'AcpTurnFinished' })
            _G.events = {}
            local acp = require('acp')
            acp.prompt('prompt 2', { on_done = function()
              local again = { turn = 2, on_done = function(err, result) table.insert(_G.events, err and err.code or result.turn) end }
              acp.rewind(again)
              acp.rewind(again)
              acp.rewind({ turn = 99, on_done = function(err) table.insert(_G.events, err.code) end })
            end })
        ");
        undone(&mut nvim, &json!(["busy", "busy", "2"]));
        assert_eq!(nvim.scratch().read("a.txt"), OLD);
    }

    fn what_can_not_be_undone(target: &Target) {
        let hang = vec![json!({ "say": "working" }), json!({ "hang": true })];
        let mut nvim = with_options(target, Options::default(), &agent(&[vec![], hang]));
        project(&nvim);
        open(&mut nvim, "AcpChat");
        wait_state(&mut nvim, "ready");
        let refused = |nvim: &mut Nvim, id: Value| {
            let code = "local ok, err = require('acp').rewind({ turn = ... }) return { tostring(ok), err.code, err.hint }";
            nvim.lua(code, json!([id]))
        };
        assert_eq!(refused(&mut nvim, json!(1))[1], "no_turn");
        turn(&mut nvim, 1);
        assert_eq!(refused(&mut nvim, json!("nonsense"))[1], "no_turn");
        assert_eq!(refused(&mut nvim, json!({ "a": 1 }))[1], "no_turn");
        send(&mut nvim, "prompt 2");
        wait_state(&mut nvim, "running");
        assert_eq!(refused(&mut nvim, json!(1)), json!(["nil", "busy", "Cancel first: :Acp cancel"]));
    }
}
