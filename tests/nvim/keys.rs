//! Keys: a `<Plug>` map for everything, and help on those there are.

use serde_json::json;

use crate::plugin::{chat, wait_state};
use crate::support::nvim::DEADLINE;

nvim_tests! {
    fn every_action_has_a_plug_map(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        let missing = nvim.lua(
            "local keymaps, missing, known = require('acp.ui.keymaps'), {}, {}
             for name in pairs(keymaps.actions) do
               known[keymaps.plug(name)] = true
               for _, mode in ipairs({ 'n', 'i' }) do
                 if vim.fn.maparg(keymaps.plug(name), mode) == '' then
                   table.insert(missing, mode .. ' ' .. name)
                 end
               end
             end
             for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
               if map.lhs:find('^<Plug>%(acp%-') and not known[map.lhs] then
                 table.insert(missing, 'an action for ' .. map.lhs)
               end
             end
             return missing",
            json!([]),
        );
        assert_eq!(missing, json!([]));
    }

    fn help_lists_what_is_mapped(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        wait_state(&mut nvim, "ready");
        nvim.lua("vim.keymap.set('n', 'gz', '<Nop>', { buffer = true, desc = 'acp: mine' })", json!([]));
        nvim.input("<Esc>g?");
        let frame = nvim.wait_screen("Keys in the prompt");
        for row in ["<C-s> <CR>  <C-s>", "mine", "send the prompt", ":help acp"] {
            assert!(frame.find(row).is_some(), "{row}\n{}", frame.text());
        }
        nvim.input("q<C-w>kg?");
        let frame = nvim.wait_screen("Keys in the transcript");
        assert!(frame.find("go to the prompt").is_some() && frame.find("Insert").is_none(), "{}", frame.text());
        nvim.input("<Esc>");
        nvim.wait_until("the transcript has the cursor", DEADLINE, |nvim| {
            nvim.lua("return vim.b.acp_role", json!([])) == "transcript"
        });
    }

    fn floats_have_help_too(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        nvim.lua(
            "local buf = vim.api.nvim_create_buf(false, true)
             vim.keymap.set('n', 'x', '<Nop>', { buffer = buf, desc = 'acp: do it' })
             require('acp.ui.float').show({ buf = buf, title = 'Mine' })",
            json!([]),
        );
        nvim.input("g?");
        nvim.wait_screen("do it");
        nvim.input("q");
        nvim.wait_until("back in the float", DEADLINE, |nvim| {
            let frame = nvim.screen();
            frame.find("do it").is_none() && frame.find("Mine").is_some()
        });
        nvim.input("<Esc>");
        nvim.wait_until("the prompt has the cursor", DEADLINE, |nvim| {
            nvim.lua("return vim.b.acp_role", json!([])) == "prompt"
        });
    }
}
