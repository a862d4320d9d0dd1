//! Just enough HTTP/1.1 for one request on a connection. Knows nothing of what is asked.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Nothing when the connection ends before the request does, as one made in advance may.
pub(super) fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let header = line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "transfer-encoding" => panic!("the model reads no body in {value}"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, body })
}

/// Sends a whole answer.
pub(super) fn respond(stream: &mut TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

/// Begins an answer of server-sent events, which lasts until the connection is closed.
pub(super) fn begin_events(stream: &mut TcpStream) -> io::Result<()> {
    let head = "HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())
}

/// Sends one event.
pub(super) fn event(stream: &mut TcpStream, data: &str) -> io::Result<()> {
    // At once and whole, or the agent would see the words in lumps.
    stream.write_all(format!("data: {data}\n\n").as_bytes())
}

/// Waits until the other side has closed the connection.
pub(super) fn wait_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 {}
    Err(io::ErrorKind::ConnectionAborted.into())
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}
