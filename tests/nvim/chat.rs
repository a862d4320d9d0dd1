//! Talking: sending, streaming, cancelling, queueing, following.

use serde_json::json;

use crate::plugin::{chat, rows, states, transcript, wait_rows, wait_state, wait_transcript};
use crate::support::nvim::DEADLINE;

nvim_tests! {
    fn a_prompt_is_answered(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "say": { "text": "Hello there, this is the answer.\n\nSecond paragraph.", "chunk": 5, "pace_ms": 2 } }] }]
        }));
        nvim.type_keys("first line");
        nvim.input("<CR>");
        nvim.type_keys("second line");
        nvim.input("<C-s>");
        wait_transcript(&mut nvim, "Second paragraph.");
        wait_state(&mut nvim, "ready");
        wait_rows(&mut nvim, 0, &[
            "▌ You", "first line", "second line", "",
            "▌ fake", "Hello there, this is the answer.", "", "Second paragraph.",
        ]);
        let frame = nvim.wait_screen("Second paragraph.");
        let (row, col) = frame.find("You").unwrap();
        assert!(frame.highlight(row, col).groups.contains(&"Title".to_owned()), "{:?}", frame.highlight(row, col));
        // The prompt is empty again and still has the cursor.
        assert_eq!(nvim.lua("return { vim.bo.filetype, vim.fn.getline(1, '$') }", json!([])), json!(["acp_prompt", [""]]));
        nvim.input("<Esc>");
        nvim.assert_screen("a_prompt_is_answered");
    }

    fn enter_sends_in_normal_mode(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "say": "you said {{prompt}}" }] }] }));
        nvim.type_keys("by enter");
        nvim.input("<Esc><CR>");
        wait_transcript(&mut nvim, "you said by enter");
    }

    fn text_streams_as_it_comes(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "say": "begin" }, { "wait_cancel": { "timeout_ms": 60000 } }] }]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_screen("begin");
        assert_eq!(states(&mut nvim), ["running"]);
        nvim.input("<C-c>");
        wait_transcript(&mut nvim, "*cancelled*");
        wait_state(&mut nvim, "ready");
    }

    fn cancel_in_normal_mode_from_the_transcript(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [
                { "turn": 1, "steps": [{ "say": "one " }, { "sleep_ms": 20000 }] },
                { "steps": [{ "say": "two" }] }
            ]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_screen("one");
        nvim.input("<Esc><C-w>k<C-c>");
        wait_transcript(&mut nvim, "*cancelled*");
        nvim.input("<C-w>jiagain<C-s>");
        wait_transcript(&mut nvim, "two");
    }

    fn prompts_while_busy_wait(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "say": "[{{prompt}}]" }, { "sleep_ms": 100 }] }]
        }));
        for word in ["one", "two", "three"] {
            nvim.type_keys(word);
            nvim.input("<C-s>");
        }
        let transcript = wait_transcript(&mut nvim, "[three]");
        let at = |text: &str| transcript.find(text).unwrap();
        assert!(at("[one]") < at("\ntwo") && at("[two]") < at("\nthree"), "{transcript}");
    }

    fn an_agent_without_an_end_of_line(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "say": "a\r\nb\r\n" }, { "say": "c" }, { "say": "\n\n\n" }] }, ]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_state(&mut nvim, "ready");
        wait_rows(&mut nvim, 3, &["▌ fake", "a", "b", "c"]);
    }

    fn thoughts_are_told_from_answers(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "think": "let me see" }, { "say": "done" }] }]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_rows(&mut nvim, 3, &["▌ fake", "▸ Thought · 3 words", "", "done"]);
        let frame = nvim.wait_screen("▸ Thought · 3 words");
        let (row, col) = frame.find("Thought").unwrap();
        assert!(frame.highlight(row, col).groups.contains(&"Comment".to_owned()));
    }

    fn the_tail_is_followed_only_from_the_tail(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [
                { "repeat": { "times": 100, "steps": [{ "say": "line {{i}}\n" }] } },
                { "say": "first end\n" },
                { "wait_file": "go" },
                { "repeat": { "times": 100, "steps": [{ "say": "more {{i}}\n" }] } },
                { "say": "second end" }
            ] }]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        nvim.wait_screen("first end");
        // Somewhere else in the transcript, the user is left alone.
        nvim.input("<Esc><C-w>k");
        nvim.input("10G");
        nvim.wait_screen("line 6 ");
        let project = nvim.scratch().project();
        std::fs::write(project.join("go"), "").unwrap();
        wait_transcript(&mut nvim, "second end");
        wait_state(&mut nvim, "ready");
        assert_eq!(nvim.lua("return vim.fn.line('.')", json!([])), json!(10));
        // Back at the end, the next answer is followed.
        std::fs::remove_file(project.join("go")).unwrap();
        nvim.input("G<C-w>jiagain<C-s>");
        nvim.wait_screen("first end");
        std::fs::write(project.join("go"), "").unwrap();
        nvim.wait_screen("second end");
        wait_state(&mut nvim, "ready");
        nvim.wait_screen("second end");
    }

    fn a_long_line_is_appended_to(target: &Target) {
        let mut nvim = chat(target, &json!({
            "prompts": [{ "steps": [{ "say": { "text": "0123456789", "repeat": 5000 } }] }]
        }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        wait_state(&mut nvim, "ready");
        // In rows of bounded length, as Neovim is slow with long ones.
        let whole = nvim.wait_for("the line is whole", DEADLINE, |nvim| {
            let rows = rows(nvim)[4..].to_vec();
            (rows.concat() == "0123456789".repeat(5000)).then_some(rows)
        });
        assert!(whole.len() > 2 && whole.iter().all(|it| it.len() < 20_000), "{}", whole.len());
        assert!(transcript(&mut nvim).contains("0123456789".repeat(5000).as_str()));
    }

    fn a_flood_arrives_whole(target: &Target) {
        let mut nvim = chat(target, &json!({ "prompts": [{ "steps": [{ "flood": { "chunks": 20000, "bytes": 20 } }, { "say": "\nthe end" }] }] }));
        nvim.type_keys("go");
        nvim.input("<C-s>");
        // A line that long is hard work for a busy machine: each part of it has its own deadline.
        for size in [100_000, 200_000, 300_000, 400_000] {
            let code = "return #(require('acp').transcript() or '') > ...";
            nvim.wait_until("the flood", DEADLINE, |nvim| nvim.lua(code, json!([size])) == true);
        }
        wait_state(&mut nvim, "ready");
        nvim.wait_screen("the end");
        let text = transcript(&mut nvim);
        assert!(text.len() > 400_000, "{}", text.len());
        let body = text.split("## fake\n\n").nth(1).unwrap().trim_end();
        assert_eq!(rows(&mut nvim)[4..].concat(), body.replace('\n', ""));
    }

    fn the_tutor_needs_no_agent(target: &Target) {
        let mut nvim = chat(target, &json!({}));
        nvim.input("<Esc>:AcpChat tutor<CR>");
        wait_state(&mut nvim, "ready");
        nvim.input("i");
        nvim.type_keys("hello");
        nvim.input("<C-s>");
        nvim.wait_screen("Welcome");
    }
}
