//! How rows are painted: whole rows, hidden text, code in its language. The core is told what to say
//! about each row, so that every case is at hand.

use serde_json::json;

use crate::plugin::chat;
use crate::support::nvim::{DEADLINE, Nvim};
use crate::support::screen::Frame;
use crate::support::target::Target;

/// A chat that shows these lines, with spans `{ row, col, end_col, group }` and code as given in
/// Lua. The core's own answers are never asked for.
fn painted(target: &Target, lines: &[&str], lua: &str) -> Nvim {
    let mut nvim = chat(target, &json!({}));
    nvim.input("<Esc>");
    nvim.lua(&format!("
        local lib = require('acp.native').load()
        local number = {{}}
        for i, name in ipairs(lib.groups) do number[name] = i end
        local buf, lines = require('acp').buffer(), ...
        local spans, code = (function() {lua} end)()
        package.loaded['acp.ui.paint'] = nil
        lib.paint = function(_, first, last)
          local flat = {{}}
          for _, it in ipairs(spans or {{}}) do
            if it[1] >= first and it[1] < last then
              vim.list_extend(flat, {{ it[1], it[2], it[3], (assert(number[it[4]], it[4])) }})
            end
          end
          return flat
        end
        lib.code = function(_, first, last)
          return vim.tbl_filter(function(it)
            return it.rows[1] < last and it.rows[#it.rows] >= first
          end, code or {{}})
        end
        vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('acp.surface'), {{}})
        require('acp.ui.paint').attach()
        require('acp.ui.surface').apply({{ {{ surface = buf, first = 0, last = -1, lines = lines }} }})
        require('acp.ui.surface').settle()
        vim.wo[vim.fn.bufwinid(buf)].conceallevel = 2
        "), json!([lines]));
    nvim
}

fn groups(frame: &Frame, text: &str) -> Vec<String> {
    let (row, col) = frame.find(text).unwrap_or_else(|| panic!("{text:?}\n{}", frame.text()));
    frame.highlight(row, col).groups
}

fn has(frame: &Frame, text: &str, group: &str) -> bool {
    groups(frame, text).iter().any(|it| it == group)
}

nvim_tests! {
    fn whole_rows_reach_the_edge(target: &Target) {
        let lines = ["before", "added", "between", &"long ".repeat(12), "removed, and the last one"];
        let mut nvim = painted(target, &lines, "return { { 1, 0, 5, 'AcpAdded' }, { 3, 0, 60, 'AcpUserText' }, { 4, 0, 25, 'AcpRemoved' } }");
        let frame = nvim.wait_screen("removed, and");
        let edge = frame.width - 1;
        for (text, group) in [("added", "AcpAdded"), ("long", "CursorLine"), ("removed", "AcpRemoved")] {
            assert!(has(&frame, text, group), "{:?}", groups(&frame, text));
            let (row, _) = frame.find(text).unwrap();
            let last = frame.highlight(row, edge).groups;
            assert!(last.contains(&group.to_owned()), "{text}: {last:?}\n{}", frame.text());
        }
        for text in ["before", "between"] {
            let (row, _) = frame.find(text).unwrap();
            assert!(frame.highlight(row, edge).groups.is_empty(), "{text}");
        }
        // A row that does not fit goes on below.
        let (row, _) = frame.find("long").unwrap();
        assert!(frame.highlight(row + 1, edge).groups.contains(&"CursorLine".to_owned()));
    }

    fn concealed_text_is_hidden(target: &Target) {
        let mut nvim = painted(target, &["", "some **strong** words"], "return { { 1, 5, 7, 'AcpConceal' }, { 1, 7, 13, 'AcpStrong' }, { 1, 13, 15, 'AcpConceal' } }");
        let frame = nvim.wait_screen("some strong words");
        assert!(has(&frame, "strong", "@markup.strong"), "{:?}", groups(&frame, "strong"));
        assert!(!has(&frame, "words", "@markup.strong"));
    }

    fn code_has_the_colours_of_its_language(target: &Target) {
        let lines = ["```lua", "local x = 1", "-- words", "```", "> nothing", "local y = 2"];
        let mut nvim = painted(target, &lines, "
            return {
              { 1, 0, 11, 'AcpCodeBlock' }, { 2, 0, 8, 'AcpCodeBlock' }, { 5, 0, 11, 'AcpAdded' }, { 5, 6, 7, 'AcpAddedWord' },
            }, {
              { id = 1, lang = 'lua', col = 0, rows = { 1, 2 } },
              { id = 2, lang = 'src/some.lua', col = 0, rows = { 5 } },
            }");
        // Code comes when there is time for it.
        nvim.wait_screen("local y");
        nvim.wait_until("colours", DEADLINE, |nvim| {
            let frame = nvim.screen();
            ["local x", "local y"].iter().all(|it| groups(&frame, it).ends_with(&["Statement".to_owned()]))
        });
        let frame = nvim.screen();
        assert_eq!(groups(&frame, "local x"), ["Special", "Statement"]);
        assert_eq!(groups(&frame, "1"), ["Special", "Constant"]);
        assert_eq!(groups(&frame, "-- words"), ["Special", "Comment"]);
        assert!(groups(&frame, "nothing").is_empty());
        // Over the row, under the words that have changed.
        assert_eq!(groups(&frame, "local y"), ["AcpAdded", "Statement"]);
        assert_eq!(groups(&frame, "y ="), ["AcpAdded", "@variable", "AcpAddedWord"]);
    }

    fn a_language_nobody_knows_stays_plain(target: &Target) {
        let mut nvim = painted(target, &["local x = 1", "end"], "
            return {}, {
              { id = 1, lang = '../../../etc/passwd', col = 0, rows = { 0 } },
              { id = 2, lang = 'nonsense', col = 0, rows = { 1 } },
            }");
        let frame = nvim.wait_screen("local x");
        assert!(groups(&frame, "local x").is_empty());
    }

    fn every_group_has_a_look(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        let bare = "
            local bare = {}
            for _, name in ipairs(require('acp.native').load().groups) do
              if next(vim.api.nvim_get_hl(0, { name = name })) == nil then table.insert(bare, name) end
            end
            return bare";
        assert_eq!(nvim.lua(bare, json!([])), json!([]));
        for command in ["set background=light", "colorscheme blue", "colorscheme default", "set background=dark"] {
            nvim.command(command);
            assert_eq!(nvim.lua(bare, json!([])), json!([]), "after {command}");
        }
        // What the user has set stays.
        nvim.command("highlight AcpAnsi1 guifg=#123456 | highlight! link AcpUser Error");
        nvim.command("doautocmd ColorScheme");
        let look = "return { vim.api.nvim_get_hl(0, { name = 'AcpAnsi1' }).fg, vim.api.nvim_get_hl(0, { name = 'AcpUser' }).link }";
        assert_eq!(nvim.lua(look, json!([])), json!([0x12_34_56, "Error"]));
    }
}
