//! Forms that an agent wants filled in, and addresses it wants visited.

use serde_json::{Value, json};

use crate::plugin::{wait_choices, wait_state, with_options};
use crate::report::{REPORT, answers, finish, send, wait_answers};
use crate::support::nvim::{Nvim, Options};
use crate::support::target::Target;

/// The browser, for tests.
const BROWSER: &str = "vim.ui.open = function(url) _G.opened = url return {} end";

/// A Neovim whose agent has asked for this.
fn asked(target: &Target, params: &Value) -> Nvim {
    let step = json!({ "request": { "method": "elicitation/create", "params": params } });
    let scenario = json!({ "report": REPORT, "prompts": [{ "steps": [step] }] });
    let options = Options { before: BROWSER.into(), ..Options::default() };
    let mut nvim = with_options(target, options, &scenario);
    send(&mut nvim, "go");
    nvim
}

/// Opens what waits.
fn open(nvim: &mut Nvim) {
    nvim.wait_screen(": :Acp permissions");
    nvim.input(":Acp permissions<CR>");
}

/// Opens the form that waits and goes through its fields.
fn fill(nvim: &mut Nvim) {
    open(nvim);
    wait_choices(nvim, "f  Fill in");
    nvim.input("f");
}

/// The same for a form.
fn form(target: &Target, properties: &Value, required: &[&str]) -> Nvim {
    asked(
        target,
        &json!({
            "mode": "form", "message": "Who are you?",
            "requestedSchema": { "type": "object", "properties": properties, "required": required },
        }),
    )
}

fn url(target: &Target, url: &str) -> Nvim {
    asked(
        target,
        &json!({ "mode": "url", "message": "Log in there", "elicitationId": "e1", "url": url }),
    )
}

/// The only answer, once the turn is over.
fn answer(nvim: &mut Nvim) -> Value {
    finish(nvim);
    let answers = answers(nvim);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers[0]["result"].clone()
}

