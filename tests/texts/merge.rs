//! What two made of one text.

use std::ops::Range;

use acp_nvim::changes::merge::{Choice, Conflict, merge, merge_value};
use proptest::prelude::*;

use super::{after, applied, lines, shown, steps, strs};

/// The merged lines with the conflicts settled one way, held against the edits for them.
fn resolved(base: &[&str], ours: &[&str], theirs: &[&str], choice: &Choice) -> Vec<String> {
    let merged = merge(base, ours, theirs);
    let choices = vec![choice.clone(); merged.conflicts.len()];
    let lines = merged.resolve(&choices);
    let edits = merged.edits(&choices);
    if !lines.is_empty() || ours.is_empty() {
        assert_eq!(applied(ours, &edits), shown(&lines), "{edits:#?}");
    }
    lines.into_iter().map(str::to_owned).collect()
}

/// The lines of all three from texts with `|` between lines.
fn split(texts: [&str; 3]) -> [Vec<&str>; 3] {
    texts.map(|it| if it == "-" { vec![] } else { it.split('|').collect() })
}

#[track_caller]
fn merges(base: &str, ours: &str, theirs: &str, to: &str) {
    let [base, ours, theirs] = split([base, ours, theirs]);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        assert_eq!(merge(&base, ours, theirs).conflicts, []);
        assert_eq!(resolved(&base, ours, theirs, &Choice::Ours).join("|"), to);
    }
}

#[track_caller]
fn conflicts(base: &str, ours: &str, theirs: &str) -> Vec<String> {
    let [base, ours, theirs] = split([base, ours, theirs]);
    let words = |it: &Conflict| {
        let (base, ours) = (base[it.base.clone()].join("|"), ours[it.ours.clone()].join("|"));
        format!("{base} > {ours} < {}", theirs[it.theirs.clone()].join("|"))
    };
    merge(&base, &ours, &theirs).conflicts.iter().map(words).collect()
}

/// What a side does to words: in which line, at which word, and what.
type Deed = (prop::sample::Index, prop::sample::Index, u8);

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    prop::collection::vec(
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..6),
        0..6,
    )
}

fn done(base: &[Vec<String>], deeds: &[Deed], name: &str) -> Vec<Vec<String>> {
    let mut lines = base.to_vec();
    for (number, (row, column, deed)) in deeds.iter().enumerate() {
        let new = format!("{name}{number}");
        let row = row.index(lines.len() + 1);
        let Some(line) = lines.get_mut(row).filter(|_| *deed < 5) else {
            lines.insert(row, vec![new]);
            continue;
        };
        let column = column.index(line.len() + 1);
        match deed {
            0 => drop(lines.remove(row)),
            1 if column < line.len() => drop(line.remove(column)),
            2 if column < line.len() => line[column] = new,
            _ => line.insert(column, new),
        }
    }
    lines
}

fn text(lines: &[Vec<String>]) -> Vec<String> {
    lines.iter().map(|it| it.join(" ")).collect()
}

fn keeps_words(widths: &[usize], ours: &[Deed], theirs: &[Deed], once: bool) {
    let words =
        |(row, width): (usize, &usize)| (0..*width).map(|it| format!("base{row}_{it}")).collect();
    let base: Vec<Vec<String>> = widths.iter().enumerate().map(words).collect();
    let (ours, theirs) = (done(&base, ours, "our"), done(&base, theirs, "their"));
    let [base, ours, theirs] = [&base, &ours, &theirs].map(|it| text(it));
    let [base, ours, theirs] = [&base, &ours, &theirs].map(|it| strs(it));
    let merged = merge(&base, &ours, &theirs);
    let left = merged.resolve(&[]);
    let in_conflict = |lines: &[&str], range: fn(&Conflict) -> Range<usize>| -> Vec<String> {
        let lines = merged.conflicts.iter().flat_map(|it| lines[range(it)].to_vec());
        lines.map(str::to_owned).collect()
    };
    let open = in_conflict(&theirs, |it| it.theirs.clone());
    let open_base = in_conflict(&base, |it| it.base.clone());
    let (open, open_base) = (strs(&open), strs(&open_base));
    let count = |lines: &[&str], word: &str| {
        lines.iter().flat_map(|it| it.split(' ')).filter(|it| *it == word).count()
    };
    let all = [&ours[..], &theirs, &base].concat();
    for word in all.iter().flat_map(|it| it.split(' ')).filter(|it| !it.is_empty()) {
        let (our, their) = (count(&ours, word), count(&theirs, word));
        let found = count(&left, word);
        if word.starts_with("our") {
            assert_eq!(found, 1, "{word} {merged:#?}");
        } else if word.starts_with("their") {
            assert_eq!(found + count(&open, word), 1, "{word} {merged:#?}");
        } else if once {
            let wanted = if count(&open_base, word) > 0 { our } else { our.min(their) };
            assert_eq!(found, wanted, "{word} {merged:#?}");
        } else {
            assert!(found >= our.min(their), "{word} {merged:#?}");
        }
    }
    resolved(&base, &ours, &theirs, &Choice::Both);
}

