//! Files on the disk, as agents read, write and list them.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod attacks;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use acp_nvim::runtime::disk::{self, Disk, DiskQuestion, NewText, Written};
use acp_nvim::runtime::input::Input;
use acp_nvim::runtime::real_paths::real_paths;
use acp_nvim::session::content::Content;
use acp_nvim::session::event::{DiskError, Event};
use acp_nvim::session::ids::{AskId, SessionId};
use acp_nvim::session::question::FileRange;
use tempfile::TempDir;
use tokio::sync::mpsc::channel;
use tokio::time::timeout;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn range(&self, name: &str, line: Option<u32>, limit: Option<u32>) -> FileRange {
        FileRange { path: self.name(name), line, limit }
    }

    fn read(&self, name: &str) -> Result<String, DiskError> {
        disk::read(&self.range(name, None, None))
    }

    /// Why it failed, without the path.
    fn why(&self, name: &str, result: Result<impl std::fmt::Debug, DiskError>) -> String {
        match result {
            Err(DiskError::Other(words)) => {
                words.strip_prefix(&format!("{} ", self.name(name))).unwrap().to_owned()
            }
            other => panic!("{other:?}"),
        }
    }

    /// The names in it, to see that nothing was left behind.
    fn names(&self) -> String {
        disk::list(self.0.path().to_str().unwrap()).unwrap().replace('\n', " ")
    }
}

#[test]
fn a_file_as_it_is() {
    let folder = Folder::new();
    for text in ["", "\n", "a\nb\n", "no end", "dos\r\nand\r\nunix\n", "\u{feff}grüße 日本\n"] {
        folder.put("f", text);
        assert_eq!(folder.read("f").unwrap(), text);
    }
}

#[test]
fn some_lines() {
    let folder = Folder::new();
    folder.put("f", "1\r\n2\n\n4\n5");
    for (line, limit, expected) in [
        (Some(2), None, "2\n\n4\n5"),
        (None, Some(1), "1\r\n"),
        (Some(2), Some(2), "2\n\n"),
        (Some(4), Some(9), "4\n5"),
        (Some(5), Some(1), "5"),
        (Some(6), None, ""),
        (Some(u32::MAX), Some(u32::MAX), ""),
        (Some(0), Some(1), "1\r\n"),
        (Some(1), Some(0), ""),
    ] {
        let read = disk::read(&folder.range("f", line, limit));
        assert_eq!(read.unwrap(), expected, "{line:?} {limit:?}");
    }
}

#[test]
fn what_is_no_text() {
    let folder = Folder::new();
    for bytes in [&b"\x7fELF\0\0"[..], b"\xff\xfea\0b"] {
        folder.put("f", bytes);
        let why = folder.why("f", folder.read("f"));
        assert!(why.starts_with("is not text: "), "{why}");
    }
    folder.put("f", b"caf\xe9\n");
    assert_eq!(folder.read("f").unwrap(), "café\n");
    // The lines that are wanted count.
    folder.put("f", b"good\n\xff\n");
    assert_eq!(disk::read(&folder.range("f", None, Some(1))).unwrap(), "good\n");
}

#[test]
fn large_files() {
    let folder = Folder::new();
    let line = "0123456789abcde\n";
    folder.put("f", line.repeat((32 << 20) / line.len()));
    assert_eq!(folder.read("f").unwrap().len(), 32 << 20);
    folder.put("f", line.repeat((32 << 20) / line.len() + 1));
    assert_eq!(folder.why("f", folder.read("f")), "is larger than 32 MB: read it in parts");
    let part = disk::read(&folder.range("f", Some(2_000_000), Some(2)));
    assert_eq!(part.unwrap(), line.repeat(2));
    folder.put("f", "x".repeat((32 << 20) + 1));
    assert!(disk::read(&folder.range("f", None, Some(1))).is_err());
}

