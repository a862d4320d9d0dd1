//! Mistakes that a well-formed scenario can still contain, found before it is played.
//!
//! It knows what names and patterns may appear where; it must not know what steps do.

use std::collections::HashSet;

use serde_json::Value;

use super::step::{Answered, Step};
use super::{Handler, Scenario, ScenarioError};
use crate::tutor::template::{TESTS, names, test_of};

/// Names that every handler has. Scenarios cannot set them.
pub(crate) const BUILT_IN: [&str; 11] = [
    "cwd",
    "sessionId",
    "prompt",
    "turn",
    "pid",
    "call",
    "id",
    "method",
    "params",
    "client",
    "cancelled",
];

/// Signals a scenario can name.
pub(crate) const SIGNALS: [&str; 10] =
    ["TERM", "KILL", "INT", "HUP", "QUIT", "ABRT", "SEGV", "PIPE", "USR1", "USR2"];

/// Refuses a scenario that cannot mean what it says.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut checker = Checker { variables: HashSet::new(), awaited: HashSet::new() };
    checker.variables.extend(BUILT_IN.map(str::to_owned));
    for name in scenario.vars.keys() {
        checker.declare(name, "vars")?;
    }
    each_list(scenario, &mut |place, steps| checker.collect(steps, &place))?;
    if scenario.chop == Some(0) {
        return problem("chop", "must be at least 1");
    }
    if scenario.pace.is_some_and(|pace| !pace.is_finite() || pace < 0.0) {
        return problem("pace", "must be 0 or more");
    }
    for (method, handler) in &scenario.on {
        let place = format!("on.{method}");
        if handler.when.is_some() || handler.is.is_some() || handler.turn.is_some() {
            return problem(&place, "`when`, `is` and `turn` belong into `prompts`");
        }
        checker.check_handler(handler, &place)?;
    }
    for (index, handler) in scenario.prompts.iter().enumerate() {
        checker.check_handler(handler, &format!("prompts[{index}]"))?;
    }
    each_list(scenario, &mut |place, steps| checker.check_steps(steps, &place))
}

type OnList<'a> = &'a mut dyn FnMut(String, &[Step]) -> Result<(), ScenarioError>;

/// Calls back with every top-level list of steps and its place.
fn each_list(scenario: &Scenario, on_list: OnList<'_>) -> Result<(), ScenarioError> {
    on_list("startup".to_owned(), &scenario.startup)?;
    on_list("on_eof".to_owned(), &scenario.on_eof)?;
    let by_method = scenario.on.iter().map(|(method, handler)| (format!("on.{method}"), handler));
    let prompts = scenario.prompts.iter().enumerate();
    let by_prompt = prompts.map(|(index, handler)| (format!("prompts[{index}]"), handler));
    for (place, handler) in by_method.chain(by_prompt) {
        on_list(format!("{place}.steps"), &handler.steps)?;
        on_list(format!("{place}.on_cancel"), &handler.on_cancel)?;
    }
    Ok(())
}

struct Checker {
    variables: HashSet<String>,
    awaited: HashSet<String>,
}

impl Checker {
    fn declare(&mut self, name: &str, place: &str) -> Result<(), ScenarioError> {
        if BUILT_IN.contains(&name) {
            return problem(place, &format!("`{name}` is a built-in name and cannot be set"));
        }
        self.variables.insert(name.to_owned());
        Ok(())
    }

    /// Learns the names that steps will set: a handler may use what another one saved.
    fn collect(&mut self, steps: &[Step], place: &str) -> Result<(), ScenarioError> {
        for (index, step) in steps.iter().enumerate() {
            let place = format!("{place}[{index}]");
            match step {
                Step::Request(it) => {
                    self.awaited.extend(it.name.clone());
                    it.save.as_ref().map_or(Ok(()), |name| self.declare(name, &place))?;
                }
                Step::Await(it) => {
                    it.save.as_ref().map_or(Ok(()), |name| self.declare(name, &place))?;
                }
                Step::Requests(it) => {
                    self.declare(&it.save, &place)?;
                    self.declare("i", &place)?;
                }
                Step::Grandchild(it) => {
                    it.save.as_ref().map_or(Ok(()), |name| self.declare(name, &place))?;
                }
                Step::Repeat(it) => self.declare(it.counter.as_deref().unwrap_or("i"), &place)?,
                Step::Set(it) => it.keys().try_for_each(|name| self.declare(name, &place))?,
                _ => {}
            }
            for (label, inner) in nested(step) {
                self.collect(inner, &format!("{place}.{label}"))?;
            }
        }
        Ok(())
    }

