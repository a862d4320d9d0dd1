//! Where the chat is on the screen, in every layout, and that it leaves everything else alone.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, wait_transcript, windows, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

const LAYOUTS: [&str; 5] = ["right", "left", "bottom", "float", "tab"];

/// The chat in a layout, on a screen of this size, in normal mode in the prompt.
fn chat_in(target: &Target, layout: &str, (width, height): (u16, u16)) -> Nvim {
    let before = format!("vim.g.acp = {{ chat = {{ layout = '{layout}' }} }}");
    let options = Options { before, width, height, ..Options::default() };
    let scenario = json!({ "prompts": [{ "steps": [{ "say": "answer to {{prompt}}" }] }] });
    let mut nvim = with_options(target, options, &scenario);
    nvim.lua("vim.fn.setline(1, { 'some', 'code' })  vim.bo.modified = false", json!([]));
    show(&mut nvim);
    nvim
}

fn show(nvim: &mut Nvim) {
    open(nvim, "AcpChat");
    wait_state(nvim, "ready");
    nvim.input("<Esc>");
    nvim.wait_until("normal mode", DEADLINE, |nvim| {
        nvim.lua("return vim.fn.mode()", json!([])) == "n"
    });
}

/// Where the transcript and the prompt are: row, column, width and height, of all tab pages.
fn boxes(nvim: &mut Nvim) -> Value {
    nvim.lua(
        "local boxes = {}
         for _, win in ipairs(vim.api.nvim_list_wins()) do
           local role = vim.w[win].acp_role
           if role then
             local at = vim.api.nvim_win_get_position(win)
             boxes[role] = {
               at[1], at[2], vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win),
             }
           end
         end
         return boxes",
        json!([]),
    )
}

fn wait_boxes(nvim: &mut Nvim, what: &str, transcript: [u64; 4], prompt: [u64; 4]) {
    let expected = json!({ "transcript": transcript, "prompt": prompt });
    let mut last = Value::Null;
    let until = std::time::Instant::now() + DEADLINE;
    while last != expected {
        assert!(std::time::Instant::now() < until, "{what}: {last}, not {expected}");
        last = boxes(nvim);
    }
}

fn hidden(nvim: &mut Nvim) {
    nvim.wait_until("no chat", DEADLINE, |nvim| boxes(nvim) == json!([]) && tabs(nvim) == 1);
}

fn tabs(nvim: &mut Nvim) -> u64 {
    nvim.lua("return #vim.api.nvim_list_tabpages()", json!([])).as_u64().unwrap()
}

/// All options that are not the chat's own: the global ones, and those of the user's window.
const OPTIONS: &str = "
    local values = {}
    for name, info in pairs(vim.api.nvim_get_all_options_info()) do
      -- Some options are only known where they make sense.
      local known, value = pcall(vim.api.nvim_get_option_value, name, { scope = 'global' })
      values['global ' .. name] = known and value or ''
      if not known then
        values['global ' .. name] = nil
      elseif info.scope == 'win' then
        values['window ' .. name] = vim.api.nvim_get_option_value(name, { win = ... })
      elseif info.scope == 'buf' then
        values['buffer ' .. name] =
          vim.api.nvim_get_option_value(name, { buf = vim.api.nvim_win_get_buf(...) })
      end
    end
    return values";

