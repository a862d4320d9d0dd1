//! Lines that both sides changed, put together word by word.

use std::ops::Range;

use super::regions::{Who, regions};
use crate::changes::script::{Slide, Stretch, script};
use crate::changes::tokens::tokens;
use crate::changes::words::{Tokens, is_blank};

/// How many bytes are looked at word by word. In more than that nobody would find what we did.
const MOST: usize = 64 << 10;

/// What both sides made of `base`, if they changed different words, with a character between them
/// that stays.
///
/// Where one side left less than half of the words it has written something else, and what is
/// still the same is so by chance: then there is nothing to go by.
pub(super) fn merge_words(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if base.len().max(ours.len()).max(theirs.len()) > MOST {
        return None;
    }
    // Words that are gone altogether can't have stayed: that is cheaper to find out.
    let words = Tokens::of(base);
    let half = words.weight.div_ceil(2);
    if half == 0 || [ours, theirs].iter().any(|it| words.shared(&Tokens::of(it)) < half) {
        return None;
    }
    let (base, ours, theirs) = (tokens(base), tokens(ours), tokens(theirs));
    // Upwards, or what is added to an indent would touch the word behind it.
    let our_script = script(&base, &ours, Slide::Up);
    let their_script = script(&base, &theirs, Slide::Up);
    let gone = |script: &[Stretch]| -> usize {
        let gone = script.iter().flat_map(|it| base.get(it.old.clone()).unwrap_or_default());
        gone.filter(|it| !is_blank(it)).map(|it| it.len()).sum()
    };
    if gone(&our_script).max(gone(&their_script)) > words.weight - half {
        return None;
    }
    let mut text = String::new();
    let mut at = 0;
    for (who, region) in regions(&our_script, &their_script, |_, _| true) {
        push(&mut text, &base, at..region.base.start);
        match who {
            Who::Theirs => push(&mut text, &theirs, region.theirs),
            Who::Both if ours.get(region.ours.clone()) != theirs.get(region.theirs) => return None,
            Who::Both | Who::Ours => push(&mut text, &ours, region.ours),
        }
        at = region.base.end;
    }
    push(&mut text, &base, at..base.len());
    Some(text)
}

fn push(text: &mut String, words: &[&str], range: Range<usize>) {
    text.extend(words.get(range).unwrap_or_default().iter().copied());
}
