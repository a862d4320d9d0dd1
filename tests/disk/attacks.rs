//! Links, second names, files with no end: nothing but the file that was decided upon is read or
//! written, and nobody else reads what is written.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acp_nvim::runtime::disk::{self, Disk, DiskQuestion};
use acp_nvim::runtime::input::Input;
use acp_nvim::session::event::{DiskError, Event, RealPath};
use acp_nvim::session::ids::{AskId, SessionId};
use tokio::sync::mpsc::channel;
use tokio::time::timeout;

use crate::Folder;

/// Where a path leads is found out before, and decided upon.
#[test]
fn no_link_is_followed() {
    let folder = Folder::new();
    fs::create_dir(folder.path("real")).unwrap();
    folder.put("real/f", "old");
    symlink("real/f", folder.path("one")).unwrap();
    symlink("real", folder.path("to-real")).unwrap();
    symlink("real/later", folder.path("dangling")).unwrap();
    for name in ["one", "to-real/f", "to-real/new", "to-real/new/new", "dangling"] {
        let why = folder.why(name, disk::write(&folder.name(name), "new"));
        assert_eq!(why, "cannot be written: it has become a symbolic link, or its folder has");
    }
    for name in ["one", "to-real/f", "dangling"] {
        let why = folder.why(name, folder.read(name));
        assert_eq!(why, "cannot be read: it has become a symbolic link, or its folder has");
    }
    assert!(disk::list(&folder.name("to-real")).is_err());
    assert_eq!(disk::list(&folder.name("real")).unwrap(), "f\n");
    assert_eq!(folder.get("real/f"), "old");
}

#[test]
fn where_a_path_leads() {
    let folder = Folder::new();
    let root = folder.path("").canonicalize().unwrap();
    fs::create_dir_all(root.join("project/bare/objects")).unwrap();
    fs::create_dir_all(root.join("project/bare/refs")).unwrap();
    fs::create_dir_all(root.join("outside")).unwrap();
    fs::write(root.join("project/bare/HEAD"), "").unwrap();
    fs::write(root.join("project/f"), "").unwrap();
    symlink("../outside", root.join("project/out")).unwrap();
    symlink("f", root.join("project/in")).unwrap();
    symlink("project", root.join("to-project")).unwrap();
    let roots = [root.join("to-project").to_str().unwrap().to_owned()];
    for (path, leads, inside, repository) in [
        ("project/f", "project/f", true, false),
        ("project/in", "project/f", true, false),
        ("to-project/in", "project/f", true, false),
        ("project/out/new", "outside/new", false, false),
        ("project/none/../../outside/x", "outside/x", false, false),
        ("project/bare/config", "project/bare/config", true, true),
        ("project/bare/hooks/new", "project/bare/hooks/new", true, true),
    ] {
        let real = disk::resolve(root.join(path).to_str().unwrap(), &roots);
        let path = root.join(leads).to_str().unwrap().to_owned();
        assert_eq!(real, RealPath { path, inside, repository });
    }
}

/// Somebody toggles a name between a file and a link out of the project, as fast as can be.
#[test]
fn what_takes_the_place_of_a_file_is_neither_read_nor_written() {
    let folder = Folder::new();
    for name in ["project", "project/d", "outside"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    folder.put("outside/f", "secret");
    let (name, spare) = (folder.path("project/f"), folder.path("project/spare"));
    let (inner, aside) = (folder.path("project/d"), folder.path("project/aside"));
    let stop = AtomicBool::new(false);
    let (mut plain, mut refused) = (0, 0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::write(&spare, "plain").unwrap();
                fs::rename(&spare, &name).unwrap();
                fs::rename(&inner, &aside).unwrap();
                // Whoever writes may have made the folder anew meanwhile.
                symlink("../outside", &inner).ok();
                symlink("../outside/f", &spare).unwrap();
                fs::rename(&spare, &name).unwrap();
                while fs::rename(&aside, &inner).is_err() {
                    fs::remove_file(&inner).or_else(|_| fs::remove_dir_all(&inner)).ok();
                }
            }
        });
        for turn in 0..4000 {
            match folder.read("project/f") {
                Ok(text) => {
                    assert!(["plain", "mine"].contains(&text.as_str()), "{text}");
                    plain += 1;
                }
                Err(_) => refused += 1,
            }
            let below = folder.read("project/d/f");
            assert!(!below.as_ref().is_ok_and(|it| it == "secret"), "{below:?}");
            if turn % 8 == 0 {
                for name in ["project/f", "project/d/f", "project/d/new/f"] {
                    disk::write(&folder.name(name), "mine").ok();
                }
            }
            assert_eq!(folder.get("outside/f"), "secret");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(disk::list(&folder.name("outside")).unwrap(), "f\n");
    assert!(plain > 0 && refused > 0, "{plain} {refused}");
}

#[test]
fn nobody_else_reads_a_private_file_while_it_is_written() {
    let folder = Folder::new();
    folder.put("f", "old");
    fs::set_permissions(folder.path("f"), Permissions::from_mode(0o600)).unwrap();
    let text = "secret\n".repeat(4 << 20);
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|threads| {
        let watch =
            threads.spawn(|| {
                let mut seen = std::collections::BTreeSet::new();
                while !stop.load(Ordering::Relaxed) {
                    for entry in fs::read_dir(folder.path("")).unwrap().flatten() {
                        seen.extend(entry.metadata().ok().map(|it| {
                            (entry.file_name().len() > 1, it.permissions().mode() & 0o777)
                        }));
                    }
                }
                seen
            });
        disk::write(&folder.name("f"), &text).unwrap();
        stop.store(true, Ordering::Relaxed);
        watch.join().unwrap()
    });
    assert!(seen.contains(&(true, 0o600)), "the new file was not seen");
    assert!(seen.iter().all(|it| it.1 == 0o600), "{seen:?}");
    assert_eq!(folder.get("f").len(), text.len());
}

/// A file can be as long as it likes without taking any room.
#[tokio::test]
async fn a_file_with_no_end_holds_up_nobody() {
    let folder = Folder::new();
    fs::File::create(folder.path("sparse")).unwrap().set_len(400 << 30).unwrap();
    folder.put("f", "text");
    let (sender, mut inputs) = channel(1);
    let disk = Disk::new(sender);
    for ask in 0..8 {
        let question = DiskQuestion { ask: AskId(ask), session: SessionId(1) };
        disk.read(question, folder.range("sparse", Some(2), Some(1)));
    }
    let question = DiskQuestion { ask: AskId(9), session: SessionId(2) };
    disk.read(question, folder.range("f", None, None));
    let mut order = Vec::new();
    for _ in 0..9 {
        let input = timeout(Duration::from_secs(30), inputs.recv()).await.unwrap();
        let Some(Input::Event(Event::Disk { ask, result })) = input else { panic!("{input:?}") };
        order.push(ask.0);
        match result {
            Ok(text) => assert_eq!(text, "text"),
            Err(DiskError::Other(words)) => {
                assert!(words.ends_with("is too large to look for its line 2"), "{words}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(order.first(), Some(&9), "{order:?}");
}

/// It may be anywhere, and nobody was asked about it.
#[test]
fn the_other_name_of_a_file_keeps_its_text() {
    let folder = Folder::new();
    folder.put("f", "a long old text");
    fs::hard_link(folder.path("f"), folder.path("g")).unwrap();
    disk::write(&folder.name("f"), "new").unwrap();
    assert_eq!(folder.get("f"), "new");
    assert_eq!(folder.get("g"), "a long old text");
}
