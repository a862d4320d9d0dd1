//! Snapshots of real folders: what changed is found to the byte.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod git;
mod hostile;
mod world;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use acp_nvim::runtime::snapshot::{Changed, Extra, Name, Snapshots, Was};

use crate::world::{MOST, World};

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
        let typed = || Some(b"typed\n".to_vec());
        let over = vec![(at("a"), typed()), (at("b"), typed())];
        let before = world.snapshots.take(&Extra { also: vec![], over }).unwrap();
        world.write("a", "typed\n");
        world.expect(&before, &[("b", Some("typed\n"), Some("disk\n"))]);
    }
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

#[test]
fn without_the_program_git() {
    if std::env::var_os("ACP_TEST_NO_GIT").is_none() {
        // Only a process of its own may have other variables.
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "without_the_program_git"])
            .env("ACP_TEST_NO_GIT", "1")
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let world = World::plain();
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write("a", "1\n");
    let before = world.take();
    assert!(!before.with_git());
    world.write("a", "2\n");
    world.write(".git/index", "not ours\n");
    world.expect(&before, &[("a", Some("1\n"), Some("2\n"))]);
}

#[test]
fn what_is_known_beyond_the_cap() {
    let world = World::plain();
    world.write("node_modules/a", "1");
    world.write("node_modules/b", "1");
    let mut before = world.take();
    let at = |name: &str| world.root.join("node_modules").join(name);
    let found = [(at("a"), Some(b"1".to_vec())), (at("new"), None)];
    assert_eq!(world.snapshots.add(&mut before, &found.into()).unwrap(), [at("a"), at("new")]);
    fs::remove_file(at("a")).unwrap();
    world.write("node_modules/b", "2");
    world.write("node_modules/new", "2");
    let over = vec![(at("a"), None), (at("new"), fs::read(at("new")).ok())];
    let after = world.snapshots.take(&Extra { also: vec![], over }).unwrap();
    let changed = world.snapshots.changed(&before, &after).unwrap();
    let all: Vec<_> =
        changed.iter().map(|it| (it.path.0.clone(), world.bytes(&it.before))).collect();
    assert_eq!(all, [(at("a"), Some(b"1".to_vec())), (at("new"), None)]);
}

#[test]
fn several_at_once() {
    for world in [World::git(), World::plain()] {
        for number in 0..50 {
            world.write(&format!("{number}"), format!("{number}\n"));
        }
        std::thread::scope(|threads| {
            for number in 0..4 {
                let world = &world;
                threads.spawn(move || {
                    let name = format!("by {number}");
                    let before = world.take();
                    world.write(&name, "x\n");
                    let changed = world.changed(&before);
                    assert_eq!(changed.get(name.as_bytes()), Some(&(None, Some(b"x\n".to_vec()))));
                });
            }
        });
    }
}
