//! Agents that are reached by an address: somebody else's, who gets nothing run unasked.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::commands::{agent, made, respond, touch, wait_permission};
use crate::plugin::{wait_state, wait_transcript};
use crate::report::{REPORT, answers, finish, send};
use crate::support::nvim::{DEADLINE, Nvim, Options};
use crate::support::target::Target;

/// Serves an agent at an address, for one connection.
fn serve(command: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let mut agent = Command::new(&command[0]);
        let agent = agent.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut agent = agent.spawn().unwrap();
        let (mut stdin, mut stdout) = (agent.stdin.take().unwrap(), agent.stdout.take().unwrap());
        let mut incoming: TcpStream = socket.try_clone().unwrap();
        let reading = thread::spawn(move || pass_on(&mut incoming, &mut stdin));
        pass_on(&mut stdout, &mut &socket);
        socket.shutdown(Shutdown::Both).ok();
        reading.join().ok();
        agent.wait().ok();
    });
    url
}

fn pass_on(from: &mut impl Read, to: &mut impl Write) {
    let mut buf = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buf) {
        if to.write_all(&buf[..length]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// A Neovim that reaches the agent by an address.
fn elsewhere(target: &Target, scenario: &Value) -> Nvim {
    let mut nvim = Nvim::start(target, Options::default());
    let mut scenario = scenario.clone();
    scenario["report"] = json!(nvim.scratch().project().join(REPORT));
    let url = serve(nvim.scratch().scenario(&scenario));
    let setup = json!([{ "default_agent": "fake", "agents": { "fake": { "url": url } } }]);
    nvim.lua("require('acp').setup(...)", setup);
    nvim
}

nvim_tests! {
    fn an_agent_elsewhere_asks_before_each_command(target: &Target) {
        let mut nvim = elsewhere(target, &agent(&touch()));
        send(&mut nvim, "go");
        let permission = wait_permission(&mut nvim);
        assert_eq!(permission["title"], "run touch made");
        respond(&mut nvim, &permission, "refuse");
        finish(&mut nvim);
        assert!(!made(&nvim));
        assert!(answers(&nvim)[0]["error"]["message"].as_str().unwrap().contains("the user does not allow it"));
    }

    /// The agent names a command of its own for the login: it is not run here.
    fn no_login_runs_a_command_of_an_agent_elsewhere(target: &Target) {
        let login = json!({ "id": "evil", "name": "Log in with your browser",
            "_meta": { "terminal-auth": { "command": "touch", "args": ["made"] } } });
        let refused = json!({ "reply": { "error": { "code": -32000, "message": "Authentication required" } } });
        let scenario = json!({ "on": { "initialize": { "merge": { "authMethods": [login] } }, "session/new": [refused] } });
        let mut nvim = elsewhere(target, &scenario);
        nvim.allow_errors();
        nvim.lua("assert(require('acp').open({ focus = false }))", json!([]));
        wait_state(&mut nvim, "waiting");
        nvim.input(":Acp auth<CR>");
        nvim.wait_screen("Log in with your browser (in a terminal, but not from here)");
        nvim.lua("require('acp.client').send({ type = 'log_in', session = 1, method = 'evil' })", json!([]));
        wait_state(&mut nvim, "failed");
        wait_transcript(&mut nvim, "no command that it names is run on this machine");
        assert!(!made(&nvim));
    }

    fn talking_in_the_open_is_said_once(target: &Target) {
        let mut nvim = Nvim::start(target, Options::default());
        let code = "
            local exposed = require('acp.agents').exposed_host
            return vim.tbl_map(function(url) return exposed(url) or false end, ...)";
        let urls = json!([[
            "tcp://example.com:1", "ws://10.0.0.1/acp", "WS://user@Example.com:80?x", "tcp://[fe80::1]:1", "tcp://127.0.0.1.evil.com:1", "ws://localhost@evil.com/",
            "tcp://localhost:1", "ws://127.0.0.1:9/acp", "tcp://[::1]:1", "ws://agent.localhost/", "wss://example.com/acp", "unix:///run/x",
        ]]);
        let hosts = nvim.lua(code, urls);
        let exposed = ["example.com", "10.0.0.1", "example.com", "fe80::1", "127.0.0.1.evil.com", "evil.com"];
        let mut expected: Vec<Value> = exposed.iter().map(|it| json!(it)).collect();
        expected.resize(12, json!(false));
        assert_eq!(hosts, json!(expected));
        // An address that nobody has: nothing is reached.
        nvim.allow_errors();
        let setup = json!([{ "default_agent": "far", "agents": { "far": { "url": "tcp://agent.invalid:1" } } }]);
        nvim.lua("require('acp').setup(...)", setup);
        for _ in 0..2 {
            nvim.lua("assert(require('acp').open({ focus = false, new = true }))", json!([]));
        }
        nvim.wait_until("the warning", DEADLINE, |nvim| nvim.messages().contains("the connection to agent.invalid is not encrypted"));
        assert_eq!(nvim.messages().matches("is not encrypted").count(), 1, "{}", nvim.messages());
        nvim.input(":checkhealth acp<CR>");
        nvim.wait_screen("far: the connection to agent.invalid is not encrypted");
    }
}
