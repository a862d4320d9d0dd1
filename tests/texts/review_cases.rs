//! What agents changed, under review: cases, and what it costs.

use std::ops::Range;
use std::time::{Duration, Instant};

use acp_nvim::changes::edits::Edit;
use acp_nvim::changes::mirror::{Mirror, OutOfStep};
use acp_nvim::changes::review::news::{News, Seen};
use acp_nvim::changes::review::shown::Word;
use acp_nvim::changes::review::{Author, Hunk, Review, Which};

const USER: Author = Author::User;
const AGENT: Author = Author::Agent(1);

/// A text of a letter or more in each line.
fn mirror(text: &str) -> Mirror {
    Mirror::new(0, text.split_terminator('|'))
}

fn text(mirror: &Mirror) -> String {
    mirror.lines().map(|it| format!("{it}|")).collect()
}

fn review(base: &str, now: &str) -> Review {
    Review::new(mirror(base), mirror(now), 1)
}

fn splice(review: &mut Review, rows: Range<usize>, lines: &str, by: Author) {
    let version = review.now().version() + 1;
    let lines: Vec<&str> = lines.split_terminator('|').collect();
    review.splice(version, rows, &lines, by).unwrap();
    assert_eq!(review.now().version(), version);
}

fn ranges(review: &Review) -> Vec<(Range<usize>, Range<usize>)> {
    review.hunks().iter().map(|it| (it.base.clone(), it.now.clone())).collect()
}

fn rejected(review: &Review) -> String {
    let mut review = review.clone();
    review.reject(&Which::All);
    assert_eq!(text(review.base()), text(review.now()));
    text(review.now())
}

fn ids(review: &Review) -> Vec<u64> {
    review.hunks().iter().map(|it| it.id).collect()
}

#[test]
fn what_is_typed_elsewhere_stays_when_all_is_rejected() {
    let mut it = review("a|b|c|d|", "a|B|c|");
    assert_eq!(ranges(&it), [(1..2, 1..2), (3..4, 3..3)]);
    splice(&mut it, 0..1, "x|y|", USER);
    splice(&mut it, 3..4, "z|", USER);
    assert_eq!(
        (text(it.base()), ranges(&it)),
        ("x|y|b|z|d|".into(), vec![(2..3, 2..3), (4..5, 4..4)])
    );
    assert!(it.hunks().iter().all(|it| !it.edited));
    assert_eq!(rejected(&it), "x|y|b|z|d|");
}

#[test]
fn a_line_begun_next_to_a_hunk_is_no_part_of_it() {
    let it = review("a|b|c|", "a|B|c|");
    for (rows, lines, expected) in [
        (2..2, "new|", "a|b|new|c|"),
        (1..1, "new|", "a|new|b|c|"),
        (1..2, "B|new|", "a|b|new|c|"),
        (0..1, "a|new|", "a|new|b|c|"),
    ] {
        let mut it = it.clone();
        splice(&mut it, rows.clone(), lines, USER);
        assert_eq!(rejected(&it), expected, "{rows:?}");
        assert!(!it.hunks()[0].edited);
    }
    let mut it = review("a|gone|b|", "a|b|");
    splice(&mut it, 1..1, "new|", USER);
    assert_eq!((rejected(&it), it.hunks()[0].edited), ("a|gone|new|b|".into(), false));
}

#[test]
fn what_is_typed_in_a_hunk_edits_it() {
    let mut it = review("a|b|c|", "a|B|C|x|c|");
    let (id, revision) = (it.hunks()[0].id, it.hunks()[0].revision);
    splice(&mut it, 2..3, "user|", USER);
    let hunk = &it.hunks()[0];
    assert_eq!((hunk.id, hunk.edited, &hunk.base, &hunk.now), (id, true, &(1..2), &(1..4)));
    assert_ne!(hunk.revision, revision);
    // What an agent does to it does not change that.
    splice(&mut it, 4..5, "d|", AGENT);
    assert_eq!((ids(&it), it.hunks()[0].edited, ranges(&it)), (vec![id], true, vec![(1..3, 1..5)]));
    assert_eq!(rejected(&it), "a|b|c|");
}

