//! Our end of the wire to one run of an agent: bytes in, events out; effects in, lines out.

use super::decode::{self, Names};
use super::encode;
use super::frame::{Frame, Framer};
use super::pending::Pending;
use super::rpc::{self, Message};
use crate::session::effect::{Call, Reply};
use crate::session::event::Happened;
use crate::session::failure::RpcError;
use crate::session::ids::{ConnectionId, RemoteId, ReplyTo};

/// What one connection has to remember between messages.
#[derive(Debug)]
pub struct Peer {
    connection: ConnectionId,
    framer: Framer,
    pending: Pending,
    names: Names,
}

impl Peer {
    /// The peer of a new connection.
    pub fn new(connection: ConnectionId) -> Peer {
        let (framer, pending, names) = Default::default();
        Peer { connection, framer, pending, names }
    }

    /// Reads bytes from the agent; each message that is complete now becomes something that
    /// happened.
    pub fn receive(&mut self, bytes: &[u8], each: &mut dyn FnMut(Happened)) {
        let Peer { connection, framer, pending, names } = self;
        let mut reader = Reader { connection: *connection, pending, names };
        framer.feed(bytes, |frame| reader.frame(frame, each));
    }

    /// The stream has ended; a last line without its newline counts.
    pub fn finish(&mut self, each: &mut dyn FnMut(Happened)) {
        let Peer { connection, framer, pending, names } = self;
        let mut reader = Reader { connection: *connection, pending, names };
        framer.finish(|frame| reader.frame(frame, each));
    }

    /// One of our requests, as a line to send.
    pub fn call(&mut self, call: Call) -> Vec<u8> {
        encode::call(call, &mut self.pending)
    }

    /// `session/cancel`, as a line to send.
    pub fn cancel_turn(&self, remote: RemoteId) -> Vec<u8> {
        encode::cancel_turn(remote)
    }

    /// Our answer to a request of the agent, as a line to send.
    pub fn reply(&self, reply: ReplyTo, answer: &Result<Reply, RpcError>) -> Vec<u8> {
        encode::reply(&reply, answer)
    }
}

/// The parts of a peer that reading a line needs, apart from the framer that holds the line.
struct Reader<'a> {
    connection: ConnectionId,
    pending: &'a mut Pending,
    names: &'a mut Names,
}

impl Reader<'_> {
    fn frame(&mut self, frame: Frame<'_>, each: &mut dyn FnMut(Happened)) {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(bytes) => {
                tracing::warn!(connection = %self.connection, bytes, "a line was too long: skipped");
                return each(Happened::Unrecognized);
            }
        };
        let text = String::from_utf8_lossy(line);
        rpc::read(&text, &mut |message| match message {
            Ok(message) => each(self.message(message)),
            Err(error) => {
                tracing::warn!(connection = %self.connection, %error, line = %start_of(&text), "skipped");
                each(Happened::Unrecognized);
            }
        });
    }

    fn message(&mut self, message: Message<'_>) -> Happened {
        match message {
            Message::Request { id, method, params } => {
                let reply = ReplyTo { connection: self.connection, id: id.get().into() };
                Happened::Requested { reply, request: decode::request(method, params) }
            }
            Message::Notification { method, params } => {
                decode::notification(method, params, self.names).unwrap_or_else(|error| {
                    tracing::warn!(connection = %self.connection, method, %error, "skipped");
                    Happened::Unrecognized
                })
            }
            Message::Response { id, result } => {
                match rpc::our_id(id).and_then(|id| self.pending.close(id)) {
                    Some(expected) => Happened::Answered(decode::answer(expected, result)),
                    None => {
                        tracing::warn!(connection = %self.connection, id = id.get(), "an answer to nothing: skipped");
                        Happened::Unrecognized
                    }
                }
            }
        }
    }
}

/// Enough of a line to recognise it in the log.
fn start_of(line: &str) -> String {
    line.chars().take(200).collect()
}
