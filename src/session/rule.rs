//! Rules: what the user lets agents do without being asked, and what not.
//!
//! The first rule that matches decides. Whatever is in doubt is for the user: to allow something, a
//! rule must match all of it, beyond doubt; to reject it or to ask, a part of it is enough.

use super::agent::Launch;
use super::command_line::{Command, Parsed, Pattern};
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

/// The first rule that matches; none where one before it may be meant, and nobody can tell.
pub fn first<'a>(rules: &'a [Rule], subject: &Subject, launch: &Launch) -> Option<&'a Rule> {
    let reading = Reading::new(subject, launch);
    let decides = |rule: &&Rule| rule.matches_reading(&reading) || rule.may_be_meant(&reading);
    rules.iter().find(decides).filter(|rule| !rule.may_be_meant(&reading))
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
        if self.allows_any_parameters() {
            words.push("with any parameters".to_owned());
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

    /// Whether it allows a tool whatever that is given.
    pub fn allows_any_parameters(&self) -> bool {
        let said = [&self.path, &self.command, &self.url].into_iter().any(Option::is_some);
        self.verdict == Verdict::Allow && self.tool.is_some() && !said && self.inside.is_none()
    }

    /// Whether the rule is about this.
    pub fn matches(&self, subject: &Subject, launch: &Launch) -> bool {
        self.matches_reading(&Reading::new(subject, launch))
    }

    fn matches_reading(&self, reading: &Reading) -> bool {
        let Reading { subject, launch, .. } = reading;
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|it| it == subject.kind.word());
        let agent = self.agent.as_ref().is_none_or(|agent| *agent == launch.agent);
        let here = |project: &String| paths::join("", project) == paths::join("", &launch.cwd);
        kind && agent
            && self.project.as_ref().is_none_or(here)
            && match self.verdict {
                Verdict::Allow => self.is_about_all_of(reading),
                Verdict::Reject | Verdict::Ask => self.is_about_part_of(reading),
            }
    }

    /// Whether the rule is against a command, and something runs one that it does not tell.
    fn may_be_meant(&self, reading: &Reading) -> bool {
        let Subject { kind, command, .. } = reading.subject;
        let untold = *kind == ToolKind::Execute && command.is_none();
        let against = self.command.is_some() && self.verdict != Verdict::Allow;
        let rest = || Rule { command: None, ..self.clone() }.matches_reading(reading);
        untold && against && !reading.subject.unreadable && rest()
    }

    /// Whether the rule is about something in this, as far as anybody can tell.
    fn is_about_part_of(&self, reading: &Reading) -> bool {
        let Reading { subject, launch, command } = reading;
        if subject.unreadable {
            return true;
        }
        let runs = |text: &String| {
            let pattern = Pattern::new(text).ok();
            pattern.zip(command.as_ref()).is_some_and(|(it, command)| it.is_part_of(command))
        };
        let mut urls = subject.url.iter().chain(&subject.other_urls);
        self.command.as_ref().is_none_or(runs)
            && fits(self.tool.as_deref(), subject.tool.as_deref())
            && (self.url.is_none() || urls.any(|url| fits(self.url.as_deref(), Some(url))))
            && (!self.is_by_path() || {
                let places = Places::new(self, launch);
                let runs_in = subject.cwd.as_ref().filter(|_| self.path.is_none());
                let mut all = subject.paths.iter().chain(runs_in);
                all.any(|path| {
                    let (letters, real) = reading.leads_to(path);
                    places.has(letters.as_deref()) || (real.is_some() && places.has(real))
                })
            })
    }

    /// Whether the rule is about everything in this, beyond doubt.
    fn is_about_all_of(&self, reading: &Reading) -> bool {
        let Reading { subject, command, .. } = reading;
        let readable = !subject.unreadable && !command.as_ref().is_some_and(|it| it.unreadable);
        readable
            && fits(self.tool.as_deref(), subject.tool.as_deref())
            && fits(self.url.as_deref(), subject.url.as_deref())
            && self.is_command_of(reading)
            && self.has_places_of(reading)
            && self.means(reading)
    }

    fn is_by_path(&self) -> bool {
        self.path.is_some() || self.inside.is_some()
    }

    /// Whether somebody who allows what the rule says means to allow this too: the files that a
    /// command names do not tell what it does, nor do those of a tool that nobody knows.
    fn means(&self, reading: &Reading) -> bool {
        let subject = reading.subject;
        let by_path = self.is_by_path();
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
        // Whoever visits an address may write what is there to a file.
        let only_visits = self.url.is_none() || by_path || subject.paths.is_empty();
        (!runs || runs_by_rule)
            && (!by_path || named || self.command.is_some() || is_about_files(&subject.kind))
            && only_visits
            && !(by_contents && subject.unclear)
    }

    fn is_command_of(&self, reading: &Reading) -> bool {
        let Some(pattern) = &self.command else { return true };
        let (Some(command), Ok(pattern)) = (&reading.command, Pattern::new(pattern)) else {
            return false;
        };
        // In a folder of somebody else, the same words may do something else.
        let home = Places { glob: None, inside: Some(true), launch: reading.launch };
        let elsewhere = self.inside == Some(false);
        let named = reading.subject.paths.iter().filter(|_| !self.is_by_path());
        let mut all = reading.subject.cwd.iter().chain(named);
        pattern.is_all_of(command) && (elsewhere || all.all(|path| reading.is_in(path, &home)))
    }

    fn has_places_of(&self, reading: &Reading) -> bool {
        if !self.is_by_path() {
            return true;
        }
        // A command is where it runs.
        let runs_in = reading.subject.cwd.as_ref().filter(|_| self.path.is_none());
        let mut all = reading.subject.paths.iter().chain(runs_in).peekable();
        let places = Places::new(self, reading.launch);
        all.peek().is_some() && all.all(|path| reading.is_in(path, &places))
    }

    /// The rule that allows exactly this from now on, in this project; none where no rule could. A
    /// rule for a tool allows it with any parameters, and says so.
    pub fn allowing(subject: &Subject, launch: &Launch) -> Option<Rule> {
        let Subject { kind, tool, paths, more, .. } = subject;
        let rule = Rule {
            verdict: Verdict::Allow,
            kinds: vec![kind.word().to_owned()],
            agent: Some(launch.agent.clone()),
            project: Some(launch.cwd.clone()),
            ..Rule::default()
        };
        let tool = || tool.as_deref().map(escape);
        let here = |cwd: &String| paths::resolve(cwd, "/") == paths::resolve(&launch.cwd, "/");
        let rule = match subject {
            Subject { command: Some(command), cwd, .. } => {
                let exact = !more && cwd.as_ref().is_none_or(here);
                let tool = tool().filter(|_| *kind != ToolKind::Execute);
                let command = Some(exact_command(command).filter(|_| exact)?);
                Rule { command, tool, ..rule }
            }
            // Neither its files nor its tool tell what a command does.
            Subject { kind: ToolKind::Execute, .. } => return None,
            Subject { url: Some(url), .. } => {
                Rule { url: Some(escape(url)).filter(|_| !more), ..rule }
            }
            _ if !paths.is_empty() && is_about_files(kind) => {
                Rule { path: Some(exact_paths(paths, launch)?), ..rule }
            }
            _ if !paths.is_empty() => {
                let path = exact_paths(paths, launch).filter(|_| !more)?;
                Rule { path: Some(path), tool: tool(), ..rule }
            }
            _ => Rule { tool: Some(tool()?), ..rule },
        };
        // Nobody could read a longer one, and to try it would take its time.
        let texts = [&rule.command, &rule.url, &rule.path, &rule.tool];
        let short = texts.iter().all(|it| it.as_ref().is_none_or(|it| it.len() <= LONGEST));
        let says = texts.iter().any(|it| it.is_some());
        (says && short && !subject.unclear && rule.matches(subject, launch)).then_some(rule)
    }
}

