//! Rules: what the user lets agents do without being asked, and what not.
//!
//! The first rule that matches decides. Whatever is in doubt is for the user: to allow something, a
//! rule must match all of it, beyond doubt; to reject it or to ask, a part of it is enough.

use super::agent::Launch;
use super::command_line::{Command, Pattern};
use super::glob::{Glob, escape};
use super::paths;
use super::question::{PermissionKind, PermissionOption};
use super::subject::Subject;
use super::tool_call::ToolKind;

/// The longest text of a rule that is proposed.
const LONGEST: usize = 1000;

/// One rule. A condition that is not set holds for everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rule {
    /// What is done about it.
    pub verdict: Verdict,
    /// For these sorts of things, by the protocol's words; all if there are none.
    pub kinds: Vec<String>,
    /// For tools with such a name: a glob.
    pub tool: Option<String>,
    /// For such files: a glob, seen from the project.
    pub path: Option<String>,
    /// For files inside, or outside, of the project and its further folders.
    pub inside: Option<bool>,
    /// For such commands: see [`Pattern`].
    pub command: Option<String>,
    /// For such addresses: a glob.
    pub url: Option<String>,
    /// For the agent of this name.
    pub agent: Option<String>,
    /// For sessions in this project.
    pub project: Option<String>,
    /// Where the rule comes from, for the audit log.
    pub source: String,
}

/// What is done about something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// It is allowed.
    Allow,
    /// It is rejected.
    Reject,
    /// The user is asked.
    #[default]
    Ask,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Reject => "reject",
            Verdict::Ask => "ask",
        }
    }

    /// The option that says so, of those an agent offers. One of unknown meaning never does.
    pub fn option(self, options: &[PermissionOption]) -> Option<&PermissionOption> {
        let kinds = match self {
            Verdict::Allow => [PermissionKind::AllowOnce, PermissionKind::AllowAlways],
            Verdict::Reject => [PermissionKind::RejectOnce, PermissionKind::RejectAlways],
            Verdict::Ask => return None,
        };
        kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind))
    }
}

/// The first rule that matches.
pub fn first<'a>(rules: &'a [Rule], subject: &Subject, launch: &Launch) -> Option<&'a Rule> {
    rules.iter().find(|rule| rule.matches(subject, launch))
}

impl Rule {
    /// Whether its patterns can be read.
    ///
    /// # Errors
    /// The words say which can't.
    pub fn check(&self) -> Result<(), String> {
        if let Some(command) = &self.command {
            Pattern::new(command)?;
        }
        for glob in [&self.tool, &self.path, &self.url].into_iter().flatten() {
            Glob::word(glob)?;
        }
        Ok(())
    }

    /// The rule in one line, for people.
    pub fn words(&self) -> String {
        let mut words = vec![self.verdict.word().to_owned()];
        if !self.kinds.is_empty() {
            words.push(self.kinds.join("/"));
        }
        let named = [
            ("tool", &self.tool),
            ("path", &self.path),
            ("command", &self.command),
            ("url", &self.url),
        ];
        for (name, value) in named {
            words.extend(value.as_ref().map(|value| format!("{name} `{value}`")));
        }
        words.extend(self.inside.map(|inside| {
            if inside { "inside the project" } else { "outside the project" }.to_owned()
        }));
        words.extend(self.agent.as_ref().map(|agent| format!("by {agent}")));
        words.extend(self.project.as_ref().map(|project| format!("in {project}")));
        if !self.source.is_empty() {
            words.push(format!("({})", self.source));
        }
        words.join(" ")
    }

