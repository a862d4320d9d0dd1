//! The ways to agents that run elsewhere, with real sockets.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use acp_nvim::runtime::transport::{Reader, Transport};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::{TcpListener, UnixListener};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config};

const DEADLINE: Duration = Duration::from_secs(20);

async fn tcp() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Reads until there are so many lines.
async fn lines(reader: &mut Reader, count: usize) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut ends = 0;
    while ends < count {
        let read = timeout(DEADLINE, reader.read()).await.expect("waited in vain");
        let piece = read.unwrap().expect("closed too early");
        ends += piece.iter().filter(|byte| **byte == b'\n').count();
        bytes.extend(piece);
    }
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

async fn closed(reader: &mut Reader) {
    let read = timeout(DEADLINE, reader.read()).await.expect("waited in vain");
    assert_eq!(read.unwrap(), None);
}

async fn refusal(url: &str) -> String {
    Transport::connect(url).await.unwrap_err()
}

/// Gives back every byte until there are no more, then closes.
async fn echo(stream: impl AsyncRead + AsyncWrite) {
    let (mut reader, mut writer) = split(stream);
    tokio::io::copy(&mut reader, &mut writer).await.unwrap();
    writer.shutdown().await.unwrap();
}

async fn echoes(mut transport: Transport) {
    transport.writer.write(b"{\"a\":\"gr\xc3\xbc\xc3\x9fe\"}\n").await.unwrap();
    transport.writer.write(b"{\"b\":2}\n").await.unwrap();
    assert_eq!(lines(&mut transport.reader, 2).await, ["{\"a\":\"grüße\"}", "{\"b\":2}"]);
    // More than all buffers on the way hold: it must be read while it is written.
    let Transport { mut reader, mut writer } = transport;
    let large = format!("\"{}\"\n", "x".repeat(20 << 20));
    let (written, read) = tokio::join!(writer.write(large.as_bytes()), lines(&mut reader, 1));
    written.unwrap();
    assert!(read == [large.trim_end()]);
    writer.close().await.unwrap();
    closed(&mut reader).await;
}

#[tokio::test]
async fn tcp_both_ways() {
    let (listener, address) = tcp().await;
    let server = tokio::spawn(async move { echo(listener.accept().await.unwrap().0).await });
    echoes(Transport::connect(&format!("tcp://{address}")).await.unwrap()).await;
    server.await.unwrap();
}

#[tokio::test]
async fn unix_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = tokio::spawn(async move { echo(listener.accept().await.unwrap().0).await });
    echoes(Transport::connect(&format!("unix://{}", path.display())).await.unwrap()).await;
    server.await.unwrap();
}

#[tokio::test]
async fn in_memory_both_ways() {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(echo(theirs));
    let (reader, writer) = split(ours);
    echoes(Transport::streams(reader, writer)).await;
}

#[tokio::test]
async fn half_lines_come_as_they_are() {
    let (listener, address) = tcp().await;
    let mut transport = Transport::connect(&format!("tcp://{address}/")).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.write_all(b"{\"a\":").await.unwrap();
    let first = transport.reader.read().await.unwrap().unwrap();
    assert_eq!(first, b"{\"a\":");
    server.write_all(b"1}\nlast").await.unwrap();
    drop(server);
    assert_eq!(transport.reader.read().await.unwrap().unwrap(), b"1}\nlast");
    closed(&mut transport.reader).await;
}

#[tokio::test]
async fn nobody_there() {
    let (listener, address) = tcp().await;
    drop(listener);
    for scheme in ["tcp", "ws", "wss"] {
        let url = format!("{scheme}://{address}");
        assert_eq!(refusal(&url).await, format!("cannot reach {url}: connection refused"));
    }
    let folder = tempfile::tempdir().unwrap();
    let url = format!("unix://{}/none", folder.path().display());
    assert_eq!(refusal(&url).await, format!("cannot reach {url}: no such file or directory"));
    for url in ["http://localhost", "localhost:80", ""] {
        let words = "an address begins with tcp://, unix://, ws:// or wss://";
        assert_eq!(refusal(url).await, format!("cannot reach {url}: {words}"));
    }
    assert!(refusal("tcp://localhost").await.starts_with("cannot reach tcp://localhost: "));
    assert!(refusal("ws://").await.starts_with("cannot reach ws://: "));
}

/// The clock of this test runs ahead while nothing happens.
#[tokio::test(start_paused = true)]
async fn somebody_who_does_not_answer() {
    let (_listener, address) = tcp().await;
    let url = format!("ws://{address}/acp");
    let words = refusal(&format!("{url}?token=secret")).await;
    assert_eq!(words, format!("cannot reach {url}: no answer within 10 s"));
}