#[test]
fn what_cannot_be_read() {
    let folder = Folder::new();
    assert_eq!(folder.read("none"), Err(DiskError::NotFound));
    assert_eq!(folder.read("no/such"), Err(DiskError::NotFound));
    fs::create_dir(folder.path("dir")).unwrap();
    assert_eq!(folder.why("dir", folder.read("dir")), "is a directory");
    folder.put("f", "");
    assert_eq!(folder.why("f/x", folder.read("f/x")), "cannot be read: not a directory");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(folder.why("pipe", folder.read("pipe")), "cannot be read: it is not a regular file");
    assert!(folder.why("pipe", disk::write(&folder.name("pipe"), "x")).contains("not a regular"));
}

#[test]
fn a_new_file_in_new_folders() {
    let folder = Folder::new();
    disk::write(&folder.name("a/b/c.txt"), "one\r\ntwo").unwrap();
    assert_eq!(folder.get("a/b/c.txt"), "one\r\ntwo");
    folder.put("usual", "");
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("a/b/c.txt"), mode("usual"));
    assert_eq!(disk::list(&folder.name("a/b")).unwrap(), "c.txt\n");
}

#[test]
fn what_a_file_keeps() {
    let folder = Folder::new();
    folder.put("f", "a much longer text than the new one");
    fs::set_permissions(folder.path("f"), Permissions::from_mode(0o751)).unwrap();
    disk::write(&folder.name("f"), "new").unwrap();
    assert_eq!(folder.get("f"), "new");
    assert_eq!(fs::metadata(folder.path("f")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(folder.names(), "f ");
}

/// What somebody else has changed since stays.
#[test]
fn what_the_writer_has_not_seen_is_kept() {
    let folder = Folder::new();
    let seen = "one\ntwo\nthree\nfour\nfive\n";
    folder.put("f", "mine\none\ntwo\nthree\nfour\nfive\n");
    let theirs = "one\ntwo\nthree\nfour\nFIVE\n";
    let both = "mine\none\ntwo\nthree\nfour\nFIVE\n";
    let written = disk::write_over(&folder.name("f"), theirs, Some(seen)).unwrap();
    assert_eq!(written, Written::Merged(both.to_owned()));
    assert_eq!(folder.get("f"), both);
    // Who goes on from their own text does not take away what they do not know.
    let again = theirs.replace("three", "THREE");
    disk::write_over(&folder.name("f"), &again, Some(theirs)).unwrap();
    assert_eq!(folder.get("f"), both.replace("three", "THREE"));
    folder.put("f", seen.replace("two", "mine"));
    let result = disk::write_over(&folder.name("f"), &seen.replace("two", "theirs"), Some(seen));
    let why = folder.why("f", result);
    assert!(why.starts_with("has changed since it was read, at line 2 too: nothing was"), "{why}");
    assert_eq!(folder.get("f"), seen.replace("two", "mine"));
    // Nothing is lost where there is nothing, or what was seen.
    fs::remove_file(folder.path("f")).unwrap();
    assert_eq!(disk::write_over(&folder.name("f"), theirs, Some(seen)), Ok(Written::AsGiven));
    assert_eq!(disk::write_over(&folder.name("f"), seen, Some(theirs)), Ok(Written::AsGiven));
    folder.put("dos", "mine\r\none\r\ntwo\r\n\r\nx");
    disk::write_over(&folder.name("dos"), "one\r\ntwo\r\n\r\nX", Some("one\r\ntwo\r\n\r\nx"))
        .unwrap();
    assert_eq!(folder.get("dos"), "mine\r\none\r\ntwo\r\n\r\nX");
    folder.put("latin1", b"caf\xe9\nmine\n");
    disk::write_over(&folder.name("latin1"), "café!\n", Some("café\n")).unwrap();
    assert_eq!(fs::read(folder.path("latin1")).unwrap(), b"caf\xe9!\nmine\n");
}

#[test]
fn what_cannot_be_written() {
    let folder = Folder::new();
    fs::create_dir(folder.path("dir")).unwrap();
    let why = folder.why("dir", disk::write(&folder.name("dir"), "x"));
    assert_eq!(why, "cannot be written: is a directory");
    folder.put("f", "x");
    let why = folder.why("f/x", disk::write(&folder.name("f/x"), "x"));
    assert!(why.starts_with("cannot be written: "), "{why}");
    assert_eq!(folder.names(), "dir/ f ");
}

/// Runs on a thread that is nobody in particular, for root may do anything.
#[cfg(target_os = "linux")]
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use rustix::thread::{Uid, set_thread_res_uid};

    std::thread::scope(|scope| {
        let run = || {
            if rustix::process::geteuid().is_root() {
                let nobody = Uid::from_raw(65534);
                set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            work()
        };
        scope.spawn(run).join().unwrap()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn permission_denied() {
    let folder = Folder::new();
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
    };
    mode("", 0o755);
    folder.put("secret", "s");
    folder.put("fixed", "old");
    folder.put("open", "a long old text");
    fs::create_dir(folder.path("closed")).unwrap();
    mode("closed", 0o000);
    mode("secret", 0o000);
    mode("fixed", 0o444);
    mode("open", 0o666);
    let root = rustix::process::geteuid().is_root();
    if !root {
        mode("", 0o555);
    }
    as_nobody(|| {
        let why = folder.why("secret", folder.read("secret"));
        assert_eq!(why, "cannot be read: permission denied");
        let why = folder.why("closed", disk::list(&folder.name("closed")));
        assert_eq!(why, "cannot be read: permission denied");
        for name in ["fixed", "new", "closed/x", "closed/y/z"] {
            let why = folder.why(name, disk::write(&folder.name(name), "x"));
            assert_eq!(why, "cannot be written: permission denied");
        }
        // The file may be written although its folder takes no new ones.
        disk::write(&folder.name("open"), "new").unwrap();
    });
    mode("", 0o755);
    assert_eq!(folder.get("open"), "new");
    assert_eq!(folder.get("fixed"), "old");
    mode("closed", 0o755);
}

#[test]
fn a_folder() {
    let folder = Folder::new();
    assert_eq!(disk::list(&folder.name("")).unwrap(), "");
    fs::create_dir(folder.path("b")).unwrap();
    for name in ["c", ".a", "a b", "ü", "new\nline"] {
        folder.put(name, "");
    }
    symlink("b", folder.path("to-b")).unwrap();
    symlink("nowhere", folder.path("to-nothing")).unwrap();
    let expected = ".a\na b\nb/\nc\nnew\u{fffd}line\nto-b/\nto-nothing\nü\n";
    assert_eq!(disk::list(&folder.name("")).unwrap(), expected);
    assert_eq!(disk::list(&folder.name("none")), Err(DiskError::NotFound));
    assert_eq!(folder.why("c", disk::list(&folder.name("c"))), "cannot be read: not a directory");
}

/// The core asks for many things at once and takes the results one by one: none is lost, and of
/// many writes to one file the last one stays.
#[tokio::test]
async fn many_questions() {
    let folder = Folder::new();
    let (sender, mut inputs) = channel(1);
    let disk = Disk::new(sender);
    for ask in 0..100 {
        let (path, text) = (folder.name("f"), format!("text {ask}").into());
        disk.write(AskId(ask), NewText { path, text, seen: None }, |_| |_| ());
        let question = |ask| DiskQuestion { ask: AskId(ask), session: SessionId(1) };
        disk.list(question(100 + ask), folder.name(""));
        disk.read(question(200 + ask), folder.range("none", None, None));
    }
    let mut answered = [0; 300];
    for _ in 0..300 {
        let input = timeout(Duration::from_secs(20), inputs.recv()).await.unwrap();
        let Some(Input::Event(Event::Disk { ask, result })) = input else { panic!("{input:?}") };
        match ask.0 {
            0..100 => assert_eq!(result, Ok(String::new())),
            100..200 => assert!(result.is_ok(), "{result:?}"),
            _ => assert_eq!(result, Err(DiskError::NotFound)),
        }
        answered[usize::try_from(ask.0).unwrap()] += 1;
    }
    assert_eq!(answered, [1; 300]);
    assert_eq!(folder.get("f"), "text 99");
    assert_eq!(folder.names(), "f ");
}

/// Else of two writes to a file the first one could come last.
#[tokio::test]
async fn where_paths_lead_is_told_in_order() {
    let folder = Folder::new();
    let (sender, mut inputs) = channel(1);
    let disk = Disk::new(sender);
    for ask in 0..200 {
        let question = DiskQuestion { ask: AskId(ask), session: SessionId(1) };
        let path = if ask % 2 == 0 { "f".to_owned() } else { "x/".repeat(400) };
        disk.resolve(question, folder.name(&path), vec![folder.name("")]);
    }
    for expected in 0..200 {
        let input = timeout(Duration::from_secs(20), inputs.recv()).await.unwrap();
        let Some(Input::Event(Event::Resolved { ask, real })) = input else { panic!("{input:?}") };
        assert_eq!((ask.0, real.inside), (expected, true));
    }
}

#[test]
fn what_is_saved_is_new() {
    let folder = Folder::new();
    let image = |data: &str| Content::Image { mime: "image/png".into(), data: data.into() };
    assert_eq!(disk::save(&folder.name("a"), &image("TWFu\nTWE=")), Ok(()));
    assert_eq!(folder.get("a"), "ManMa");
    let again = disk::save(&folder.name("a"), &image("AAAA")).unwrap_err();
    assert!(again.ends_with("a: file exists"), "{again}");
    assert_eq!(folder.get("a"), "ManMa");
    symlink(folder.path("nowhere"), folder.path("link")).unwrap();
    assert!(disk::save(&folder.name("link"), &image("AAAA")).is_err(), "a link is a file too");
    assert!(!folder.path("nowhere").exists());
    assert!(disk::save(&folder.name("b"), &image("§")).is_err());
    assert!(disk::save(&folder.name("no/such/folder"), &image("AAAA")).is_err());
    assert!(!folder.path("b").exists());
    let text = Content::Resource { uri: "x".into(), text: "text".into(), mime: None };
    assert_eq!(disk::save(&folder.name("c"), &text), Ok(()));
    assert_eq!(folder.get("c"), "text");
}

#[tokio::test]
async fn the_outcome_of_a_save_comes_back() {
    let folder = Folder::new();
    let (sender, mut inputs) = channel(8);
    let content = Content::Text("x".into());
    Disk::new(sender).save((SessionId(1), 7), folder.name("a"), content);
    let input = timeout(Duration::from_secs(20), inputs.recv()).await.unwrap();
    let Some(Input::Event(Event::Saved { tag: 7, result, .. })) = input else {
        panic!("{input:?}")
    };
    assert_eq!(result, Ok(()));
    assert_eq!(folder.get("a"), "x");
}

#[test]
fn where_the_paths_of_a_permission_lead() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("real/src")).unwrap();
    fs::create_dir_all(folder.path("outside/deep")).unwrap();
    folder.put("real/src/a", "");
    symlink("real", folder.path("project")).unwrap();
    symlink("../outside", folder.path("real/out")).unwrap();
    symlink("../outside/none", folder.path("real/dangling")).unwrap();
    symlink("src", folder.path("real/in")).unwrap();
    symlink("../outside/deep", folder.path("real/deep")).unwrap();
    symlink("loop", folder.path("real/loop")).unwrap();
    let base = fs::canonicalize(folder.path("")).unwrap();
    let base = base.to_str().unwrap();
    let leads = |path: &str, to: &str| {
        let path = folder.name(path);
        let real = real_paths(vec![path.clone()], &[folder.name("project")]);
        assert_eq!(real.get(&path).map(String::as_str), Some(to), "{path}");
    };
    // What is inside is told by the project's own name, whatever that is a link to.
    leads("project/src/a", &folder.name("project/src/a"));
    leads("project/in/new/file", &folder.name("project/src/new/file"));
    leads("real/src/a", &folder.name("project/src/a"));
    leads("project/out/x", &format!("{base}/outside/x"));
    leads("project/dangling", &format!("{base}/outside/none"));
    leads("project/deep/../x", &format!("{base}/outside/x"));
    leads("project/src/../x", &folder.name("project/x"));
    leads("project", &folder.name("project"));
    leads("project/none/../../outside/x", &format!("{base}/outside/x"));
}