    /// Whether the rule is about this.
    pub fn matches(&self, subject: &Subject, launch: &Launch) -> bool {
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|it| it == subject.kind.word());
        let agent = self.agent.as_ref().is_none_or(|agent| *agent == launch.agent);
        let here = |project: &String| paths::join("", project) == paths::join("", &launch.cwd);
        kind && agent
            && self.project.as_ref().is_none_or(here)
            && fits(self.tool.as_deref(), subject.tool.as_deref())
            && fits(self.url.as_deref(), subject.url.as_deref())
            && self.fits_command(subject, launch)
            && self.fits_paths(subject, launch)
            && (self.verdict != Verdict::Allow || self.means(subject))
    }

    /// Whether somebody who allows what the rule says means to allow this too: the files that a
    /// command names do not tell what it does, nor do those of a tool that nobody knows.
    fn means(&self, subject: &Subject) -> bool {
        let by_path = self.path.is_some() || self.inside.is_some();
        let anything = self.kinds.is_empty()
            && self.tool.is_none()
            && self.command.is_none()
            && self.url.is_none()
            && !by_path;
        if anything {
            return true;
        }
        let named = !self.kinds.is_empty() || self.tool.is_some();
        let runs = subject.command.is_some() || subject.kind == ToolKind::Execute;
        let runs_by_rule = self.command.is_some()
            || self.tool.is_some()
            || self.kinds.iter().any(|it| it == ToolKind::Execute.word());
        let by_contents = by_path || self.command.is_some() || self.url.is_some();
        (!runs || runs_by_rule)
            && (!by_path || named || self.command.is_some() || is_about_files(&subject.kind))
            && !(by_contents && subject.unclear)
    }

    fn fits_command(&self, subject: &Subject, launch: &Launch) -> bool {
        let Some(pattern) = &self.command else { return true };
        let (Some(command), Ok(pattern)) = (&subject.command, Pattern::new(pattern)) else {
            return false;
        };
        match self.verdict {
            Verdict::Allow => {
                // In a folder of somebody else, the same words may do something else.
                let at_home = subject.cwd.as_ref().is_none_or(|cwd| {
                    self.inside == Some(false) || place_of(cwd, launch) == Place::Inside
                });
                at_home && pattern.is_all_of(command)
            }
            Verdict::Reject | Verdict::Ask => pattern.is_part_of(command),
        }
    }

    fn fits_paths(&self, subject: &Subject, launch: &Launch) -> bool {
        let glob = self.path.as_ref().map(|glob| path_glob(glob, &launch.cwd));
        let in_glob = |path: &String| match &glob {
            None => true,
            Some(Ok(glob)) => {
                paths::resolve(path, &launch.cwd).is_some_and(|path| glob.matches(&path))
            }
            Some(Err(_)) => false,
        };
        let in_place = |path: &String| match (self.inside, place_of(path, launch)) {
            (None, _) => true,
            (Some(true), place) => place == Place::Inside,
            (Some(false), Place::Unknown) => self.verdict != Verdict::Allow,
            (Some(false), place) => place == Place::Outside,
        };
        if self.path.is_none() && self.inside.is_none() {
            return true;
        }
        // A command is where it runs.
        let runs_in = subject.cwd.as_ref().filter(|_| self.path.is_none());
        let mut all = subject.paths.iter().chain(runs_in).peekable();
        let holds = |path: &String| in_glob(path) && in_place(path);
        match self.verdict {
            Verdict::Allow => all.peek().is_some() && all.all(holds),
            Verdict::Reject | Verdict::Ask => all.any(holds),
        }
    }

    /// The rule that allows exactly this from now on, in this project; none where no rule could.
    pub fn allowing(subject: &Subject, launch: &Launch) -> Option<Rule> {
        let rule = Rule {
            verdict: Verdict::Allow,
            kinds: vec![subject.kind.word().to_owned()],
            agent: Some(launch.agent.clone()),
            project: Some(launch.cwd.clone()),
            ..Rule::default()
        };
        let rule = match subject {
            Subject { command: Some(command), .. } => {
                Rule { command: Some(exact_command(command)?), ..rule }
            }
            // Neither its files nor its tool tell what a command does.
            Subject { kind: ToolKind::Execute, .. } => return None,
            Subject { url: Some(url), .. } => Rule { url: Some(escape(url)), ..rule },
            Subject { paths, kind, tool, .. } if !paths.is_empty() => {
                let tool = tool.as_deref().filter(|_| !is_about_files(kind)).map(escape);
                Rule { path: Some(exact_paths(paths, launch)?), tool, ..rule }
            }
            Subject { tool: Some(tool), .. } => Rule { tool: Some(escape(tool)), ..rule },
            _ => return None,
        };
        // Nobody could read a longer one, and to try it would take its time.
        let texts = [&rule.command, &rule.url, &rule.path, &rule.tool];
        let short = texts.into_iter().flatten().all(|it| it.len() <= LONGEST);
        (short && rule.matches(subject, launch)).then_some(rule)
    }
}

/// Whether a text is there and the glob's, or there is no glob.
fn fits(glob: Option<&str>, text: Option<&str>) -> bool {
    match (glob, text) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(glob), Some(text)) => Glob::word(glob).is_ok_and(|glob| glob.matches(text)),
    }
}

fn is_about_files(kind: &ToolKind) -> bool {
    use ToolKind::{Delete, Edit, Move, Read, Search};
    matches!(kind, Read | Edit | Delete | Move | Search)
}

fn path_glob(glob: &str, cwd: &str) -> Result<Glob, String> {
    let cwd = escape(cwd);
    Glob::path(glob, |alternative| paths::join(&cwd, alternative))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    Outside,
    Unknown,
    /// In a folder of git's own: inside, but what is written there is run by git.
    Git,
}

fn place_of(path: &str, launch: &Launch) -> Place {
    let Some(path) = paths::resolve(path, &launch.cwd) else { return Place::Unknown };
    let roots = std::iter::once(&launch.cwd).chain(&launch.directories);
    let mut inside = roots.filter_map(|root| paths::resolve(root, "/")).filter_map(|root| {
        let rest = paths::below(&path, &root)?;
        Some(rest.split('/').any(|part| part.eq_ignore_ascii_case(".git")))
    });
    match inside.next() {
        Some(true) => Place::Git,
        Some(false) => Place::Inside,
        None => Place::Outside,
    }
}

fn exact_command(command: &Command) -> Option<String> {
    Some(Pattern::exactly(&command.parse().simple?))
}

/// One pattern for all of these paths, as short as it can be.
fn exact_paths(paths: &[String], launch: &Launch) -> Option<String> {
    /// More would be no rule that anybody could read.
    const MOST: usize = 8;
    let name = |path: &String| {
        let path = paths::resolve(path, &launch.cwd)?;
        let below = paths::below(&path, &launch.cwd).filter(|rest| !rest.is_empty());
        Some(escape(below.unwrap_or(&path)))
    };
    let mut names = paths.iter().map(name).collect::<Option<Vec<String>>>()?;
    names.dedup();
    match &names[..] {
        [one] => Some(one.clone()),
        several if several.len() <= MOST => Some(format!("{{{}}}", several.join(","))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
