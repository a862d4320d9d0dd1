//! Files in every encoding and with every kind of line ending: what an agent writes back unchanged
//! changes nothing, and what it changes is all that changes.

use std::fs;

use serde_json::{Value, json};

use crate::files::{lua, start};
use crate::report::{answers, finish, send};
use crate::support::nvim::{Nvim, Options};

/// A file's bytes, and what is to be seen of it.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    text: String,
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(bytes).collect()
}

fn cases() -> Vec<Case> {
    let plain = |name, text: &str| Case { name, bytes: text.into(), text: text.into() };
    vec![
        plain("unix", "one\ntwö\nthree\n"),
        plain("dos", "one\r\ntwö\r\nthree\r\n"),
        plain("mac", "one\rtwö\rthree\r"),
        plain("noeol", "one\ntwö\nthree"),
        plain("dos_noeol", "one\r\ntwö\r\nthree"),
        plain("mixed", "one\r\ntwö\nthree\n"),
        plain("bom", "\u{feff}one\ntwö\nthree\n"),
        plain("bom_dos", "\u{feff}one\r\ntwö\r\nthree\r\n"),
        plain("empty_lines", "\n\none\n\ntwö\n\n"),
        plain("long", &format!("{}\ntwö\n", "x".repeat(100_000))),
        Case {
            name: "latin1",
            bytes: b"one\ntw\xf6\nthree\n".to_vec(),
            text: "one\ntwö\nthree\n".into(),
        },
        Case {
            name: "utf16le",
            bytes: utf16("one\ntwö\nthree\n", false),
            text: "one\ntwö\nthree\n".into(),
        },
        Case {
            name: "utf16be",
            bytes: utf16("one\ntwö\nthree\n", true),
            text: "one\ntwö\nthree\n".into(),
        },
    ]
}

fn reread(case: &Case) -> Vec<Value> {
    let path = format!("{{{{cwd}}}}/{}", case.name);
    let changed = case.text.replace("ö", "ü");
    vec![
        json!({ "request": { "method": "fs/read_text_file", "params": { "path": path } } }),
        json!({ "request": { "method": "fs/write_text_file", "params": { "path": path, "content": case.text } } }),
        json!({ "request": { "method": "fs/write_text_file", "params": { "path": path, "content": changed } } }),
        json!({ "request": { "method": "fs/read_text_file", "params": { "path": path } } }),
    ]
}

fn check(mut nvim: Nvim, loaded: bool) {
    let cases = cases();
    for case in &cases {
        fs::write(nvim.scratch().project().join(case.name), &case.bytes).unwrap();
        if loaded {
            nvim.command(&format!("edit {}", case.name));
        }
    }
    lua(&mut nvim, "vim.o.undofile = false");
    send(&mut nvim, "go");
    finish(&mut nvim);
    let answers = answers(&nvim);
    for (case, answers) in cases.iter().zip(answers.chunks(4)) {
        let changed = case.text.replace("ö", "ü");
        assert_eq!(answers[0]["result"]["content"], json!(case.text), "{} {loaded}", case.name);
        assert!(
            answers[1]["error"].is_null() && answers[2]["error"].is_null(),
            "{} {answers:?}",
            case.name
        );
        assert_eq!(answers[3]["result"]["content"], json!(changed), "{} {loaded}", case.name);
        let bytes = fs::read(nvim.scratch().project().join(case.name)).unwrap();
        let expected: Vec<u8> = match case.name {
            "latin1" => b"one\ntw\xfc\nthree\n".to_vec(),
            "utf16le" => utf16(&changed, false),
            "utf16be" => utf16(&changed, true),
            _ => changed.clone().into(),
        };
        assert_eq!(bytes, expected, "{} {loaded}", case.name);
    }
}

nvim_tests! {
    fn files_that_are_open_stay_as_they_are_written(target: &Target) {
        let steps: Vec<Value> = cases().iter().flat_map(reread).collect();
        let options = Options { before: "vim.o.fileformats = 'unix,dos,mac'".into(), ..Options::default() };
        check(start(target, options, &steps), true);
    }

    fn files_on_the_disk_stay_as_they_are_written(target: &Target) {
        let steps: Vec<Value> = cases().iter().flat_map(reread).collect();
        check(start(target, Options::default(), &steps), false);
    }
}
