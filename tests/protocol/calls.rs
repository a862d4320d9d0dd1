//! Our requests and answers, by name.

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::agent::{McpServer, McpTransport};
use acp_nvim::session::content::Content;
use acp_nvim::session::effect::{Call, Make, Place, Reply};
use acp_nvim::session::event::Ask;
use acp_nvim::session::failure::RpcError;
use acp_nvim::session::ids::{ConnectionId, ReplyTo, SessionId, TurnId};
use acp_nvim::session::question::FieldValue;
use acp_nvim::session::tool_call::TerminalExit;

const SESSION: SessionId = SessionId(1);

pub(crate) const NAMES: [&str; 20] = [
    "initialize",
    "initialize-old",
    "new",
    "load",
    "resume",
    "fork",
    "prompt",
    "steer",
    "authenticate",
    "set-mode",
    "set-model",
    "set-option",
    "set-switch",
    "set-title",
    "list",
    "list-more",
    "delete",
    "logout",
    "close",
    "shutdown",
];

/// One of our requests.
pub(crate) fn named(name: &str) -> Call {
    match name {
        "initialize" => Call::Initialize { old_form: false },
        "initialize-old" => Call::Initialize { old_form: true },
        "new" => make(Make::New, full_place()),
        "load" => make(Make::Load("s".into()), plain_place()),
        "resume" => make(Make::Resume("s".into()), plain_place()),
        "fork" => make(Make::Fork("s".into()), plain_place()),
        "prompt" => {
            let (session, remote, turn) = (SESSION, "s".into(), TurnId(1));
            Call::Prompt { session, remote, turn, content: contents() }
        }
        "steer" => {
            let content = vec![Content::Text("faster".into())];
            Call::Steer { session: SESSION, remote: "s".into(), content }
        }
        "authenticate" => Call::Authenticate { session: SESSION, method: "browser".into() },
        "set-mode" => ask(Ask::SetMode("plan".into()), None),
        "set-model" => ask(Ask::SetModel("large".into()), None),
        "set-option" => ask(Ask::SetOption("model".into(), "large".into()), None),
        "set-switch" => ask(Ask::SetSwitch("fast".into(), true), None),
        "set-title" => ask(Ask::SetTitle("My chat".into()), None),
        "list" => ask(Ask::ListSessions, None),
        "list-more" => ask(Ask::ListSessions, Some("page 2".into())),
        "delete" => ask(Ask::DeleteSession("old".into()), None),
        "logout" => ask(Ask::LogOut, None),
        "close" => Call::Close("s".into()),
        "shutdown" => Call::Shutdown,
        _ => panic!("there is no call {name}"),
    }
}

fn make(how: Make, place: Place) -> Call {
    Call::Session { session: SESSION, how, place }
}

fn ask(ask: Ask, cursor: Option<String>) -> Call {
    let (remote, cwd) = ("s".into(), "/project".into());
    Call::Ask { session: SESSION, remote, ask, tag: 5, cursor, cwd }
}

fn plain_place() -> Place {
    Place { cwd: "/project".into(), directories: Vec::new(), mcp_servers: Vec::new() }
}

fn full_place() -> Place {
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let server = |name: &str, transport| McpServer { name: name.to_owned(), transport };
    let stdio = McpTransport::Stdio {
        command: "/bin/tools".into(),
        args: vec!["--all".into()],
        env: pair("KEY", "value"),
    };
    let http = McpTransport::Http { url: "https://example.com".into(), headers: pair("Auth", "x") };
    let sse = McpTransport::Sse { url: "https://example.com/sse".into(), headers: Vec::new() };
    Place {
        cwd: "/project".into(),
        directories: vec!["/other".into()],
        mcp_servers: vec![server("tools", stdio), server("web", http), server("old", sse)],
    }
}

fn contents() -> Vec<Content> {
    let mime = || Some("text/plain".to_owned());
    vec![
        Content::Text("look".into()),
        Content::Image { mime: "image/png".into(), data: "aGk=".into() },
        Content::Audio { mime: "audio/wav".into(), data: "aGk=".into() },
        Content::Link { uri: "file:///project/a".into(), name: "a".into() },
        Content::Resource { uri: "file:///b".into(), text: "b".into(), mime: mime() },
        Content::Blob { uri: "file:///c".into(), data: "aGk=".into(), mime: None },
        Content::Unknown("hologram".into()),
    ]
}

