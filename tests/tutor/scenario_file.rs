//! Mistakes in scenario files are refused, with the place.

use acp_nvim::tutor::scenario::Scenario;
use acp_nvim::tutor::tour::Tour;

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = Scenario::parse(text).expect_err("this is no scenario").to_string();
    assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
}

#[test]
fn forms_are_refused_with_line_and_column() {
    refused("{", "line 1 column");
    refused(r#"{"promts": []}"#, "unknown field `promts`, expected one of `about`, `pace`");
    refused("{\"prompts\": [\n{\"steps\": [\n{\"sya\": \"x\"}]}]}", "unknown variant `sya`");
    refused("{\"prompts\": [\n{\"steps\": [\n{\"sya\": \"x\"}]}]}", "at line 3 column");
    refused(
        r#"{"startup": [{"say": {"txt": ""}}]}"#,
        "unknown field `txt`, expected one of `text`",
    );
    refused(r#"{"startup": [{"say": 3}]}"#, "expected a text or an object with `text`");
    refused(r#"{"startup": [{"say": "a", "think": "b"}]}"#, "line 1 column");
    refused(r#"{"startup": [{"wait_cancel": false}]}"#, "expected `true`, a timeout");
    refused(r#"{"startup": [{"bytes": [256]}]}"#, "256");
    refused(r#"{"startup": [{"bytes": {"base64": "?"}}]}"#, "not base 64");
    refused(r#"{"startup": [{"request": {"params": {}}}]}"#, "missing field `method`");
    refused(r#"{"busy": "later"}"#, "expected one of `reject`, `queue`, `cancel`");
    refused(r#"{"on": {"x": "y"}}"#, "a list of steps or an object");
}

#[test]
fn meanings_are_refused_with_their_path() {
    refused(
        r#"{"startup": [{"note": ""}, {"say": "{{flie.a}}"}]}"#,
        "startup[1]: unknown variable `flie`",
    );
    refused(
        r#"{"prompts": [{"steps": [{"repeat": {"times": 1, "steps": [{"await": "x"}]}}]}]}"#,
        r#"prompts[0].steps[0].steps[0]: no request has `"as": "x"`"#,
    );
    refused(
        r#"{"on": {"a/b": [{"request": {"method": "m", "answered": [{"steps": [{"kill_self": "SIGFOO"}]}]}}]}}"#,
        "on.a/b.steps[0].answered[0].steps[0]: unknown signal `SIGFOO`",
    );
    refused(r#"{"on": {"a": {"turn": 1}}}"#, "on.a: `when`, `is` and `turn` belong into `prompts`");
    refused(
        r#"{"startup": [{"if": {"when": {"nope": 1}}}]}"#,
        "startup[0]: unknown variable `nope`",
    );
    refused(r#"{"startup": [{"expect": {"pid": {"$is": 1}}}]}"#, "unknown test `$is`");
    refused(r#"{"startup": [{"set": {"cwd": 1}}]}"#, "`cwd` is a built-in name");
    refused(r#"{"startup": [{"say": {"text": "", "chunk": 0}}]}"#, "`chunk` must be at least 1");
    refused(r#"{"prompts": [{"result": 1, "error": 2}]}"#, "prompts[0]: `result` and `error`");
    refused(
        r#"{"startup": [{"request": {"method": "m", "no_wait": true, "as": "a", "save": "b"}}]}"#,
        "startup[0]: with `no_wait`",
    );
    refused(r#"{"startup": [{"request": {"method": "m", "as": "a"}}]}"#, "`as` needs `no_wait`");
    refused(
        r#"{"startup": [{"requests": {"method": "_m", "times": 1, "in_flight": 0, "save": "a"}}]}"#,
        "startup[0]: `in_flight` must be at least 1",
    );
    refused(
        r#"{"startup": [{"requests": {"method": "_m", "times": 1, "save": "cwd"}}]}"#,
        "startup[0]: `cwd` is a built-in name",
    );
    refused(r#"{"chop": 0}"#, "chop: must be at least 1");
    refused(r#"{"pace": -1}"#, "pace: must be 0 or more");
}

#[test]
fn the_tour_is_a_scenario() {
    assert_eq!(Tour::default().scenario().unwrap().pace, Some(1.0));
}

/// The text of the reference.
fn reference() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/README.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn examples_of_the_reference_are_scenarios() {
    let text = reference();
    let blocks = text.split("```json\n").skip(1).map(|it| it.split("```").next().unwrap());
    for block in blocks {
        let is_steps = block.starts_with('[');
        let scenario = if is_steps {
            format!("{{\"prompts\":[{{\"steps\":{block}}}]}}")
        } else {
            block.to_owned()
        };
        if let Err(error) = Scenario::parse(&scenario) {
            panic!("{error}\n{block}");
        }
    }
}

#[test]
fn every_verb_is_in_the_reference() {
    let error = Scenario::parse(r#"{"startup": [{"?": 1}]}"#).unwrap_err().to_string();
    let verbs: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    let text = reference();
    let headings: String = text.lines().filter(|it| it.starts_with("### ")).collect();
    for verb in verbs {
        assert!(headings.contains(&format!("`{verb}`")), "no heading for `{verb}`");
        assert!(text.contains(&format!("\"{verb}\":")), "no example for `{verb}`");
    }
}
