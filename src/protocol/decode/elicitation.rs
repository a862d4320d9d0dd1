//! `elicitation/create`: forms to fill in and addresses to visit.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use super::answer::is_web;
use super::request::Asked;
use super::{bounds, wire};
use crate::protocol::dialect::Object;
use crate::session::event::Request;
use crate::session::question::{Elicitation, ElicitationMode, Field, FieldInput};

/// The most fields of a form, and the most bytes of what is said about it.
const FIELDS: usize = 100;
const MESSAGE: usize = 16 << 10;

/// What the agent wants filled in or visited.
pub(super) fn elicit(mut asked: Asked<'_>) -> Result<Request, String> {
    let mut params = Value::Object(asked.take()?);
    bounds::refuse(&mut params)?;
    let Value::Object(mut object) = params else { return Err("no parameters".to_owned()) };
    let remote = wire::text(&mut object, "sessionId").map(Into::into);
    let tool_call = wire::text(&mut object, "toolCallId").map(Into::into);
    let mut message = wire::text(&mut object, "message").unwrap_or_default();
    bounds::shorten(&mut message, MESSAGE);
    let mode = match wire::text(&mut object, "mode").as_deref() {
        Some("form") => ElicitationMode::Form(fields(object.remove("requestedSchema"))?),
        Some("url") => address(&mut object)?,
        Some(other) => return Err(format!("this client has no elicitation by {other}")),
        None => return Err("there is no mode".to_owned()),
    };
    Ok(Request::Elicit { remote, elicitation: Elicitation { message, tool_call, mode } })
}

fn address(object: &mut Object) -> Result<ElicitationMode, String> {
    let id = wire::required(object, "elicitationId")?;
    let url = wire::required(object, "url")?;
    match is_web(&url) {
        true => Ok(ElicitationMode::Url { id, url }),
        false => Err("only addresses with http or https are opened".to_owned()),
    }
}

/// The fields, in the agent's order. One that can't be shown is left out, unless it must be filled
/// in.
fn fields(schema: Option<Value>) -> Result<Vec<Field>, String> {
    let mut schema = match schema {
        Some(Value::Object(schema)) => schema,
        _ => return Err("there is no requestedSchema".to_owned()),
    };
    let required = wire::texts(schema.remove("required"));
    let properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        None | Some(Value::Null) => Object::new(),
        Some(_) => return Err("properties is no object".to_owned()),
    };
    if properties.len() > FIELDS {
        return Err(format!("a form of {} fields; {FIELDS} are the most", properties.len()));
    }
    let mut fields = Vec::new();
    for (name, property) in properties {
        let required = required.contains(&name);
        match field(&name, property, required) {
            Ok(field) => fields.push(field),
            Err(why) if required => return Err(format!("the field {name}: {why}")),
            Err(why) => tracing::warn!(name, why, "a field of a form: left out"),
        }
    }
    Ok(fields)
}

fn field(name: &str, property: Value, required: bool) -> Result<Field, String> {
    let word = |key| property.get(key).and_then(Value::as_str).map(str::to_owned);
    let title = word("title").unwrap_or_else(|| name.to_owned());
    let description = word("description");
    let property = serde_json::from_value(property).map_err(|error| error.to_string())?;
    let input = match property {
        acp::ElicitationPropertySchema::String(it) => text(it),
        acp::ElicitationPropertySchema::Number(it) => FieldInput::Number {
            default: it.default,
            integer: false,
            range: (it.minimum, it.maximum),
        },
        acp::ElicitationPropertySchema::Integer(it) => FieldInput::Number {
            default: it.default.map(|it| it as f64),
            integer: true,
            range: (it.minimum.map(|it| it as f64), it.maximum.map(|it| it as f64)),
        },
        acp::ElicitationPropertySchema::Boolean(it) => FieldInput::Boolean { default: it.default },
        acp::ElicitationPropertySchema::Array(it) => FieldInput::MultiSelect {
            values: match it.items {
                acp::MultiSelectItems::String(items) => plain(items.values),
                acp::MultiSelectItems::Titled(items) => titled(items.options),
                _ => return Err("a list of something other than texts".to_owned()),
            },
            default: it.default.unwrap_or_default(),
            count: (it.min_items, it.max_items),
        },
        _ => return Err("a type this client has no field for".to_owned()),
    };
    Ok(Field { name: name.to_owned(), title, description, required, input })
}

fn text(property: acp::StringPropertySchema) -> FieldInput {
    let values = match (property.one_of, property.enum_values) {
        (Some(options), _) => Some(titled(options)),
        (None, Some(values)) => Some(plain(values)),
        (None, None) => None,
    };
    if let Some(values) = values {
        return FieldInput::Select { values, default: property.default };
    }
    let format = property.format.and_then(|format| match serde_json::to_value(format) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    });
    FieldInput::Text {
        default: property.default,
        format,
        length: (property.min_length.map(u64::from), property.max_length.map(u64::from)),
        pattern: property.pattern,
    }
}

fn plain(values: Vec<String>) -> Vec<(String, String)> {
    values.into_iter().map(|value| (value.clone(), value)).collect()
}

fn titled(options: Vec<acp::EnumOption>) -> Vec<(String, String)> {
    let worded = |option: acp::EnumOption| match option.description {
        Some(more) if more != option.title => (option.value, format!("{} – {more}", option.title)),
        _ => (option.value, option.title),
    };
    options.into_iter().map(worded).collect()
}
