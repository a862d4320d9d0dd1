//! Many requests, and how long the client takes for each.
//!
//! It knows clocks and counts; that answers which are alike are not read again is known to the
//! wire.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::player::Player;
use crate::tutor::message::Answer;
use crate::tutor::peer::{Arrival, Question};
use crate::tutor::scenario::step::{Edit, Requests};
use crate::tutor::template::expand_text;

impl Player {
    pub(super) async fn requests(&self, it: &Requests) {
        let peer = &self.connection.peer;
        let mut params = self.request_params(&it.method, it.params.as_ref());
        let mut text = it.edit.as_ref().map(|edit| Growing::new(edit, &params));
        let mut written = params.to_string();
        let (asker, mut arrivals) = mpsc::unbounded_channel();
        let mut tally = Tally::default();
        peer.forget_model();
        for count in 1..=it.times {
            self.scope().locals.insert("i".to_owned(), json!(count));
            if let (Some(text), Some(edit)) = (&mut text, &it.edit)
                && let Value::Object(entries) = &mut params
            {
                let grown = text.grow(&expand_text(&edit.add, self));
                entries.insert(edit.param.clone(), Value::from(grown));
                written = params.to_string();
            }
            while tally.open >= it.in_flight.unwrap_or(1) {
                tally.take(arrivals.recv().await);
            }
            let params = json!({"sessionId": params.get("sessionId")});
            let question = Question { method: it.method.clone(), params, cancelled: false };
            tally.open += 1;
            peer.request_one_of_many(question, &written, asker.clone()).await;
        }
        while tally.open > 0 {
            tally.take(arrivals.recv().await);
        }
        self.connection.set_variable(&it.save, tally.outcome());
    }
}

/// What came back so far.
#[derive(Default)]
struct Tally {
    open: usize,
    took: Vec<Duration>,
    /// The first that was no error.
    result: Option<Value>,
    different: u64,
    failed: u64,
    error: Value,
}

impl Tally {
    fn take(&mut self, arrival: Option<Arrival>) {
        self.open -= 1;
        // We keep a sender ourselves, so that there always is one.
        let Some(Arrival { took, answer }) = arrival else { return };
        self.took.push(took);
        match answer {
            None => {}
            Some(Answer::Error(error)) => {
                self.failed += 1;
                self.error = error;
            }
            Some(Answer::Result(result)) => match &self.result {
                Some(first) => self.different += u64::from(*first != result),
                None => self.result = Some(result),
            },
        }
    }

    fn outcome(mut self) -> Value {
        self.took.sort_unstable();
        // The least that so many percent are not above.
        let microseconds = |percent: usize| {
            let rank = (self.took.len() * percent).div_ceil(100).saturating_sub(1);
            self.took.get(rank).map_or(0, Duration::as_micros)
        };
        json!({
            "count": self.took.len(),
            "failed": self.failed,
            "error": self.error,
            "different": self.different,
            "p50_us": u64::try_from(microseconds(50)).unwrap_or(u64::MAX),
            "p99_us": u64::try_from(microseconds(99)).unwrap_or(u64::MAX),
            "max_us": u64::try_from(microseconds(100)).unwrap_or(u64::MAX),
            "result": self.result,
        })
    }
}

/// A text that is edited again and again.
struct Growing {
    lines: Vec<String>,
    at: usize,
    every: usize,
}

impl Growing {
    fn new(edit: &Edit, params: &Value) -> Self {
        let text = params[&edit.param].as_str().unwrap_or_default();
        let lines = text.split_inclusive('\n').map(str::to_owned).collect();
        Self { lines, at: 0, every: edit.every }
    }

    /// Adds to the end of the next line in turn, and gives the whole.
    fn grow(&mut self, add: &str) -> String {
        self.at = (self.at + self.every) % self.lines.len().max(1);
        if let Some(line) = self.lines.get_mut(self.at) {
            line.insert_str(line.trim_end_matches('\n').len(), add);
        }
        self.lines.concat()
    }
}