#[test]
fn what_is_put_back_by_hand_is_no_hunk() {
    let mut it = review("a|b|c|d|", "a|B|d|");
    splice(&mut it, 1..2, "b|", USER);
    assert_eq!(ranges(&it), [(2..3, 2..2)]);
    splice(&mut it, 2..2, "c|", USER);
    assert_eq!((ranges(&it), text(it.base())), (vec![], "a|b|c|d|".into()));
    let mut it = review("a|", "a|new|");
    splice(&mut it, 1..2, "", USER);
    assert_eq!((ranges(&it), text(it.base())), (vec![], "a|".into()));
}

#[test]
fn what_is_deleted_with_a_hunk_is_deleted_in_both() {
    let mut it = review("a|b|c|d|e|", "a|B|c|D|e|");
    splice(&mut it, 0..5, "", USER);
    assert_eq!((text(it.base()), text(it.now())), ("b|d|".into(), String::new()));
    assert_eq!(ranges(&it), [(0..2, 0..0)]);
    assert_eq!(rejected(&it), "b|d|");
}

#[test]
fn lines_that_are_joined_with_a_hunk_come_back() {
    let mut it = review("first|old name|last|", "first|new name|last|");
    splice(&mut it, 1..3, "new name last|", USER);
    assert_eq!((rejected(&it), it.hunks()[0].edited), ("first|old name|last|".into(), true));
}

#[test]
fn indenting_all_is_not_the_agents_doing() {
    let mut it = review("one();|two();|three();|", "one();|other(2);|three();|");
    splice(&mut it, 0..3, "  one();|  other(2);|  three();|", USER);
    assert_eq!(
        (text(it.base()), ranges(&it)),
        ("  one();|two();|  three();|".into(), vec![(1..2, 1..2)])
    );
}

#[test]
fn each_write_is_undone_and_redone_by_itself() {
    let mut it = review("a|b|c|d|", "a|b|c|d|");
    splice(&mut it, 0..1, "A|", AGENT);
    let one = it.clone();
    splice(&mut it, 3..4, "D|E|", AGENT);
    let two = it.clone();
    splice(&mut it, 3..5, "d|", USER);
    assert_eq!((it.hunks(), text(it.base())), (one.hunks(), "a|b|c|d|".into()));
    splice(&mut it, 0..1, "a|", USER);
    assert_eq!(ranges(&it), []);
    assert!(!it.is_over());
    splice(&mut it, 0..1, "A|", USER);
    splice(&mut it, 3..4, "D|E|", USER);
    assert_eq!((ids(&it), ranges(&it)), (ids(&two), ranges(&two)));
    assert!(it.hunks().iter().all(|it| !it.edited));
}

#[test]
fn a_rejection_is_undone() {
    let mut it = review("a|b|c|", "a|B|c|");
    let before = it.hunks()[0].clone();
    splice(&mut it, 1..2, "b|", Author::Review);
    assert_eq!(ranges(&it), []);
    splice(&mut it, 1..2, "B|", USER);
    let after = &it.hunks()[0];
    assert_eq!(Hunk { revision: before.revision, ..after.clone() }, before);
    assert_ne!(after.revision, before.revision, "it is to be shown again");
}

#[test]
fn what_is_accepted_stays_when_the_write_is_undone() {
    let mut it = review("a|b|c|d|e|", "a|B|c|e|");
    assert!(it.accept(&Which::Ids(vec![ids(&it)[0]])));
    assert!(!it.accept(&Which::Ids(vec![99])));
    splice(&mut it, 3..3, "d|", USER);
    assert_eq!(ranges(&it), []);
    splice(&mut it, 1..2, "b|", USER);
    assert_eq!((ranges(&it), text(it.base())), (vec![], "a|b|c|d|e|".into()));
}

