//! The language of `heard/*.txt`.
//!
//! ```text
//! # a comment
//! update {…}             the update of a session/update for the session `s`
//! notify METHOD {…}      a notification
//! request METHOD {…}     a request, with the id 7
//! answer CALL {…}        the result of one of our requests (`calls.rs` names them)
//! refuse CALL {…}        the error of one of our requests
//! line …                 a line as it is
//! ```
//!
//! Each message comes to a peer of its own, which has prompted the session `s`.

use acp_nvim::protocol::peer::Peer;
use acp_nvim::session::event::Happened;
use acp_nvim::session::ids::ConnectionId;

use super::calls;

/// The script with what its messages become.
pub(crate) fn played(script: &str) -> String {
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.starts_with("    ")) {
        out.push_str(line);
        out.push('\n');
        if !line.is_empty() && !line.starts_with('#') {
            for happened in heard(line) {
                out.push_str(&format!("    {happened:?}\n"));
            }
        }
    }
    out
}

/// The messages of a script.
pub(crate) fn messages(script: &str) -> Vec<String> {
    lines(script).map(|line| message(line).0).collect()
}

/// The lines of a script that have a message.
pub(crate) fn lines(script: &str) -> impl Iterator<Item = &str> {
    let lines = script.lines().filter(|line| !line.starts_with("    "));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What one line of a script becomes.
pub(crate) fn heard(line: &str) -> Vec<Happened> {
    let mut peer = Peer::new(ConnectionId(1));
    drop(peer.call(calls::named("prompt")));
    let (message, call) = message(line);
    if let Some(call) = call {
        drop(peer.call(calls::named(call)));
    }
    let mut all = Vec::new();
    peer.receive(message.as_bytes(), &mut |happened| all.push(happened));
    peer.finish(&mut |happened| all.push(happened));
    all
}

/// The message in a line of a script, and the call it answers.
fn message(line: &str) -> (String, Option<&str>) {
    let (verb, rest) = line.split_once(' ').unwrap();
    let (word, json) = rest.split_once(' ').unwrap_or((rest, "null"));
    let message = match verb {
        "update" => {
            format!(r#"{{"method":"session/update","params":{{"sessionId":"s","update":{rest}}}}}"#)
        }
        "notify" => format!(r#"{{"method":"{word}","params":{json}}}"#),
        "request" => format!(r#"{{"id":7,"method":"{word}","params":{json}}}"#),
        "answer" => format!(r#"{{"id":2,"result":{json}}}"#),
        "refuse" => format!(r#"{{"id":2,"error":{json}}}"#),
        "line" => rest.to_owned(),
        _ => panic!("what is {verb}?"),
    };
    (message, ["answer", "refuse"].contains(&verb).then_some(word))
}
