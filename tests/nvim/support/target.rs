//! Which Neovims the tests run on: the oldest and the newest we support.
//!
//! `ACP_TEST_NVIMS` names them, colon-separated; otherwise `scripts/nvim.sh all` does. Given only
//! one, both rounds run on it. With none every test fails: a test is never skipped in silence.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::scratch::root;

/// Makes each function two tests, `name::oldest` and `name::newest`.
/// Attributes, such as `#[should_panic]`, go to the tests.
macro_rules! nvim_tests {
    ($($(#[$attribute:meta])* fn $name:ident($target:ident: &Target) $body:block)*) => {$(
        fn $name($target: &$crate::support::target::Target) $body

        mod $name {
            $(#[$attribute])*
            #[test]
            fn oldest() {
                super::$name($crate::support::target::oldest());
            }

            $(#[$attribute])*
            #[test]
            fn newest() {
                super::$name($crate::support::target::newest());
            }
        }
    )*};
}

/// A Neovim to test with.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) version: (u64, u64, u64),
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(out, "Neovim {major}.{minor}.{patch}")
    }
}

/// The oldest Neovim at hand.
pub(crate) fn oldest() -> &'static Target {
    targets().first().unwrap()
}

/// The newest Neovim at hand.
pub(crate) fn newest() -> &'static Target {
    targets().last().unwrap()
}

fn targets() -> &'static [Target] {
    // A failure is kept too: asking the script anew for each test could take minutes.
    static TARGETS: OnceLock<Result<Vec<Target>, String>> = OnceLock::new();
    match TARGETS.get_or_init(find) {
        Ok(targets) => targets,
        Err(reason) => panic!(
            "no Neovim to test with: {reason}. Set ACP_TEST_NVIMS to the paths of two, \
             colon-separated, or see that scripts/nvim.sh works."
        ),
    }
}

fn find() -> Result<Vec<Target>, String> {
    let mut targets = paths()?.into_iter().map(target).collect::<Result<Vec<_>, _>>()?;
    targets.sort_by_key(|it| it.version);
    match targets.len() {
        1 | 2 => Ok(targets),
        0 => Err("the list is empty".to_owned()),
        many => Err(format!("{many} are given, but only the oldest and the newest are tested")),
    }
}

fn paths() -> Result<Vec<PathBuf>, String> {
    if let Some(given) = std::env::var_os("ACP_TEST_NVIMS") {
        return Ok(std::env::split_paths(&given).filter(|it| it != Path::new("")).collect());
    }
    let output = run(Command::new(root().join("scripts/nvim.sh")).arg("all"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter(|it| !it.is_empty()).map(PathBuf::from).collect())
}

fn target(path: PathBuf) -> Result<Target, String> {
    let output = run(Command::new(&path).arg("--version"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match parse_version(&text) {
        Some(version) => Ok(Target { path, version }),
        None => Err(format!("{} is no Neovim: it says {text:?}", path.display())),
    }
}

/// Reads `NVIM v0.12.4` and `NVIM v0.13.0-dev+g1a2b3c`.
fn parse_version(text: &str) -> Option<(u64, u64, u64)> {
    let numbers = text.lines().next()?.strip_prefix("NVIM v")?;
    let mut numbers = numbers.split(['.', '-', '+']).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some((next()?, next()?, next()?))
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {}", output.status, words.trim()))
}
