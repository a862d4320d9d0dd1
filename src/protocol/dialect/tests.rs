//! Each row of the table: what an agent writes, and what becomes of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

/// Place, row, before, after.
fn cases() -> impl Iterator<Item = [&'static str; 4]> {
    let lines = include_str!("cases.txt").lines().filter(|line| !line.starts_with('#'));
    let case = |line: &'static str| line.split(" | ").collect::<Vec<_>>().try_into();
    lines.filter(|line| !line.is_empty()).map(move |line| case(line).expect(line))
}

fn place_name(row: &Row) -> String {
    format!("{:?}", row.place)
}

#[test]
fn each_row_brings_its_dialect_to_the_protocol() {
    for [place, name, before, after] in cases() {
        let mut value: Value = serde_json::from_str(before).unwrap();
        let mut acted = false;
        let rows = || table::ROWS.iter().filter(|row| place_name(row) == place);
        for row in rows() {
            let was = value.clone();
            row.rule.apply(&mut value);
            acted |= row.name == name && value != was;
        }
        assert!(acted, "{place}, {name}: the row did nothing to {before}");
        assert_eq!(value, serde_json::from_str::<Value>(after).unwrap(), "{place}, {name}");
        let again = value.clone();
        rows().for_each(|row| row.rule.apply(&mut value));
        assert_eq!(value, again, "{place}, {name}: what is canonical stays");
    }
}

#[test]
fn every_row_has_a_case() {
    let rows = table::ROWS.iter().map(|row| format!("{}: {}", place_name(row), row.name));
    let rows: BTreeSet<String> = rows.collect();
    let cases = cases().map(|[place, name, ..]| format!("{place}: {name}")).collect();
    assert_eq!(rows, cases);
    assert_eq!(rows.len(), table::ROWS.len(), "two rows have the same name");
}

#[test]
fn a_yes_is_never_guessed() {
    for id in ["allow_once", "allow", "always", "once", "yes", "proceed"] {
        let mut option = serde_json::json!({ "optionId": id, "name": "No more questions" });
        canonical(Place::PermissionOption, &mut option);
        assert_eq!(option.get("kind"), None, "{id}");
    }
}

#[test]
fn words_are_recognised_however_they_are_spelled() {
    for word in ["in_progress", "inProgress", "in-progress", "In Progress", "IN_PROGRESS"] {
        let mut call = serde_json::json!({ "status": word });
        canonical(Place::ToolCall, &mut call);
        assert_eq!(call["status"], "in_progress", "{word}");
    }
}

#[test]
fn no_value_makes_a_row_panic() {
    let nasty = ["null", "true", "-1", "1e400", "\"\"", "[]", "{}", "[[]]", r#"{"content":{}}"#];
    for row in table::ROWS {
        for text in nasty {
            let mut value: Value = serde_json::from_str(text).unwrap_or_default();
            row.rule.apply(&mut value);
        }
    }
}
