//! The rules that a machine can check: who may name whom, how long files are, what the library
//! imports, and that the two sides of the boundary agree.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == extension) => found.push(path),
                false => {}
            }
        }
    }
    assert!(!found.is_empty(), "no *.{extension} under {folder}");
    found
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The layers, and the layers below that each may name.
const LAYERS: [(&str, &[&str]); 7] = [
    ("session", &[]),
    ("protocol", &["session"]),
    ("view", &["session"]),
    ("changes", &["session"]),
    ("tutor", &[]),
    ("runtime", &["protocol", "view", "changes", "session", "tutor"]),
    ("nvim", &["runtime", "view", "session"]),
];

#[test]
fn layers_name_only_what_is_below_them() {
    for (layer, below) in LAYERS {
        for path in files(&format!("src/{layer}"), "rs") {
            for (number, line) in read(&path).lines().enumerate() {
                for named in line.split("crate::").skip(1) {
                    let end = named.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let named = &named[..end.unwrap_or(named.len())];
                    assert!(
                        named == layer || below.contains(&named),
                        "{}:{}: `{layer}` must not name `{named}`",
                        path.display(),
                        number + 1
                    );
                }
            }
        }
    }
}

#[test]
fn pure_layers_do_no_io_and_read_no_clock() {
    let impure = [
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "Instant",
        "SystemTime",
        "tokio",
        "mlua",
        "nvim_oxi",
    ];
    for layer in ["session", "protocol", "view", "changes"] {
        for path in files(&format!("src/{layer}"), "rs") {
            let text = read(&path);
            for word in impure {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
        }
    }
}

#[test]
fn only_the_codec_names_the_schema_crate() {
    for path in files("src", "rs") {
        let names = read(&path).contains("agent_client_protocol_schema");
        let protocol = path.strip_prefix(root().join("src/protocol")).ok();
        let place = protocol.and_then(|path| path.iter().next()?.to_str());
        let codec = place.is_some_and(|it| it.starts_with("decode") || it.starts_with("encode"));
        assert!(!names || codec, "{} names the schema crate", path.display());
    }
}

#[test]
fn files_stay_short() {
    let limits =
        [("src", "rs", 500), ("tests", "rs", 500), ("lua", "lua", 400), ("plugin", "lua", 60)];
    for (folder, extension, limit) in limits {
        for path in files(folder, extension) {
            let lines = read(&path).lines().count();
            assert!(lines <= limit, "{} has {lines} lines, {limit} are allowed", path.display());
        }
    }
    let bridge: usize = files("src/nvim", "rs").iter().map(|path| read(path).lines().count()).sum();
    assert!(bridge <= 1700, "src/nvim has {bridge} lines, 1700 are allowed");
}

/// The words after `marker` in a text, up to the first character that can't be part of a name.
fn names_after(text: &str, marker: &str) -> BTreeSet<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    text.split(marker).skip(1).map(name).collect()
}

