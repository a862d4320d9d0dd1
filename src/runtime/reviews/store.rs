//! Files under review, written down: one file for each, so that a restart loses none of them.
//!
//! Several Neovims share the folder. Each file belongs to the one that wrote it last; the others
//! leave it alone for as long as that one lives. Everything here waits for the disk. Must not know
//! when something is written, nor what becomes of what is read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Kind;
use crate::changes::format::{Ending, Format};
use crate::changes::mirror::Mirror;
use crate::runtime::owner::Owner;
use crate::runtime::snapshot::objects::{private_folder, write_atomic};
use crate::runtime::snapshot::sha256;

/// A text that is longer is not kept.
pub(super) const LARGE: usize = 8 << 20;

/// How long one Neovim waits for another that is at the same folder.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the user has set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it is kept.
    pub state: PathBuf,
    /// How many files of a project.
    pub keep: usize,
    /// For how long.
    pub days: u64,
}

/// A file under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    owner: Owner,
    /// When an agent changed it last, in seconds since 1970.
    pub(super) time: u64,
    /// The file, with links resolved.
    pub(super) path: String,
    kind: String,
    /// Whose session.
    pub(super) agent: String,
    /// The agent's name for it.
    pub(super) remote: String,
    pub(super) base: Side,
    pub(super) now: Side,
}

/// What of a record tells whether it may be touched.
#[derive(Debug, Deserialize)]
struct Head {
    owner: Owner,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Side {
    /// Its lines, each with a `\n` after it.
    lines: String,
    ending: String,
    final_eol: bool,
    bom: bool,
}

impl Side {
    pub(super) fn new(lines: &Mirror, format: Format) -> Side {
        let mut text = String::with_capacity(lines.size());
        for line in lines.lines() {
            text.push_str(line);
            text.push('\n');
        }
        let Format { ending, final_eol, bom } = format;
        Side { lines: text, ending: ending.as_str().to_owned(), final_eol, bom }
    }

    pub(super) fn mirror(&self) -> Mirror {
        Mirror::new(0, self.lines.split_terminator('\n'))
    }

    pub(super) fn format(&self) -> Format {
        let all = [Ending::Lf, Ending::CrLf, Ending::Cr];
        let ending = all.into_iter().find(|it| it.as_str() == self.ending).unwrap_or_default();
        Format { ending, final_eol: self.final_eol, bom: self.bom }
    }
}

impl Record {
    pub(super) fn new(path: String, kind: Kind, (base, now): (Side, Side)) -> Record {
        Record {
            owner: Owner::default(),
            time: now_in_seconds(),
            path,
            kind: kind.word().to_owned(),
            agent: String::new(),
            remote: String::new(),
            base,
            now,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        let all = [Kind::Changed, Kind::Made, Kind::Deleted];
        all.into_iter().find(|it| it.word() == self.kind).unwrap_or(Kind::Changed)
    }
}

/// What is kept of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder {
    path: PathBuf,
    me: Owner,
}

impl Folder {
    /// That of a project, below the folder `state`.
    pub(super) fn new(state: &Path, project: &Path) -> Folder {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let path = state.join(name(project.as_os_str().as_bytes()));
        Folder { path, me: Owner::me() }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.path.join(name(path.as_bytes())).with_extension("json")
    }

    /// Writes a record down. Whoever wrote one of the same file before is not asked.
    pub(super) fn put(&self, record: Record) -> io::Result<()> {
        let _lock = self.lock()?;
        self.write(record).map(drop)
    }

    fn write(&self, record: Record) -> io::Result<Record> {
        let record = Record { owner: self.me.clone(), ..record };
        write_atomic(&self.place(&record.path), &serde_json::to_vec(&record)?)?;
        Ok(record)
    }

    /// Nothing of a file is under review any more.
    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        let place = self.place(path);
        match read::<Head>(&place) {
            // Another Neovim still has something to review there.
            Some(head) if head.owner != self.me && head.owner.lives() => Ok(()),
            Some(_) => fs::remove_file(place),
            None => Ok(()),
        }
    }

    /// Takes over what Neovims that are gone have left, and drops what is too old or too much.
    pub(super) fn take(&self, config: &Config) -> io::Result<Vec<Record>> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut records: Vec<Record> = records(&self.path)?.iter().filter_map(read).collect();
        records.sort_by(|one, other| (other.time, &one.path).cmp(&(one.time, &other.path)));
        let oldest = now_in_seconds().saturating_sub(config.days * 24 * 3600);
        let mut taken = Vec::new();
        for (at, record) in records.into_iter().enumerate() {
            if record.owner == self.me || record.owner.lives() {
                continue;
            }
            if at >= config.keep || record.time < oldest {
                tracing::info!(path = record.path, "too old to be reviewed");
                fs::remove_file(self.place(&record.path))?;
                continue;
            }
            taken.push(self.write(record)?);
        }
        Ok(taken)
    }

    /// Drops what is too old in all projects, also where nobody works any more.
    pub(super) fn sweep(config: &Config) -> io::Result<()> {
        let age = Duration::from_secs(config.days * 24 * 3600);
        let Ok(folders) = fs::read_dir(&config.state) else { return Ok(()) };
        for folder in folders {
            let folder = folder?.path();
            for file in fs::read_dir(&folder).into_iter().flatten() {
                let file = file?;
                let written = file.metadata().and_then(|it| it.modified());
                let old = written.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > age));
                let lives = || read::<Head>(&file.path()).is_some_and(|it| it.owner.lives());
                if old && !is_lock(&file.path()) && !lives() {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(())
    }

    /// Another Neovim may be at the same files. One that is stuck holds nobody up.
    fn lock(&self) -> io::Result<File> {
        private_folder(&self.path)?;
        let path = self.path.join(LOCK);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let begin = Instant::now();
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if begin.elapsed() > PATIENCE {
                tracing::warn!(folder = %self.path.display(), "another Neovim holds the reviews");
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(file)
    }
}

const LOCK: &str = "lock";

fn is_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it == LOCK)
}

