//! The wire: lines in, bytes out, and the agent's own requests until they are answered.
//!
//! It knows newlines, ids and back-pressure; it must not know methods or scenarios.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use super::message::{Answer, text};
use super::model::Model;

/// Output that waits for a slow reader: enough to keep the pipe busy, little enough that a cancelled
/// flood stops soon.
const QUEUE: usize = 64;
/// So much is written at once.
const BATCH: usize = 256 * 1024;
/// A client that reads nothing must not keep us from ending.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// Cuts input into lines, however it is chunked.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    buf: Vec<u8>,
    /// How much of `buf` is known to have no newline.
    scanned: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, buf: Vec::new(), scanned: 0 }
    }

    /// The next line that is not blank, without its end; `None` at the end of input. Nothing is lost
    /// when the future is dropped.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let unscanned = self.buf.get(self.scanned..).unwrap_or_default();
            let mut line = match memchr::memchr(b'\n', unscanned) {
                Some(at) => {
                    let rest = self.buf.split_off(self.scanned + at + 1);
                    self.scanned = 0;
                    std::mem::replace(&mut self.buf, rest)
                }
                None => {
                    self.scanned = self.buf.len();
                    self.buf.reserve(8 * 1024);
                    if self.input.read_buf(&mut self.buf).await? > 0 {
                        continue;
                    }
                    if self.buf.is_empty() {
                        return Ok(None);
                    }
                    self.scanned = 0;
                    std::mem::take(&mut self.buf)
                }
            };
            // In place: lines can be long.
            line.truncate(line.trim_ascii_end().len());
            line.drain(..line.len() - line.trim_ascii_start().len());
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

enum Outgoing {
    Bytes(Arc<[u8]>),
    Flush(oneshot::Sender<()>),
    Close,
}

/// Takes what the [`Peer`] sends. Errors only mean that nobody reads any more.
pub(crate) struct Writer<W> {
    output: Option<W>,
    queue: mpsc::Receiver<Outgoing>,
    chop: usize,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(crate) async fn run(mut self) {
        let mut held_back = None;
        loop {
            let outgoing = match held_back.take() {
                Some(outgoing) => outgoing,
                None => match self.queue.recv().await {
                    Some(outgoing) => outgoing,
                    None => return,
                },
            };
            let outgoing = self.gather(outgoing, &mut held_back);
            let Some(output) = &mut self.output else { continue };
            let written = match outgoing {
                Outgoing::Bytes(bytes) => write(output, &bytes, self.chop).await,
                Outgoing::Flush(done) => {
                    // Every batch is flushed, so that nothing is left before this one.
                    done.send(()).ok();
                    Ok(())
                }
                Outgoing::Close => {
                    output.shutdown().await.ok();
                    Err(io::ErrorKind::BrokenPipe.into())
                }
            };
            let flushed = match written {
                Ok(()) => output.flush().await,
                Err(error) => Err(error),
            };
            if flushed.is_err() {
                self.output = None;
            }
        }
    }

