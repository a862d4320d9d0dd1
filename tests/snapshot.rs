//! Snapshots of real work trees: what changed is found to the byte, and nothing of the user's
//! repository is touched.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_nvim::runtime::snapshot::{Changed, Extra, Name, Snapshot, Snapshots, Was};
use tempfile::TempDir;

const MOST: u64 = 10 << 20;

struct World {
    _dir: TempDir,
    root: PathBuf,
    snapshots: Snapshots,
}

impl World {
    fn plain() -> World {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(&root).unwrap();
        let snapshots = Snapshots::new(&dir.path().join("state"), &root, MOST);
        World { _dir: dir, root, snapshots }
    }

    fn git() -> World {
        let world = World::plain();
        world.run(&["init", "-q", "-b", "main"]);
        world
    }

    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        run_in(&self.root, arguments)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "-m", "x"]);
    }

    fn take(&self) -> Snapshot {
        self.snapshots.take(&Extra::default()).unwrap()
    }

    fn bytes(&self, was: &Was) -> Option<Vec<u8>> {
        was.content().map(|it| self.snapshots.read(it).unwrap())
    }

    /// What changed, by the path seen from the project.
    fn changed(&self, before: &Snapshot) -> BTreeMap<Vec<u8>, (Option<Vec<u8>>, Option<Vec<u8>>)> {
        let changed = self.snapshots.changed_since(before).unwrap();
        let one = |it: Changed| {
            let path = it.path.0.strip_prefix(&self.root).unwrap().as_os_str().as_bytes().to_vec();
            (path, (self.bytes(&it.before), self.bytes(&it.after)))
        };
        changed.into_iter().map(one).collect()
    }

    fn expect(&self, before: &Snapshot, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let owned = |it: &Option<&str>| it.map(|it| it.as_bytes().to_vec());
        let all =
            expected.iter().map(|(path, a, b)| (path.as_bytes().to_vec(), (owned(a), owned(b))));
        assert_eq!(self.changed(before), all.collect());
    }

    /// Every byte of the user's repository, and what git says of it.
    fn fingerprint(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        let mut folders = vec![self.root.join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => all.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        all.sort();
        let said = run_in(&self.root, &["--no-optional-locks", "status", "--porcelain=v2", "-z"]);
        all.push(("status".into(), said));
        all
    }
}

