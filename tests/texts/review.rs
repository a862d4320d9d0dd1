//! What agents changed, under review: what holds whoever changes what.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use acp_nvim::changes::edits::Edit;
use acp_nvim::changes::mirror::Mirror;
use acp_nvim::changes::review::{Author, Hunk, Review, Which};
use proptest::prelude::*;

use super::{LINES, Step, lines, strs};

type Index = prop::sample::Index;

/// A review, and the text that it must have.
#[derive(Clone)]
struct Bench {
    review: Review,
    now: Vec<String>,
    version: u64,
    /// What each hunk was when it was last asked for.
    seen: HashMap<u64, (Hunk, Vec<String>, Vec<String>)>,
}

fn mirror(lines: &[String]) -> Mirror {
    Mirror::new(0, strs(lines))
}

fn texts(mirror: &Mirror) -> Vec<String> {
    mirror.lines().map(str::to_owned).collect()
}

/// The splices that an edit of the editor comes back as.
fn as_splice(now: &[String], edit: &Edit) -> (Range<usize>, Vec<String>) {
    match edit {
        Edit::Lines { rows, lines } => (rows.clone(), lines.clone()),
        Edit::Text { row, columns, text } => {
            let mut line = now[*row].clone();
            line.replace_range(columns.clone(), text);
            (*row..*row + 1, vec![line])
        }
    }
}

impl Bench {
    fn new(base: &[String], now: &[String]) -> Bench {
        let review = Review::new(mirror(base), mirror(now), 1);
        let mut bench = Bench { review, now: now.to_vec(), version: 1, seen: HashMap::new() };
        bench.check();
        bench
    }

    /// The same text on both sides.
    fn calm(text: &[String]) -> Bench {
        Bench::new(text, text)
    }

    fn base(&self) -> Vec<String> {
        texts(self.review.base())
    }

    fn hunks(&self) -> Vec<Hunk> {
        self.review.hunks().to_vec()
    }

    fn rows(&self, (place, count, _): &Step) -> Range<usize> {
        let start = place.index(self.now.len() + 1);
        start..(start + count).min(self.now.len())
    }

    /// Makes a change, and says how to undo it.
    fn splice(&mut self, rows: Range<usize>, with: &[String], by: Author) -> Undo {
        self.version += 1;
        self.review.splice(self.version, rows.clone(), &strs(with), by).unwrap();
        let empty = self.now.is_empty();
        if empty {
            self.now.push(String::new());
        }
        let old: Vec<String> = self.now.splice(rows.clone(), with.iter().cloned()).collect();
        self.check();
        // The line of a buffer of none can't be told from an empty one: then all is replaced.
        let undone = match empty {
            true => (0..self.now.len().max(1), Vec::new()),
            false if self.now.is_empty() => (0..1, old.clone()),
            false => (rows.start..rows.start + with.len(), old),
        };
        (undone, (rows, with.to_vec()))
    }

    fn step(&mut self, step: &Step, by: Author) -> Undo {
        self.splice(self.rows(step), &step.2, by)
    }

    /// Rejects as the editor does.
    fn reject_by_edits(&mut self, which: &Which) {
        for edit in self.review.rejection(which) {
            let (rows, lines) = as_splice(&self.now, &edit);
            self.splice(rows, &lines, Author::Review);
        }
        self.review.written();
        self.check();
    }

    fn check(&mut self) {
        let (base, now) = (self.base(), texts(self.review.now()));
        assert_eq!(now, self.now);
        let (mut base_at, mut now_at) = (0, 0);
        let mut seen = HashMap::new();
        for (index, hunk) in self.review.hunks().iter().enumerate() {
            let apart = index == 0 || (hunk.base.start > base_at && hunk.now.start > now_at);
            assert!(apart, "{:#?}", self.review.hunks());
            assert_eq!(base[base_at..hunk.base.start], now[now_at..hunk.now.start]);
            let (old, new) = (&base[hunk.base.clone()], &now[hunk.now.clone()]);
            assert_ne!(old, new);
            (base_at, now_at) = (hunk.base.end, hunk.now.end);
            if let Some((was, was_old, was_new)) = self.seen.get(&hunk.id)
                && was.revision == hunk.revision
            {
                assert_eq!((&was_old[..], &was_new[..]), (old, new), "unnoticed: {hunk:?}");
                assert_eq!((was.who, was.edited), (hunk.who, hunk.edited));
            }
            let twice = seen.insert(hunk.id, (hunk.clone(), old.to_vec(), new.to_vec()));
            assert!(twice.is_none(), "{:#?}", self.review.hunks());
        }
        assert_eq!(base[base_at..], now[now_at..]);
        self.seen = seen;
    }
}