proptest! {
    #[test]
    fn one_side_alone_gets_its_way((base, steps) in (lines(), steps(5))) {
        let changed = after(base.clone(), &steps);
        let (base, changed) = (strs(&base), strs(&changed));
        for choice in [Choice::Ours, Choice::Theirs, Choice::Both] {
            prop_assert_eq!(&resolved(&base, &base, &changed, &choice), &changed);
            prop_assert_eq!(&resolved(&base, &changed, &base, &choice), &changed);
            prop_assert_eq!(&resolved(&base, &changed, &changed, &choice), &changed);
        }
    }

    #[test]
    fn any_choice_gives_a_text((base, ours, theirs) in (lines(), steps(4), steps(4))) {
        let (ours, theirs) = (after(base.clone(), &ours), after(base.clone(), &theirs));
        let (base, ours, theirs) = (strs(&base), strs(&ours), strs(&theirs));
        let edited = Choice::Edited(vec!["settled".into(), String::new()]);
        for choice in [Choice::Ours, Choice::Theirs, Choice::Both, edited] {
            resolved(&base, &ours, &theirs, &choice);
        }
        // Which side is which matters only where there is something to choose.
        let (one, other) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours));
        prop_assert_eq!(one.conflicts.len(), other.conflicts.len());
        let choices = vec![Choice::Theirs; one.conflicts.len()];
        prop_assert_eq!(one.resolve(&choices), other.resolve(&[]));
        if one.conflicts.is_empty() {
            prop_assert_eq!(one.resolve(&[]), other.resolve(&[]));
        }
    }

    /// With words that are like no others, what became of each can be told.
    #[test]
    fn nobody_loses_a_word(
        widths in prop::collection::vec(0usize..6, 0..20),
        ours in deeds(),
        theirs in deeds(),
    ) {
        keeps_words(&widths, &ours, &theirs, false);
        // In lines that are told apart, what nobody changed is there once as well.
        let widths: Vec<usize> = widths.iter().map(|it| it + 3).collect();
        keeps_words(&widths, &ours, &theirs, true);
    }

    /// Of numbered lines, each side changes, removes or adds some, and the other side others.
    #[test]
    fn changes_to_different_lines_go_together(
        deeds in prop::collection::vec((0usize..3, any::<bool>(), 0usize..3), 1..40),
    ) {
        let (mut base, mut ours, mut theirs, mut both) = (vec![], vec![], vec![], vec![]);
        for (row, (deed, by_us, place)) in deeds.iter().enumerate() {
            let line = format!("line {row}");
            let changed = match deed {
                0 => vec![format!("{line} and more")],
                1 => vec![],
                _ => vec![line.clone(), format!("new after {row}")],
            };
            let (by, other) = if *by_us { (&mut ours, &mut theirs) } else { (&mut theirs, &mut ours) };
            by.extend(changed.clone());
            other.push(line.clone());
            both.extend(changed);
            base.push(line);
            // Sometimes there is a line between, which stays.
            if *place > 0 {
                for text in [&mut base, &mut ours, &mut theirs, &mut both] {
                    text.push(format!("still {row}"));
                }
            }
        }
        let (base, ours, theirs) = (strs(&base), strs(&ours), strs(&theirs));
        prop_assert_eq!(merge(&base, &ours, &theirs).conflicts, vec![]);
        prop_assert_eq!(resolved(&base, &ours, &theirs, &Choice::Ours), both);
    }
}

#[test]
fn neighbours_go_together() {
    merges("a|b|c", "x|b|c", "a|y|c", "x|y|c");
    merges("a|b|c", "a|b|c|x", "a|b|y", "a|b|y|x");
    merges("a|b|c", "a|x|b|c", "a|c", "a|x|c");
    merges("a|b|c", "a|x|b|c", "y|b|c", "y|x|b|c");
    merges("-", "a", "-", "a");
}

