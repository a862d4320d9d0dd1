//! Mentions in the prompt: what is sent for them, and what is shown of them.

use serde_json::{Value, json};

use crate::plugin::{open, wait_state, with_options};
use crate::prompt::wait_text;
use crate::report::{REPORT, assert_polite, calls};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

fn scenario(image: bool, embedded: bool) -> Value {
    json!({
        "report": REPORT,
        "capabilities": { "promptCapabilities": { "image": image, "embeddedContext": embedded } },
        "prompts": [{ "steps": [{ "say": "done" }] }]
    })
}

/// The chat beside a file of the project, with an agent that can take all or nothing.
fn beside(target: &Target, able: bool) -> Nvim {
    let mut nvim = with_options(target, Options::default(), &scenario(able, able));
    nvim.scratch().write("src/main.rs", "one\ntwo\nthree\n");
    nvim.scratch().write("src/lib.rs", "on disk\n");
    nvim.scratch().write("to do.md", "");
    nvim.command("edit src/main.rs");
    open(&mut nvim, "AcpChat");
    wait_state(&mut nvim, "ready");
    nvim
}

/// Sends a text without the help of completion, and returns the blocks that the agent got.
fn send(nvim: &mut Nvim, text: &str) -> Vec<Value> {
    let before = calls(nvim, "session/prompt").len();
    let lines: Vec<_> = text.lines().collect();
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)", json!([lines]));
    nvim.input("<C-s>");
    let prompt = nvim.wait_for("the prompt", DEADLINE, |nvim| {
        calls(nvim, "session/prompt").get(before).map(|it| it["prompt"].clone())
    });
    wait_state(nvim, "ready");
    serde_json::from_value(prompt).unwrap()
}

fn uri(nvim: &Nvim, name: &str) -> String {
    let project = nvim.scratch().project().canonicalize().unwrap();
    format!("file://{}", project.join(name).display()).replace(' ', "%20")
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn resource(uri: &str, words: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "text": words } })
}

fn link(uri: &str, name: &str) -> Value {
    json!({ "type": "resource_link", "uri": uri, "name": name })
}

