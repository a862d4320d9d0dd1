//! How a text is indented, and how lines that were indented otherwise are to be there.

use std::collections::HashMap;

/// What a line begins with.
pub(super) fn indent(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// How wide a line is indented; a tab is as wide as a level mostly is.
pub(super) fn width(line: &str) -> usize {
    indent(line).chars().map(|it| if it == '\t' { 4 } else { 1 }).sum()
}

/// What lines are mostly indented deeper by than the one before them; none if that is no level.
fn level<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut before = "";
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for line in lines.filter(|it| !it.trim().is_empty()) {
        let this = indent(line);
        if let Some(step) = this.strip_prefix(before).filter(|it| LEVELS.contains(it)) {
            *counts.entry(step).or_default() += 1;
        }
        before = this;
    }
    counts.into_iter().max_by_key(|(step, count)| (*count, usize::MAX - step.len())).map(|it| it.0)
}

/// What people indent by.
const LEVELS: [&str; 5] = ["\t", "  ", "   ", "    ", "        "];

/// From one way to indent to another.
#[derive(Debug)]
pub(super) struct Shift<'a> {
    known: HashMap<&'a str, &'a str>,
    from: Option<&'a str>,
    to: Option<&'a str>,
}

impl<'a> Shift<'a> {
    /// From the ways of `theirs` to the ways of `ours`, by lines that are the same in both.
    pub(super) fn new(
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
        theirs: impl Iterator<Item = &'a str>,
        ours: impl Iterator<Item = &'a str>,
    ) -> Shift<'a> {
        let mut known = HashMap::new();
        for (one, other) in pairs {
            if !one.trim().is_empty() && !other.trim().is_empty() {
                known.entry(indent(one)).or_insert_with(|| indent(other));
            }
        }
        if known.iter().all(|(from, to)| from == to) {
            return Shift { known, from: None, to: None };
        }
        Shift { known, from: level(theirs), to: level(ours) }
    }

    /// The same, if lines may be deeper or less deep than they were: by the outermost line alone,
    /// and by how wide a level is, unless more lines are the same without regard to that.
    pub(super) fn based(
        base: Option<(&'a str, &'a str)>,
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
        theirs: impl Iterator<Item = &'a str>,
        ours: impl Iterator<Item = &'a str>,
    ) -> Shift<'a> {
        let known: HashMap<&str, &str> =
            base.iter().map(|(one, other)| (indent(one), indent(other))).collect();
        let mut shift = Shift { known, from: level(theirs), to: level(ours) };
        if shift.from == shift.to {
            (shift.from, shift.to) = (None, None);
        }
        let plain = Shift { known: shift.known.clone(), from: None, to: None };
        let (mut scaled, mut same) = (0, 0);
        for (one, other) in pairs {
            scaled += usize::from(indent(&shift.line(one)) == indent(other));
            same += usize::from(indent(&plain.line(one)) == indent(other));
        }
        if same > scaled { plain } else { shift }
    }

    /// A line as it is to be there.
    pub(super) fn line(&self, line: &str) -> String {
        let this = indent(line);
        let rest = line.get(this.len()..).unwrap_or_default();
        let same = self.known.iter().all(|(from, to)| from == to);
        if rest.is_empty() || (same && (self.from.is_none() || self.to.is_none())) {
            return line.to_owned();
        }
        if let Some(to) = self.known.get(this) {
            return [to, rest].concat();
        }
        let above = self.known.iter().filter(|(from, _)| this.starts_with(**from));
        if let Some((from, to)) = above.max_by_key(|(from, _)| from.len()) {
            let deeper = this.get(from.len()..).unwrap_or_default();
            return [to, self.deeper(deeper).as_str(), rest].concat();
        }
        // Less deep than all that is known.
        let below = self.known.iter().filter(|(from, _)| from.starts_with(this));
        if let Some((from, to)) = below.min_by_key(|(from, _)| from.len()) {
            let less = self.deeper(from.get(this.len()..).unwrap_or_default());
            return [to.strip_suffix(less.as_str()).unwrap_or(this), rest].concat();
        }
        line.to_owned()
    }

    /// The same number of levels.
    fn deeper(&self, mut by: &str) -> String {
        let mut out = String::new();
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from != to
        {
            while let Some(rest) = by.strip_prefix(from) {
                out.push_str(to);
                by = rest;
            }
        }
        out.push_str(by);
        out
    }
}
