//! The ways to an agent: bytes that are lines when put together come, lines go.
//!
//! A pipe, a socket and a WebSocket look the same from here on. Must not know what the lines say,
//! nor what to do when a way is lost.

mod web_socket;

use std::fmt;
use std::io;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use super::system_error::words;

/// How much is read at once. With the bound of the core's channel this is what a flooding agent
/// can make us hold; then its own pipe slows it down.
const READ: usize = 64 << 10;
/// How long it may take to reach an agent, with all that is said before the first message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Both directions.
#[derive(Debug)]
pub struct Transport {
    /// From the agent.
    pub reader: Reader,
    /// To the agent.
    pub writer: Writer,
}

impl Transport {
    /// A pair of streams: a child's pipes, a socket, something in memory.
    pub fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Transport {
        Transport {
            reader: Reader(Source::Stream(Box::new(reader), vec![0; READ])),
            writer: Writer(Target::Stream(Box::new(writer))),
        }
    }

    /// Reaches an agent that runs already: `tcp://host:port`, `unix:///path`, `ws://…`, `wss://…`.
    ///
    /// # Errors
    /// It can't be reached, in words for the user.
    pub async fn connect(url: &str) -> Result<Transport, String> {
        let connected = match timeout(PATIENCE, reach(url)).await {
            Ok(connected) => connected,
            Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
        };
        connected.map_err(|why| format!("cannot reach {}: {why}", public_part(url)))
    }
}

async fn reach(url: &str) -> Result<Transport, String> {
    match url.split_once("://") {
        Some(("tcp", address)) => {
            let stream = TcpStream::connect(address.trim_end_matches('/')).await;
            let stream = stream.map_err(|error| words(&error))?;
            tune(&stream);
            let (reader, writer) = stream.into_split();
            Ok(Transport::streams(reader, writer))
        }
        Some(("unix", path)) => {
            let stream = UnixStream::connect(path).await.map_err(|error| words(&error))?;
            let (reader, writer) = stream.into_split();
            Ok(Transport::streams(reader, writer))
        }
        Some(("ws" | "wss", _)) => {
            let (incoming, outgoing) = web_socket::connect(url).await?;
            Ok(Transport {
                reader: Reader(Source::WebSocket(Box::new(incoming))),
                writer: Writer(Target::WebSocket(Box::new(outgoing))),
            })
        }
        _ => Err("an address begins with tcp://, unix://, ws:// or wss://".to_owned()),
    }
}

/// Messages are small and wait for answers; and a way that was lost without a word, because a
/// laptop slept or a cable was pulled, must be noticed although nobody speaks.
fn tune(stream: &TcpStream) {
    let tune = || {
        sockopt::set_tcp_nodelay(stream, true)?;
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, Duration::from_secs(30))?;
        sockopt::set_tcp_keepintvl(stream, Duration::from_secs(10))?;
        sockopt::set_tcp_keepcnt(stream, 3)
    };
    if let Err(error) = tune() {
        tracing::debug!(%error, "a socket could not be tuned");
    }
}

/// An address without what may be secret in it: passwords and tokens.
fn public_part(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some(("unix", _)) | None => url.to_owned(),
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
    }
}

/// The direction from the agent.
pub struct Reader(Source);

enum Source {
    Stream(Box<dyn AsyncRead + Send + Unpin>, Vec<u8>),
    WebSocket(Box<web_socket::Incoming>),
}

impl Reader {
    /// The next bytes; none when the agent has closed its end. Nothing is lost when the caller
    /// does not wait for the result.
    ///
    /// # Errors
    /// The way is broken.
    pub async fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        match &mut self.0 {
            Source::Stream(stream, buf) => match stream.read(buf).await? {
                0 => Ok(None),
                length => Ok(buf.get(..length).map(<[u8]>::to_vec)),
            },
            Source::WebSocket(incoming) => incoming.read(READ).await,
        }
    }
}

/// The direction to the agent.
pub struct Writer(Target);

enum Target {
    Stream(Box<dyn AsyncWrite + Send + Unpin>),
    WebSocket(Box<web_socket::Outgoing>),
}

impl Writer {
    /// Sends a line, given with its newline.
    ///
    /// # Errors
    /// The way is broken.
    pub async fn write(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Target::Stream(stream) => {
                stream.write_all(line).await?;
                stream.flush().await
            }
            Target::WebSocket(outgoing) => outgoing.write(line).await,
        }
    }

    /// Tells the agent that there will be no more.
    ///
    /// # Errors
    /// The way is broken.
    pub async fn close(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Stream(stream) => stream.shutdown().await,
            Target::WebSocket(outgoing) => outgoing.close().await,
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_way_is_noticed() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        tune(&stream);
        assert!(stream.nodelay().unwrap());
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), Duration::from_secs(30));
    }

    #[test]
    fn secrets_are_not_shown() {
        for (url, shown) in [
            ("tcp://localhost:80", "tcp://localhost:80"),
            ("wss://me:pw@host/acp?token=x#y", "wss://host/acp"),
            ("ws://host?token=x", "ws://host"),
            ("unix:///a@b/c", "unix:///a@b/c"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(public_part(url), shown);
        }
    }
}