#[test]
fn only_what_changed_is_news() {
    let mut it = review("a|b|c|d|e|", "A|b|C|d|E|");
    let mut seen = Seen::default();
    let all = ids(&it);
    assert_eq!(it.news(&mut seen).set, it.hunks());
    let mut told = |it: &Review| {
        let News { set, gone } = it.news(&mut seen);
        (set.iter().map(|it| it.id).collect::<Vec<_>>(), gone)
    };
    assert_eq!(told(&it), (vec![], vec![]));
    splice(&mut it, 4..5, "EE|", USER);
    assert_eq!(told(&it), (vec![all[2]], vec![]));
    it.accept(&Which::Ids(vec![all[1]]));
    assert_eq!(told(&it), (vec![], vec![all[1]]));
    splice(&mut it, 2..3, "x|y|z|", USER);
    assert_eq!(told(&it), (vec![], vec![]), "it has only moved");
    splice(&mut it, 0..1, "AA|", AGENT);
    assert_eq!((told(&it), ids(&it)), ((vec![all[0]], vec![]), vec![all[0], all[2]]));
}

#[test]
fn an_edit_after_accepting_is_undone_too() {
    let mut it = review("a|b|c|", "A|b|C|");
    splice(&mut it, 1..2, "user|", USER);
    it.accept(&Which::Ids(vec![ids(&it)[0]]));
    splice(&mut it, 2..3, "CC|", USER);
    assert!(it.hunks()[0].edited);
    splice(&mut it, 2..3, "C|", USER);
    assert_eq!((it.hunks()[0].edited, text(it.base())), (false, "A|user|c|".into()));
}

#[test]
fn two_agents_have_their_own_hunks() {
    let mut it = review("a|b|c|d|e|", "A|b|c|d|e|");
    splice(&mut it, 4..5, "E|", Author::Agent(2));
    assert_eq!(it.hunks().iter().map(|it| it.who).collect::<Vec<_>>(), [1, 2]);
    splice(&mut it, 1..2, "B|", Author::Agent(2));
    assert_eq!(it.hunks().iter().map(|it| it.who).collect::<Vec<_>>(), [2, 2]);
    let mut it = review("a|b|c|", "A|b|c|");
    splice(&mut it, 2..3, "C|", Author::Agent(2));
    it.reject(&Which::Of(1));
    assert_eq!(text(it.now()), "a|b|C|");
}

#[test]
fn some_rows_of_a_hunk_are_settled() {
    let rows = Which::Rows;
    let it = review("a|z|", "a|b|c|d|z|");
    let id = ids(&it)[0];
    let mut part = it.clone();
    part.reject(&rows(2..3));
    assert_eq!((text(part.now()), ranges(&part)), ("a|b|d|z|".into(), vec![(1..1, 1..3)]));
    let mut part = it.clone();
    assert!(part.accept(&rows(2..3)));
    assert_eq!(
        (text(part.base()), ranges(&part)),
        ("a|c|z|".into(), vec![(1..1, 1..2), (2..2, 3..4)])
    );
    assert_eq!((part.hunks()[0].id, part.hunks()[1].id != id), (id, true));
    assert_eq!(it.rejection(&rows(1..2)), [Edit::Lines { rows: 1..2, lines: vec![] }]);
    assert_eq!(it.rejection(&rows(0..1)), []);
    // Each line with the one that it was.
    let mut it = review("let one = 1;|let two = 2;|", "let one = 7;|let two = 8;|");
    it.reject(&rows(1..2));
    assert_eq!(
        (text(it.now()), ranges(&it)),
        ("let one = 7;|let two = 2;|".into(), vec![(0..1, 0..1)])
    );
    // Where lines were removed, the row after them; the last row at the end.
    let it = review("a|b|c|d|", "a|c|");
    let chosen = |at: Range<usize>| it.rejection(&rows(at)).len();
    assert_eq!((chosen(0..1), chosen(1..2), chosen(0..2)), (0, 2, 2));
}

