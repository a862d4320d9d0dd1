//! What a session can be set to, and what the agent tells beside the chat.

use agent_client_protocol_schema::v1 as acp;
use serde::Deserialize;
use serde_json::Value;

use super::bounds::shorten;
use super::wire;
use crate::protocol::dialect::{Object, Place};
use crate::session::settings::{
    Choice, Command, ConfigOption, Plan, PlanBody, PlanEntry, PlanStatus, Priority, Setting, Usage,
    Value as Setable,
};

/// The most bytes of a step of a plan, and of what to type after a command.
const STEP: usize = 1_000;

/// `modes`
pub(super) fn modes(value: Option<Value>) -> Option<Choice> {
    choice(value, Place::Modes, ("currentModeId", "availableModes"), |mode| {
        let mode: acp::SessionMode = wire::read(Place::Mode, mode)?;
        Ok(setable(&mode.id.0, mode.name, mode.description))
    })
}

/// `models`, which the schema has forgotten and agents have not.
pub(super) fn models(value: Option<Value>) -> Option<Choice> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Model {
        model_id: String,
        name: String,
        #[serde(default)]
        description: Option<String>,
    }
    choice(value, Place::Models, ("currentModelId", "availableModels"), |model| {
        let model: Model = wire::read(Place::Model, model)?;
        Ok(setable(&model.model_id, model.name, model.description))
    })
}

fn choice(
    value: Option<Value>,
    place: Place,
    (current, values): (&str, &str),
    read: impl FnMut(Value) -> Result<Setable, String>,
) -> Option<Choice> {
    let value = value.filter(|value| !value.is_null())?;
    let read = |value| {
        let mut object = wire::object(place, value)?;
        let values = wire::items(values, object.remove(values), read).unwrap_or_default();
        let current = wire::text(&mut object, current);
        let current = current.or_else(|| values.first().map(|value| value.id.clone()));
        Ok(Choice { current: current.unwrap_or_default(), values })
    };
    read(value).inspect_err(|why: &String| tracing::warn!(?place, why, "left out")).ok()
}

fn setable(id: &str, name: String, description: Option<String>) -> Setable {
    Setable { id: id.to_owned(), name, description, group: None }
}

/// `configOptions`; none where there are none.
pub(super) fn options(list: Option<Value>) -> Option<Vec<ConfigOption>> {
    wire::items("configOptions", list, option)
}

fn option(value: Value) -> Result<ConfigOption, String> {
    let mut object = wire::object(Place::ConfigOption, value)?;
    let setting = match wire::text(&mut object, "type").as_deref() {
        Some("boolean") => match object.get("currentValue") {
            Some(Value::Bool(on)) => Setting::Boolean(*on),
            _ => return Err("a switch that is neither on nor off".to_owned()),
        },
        Some("select") => Setting::Select(select(&mut object)),
        // Only the new value, in an update that names what has changed.
        None if object.contains_key("currentValue") => Setting::Select(select(&mut object)),
        other => return Err(format!("an option of the type {other:?}")),
    };
    Ok(ConfigOption {
        id: wire::required(&mut object, "id")?,
        name: wire::required(&mut object, "name")?,
        description: wire::text(&mut object, "description"),
        category: wire::text(&mut object, "category"),
        setting,
    })
}

fn select(object: &mut Object) -> Choice {
    let mut values = Vec::new();
    wire::items("options", object.remove("options"), |value| select_value(value, &mut values));
    let current = wire::text(object, "currentValue");
    let current = current.or_else(|| values.first().map(|value| value.id.clone()));
    Choice { current: current.unwrap_or_default(), values }
}

/// A value, or a group of values.
fn select_value(value: Value, values: &mut Vec<Setable>) -> Result<(), String> {
    let mut object = wire::object(Place::ConfigValue, value)?;
    let Some(inner) = object.remove("options") else {
        let value: acp::SessionConfigSelectOption =
            serde_json::from_value(Value::Object(object)).map_err(|error| error.to_string())?;
        values.push(setable(&value.value.0, value.name, value.description));
        return Ok(());
    };
    let group = wire::required(&mut object, "name")?;
    let grouped = wire::items("options", Some(inner), |value| {
        let value: acp::SessionConfigSelectOption = wire::read(Place::ConfigValue, value)?;
        let value = setable(&value.value.0, value.name, value.description);
        Ok(Setable { group: Some(group.clone()), ..value })
    });
    values.extend(grouped.unwrap_or_default());
    Ok(())
}

/// The update `available_commands_update`.
pub(super) fn commands(value: Value) -> Result<Vec<Command>, String> {
    let mut object = wire::object(Place::Commands, value)?;
    let commands = wire::items("availableCommands", object.remove("availableCommands"), |value| {
        let command: acp::AvailableCommand = wire::read(Place::Command, value)?;
        let hint = command.input.and_then(|input| match input {
            acp::AvailableCommandInput::Unstructured(input) => Some(input.hint),
            _ => None,
        });
        let hint = hint.map(|mut hint| {
            shorten(&mut hint, STEP);
            hint
        });
        let name = command.name.trim_start_matches('/').to_owned();
        Ok(Command { name, description: command.description, hint })
    });
    commands.ok_or_else(|| "there are no availableCommands".to_owned())
}

/// The update `plan`.
pub(super) fn plan(value: Value) -> Result<Plan, String> {
    let mut object = wire::object(Place::Plan, value)?;
    let entries = wire::items("entries", object.remove("entries"), |value| {
        let entry: acp::PlanEntry = wire::read(Place::PlanEntry, value)?;
        let priority = match entry.priority {
            acp::PlanEntryPriority::High => Priority::High,
            acp::PlanEntryPriority::Low => Priority::Low,
            _ => Priority::Medium,
        };
        let status = match entry.status {
            acp::PlanEntryStatus::InProgress => PlanStatus::InProgress,
            acp::PlanEntryStatus::Completed => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        };
        let mut content = entry.content;
        shorten(&mut content, STEP);
        Ok(PlanEntry { content, priority, status })
    });
    let entries = entries.ok_or("there are no entries")?;
    Ok(Plan { id: None, body: PlanBody::Items(entries) })
}

/// The update `usage_update`. A size of 0 means that the agent does not tell it.
pub(super) fn usage(value: Value) -> Result<Usage, String> {
    let mut object = wire::object(Place::Usage, value)?;
    let number = |field| object.get(field).and_then(Value::as_u64);
    let (used, size) = (number("used"), number("size"));
    if used.is_none() && size.is_none() {
        return Err("there is neither used nor size".to_owned());
    }
    let cost = object.remove("cost").filter(|cost| !cost.is_null());
    let cost = cost.and_then(|cost| {
        let cost = serde_json::from_value::<acp::Cost>(cost);
        cost.inspect_err(|error| tracing::warn!(%error, "a cost that can't be read: left out")).ok()
    });
    Ok(Usage {
        used: used.unwrap_or_default(),
        size: size.unwrap_or_default(),
        cost: cost.map(|cost| (cost.amount, cost.currency)),
    })
}
