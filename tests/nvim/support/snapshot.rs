//! Compares a text with the one kept in `tests/nvim/snapshots/`.
//! `ACP_UPDATE_SNAPSHOTS=1` writes the files anew; look at the change before you commit it.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::scratch::root;

/// Panics with both texts and their differences when they are not the same.
pub(crate) fn assert_snapshot(name: &str, actual: &str) {
    if updating() {
        return update(name, actual);
    }
    if let Some(complaint) = compare(name, actual) {
        panic!("{complaint}");
    }
}

/// Whether the run is to write snapshots rather than to check them.
pub(crate) fn updating() -> bool {
    std::env::var_os("ACP_UPDATE_SNAPSHOTS").is_some_and(|it| it == "1")
}

/// What is wrong with the text, if anything.
pub(crate) fn compare(name: &str, actual: &str) -> Option<String> {
    compare_in(&folder(), name, actual)
}

/// The same for a folder of one's own.
pub(crate) fn compare_in(folder: &Path, name: &str, actual: &str) -> Option<String> {
    let path = folder.join(format!("{name}.txt"));
    match fs::read_to_string(&path) {
        Ok(expected) if expected == actual => None,
        Ok(expected) => Some(format!(
            "the snapshot {name} differs (- expected, + actual):\n{}\
             ACP_UPDATE_SNAPSHOTS=1 accepts the actual one:\n{actual}",
            diff(&expected, actual)
        )),
        Err(error) => Some(format!(
            "the snapshot {} can't be read: {error}. ACP_UPDATE_SNAPSHOTS=1 writes:\n{actual}",
            path.display()
        )),
    }
}

fn update(name: &str, actual: &str) {
    fs::create_dir_all(folder()).unwrap();
    // Both versions of Neovim write the same snapshot; neither may see the other's half.
    let everybody = Permissions::from_mode(0o666);
    let new = tempfile::Builder::new().permissions(everybody).tempfile_in(folder()).unwrap();
    fs::write(new.path(), actual).unwrap();
    new.persist(folder().join(format!("{name}.txt"))).unwrap();
}

fn folder() -> PathBuf {
    root().join("tests/nvim/snapshots")
}

/// Screens have a fixed number of rows, so comparing line by line reads well enough.
fn diff(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<_>, Vec<_>) =
        (expected.lines().collect(), actual.lines().collect());
    let mut out = String::new();
    for row in 0..expected.len().max(actual.len()) {
        let (old, new) = (expected.get(row), actual.get(row));
        if old == new {
            writeln!(out, "{:3}   {}", row + 1, old.unwrap_or(&"")).unwrap();
            continue;
        }
        for (sign, line) in [('-', old), ('+', new)] {
            if let Some(line) = line {
                writeln!(out, "{:3} {sign} {line}", row + 1).unwrap();
            }
        }
    }
    out
}