nvim_tests! {
    /// A pattern that would keep Neovim busy for ever is not checked, and says so.
    fn patterns_are_matched_by_the_core(target: &Target) {
        let mut nvim = form(target, &json!({
            "a": { "type": "string", "title": "Ticket", "pattern": "^[A-Z]+-\\d+$" },
            "b": { "type": "string", "title": "Evil", "pattern": "^((a{1,64}){1,64}){1,64}$" },
        }), &["a", "b"]);
        fill(&mut nvim);
        nvim.wait_screen("Ticket (required, matching ^[A-Z]+-\\d+$): ");
        nvim.type_keys("ab-1");
        nvim.input("<CR>");
        nvim.wait_screen("must match ^[A-Z]+-\\d+$. Ticket");
        nvim.input("<C-u>");
        nvim.type_keys("AB-1");
        nvim.input("<CR>");
        nvim.wait_screen("not checked here: it is too much work");
        nvim.type_keys(&"a".repeat(31));
        nvim.input("<CR>");
        wait_choices(&mut nvim, "Send");
        nvim.input("s");
        let content = answer(&mut nvim)["content"].clone();
        assert_eq!(content, json!({ "a": "AB-1", "b": "a".repeat(31) }));
    }

    fn a_form_is_filled_in_and_sent(target: &Target) {
        let mut nvim = form(target, &json!({
            "name": { "type": "string", "title": "Name", "default": "Ada", "maxLength": 20 },
            "mail": { "type": "string", "title": "Mail", "format": "email" },
            "age": { "type": "integer", "title": "Age", "minimum": 1, "maximum": 120 },
            "ratio": { "type": "number", "title": "Ratio" },
            "sure": { "type": "boolean", "title": "Sure", "description": "There is no way back" },
            "color": { "type": "string", "title": "Color", "oneOf": [
                { "const": "r", "title": "Red" }, { "const": "b", "title": "Blue" }
            ] }
        }), &["name", "age", "sure", "color"]);
        fill(&mut nvim);
        // The default is there to be changed.
        nvim.wait_screen("fake asks: Who are you? — Name (required, … to 20): Ada");
        nvim.type_keys(" Lovelace");
        nvim.input("<CR>");
        nvim.wait_screen("Mail (an e-mail address): ");
        nvim.type_keys("nonsense");
        nvim.input("<CR>");
        nvim.wait_screen("must be an e-mail address. Mail (an e-mail address): nonsense");
        nvim.input("<C-u><CR>");
        nvim.wait_screen("Age (required, 1 to 120): ");
        nvim.type_keys("121");
        nvim.input("<CR>");
        nvim.wait_screen("must be at most 120. Age (required, 1 to 120): 121");
        nvim.input("<C-u>");
        nvim.type_keys("4.5");
        nvim.input("<CR>");
        nvim.wait_screen("must be a whole number. Age");
        nvim.input("<C-u>");
        nvim.type_keys("42");
        nvim.input("<CR>");
        nvim.wait_screen("Ratio: ");
        nvim.type_keys("0.5");
        nvim.input("<CR>");
        let frame = wait_choices(&mut nvim, "n  No");
        assert!(frame.find("Sure (There is no way back, required)").is_some(), "{}", frame.text());
        nvim.input("n");
        wait_choices(&mut nvim, "b  Blue");
        nvim.input("b");
        // All of it is seen before it is sent.
        let frame = wait_choices(&mut nvim, "s  Send");
        for text in ["Change Name: Ada Lovelace", "Change Mail: (empty)", "Change Age: 42", "Change Ratio: 0.5", "Change Sure: no", "Change Color: Blue", "d  Decline"] {
            assert!(frame.find(text).is_some(), "{text}\n{}", frame.text());
        }
        assert!(answers(&nvim).is_empty());
        nvim.input("s");
        let content = json!({ "name": "Ada Lovelace", "age": 42, "ratio": 0.5, "sure": false, "color": "b" });
        assert_eq!(answer(&mut nvim), json!({ "action": "accept", "content": content }));
        wait_state(&mut nvim, "ready");
    }

    fn defaults_are_taken_as_they_are(target: &Target) {
        let mut nvim = form(target, &json!({
            "text": { "type": "string", "title": "Text", "default": "two\nlines" },
            "many": { "type": "array", "title": "Many", "items": { "type": "string", "enum": ["x", "y", "z"] }, "default": ["z"] },
        }), &[]);
        fill(&mut nvim);
        nvim.wait_screen("Text: two lines");
        nvim.input("<CR>");
        wait_choices(&mut nvim, "z  [x] z");
        nvim.input("x");
        wait_choices(&mut nvim, "x  [x] x");
        nvim.input("d");
        wait_choices(&mut nvim, "s  Send");
        nvim.input("s");
        let answer = answer(&mut nvim);
        assert_eq!(answer["content"]["text"], "two\nlines");
        let mut many: Vec<String> = serde_json::from_value(answer["content"]["many"].clone()).unwrap();
        many.sort();
        assert_eq!(many, ["x", "z"]);
    }

    fn nothing_is_sent_before_what_is_required_is_there(target: &Target) {
        let mut nvim = form(target, &json!({ "name": { "type": "string", "title": "Name" } }), &["name"]);
        fill(&mut nvim);
        nvim.wait_screen("Name (required): ");
        nvim.input("<CR>");
        nvim.wait_screen("must be filled in. Name (required): ");
        nvim.input("<Esc>");
        let frame = wait_choices(&mut nvim, "d  Decline");
        assert!(frame.find("Who are you? — Name must be filled in").is_some(), "{}", frame.text());
        assert!(frame.find("Send").is_none(), "{}", frame.text());
        nvim.input("c");
        nvim.wait_screen("Name (required): ");
        nvim.type_keys("Ada");
        nvim.input("<CR>");
        wait_choices(&mut nvim, "c  Change Name: Ada");
        nvim.input("s");
        assert_eq!(answer(&mut nvim)["content"], json!({ "name": "Ada" }));
    }

    fn a_form_is_put_off_and_declined(target: &Target) {
        let mut nvim = form(target, &json!({ "name": { "type": "string", "title": "Name", "default": "Ada" } }), &[]);
        fill(&mut nvim);
        nvim.wait_screen("Name: Ada");
        nvim.input("<Esc>");
        wait_choices(&mut nvim, "s  Send");
        nvim.input("<Esc>");
        nvim.wait_screen("Not answered yet: fake asks: Who are you?");
        assert!(answers(&nvim).is_empty());
        nvim.input(":Acp permissions<CR>");
        wait_choices(&mut nvim, "d  Decline");
        nvim.input("d");
        assert_eq!(answer(&mut nvim), json!({ "action": "decline" }));
    }

    fn cancelling_the_turn_cancels_the_form(target: &Target) {
        let mut nvim = form(target, &json!({ "name": { "type": "string", "title": "Name" } }), &[]);
        fill(&mut nvim);
        nvim.wait_screen("Name: ");
        nvim.lua("require('acp').cancel()", json!([]));
        assert_eq!(wait_answers(&mut nvim, 1)[0]["result"], json!({ "action": "cancel" }));
        nvim.type_keys("late");
        nvim.input("<CR>");
        wait_state(&mut nvim, "ready");
        assert_eq!(answer(&mut nvim), json!({ "action": "cancel" }));
    }

    fn a_question_without_fields(target: &Target) {
        let mut nvim = form(target, &json!({}), &[]);
        open(&mut nvim);
        wait_choices(&mut nvim, "a  Accept");
        nvim.input("a");
        assert_eq!(answer(&mut nvim), json!({ "action": "accept", "content": {} }));
    }

    fn an_address_is_shown_with_its_host_and_opened_with_consent(target: &Target) {
        let address = "https://good.example@evil.example:8443/login?x=1";
        let mut nvim = url(target, address);
        open(&mut nvim);
        let frame = wait_choices(&mut nvim, "n  No");
        let text = frame.text().replace('\n', "");
        assert!(text.contains(address) && text.contains("(host: evil.example)"), "{}", frame.text());
        assert!(frame.find("o  Open evil.example in the browser").is_some(), "{}", frame.text());
        nvim.input("o");
        assert_eq!(answer(&mut nvim)["action"], "accept");
        assert_eq!(nvim.lua("return _G.opened", json!([])), address);
    }

    fn an_address_is_declined(target: &Target) {
        let mut nvim = url(target, "https://example.com/login");
        open(&mut nvim);
        wait_choices(&mut nvim, "n  No");
        nvim.input("n");
        assert_eq!(answer(&mut nvim), json!({ "action": "decline" }));
        assert_eq!(nvim.lua("return _G.opened", json!([])), Value::Null);
    }

    fn other_addresses_are_refused(target: &Target) {
        let mut nvim = url(target, "file:///etc/passwd");
        finish(&mut nvim);
        let answers = answers(&nvim);
        assert_eq!(answers[0]["error"]["code"], -32602, "{answers:?}");
    }
}