nvim_tests! {
    fn every_layout_looks_as_it_should(target: &Target) {
        for layout in LAYOUTS {
            let mut nvim = chat_in(target, layout, (80, 24));
            nvim.assert_screen(&format!("layout_{layout}_80"));
        }
    }

    fn wide_layouts(target: &Target) {
        for layout in ["bottom", "float"] {
            let mut nvim = chat_in(target, layout, (200, 50));
            nvim.assert_screen(&format!("layout_{layout}_200"));
        }
    }

    fn no_option_of_the_user_changes(target: &Target) {
        let mut nvim = chat_in(target, "right", (100, 30));
        nvim.input("q");
        hidden(&mut nvim);
        let win = nvim.lua("return vim.api.nvim_get_current_win()", json!([]));
        let before = nvim.lua(OPTIONS, json!([win]));
        for layout in LAYOUTS {
            nvim.command(&format!("Acp layout {layout}"));
            show(&mut nvim);
            nvim.input("i");
            nvim.type_keys(layout);
            nvim.input("<C-s>");
            wait_transcript(&mut nvim, &format!("answer to {layout}"));
            nvim.input("<Esc>g?");
            nvim.wait_screen("Keys in the prompt");
            nvim.input("q:Acp usage<CR>");
            nvim.wait_screen("has not said");
            nvim.input("q");
            assert_eq!(boxes(&mut nvim).as_object().unwrap().len(), 2, "{layout}");
            let during = nvim.lua(OPTIONS, json!([win]));
            for (name, value) in before.as_object().unwrap() {
                // The user's window makes room, as for any other.
                let resized = ["window winfixwidth", "window scroll"].contains(&name.as_str());
                assert!(resized || value == &during[name], "{layout}: {name}: {value}, {}", during[name]);
            }
            nvim.input("q");
            hidden(&mut nvim);
        }
        nvim.command("Acp close");
        let after = nvim.lua(OPTIONS, json!([win]));
        for (name, value) in before.as_object().unwrap() {
            assert_eq!(value, &after[name], "{name}");
        }
    }

    fn closing_either_closes_both(target: &Target) {
        for layout in LAYOUTS {
            let mut nvim = chat_in(target, layout, (100, 30));
            nvim.input(":quit<CR>");
            hidden(&mut nvim);
            show(&mut nvim);
            nvim.lua("for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
                        if vim.w[win].acp_role == 'transcript' then vim.api.nvim_set_current_win(win) end
                      end", json!([]));
            nvim.input(":quit<CR>");
            hidden(&mut nvim);
            assert_eq!(nvim.lua("return vim.fn.getline(1, '$')", json!([])), json!(["some", "code"]));
            assert_eq!(windows(&mut nvim), 1);
        }
    }

    fn sizes_are_kept(target: &Target) {
        let mut nvim = chat_in(target, "right", (100, 40));
        wait_boxes(&mut nvim, "as configured", [0, 60, 40, 34], [35, 60, 40, 3]);
        nvim.command("vertical resize 50 | resize 5");
        wait_boxes(&mut nvim, "given", [0, 50, 50, 32], [33, 50, 50, 5]);
        // Other windows do not change it.
        nvim.command("wincmd h | split | vsplit | help | only | botright copen | cclose");
        nvim.input("<Esc>");
        show(&mut nvim);
        wait_boxes(&mut nvim, "beside others", [0, 50, 50, 32], [33, 50, 50, 5]);
        nvim.input("q");
        hidden(&mut nvim);
        show(&mut nvim);
        wait_boxes(&mut nvim, "hidden and shown", [0, 50, 50, 32], [33, 50, 50, 5]);
        nvim.resize(200, 40);
        wait_boxes(&mut nvim, "on a wider screen", [0, 100, 100, 32], [33, 100, 100, 5]);
        // Each layout has its own.
        nvim.command("Acp layout left");
        wait_boxes(&mut nvim, "left", [0, 0, 80, 34], [35, 0, 80, 3]);
        nvim.command("Acp layout right");
        wait_boxes(&mut nvim, "right again", [0, 100, 100, 32], [33, 100, 100, 5]);
    }

    fn sizes_at_the_bottom_are_kept(target: &Target) {
        let mut nvim = chat_in(target, "bottom", (100, 40));
        wait_boxes(&mut nvim, "as configured", [21, 0, 100, 13], [35, 0, 100, 3]);
        nvim.command("wincmd k | resize 8");
        wait_boxes(&mut nvim, "given", [26, 0, 100, 8], [35, 0, 100, 3]);
        nvim.input("q");
        hidden(&mut nvim);
        show(&mut nvim);
        wait_boxes(&mut nvim, "hidden and shown", [26, 0, 100, 8], [35, 0, 100, 3]);
        // A draft takes rows from the transcript, not from the code.
        nvim.input("ione<CR>two<CR>three<CR>four<CR>five<Esc>");
        wait_boxes(&mut nvim, "with a draft", [26, 0, 100, 6], [33, 0, 100, 5]);
        // From a certain width on they are side by side; the user stays where they are.
        nvim.resize(200, 40);
        wait_boxes(&mut nvim, "wide", [27, 0, 129, 11], [27, 130, 70, 11]);
        nvim.wait_screen("three");
        assert_eq!(nvim.lua("return vim.b.acp_role", json!([])), "prompt");
        nvim.resize(100, 40);
        wait_boxes(&mut nvim, "narrow again", [26, 0, 100, 6], [33, 0, 100, 5]);
    }

    fn floats_stay_in_the_middle(target: &Target) {
        let mut nvim = chat_in(target, "float", (100, 40));
        wait_boxes(&mut nvim, "as configured", [4, 10, 78, 23], [29, 10, 78, 3]);
        nvim.resize(60, 20);
        wait_boxes(&mut nvim, "smaller", [2, 6, 46, 7], [11, 6, 46, 3]);
        nvim.resize(100, 40);
        nvim.command("vertical resize 50");
        wait_boxes(&mut nvim, "narrow", [4, 24, 50, 23], [29, 24, 50, 3]);
        // Who goes to the code wants to see it.
        nvim.command("wincmd p");
        let focus = nvim.lua("return vim.fn.getline(1)", json!([]));
        hidden(&mut nvim);
        assert_eq!(focus, "some");
        show(&mut nvim);
        wait_boxes(&mut nvim, "as it was", [4, 24, 50, 23], [29, 24, 50, 3]);
    }

    fn a_tab_of_its_own(target: &Target) {
        let mut nvim = chat_in(target, "tab", (100, 30));
        assert_eq!((tabs(&mut nvim), windows(&mut nvim)), (2, 2));
        nvim.command("tabfirst");
        show(&mut nvim);
        assert_eq!((tabs(&mut nvim), windows(&mut nvim)), (2, 2));
        nvim.command("tabfirst | tabnew | tablast");
        nvim.input("q");
        nvim.wait_until("two tabs", DEADLINE, |nvim| tabs(nvim) == 2);
        nvim.wait_screen("some");
        nvim.command("tabonly");
        show(&mut nvim);
        // Alone, it leaves a window behind.
        nvim.command("tabonly");
        nvim.input("q");
        hidden(&mut nvim);
        assert_eq!(windows(&mut nvim), 1);
    }

    fn the_chat_can_be_all_there_is(target: &Target) {
        for layout in ["right", "left", "bottom", "tab"] {
            let mut nvim = chat_in(target, layout, (100, 30));
            nvim.command("silent tabonly");
            nvim.lua("for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
                        if not vim.w[win].acp_role then vim.api.nvim_win_close(win, false) end
                      end", json!([]));
            assert_eq!(windows(&mut nvim), 2, "{layout}");
            nvim.lua("for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
                        if vim.w[win].acp_role == 'prompt' then vim.api.nvim_set_current_win(win) end
                      end", json!([]));
            nvim.input("ihi<C-s><Esc>");
            wait_transcript(&mut nvim, "answer to hi");
            nvim.input("q");
            hidden(&mut nvim);
            show(&mut nvim);
            nvim.wait_screen("answer to hi");
            assert_eq!(boxes(&mut nvim).as_object().unwrap().len(), 2, "{layout}");
            nvim.quit();
        }
    }

    fn where_windows_have_no_room_it_floats(target: &Target) {
        let mut nvim = with_options(target, Options { width: 80, height: 24, ..Options::default() }, &json!({}));
        nvim.command("set noequalalways winheight=1 | for i in range(30) | silent! split | endfor");
        for layout in ["bottom", "right"] {
            nvim.command(&format!("Acp layout {layout}"));
            show(&mut nvim);
            assert_eq!(boxes(&mut nvim).as_object().unwrap().len(), 2, "{layout}");
            nvim.input("q");
            hidden(&mut nvim);
        }
        nvim.allow_errors();
    }

    fn options_take_effect_at_once(target: &Target) {
        let mut nvim = chat_in(target, "float", (100, 30));
        nvim.wait_screen("╭");
        nvim.lua("vim.g.acp = nil  require('acp').setup({ icons = 'ascii', chat = { conceal = true } })", json!([]));
        let level = nvim.lua("return vim.wo[vim.fn.win_findbuf(require('acp').buffer())[1]].conceallevel", json!([]));
        assert_eq!(level, 2);
        nvim.input(":Acp usage<CR>");
        nvim.wait_screen("+-");
    }

    fn tiny_screens(target: &Target) {
        for layout in LAYOUTS {
            let mut nvim = chat_in(target, layout, (20, 8));
            nvim.input("i");
            nvim.type_keys("hi");
            nvim.input("<C-s>");
            wait_transcript(&mut nvim, "answer to hi");
            nvim.input("<Esc>g?");
            nvim.wait_screen("Keys in");
            nvim.input("q");
            nvim.resize(100, 30);
            nvim.wait_screen("answer to hi");
            nvim.resize(20, 8);
            nvim.resize(100, 30);
            nvim.wait_screen("answer to hi");
            nvim.input("q");
            hidden(&mut nvim);
        }
    }

    fn a_session_of_vim_is_restored_without_the_chat(target: &Target) {
        for layout in LAYOUTS {
            let mut nvim = chat_in(target, layout, (100, 30));
            let file = nvim.scratch().project().join("Session.vim");
            nvim.command("silent write! code.txt");
            nvim.command(&format!("mksession! {}", file.display()));
            let scratch = nvim.scratch().clone();
            drop(nvim);
            let options = Options { scratch: Some(scratch), ..Options::default() };
            let mut nvim = with_options(target, options, &json!({}));
            nvim.command(&format!("source {}", file.display()));
            nvim.wait_until("one window", DEADLINE, |nvim| windows(nvim) == 1 && tabs(nvim) == 1);
            show(&mut nvim);
        }
    }
}
