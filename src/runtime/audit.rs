//! The audit log: every permission that was asked for and what became of it, a line of JSON each,
//! written by a thread of its own and never changed. It is nobody's business but the user's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::system_error::words;
use crate::session::audit::{Deed, Record};

/// How large the file may be before it is put aside; one that was put aside is kept.
const LARGE: u64 = 10 << 20;
/// How much of a text is noted, in characters, and how many of a list.
const LONG: usize = 1_000;
const MANY: usize = 50;

/// The way to the audit log.
#[derive(Default)]
pub struct Audit {
    /// The writer, and what waits for it when it is dropped.
    lines: Option<(NonBlocking, WorkerGuard)>,
    /// The file, until there is something to write to it.
    log: Option<Log>,
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Audit")
    }
}

impl Audit {
    /// An audit log in a folder. Nothing is there before there is something to note. The first time
    /// that a line can't be written, `tell_user` is called with what is wrong: nobody would look.
    pub fn new(folder: &Path, tell_user: impl FnOnce(String) + Send + 'static) -> Audit {
        let path = folder.join("audit.log");
        let log = Log { path, failed: false, tell_user: Some(Box::new(tell_user)) };
        Audit { lines: None, log: Some(log) }
    }

    /// Notes something. It is written a little later; dropping the log waits for that.
    pub fn note(&mut self, record: &Record) {
        if let Some(log) = self.log.take() {
            let builder = NonBlockingBuilder::default().lossy(false).thread_name("acp-audit");
            self.lines = Some(builder.finish(log));
        }
        let Some((lines, _)) = &mut self.lines else { return };
        match serde_json::to_vec(&Line::of(record)) {
            Ok(mut line) => {
                line.push(b'\n');
                if let Err(error) = lines.write_all(&line) {
                    tracing::error!(%error, "the audit log is gone");
                }
            }
            Err(error) => tracing::error!(%error, "the audit log lacks a line"),
        }
    }
}

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    session: u64,
    agent: &'a str,
    cwd: &'a str,
    event: &'static str,
    title: String,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_cwd: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    option_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
}

impl Line<'_> {
    fn of(record: &Record) -> Line<'_> {
        let Record { session, agent, cwd, title, subject, deed } = record;
        let (rule, by) = match deed {
            Deed::Asked => (None, None),
            Deed::Ruled { rule, .. } => (Some(rule.as_str()), Some("rule")),
            Deed::Unasked(why) => (None, Some(why.word())),
            Deed::Answered { by, .. } => (None, Some(by.word())),
        };
        let option = deed.option();
        Line {
            time: now(),
            session: session.0,
            agent,
            cwd,
            event: deed.word(),
            title: short(title),
            kind: subject.kind.word(),
            tool: subject.tool.as_deref().map(short),
            paths: subject.paths.iter().take(MANY).map(|path| short(path)).collect(),
            command: subject.command.as_ref().map(|command| short(&command.text())),
            command_cwd: subject.cwd.as_deref().map(short),
            env: subject.env.iter().take(MANY).map(variable).collect(),
            url: subject.url.as_deref().map(short),
            verdict: deed.verdict(),
            option: option.map(|option| short(&option.id)),
            option_kind: option.map(|option| option.kind.word()),
            rule,
            by,
        }
    }
}

