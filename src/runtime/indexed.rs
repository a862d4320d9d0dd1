//! A text in which some lines are found without going through all before them.
//!
//! Knows one text as a file has it. Must not know where it comes from.

use std::sync::Arc;

use crate::session::question::FileRange;

/// How many lines are gone through at most to find one.
const STEP: usize = 64;

/// A text, and where its lines are.
#[derive(Debug, Clone)]
pub(super) struct Indexed {
    /// The text.
    pub(super) text: Arc<str>,
    /// Where every `STEP`th line begins, the first one left out.
    starts: Arc<[usize]>,
}

impl Indexed {
    /// Goes through the whole text once.
    pub(super) fn new(text: Arc<str>) -> Indexed {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = ends.skip(STEP - 1).step_by(STEP).map(|it| it + 1).collect();
        Indexed { text, starts }
    }

    /// The lines of a range, with their endings.
    pub(super) fn lines(&self, range: &FileRange) -> &str {
        let count = |it: u32| usize::try_from(it).unwrap_or(usize::MAX);
        let first = range.line.map_or(0, |it| count(it).saturating_sub(1));
        let start = self.start(first);
        let end = range.limit.map_or(self.text.len(), |it| self.start(first + count(it)));
        self.text.get(start..end).unwrap_or_default()
    }

    /// Where a line begins, counted from 0; the end where there is no such line.
    fn start(&self, line: usize) -> usize {
        let (step, rest) = (line / STEP, line % STEP);
        let near = match step.checked_sub(1).map(|it| self.starts.get(it)) {
            None => 0,
            Some(Some(near)) => *near,
            Some(None) => return self.text.len(),
        };
        let Some(before) = rest.checked_sub(1) else { return near };
        let bytes = self.text.as_bytes().get(near..).unwrap_or_default();
        let end = memchr::memchr_iter(b'\n', bytes).nth(before);
        end.map_or(self.text.len(), |it| near + it + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_that_going_through_all_finds() {
        for count in [0, 1, 2, 63, 64, 65, 127, 128, 129, 200] {
            for end in ["", "no end"] {
                let text: String = (0..count).map(|it| format!("line {it}\r\n")).collect();
                let text = text + end;
                let indexed = Indexed::new(text.as_str().into());
                for line in [None, Some(0), Some(1), Some(2), Some(64), Some(65), Some(130)] {
                    for limit in [None, Some(0), Some(1), Some(63), Some(64), Some(65), Some(999)] {
                        let skipped = line.unwrap_or(1u32).max(1) as usize - 1;
                        let taken = limit.map_or(usize::MAX, |it: u32| it as usize);
                        let lines = text.split_inclusive('\n').skip(skipped).take(taken);
                        let range = FileRange { path: String::new(), line, limit };
                        assert_eq!(indexed.lines(&range), lines.collect::<String>(), "{range:?}");
                    }
                }
            }
        }
    }
}