fn run_in(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn what_was_made_changed_and_deleted() {
    for world in [World::git(), World::plain()] {
        let with_git = world.root.join(".git").exists();
        world.write("kept", "1\n");
        world.write("changed", "1\n");
        world.write("deleted", "1\n");
        world.write("sub/below", "1\n");
        if with_git {
            world.commit();
        }
        world.write("untracked", "1\n");
        let before = world.take();
        assert_eq!(before.with_git(), with_git);
        assert!(before.complete);
        world.expect(&before, &[]);
        world.write("changed", "2\n");
        world.write("untracked", "2\n");
        world.write("new/made", "2\n");
        fs::remove_file(world.root.join("deleted")).unwrap();
        fs::remove_dir_all(world.root.join("sub")).unwrap();
        let after = world.take();
        let expected: &[(&str, Option<&str>, Option<&str>)] = &[
            ("changed", Some("1\n"), Some("2\n")),
            ("untracked", Some("1\n"), Some("2\n")),
            ("new/made", None, Some("2\n")),
            ("deleted", Some("1\n"), None),
            ("sub/below", Some("1\n"), None),
        ];
        world.expect(&before, expected);
        // An earlier one is still what it was.
        let back = world.snapshots.changed(&after, &before).unwrap();
        assert_eq!(back.len(), expected.len());
        let changed = world.root.join("changed");
        assert_eq!(world.bytes(&world.snapshots.was(&before, &changed).unwrap()).unwrap(), b"1\n");
        let none = world.root.join("none");
        assert_eq!(world.snapshots.was(&before, &none).unwrap(), Was::Missing);
    }
}

#[test]
fn nothing_of_the_users_repository_is_touched() {
    let world = World::git();
    world.write("a", "1\n");
    world.write("b", "1\n");
    world.commit();
    world.write("a", "stashed\n");
    world.run(&["stash"]);
    world.write("a", "staged\n");
    world.run(&["add", "a"]);
    world.write("a", "not staged\n");
    world.write("c", "untracked\n");
    world.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch \"$PWD/hooked\"\n");
    let hook = world.root.join(".git/hooks/post-index-change");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    let begin = world.fingerprint();
    let before = world.take();
    world.write("b", "2\n");
    world.write("d", "2\n");
    world.expect(&before, &[("b", Some("1\n"), Some("2\n")), ("d", None, Some("2\n"))]);
    world.write("b", "1\n");
    fs::remove_file(world.root.join("d")).unwrap();
    // The stamp in the index is another one now, as a file was written: git would look again.
    let mut end = world.fingerprint();
    let mut begin = begin;
    assert_eq!(begin.pop().map(|it| it.1), end.pop().map(|it| it.1));
    assert_eq!(begin, end);
    assert!(!world.root.join("hooked").exists());
    let mode = fs::metadata(&world.snapshots.folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn odd_names_modes_and_links() {
    for world in [World::git(), World::plain()] {
        let names: [&[u8]; 8] = [
            b"a b",
            b"new\nline",
            b"\xff\xfe",
            b"\"quoted\"",
            b"*",
            b":(top)x",
            b"-f",
            b"\xc3\xa4",
        ];
        let at = |name: &[u8]| world.root.join(OsStr::from_bytes(name));
        for name in names {
            fs::write(at(name), "1").unwrap();
        }
        world.write("program", "1");
        symlink("a b", at(b"link")).unwrap();
        symlink("nowhere", at(b"dangling")).unwrap();
        let before = world.take();
        for name in names {
            fs::write(at(name), "22").unwrap();
        }
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(at(b"program"), mode).unwrap();
        fs::remove_file(at(b"link")).unwrap();
        symlink("elsewhere", at(b"link")).unwrap();
        let after = world.take();
        let changed = world.snapshots.changed(&before, &after).unwrap();
        assert_eq!(changed.len(), names.len() + 2);
        let of = |name: &[u8]| changed.iter().find(|it| it.path.0 == at(name)).unwrap();
        for name in names {
            assert_eq!(world.bytes(&of(name).before).unwrap(), b"1");
        }
        assert!(matches!(of(b"program").before, Was::File { executable: false, .. }));
        assert!(matches!(of(b"program").after, Was::File { executable: true, .. }));
        assert!(matches!(of(b"link").after, Was::Link(_)));
        assert_eq!(world.bytes(&of(b"link").before).unwrap(), b"a b");
        // And they survive being written down.
        let text = serde_json::to_string(&changed).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Changed>>(&text).unwrap(), changed);
    }
}

#[test]
fn bytes_are_bytes() {
    let world = World::git();
    world.run(&["config", "core.autocrlf", "true"]);
    world.run(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    world.run(&["config", "filter.upper.smudge", "tr A-Z a-z"]);
    world.run(&["config", "filter.upper.required", "true"]);
    world.write(".gitattributes", "*.txt text\n*.up filter=upper\n*.id ident\n");
    world.write("crlf.txt", "one\r\ntwo\r\n");
    world.write("crlf", "one\r\ntwo\r\n");
    world.write("shout.up", "quiet\n");
    world.write("x.id", "$Id: mine $\n");
    world.commit();
    // Their index says that these are clean, with other bytes than they have.
    assert_eq!(world.run(&["status", "--porcelain"]), b"");
    let before = world.take();
    for (name, bytes) in [
        ("crlf.txt", "one\r\ntwo\r\n"),
        ("crlf", "one\r\ntwo\r\n"),
        ("shout.up", "quiet\n"),
        ("x.id", "$Id: mine $\n"),
    ] {
        let was = world.snapshots.was(&before, &world.root.join(name)).unwrap();
        assert_eq!(world.bytes(&was).unwrap(), bytes.as_bytes(), "{name}");
    }
    world.write("crlf.txt", "one\ntwo\n");
    world.write("shout.up", "QUIET\n");
    world.expect(
        &before,
        &[
            ("crlf.txt", Some("one\r\ntwo\r\n"), Some("one\ntwo\n")),
            ("shout.up", Some("quiet\n"), Some("QUIET\n")),
        ],
    );
}

#[test]
fn ignored_files_only_where_asked_for() {
    let world = World::git();
    world.write(".gitignore", "*.log\n");
    world.write(".git/info/exclude", "mine\n");
    world.write("a.log", "1");
    world.write("b.log", "1");
    world.write("mine", "1");
    let also = Extra { also: vec![world.root.join("a.log"), "/elsewhere".into()], over: vec![] };
    let before = world.snapshots.take(&also).unwrap();
    for name in ["a.log", "b.log", "mine"] {
        world.write(name, "22");
    }
    world.expect(&before, &[("a.log", Some("1"), Some("22"))]);
}

#[test]
fn ignored_files_that_are_known_to_change() {
    let world = World::git();
    world.write(".gitignore", "*.log\n");
    world.write("a.log", "1");
    world.write("b.log", "1");
    world.write("plain", "1");
    let mut before = world.take();
    let at = |name: &str| world.root.join(name);
    let old = || Some(b"1".to_vec());
    let found =
        [(at("a.log"), old()), (at("new.log"), None), (at("plain"), old()), (at("x"), old())];
    let also = world.snapshots.add(&mut before, &found.into()).unwrap();
    assert_eq!(also, [at("a.log"), at("new.log")]);
    for name in ["a.log", "b.log", "new.log"] {
        world.write(name, "22");
    }
    let after = world.snapshots.take(&Extra { also, over: vec![] }).unwrap();
    let changed = world.snapshots.changed(&before, &after).unwrap();
    let kind = |it: &Changed| (it.path.0.clone(), world.bytes(&it.before), world.bytes(&it.after));
    let all: Vec<_> = changed.iter().map(kind).collect();
    let new = || Some(b"22".to_vec());
    assert_eq!(all, [(at("a.log"), old(), new()), (at("new.log"), None, new())]);
}

#[test]
fn projects_that_nobody_works_on_are_forgotten() {
    let world = World::plain();
    world.take();
    let other = Snapshots::new(world.snapshots.folder.parent().unwrap(), Path::new("/tmp"), MOST);
    fs::create_dir_all(&other.folder).unwrap();
    let lock = fs::File::create(other.folder.join("lock")).unwrap();
    let day = std::time::Duration::from_secs(24 * 3600);
    world.snapshots.forget_others(day).unwrap();
    assert!(other.folder.exists());
    lock.set_modified(std::time::SystemTime::now() - 2 * day).unwrap();
    world.snapshots.forget_others(day).unwrap();
    assert!(!other.folder.exists() && world.snapshots.folder.exists());
}

#[test]
fn what_the_editor_has_counts() {
    for world in [World::git(), World::plain()] {
        world.write("a", "disk\n");
        world.write("b", "disk\n");
        let at = |name: &str| world.root.join(name);
        let over = vec![(at("a"), b"typed\n".to_vec()), (at("b"), b"typed\n".to_vec())];
        let before = world.snapshots.take(&Extra { also: vec![], over }).unwrap();
        world.write("a", "typed\n");
        world.expect(&before, &[("b", Some("typed\n"), Some("disk\n"))]);
    }
}

#[test]
fn an_unborn_head_and_a_merge_in_progress() {
    let world = World::git();
    world.write("a", "1\n");
    let before = world.take();
    assert!(before.with_git());
    world.write("a", "2\n");
    world.expect(&before, &[("a", Some("1\n"), Some("2\n"))]);
    world.commit();
    world.run(&["checkout", "-q", "-b", "other"]);
    world.write("a", "theirs\n");
    world.commit();
    world.run(&["checkout", "-q", "main"]);
    world.write("a", "ours\n");
    world.commit();
    let merge =
        Command::new("git").current_dir(&world.root).args(["merge", "-q", "other"]).output();
    assert!(!merge.unwrap().status.success());
    let conflict = fs::read_to_string(world.root.join("a")).unwrap();
    let begin = world.fingerprint();
    // With an index of ours from before, and with a fresh one.
    for forget in [false, true] {
        if forget {
            fs::remove_dir_all(&world.snapshots.folder).unwrap();
        }
        let before = world.take();
        assert!(before.complete && before.with_git());
        let was = world.snapshots.was(&before, &world.root.join("a")).unwrap();
        assert_eq!(world.bytes(&was).unwrap(), conflict.as_bytes());
        world.write("a", "settled\n");
        world.expect(&before, &[("a", Some(&conflict), Some("settled\n"))]);
        world.write("a", &conflict);
    }
    assert_eq!(world.fingerprint(), begin);
}

#[test]
fn worktrees_and_folders_below_the_top() {
    let world = World::git();
    world.write("a", "1\n");
    world.write("sub/b", "1\n");
    world.commit();
    let tree = world.root.parent().unwrap().join("tree");
    world.run(&["worktree", "add", "-q", tree.to_str().unwrap()]);
    let state = world.root.parent().unwrap().join("state");
    let linked = Snapshots::new(&state, &tree, MOST);
    let before = linked.take(&Extra::default()).unwrap();
    assert!(before.with_git() && before.complete);
    fs::write(tree.join("a"), "2\n").unwrap();
    let changed = linked.changed_since(&before).unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].path, Name(tree.join("a")));
    // Only the project counts, not all of the work tree.
    let below = Snapshots::new(&state, &world.root.join("sub"), MOST);
    let before = below.take(&Extra::default()).unwrap();
    world.write("a", "2\n");
    world.write("sub/b", "2\n");
    world.write("sub/c", "2\n");
    let changed = below.changed_since(&before).unwrap();
    let paths: Vec<&Path> = changed.iter().map(|it| it.path.0.as_path()).collect();
    assert_eq!(paths, [world.root.join("sub/b"), world.root.join("sub/c")]);
}