    /// Joins what is queued already: one write for many short lines is much cheaper.
    fn gather(&mut self, first: Outgoing, held_back: &mut Option<Outgoing>) -> Outgoing {
        let Outgoing::Bytes(first) = first else { return first };
        let mut joined = Vec::new();
        while joined.len() < BATCH {
            match self.queue.try_recv() {
                Ok(Outgoing::Bytes(bytes)) => {
                    if joined.is_empty() {
                        joined.extend_from_slice(&first);
                    }
                    joined.extend_from_slice(&bytes);
                }
                Ok(other) => {
                    *held_back = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        Outgoing::Bytes(if joined.is_empty() { first } else { joined.into() })
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &mut W, bytes: &[u8], chop: usize) -> io::Result<()> {
    if chop == usize::MAX {
        return output.write_all(bytes).await;
    }
    for piece in bytes.chunks(chop) {
        output.write_all(piece).await?;
        output.flush().await?;
    }
    Ok(())
}

/// The client, seen from here.
#[derive(Debug)]
pub(crate) struct Peer {
    outgoing: mpsc::Sender<Outgoing>,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    next_id: u64,
    open: Vec<Open>,
    answered: HashSet<String>,
    /// An answer to one of many, which those to the others are expected to be like.
    model: Option<Model>,
}

/// A request of ours that waits for its answer.
#[derive(Debug)]
pub(crate) struct Open {
    id: String,
    pub(crate) question: Question,
    asked: Instant,
    asker: Asker,
}

#[derive(Debug)]
enum Asker {
    /// Of one thing.
    One(oneshot::Sender<Answer>),
    /// Of many.
    Many(mpsc::UnboundedSender<Arrival>),
}

/// An answer to one of many requests.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) took: Duration,
    /// `None`: as one that came before.
    pub(crate) answer: Option<Answer>,
}

impl Open {
    pub(crate) fn is_one_of_many(&self) -> bool {
        matches!(self.asker, Asker::Many(_))
    }

    /// Brings the answer to whoever waits for it; they may have been cancelled since.
    pub(crate) fn answer(self, answer: Answer, at: Instant) {
        match self.asker {
            Asker::One(asker) => drop(asker.send(answer)),
            Asker::Many(asker) => {
                let took = at.saturating_duration_since(self.asked);
                asker.send(Arrival { took, answer: Some(answer) }).ok();
            }
        }
    }
}

/// What was asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) method: String,
    pub(crate) params: Value,
    /// The client cancelled the turn before it answered.
    pub(crate) cancelled: bool,
}

/// An answer that belongs to no open request.
#[derive(Debug)]
pub(crate) enum Stray {
    /// There was an answer before.
    Twice,
    /// Nobody asked.
    Unasked,
}

impl Peer {
    pub(crate) fn new<W>(output: W, chop: Option<usize>) -> (Self, Writer<W>) {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let chop = chop.unwrap_or(usize::MAX);
        (Self { outgoing, asked: Mutex::default() }, Writer { output: Some(output), queue, chop })
    }

    /// Queues bytes as they are. Never tears them when the caller is dropped.
    pub(crate) async fn send(&self, bytes: Arc<[u8]>) {
        // It fails only while everything ends.
        self.outgoing.send(Outgoing::Bytes(bytes)).await.ok();
    }

    /// Queues a message.
    pub(crate) async fn send_json(&self, message: &Value) {
        self.send(format!("{message}\n").into_bytes().into()).await;
    }

    /// Asks the client; the id is sent exactly as given.
    pub(crate) async fn request(
        &self,
        id: Option<&RawValue>,
        method: &str,
        params: Value,
    ) -> oneshot::Receiver<Answer> {
        let (asker, receiver) = oneshot::channel();
        let text = params.to_string();
        let question = Question { method: method.to_owned(), params, cancelled: false };
        self.ask(self.open(id, question, Asker::One(asker)), &text).await;
        receiver
    }

    /// Asks one of many things; `params` are those of the question, written out and complete.
    pub(crate) async fn request_one_of_many(
        &self,
        question: Question,
        params: &str,
        asker: mpsc::UnboundedSender<Arrival>,
    ) {
        self.ask(self.open(None, question, Asker::Many(asker)), params).await;
    }

    fn open(&self, id: Option<&RawValue>, question: Question, asker: Asker) -> Open {
        let mut asked = self.lock();
        let id = id.map_or_else(|| asked.next_id.to_string(), |id| id.get().to_owned());
        asked.next_id += 1;
        Open { id, question, asked: Instant::now(), asker }
    }

    async fn ask(&self, mut open: Open, params: &str) {
        let (id, method) = (&open.id, Value::from(open.question.method.as_str()));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}\n"
        );
        let line = line.into_bytes().into();
        // Not before: it takes its time to write down a long one.
        open.asked = Instant::now();
        self.lock().open.push(open);
        self.send(line).await;
    }

    /// The request that this id is of, which is open no more.
    pub(crate) fn take(&self, id: &RawValue) -> Result<Open, Stray> {
        let mut asked = self.lock();
        let Some(at) = asked.open.iter().position(|open| open.id == id.get()) else {
            let twice = asked.answered.contains(id.get());
            return Err(if twice { Stray::Twice } else { Stray::Unasked });
        };
        let open = asked.open.remove(at);
        asked.answered.insert(open.id.clone());
        Ok(open)
    }

    /// Begins to ask many things.
    pub(crate) fn forget_model(&self) {
        self.lock().model = None;
    }

    /// The answers to come may look like this good one.
    pub(crate) fn keep_model(&self, line: &[u8], id: &RawValue) {
        let mut asked = self.lock();
        if asked.model.is_none() {
            asked.model = Model::of(line, id.get());
        }
    }

    /// Takes an answer to one of many that is as the first of them; it need not be read again.
    /// `false`: it is something else.
    pub(crate) fn answer_again(&self, line: &[u8], at: Instant) -> bool {
        let mut asked = self.lock();
        let Some(id) = asked.model.as_ref().and_then(|model| model.id_of(line)) else {
            return false;
        };
        let is_it = |open: &Open| open.id == id && matches!(open.asker, Asker::Many(_));
        let Some(place) = asked.open.iter().position(is_it) else { return false };
        let open = asked.open.remove(place);
        if let Asker::Many(asker) = open.asker {
            let took = at.saturating_duration_since(open.asked);
            asker.send(Arrival { took, answer: None }).ok();
        }
        asked.answered.insert(open.id);
        true
    }

    /// Remembers that the client cancelled while requests of the session were open.
    pub(crate) fn cancel_session(&self, session_id: &str) {
        for Open { question, .. } in &mut self.lock().open {
            question.cancelled |= text(&question.params, "sessionId") == Some(session_id);
        }
    }

    /// The methods of all requests that are still open.
    pub(crate) fn unanswered(&self) -> Vec<String> {
        let asked = self.lock();
        let describe = |open: &Open| format!("`{}` (id {})", open.question.method, open.id);
        asked.open.iter().map(describe).collect()
    }

    /// Waits until everything sent so far is in the pipe, but not for ever.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        let flush = async {
            self.outgoing.send(Outgoing::Flush(done)).await.ok();
            flushed.await.ok();
        };
        tokio::time::timeout(FLUSH_LIMIT, flush).await.ok();
    }

    /// Ends the output.
    pub(crate) async fn close(&self) {
        self.flush().await;
        self.outgoing.send(Outgoing::Close).await.ok();
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