fn name(bytes: &[u8]) -> String {
    let mut name = sha256::hex(bytes);
    name.truncate(32);
    name
}

fn records(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "json") {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn read<T: DeserializeOwned>(path: &PathBuf) -> Option<T> {
    let bytes = fs::read(path).ok()?;
    serde_json::from_slice(&bytes)
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "not read"))
        .ok()
}

pub(super) fn now_in_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Child, Command};

    use super::*;

    const DAY: u64 = 24 * 3600;

    fn config(state: &Path) -> Config {
        Config { state: state.to_owned(), keep: 10, days: 14 }
    }

    fn record(path: &str) -> Record {
        let format = Format { ending: Ending::CrLf, final_eol: false, bom: true };
        let side = |lines: &[&str]| Side::new(&Mirror::new(7, lines.iter().copied()), format);
        Record::new(path.to_owned(), Kind::Made, (side(&["one", ""]), side(&[])))
    }

    fn taken(folder: &Folder, config: &Config) -> Vec<String> {
        folder.take(config).unwrap().into_iter().map(|it| it.path).collect()
    }

    /// A folder as a Neovim has it that is gone.
    fn of_the_dead(folder: &Folder) -> Folder {
        Folder { me: Owner::dead(), ..folder.clone() }
    }

    struct Process(Child);

    impl Drop for Process {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn what_is_written_comes_back_once() {
        let state = tempfile::tempdir().unwrap();
        let config = config(state.path());
        let folder = Folder::new(state.path(), Path::new("/no/such/project"));
        assert!(taken(&folder, &config).is_empty());
        of_the_dead(&folder).put(record("/p/a")).unwrap();
        let found = folder.take(&config).unwrap().remove(0);
        let bare = Record { owner: Owner::default(), time: 0, ..found.clone() };
        assert_eq!(bare, Record { time: 0, ..record("/p/a") });
        assert_eq!(found.kind(), Kind::Made);
        assert_eq!(found.base.mirror().lines().collect::<Vec<_>>(), ["one", ""]);
        assert!(found.now.mirror().is_empty());
        let format = Format { ending: Ending::CrLf, final_eol: false, bom: true };
        assert_eq!(found.base.format(), format);
        assert!(taken(&folder, &config).is_empty(), "it is ours already");
        folder.remove("/p/a").unwrap();
        folder.remove("/p/a").unwrap();
        assert!(taken(&of_the_dead(&folder), &config).is_empty());
    }

    #[test]
    fn nobody_else_can_read_it() {
        let state = tempfile::tempdir().unwrap();
        let folder = Folder::new(&state.path().join("new"), Path::new("/no/such/project"));
        folder.put(record("/p/a")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.place("/p/a")), 0o600);
        assert_eq!(mode(&folder.path), 0o700);
    }

    #[test]
    fn what_another_neovim_reviews_is_its_own() {
        let state = tempfile::tempdir().unwrap();
        let config = config(state.path());
        let folder = Folder::new(state.path(), Path::new("/no/such/project"));
        let process = Process(Command::new("sleep").arg("60").spawn().unwrap());
        let other = Folder { me: Owner::other(&process.0), ..folder.clone() };
        other.put(record("/p/a")).unwrap();
        folder.put(record("/p/b")).unwrap();
        assert!(taken(&folder, &config).is_empty());
        folder.remove("/p/a").unwrap();
        drop(process);
        assert_eq!(taken(&folder, &config), ["/p/a"]);
    }

    #[test]
    fn old_ones_expire() {
        let state = tempfile::tempdir().unwrap();
        let config = config(state.path());
        let folder = Folder::new(state.path(), Path::new("/no/such/project"));
        let dead = of_the_dead(&folder);
        let now = now_in_seconds();
        for (path, days) in [("/p/a", 13), ("/p/b", 15), ("/p/c", 0), ("/p/d", 1)] {
            dead.put(Record { time: now - days * DAY, ..record(path) }).unwrap();
        }
        let two = Config { keep: 2, ..config.clone() };
        assert_eq!(taken(&folder, &two), ["/p/c", "/p/d"]);
        assert_eq!(records(&folder.path).unwrap().len(), 2, "the others are gone");
        fs::write(folder.path.join("broken.json"), "{").unwrap();
        assert!(taken(&folder, &config).is_empty());
    }

    #[test]
    fn projects_that_nobody_opens_expire_too() {
        let state = tempfile::tempdir().unwrap();
        let config = config(state.path());
        let folder = Folder::new(state.path(), Path::new("/no/such/project"));
        of_the_dead(&folder).put(record("/p/a")).unwrap();
        of_the_dead(&folder).put(record("/p/young")).unwrap();
        folder.put(record("/p/b")).unwrap();
        for path in ["/p/a", "/p/b"] {
            let file = File::options().append(true).open(folder.place(path)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(15 * DAY)).unwrap();
        }
        Folder::sweep(&config).unwrap();
        assert!(!folder.place("/p/a").exists());
        assert!(folder.place("/p/b").exists() && folder.place("/p/young").exists());
    }
}