#[test]
fn a_file_may_be_made_and_emptied() {
    let mut it = review("", "a|b|");
    assert_eq!(
        (ranges(&it), it.rejection(&Which::All)),
        (vec![(0..0, 0..2)], vec![Edit::Lines { rows: 0..2, lines: vec![] }])
    );
    splice(&mut it, 0..2, "", Author::Review);
    assert_eq!((ranges(&it), it.now().is_empty()), (vec![], true));
    splice(&mut it, 0..1, "a|b|", USER);
    assert_eq!(ranges(&it), [(0..0, 0..2)], "the rejection is undone");
    let mut it = review("a|b|", "");
    assert_eq!(
        it.rejection(&Which::All),
        [Edit::Lines { rows: 0..1, lines: vec!["a".into(), "b".into()] }]
    );
    splice(&mut it, 0..1, "x|", USER);
    assert_eq!((ranges(&it), rejected(&it)), (vec![(0..2, 0..0)], "a|b|x|".into()));
}

#[test]
fn a_missed_change_is_noticed() {
    let mut it = review("a|", "b|");
    assert_eq!(it.splice(9, 1..2, &["x"], USER), Err(OutOfStep));
    assert_eq!((it.now().version(), ranges(&it)), (0, vec![(0..1, 0..1)]));
    it.replace(Mirror::new(9, ["b", "c"]), USER);
    assert_eq!((it.now().version(), text(it.base())), (9, "a|c|".into()));
}

#[test]
fn words_that_changed_are_shown() {
    let it = review("let a = 1;|f(a, b)|gone|", "let a = 2;|f(a)|");
    let shown = it.shown(&it.hunks()[0]);
    let removed: Vec<(&str, usize)> =
        shown.removed.iter().map(|it| (it.text.as_str(), it.spans.len())).collect();
    assert_eq!(removed, [("let a = 1;", 1), ("f(a, b)", 1), ("gone", 0)]);
    assert_eq!(shown.words, [Word { row: 0, columns: 8..9 }, Word { row: 1, columns: 3..3 }]);
    let it = review("a|", "a|b|");
    assert_eq!(it.shown(&it.hunks()[0]), Default::default());
}

/// A file of ten thousand lines, of which every twentieth is changed.
fn large(every: usize) -> Review {
    let line = |new: bool| {
        move |it: usize| {
            format!("{} line {it}", if new && it.is_multiple_of(every) { "new" } else { "old" })
        }
    };
    let old: Vec<String> = (0..10_000).map(line(false)).collect();
    let new: Vec<String> = (0..10_000).map(line(true)).collect();
    let mirror = |lines: &[String]| Mirror::new(0, lines.iter().map(String::as_str));
    Review::new(mirror(&old), mirror(&new), 1)
}

#[test]
fn very_many_edits_reject_what_they_should() {
    let mut it = large(4);
    let base = text(it.base());
    let edits = it.rejection(&Which::All);
    assert!(edits.len() <= 1000 && it.hunks().len() == 2500);
    for (version, edit) in edits.into_iter().enumerate() {
        let Edit::Lines { rows, lines } = edit else { panic!("{edit:?}") };
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        it.splice(version as u64, rows, &lines, Author::Review).unwrap();
    }
    assert_eq!(
        (text(it.base()) == base, text(it.now()) == base, it.hunks().len()),
        (true, true, 0)
    );
}

#[test]
fn a_keystroke_costs_little() {
    let mut it = large(20);
    assert_eq!(it.hunks().len(), 500);
    // As many moments as there may be.
    for round in 0..200 {
        splice(&mut it, 3000..3001, &format!("round {round}|"), AGENT);
        splice(&mut it, 7001..7002, &format!("user {round}|"), USER);
    }
    let times: Vec<Duration> = (0..200)
        .map(|round| {
            // By turns in a hunk and outside of all.
            let row = if round % 2 == 0 { 5000 } else { 5005 };
            let typed = format!("typed {round}|");
            let start = Instant::now();
            splice(&mut it, row..row + 1, &typed, USER);
            start.elapsed()
        })
        .collect();
    let middle = {
        let mut times = times;
        times.sort();
        times[100]
    };
    // Without optimization, on a busy machine.
    assert!(middle < Duration::from_millis(10), "{middle:?}");
}
