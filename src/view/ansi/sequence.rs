//! Where text ends and what is meant for the terminal begins (ECMA-48).

/// How many numbers of a sequence are kept, and how many are enough for every colour.
const NUMBERS: usize = 32;

/// What a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Text.
    Text,
    /// A control character.
    Control,
    /// Part of a sequence.
    Nothing,
    /// The last character of a control sequence; its numbers can be had now.
    Csi,
}

/// One number of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Number {
    pub(super) value: u32,
    /// It says more about the number before it.
    pub(super) more: bool,
}

/// How far a sequence is.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    state: State,
    numbers: Vec<Number>,
    /// Whether it is one of those that are private or have intermediate characters.
    odd: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After an escape and characters that say which sort: one more ends it.
    Designate,
    Csi,
    /// A string for the terminal; a title and the like ends with its line at the latest.
    Text {
        title: bool,
    },
}

impl Sequence {
    /// Takes in the next character.
    pub(super) fn hear(&mut self, it: char) -> Heard {
        if self.state == State::Ground && it >= ' ' && !('\u{7f}'..='\u{9f}').contains(&it) {
            return Heard::Text;
        }
        match it {
            '\x1b' => self.enter(State::Escape),
            // Cancel and substitute end whatever was begun.
            '\x18' | '\x1a' => self.enter(State::Ground),
            '\u{9b}' => self.enter(State::Csi),
            '\u{9d}' => self.enter(State::Text { title: true }),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => self.enter(State::Text { title: false }),
            _ => match self.state {
                State::Ground => Heard::Control,
                State::Escape => self.escape(it),
                State::Designate => self.designate(it),
                State::Csi => self.csi(it),
                State::Text { title } => self.text(it, title),
            },
        }
    }

    /// The numbers of the sequence that has just ended.
    pub(super) fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    fn enter(&mut self, state: State) -> Heard {
        self.state = state;
        self.numbers.clear();
        self.odd = false;
        Heard::Nothing
    }

    fn escape(&mut self, it: char) -> Heard {
        match it {
            '[' => self.enter(State::Csi),
            ']' => self.enter(State::Text { title: true }),
            'P' | 'X' | '^' | '_' => self.enter(State::Text { title: false }),
            ' '..='/' => self.enter(State::Designate),
            _ => self.abandon(it),
        }
    }

    fn designate(&mut self, it: char) -> Heard {
        if (' '..='/').contains(&it) { Heard::Nothing } else { self.abandon(it) }
    }

    fn csi(&mut self, it: char) -> Heard {
        match it {
            '0'..='9' => {
                let digit = it as u32 - '0' as u32;
                if self.numbers.is_empty() {
                    self.numbers.push(Number::default());
                }
                if let Some(Number { value, .. }) = self.numbers.last_mut() {
                    *value = value.saturating_mul(10).saturating_add(digit);
                }
                Heard::Nothing
            }
            ';' | ':' => {
                if self.numbers.is_empty() {
                    self.numbers.push(Number::default());
                }
                if self.numbers.len() < NUMBERS {
                    self.numbers.push(Number { value: 0, more: it == ':' });
                }
                Heard::Nothing
            }
            ' '..='/' | '<'..='?' => {
                self.odd = true;
                Heard::Nothing
            }
            '@'..='~' => {
                self.state = State::Ground;
                if self.odd { Heard::Nothing } else { Heard::Csi }
            }
            // Terminals obey control characters in the middle of a sequence.
            '\r' | '\n' | '\u{8}' | '\t' => Heard::Control,
            _ => self.abandon(it),
        }
    }

    fn text(&mut self, it: char, title: bool) -> Heard {
        match it {
            '\u{9c}' => self.enter(State::Ground),
            '\x07' if title => self.enter(State::Ground),
            '\n' if title => {
                self.enter(State::Ground);
                Heard::Control
            }
            _ => Heard::Nothing,
        }
    }

    /// Ends a sequence with a character that is its last one, or that was never part of it.
    fn abandon(&mut self, it: char) -> Heard {
        self.enter(State::Ground);
        match it {
            '\r' | '\n' => Heard::Control,
            _ if it.is_ascii() || it.is_control() => Heard::Nothing,
            _ => Heard::Text,
        }
    }
}
