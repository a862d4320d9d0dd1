//! The harness shows what a user would see: text, cursor, colours, windows, snapshots.

use serde_json::json;

use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::scratch::{Scratch, built, fixture, tutor};
use crate::support::screen::Frame;
use crate::support::snapshot::{assert_snapshot, compare_in};

nvim_tests! {
    fn runs_the_version_it_says(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let code = "local v = vim.version() return { v.major, v.minor, v.patch }";
        let version = nvim.lua(code, json!([]));
        let (major, minor, patch) = target.version;
        assert_eq!(version, json!([major, minor, patch]));
        assert!(target.version >= (0, 10, 0), "{target} is too old");
    }

    fn typed_text_shows_with_cursor_and_mode(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        assert_eq!(nvim.screen().mode, "normal");

        nvim.input("i");
        nvim.type_keys("if a < b\nthen <Esc>");
        let frame = nvim.wait_screen("then <Esc>");

        assert_eq!(frame.row(0), "if a < b");
        assert_eq!(frame.cursor, (1, "then <Esc>".len()));
        assert_eq!(frame.mode, "insert");
        assert_eq!(nvim.lines(0), ["if a < b", "then <Esc>"]);
    }

    fn plain_screen_is_the_same_in_every_version(target: &Target) {
        let mut nvim = Nvim::start(target, Options { width: 40, height: 8, ..Options::default() });
        nvim.input("ione<CR>two<Esc>");
        nvim.assert_screen("harness_plain");
    }

    fn cells_know_their_colours_and_groups(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua(
            "vim.cmd([[
               highlight HarnessLoud guifg=#112233 guibg=#445566 gui=bold,italic
               highlight HarnessOdd guisp=#00ff00 gui=undercurl,strikethrough
               highlight HarnessBack gui=reverse,underline
             ]])
             vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'plain loud odd back' })
             local ns = vim.api.nvim_create_namespace('harness')
             for group, cols in pairs({ Loud = { 6, 10 }, Odd = { 11, 14 }, Back = { 15, 19 } }) do
               local opts = { end_col = cols[2], hl_group = 'Harness' .. group }
               vim.api.nvim_buf_set_extmark(0, ns, 0, cols[1], opts)
             end",
            json!([]),
        );
        let frame = nvim.wait_screen("plain loud");
        let (plain, loud) = (frame.highlight(0, 4), frame.highlight(0, 6));
        let (odd, back) = (frame.highlight(0, 13), frame.highlight(0, 18));

        assert!(plain.groups.is_empty() && !plain.bold);
        assert_eq!((loud.foreground, loud.background), (0x11_22_33, 0x44_55_66));
        assert!(loud.bold && loud.italic && !loud.reverse);
        assert_eq!(loud.groups, ["HarnessLoud"]);
        assert_eq!(odd.special, 0x00_ff_00);
        assert!(odd.undercurl && odd.strikethrough && !odd.underline);
        assert!(back.reverse && back.underline && !back.undercurl);
        // No colours of its own: the default ones.
        assert_eq!((back.foreground, back.background), (plain.foreground, plain.background));
        assert_ne!(plain.foreground, plain.background);
    }

    fn colours_follow_a_change_of_the_default_ones(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.command("highlight Normal guifg=#010203 guibg=#040506");
        nvim.wait_until("the new colours", DEADLINE, |it| {
            let look = it.screen().highlight(0, 0);
            (look.foreground, look.background) == (0x01_02_03, 0x04_05_06)
        });
    }

    fn builtin_groups_are_known(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.command("highlight Visual guibg=#123456");
        nvim.input("ione two<Esc>V");
        nvim.wait_until("the selection", DEADLINE, |it| {
            let frame = it.screen();
            let visual = frame.builtin_group("Visual").unwrap();
            visual.background == 0x12_34_56 && frame.highlight(0, 2).background == 0x12_34_56
        });
        assert!(nvim.screen().builtin_group("NoSuchGroup").is_none());
    }

    fn wide_characters_take_two_cells(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.input("i");
        nvim.type_keys("a漢字b é🙂.");
        let frame = nvim.wait_screen("🙂.");

        assert_eq!(frame.row(0), "a漢字b é🙂.");
        assert_eq!([1, 2, 3, 4, 5].map(|col| frame.cell(0, col)), ["漢", "", "字", "", "b"]);
        assert_eq!(frame.find("字b"), Some((0, 3)));
        assert_eq!(frame.cursor, (0, 11));
    }

    fn resize_changes_the_screen(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let before = nvim.screen();
        assert_eq!((before.width, before.height), (100, 30));

        nvim.command("set statusline=%=end");
        for (width, height) in [(60, 12), (120, 40)] {
            nvim.resize(width, height);
            let at = (usize::from(height) - 2, usize::from(width) - 3);
            nvim.wait_until("the status line at its new place", DEADLINE, |it| {
                it.screen().find("end") == Some(at)
            });
            assert_eq!(nvim.screen().rows().len(), usize::from(height));
            let size = nvim.lua("return { vim.o.columns, vim.o.lines }", json!([]));
            assert_eq!(size, json!([width, height]));
        }
    }

    fn scrolling_moves_rows_both_ways(target: &Target) {
        let mut nvim = Nvim::start(target, Options { width: 40, height: 12, ..Options::default() });
        let lines: Vec<_> = (1..=40).map(|it| format!("line {it}")).collect();
        nvim.request("nvim_buf_set_lines", json!([0, 0, -1, true, lines]));
        let shows = |frame: &Frame, top: usize| {
            (0..10).all(|row| frame.row(row) == format!("line {}", top + row))
        };
        for (keys, top) in [("<C-e>", 2), ("3<C-e>", 5), ("2<C-y>", 3), ("G", 31), ("gg", 1)] {
            nvim.input(keys);
            nvim.wait_until(&format!("line {top} on top"), DEADLINE, |it| shows(&it.screen(), top));
        }
        nvim.command("vsplit | wincmd l");
        nvim.input("<C-e><C-e>");
        nvim.wait_until("one half scrolled", DEADLINE, |it| {
            let row = it.screen().row(0);
            row.starts_with("line 1 ") && row.ends_with("line 3")
        });
    }

    fn floating_windows_are_on_the_screen(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let win = nvim.lua(
            "local buf = vim.api.nvim_create_buf(false, true)
             vim.api.nvim_buf_set_lines(buf, 0, -1, true, { 'I float' })
             return vim.api.nvim_open_win(buf, true, {
               relative = 'editor', row = 5, col = 10, width = 20, height = 1, border = 'single',
             })",
            json!([]),
        );
        let frame = nvim.wait_screen("│I float");
        assert_eq!(frame.find("I float"), Some((6, 11)));
        assert_eq!(frame.cell(5, 10), "┌");
        assert_eq!(frame.cursor, (6, 11));
        assert!(frame.highlight(6, 11).groups.contains(&"NormalFloat".to_owned()));

        nvim.lua("vim.api.nvim_win_close(..., true)", json!([win]));
        nvim.wait_until("the float gone", DEADLINE, |it| it.screen().find("I float").is_none());
    }

    fn values_survive_the_way_there_and_back(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let nested = json!({ "k": { "l": [] } });
        let value = json!([null, true, -7, 3_000_000_000_u64, 1.5, "漢", ["x"], nested]);
        assert_eq!(nvim.lua("return ...", json!([value])), value);
        assert_eq!(nvim.request("nvim_get_current_buf", json!([])), 1);
    }

    fn notifications_are_collected(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.lua("vim.rpcnotify(1, 'first', 1)", json!([]));
        nvim.lua("vim.rpcnotify(1, 'second', 'two', { 3 })", json!([]));
        assert_eq!(nvim.wait_notification("second"), json!(["two", [3]]));
        assert_eq!(nvim.wait_notification("first"), json!([1]));
    }

    fn messages_are_at_hand(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        nvim.command("echomsg 'heard' | echomsg 'twice'");
        assert_eq!(nvim.messages(), "heard\ntwice");
    }

    fn nothing_of_the_user_is_read(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let home = nvim.scratch().project().parent().unwrap().to_str().unwrap().to_owned();
        let paths = nvim.lua(
            "local paths = { vim.fn.getcwd(), vim.env.HOME, vim.fn.tempname() }
             for _, what in ipairs({ 'cache', 'config', 'data', 'log', 'run', 'state' }) do
               paths[#paths + 1] = vim.fn.stdpath(what)
             end
             return paths",
            json!([]),
        );
        for path in paths.as_array().unwrap() {
            assert!(path.as_str().unwrap().starts_with(&home), "{path} is outside {home}");
        }
        let rtp = nvim.lua("return vim.opt.runtimepath:get()[1]", json!([]));
        assert_eq!(rtp, env!("CARGO_MANIFEST_DIR"));
    }

    fn options_reach_neovim(target: &Target) {
        let mut nvim = Nvim::start(target, Options {
            env: vec![("HARNESS".to_owned(), "yes".to_owned())],
            before: "vim.g.early = vim.g.loaded_acp == nil".to_owned(),
            ..Options::default()
        });
        let seen = nvim.lua("return { vim.env.HARNESS, vim.g.early }", json!([]));
        assert_eq!(seen, json!(["yes", true]));
    }
}