    fn check_handler(&self, handler: &Handler, place: &str) -> Result<(), ScenarioError> {
        if handler.result.is_some() && handler.error.is_some() {
            return problem(place, "`result` and `error` exclude each other (use `reply_raw`)");
        }
        for value in [&handler.result, &handler.error, &handler.merge].into_iter().flatten() {
            self.check_value(value, place)?;
        }
        Ok(())
    }

    fn check_steps(&self, steps: &[Step], place: &str) -> Result<(), ScenarioError> {
        for (index, step) in steps.iter().enumerate() {
            let place = format!("{place}[{index}]");
            self.check_step(step, &place)?;
            for (label, inner) in nested(step) {
                self.check_steps(inner, &format!("{place}.{label}"))?;
            }
        }
        Ok(())
    }

    fn check_step(&self, step: &Step, place: &str) -> Result<(), ScenarioError> {
        self.check_uses(step, place)?;
        match step {
            Step::Say(it) | Step::Think(it) | Step::User(it) if it.chunk == Some(0) => {
                problem(place, "`chunk` must be at least 1")
            }
            Step::Request(it) if it.no_wait => {
                if it.name.is_none() && !(it.answered.is_empty() && it.otherwise.is_empty()) {
                    return problem(place, "`no_wait` needs `as`, and `await` takes the branches");
                }
                if it.save.is_some() || !it.answered.is_empty() || !it.otherwise.is_empty() {
                    return problem(place, "with `no_wait`, `save` and branches belong to `await`");
                }
                Ok(())
            }
            Step::Request(it) if it.name.is_some() => problem(place, "`as` needs `no_wait`"),
            Step::Requests(it) if it.in_flight == Some(0) => {
                problem(place, "`in_flight` must be at least 1")
            }
            Step::Await(it) if !self.awaited.contains(&it.name) => {
                problem(place, &format!("no request has `\"as\": \"{}\"`", it.name))
            }
            Step::KillSelf(name) if !SIGNALS.contains(&name.trim_start_matches("SIG")) => {
                problem(place, &format!("unknown signal `{name}`, expected one of {SIGNALS:?}"))
            }
            Step::Reply(it) if it.result.is_some() && it.error.is_some() => {
                problem(place, "`result` and `error` exclude each other (use `reply_raw`)")
            }
            Step::If(it) => self.check_condition(&it.when, place),
            Step::WaitUntil(it) => self.check_condition(&it.when, place),
            Step::Expect(pattern) => self.check_condition(pattern, place),
            _ => Ok(()),
        }
    }

    /// Every text of the step may only name what exists.
    fn check_uses(&self, step: &Step, place: &str) -> Result<(), ScenarioError> {
        let value =
            |it: &Option<Value>| it.as_ref().map_or(Ok(()), |it| self.check_value(it, place));
        let text = |it: &str| self.check_text(it, place);
        match step {
            Step::Say(it) | Step::Think(it) | Step::User(it) => text(&it.text),
            Step::Update(it) => self.check_value(it, place),
            Step::Notify(it) => value(&it.params),
            Step::Raw(it) => text(&it.text),
            Step::Request(it) => {
                value(&it.params)?;
                self.check_answers(&it.answered, place)
            }
            Step::Await(it) => self.check_answers(&it.answered, place),
            Step::Requests(it) => {
                value(&it.params)?;
                it.edit.as_ref().map_or(Ok(()), |it| text(&it.add))
            }
            Step::WaitFile(it) => text(&it.path),
            Step::Stderr(it) => text(&it.text),
            Step::WriteFile(it) => text(&it.path).and_then(|()| text(&it.text)),
            Step::DeleteFile(it) | Step::ReplyRaw(it) => text(it),
            Step::Reply(it) => [&it.result, &it.error, &it.merge].into_iter().try_for_each(value),
            Step::Set(it) => it.values().try_for_each(|it| self.check_value(it, place)),
            _ => Ok(()),
        }
    }