fn variable((name, value): &(String, String)) -> String {
    short(&format!("{name}={value}"))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The time as everybody writes it, in UTC.
fn now() -> String {
    let mut time = String::new();
    SystemTime.format_time(&mut Writer::new(&mut time)).unwrap_or_default();
    time
}

/// The file, opened for each line: others write to it too, and may put it aside.
struct Log {
    path: PathBuf,
    /// The last line could not be written; said once.
    failed: bool,
    /// The user has yet to hear of it.
    tell_user: Option<TellUser>,
}

type TellUser = Box<dyn FnOnce(String) + Send>;

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let written = self.append(line);
        if let Err(error) = &written
            && !self.failed
        {
            let path = self.path.display();
            tracing::error!(%path, reason = words(error), "the audit log can't be written");
            if let Some(tell_user) = self.tell_user.take() {
                let reason = words(error);
                tell_user(format!("The audit log cannot be written: {reason} ({path})"));
            }
        }
        self.failed = written.is_err();
        // A line that can't be written now can't be written by trying at once again.
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.open()?;
        if file.metadata()?.len().saturating_add(line.len() as u64) > LARGE {
            fs::rename(&self.path, self.path.with_extension("log.old"))?;
            file = self.open()?;
        }
        file.write_all(line)
    }

    /// The file under this name, and nobody else writes to it meanwhile.
    fn open(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        loop {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            let (opened, named) = (file.metadata()?, fs::metadata(&self.path));
            // Else somebody has put it aside while we waited.
            if named.is_ok_and(|named| named.ino() == opened.ino()) {
                if opened.permissions().mode() & 0o077 != 0 {
                    file.set_permissions(fs::Permissions::from_mode(0o600))?;
                }
                return Ok(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::audit::By;
    use crate::session::command_line::Command;
    use crate::session::ids::SessionId;
    use crate::session::question::{PermissionKind, PermissionOption};
    use crate::session::rule::Verdict;
    use crate::session::subject::Subject;

    fn record(deed: Deed) -> Record {
        let command = Some(Command::Line("x".repeat(5_000)));
        let paths = vec!["/p/a\n\u{1b}[31m".into()];
        Record {
            session: SessionId(3),
            agent: "claude".into(),
            cwd: "/p".into(),
            title: "t".into(),
            subject: Subject { paths, command, ..Default::default() },
            deed,
        }
    }

    fn lines(folder: &Path) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(folder.join("audit.log")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_for_each_deed() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("log");
        let mut audit = Audit::new(&inner, |_| ());
        assert!(!inner.exists(), "nothing to note, nothing there");
        let kind = PermissionKind::AllowOnce;
        let option = Some(PermissionOption { id: "o".into(), name: "O".into(), kind });
        let (verdict, rule) = (Verdict::Allow, "allow".to_owned());
        audit.note(&record(Deed::Asked));
        audit.note(&record(Deed::Ruled { verdict, rule, option: option.clone() }));
        audit.note(&record(Deed::Answered { option, by: By::User }));
        audit.note(&record(Deed::Answered { option: None, by: By::Gone }));
        drop(audit);
        let lines = lines(&inner);
        let words = |name: &str| -> Vec<Option<&str>> {
            lines.iter().map(|line| line.get(name).and_then(|it| it.as_str())).collect()
        };
        assert_eq!(
            words("event"),
            [Some("asked"), Some("ruled"), Some("answered"), Some("answered")]
        );
        assert_eq!(words("by"), [None, Some("rule"), Some("user"), Some("agent gone")]);
        assert_eq!(words("verdict"), [None, Some("allow"), Some("allow"), Some("cancel")]);
        assert_eq!(words("option_kind"), [None, Some("allow_once"), Some("allow_once"), None]);
        assert_eq!(lines[0]["command"].as_str().unwrap().chars().count(), LONG + 1);
        assert_eq!(lines[0]["paths"][0], "/p/a\n\u{1b}[31m");
        assert_eq!(lines[0]["session"], 3);
        let time = lines[0]["time"].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
        let mode = fs::metadata(inner.join("audit.log")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_large_log_is_put_aside_and_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("audit.log"), folder.path().join("audit.log.old"));
        fs::write(&old, "older").unwrap();
        File::create(&path).unwrap().set_len(LARGE - 10).unwrap();
        let mut audit = Audit::new(folder.path(), |_| ());
        audit.note(&record(Deed::Asked));
        audit.note(&record(Deed::Asked));
        drop(audit);
        assert_eq!(fs::metadata(&old).unwrap().len(), LARGE - 10);
        assert_eq!(lines(folder.path()).len(), 2);
    }

    #[test]
    fn many_write_at_once_and_no_line_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        File::create(folder.path().join("audit.log")).unwrap().set_len(LARGE - 100).unwrap();
        let write = || {
            let mut audit = Audit::new(folder.path(), |_| ());
            (0..50).for_each(|_| audit.note(&record(Deed::Asked)));
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(write);
            }
        });
        assert_eq!(lines(folder.path()).len(), 200);
    }

    #[test]
    fn what_can_not_be_written_is_no_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        let mut audit = Audit::new(&file.join("below"), move |words| told.send(words).unwrap());
        audit.note(&record(Deed::Asked));
        audit.note(&record(Deed::Asked));
        drop(audit);
        let heard: Vec<String> = heard.iter().collect();
        let [words] = &heard[..] else { panic!("{heard:?}") };
        assert!(words.starts_with("The audit log cannot be written: "), "{words}");
        Audit::default().note(&record(Deed::Asked));
    }
}