#[test]
fn repositories_inside_are_skipped_and_named() {
    let world = World::git();
    let library = world.root.parent().unwrap().join("library");
    fs::create_dir(&library).unwrap();
    run_in(&library, &["init", "-q"]);
    fs::write(library.join("x"), "1").unwrap();
    run_in(&library, &["add", "-A"]);
    run_in(&library, &["commit", "-q", "-m", "x"]);
    world.run(&["submodule", "--quiet", "add", library.to_str().unwrap(), "module"]);
    world.commit();
    for nested in ["nested", "unborn"] {
        fs::create_dir(world.root.join(nested)).unwrap();
        run_in(&world.root.join(nested), &["init", "-q"]);
        world.write(&format!("{nested}/y"), "1");
    }
    run_in(&world.root.join("nested"), &["add", "-A"]);
    run_in(&world.root.join("nested"), &["commit", "-q", "-m", "x"]);
    let before = world.take();
    assert!(before.with_git() && before.complete);
    let skipped: Vec<&Path> = before.skipped.iter().map(|it| it.0.as_path()).collect();
    assert_eq!(skipped, ["module", "nested", "unborn"].map(|it| world.root.join(it)));
    world.write("module/x", "2");
    world.write("nested/y", "2");
    world.write("unborn/y", "2");
    world.write("outside", "2");
    world.expect(&before, &[("outside", None, Some("2"))]);
}

