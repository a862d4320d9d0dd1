//! Which keys answer a permission, and that pickers of others are used only where that is wanted.

use serde_json::json;

use crate::permissions::{
    PICKER, WINDOW, asking, chosen, quiet_for, scenario, set_permissions, wait_armed, wait_open,
    wait_picker, wait_window,
};
use crate::plugin::{chat, wait_state, wait_transcript, with_agent};
use crate::report::{answers, assert_polite, finish, send};
use crate::support::nvim::DEADLINE;

/// One that opens a window of its own, and says nothing when it is left.
const MUTE_PICKER: &str = "
    _G.pickers = {}
    vim.ui.select = function(items, opts, fn)
      local buf = vim.api.nvim_create_buf(false, true)
      local win = vim.api.nvim_open_win(buf, true, { relative = 'editor', row = 1, col = 1, width = 20, height = 3 })
      vim.keymap.set('n', '<Esc>', '<Cmd>close<CR>', { buffer = buf })
      table.insert(_G.pickers, function(index)
        pcall(vim.api.nvim_win_close, win, true)
        fn(items[index], index)
      end)
    end";

nvim_tests! {
    fn the_picker_of_the_user_is_used_where_that_is_wanted_and_called_for(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua", "Edit b.lua"]));
        nvim.lua(PICKER, json!([]));
        set_permissions(&mut nvim, json!({ "picker": "vim.ui.select" }));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 2);
        nvim.wait_screen("(2 of 2): :Acp permissions");
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 0);
        nvim.input(":Acp permissions<CR>");
        assert_eq!(wait_picker(&mut nvim, 1), json!([
            "fake asks (edit): Edit a.lua",
            ["✓  Go ahead", "✓✓ Go ahead, always", "✗  Rather not", "✗  Reject with a reason…", "■  Stop the agent"],
            "acp_permission",
        ]));
        assert!(nvim.lua(WINDOW, json!([])).is_null());
        nvim.command("Acp cancel");
        finish(&mut nvim);
        wait_open(&mut nvim, 0);
        // What is still on the screen answers nothing any more.
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        nvim.wait_until("the user is told", DEADLINE, |nvim| nvim.messages().contains("No longer pending: nothing was chosen"));
        wait_state(&mut nvim, "ready");
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 1);
        assert_polite(&nvim);
    }

    fn a_picker_that_is_not_asked_for_is_not_used(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.lua(PICKER, json!([]));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("r");
        finish(&mut nvim);
        assert_eq!(nvim.lua("return #_G.pickers", json!([])), 0);
    }

    fn a_picker_that_goes_without_a_word_was_dismissed(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.lua(MUTE_PICKER, json!([]));
        set_permissions(&mut nvim, json!({ "picker": "vim.ui.select" }));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.input(":Acp permissions<CR>");
        nvim.wait_until("the picker", DEADLINE, |nvim| nvim.lua("return #_G.pickers", json!([])) == 1);
        nvim.input("<Esc>");
        nvim.wait_screen("Not answered yet: fake asks (edit): Edit a.lua");
        // It can be called for again, and what the first one says now is for nothing.
        nvim.input(":Acp permissions<CR>");
        nvim.wait_until("the picker", DEADLINE, |nvim| nvim.lua("return #_G.pickers", json!([])) == 2);
        nvim.lua("_G.pickers[1](1)", json!([]));
        assert!(answers(&nvim).is_empty());
        nvim.lua("_G.pickers[2](3) _G.pickers[2](1)", json!([]));
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "no".into())]);
    }

    fn always_needs_a_second_key_in_every_picker(target: &Target) {
        let mut nvim = with_agent(target, &scenario(&["Edit a.lua"]));
        nvim.lua(PICKER, json!([]));
        set_permissions(&mut nvim, json!({ "picker": "vim.ui.select" }));
        send(&mut nvim, "go");
        wait_open(&mut nvim, 1);
        nvim.input(":Acp permissions<CR>");
        wait_picker(&mut nvim, 1);
        nvim.lua("_G.pickers[1].choose(2)", json!([]));
        wait_armed(&mut nvim);
        assert!(answers(&nvim).is_empty());
        nvim.input("Y");
        finish(&mut nvim);
        assert_eq!(chosen(&answers(&nvim)), [("t1".into(), "always".into())]);
    }

    fn a_tool_call_that_waits_is_answered_where_it_is_seen(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        set_permissions(&mut nvim, json!({ "focus": "never" }));
        nvim.type_keys("go");
        nvim.input("<C-s><Esc><C-w>k");
        wait_open(&mut nvim, 1);
        nvim.wait_screen("waiting for you  a Go ahead");
        // A stray key and what follows it at once answer nothing.
        nvim.input("G<CR>a");
        quiet_for(&mut nvim, 1200);
        assert!(nvim.lua(WINDOW, json!([])).is_null());
        assert!(answers(&nvim).is_empty());
        nvim.input("<Esc><C-w>kG<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("r");
        wait_transcript(&mut nvim, "outcome: selected no.");
    }

    fn never_by_itself_where_that_is_wanted(target: &Target) {
        let mut nvim = chat(target, &scenario(&["Edit a.lua"]));
        // The option's former name.
        set_permissions(&mut nvim, json!({ "open": "manual" }));
        assert_eq!(nvim.lua("return require('acp.config').get().permissions.focus", json!([])), "never");
        nvim.type_keys("go");
        nvim.input("<C-s><Esc>");
        wait_open(&mut nvim, 1);
        quiet_for(&mut nvim, 2500);
        assert!(nvim.lua(WINDOW, json!([])).is_null());
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("r");
        wait_transcript(&mut nvim, "outcome: selected no.");
    }

    fn what_lasts_needs_a_second_key_and_a_second(target: &Target) {
        let mut nvim = asking(target, &["Edit a.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        // Too early, then another key, then the same one again.
        nvim.input("AY");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        for other in ["a", "A", "<CR>", "S", "j"] {
            nvim.input("A");
            wait_armed(&mut nvim);
            nvim.input(other);
            wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        }
        assert!(answers(&nvim).is_empty());
        // A count is another key too, though nothing is done before the rest of it.
        nvim.input("A");
        wait_armed(&mut nvim);
        nvim.input("1Y");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        assert!(answers(&nvim).is_empty());
        // Moved to and confirmed.
        nvim.input("jj<CR>");
        wait_armed(&mut nvim);
        nvim.input("Y");
        wait_transcript(&mut nvim, "outcome: selected always.");
    }

    fn digits_and_a_line_that_nobody_moved_to_choose_nothing(target: &Target) {
        let mut nvim = asking(target, &["Edit a.lua"]);
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("<CR>1<Esc>");
        nvim.wait_screen("Not answered yet: fake asks (edit): Edit a.lua");
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("2j<CR>");
        wait_armed(&mut nvim);
        nvim.input("<Esc>");
        wait_window(&mut nvim, "fake asks (edit): Edit a.lua");
        nvim.input("3j<CR>");
        wait_transcript(&mut nvim, "outcome: selected no.");
    }
}
