//! Our end of the wire to one run of an agent: bytes in, events out; effects in, lines out.

use super::decode;
use super::encode;
use super::frame::{Frame, Framer};
use super::memory::Memory;
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
    memory: Memory,
}

impl Peer {
    /// The peer of a new connection.
    pub fn new(connection: ConnectionId) -> Peer {
        let (framer, pending, memory) = Default::default();
        Peer { connection, framer, pending, memory }
    }

    /// Reads bytes from the agent; each message that is complete now becomes something that
    /// happened. A message can tell several things.
    pub fn receive(&mut self, bytes: &[u8], each: &mut dyn FnMut(Happened)) {
        let Peer { connection, framer, pending, memory } = self;
        let mut reader = Reader { connection: *connection, pending, memory };
        framer.feed(bytes, |frame| reader.frame(frame, each));
    }

    /// The stream has ended; a last line without its newline counts.
    pub fn finish(&mut self, each: &mut dyn FnMut(Happened)) {
        let Peer { connection, framer, pending, memory } = self;
        let mut reader = Reader { connection: *connection, pending, memory };
        framer.finish(|frame| reader.frame(frame, each));
    }

    /// One of our requests, as a line to send.
    pub fn call(&mut self, call: Call) -> Vec<u8> {
        if let Call::Prompt { remote, .. } = &call {
            self.memory.current = Some(remote.clone());
        }
        encode::call(call, &mut self.pending)
    }

    /// `session/cancel`, as a line to send.
    pub fn cancel_turn(&self, remote: RemoteId) -> Vec<u8> {
        encode::cancel_turn(remote)
    }

    /// `$/cancel_request` for the open `authenticate`, as a line to send; none when no login is
    /// open. Its answer still comes, one way or the other.
    pub fn cancel_login(&self) -> Option<Vec<u8>> {
        self.pending.login().map(encode::cancel_request)
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
    memory: &'a mut Memory,
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
        let text = rpc::repaired(line);
        rpc::read(&text, &mut |message| match message {
            Ok(message) => self.message(message, each),
            Err(error) => {
                let line = start_of(&text);
                tracing::warn!(connection = %self.connection, %error, line, "skipped");
                each(Happened::Printed(line));
            }
        });
    }

    fn message(&mut self, message: Message<'_>, each: &mut dyn FnMut(Happened)) {
        match message {
            Message::Request { id, method, params } => {
                // Told as a question: it is heard, and the question gets its answer.
                if decode::is_notification(method) {
                    decode::notification(method, params, self.memory, each);
                }
                let request = decode::request(id, method, params, self.memory);
                let reply = ReplyTo { connection: self.connection, id: id.get().into() };
                each(Happened::Requested { reply, request });
            }
            Message::Notification { method, params } => {
                decode::notification(method, params, self.memory, each);
            }
            Message::Response { id, result } => {
                match rpc::our_id(id).and_then(|id| self.pending.close(id)) {
                    Some(expected) => {
                        each(Happened::Answered(decode::answer(expected, result, self.memory)));
                    }
                    None => {
                        tracing::warn!(connection = %self.connection, id = id.get(), "an answer to nothing: skipped");
                        each(Happened::Unrecognized);
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
