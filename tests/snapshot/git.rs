//! Work trees of git, in all their states: nothing of the user's is touched, and bytes are bytes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use acp_nvim::runtime::snapshot::{Changed, Extra, Name, Snapshots};

use crate::world::{MOST, World, run_in};

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
    let over = also.into_iter().map(|path| (path.clone(), fs::read(path).ok())).collect();
    let after = world.snapshots.take(&Extra { also: vec![], over }).unwrap();
    let changed = world.snapshots.changed(&before, &after).unwrap();
    let kind = |it: &Changed| (it.path.0.clone(), world.bytes(&it.before), world.bytes(&it.after));
    let all: Vec<_> = changed.iter().map(kind).collect();
    let new = || Some(b"22".to_vec());
    assert_eq!(all, [(at("a.log"), old(), new()), (at("new.log"), None, new())]);
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
