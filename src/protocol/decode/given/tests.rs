//! What tools are given, by many names.

use serde_json::json;

use super::*;

fn paths(input: &Value) -> Vec<String> {
    given(input).paths
}

#[test]
fn paths_by_many_names() {
    for name in ["path", "file_path", "filePath", "filepath", "abs_path", "target-file"] {
        assert_eq!(paths(&json!({ name: "/a" })), ["/a"], "{name}");
    }
    assert_eq!(paths(&json!({ "source": "a", "destination": "b" })).len(), 2);
    assert_eq!(paths(&json!({ "paths": ["a", "b", "a", { "path": "c" }] })), ["a", "b", "c"]);
    assert_eq!(paths(&json!({ "args": { "input": [{ "file_path": "x" }] } })), ["x"]);
    assert_eq!(paths(&json!({ "changes": { "/a": { "update": {} } } })), ["/a"]);
    assert_eq!(paths(&json!({ "uri": "file:///a" })), ["file:///a"]);
    assert_eq!(paths(&json!("{\"path\":\"a\"}")), ["a"]);
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch";
    assert_eq!(paths(&json!({ "input": patch })), ["a", "b"]);
    assert_eq!(paths(&json!({ "content": "/a", "old_string": "path" })), Vec::<String>::new());
}

#[test]
fn commands_by_many_names() {
    let line = |text: &str| Some(Command::Line(text.into()));
    let words =
        |list: &[&str]| Some(Command::Words(list.iter().map(|it| (*it).to_owned()).collect()));
    let several = |list: &[&str]| {
        Some(Command::Several(list.iter().map(|it| Command::Line((*it).into())).collect()))
    };
    let cases = [
        (json!({ "command": "ls -l" }), line("ls -l"), false),
        (json!({ "cmd": "ls" }), line("ls"), false),
        (json!({ "command": ["bash", "-lc", "ls"] }), words(&["bash", "-lc", "ls"]), false),
        (json!({ "command": "git", "args": ["status"] }), words(&["git", "status"]), false),
        (json!({ "command": "git", "args": [] }), line("git"), false),
        (json!({ "command": "ls", "cmd": "ls" }), line("ls"), false),
        (json!({ "command": "ls", "cmd": "rm" }), several(&["ls", "rm"]), true),
        (json!({ "command": "ls", "env": {} }), line("ls"), false),
        (json!({ "command": "ls", "env": { "LD_PRELOAD": "x" } }), line("ls"), true),
        (json!({ "command": "sh", "stdin": "rm x" }), line("sh"), true),
        (json!({ "command": ["ls", 7] }), line("ls"), true),
        (json!({ "commands": ["rm -rf zzz"] }), line("rm -rf zzz"), false),
        (json!({ "command": ["rm -rf zzz"] }), line("rm -rf zzz"), false),
        (json!({ "commands": ["ls", "rm x"] }), several(&["ls", "rm x"]), false),
        (
            json!({ "commands": [{ "command": "ls" }, { "command": "rm x" }] }),
            several(&["ls", "rm x"]),
            true,
        ),
        (json!({ "command": "git", "Args": ["status"] }), words(&["git", "status"]), false),
        (json!({ "Command": "git", "ARGS": "push" }), line("git push"), true),
        (json!({ "program": "rm", "args": ["x"] }), words(&["rm", "x"]), true),
        (json!({ "script": "rm x" }), line("rm x"), true),
        (json!({ "options": [{ "run": { "pre_command": "rm x" } }] }), line("rm x"), true),
        (json!({ "shell": "bash", "command": "ls" }), line("ls"), false),
        (json!({ "shell": "rm x" }), line("rm x"), true),
        (json!({ "description": "rm x", "transcript": "rm x" }), None, false),
        (json!({ "command": { "a": 1 } }), None, true),
        (json!({ "command": "" }), None, false),
        (json!("ls"), line("ls"), true),
        (json!(""), None, false),
    ];
    for (input, command, unclear) in cases {
        let given = given(&input);
        assert_eq!(given.command, command, "{input}");
        assert_eq!(given.unclear, unclear, "{input}");
    }
}

#[test]
fn addresses_and_folders() {
    let it = given(&json!({ "url": "https://x", "prompt": "/p", "cwd": "/c" }));
    assert_eq!((it.url.as_deref(), it.cwd.as_deref()), (Some("https://x"), Some("/c")));
    assert!(!it.unclear);
    assert!(given(&json!({ "urls": ["https://x", "https://y"] })).unclear);
    assert!(given(&json!({ "cwd": "/a", "workdir": "/b", "command": "ls" })).unclear);
}

#[test]
fn what_leads_away_or_is_too_much_is_unclear() {
    for pattern in ["/etc/**", "~/x", "../*", "a/../../b"] {
        assert!(given(&json!({ "pattern": pattern })).unclear, "{pattern}");
    }
    assert!(!given(&json!({ "pattern": "**/*.rs" })).unclear);
    let mut deep = json!({ "path": "a" });
    for _ in 0..40 {
        deep = json!({ "x": deep });
    }
    assert!(given(&deep).unreadable);
    let many: Vec<String> = (0..2_000).map(|it| it.to_string()).collect();
    assert!(given(&json!({ "paths": many })).unreadable);
    assert!(given(&json!({ "x": vec![0; 20_000] })).unreadable);
    let long = "x/".repeat(3_000);
    for name in ["path", "cwd", "url"] {
        assert!(given(&json!({ name: long })).unreadable, "{name}");
        assert!(!given(&json!({ name: "short" })).unreadable, "{name}");
    }
    assert!(!given(&json!({ "content": long })).unreadable);
}

#[test]
fn two_spellings_of_arguments_are_unclear_and_both_are_found() {
    let it = given(&json!({ "command": "git", "args": ["status"], "arguments": ["push"] }));
    assert!(it.unclear);
    let text = it.command.map(|it| it.text()).unwrap_or_default();
    assert!(text.contains("git status") && text.contains("git push"), "{text}");
    let same = given(&json!({ "command": "git", "args": ["status"], "Args": ["status"] }));
    assert!(!same.unclear);
}

#[test]
fn texts_that_look_like_paths_are_paths_whatever_they_are_called() {
    let paths_of = |name: &str, text: &str| paths(&json!({ "x": [{ name: text }] }));
    for text in ["/etc/shadow", "~/x", "a/../../b", "file:///x", "\\\\host\\x", "C:\\x", "FILE:/x"]
    {
        assert_eq!(paths_of("whatever", text), [text]);
    }
    assert_eq!(paths_of("input_path", "a"), ["a"]);
    assert_eq!(paths_of("OutputFile", "a"), ["a"]);
    assert_eq!(paths(&json!({ "/etc/x": true })), ["/etc/x"]);
    assert_eq!(paths(&json!(["/etc/x"])), ["/etc/x"]);
    for text in ["a/b", "// a comment\nand more", "text", "a..b"] {
        assert_eq!(paths_of("whatever", text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(paths_of("new_string", "/** a comment */"), Vec::<String>::new());
}

#[test]
fn what_nothing_accounts_for_is_noted() {
    let more = |input: &Value| given(input).more;
    assert!(more(&json!({ "command": "ls", "dangerouslyDisableSandbox": true })));
    assert!(more(&json!({ "url": "https://x", "body": "secret" })));
    assert!(more(&json!({ "owner": "me" })));
    assert!(!more(&json!({ "command": "ls", "description": "why", "timeout": 5, "cwd": "/p" })));
    assert!(!more(&json!({ "path": "a", "replace_all": false })));
}