/// A change that undoes another, and that other.
type Undo = (Change, Change);
type Change = (Range<usize>, Vec<String>);

/// What may happen.
#[derive(Debug, Clone)]
enum Event {
    User(Step),
    Agent(u64, Step),
    Write(Vec<Step>),
    Accept(Index),
    Reject(Index),
    RejectByEdits(Index),
    Rows(Index, usize, u8),
    Empty(bool),
    Reload(bool, Vec<String>),
}

fn step() -> impl Strategy<Value = Step> {
    let line = prop::sample::select(LINES).prop_map(str::to_owned);
    let new = (0usize..3).prop_map(|it| format!("    let new = {it};"));
    let line = prop_oneof![2 => line, 1 => new];
    (any::<Index>(), 0usize..4, prop::collection::vec(line, 0..4))
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => step().prop_map(Event::User),
        6 => (1u64..3, step()).prop_map(|(who, step)| Event::Agent(who, step)),
        2 => prop::collection::vec(step(), 1..4).prop_map(Event::Write),
        1 => any::<Index>().prop_map(Event::Accept),
        1 => any::<Index>().prop_map(Event::Reject),
        1 => any::<Index>().prop_map(Event::RejectByEdits),
        1 => (any::<Index>(), 0usize..5, 0u8..3).prop_map(|(at, count, how)| Event::Rows(at, count, how)),
        1 => any::<bool>().prop_map(Event::Empty),
        1 => (any::<bool>(), lines()).prop_map(|(user, lines)| Event::Reload(user, lines)),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 0..14)
}

impl Bench {
    fn pick(&self, at: &Index) -> Which {
        let ids: Vec<u64> = self.review.hunks().iter().map(|it| it.id).collect();
        Which::Ids(if ids.is_empty() { vec![] } else { vec![*at.get(&ids)] })
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::User(step) => drop(self.step(step, Author::User)),
            Event::Agent(who, step) => drop(self.step(step, Author::Agent(*who))),
            Event::Write(steps) => {
                steps.iter().for_each(|it| drop(self.step(it, Author::Agent(1))));
                self.review.written();
            }
            Event::Accept(at) => drop(self.review.accept(&self.pick(at))),
            Event::Reject(at) => {
                self.review.reject(&self.pick(at));
                self.now = texts(self.review.now());
            }
            Event::RejectByEdits(at) => self.reject_by_edits(&self.pick(at)),
            Event::Rows(at, count, how) => {
                let first = at.index(self.now.len() + 1);
                self.settle_rows(first..(first + count).min(self.now.len()), *how);
            }
            Event::Empty(user) => {
                let by = if *user { Author::User } else { Author::Agent(1) };
                self.splice(0..self.now.len(), &[], by);
            }
            Event::Reload(user, lines) => {
                self.version += 1;
                let by = if *user { Author::User } else { Author::Agent(2) };
                self.review.replace(Mirror::new(self.version, strs(lines)), by);
                self.now = lines.clone();
            }
        }
        self.check();
        assert!(self.version >= self.review.now().version());
    }

    fn settle_rows(&mut self, rows: Range<usize>, how: u8) {
        let (base, which) = (self.base(), Which::Rows(rows.clone()));
        match how {
            0 => drop(self.review.accept(&which)),
            1 => {
                self.reject_by_edits(&which);
                assert_eq!(self.base(), base);
            }
            _ => {
                self.review.reject(&which);
                assert_eq!(self.base(), base);
                self.now = texts(self.review.now());
            }
        }
    }

    /// Both texts with each hunk settled as told.
    fn mixed(&self, accepted: impl Fn(u64) -> bool) -> Vec<String> {
        let (base, mut mixed) = (self.base(), self.now.clone());
        for hunk in self.review.hunks().iter().rev().filter(|it| !accepted(it.id)) {
            mixed.splice(hunk.now.clone(), base[hunk.base.clone()].iter().cloned());
        }
        mixed
    }
}

