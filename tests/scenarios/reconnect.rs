//! An agent elsewhere, and a way to it that breaks.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use acp_nvim::session::agent::How;
use acp_nvim::session::effect::Tell;
use acp_nvim::session::entry::StopReason;
use acp_nvim::session::event::{Origin, Wish};
use acp_nvim::session::failure::{Exit, Failure};
use serde_json::{Value, json};

use crate::world::World;

/// One connection of the agent elsewhere: it answers until it is prompted with one of the words
/// that end it.
struct Elsewhere {
    reader: BufReader<TcpStream>,
    heard: Vec<Value>,
}

impl Elsewhere {
    fn accept(listener: &TcpListener) -> Elsewhere {
        let (stream, _) = listener.accept().unwrap();
        Elsewhere { reader: BufReader::new(stream), heard: Vec::new() }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.reader.get_mut(), "{message}").unwrap();
    }

    /// Serves until the client is gone, or says `hang up`.
    fn serve(mut self) -> Vec<Value> {
        let mut line = String::new();
        while self.reader.read_line(&mut line).unwrap_or(0) > 0 {
            let message: Value = serde_json::from_str(&line).unwrap();
            line.clear();
            self.heard.push(message.clone());
            let text = message.pointer("/params/prompt/0/text").and_then(Value::as_str);
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({ "protocolVersion": 1, "agentCapabilities": { "sessionCapabilities": { "resume": {} } } })
                }
                Some("session/new") => json!({ "sessionId": "far" }),
                Some("session/prompt") if text == Some("hang up") => return self.heard,
                Some("session/prompt") => {
                    let content =
                        json!({ "type": "text", "text": format!("heard {}. ", text.unwrap()) });
                    let update =
                        json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                    self.say(&json!({ "method": "session/update", "params": { "sessionId": "far", "update": update } }));
                    json!({ "stopReason": "end_turn" })
                }
                _ => json!({}),
            };
            self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        self.heard
    }
}

/// The agent: it serves, hangs up, hangs up on the second visit at once, and serves again when it
/// is let.
fn elsewhere() -> (String, Sender<()>, JoinHandle<[Vec<Value>; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    let (go_on, wait): (Sender<()>, Receiver<()>) = channel();
    let agent = std::thread::spawn(move || {
        let first = Elsewhere::accept(&listener).serve();
        drop(Elsewhere::accept(&listener));
        let last = Elsewhere::accept(&listener);
        wait.recv().unwrap();
        [first, last.serve()]
    });
    (url, go_on, agent)
}

#[test]
fn reconnect_over_tcp() {
    let world = World::new();
    let (url, go_on, agent) = elsewhere();
    let session = world.open(world.reach(How::Url(url)), Origin::New);
    let first = world.prompt(session, "one");
    assert_eq!(world.finished(first), Ok(StopReason::EndTurn));
    let lost = world.prompt(session, "hang up");
    assert!(matches!(world.finished(lost), Err(Failure::Died { exit: Exit::Closed, .. })));
    // Whoever types meanwhile is not asked to type again.
    let meanwhile = world.prompt(session, "meanwhile");
    let state =
        world.until("waiting", |world| Some(world.summary(session)).filter(|it| it.queued == 1));
    assert_eq!(state.state, "starting");
    go_on.send(()).unwrap();
    assert_eq!(world.finished(meanwhile), Ok(StopReason::EndTurn));
    let text = world.transcript(session);
    assert!(text.ends_with("## fake\n\nheard meanwhile. \n"), "{text}");
    assert_eq!(text.matches("connection closed").count(), 1, "told once: {text}");
    assert_eq!(world.count(|it| matches!(it, Tell::Ready(_))), 2);
    assert_eq!(world.count(|it| matches!(it, Tell::Failed { .. })), 0);
    world.wish(Wish::Close(session));
    let [first, last] = agent.join().unwrap();
    let methods = |heard: &[Value]| -> Vec<String> {
        heard.iter().filter_map(|it| it["method"].as_str().map(str::to_owned)).collect()
    };
    let expected = ["initialize", "session/new", "session/prompt", "session/prompt"];
    assert_eq!(methods(&first), expected);
    assert_eq!(methods(&last), ["initialize", "session/resume", "session/prompt"]);
    assert_eq!(last[1]["params"]["sessionId"], "far");
    world.told("closed", |it| (*it == Tell::Closed(session)).then_some(()));
    world.all_settled();
}

/// The first visit finds nobody: there is no session to seek again, so the user hears at once.
#[test]
fn nobody_there() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    let session = world.open(world.reach(How::Url(url)), Origin::New);
    let tag = world.prompt(session, "go");
    match world.finished(tag) {
        Err(Failure::NotStarted { reason, .. }) => assert!(reason.contains("refused"), "{reason}"),
        other => panic!("{other:?}"),
    }
    world.all_settled();
}
