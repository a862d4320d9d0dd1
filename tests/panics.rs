//! A panic, on whichever thread, goes to the log and to the user once, and nothing else stops.
//!
//! A test of its own program, because the hook and the log belong to the whole process.

use std::time::Duration;

use acp_nvim::runtime::bell::Bell;
use acp_nvim::runtime::handle::{Handle, Options};
use acp_nvim::runtime::outbox::Item;

#[test]
fn panics_are_logged_and_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        log_dir: folder.path().to_owned(),
        log_level: "info".into(),
        programs: folder.path().to_owned(),
    };
    let handle = Handle::start(options, Bell::new(|| ())).unwrap();
    for _ in 0..3 {
        std::thread::spawn(|| panic!("the moon is full")).join().unwrap_err();
    }
    let mut notices = Vec::new();
    while let Some(items) = handle.drain() {
        notices.extend(items.into_iter().filter_map(|item| match item {
            Item::Notice(words) => Some(words),
            _ => None,
        }));
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    handle.shutdown(Duration::from_secs(5));
    let logs = std::fs::read_dir(folder.path()).unwrap();
    let log: String = logs.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap()).collect();
    assert_eq!(log.matches("the moon is full").count(), 3, "{log}");
}
