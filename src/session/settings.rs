//! What a session can be set to, and what the agent tells of itself beside the chat.

/// All that is not the chat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The older kind of modes.
    pub modes: Option<Choice>,
    /// The older kind of models.
    pub models: Option<Choice>,
    /// Options; where an agent has them they stand for modes and models too.
    pub options: Vec<ConfigOption>,
    /// Slash commands.
    pub commands: Vec<Command>,
    /// How full the model's context is, and what it cost.
    pub usage: Option<Usage>,
    /// What the agent means to do. Named plans come after the unnamed one.
    pub plans: Vec<Plan>,
}

impl Settings {
    /// The option that is the session's mode or model. An agent may have several of a category, such
    /// as the provider of a model and the model: the one named like it comes first.
    pub fn option_for(&self, category: &str) -> Option<&ConfigOption> {
        let is_named = |it: &&ConfigOption| it.id == category;
        let in_category = || {
            let selects = self.options.iter().filter(|it| matches!(it.setting, Setting::Select(_)));
            selects.filter(|it| it.category.as_deref() == Some(category))
        };
        in_category().find(is_named).or_else(|| in_category().next())
    }
}

/// A choice of one among several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    /// The id of what is chosen; it need not be among the values.
    pub current: String,
    /// What can be chosen.
    pub values: Vec<Value>,
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// More words.
    pub description: Option<String>,
    /// The heading it belongs under.
    pub group: Option<String>,
}

/// An option of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigOption {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// More words.
    pub description: Option<String>,
    /// `mode`, `model`, `thought_level` or another word.
    pub category: Option<String>,
    /// What it is set to, and what it can be set to.
    pub setting: Setting,
}

/// The setting of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// One of several.
    Select(Choice),
    /// Yes or no.
    Boolean(bool),
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What to type after it.
    pub hint: Option<String>,
}

/// How full the model's context is, and what it cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// Tokens in use.
    pub used: u64,
    /// Tokens there is room for.
    pub size: u64,
    /// Amount and currency.
    pub cost: Option<(f64, String)>,
}

/// What the agent means to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its id; the ordinary plan has none.
    pub id: Option<String>,
    /// What it says.
    pub body: PlanBody,
}

/// What a plan says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanBody {
    /// A list.
    Items(Vec<PlanEntry>),
    /// Text.
    Markdown(String),
    /// A file.
    File(String),
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// What to do.
    pub content: String,
    /// `high`, `medium`, `low`
    pub priority: Priority,
    /// How far it is.
    pub status: PlanStatus,
}

/// How important a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub enum PlanStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(id: &str, category: Option<&str>, setting: Setting) -> ConfigOption {
        let category = category.map(str::to_owned);
        ConfigOption { id: id.into(), name: id.into(), description: None, category, setting }
    }

    #[test]
    fn of_several_options_the_one_named_like_the_category_counts() {
        let select = || Setting::Select(Choice::default());
        let options = vec![
            option("fast", Some("model"), Setting::Boolean(true)),
            option("provider", Some("model"), select()),
            option("model", Some("model"), select()),
            option("how", Some("mode"), select()),
            option("mode", None, select()),
        ];
        let settings = Settings { options, ..Settings::default() };
        let found = |category| settings.option_for(category).map(|it| it.id.as_str());
        assert_eq!(found("model"), Some("model"));
        assert_eq!(found("mode"), Some("how"), "an option of no category is nothing in particular");
        assert_eq!(found("thought_level"), None);
    }
}