#[test]
fn the_same_change_is_made_once() {
    merges("a|b", "a|x|b", "a|x|b", "a|x|b");
    merges("use a|fn", "use a|use b|fn", "use a|use b|fn 2", "use a|use b|fn 2");
    merges("a|b", "a|x|b", "a|x|y|b", "a|x|y|b");
    merges("a|b", "a|x|b", "a|y|x|b", "a|y|x|b");
    // Found in the same place, whatever else is different.
    merges("{|}|{|}|end", "{|}|{|}|{|}|end", "{|}|{|}|{|}|END", "{|}|{|}|{|}|END");
    merges("a||b||c", "A||b|||c", "a||b|||C", "A||b|||C");
}

#[test]
fn different_words_of_a_line_go_together() {
    merges("let a = f(1);", "let b = f(1);", "let a = f(2);", "let b = f(2);");
    merges("f(a, b)", "f(a, b, c)", "g(a, b)", "g(a, b, c)");
    merges("一二三四五六", "一二七四五六", "一二三四五八", "一二七四五八");
    // We changed a word while they put the lines into a block.
    merges(
        "x;|  one(1);|  two(2);|y;",
        "x;|  one(3);|  two(2);|y;",
        "x;|  if z {|    one(1);|    two(2);|  }|y;",
        "x;|  if z {|    one(3);|    two(2);|  }|y;",
    );
    // And while they changed the same line and added one.
    merges(
        "  call(one, two);",
        "  call(1, two);",
        "  call(one, two, three);|  more();",
        "  call(1, two, three);|  more();",
    );
}

#[test]
fn the_same_word_is_a_conflict() {
    assert_eq!(conflicts("a|b|c", "a|x|c", "a|y|c"), ["b > x < y"]);
    assert_eq!(conflicts("let a = 1;", "let b = 1;", "let c = 1;").len(), 1);
    // No character that stays is between the changes.
    assert_eq!(conflicts("f(a, b)", "g(a, b)", "f[a, b)").len(), 1);
    // One word of one line, not all the lines that were moved.
    assert_eq!(
        conflicts(
            "  a(1);|  b(2);|  c(3);",
            "  a(1);|  b(4);|  c(3);",
            "    a(1);|    b(5);|    c(3);"
        ),
        ["  b(2); >   b(4); <     b(5);"],
    );
    // What is left of a line that was written anew is there by chance.
    let base = "let total = sum(a, b);";
    assert_eq!(conflicts(base, "let total = sum(a, b)?;", "draw(a, b);").len(), 1);
}

#[test]
fn what_one_removes_and_the_other_changes_is_a_conflict() {
    assert_eq!(conflicts("a|b|c", "a|c", "a|x|c"), ["b >  < x"]);
    assert_eq!(conflicts("a|b|c|d", "a|d", "a|b|x|d"), ["b|c >  < b|x"]);
    assert_eq!(conflicts("a|b|c", "-", "a|x|c").len(), 1);
    // They added a line among those that we removed.
    assert_eq!(conflicts("a|b|c|d", "a|d", "a|b|x|c|d"), ["b|c >  < b|x|c"]);
}

#[test]
fn different_lines_in_one_place_are_a_conflict() {
    assert_eq!(conflicts("a|b", "a|x|b", "a|y|b"), [" > x < y"]);
    assert_eq!(conflicts("a|b", "a|b|x", "a|b|y"), [" > x < y"]);
    // What both added is none.
    assert_eq!(conflicts("a|b", "a|x|1|b", "a|x|2|b"), [" > 1 < 2"]);
}

#[test]
fn a_conflict_is_settled_as_told() {
    let [base, ours, theirs] = split(["a|b|c|d|e|f", "a|x|c|d|z|f", "1|y|c|2|3|f"]);
    let merged = merge(&base, &ours, &theirs);
    assert_eq!(merged.conflicts.len(), 2, "{:?}", merged.conflicts);
    let resolve = |choices: &[Choice]| merged.resolve(choices).join("|");
    assert_eq!(resolve(&[]), "a|x|c|d|z|f");
    assert_eq!(resolve(&[Choice::Theirs]), "1|y|c|d|z|f");
    assert_eq!(resolve(&[Choice::Both, Choice::Both]), "a|x|1|y|c|d|z|2|3|f");
    let edited = Choice::Edited(vec!["new".into()]);
    assert_eq!(resolve(&[Choice::Ours, edited]), "a|x|c|new|f");
}

#[test]
fn a_property_is_theirs_when_only_they_changed_it() {
    assert!(!merge_value(&true, true, false));
    assert!(!merge_value(&true, false, true));
    assert!(merge_value(&true, true, true));
}
