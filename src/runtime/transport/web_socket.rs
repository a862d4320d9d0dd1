//! A WebSocket: one message a text frame, made to look like lines.

use std::io;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::runtime::system_error::words;

/// The longest message taken: what a line may have, and its line ending.
const CAP: usize = (64 << 20) + 2;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// From the agent.
pub(super) struct Incoming {
    socket: SplitStream<Socket>,
    /// The message that is being handed over, and how much of it has been.
    message: Vec<u8>,
    given: usize,
}

/// To the agent.
pub(super) struct Outgoing(SplitSink<Socket, Message>);

/// Reaches an agent.
pub(super) async fn connect(url: &str) -> Result<(Incoming, Outgoing), String> {
    choose_cryptography();
    let config = WebSocketConfig::default().max_message_size(Some(CAP)).max_frame_size(Some(CAP));
    match connect_async_with_config(url, Some(config), true).await {
        Ok((socket, _response)) => {
            match socket.get_ref() {
                MaybeTlsStream::Plain(stream) => super::tune(stream),
                MaybeTlsStream::Rustls(stream) => super::tune(stream.get_ref().0),
                _ => {}
            }
            let (outgoing, socket) = socket.split();
            Ok((Incoming { socket, message: Vec::new(), given: 0 }, Outgoing(outgoing)))
        }
        Err(Error::Io(error)) => Err(words(&error)),
        Err(Error::Http(response)) => Err(format!("the server answers {}", response.status())),
        Err(error) => Err(words(&io::Error::other(error))),
    }
}

/// The TLS library asks once which implementation to use, and panics when nobody tells.
fn choose_cryptography() {
    let chosen = rustls::crypto::ring::default_provider().install_default();
    if chosen.is_err() {
        tracing::trace!("the implementation of TLS was chosen before");
    }
}

impl Incoming {
    /// The next bytes, at most so many: a large message must not fill the core's channel.
    pub(super) async fn read(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        while self.given >= self.message.len() {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    self.message = lines(text.as_str());
                    self.given = 0;
                }
                None | Some(Ok(Message::Close(_)) | Err(Error::ConnectionClosed)) => {
                    return Ok(None);
                }
                Some(Err(Error::Io(error))) => return Err(error),
                Some(Err(error)) => return Err(io::Error::other(error)),
                Some(Ok(Message::Binary(bytes))) => {
                    tracing::debug!(bytes = bytes.len(), "a binary frame: skipped");
                }
                // Pings are answered by the library.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            }
        }
        let end = self.message.len().min(self.given + most);
        let piece = self.message.get(self.given..end).map(<[u8]>::to_vec);
        self.given = end;
        if self.given == self.message.len() {
            self.message = Vec::new();
        }
        Ok(piece)
    }
}

/// A text frame as lines. It should hold one message; some hold several, a line each, and some
/// hold one that is laid out over many lines, which becomes one line.
fn lines(text: &str) -> Vec<u8> {
    let text = text.trim();
    let whole = |line: &str| line.starts_with(['{', '[']) && line.ends_with(['}', ']']);
    let mut rows = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut bytes = Vec::with_capacity(text.len() + 1);
    if rows.all(whole) {
        bytes.extend_from_slice(text.as_bytes());
    } else {
        // Inside a string a newline is written `\n`, so that these stand between tokens.
        bytes.extend(text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
    }
    bytes.push(b'\n');
    bytes
}

impl Outgoing {
    /// Sends each line as a frame.
    pub(super) async fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let message = Message::text(String::from_utf8_lossy(line).into_owned());
            self.0.send(message).await.map_err(io_error)?;
        }
        Ok(())
    }

    /// Says goodbye.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.0.close().await.map_err(io_error)
    }
}

fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_lines() {
        for (frame, expected) in [
            ("{}", "{}\n"),
            ("{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}\n"),
            ("{\n  \"a\": [\n1]\n}", "{   \"a\": [ 1] }\n"),
            ("[{}]\r\n", "[{}]\n"),
            (" \n", "\n"),
        ] {
            assert_eq!(String::from_utf8(lines(frame)).unwrap(), expected);
        }
    }
}
