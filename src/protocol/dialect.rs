//! The ways in which agents differ from the protocol, as a table: where, how it is recognised, and
//! what becomes of it. [`canonical`] runs before anything is read into a type, so that nobody else
//! knows of dialects.
//!
//! Knows JSON and the protocol's names. Must not know sessions, nor what a message is for.
//! Streamed text does not come this way: `decode` reads it straight from the line.

mod request_shape;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod tool_shape;

use serde_json::{Map, Value};

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// A place in a message where dialects differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The result of `initialize`.
    Initialized,
    /// One of `authMethods`.
    AuthMethod,
    /// The result of `session/new`, `load`, `resume` and `fork`.
    Session,
    /// `modes` of a session.
    Modes,
    /// One of `availableModes`.
    Mode,
    /// `models` of a session.
    Models,
    /// One of `availableModels`.
    Model,
    /// One of `configOptions`.
    ConfigOption,
    /// One of a config option's `options`.
    ConfigValue,
    /// One of the sessions in the result of `session/list`.
    Kept,
    /// The result of `session/prompt`, and the parameters of `session/end_turn`.
    TurnEnd,
    /// The parameters of `session/update`.
    UpdateParams,
    /// `update` in them.
    Update,
    /// An update that is a piece of a message.
    Chunk,
    /// A content block.
    Block,
    /// A tool call, in an update or a permission request.
    ToolCall,
    /// One of a tool call's `content`.
    ToolContent,
    /// One of a tool call's `locations`.
    Location,
    /// The update `plan`.
    Plan,
    /// One of a plan's `entries`.
    PlanEntry,
    /// The update `available_commands_update`.
    Commands,
    /// One of `availableCommands`.
    Command,
    /// The update `current_mode_update`.
    CurrentMode,
    /// The update `config_option_update`.
    ConfigOptions,
    /// The update `usage_update`.
    Usage,
    /// The update `notice`.
    Notice,
    /// The parameters of `session/request_permission`.
    Permission,
    /// One of its `options`.
    PermissionOption,
    /// The parameters of `fs/*`.
    File,
    /// The parameters of `terminal/*`.
    Terminal,
    /// The parameters of `elicitation/*`.
    Elicitation,
}

/// One way to differ, at one place.
pub(super) struct Row {
    place: Place,
    /// What the deviation is, in a few words.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers and for the test of each row"))]
    name: &'static str,
    rule: Rule,
}

/// How a deviation is recognised, and what becomes of it. A field that is `null` counts as absent.
enum Rule {
    /// These fields stand for that one, unless it is there.
    Field(&'static [&'static str], &'static str),
    /// A missing field takes a copy of the first of these that is there.
    Copy(&'static str, &'static [&'static str]),
    /// A missing field is this text.
    Default(&'static str, &'static str),
    /// These fields are text even when they come as a number.
    Text(&'static [&'static str]),
    /// These fields are whole numbers from 0 on; what can't be made one is dropped.
    Whole(&'static [&'static str]),
    /// A text or number alone stands for an object with this field.
    Alone(&'static str),
    /// Words of a field.
    Words(&'static str, Words),
    /// A change to an object that takes more than a rule.
    Shape(fn(&mut Object)),
    /// A change to a value that may not be an object yet.
    Form(fn(&mut Value)),
}

/// The words a field may have. Spelling (`inProgress`, `in-progress`, `In Progress`) does not
/// matter; other words stay as they are.
struct Words {
    known: &'static [&'static str],
    others: &'static [(&'static str, &'static str)],
}

/// Brings a value to the form the protocol gives it. What is canonical already stays as it is.
pub(super) fn canonical(place: Place, value: &mut Value) {
    for row in table::ROWS.iter().filter(|row| row.place == place) {
        row.rule.apply(value);
    }
}

impl Rule {
    fn apply(&self, value: &mut Value) {
        match (self, value) {
            (Rule::Form(form), value) => form(value),
            (Rule::Alone(field), value @ (Value::String(_) | Value::Number(_))) => {
                let alone = value.take();
                *value = Value::Object(Object::from_iter([((*field).to_owned(), alone)]));
            }
            (rule, Value::Object(object)) => rule.apply_to(object),
            _ => {}
        }
    }

    fn apply_to(&self, object: &mut Object) {
        match self {
            Rule::Field(others, field) => rename(object, others, field),
            Rule::Copy(field, sources) if !has(object, field) => {
                if let Some(source) = sources.iter().find(|source| has(object, source)) {
                    let copy = object.get(*source).cloned().unwrap_or_default();
                    object.insert((*field).to_owned(), copy);
                }
            }
            Rule::Default(field, text) if !has(object, field) => {
                object.insert((*field).to_owned(), (*text).into());
            }
            Rule::Text(fields) => {
                for field in *fields {
                    if let Some(value @ Value::Number(_)) = object.get_mut(*field) {
                        *value = Value::String(value.to_string());
                    }
                }
            }
            Rule::Whole(fields) => {
                for field in *fields {
                    if let Some(value) = object.get_mut(*field) {
                        *value = whole(value).map_or(Value::Null, Value::from);
                    }
                }
            }
            Rule::Words(field, words) => {
                if let Some(Value::String(word)) = object.get_mut(*field)
                    && let Some(known) = words.known_for(word)
                {
                    known.clone_into(word);
                }
            }
            Rule::Shape(shape) => shape(object),
            Rule::Copy(..) | Rule::Default(..) | Rule::Alone(_) | Rule::Form(_) => {}
        }
    }
}

impl Words {
    fn known_for(&self, word: &str) -> Option<&'static str> {
        let spelled = snake_case(word);
        let known = self.known.iter().find(|known| **known == spelled);
        let other = || self.others.iter().find(|(other, _)| *other == spelled);
        known.copied().or_else(|| other().map(|(_, known)| *known))
    }
}

/// Whether a field is there and says something.
fn has(object: &Object, field: &str) -> bool {
    object.get(field).is_some_and(|value| !value.is_null())
}

/// The text in a field.
fn text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}

/// Moves the first of these fields that is there to where it belongs, unless that place is taken.
fn rename(object: &mut Object, others: &[&str], field: &str) {
    if has(object, field) {
        return;
    }
    if let Some(other) = others.iter().find(|other| has(object, other)) {
        let value = object.remove(*other).unwrap_or_default();
        object.insert(field.to_owned(), value);
    }
}

/// Puts the fields of an inner object beside it; what is there already counts.
fn lift(object: &mut Object, inner: Object) {
    for (field, value) in inner {
        if !has(object, &field) {
            object.insert(field, value);
        }
    }
}

/// A whole number from 0 on, however it is written.
fn whole(value: &Value) -> Option<u64> {
    let real = |real: f64| (real.is_finite() && real >= 0.0).then_some(real.round() as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(real)),
        Value::String(text) => text.trim().parse::<f64>().ok().and_then(real),
        _ => None,
    }
}

fn snake_case(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    let mut after_lower = false;
    for c in word.chars() {
        match c {
            ' ' | '-' => out.push('_'),
            c if c.is_ascii_uppercase() => {
                if after_lower {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
        after_lower = c.is_ascii_lowercase();
    }
    out
}