/// What is asked, read once for all rules.
struct Reading<'a> {
    subject: &'a Subject,
    launch: &'a Launch,
    command: Option<Parsed>,
}

impl Reading<'_> {
    fn new<'a>(subject: &'a Subject, launch: &'a Launch) -> Reading<'a> {
        Reading { subject, launch, command: subject.command.as_ref().map(Command::parse) }
    }

    /// Where a path leads by its letters, and where it really does as far as somebody has looked.
    fn leads_to(&self, path: &str) -> (Option<String>, Option<&str>) {
        let letters = paths::resolve(path, &self.launch.cwd);
        let known = |written: &String| {
            let real = self.subject.real.as_ref().and_then(|real| real.get(written));
            self.launch.root_named(written).or(real).map(String::as_str)
        };
        let written = paths::absolute(path, &self.launch.cwd);
        let real = written.as_ref().and_then(known);
        (letters, real)
    }

    /// Whether a path leads to one of these places beyond doubt, links followed.
    fn is_in(&self, path: &str, places: &Places) -> bool {
        let (letters, real) = self.leads_to(path);
        real.is_some() && places.has(letters.as_deref()) && places.has(real)
    }
}

/// Where a rule is about.
struct Places<'a> {
    glob: Option<Result<Glob, String>>,
    inside: Option<bool>,
    launch: &'a Launch,
}

impl Places<'_> {
    fn new<'a>(rule: &Rule, launch: &'a Launch) -> Places<'a> {
        let glob = rule.path.as_ref().map(|glob| path_glob(glob, &launch.cwd));
        Places { glob, inside: rule.inside, launch }
    }

    /// Whether a path may be among them; none for one that leads where nobody can say, but to no
    /// place inside.
    fn has(&self, path: Option<&str>) -> bool {
        let in_glob = match (&self.glob, path) {
            (None, _) | (_, None) => true,
            (Some(Ok(glob)), Some(path)) => glob.matches(path),
            (Some(Err(_)), _) => false,
        };
        let place = path.map(|path| place_of(path, self.launch));
        in_glob
            && match self.inside {
                None => true,
                Some(true) => place == Some(Place::Inside),
                Some(false) => matches!(place, None | Some(Place::Outside)),
            }
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
    /// In a folder of git's own, or of another such: inside, but what is written there is run.
    VersionControl,
}

/// Where an absolute path is.
fn place_of(path: &str, launch: &Launch) -> Place {
    const FOLDERS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];
    let roots = std::iter::once(&launch.cwd).chain(&launch.directories);
    let mut inside = roots.filter_map(|root| paths::resolve(root, "/")).filter_map(|root| {
        let rest = paths::below(path, &root)?;
        Some(rest.split('/').any(|part| FOLDERS.iter().any(|it| part.eq_ignore_ascii_case(it))))
    });
    match inside.next() {
        Some(true) => Place::VersionControl,
        Some(false) => Place::Inside,
        None => Place::Outside,
    }
}

fn exact_command(command: &Command) -> Option<String> {
    match command.parse().simple.as_deref() {
        Some([words]) => Some(Pattern::exactly(words)),
        _ => None,
    }
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
