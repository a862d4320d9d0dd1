//! What text in a terminal looks like, in the sixteen colours that every terminal has.
//!
//! A highlight group is a colour of the user's choice; of others the nearest is taken.

use super::sequence::Number;
use crate::view::model::Group;

const COLOURS: [Group; 16] = [
    Group::Ansi0,
    Group::Ansi1,
    Group::Ansi2,
    Group::Ansi3,
    Group::Ansi4,
    Group::Ansi5,
    Group::Ansi6,
    Group::Ansi7,
    Group::Ansi8,
    Group::Ansi9,
    Group::Ansi10,
    Group::Ansi11,
    Group::Ansi12,
    Group::Ansi13,
    Group::Ansi14,
    Group::Ansi15,
];

/// What the colours commonly are.
const RGB: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// How the next character is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pen {
    fore: Option<u8>,
    back: Option<u8>,
    bold: bool,
    italic: bool,
    underline: bool,
    reverse: bool,
    strike: bool,
}

impl Pen {
    /// The groups that say it.
    pub(super) fn groups(self) -> impl Iterator<Item = Group> {
        // There are no groups for grounds: a text that stands on a colour is shown in that colour
        // with the two exchanged, which looks the same and can be read on every ground.
        let (colour, reverse) = match self.back {
            Some(back) => (Some(back), true),
            None => (self.fore, self.reverse),
        };
        let colour = colour.and_then(|colour| COLOURS.get(usize::from(colour)).copied());
        let rest = [
            (self.bold, Group::Bold),
            (self.italic, Group::Italic),
            (self.underline, Group::Underline),
            (reverse, Group::Reverse),
            (self.strike, Group::Strikeout),
        ];
        colour.into_iter().chain(rest.into_iter().filter(|(on, _)| *on).map(|(_, group)| group))
    }

    /// Takes the numbers of a sequence that selects how to write.
    pub(super) fn set(&mut self, numbers: &[Number]) {
        if numbers.is_empty() {
            *self = Pen::default();
        }
        let mut rest = numbers;
        while let Some((number, after)) = rest.split_first() {
            let more = after.iter().take_while(|it| it.more).count();
            let (own, others) = after.split_at_checked(more).unwrap_or_default();
            rest = others;
            match number.value {
                colour @ (38 | 48 | 58) => {
                    let (found, used) = extended(own, others);
                    rest = others.get(used..).unwrap_or_default();
                    match colour {
                        38 => self.fore = found.or(self.fore),
                        48 => self.back = found.or(self.back),
                        _ => {}
                    }
                }
                // The sort of line; 0 is none.
                4 => self.underline = own.first().is_none_or(|it| it.value != 0),
                number => self.set_one(number),
            }
        }
    }

    fn set_one(&mut self, number: u32) {
        let small = |from: u32, to: u8| u8::try_from(number - from).ok().map(|it| it + to);
        match number {
            0 => *self = Pen::default(),
            1 => self.bold = true,
            3 => self.italic = true,
            21 => self.underline = true,
            7 => self.reverse = true,
            9 => self.strike = true,
            22 => self.bold = false,
            23 => self.italic = false,
            24 => self.underline = false,
            27 => self.reverse = false,
            29 => self.strike = false,
            30..=37 => self.fore = small(30, 0),
            39 => self.fore = None,
            40..=47 => self.back = small(40, 0),
            49 => self.back = None,
            90..=97 => self.fore = small(90, 8),
            100..=107 => self.back = small(100, 8),
            _ => {}
        }
    }
}

/// A colour of many, told by the numbers that belong to this one or, as most programs do it, by those
/// that come after it; and how many of the latter it takes.
fn extended(own: &[Number], others: &[Number]) -> (Option<u8>, usize) {
    let bytes = |numbers: &[Number]| -> Vec<u8> {
        numbers.iter().take(5).map(|it| u8::try_from(it.value).unwrap_or(u8::MAX)).collect()
    };
    match (&*bytes(own), &*bytes(others)) {
        // The number of a colour space may come first, and mostly nothing stands there.
        ([2, _, red, green, blue] | [2, red, green, blue], _) => {
            (Some(nearest((*red, *green, *blue))), 0)
        }
        ([5, index, ..], _) => (Some(indexed(*index)), 0),
        ([], [2, red, green, blue, ..]) => (Some(nearest((*red, *green, *blue))), 4),
        ([], [5, index, ..]) => (Some(indexed(*index)), 2),
        // Half a colour: what is left of it means nothing.
        ([], others) => (None, others.len()),
        _ => (None, 0),
    }
}

/// One of 256 colours: the sixteen, a cube of six by six by six, and greys.
fn indexed(index: u8) -> u8 {
    let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    match index {
        0..=15 => index,
        16..=231 => {
            let it = index - 16;
            nearest((level(it / 36), level(it / 6 % 6), level(it % 6)))
        }
        232..=255 => {
            let grey = 8 + (index - 232) * 10;
            nearest((grey, grey, grey))
        }
    }
}

fn nearest((red, green, blue): (u8, u8, u8)) -> u8 {
    let distance = |(r, g, b): &(u8, u8, u8)| {
        let square = |one: u8, other: u8| u32::from(one.abs_diff(other)).pow(2);
        // Eyes tell greens apart best, and blues worst.
        3 * square(red, *r) + 4 * square(green, *g) + 2 * square(blue, *b)
    };
    let found = (0..).zip(&RGB).min_by_key(|(_, colour)| distance(colour));
    found.map_or(7, |(index, _)| index)
}