#[test]
fn files_that_git_was_told_not_to_look_at() {
    let world = World::git();
    for name in ["assumed", "skipped", "tracked.log"] {
        world.write(name, "1\n");
    }
    world.commit();
    world.write(".gitignore", "*.log\n");
    world.run(&["update-index", "--assume-unchanged", "assumed"]);
    world.run(&["update-index", "--skip-worktree", "skipped"]);
    let before = world.take();
    for name in ["assumed", "skipped", "tracked.log"] {
        world.write(name, "2\n");
    }
    let one = (Some("1\n"), Some("2\n"));
    let all = ["assumed", "skipped", "tracked.log"].map(|name| (name, one.0, one.1));
    world.expect(&before, &all);
}

#[test]
fn what_is_too_large_or_not_readable_is_left_out() {
    for world in [World::git(), World::plain()] {
        world.write("small", "1");
        world.write("large", vec![b'x'; (MOST + 1) as usize]);
        let before = world.take();
        assert!(!before.complete);
        assert!(before.skipped.contains(&Name(world.root.join("large"))));
        world.write("large", "now it would fit");
        world.write("small", "22");
        world.expect(&before, &[("small", Some("1"), Some("22"))]);
        let before = world.take();
        assert!(before.complete);
        world.write("large", vec![b'x'; (MOST + 1) as usize]);
        // What it is now nobody knows; that it is gone would be a lie.
        world.expect(&before, &[]);
    }
}

#[test]
fn a_content_is_kept_whatever_git_does() {
    let world = World::git();
    world.write("a", "1\n");
    world.commit();
    let before = world.take();
    world.write("a", "2\n");
    let mut changed = world.snapshots.changed_since(&before).unwrap();
    assert!(changed[0].before.own().is_none());
    world.snapshots.keep(&mut changed).unwrap();
    let kept = changed[0].before.clone();
    let name = kept.own().unwrap().to_owned();
    fs::remove_dir_all(world.root.join(".git")).unwrap();
    assert_eq!(world.bytes(&kept).unwrap(), b"1\n");
    world.snapshots.sweep(&[name].into()).unwrap();
    assert_eq!(world.bytes(&kept).unwrap(), b"1\n");
    // No repository any more: it goes on without.
    let after = world.take();
    assert!(!after.with_git());
    assert!(world.snapshots.changed(&before, &after).is_err());
}

#[test]
fn variables_of_git_do_not_leak_in() {
    // Only a process of its own may change its variables: this one runs another test with them.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_was_made_changed_and_deleted"])
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
