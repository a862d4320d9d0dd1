//! Permissions as they look: what is asked in one window, the choices in another, two requests at once.

use serde_json::{Value, json};

use crate::permissions::{
    PICKER, chosen, set_permissions, wait_armed, wait_no_window, wait_open, wait_picker,
    wait_window,
};
use crate::plugin::{open, wait_transcript, with_options};
use crate::report::{REPORT, answers, assert_polite};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::snapshot;
use crate::support::target::Target;

const OLD: &str =
    "local M = {}\n\nfunction M.greet(name)\n  print('hello ' .. name)\nend\n\nreturn M\n";
const NEW: &str = "local M = {}\n\n--- Says hello.\nfunction M.greet(name)\n  print('Hello, ' .. name)\nend\n\nreturn M\n";

fn ask(id: &str, call: &Value) -> Value {
    json!({ "request": {
        "method": "session/request_permission",
        "params": {
            "toolCall": call,
            "options": [
                { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
                { "optionId": "always", "name": "Yes, and don't ask again", "kind": "allow_always" },
                { "optionId": "no", "name": "No", "kind": "reject_once" }
            ]
        },
        "id": id, "no_wait": true, "as": id
    } })
}

/// An agent that wants to edit a file and to run a command, both at once.
fn two() -> Value {
    let edit = json!({
        "toolCallId": "edit", "title": "Edit greet.lua", "kind": "edit", "status": "pending",
        "content": [{ "type": "diff", "path": "/project/greet.lua", "oldText": OLD, "newText": NEW }],
        "locations": [{ "path": "/project/greet.lua", "line": 3 }]
    });
    let run = json!({
        "toolCallId": "run", "title": "Run the tests", "kind": "execute", "status": "pending",
        "rawInput": { "command": "make test", "description": "All of them" }
    });
    let steps = json!([
        { "say": "I change the greeting and run the tests." },
        ask("edit", &edit), ask("run", &run),
        { "await": "edit" }, { "await": "run" }, { "say": " All done." }
    ]);
    json!({ "report": REPORT, "prompts": [{ "steps": steps }] })
}

/// The chat over a file, in the prompt, with both requests on their way.
fn asked(target: &Target, width: u16, height: u16, before: &str) -> Nvim {
    let options = Options { width, height, before: before.into(), ..Options::default() };
    let mut nvim = with_options(target, options, &two());
    nvim.scratch().write("greet.lua", OLD);
    nvim.command("edit greet.lua");
    open(&mut nvim, "AcpChat");
    nvim.type_keys("Be polite");
    nvim.input("<C-s>");
    nvim
}

/// What turns while one waits stands still, and times are left out.
fn still(screen: &str) -> String {
    let turning = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
    let text: String =
        screen.chars().map(|it| if turning.contains(it) { '*' } else { it }).collect();
    text.lines().map(without_time).collect::<Vec<_>>().join("\n") + "\n"
}

/// A row without "· 3s" at its end; both Neovims take their time.
fn without_time(row: &str) -> String {
    match row.rsplit_once(" · ") {
        Some((rest, time)) if time.trim_end().ends_with('s') && time.trim().len() < 6 => {
            rest.to_owned()
        }
        _ => row.to_owned(),
    }
}

fn assert_look(nvim: &mut Nvim, name: &str) {
    if snapshot::updating() {
        let text = still(&nvim.screen().text());
        return snapshot::assert_snapshot(name, &text);
    }
    let mut complaint = None;
    let until = std::time::Instant::now() + DEADLINE;
    while std::time::Instant::now() < until {
        complaint = snapshot::compare(name, &still(&nvim.screen().text()));
        if complaint.is_none() {
            return;
        }
    }
    panic!("{}", complaint.unwrap());
}

/// Both requests, looked at, put off, listed and answered.
fn flow(nvim: &mut Nvim, size: &str) {
    wait_window(nvim, "fake asks (edit): Edit greet.lua");
    nvim.wait_screen("+ --- Says hello.");
    assert_look(nvim, &format!("permission_diff_{size}"));
    nvim.input("<C-n>");
    wait_window(nvim, "fake asks (execute): Run the tests");
    nvim.wait_screen("$ make test");
    assert_look(nvim, &format!("permission_command_{size}"));
    nvim.input("<Esc>");
    wait_no_window(nvim);
    // Said a moment later: what is typed shares the row with it.
    nvim.wait_until("the message", DEADLINE, |nvim| nvim.messages().contains("Not answered yet"));
    nvim.input("<C-\\><C-n>:Acp permissions<CR>");
    wait_window(nvim, "fake asks (edit): Edit greet.lua");
    nvim.input("<C-n>");
    wait_window(nvim, "fake asks (execute): Run the tests");
    nvim.input("A");
    wait_armed(nvim);
    assert_look(nvim, &format!("permission_always_{size}"));
    nvim.input("<Esc>");
    wait_window(nvim, "fake asks (execute): Run the tests");
    nvim.input("r");
    nvim.wait_until("the first answer", DEADLINE, |nvim| answers(nvim).len() == 1);
    nvim.input(":Acp permissions<CR>");
    wait_window(nvim, "fake asks (edit): Edit greet.lua");
    nvim.input("a");
    wait_transcript(nvim, "All done.");
    assert_eq!(
        chosen(&answers(nvim)),
        [("run".into(), "no".into()), ("edit".into(), "yes".into())]
    );
    assert_polite(nvim);
}

nvim_tests! {
    fn two_requests_on_a_small_screen(target: &Target) {
        flow(&mut asked(target, 80, 24, ""), "80");
    }

    fn two_requests_on_a_large_screen(target: &Target) {
        flow(&mut asked(target, 200, 50, ""), "200");
    }

    fn what_is_asked_stays_beside_a_picker_of_others(target: &Target) {
        let mut nvim = asked(target, 100, 30, PICKER);
        set_permissions(&mut nvim, json!({ "picker": "vim.ui.select" }));
        wait_open(&mut nvim, 2);
        nvim.command("Acp permissions");
        wait_picker(&mut nvim, 1);
        let frame = nvim.wait_screen("+ --- Says hello.");
        let (row, _) = frame.find("--- Says hello.").unwrap();
        assert!(row < 14, "{}", frame.text());
        nvim.lua("_G.pickers[1].choose(1)", json!([]));
        wait_open(&mut nvim, 1);
        nvim.command("Acp permissions");
        wait_picker(&mut nvim, 2);
        nvim.wait_screen("$ make test");
        nvim.command("Acp cancel");
        nvim.wait_until("nothing is shown any more", DEADLINE, |nvim| nvim.screen().find("$ make test").is_none());
    }

    fn it_fits_the_screen_again_when_that_changes(target: &Target) {
        let mut nvim = asked(target, 120, 40, "");
        wait_window(&mut nvim, "fake asks (edit): Edit greet.lua");
        nvim.wait_screen("+ --- Says hello.");
        nvim.resize(60, 16);
        let frame = nvim.wait_screen("a letter chooses");
        for text in ["a  ✓  Yes", "s  ■  Stop the agent", "Edit greet.lua"] {
            assert!(frame.find(text).is_some(), "{text}\n{}", frame.text());
        }
        nvim.input("a");
        wait_window(&mut nvim, "fake asks (execute): Run the tests");
        nvim.input("s");
        wait_transcript(&mut nvim, "*cancelled*");
    }
}