fn replies() -> Vec<(&'static str, Result<Reply, RpcError>)> {
    let exit = |code, signal: Option<&str>| TerminalExit { code, signal: signal.map(Into::into) };
    let output = |exit| Reply::Output { output: "hi\n".into(), truncated: false, exit };
    let values = vec![
        ("name".to_owned(), FieldValue::Text("x".into())),
        ("count".to_owned(), FieldValue::Integer(3)),
        ("ratio".to_owned(), FieldValue::Number(0.5)),
        ("sure".to_owned(), FieldValue::Boolean(true)),
        ("some".to_owned(), FieldValue::List(vec!["a".into(), "b".into()])),
    ];
    let ran = Reply::Ran { output: "hi".into(), truncated: true, exit: exit(Some(2), None) };
    let error =
        RpcError { code: -32602, message: "no".into(), details: Some("the path is empty".into()) };
    vec![
        ("empty", Ok(Reply::Empty)),
        ("permission", Ok(Reply::Permission(Some("allow".into())))),
        ("permission cancelled", Ok(Reply::Permission(None))),
        ("text", Ok(Reply::Text("line\n".into()))),
        ("entries", Ok(Reply::Entries(vec![("src".into(), true), ("a.rs".into(), false)]))),
        ("terminal", Ok(Reply::Terminal("t1".into()))),
        ("output while running", Ok(output(None))),
        ("output after the end", Ok(output(Some(exit(Some(0), None))))),
        ("exit", Ok(Reply::Exit(exit(Some(0), None)))),
        ("killed", Ok(Reply::Exit(exit(None, Some("SIGKILL"))))),
        ("ran", Ok(ran)),
        ("accept", Ok(Reply::Accept(values))),
        ("accept nothing", Ok(Reply::Accept(Vec::new()))),
        ("decline", Ok(Reply::Decline)),
        ("dismiss", Ok(Reply::Dismiss)),
        ("error", Err(error)),
        ("unknown", Err(RpcError::method_not_found("no/such"))),
    ]
}

/// Everything we can say, with its name.
pub(crate) fn said() -> String {
    let mut out = String::new();
    let mut say = |name: &str, line: Vec<u8>| {
        // The version changes with every release.
        let line = String::from_utf8(line).unwrap();
        let line = line.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
        out.push_str(&format!("# {name}\n{line}"));
    };
    for name in NAMES {
        say(name, Peer::new(ConnectionId(1)).call(named(name)));
    }
    let mut peer = Peer::new(ConnectionId(1));
    say("cancel", peer.cancel_turn("s".into()));
    assert_eq!(peer.cancel_login(), None);
    drop(peer.call(named("authenticate")));
    say("cancel the login", peer.cancel_login().unwrap());
    for (name, answer) in replies() {
        let reply = ReplyTo { connection: ConnectionId(1), id: "\"r-1\"".into() };
        say(name, peer.reply(reply, &answer));
    }
    out
}

#[test]
fn ids_of_requests_go_back_as_they_came() {
    for id in ["0", "1.0", "\"\\u0041 b\"", "null", "true", "18446744073709551616", "[1]"] {
        let mut peer = Peer::new(ConnectionId(1));
        let mut replies = Vec::new();
        let line = format!("{{\"method\":\"no/such\",\"id\":{id}}}\n");
        peer.receive(line.as_bytes(), &mut |happened| {
            let acp_nvim::session::event::Happened::Requested { reply, .. } = happened else {
                panic!("{happened:?}")
            };
            replies.push(reply);
        });
        let line = peer.reply(replies.pop().unwrap(), &Ok(Reply::Empty));
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }
}

#[test]
fn a_login_that_was_answered_can_not_be_cancelled() {
    let mut peer = Peer::new(ConnectionId(1));
    drop(peer.call(named("authenticate")));
    peer.receive(b"{\"id\":1,\"result\":{}}\n", &mut |_| {});
    assert_eq!(peer.cancel_login(), None);
}
