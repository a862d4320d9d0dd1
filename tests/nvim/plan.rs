//! The agent's plan: kept in view while it is worked on, and shown as a whole on demand.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, with_options};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

fn step(content: &str, status: &str) -> Value {
    json!({ "content": content, "priority": "medium", "status": status })
}

/// A plan of twenty steps, this one at work.
fn plan(current: usize) -> Value {
    let steps = (1..=20).map(|n| {
        let status = if n < current {
            "completed"
        } else if n == current {
            "in_progress"
        } else {
            "pending"
        };
        step(&format!("step\tnumber {n}"), status)
    });
    json!({ "update": { "sessionUpdate": "plan", "entries": steps.collect::<Vec<_>>() } })
}

fn planner() -> Value {
    json!({ "prompts": [{ "steps": [
        plan(3), { "wait_file": "one" }, plan(12), { "wait_file": "two" }, plan(21), { "wait_file": "three" }, plan(20)
    ] }] })
}

fn planning(target: &Target, (width, height): (u16, u16), scenario: &Value) -> Nvim {
    let mut nvim = with_options(target, Options { width, height, ..Options::default() }, scenario);
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    nvim.input("go<C-s><Esc>");
    nvim
}

/// The rows of the small window, with its title.
fn corner(nvim: &mut Nvim) -> Option<(String, Vec<String>)> {
    let found = nvim.lua(
        "for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
           local config = vim.api.nvim_win_get_config(win)
           if config.relative == 'win' and not config.focusable then
             local buf = vim.api.nvim_win_get_buf(win)
             return { config.title[1][1], vim.api.nvim_buf_get_lines(buf, 0, -1, false) }
           end
         end",
        json!([]),
    );
    serde_json::from_value(found).unwrap()
}

fn wait_corner(nvim: &mut Nvim, title: &str) -> Vec<String> {
    nvim.wait_for(&format!("the plan {title}"), DEADLINE, |nvim| {
        corner(nvim).filter(|(shown, _)| shown.trim() == title).map(|(_, rows)| rows)
    })
}

fn wait_none(nvim: &mut Nvim) {
    nvim.wait_until("no plan in view", DEADLINE, |nvim| corner(nvim).is_none());
}

nvim_tests! {
    fn it_is_kept_in_view(target: &Target) {
        let mut nvim = planning(target, (200, 40), &planner());
        let rows = wait_corner(&mut nvim, "Plan 2/20");
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[..4], ["✓ step number 1", "✓ step number 2", "▶ step number 3", "○ step number 4"]);
        let frame = nvim.wait_screen("▶ step number 3");
        let (row, col) = frame.find("step number 3").unwrap();
        assert!(col > 150 && row < 8, "{}", frame.text());
        assert!(frame.highlight(row, col).groups.contains(&"MoreMsg".to_owned()), "{:?}", frame.highlight(row, col));
        nvim.scratch().write("one", "");
        let rows = wait_corner(&mut nvim, "Plan 11/20");
        assert_eq!((rows.len(), rows[4].as_str()), (8, "▶ step number 12"));
        // What is done needs no window, and what comes up again has one again.
        nvim.scratch().write("two", "");
        wait_none(&mut nvim);
        nvim.scratch().write("three", "");
        let rows = wait_corner(&mut nvim, "Plan 19/20");
        assert_eq!(rows[7], "▶ step number 20");
    }

    fn it_goes_where_the_chat_goes(target: &Target) {
        let mut nvim = planning(target, (200, 40), &planner());
        wait_corner(&mut nvim, "Plan 2/20");
        for layout in ["left", "bottom", "float", "tab", "right"] {
            nvim.command(&format!("Acp layout {layout}"));
            wait_corner(&mut nvim, "Plan 2/20");
        }
        nvim.resize(100, 40);
        wait_none(&mut nvim);
        nvim.wait_screen("plan 2/20");
        nvim.resize(200, 12);
        wait_none(&mut nvim);
        nvim.resize(200, 40);
        wait_corner(&mut nvim, "Plan 2/20");
        nvim.command("tabnew");
        wait_none(&mut nvim);
        nvim.command("tabclose");
        wait_corner(&mut nvim, "Plan 2/20");
        nvim.input("q");
        wait_none(&mut nvim);
        open(&mut nvim, "AcpChat");
        wait_corner(&mut nvim, "Plan 2/20");
        nvim.input("<Esc><C-w>k:only<CR>");
        wait_corner(&mut nvim, "Plan 2/20");
        // Who does not want it has it off.
        nvim.command("Acp plan off");
        wait_none(&mut nvim);
        nvim.command("Acp plan on");
        wait_corner(&mut nvim, "Plan 2/20");
        nvim.quit();
    }

    fn the_whole_of_it(target: &Target) {
        let mut nvim = planning(target, (80, 24), &planner());
        nvim.wait_screen("plan 2/20");
        nvim.input(":Acp plan<CR>");
        let frame = nvim.wait_screen("○ step number 4");
        assert!(frame.find("Plan 2/20").is_some(), "{}", frame.text());
        // It is up to date for as long as it is open.
        nvim.scratch().write("one", "");
        nvim.wait_screen("Plan 11/20");
        nvim.input("G");
        nvim.wait_screen("○ step number 20");
        nvim.input("q");
        nvim.wait_until("it closes", DEADLINE, |nvim| nvim.screen().find("number 20").is_none());
        assert_eq!(nvim.lua("return vim.b.acp_role", json!([])), "prompt");
    }

    fn a_plan_in_markdown_and_one_in_a_file(target: &Target) {
        let written = |id: &str, plan: Value| {
            let mut update = json!({ "sessionUpdate": "plan_update", "plan": plan });
            update["plan"]["planId"] = json!(id);
            json!({ "update": update })
        };
        let mut nvim = planning(target, (200, 40), &json!({ "prompts": [{ "steps": [
            written("a", json!({ "type": "markdown", "content": "# What to do\n- [x] read\n- [ ] write\n\x1b[31mred\n" })),
            written("b", json!({ "type": "file", "uri": "file://{{cwd}}/plan.md" })),
            { "say": "told" },
        ] }] }));
        nvim.scratch().write("plan.md", "the plan of the file\n");
        nvim.wait_screen("told");
        let rows = wait_corner(&mut nvim, "Plan 1/2");
        assert_eq!(rows, ["✓ read", "○ write"]);
        nvim.input(":Acp plan<CR>");
        let frame = nvim.wait_screen("the plan of the file");
        assert!(frame.find("# What to do").is_some() && frame.find("[31mred").is_some(), "{}", frame.text());
    }

    fn no_plan(target: &Target) {
        let mut nvim = planning(target, (100, 30), &json!({}));
        nvim.input(":Acp plan<CR>");
        nvim.wait_screen("fake has no plan");
    }
}