/// A change without what stays as it is.
fn changed(now: &[String], rows: Range<usize>, with: &[String]) -> Change {
    let (mut rows, mut with) = (rows, with);
    while !rows.is_empty() && with.first() == Some(&now[rows.start]) {
        (rows.start, with) = (rows.start + 1, &with[1..]);
    }
    while !rows.is_empty() && with.last() == Some(&now[rows.end - 1]) {
        (rows.end, with) = (rows.end - 1, &with[..with.len() - 1]);
    }
    (rows, with.to_vec())
}

/// Hunks without their revisions, which never come back.
fn same(hunks: &[Hunk]) -> Vec<Hunk> {
    hunks.iter().map(|it| Hunk { revision: 0, ..it.clone() }).collect()
}

proptest! {
    #[test]
    fn hunks_are_what_differs((base, now, events) in (lines(), lines(), events())) {
        let mut bench = Bench::new(&base, &now);
        for event in &events {
            bench.happen(event);
        }
        let mut accepted = bench.clone();
        accepted.review.accept(&Which::All);
        accepted.check();
        prop_assert!(accepted.review.hunks().is_empty());
        prop_assert!(bench.review.hunks().is_empty() || accepted.review.is_over());
        prop_assert_eq!(accepted.base(), bench.now.clone());
        let base = bench.base();
        let mut rejected = bench.clone();
        rejected.review.reject(&Which::All);
        prop_assert_eq!(texts(rejected.review.now()), base.clone());
        prop_assert!(rejected.review.hunks().is_empty());
        bench.reject_by_edits(&Which::All);
        prop_assert_eq!(&bench.now, &base);
        prop_assert_eq!(bench.base(), base);
        prop_assert!(bench.review.hunks().is_empty());
    }

    #[test]
    fn what_the_user_does_elsewhere_is_no_agents(
        (text, steps) in (lines(), prop::collection::vec((any::<bool>(), step()), 0..20)),
    ) {
        let mut bench = Bench::calm(&text);
        let mut original = text;
        let mut texts_so_far = HashSet::new();
        for (user, step) in &steps {
            texts_so_far.insert(bench.now.clone());
            let (old, empty) = (bench.hunks(), bench.now.is_empty());
            let (rows, with) = changed(&bench.now, bench.rows(step), &step.2);
            let by = if *user { Author::User } else { Author::Agent(1) };
            bench.step(step, by);
            if *user && texts_so_far.contains(&bench.now) {
                // An undo.
                original = bench.base();
                continue;
            }
            let touched = old.iter().filter(|it| it.now.start <= rows.end && rows.start <= it.now.end);
            let touched: Vec<&Hunk> = touched.collect();
            let parts = |it: &&Hunk| it.now.start <= rows.start && rows.end <= it.now.end
                && (!rows.is_empty() || it.now.start < rows.start && rows.end < it.now.end);
            if !user || touched.iter().any(parts) {
                prop_assert_eq!(&bench.base(), &original);
            } else if touched.is_empty() && !empty {
                let before = old.iter().rfind(|it| it.now.end <= rows.start);
                let start = before.map_or(rows.start, |it| rows.start - it.now.end + it.base.end);
                original.splice(start..start + rows.len(), with.iter().cloned());
                let ids = |hunks: &[Hunk]| -> Vec<_> {
                    hunks.iter().map(|it| (it.id, it.revision, it.who, it.edited)).collect()
                };
                prop_assert_eq!(ids(&bench.hunks()), ids(&old));
                prop_assert_eq!(&bench.base(), &original);
            } else {
                original = bench.base();
            }
        }
        bench.review.reject(&Which::All);
        prop_assert_eq!(texts(bench.review.now()), original);
    }

    #[test]
    fn the_order_does_not_matter(
        (base, now, events) in (lines(), lines(), events()),
        choices in prop::collection::vec((any::<Index>(), 0u8..3), 40),
    ) {
        let mut bench = Bench::new(&base, &now);
        for event in &events {
            bench.happen(event);
        }
        let ids: Vec<u64> = bench.review.hunks().iter().map(|it| it.id).collect();
        let choice: HashMap<u64, u8> = ids.iter().copied().zip(choices.iter().map(|it| it.1)).collect();
        let expected = bench.mixed(|it| choice.get(&it).is_none_or(|it| *it == 0));
        let mut left = ids;
        for (at, _) in &choices {
            if left.is_empty() {
                break;
            }
            let id = left.remove(at.index(left.len()));
            let which = Which::Ids(vec![id]);
            match choice.get(&id) {
                Some(1) => {
                    bench.review.reject(&which);
                    bench.now = texts(bench.review.now());
                }
                Some(2) => bench.reject_by_edits(&which),
                _ => assert!(bench.review.accept(&which)),
            }
            bench.check();
            let now: Vec<u64> = bench.review.hunks().iter().map(|it| it.id).collect();
            prop_assert_eq!(&now, &left.iter().copied().filter(|it| now.contains(it)).collect::<Vec<_>>());
            prop_assert_eq!(now.len(), left.len());
        }
        bench.review.accept(&Which::All);
        prop_assert_eq!(bench.base(), expected);
    }

    #[test]
    fn an_undo_takes_back_and_a_redo_brings_back(
        (base, now, events) in (lines(), lines(), events()),
        writes in prop::collection::vec(prop::collection::vec(step(), 1..4), 1..4),
        later in prop::collection::vec(step(), 0..3),
    ) {
        let mut bench = Bench::new(&base, &now);
        for event in &events {
            bench.happen(event);
        }
        bench.review.written();
        let mut states = vec![(bench.base(), bench.hunks(), bench.now.clone())];
        let mut undos: Vec<Vec<Undo>> = Vec::new();
        let mut texts = vec![bench.now.clone()];
        for write in &writes {
            let mut undo = Vec::new();
            for step in write {
                undo.push(bench.step(step, Author::Agent(1)));
                texts.push(bench.now.clone());
            }
            undos.push(undo);
            bench.review.written();
            let state = (bench.base(), bench.hunks(), bench.now.clone());
            states.push(state);
        }
        // A text that there was twice was more than one thing.
        texts.dedup();
        let different: HashSet<&Vec<String>> = texts.iter().collect();
        prop_assume!(different.len() == texts.len());
        let undone: Vec<Undo> = later.iter().map(|it| bench.step(it, Author::User)).collect();
        for ((rows, lines), _) in undone.into_iter().rev() {
            bench.splice(rows, &lines, Author::User);
        }
        for (undo, state) in undos.iter().zip(&states).rev() {
            for ((rows, lines), _) in undo.iter().rev() {
                bench.splice(rows.clone(), lines, Author::User);
            }
            prop_assert_eq!(&bench.now, &state.2);
            prop_assert_eq!(&bench.base(), &state.0);
            prop_assert_eq!(same(&bench.hunks()), same(&state.1));
        }
        for (undo, state) in undos.iter().zip(states.iter().skip(1)) {
            for (_, (rows, lines)) in undo {
                bench.splice(rows.clone(), lines, Author::User);
            }
            prop_assert_eq!(&bench.base(), &state.0);
            prop_assert_eq!(same(&bench.hunks()), same(&state.1));
        }
    }

    #[test]
    fn it_goes_on_where_it_was((base, then, step) in (lines(), lines(), step())) {
        let fresh = Bench::new(&base, &then);
        let again = Review::restore(mirror(&base), mirror(&then), mirror(&then), 1);
        prop_assert_eq!(again.hunks(), fresh.review.hunks());
        let mut bench = fresh.clone();
        bench.step(&step, Author::User);
        let review = Review::restore(mirror(&base), mirror(&then), mirror(&bench.now), 1);
        let mut restored = Bench { review, now: bench.now.clone(), version: 0, seen: HashMap::new() };
        restored.check();
        // An undo that outlived the editor.
        restored.review.replace(mirror(&then), Author::User);
        prop_assert_eq!(same(restored.review.hunks()), same(fresh.review.hunks()));
    }

    #[test]
    fn rejecting_some_rows_is_the_same_by_edits(
        (base, now, at, count) in (lines(), lines(), any::<Index>(), 0usize..9),
    ) {
        let bench = Bench::new(&base, &now);
        let first = at.index(now.len() + 1);
        let rows = first..(first + count).min(now.len());
        let (mut one, mut other, mut third) = (bench.clone(), bench.clone(), bench.clone());
        one.review.reject(&Which::Rows(rows.clone()));
        other.reject_by_edits(&Which::Rows(rows.clone()));
        prop_assert_eq!(texts(one.review.now()), other.now);
        // What is left of accepting some rows is what rejecting the same rows takes.
        third.review.accept(&Which::Rows(rows.clone()));
        prop_assert!(third.review.hunks().len() <= bench.review.hunks().len() + rows.len() + 1);
        third.review.reject(&Which::All);
        let kept = texts(third.review.now());
        for row in rows.filter(|row| bench.review.hunks().iter().any(|it| it.now.contains(row))) {
            prop_assert!(kept.contains(&now[row]));
        }
    }
}