#[test]
fn snapshots_tell_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("known.txt"), "same\nold\n").unwrap();

    assert_eq!(compare_in(folder.path(), "known", "same\nold\n"), None);
    let complaint = compare_in(folder.path(), "known", "same\nnew\nmore\n").unwrap();
    assert!(complaint.contains("  1   same\n  2 - old\n  2 + new\n  3 + more\n"), "{complaint}");
    let complaint = compare_in(folder.path(), "unknown", "text\n").unwrap();
    assert!(complaint.contains("ACP_UPDATE_SNAPSHOTS=1 writes:\ntext\n"), "{complaint}");
}

#[test]
fn snapshots_hold_any_text() {
    assert_snapshot("harness_text", "any text\n  will do\n");
}

#[test]
fn scenario_is_a_command_for_the_tutor() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.scenario(&json!({ "a": 1 })), scratch.scenario(&json!([])));
    assert_eq!(first[0], tutor().to_str().unwrap());
    assert_eq!(first[0], built("acp-tutor").to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&first[1]).unwrap(), "{\n  \"a\": 1\n}\n");
    assert_ne!(first[1], second[1]);
    assert!(!first[1].starts_with(scratch.project().to_str().unwrap()));
}

#[test]
#[should_panic(expected = "no-such.ndjson is missing")]
fn missing_fixture_is_named() {
    fixture("no-such.ndjson");
}