    fn check_answers(&self, answered: &[Answered], place: &str) -> Result<(), ScenarioError> {
        answered.iter().filter_map(|it| it.when.as_ref()).try_for_each(|when| {
            self.check_value(when, place)?;
            check_pattern(when, place)
        })
    }

    /// A pattern whose keys are paths of variables.
    fn check_condition(&self, pattern: &Value, place: &str) -> Result<(), ScenarioError> {
        let Value::Object(entries) = pattern else {
            return problem(place, "the condition must be an object of variables");
        };
        for (path, wanted) in entries {
            self.check_name(path.split('.').next().unwrap_or_default(), place)?;
            self.check_value(wanted, place)?;
            check_pattern(wanted, place)?;
        }
        Ok(())
    }

    fn check_value(&self, value: &Value, place: &str) -> Result<(), ScenarioError> {
        match value {
            Value::String(text) => self.check_text(text, place),
            Value::Array(items) => items.iter().try_for_each(|it| self.check_value(it, place)),
            Value::Object(it) => it.values().try_for_each(|it| self.check_value(it, place)),
            _ => Ok(()),
        }
    }

    fn check_text(&self, text: &str, place: &str) -> Result<(), ScenarioError> {
        names(text).try_for_each(|name| self.check_name(name, place))
    }

    fn check_name(&self, name: &str, place: &str) -> Result<(), ScenarioError> {
        if self.variables.contains(name) {
            return Ok(());
        }
        problem(place, &format!("unknown variable `{name}` (write `\\\\{{{{` for plain braces)"))
    }
}

fn check_pattern(pattern: &Value, place: &str) -> Result<(), ScenarioError> {
    if let Some((test, _)) = test_of(pattern).filter(|(test, _)| !TESTS.contains(test)) {
        return problem(place, &format!("unknown test `{test}`, expected one of {TESTS:?}"));
    }
    match pattern {
        Value::Array(items) => items.iter().try_for_each(|it| check_pattern(it, place)),
        Value::Object(it) => it.values().try_for_each(|it| check_pattern(it, place)),
        _ => Ok(()),
    }
}

fn problem(place: &str, problem: &str) -> Result<(), ScenarioError> {
    Err(ScenarioError::Meaning { place: place.to_owned(), problem: problem.to_owned() })
}

/// The lists of steps inside a step, with the key each has in a file.
fn nested(step: &Step) -> Vec<(String, &[Step])> {
    let mut lists: Vec<(String, &[Step])> = Vec::new();
    let mut add = |label: &str, steps| lists.push((label.to_owned(), steps));
    match step {
        Step::Request(it) => add("otherwise", &it.otherwise),
        Step::Await(it) => add("otherwise", &it.otherwise),
        Step::WaitCancel(it) => {
            add("then", &it.then);
            add("otherwise", &it.otherwise);
        }
        Step::WaitUntil(it) => add("otherwise", &it.otherwise),
        Step::WaitFile(it) => add("otherwise", &it.otherwise),
        Step::If(it) => {
            add("then", &it.then);
            add("else", &it.otherwise);
        }
        Step::Repeat(it) => add("steps", &it.steps),
        _ => {}
    }
    let answered: &[Answered] = match step {
        Step::Request(it) => &it.answered,
        Step::Await(it) => &it.answered,
        _ => &[],
    };
    for (index, answer) in answered.iter().enumerate() {
        lists.push((format!("answered[{index}].steps"), &answer.steps));
    }
    lists
}