#[tokio::test]
async fn a_server_that_says_no() {
    let (listener, address) = tcp().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_ne!(stream.read(&mut [0; 4096]).await.unwrap(), 0);
        let answer = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
    });
    let words = refusal(&format!("ws://{address}")).await;
    assert_eq!(words, format!("cannot reach ws://{address}: the server answers 403 Forbidden"));
}

/// A server that has accepted its one client, and that client.
async fn web_socket() -> (WebSocketStream<tokio::net::TcpStream>, Transport) {
    let (listener, address) = tcp().await;
    let url = format!("ws://{address}/acp?x=y");
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        accept(stream).await
    };
    let (server, transport) = tokio::join!(accept, Transport::connect(&url));
    (server, transport.unwrap())
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> WebSocketStream<S> {
    let config = WebSocketConfig::default().max_frame_size(None).max_message_size(None);
    accept_async_with_config(stream, Some(config)).await.unwrap()
}

/// Gives back every text frame.
async fn echo_frames<S: AsyncRead + AsyncWrite + Unpin>(mut server: WebSocketStream<S>) {
    while let Some(Ok(message)) = server.next().await {
        if let Message::Text(text) = message {
            assert!(!text.contains('\n'), "a frame is a message without its line ending");
            server.send(Message::Text(text)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn web_socket_both_ways() {
    let (server, transport) = web_socket().await;
    let server = tokio::spawn(echo_frames(server));
    echoes(transport).await;
    server.await.unwrap();
}

#[tokio::test]
async fn kinds_of_frames() {
    let (mut server, mut transport) = web_socket().await;
    let text = |text: &str| Message::text(text.to_owned());
    for message in [
        Message::Ping(Bytes::from_static(b"are you there")),
        Message::Binary(Bytes::from_static(b"{\"binary\":true}")),
        text("{\"one\":1}\n{\"two\":2}"),
        text(""),
        text("{\n  \"three\": 3\n}\n"),
    ] {
        server.send(message).await.unwrap();
    }
    let read = lines(&mut transport.reader, 4).await;
    assert_eq!(read, ["{\"one\":1}", "{\"two\":2}", "", "{   \"three\": 3 }"]);
    let pong = timeout(DEADLINE, server.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(pong, Message::Pong(Bytes::from_static(b"are you there")));
    server.close(None).await.unwrap();
    closed(&mut transport.reader).await;
}

/// A message comes in pieces that are no larger than those of a pipe.
#[tokio::test]
async fn a_large_frame_in_pieces() {
    let (mut server, mut transport) = web_socket().await;
    let frame = format!("{{\"a\":\"{}\"}}", "x".repeat(20 << 20));
    let sent = frame.clone();
    let server = tokio::spawn(async move {
        server.send(Message::text(sent)).await.unwrap();
        server
    });
    let mut read = Vec::new();
    while read.last() != Some(&b'\n') {
        let piece = timeout(DEADLINE, transport.reader.read()).await.unwrap().unwrap().unwrap();
        assert!(piece.len() <= 64 << 10);
        read.extend(piece);
    }
    read.pop();
    assert!(read == frame.as_bytes());
    // A server that goes without goodbye is gone all the same.
    drop(server.await.unwrap());
    let end = timeout(DEADLINE, transport.reader.read()).await.unwrap();
    assert!(!matches!(end, Ok(Some(_))), "{end:?}");
}

/// A certificate of an authority that only this test knows.
const AUTHORITY: &str = "ACP_TEST_AUTHORITY";

#[tokio::test]
async fn web_socket_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let authority = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec![]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = params.self_signed(&authority).unwrap();
    let issuer = rcgen::Issuer::new(params, authority);
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let (listener, address) = tcp().await;
    let server = tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // One client does not trust us.
            if let Ok(stream) = acceptor.accept(stream).await {
                echo_frames(accept(stream).await).await;
            }
        }
    });
    let url = format!("wss://localhost:{}", address.rsplit(':').next().unwrap());
    let pem = folder.path().join("root.pem");
    std::fs::write(&pem, root.pem()).unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    // Whom a process trusts is in its environment.
    let client = move || {
        let mut client = Command::new(std::env::current_exe().unwrap());
        client.args(["--exact", "client_over_tls"]).env(AUTHORITY, url);
        client.env("SSL_CERT_FILE", pem).env("SSL_CERT_DIR", empty);
        client.output().unwrap()
    };
    let output = tokio::task::spawn_blocking(client).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let port = address.rsplit(':').next().unwrap();
    let words = refusal(&format!("wss://localhost:{port}")).await;
    assert!(words.contains("certificate"), "{words}");
    server.abort();
}

/// The other process of the test above. By itself it has nothing to do.
#[tokio::test]
async fn client_over_tls() {
    if let Ok(url) = std::env::var(AUTHORITY) {
        echoes(Transport::connect(&url).await.unwrap()).await;
        let wrong = url.replace("localhost", "127.0.0.1");
        let words = refusal(&wrong).await;
        assert!(words.contains("certificate"), "{words}");
    }
}
