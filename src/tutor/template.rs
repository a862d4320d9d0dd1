//! `{{name}}` substitution, and the comparison of JSON with a pattern.
//!
//! Pure: it knows values and patterns, and must not know where they come from.

use serde_json::Value;

/// Where the values behind names are kept.
pub(crate) trait Variables {
    /// The value of a name without dots.
    fn value(&self, name: &str) -> Option<Value>;
}

/// The value at `name.key.0.…`.
fn get(path: &str, variables: &dyn Variables) -> Option<Value> {
    let Some((name, rest)) = path.split_once('.') else { return variables.value(path) };
    let value = variables.value(name)?;
    rest.split('.').try_fold(&value, child).cloned()
}

/// Whether the variables have everything `pattern` asks for; its keys are paths.
pub(crate) fn variables_fit(pattern: &Value, variables: &dyn Variables) -> bool {
    let Value::Object(entries) = pattern else { return false };
    entries.iter().all(|(path, wanted)| fits_option(wanted, get(path, variables).as_ref()))
}

fn child<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        Value::Object(entries) => entries.get(key),
        _ => None,
    }
}

/// Replaces every placeholder in a text. What is missing becomes nothing.
pub(crate) fn expand_text(text: &str, variables: &dyn Variables) -> String {
    let mut expanded = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Text(text) => expanded.push_str(text),
            Part::Name(name) => match get(name, variables) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => expanded.push_str(&text),
                Some(other) => expanded.push_str(&other.to_string()),
            },
        }
    }
    expanded
}

/// Replaces placeholders in every string of a JSON value. A string that is one placeholder and
/// nothing else becomes the value itself, with its type.
pub(crate) fn expand(value: &Value, variables: &dyn Variables) -> Value {
    match value {
        Value::String(text) => match parts(text).as_slice() {
            [Part::Name(name)] => get(name, variables).unwrap_or(Value::Null),
            _ => Value::String(expand_text(text, variables)),
        },
        Value::Array(items) => items.iter().map(|item| expand(item, variables)).collect(),
        Value::Object(entries) => {
            let expanded = entries.iter().map(|(key, item)| (key.clone(), expand(item, variables)));
            Value::Object(expanded.collect())
        }
        scalar => scalar.clone(),
    }
}

/// The first part of every name used in a text, for checking scenarios before they run.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Name(name) => name.split('.').next(),
        Part::Text(_) => None,
    })
}

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Cuts a text at its placeholders. `\{{` is two plain braces, and so are braces around anything
/// that is not a name: source code is full of them.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(open) = rest.get(from..).and_then(|it| it.find("{{")).map(|it| it + from) {
        let (before, braces) = rest.split_at(open);
        let name = braces.get(2..).and_then(|it| it.split_once("}}"));
        if let Some(escaped) = before.strip_suffix('\\') {
            parts.push(Part::Text(escaped));
            rest = braces;
            from = 2;
        } else if let Some((name, after)) = name.filter(|it| is_name(it.0)) {
            parts.push(Part::Text(before));
            parts.push(Part::Name(name));
            rest = after;
            from = 0;
        } else {
            from = open + 1;
        }
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| !matches!(part, Part::Text("")));
    parts
}

fn is_name(text: &str) -> bool {
    let starts_well = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    starts_well
        && text.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-'))
}

/// Whether `value` has everything `pattern` asks for.
///
/// Objects may have more than the pattern; lists must have the same length; scalars are equal.
/// Objects with one `$` key are tests: `$exists`, `$contains`, `$not`, `$any`.
pub(crate) fn fits(pattern: &Value, value: &Value) -> bool {
    fits_option(pattern, Some(value))
}

fn fits_option(pattern: &Value, value: Option<&Value>) -> bool {
    if let Some((test, wanted)) = test_of(pattern) {
        return fits_test(test, wanted, value);
    }
    let Some(value) = value else { return false };
    match (pattern, value) {
        (Value::Object(wanted), Value::Object(entries)) => {
            wanted.iter().all(|(key, wanted)| fits_option(wanted, entries.get(key)))
        }
        (Value::Array(wanted), Value::Array(items)) => {
            wanted.len() == items.len() && wanted.iter().zip(items).all(|(w, item)| fits(w, item))
        }
        // 1 and 1.0 are the same number to everyone but serde_json.
        (Value::Number(wanted), Value::Number(number)) => wanted.as_f64() == number.as_f64(),
        _ => pattern == value,
    }
}