#[test]
fn declared_exports_equal_the_real_ones() {
    let bridge = read("src/nvim/mod.rs");
    let exports = bridge.split("fn exports").nth(1).unwrap().split("\n}").next().unwrap();
    let real = names_after(exports, "table.set(\"");
    let lua = read("lua/acp/native.lua");
    let class = lua.split("acp.Native\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_eq!(names_after(class, "---@field "), real);
}

#[test]
fn the_abi_is_the_same_on_both_sides() {
    let number = |text: &str, before: &str| -> u32 {
        let digits = text.split(before).nth(1).unwrap();
        digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    let rust = number(&read("src/nvim/mod.rs"), "const ABI: u32 = ");
    assert_eq!(number(&read("lua/acp/native.lua"), "M.abi = "), rust);
}

#[test]
fn every_painted_group_has_a_default_look() {
    let model = read("src/view/model.rs");
    let names = model.split("NAMES").nth(1).unwrap().split(';').nth(1).unwrap();
    let highlights = read("lua/acp/ui/highlights.lua");
    for name in names_after(names, "\"Acp") {
        assert!(highlights.contains(&format!("Acp{name}")), "Acp{name} has no look");
    }
}

/// What the library needs of its host. Neovim's API is reached through Lua, which is stable;
/// a direct import would tie the library to one version of Neovim.
#[test]
fn the_library_imports_lua_and_not_the_api() {
    let library = root().join("lib/acp_nvim.so");
    assert!(library.exists(), "there is no {}: run `make build`", library.display());
    let nm = Command::new("nm").args(["-D", "--undefined-only"]).arg(&library).output().unwrap();
    assert!(nm.status.success(), "{}", String::from_utf8_lossy(&nm.stderr));
    let imports = String::from_utf8(nm.stdout).unwrap();
    let mut names = imports.lines().filter_map(|line| line.split_whitespace().last());
    assert!(names.clone().any(|name| name == "lua_pcall"), "{imports}");
    assert_eq!(names.find(|name| name.starts_with("nvim_")), None);
}

/// A message that does not fit one line makes Neovim wait for a key: `lua/acp/notify.lua` makes it
/// fit. In Neovims that are too old, nothing of the plugin is loaded.
#[test]
fn nobody_else_writes_messages() {
    let writers = [
        "vim.notify",
        "nvim_echo",
        "print(",
        "cmd.echo",
        "nvim_err_write",
        "nvim_out_write",
        "'echo",
    ];
    for path in files("lua", "lua").into_iter().chain(files("plugin", "lua")) {
        if path.ends_with("lua/acp/notify.lua") {
            continue;
        }
        for (number, line) in read(&path).lines().enumerate() {
            let line = line.split("--").next().unwrap_or_default();
            let own = writers.iter().any(|it| line.contains(it));
            assert!(
                !own || line.contains("needs Neovim 0.10"),
                "{}:{}: use acp.notify",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn the_project_speaks_of_itself_alone() {
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "md" || it == "toml") {
            assert!(!read(&path).contains("/work/"), "{}", path.display());
        }
    }
}

/// What a repository says must not be run, and `runtime::git` is where that is seen to.
#[test]
fn nobody_else_runs_git() {
    let runs = ["Command::new(program())", "Command::new(\"git\")"];
    for path in files("src", "rs") {
        let text = read(&path);
        let named = text.contains("\"git\"") && text.contains("Command::new");
        let runs = runs.iter().any(|it| text.contains(it)) || named;
        assert!(!runs || path.ends_with("runtime/git/command.rs"), "{}", path.display());
    }
    for path in files("lua", "lua").into_iter().chain(files("plugin", "lua")) {
        let text = read(&path);
        let lists = text.replace([' ', '\n'], "").replace('"', "'");
        let words =
            ["{'git'", "system('git", "jobstart('git", "popen('git", "spawn('git", "termopen('git"];
        let runs = words.iter().find(|it| lists.contains(**it));
        assert_eq!(runs, None, "{}", path.display());
    }
}

#[test]
fn the_tests_behind_the_promises_of_the_help_exist() {
    let help = read("doc/acp.txt");
    let section = help.split("*acp-security-enforced*").nth(1).unwrap();
    let section = section.split("*acp-security-not*").next().unwrap();
    let named: Vec<_> = section.split_whitespace().filter(|it| it.ends_with(".rs")).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(read(name).contains("fn "), "{name} has no tests");
    }
}

/// The rows of the help's tables on the protocol: a name, and whether it is supported.
fn protocol_rows() -> Vec<(String, bool)> {
    let help = read("doc/acp.txt");
    let section = help.split("*acp-protocol*").nth(1).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("  "));
    let rows = rows.filter_map(|row| row.split_once("  "));
    let rows = rows.map(|(name, words)| (name.trim().to_owned(), words.trim().starts_with("yes")));
    rows.collect()
}

#[test]
fn the_help_tells_the_truth_about_the_protocol() {
    let mut code = String::new();
    for path in files("src/protocol", "rs") {
        code.push_str(read(&path).split("#[cfg(test)]").next().unwrap());
    }
    let rows = protocol_rows();
    assert!(rows.len() > 50, "{rows:?}");
    for (name, supported) in rows.iter().filter(|(name, _)| name != "anything else") {
        let named = code.contains(&format!("\"{name}\""));
        assert_eq!(named, *supported, "{name}: the help says {supported}");
    }
    let told: BTreeSet<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    for word in code.split('"').skip(1).step_by(2) {
        let method =
            word.contains('/') && word.chars().all(|c| c.is_ascii_lowercase() || "_/$".contains(c));
        assert!(!method || told.contains(word), "{word} is in the code and not in the help");
    }
}
