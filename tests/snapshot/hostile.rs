//! A repository that came with settings of its own: git is asked about it, and nothing is run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use acp_nvim::runtime::git::{self, GitDiff};
use acp_nvim::runtime::snapshot::Extra;

use crate::world::{World, run_in};

const MOST: usize = 1_000_000;

fn diff(world: &World) -> GitDiff {
    git::diff(&world.root, MOST).unwrap().unwrap()
}

fn files(world: &World) -> Vec<String> {
    let names = String::from_utf8(git::files(&world.root).unwrap().unwrap()).unwrap();
    let mut names: Vec<String> = names.split_terminator('\0').map(str::to_owned).collect();
    names.sort();
    names
}

/// Everything in a repository that git would run, each with a file of its own to show for it.
fn arm(world: &World) {
    let marker = |name: &str| format!("touch '{}/PWN-{name}'", world.root.display());
    let programs = [
        ("core.fsmonitor", "fsmonitor", "; false"),
        ("core.pager", "pager", "; cat"),
        ("core.sshCommand", "ssh", ""),
        ("core.alternateRefsCommand", "alternate-refs", ""),
        ("diff.external", "external", ""),
        ("diff.evil.command", "command", ""),
        ("diff.evil.textconv", "textconv", "; cat"),
        ("filter.evil.clean", "clean", "; cat"),
        ("filter.evil.smudge", "smudge", "; cat"),
        ("filter.evil.process", "process", ""),
        ("remote.origin.uploadpack", "uploadpack", ";"),
        ("alias.ls-files", "alias", ""),
    ];
    for (setting, name, after) in programs {
        let bang = if setting.starts_with("alias") { "!" } else { "" };
        world.run(&["config", setting, &format!("{bang}{}{after}", marker(name))]);
    }
    let settings = [
        ("filter.evil.required", "true"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.url", "."),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("submodule.recurse", "true"),
    ];
    for (setting, value) in settings {
        world.run(&["config", setting, value]);
    }
    world.write(".git/info/attributes", "* diff=evil filter=evil\n");
    world.write(".gitattributes", "* diff=evil filter=evil\n");
    for hook in
        ["post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"]
    {
        let path = world.root.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{}\n", marker(hook))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn markers(world: &World) -> Vec<String> {
    let names = fs::read_dir(&world.root).unwrap().map(|it| it.unwrap().file_name());
    let names = names.map(|it| it.into_string().unwrap());
    names.filter(|it| it.starts_with("PWN")).collect()
}

#[test]
fn nothing_of_a_hostile_repository_is_run() {
    let world = World::git();
    world.write("a.txt", "one\n");
    world.write("gone.txt", "one\n");
    world.commit();
    arm(&world);
    // What is missing would be fetched.
    let blob = world.run(&["rev-parse", "HEAD:gone.txt"]);
    let blob = String::from_utf8(blob).unwrap();
    let (folder, name) = blob.trim().split_at(2);
    fs::remove_file(world.root.join(".git/objects").join(folder).join(name)).unwrap();
    fs::remove_file(world.root.join("gone.txt")).unwrap();
    world.write("a.txt", "two\n");
    assert!(files(&world).contains(&"a.txt".to_owned()));
    git::diff(&world.root, MOST).unwrap_err();
    world.snapshots.take(&Extra::default()).unwrap();
    assert_eq!(markers(&world), [""; 0]);
    // The repository is armed: git itself runs what it says.
    run_in(&world.root, &["ls-files", "--others"]);
    assert!(!markers(&world).is_empty());
}

#[test]
fn a_diff_is_told_whatever_drivers_the_repository_has() {
    let world = World::git();
    world.write("a.txt", "one\n");
    world.commit();
    arm(&world);
    world.write("a.txt", "two\n");
    let GitDiff { text, whole } = diff(&world);
    assert!(text.contains("-one\n+two\n"), "{text}");
    assert!(whole);
    assert_eq!(markers(&world), [""; 0]);
}

#[test]
fn a_diff_is_what_changed_since_the_last_commit() {
    let world = World::git();
    world.write("staged.txt", "one\n");
    world.write("both.txt", "one\n");
    world.write("old name.txt", "a\nb\nc\nd\ne\nf\n");
    world.write("gone.txt", "gone\n");
    world.write("bin", "\0one");
    world.write("sub/ü.txt", "one\n");
    world.commit();
    assert_eq!(diff(&world).text, "");
    world.write("staged.txt", "two\n");
    world.write("both.txt", "two\n");
    world.run(&["mv", "old name.txt", "new name.txt"]);
    world.run(&["add", "-A"]);
    world.write("both.txt", "three\n");
    world.write("bin", "\0two");
    world.write("sub/ü.txt", "two\n");
    world.write("untracked.txt", "x\n");
    fs::remove_file(world.root.join("gone.txt")).unwrap();
    let before = world.fingerprint();
    let text = diff(&world).text;
    for part in [
        "-one\n+two\n",
        "-one\n+three\n",
        "rename from old name.txt\nrename to new name.txt\n",
        "deleted file mode 100644",
        "Binary files a/bin and b/bin differ\n",
        "+++ b/sub/ü.txt\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("untracked"), "{text}");
    assert_eq!(before, world.fingerprint());
    let cut = git::diff(&world.root, 100).unwrap().unwrap();
    assert!(!cut.whole && cut.text.len() <= 100 && cut.text.ends_with('\n'), "{cut:?}");
    assert!(text.starts_with(&cut.text));
}

#[test]
fn a_diff_before_the_first_commit_and_with_line_endings() {
    let world = World::git();
    world.write("new.txt", "one\n");
    assert_eq!(diff(&world).text, "");
    world.run(&["add", "new.txt"]);
    world.write("new.txt", "two\n");
    assert!(diff(&world).text.contains("new file mode 100644"));
    assert!(diff(&world).text.contains("+two\n"));
    world.run(&["config", "core.autocrlf", "true"]);
    world.write("dos.txt", "one\r\ntwo\r\n");
    world.commit();
    world.write("dos.txt", "one\r\nchanged\r\n");
    let text = diff(&world).text;
    assert!(text.contains(" one\n-two\n+changed\n"), "only what changed: {text:?}");
}

#[test]
fn files_are_those_that_git_tracks_or_would() {
    let world = World::git();
    world.write(".gitignore", "*.log\n");
    world.write("a.txt", "");
    world.write("x.log", "");
    world.write("sub/b.txt", "");
    world.write(".git/info/exclude", "private.txt\n");
    world.write("private.txt", "");
    world.commit();
    world.write("new.txt", "");
    assert_eq!(files(&world), [".gitignore", "a.txt", "new.txt", "sub/b.txt"]);
    let below = git::files(&world.root.join("sub")).unwrap().unwrap();
    assert_eq!(below, b"b.txt\0");
    world.run(&["update-index", "--split-index"]);
    assert_eq!(files(&world), [".gitignore", "a.txt", "new.txt", "sub/b.txt"]);
    assert!(git::files(&World::plain().root).unwrap().is_none());
}

#[test]
fn a_work_tree_that_is_elsewhere_is_not_looked_at() {
    let world = World::git();
    let home = world.root.parent().unwrap();
    fs::write(home.join("secret"), "old\n").unwrap();
    world.run(&["config", "core.worktree", home.to_str().unwrap()]);
    run_in(home, &["--git-dir", "project/.git", "--work-tree", ".", "add", "secret"]);
    fs::write(home.join("secret"), "secret\n").unwrap();
    assert_eq!(git::diff(&world.root, MOST).unwrap(), None);
    assert_eq!(git::files(&world.root).unwrap(), None);
}

#[test]
fn a_pipe_in_the_place_of_a_file_stops_nobody_for_ever() {
    let world = World::git();
    world.write("a.txt", "one\n");
    world.commit();
    for name in ["info/exclude", "index"] {
        let path = world.root.join(".git").join(name);
        fs::remove_file(&path).ok();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    let begin = Instant::now();
    git::files(&world.root).ok();
    assert!(begin.elapsed() < Duration::from_secs(40));
}