/// The names of the tests a pattern may use.
pub(crate) const TESTS: [&str; 4] = ["$exists", "$contains", "$not", "$any"];

/// The test that a pattern is, if it is one.
pub(crate) fn test_of(pattern: &Value) -> Option<(&str, &Value)> {
    let (key, wanted) = pattern.as_object().filter(|it| it.len() == 1)?.iter().next()?;
    key.starts_with('$').then_some((key.as_str(), wanted))
}

fn fits_test(test: &str, wanted: &Value, value: Option<&Value>) -> bool {
    match test {
        "$exists" => value.is_some_and(|it| !it.is_null()) == (wanted != &Value::Bool(false)),
        "$not" => !fits_option(wanted, value),
        "$any" => wanted.as_array().is_some_and(|all| all.iter().any(|it| fits_option(it, value))),
        "$contains" => match (value, wanted) {
            (Some(Value::String(text)), Value::String(part)) => text.contains(part.as_str()),
            (Some(Value::Array(items)), _) => items.iter().any(|item| fits(wanted, item)),
            _ => false,
        },
        _ => false,
    }
}

/// Lays `patch` over `base`, object by object; anything else is replaced.
pub(crate) fn merge(base: &mut Value, patch: Value) {
    match (base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, patch) => *base = patch,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Two;

    impl Variables for Two {
        fn value(&self, name: &str) -> Option<Value> {
            match name {
                "cwd" => Some(json!("/p")),
                "file" => Some(json!({"content": "text", "lines": [1, {"n": 2}]})),
                _ => None,
            }
        }
    }

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        let text = |text| expand_text(text, &Two);
        assert_eq!(text("{{cwd}}/a {{file.content}}{{file.lines.1.n}}"), "/p/a text2");
        assert_eq!(text(r"\{{cwd}} {{ cwd }} {{}} }}{{"), "{{cwd}} {{ cwd }} {{}} }}{{");
        assert_eq!(text("[{{file.missing}}]"), "[]");
        assert_eq!(text("{{{cwd}}}"), "{/p}");
        assert_eq!(text("ä{{cwd}}ö"), "ä/pö");
    }

    #[test]
    fn a_lone_placeholder_keeps_its_type() {
        let value =
            json!({"a": "{{file.lines}}", "b": ["x{{file.lines.0}}"], "c": "{{file.none}}"});
        let wanted = json!({"a": [1, {"n": 2}], "b": ["x1"], "c": null});
        assert_eq!(expand(&value, &Two), wanted);
    }

    #[test]
    fn patterns_ask_for_a_subset() {
        let value = json!({"outcome": {"outcome": "selected", "optionId": "once"}, "list": [1, 2]});
        assert!(fits(&json!({}), &value));
        assert!(fits(&json!({"outcome": {"optionId": "once"}}), &value));
        assert!(!fits(&json!({"outcome": {"optionId": "always"}}), &value));
        assert!(fits(&json!({"list": [1.0, 2]}), &value));
        assert!(!fits(&json!({"list": [1]}), &value));
        assert!(!fits(&json!({"missing": null}), &value));
    }

    #[test]
    fn tests_in_patterns() {
        let value = json!({"text": "hello", "list": [{"a": 1}]});
        assert!(fits(&json!({"text": {"$contains": "ell"}}), &value));
        assert!(fits(&json!({"list": {"$contains": {"a": 1}}}), &value));
        assert!(fits(&json!({"text": {"$exists": true}, "none": {"$exists": false}}), &value));
        assert!(fits(&json!({"text": {"$not": "bye"}}), &value));
        assert!(fits(&json!({"text": {"$any": ["bye", "hello"]}}), &value));
        assert!(!fits(&json!({"text": {"$contains": "bye"}}), &value));
    }

    #[test]
    fn variables_fit_by_path() {
        assert!(variables_fit(&json!({"file.content": "text", "no": {"$exists": false}}), &Two));
        assert!(!variables_fit(&json!({"file.content": "other"}), &Two));
    }

    #[test]
    fn merging_is_deep() {
        let mut base = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut base, json!({"a": {"b": 3}, "d": [2], "e": {"f": 1}}));
        assert_eq!(base, json!({"a": {"b": 3, "c": 2}, "d": [2], "e": {"f": 1}}));
    }
}
