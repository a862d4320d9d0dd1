//! Thoughts: one row that says how long they are and took, and below it what was thought if the
//! user wants to know.

use super::message::{Body, Grown};
use super::{Block, Line, Scene, words};
use crate::session::message::Message;
use crate::view::model::Group;

/// What is shown of a thought.
#[derive(Debug, Default)]
pub(in crate::view) struct Thought {
    count: Count,
    /// What was thought; none while it is closed.
    pub(in crate::view) body: Option<Box<Body>>,
}

/// How many words there are in a text that grows.
#[derive(Debug, Default)]
struct Count {
    words: usize,
    read: usize,
    /// The text read so far ends within a word.
    within: bool,
}

impl Thought {
    /// A thought of which nothing is shown yet.
    pub(in crate::view) fn new(scene: &Scene, index: usize) -> Thought {
        let body = scene.opened.is_open(index).then(|| Box::new(Body::new(scene, INDENT)));
        Thought { count: Count::default(), body }
    }

    /// Takes in what is new: the first row, and what the others grow by.
    pub(in crate::view) fn grow(
        &mut self,
        scene: &Scene,
        (index, message): (usize, &Message),
    ) -> (Block, Option<Grown>) {
        self.count.read(&message.text);
        let mut row = Block::default();
        row.push(self.row(scene, (index, message)), index);
        let grown = self.body.as_mut().map(|body| body.grow(scene, (index, message)));
        (row, grown.flatten())
    }

    fn row(&self, scene: &Scene, (index, message): (usize, &Message)) -> Line {
        let marks = scene.marks();
        let over = scene.is_over(index);
        let until = if over { message.spoke } else { scene.session.now };
        let elapsed = words::elapsed(until.saturating_sub(message.began), false);
        let mark = if self.body.is_some() { marks.open } else { marks.closed };
        let what = match (over, &elapsed) {
            (true, Some(elapsed)) => format!("Thought for {elapsed}"),
            (true, None) => "Thought".to_owned(),
            (false, Some(elapsed)) => format!("Thinking{} {elapsed}", marks.dots),
            (false, None) => format!("Thinking{}", marks.dots),
        };
        let length = words::counted(self.count.words, "word");
        Line::of(format!("{mark}{what}{}{length}", marks.dot), Group::Thought)
    }
}

/// What stands before each row of a thought.
const INDENT: &str = "  ";

impl Count {
    fn read(&mut self, text: &str) {
        for char in text.get(self.read..).unwrap_or_default().chars() {
            let within = !char.is_whitespace();
            if within && !self.within {
                self.words += 1;
            }
            self.within = within;
        }
        self.read = text.len();
    }
}
