//! What the names of parameters mean, as far as they are known.

/// What a parameter is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A file or folder.
    Path,
    /// A map of what happens to which file.
    Changes,
    /// Where a command runs.
    Folder,
    /// An address to visit.
    Address,
    /// A pattern for names of files.
    Glob,
    /// A command, for a shell or as a list of words.
    Command,
    /// Something that is run, by whatever runs it.
    Code,
    /// A shell, or something for one.
    Shell,
    /// What a command is given.
    Arguments,
    /// What changes the meaning of a command that stands beside it.
    Influence,
    /// Text that is written somewhere, or read by somebody.
    Prose,
    /// Words for people, and how long to wait.
    Note,
    /// Nobody knows.
    Other,
}

const PATHS: [&str; 17] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "target",
    "dir",
    "dirs",
    "source",
    "destination",
    "src",
    "dst",
    "dest",
    "from",
    "to",
    "location",
];
const PATH_ENDINGS: [&str; 10] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "directory",
    "directories",
    "folder",
    "root",
];
const FOLDERS: [&str; 7] = [
    "cwd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "currentworkingdirectory",
    "currentdir",
    "workingfolder",
];
const ADDRESSES: [&str; 5] = ["url", "urls", "uri", "uris", "href"];
const GLOBS: [&str; 5] = ["glob", "globs", "globpattern", "pattern", "include"];
const COMMANDS: [&str; 5] = ["command", "cmd", "commandline", "argv", "commands"];
/// What runs, by names that do not say how.
const RUN: [&str; 22] = [
    "program",
    "script",
    "code",
    "exec",
    "execute",
    "executable",
    "exe",
    "binary",
    "bin",
    "run",
    "eval",
    "expression",
    "snippet",
    "sourcecode",
    "python",
    "javascript",
    "bash",
    "sh",
    "powershell",
    "osascript",
    "applescript",
    "invoke",
];
const ARGUMENTS: [&str; 6] = ["args", "arguments", "arg", "argument", "commandargs", "cmdargs"];
const INFLUENCES: [&str; 9] = [
    "env",
    "environment",
    "environmentvariables",
    "envvars",
    "stdin",
    "stdintext",
    "input",
    "inputtext",
    "chars",
];
const PROSE: [&str; 43] = [
    "body",
    "code_edit",
    "codeedit",
    "content",
    "contents",
    "diff",
    "edit",
    "filecontent",
    "filecontents",
    "filetext",
    "find",
    "insert",
    "inserttext",
    "instruction",
    "instructions",
    "message",
    "newcontent",
    "newfilecontent",
    "newsource",
    "newstr",
    "newstring",
    "newtext",
    "oldcontent",
    "oldsource",
    "oldstr",
    "oldstring",
    "oldtext",
    "patch",
    "patchtext",
    "plan",
    "query",
    "question",
    "regex",
    "replace",
    "replacement",
    "search",
    "searchterm",
    "selectedtext",
    "summary",
    "task",
    "text",
    "thought",
    "todo",
];
const NOTES: [&str; 17] = [
    "description",
    "explanation",
    "reason",
    "reasoning",
    "justification",
    "title",
    "purpose",
    "prompt",
    "format",
    "timeout",
    "timeoutms",
    "timeoutseconds",
    "timeoutsecs",
    "yieldtimems",
    "maxoutputtokens",
    "runinbackground",
    "isbackground",
];

/// A name without its spelling: `filePath`, `file_path`, `File-Path`.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).take(64).collect()
}

/// What a parameter of this plain name is.
pub(super) fn meaning(name: &str) -> Meaning {
    let ends = |endings: &[&str]| endings.iter().any(|it| name.ends_with(it));
    match name {
        "changes" | "filechanges" => Meaning::Changes,
        "shell" | "interpreter" => Meaning::Shell,
        _ if FOLDERS.contains(&name) => Meaning::Folder,
        _ if NOTES.contains(&name) || name.ends_with("description") => Meaning::Note,
        _ if PROSE.contains(&name) || ["profile", "transcript"].contains(&name) => Meaning::Prose,
        _ if ADDRESSES.contains(&name) => Meaning::Address,
        _ if GLOBS.contains(&name) => Meaning::Glob,
        _ if ARGUMENTS.contains(&name) => Meaning::Arguments,
        _ if INFLUENCES.contains(&name) => Meaning::Influence,
        _ if COMMANDS.contains(&name) || ends(&["command", "cmd"]) => Meaning::Command,
        _ if RUN.contains(&name) || ends(&["script", "program", "commands"]) => Meaning::Code,
        _ if PATHS.contains(&name) || ends(&PATH_ENDINGS) => Meaning::Path,
        _ => Meaning::Other,
    }
}

/// Whether a text names a shell and nothing else.
pub(super) fn is_shell(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    ["sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "cmd.exe", "powershell", "pwsh"]
        .contains(&name)
}