nvim_tests! {
    fn a_loaded_buffer_is_sent_as_it_is_now(target: &Target) {
        let mut nvim = beside(target, true);
        nvim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('main.rs'), 0, 1, false, { 'unsaved' })", json!([]));
        let main = uri(&nvim, "src/main.rs");
        let words = "Look at @src/main.rs, (@src/main.rs:2-3) and @src/main.rs:3. Mail me@src/main.rs or @nobody.";
        assert_eq!(send(&mut nvim, words), [
            text(words),
            resource(&main, "unsaved\ntwo\nthree\n"),
            resource(&(main.clone() + "#L2-L3"), "two\nthree\n"),
            resource(&(main + "#L3-L3"), "three\n"),
        ]);
        assert_polite(&nvim);
    }

    fn other_files_are_links(target: &Target) {
        let mut nvim = beside(target, true);
        nvim.scratch().write("big.txt", &"x".repeat(2_000_000));
        nvim.command("badd big.txt | call bufload('big.txt')");
        let words = "@src/lib.rs @src/lib.rs:1 @\"to do.md\" @src @big.txt @./src/lib.rs";
        let (lib, todo, src, big) = (uri(&nvim, "src/lib.rs"), uri(&nvim, "to do.md"), uri(&nvim, "src"), uri(&nvim, "big.txt"));
        assert_eq!(send(&mut nvim, words), [
            text(words), link(&lib, "lib.rs"), link(&lib, "lib.rs:1"), link(&todo, "to do.md"), link(&src, "src"), link(&big, "big.txt"),
        ]);
        // What names nothing, and what is quoted code, is text alone.
        let words = "@nothing\n```\n@src/lib.rs\n```";
        assert_eq!(send(&mut nvim, words), [text(words)]);
        assert_polite(&nvim);
    }

    fn an_agent_that_takes_only_links_gets_links(target: &Target) {
        let mut nvim = beside(target, false);
        nvim.scratch().write("pic.png", "no picture");
        let words = "@src/main.rs @pic.png";
        let (main, pic) = (uri(&nvim, "src/main.rs"), uri(&nvim, "pic.png"));
        assert_eq!(send(&mut nvim, words), [text(words), link(&main, "main.rs"), link(&pic, "pic.png")]);
        nvim.input("<Esc><C-w>hjVjy:AcpChat<CR>");
        let blocks = send(&mut nvim, "@selection");
        assert_eq!(blocks[1], text("src/main.rs:2-3\n```\ntwo\nthree\n```"));
        assert_polite(&nvim);
    }

    fn a_picture_is_sent_as_one(target: &Target) {
        let mut nvim = beside(target, true);
        nvim.scratch().write("pic.png", "no picture");
        // One that has to be read does not let the next overtake it.
        nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'first @pic.png' })", json!([]));
        nvim.input("<C-s>second<C-s>");
        nvim.wait_until("both", DEADLINE, |nvim| calls(nvim, "session/prompt").len() == 2);
        let prompts = calls(&nvim, "session/prompt");
        assert_eq!(prompts[0]["prompt"], json!([
            text("first @pic.png"), { "type": "image", "mimeType": "image/png", "data": "bm8gcGljdHVyZQ==" },
        ]));
        assert_eq!(prompts[1]["prompt"], json!([text("second")]));
        assert_polite(&nvim);
    }

    fn what_is_at_hand_can_be_mentioned(target: &Target) {
        let mut nvim = beside(target, true);
        let code = "
            local namespace = vim.api.nvim_create_namespace('test')
            local item = { lnum = 1, col = 2, message = 'not\\n  right', source = 'lint', severity = 2 }
            vim.diagnostic.set(namespace, vim.fn.bufnr('main.rs'), { item })
        ";
        nvim.lua(code, json!([]));
        nvim.input("<Esc><C-w>hwviwy:AcpChat<CR>");
        let main = uri(&nvim, "src/main.rs");
        assert_eq!(send(&mut nvim, "@buffer @selection @diagnostics @diff")[1..], [
            resource(&main, "one\ntwo\nthree\n"),
            resource(&(main + "#L2-L2"), "two"),
            resource("nvim:///diagnostics", "src/main.rs:2:3: warning: not right [lint]"),
        ]);
        assert_polite(&nvim);
    }

    fn a_diff_is_what_git_says(target: &Target) {
        let mut nvim = beside(target, true);
        let git = "
            local env = { GIT_CONFIG_GLOBAL = '/dev/null', GIT_CONFIG_SYSTEM = '/dev/null' }
            for _, command in ipairs({
              { 'init', '--quiet' }, { 'add', 'src' },
              { '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', 'x' },
            }) do
              local result = vim.system(vim.list_extend({ 'git' }, command), { env = env }):wait()
              assert(result.code == 0, result.stderr)
            end
        ";
        nvim.lua(git, json!([]));
        nvim.scratch().write("src/lib.rs", "changed\n");
        let blocks = send(&mut nvim, "@diff");
        let diff = blocks[1]["resource"]["text"].as_str().unwrap();
        assert!(diff.contains("-on disk\n+changed\n"), "{diff}");
        assert_polite(&nvim);
    }

    fn a_hostile_repository_runs_nothing(target: &Target) {
        let mut nvim = beside(target, true);
        let project = nvim.scratch().project().to_owned();
        let git = |arguments: &[&str]| {
            let output = std::process::Command::new("git").current_dir(&project)
                .args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments)
                .env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        git(&["init", "--quiet"]);
        git(&["add", "src"]);
        git(&["commit", "--quiet", "-m", "x"]);
        for (setting, name) in [("core.fsmonitor", "fsmonitor"), ("diff.evil.textconv", "textconv"), ("filter.evil.clean", "clean"), ("diff.external", "external")] {
            git(&["config", setting, &format!("touch PWN-{name}; cat")]);
        }
        nvim.scratch().write(".gitattributes", "* diff=evil filter=evil\n");
        nvim.scratch().write("src/lib.rs", "changed\n");
        nvim.type_keys("@src/li");
        nvim.wait_screen("src/lib.rs");
        nvim.input("<Esc>");
        let blocks = send(&mut nvim, "@diff");
        let diff = blocks[1]["resource"]["text"].as_str().unwrap();
        assert!(diff.contains("-on disk\n+changed\n"), "{diff}");
        let names = std::fs::read_dir(nvim.scratch().project()).unwrap();
        let ran: Vec<_> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).filter(|it| it.starts_with("PWN")).collect();
        assert!(ran.is_empty(), "{ran:?}");
    }

    fn chips_tell_what_is_sent_along(target: &Target) {
        let mut nvim = beside(target, true);
        nvim.type_keys("see @src/main.rs and ");
        nvim.wait_screen("│main.rs  ");
        nvim.type_keys("@src/lib.rs:10-20 @nothing ");
        let frame = nvim.wait_screen("│main.rs  lib.rs:10-20");
        assert!(frame.find("│see @src/main.rs").is_some(), "{}", frame.text());
        nvim.input("<Esc>");
        nvim.assert_screen("chips_tell_what_is_sent_along");
        nvim.input("i<C-s>");
        nvim.wait_screen("Ask fake");
        nvim.wait_until("no chips", DEADLINE, |nvim| nvim.screen().find("│main.rs  ").is_none());
    }

    fn a_mention_is_added_by_command(target: &Target) {
        let mut nvim = beside(target, true);
        nvim.type_keys("look");
        nvim.input("<Esc>:Acp context src/lib.rs<CR>:Acp context to do.md<CR>");
        wait_text(&mut nvim, "look @src/lib.rs @\"to do.md\" ");
    }

    fn a_pasted_picture_becomes_a_mention(target: &Target) {
        let mut nvim = beside(target, true);
        let path = nvim.scratch().write("my pic.png", "no picture");
        let path = path.to_str().unwrap().to_owned();
        let mention = format!("@\"{path}\" ");
        let escaped = path.replace(' ', "\\ ");
        for pasted in [escaped, format!("'{path}'"), format!("file://{}", path.replace(' ', "%20"))] {
            nvim.input("<C-u>");
            wait_text(&mut nvim, "");
            nvim.request("nvim_paste", json!([pasted, true, -1]));
            wait_text(&mut nvim, &mention);
        }
        nvim.request("nvim_paste", json!(["/no/such.png", true, -1]));
        wait_text(&mut nvim, &(mention + "/no/such.png"));
    }
}
