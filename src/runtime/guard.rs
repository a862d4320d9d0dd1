//! How programs are run under `acp-guard`, and what its few words mean.

use std::io;
use std::path::Path;

use tokio::process::Command;

use super::system_error::words;

/// How the guard begins what it says itself, on stderr. This much comes in one piece.
pub(super) const SAYS: &str = "acp-guard: ";
/// How it goes on when it could not start the program. The reason follows.
const NOT_STARTED: &str = "cannot start: ";

/// The beginning of a command: the program and its arguments follow.
///
/// The guard ends the program with all its children when nobody reads the program's output any
/// more: by our wish, or because Neovim is no more.
pub(super) fn command(programs: &Path) -> Command {
    let mut command = Command::new(programs.join("acp-guard"));
    command.arg("--");
    command
}

/// The guard's reason for not starting the program, if this is how it ended.
pub(super) fn refusal(line: &str, code: Option<i32>) -> Option<&str> {
    match code {
        Some(126 | 127) => line.strip_prefix(SAYS)?.strip_prefix(NOT_STARTED).map(str::trim_end),
        _ => None,
    }
}

/// Why the guard itself could not be run: for want of the folder it was to run in, if that is it.
/// The system says the same of both.
pub(super) fn not_run(command: &Command, error: &io::Error) -> String {
    match command.as_std().get_current_dir() {
        Some(folder) if !folder.is_dir() => format!("there is no folder {}", folder.display()),
        _ => format!("{}: {}", command.as_std().get_program().display(), words(error)),
    }
}
