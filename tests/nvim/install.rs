//! The library: found, loaded, and every way in which it can be wrong.

use std::process::Command;

use serde_json::{Value, json};

use crate::plugin::with_agent;
use crate::support::nvim::{Nvim, Options};
use crate::support::scratch;
use crate::support::target::Target;

/// A Neovim that finds this library.
fn with_library(target: &Target, path: &str) -> Nvim {
    let env = vec![("ACP_NVIM_LIB".to_owned(), path.to_owned())];
    Nvim::start(target, Options { env, ..Options::default() })
}

/// Opens the chat and gives the error; everything must be told in one message that names the fix.
fn refusal(nvim: &mut Nvim) -> Value {
    nvim.allow_errors();
    let err = nvim.lua(
        "local _, err = require('acp').open({ agent = 'tutor', focus = false }) return err",
        json!([]),
    );
    assert!(err["hint"].as_str().unwrap().contains(":Acp build"), "{err}");
    nvim.resize(200, 30);
    nvim.input(":AcpChat tutor<CR>");
    nvim.wait_screen(":Acp build");
    let messages = nvim.messages();
    assert_eq!(messages.matches("native library").count(), 1, "{messages}");
    assert!(messages.contains(":Acp build"), "{messages}");
    err
}

nvim_tests! {
    fn a_missing_library(target: &Target) {
        let mut nvim = with_library(target, "/nowhere/acp_nvim.so");
        assert_eq!(refusal(&mut nvim)["code"], "library_missing");
    }

    fn a_broken_library(target: &Target) {
        let broken = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(broken.path(), "not a library").unwrap();
        let mut nvim = with_library(target, broken.path().to_str().unwrap());
        assert_eq!(refusal(&mut nvim)["code"], "library_broken");
    }

    fn a_library_of_another_version(target: &Target) {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("old.c"), folder.path().join("old.so"));
        std::fs::write(&source, "
            typedef struct lua_State lua_State;
            void lua_createtable(lua_State *, int, int);
            void lua_pushnumber(lua_State *, double);
            void lua_setfield(lua_State *, int, const char *);
            int luaopen_acp_nvim(lua_State *state) {
              lua_createtable(state, 0, 1);
              lua_pushnumber(state, 0);
              lua_setfield(state, -2, \"abi\");
              return 1;
            }").unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(built.unwrap().success());
        let mut nvim = with_library(target, library.to_str().unwrap());
        assert_eq!(refusal(&mut nvim)["code"], "library_abi");
    }

    fn loading_inside_a_coroutine(target: &Target) {
        let mut nvim = with_agent(target, &json!({}));
        let loaded = nvim.lua("
            local loaded
            coroutine.wrap(function() loaded = require('acp.native').load() end)()
            collectgarbage() collectgarbage()
            return loaded.version", json!([]));
        assert!(loaded.as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{loaded}");
        crate::plugin::open(&mut nvim, "AcpChat");
    }

    fn the_library_exports_what_is_declared(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let names = nvim.lua("local names = vim.tbl_keys(require('acp.native').load()) table.sort(names) return names", json!([]));
        let names: Vec<String> = serde_json::from_value(names).unwrap();
        let native = std::fs::read_to_string(scratch::root().join("lua/acp/native.lua")).unwrap();
        let class = native.split("acp.Native\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let mut declared: Vec<&str> = class.lines().filter_map(|line| line.strip_prefix("---@field ")?.split(' ').next()).collect();
        declared.sort_unstable();
        assert_eq!(names, declared);
    }

    fn an_agent_that_comes_in_two_packages(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let found = nvim.lua(r#"
            local there = {}
            vim.fn.executable = function(program) return there[program] and 1 or 0 end
            vim.uv.os_uname = function() return { sysname = 'Linux', machine = 'x86_64' } end
            local function goose(...)
              there = {}
              for _, program in ipairs({ ... }) do there[program] = true end
              local agent = require('acp.agents').get('goose')
              return agent.command[1] .. ' ' .. agent.install:match('^%a+')
            end
            return { goose(), goose('brew'), goose('goose'), goose('goose-binary-linux-x64'), goose('goose', 'goose-binary-linux-x64', 'brew') }
        "#, json!([]));
        assert_eq!(found, json!(["goose npm", "goose brew", "goose npm", "goose-binary-linux-x64 npm", "goose brew"]));
    }

    fn health_starts_the_agents(target: &Target) {
        let mut nvim = with_agent(target, &json!({ "on": { "initialize": { "merge": { "agentInfo": { "version": "7.8.9" } } } } }));
        nvim.lua("require('acp').setup(vim.tbl_deep_extend('force', require('acp.config').get(), { agents = { gone = { command = { 'no-such-program' }, install = 'pip install gone' } } }))", json!([]));
        nvim.command("checkhealth acp");
        let report = nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')", json!([]));
        let report = report.as_str().unwrap();
        for words in ["fake: ACP Tutor 7.8.9", "no-such-program", "pip install gone", "acp_nvim.so"] {
            assert!(report.contains(words), "{words} is not in\n{report}");
        }
    }
}
