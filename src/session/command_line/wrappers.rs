//! Programs that run others: what comes after them may be a command, a line for a shell, or code.
//!
//! For whoever looks for a command. A program too many here finds too much at worst, one too few
//! lets something pass.

use super::{UNKNOWN, is_assignment};

/// What a program may run of what it is given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// A command may begin at any word from here on.
    pub from: usize,
    /// Up to here a word that nobody knows may be the program; those after it are its arguments.
    pub unknown_until: usize,
    /// Words that may be lines for a shell.
    pub lines: Vec<String>,
    /// The lines have everything in them that follows.
    pub all_lines: bool,
    /// Words that have commands in them, in some language.
    pub code: Vec<String>,
    /// It runs something that can't be read.
    pub hidden: bool,
}

const SHELLS: [&str; 16] = [
    "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
    "yash", "nu", "xonsh", "elvish",
];

/// Programs that run what comes after them, with how many operands of their own before it.
const EXECUTORS: [(&str, usize); 70] = [
    ("sudo", 0),
    ("doas", 0),
    ("run0", 0),
    ("pkexec", 0),
    ("gosu", 1),
    ("su-exec", 1),
    ("env", 0),
    ("nohup", 0),
    ("time", 0),
    ("gtime", 0),
    ("timeout", 1),
    ("gtimeout", 1),
    ("command", 0),
    ("builtin", 0),
    ("exec", 0),
    ("nice", 0),
    ("ionice", 0),
    ("chrt", 1),
    ("taskset", 1),
    ("numactl", 0),
    ("prlimit", 0),
    ("setsid", 0),
    ("setpriv", 0),
    ("setarch", 1),
    ("linux32", 0),
    ("linux64", 0),
    ("stdbuf", 0),
    ("unbuffer", 0),
    ("rlwrap", 0),
    ("xargs", 0),
    ("chroot", 1),
    ("unshare", 0),
    ("nsenter", 0),
    ("bwrap", 99),
    ("firejail", 99),
    ("proot", 99),
    ("fakeroot", 0),
    ("fakechroot", 0),
    ("faketime", 1),
    ("dbus-run-session", 0),
    ("xvfb-run", 0),
    ("systemd-run", 0),
    ("systemd-inhibit", 0),
    ("caffeinate", 0),
    ("strace", 0),
    ("ltrace", 0),
    ("valgrind", 0),
    ("perf", 1),
    ("gdb", 0),
    ("lldb", 0),
    ("busybox", 0),
    ("toybox", 0),
    ("coproc", 1),
    ("npx", 0),
    ("bunx", 0),
    ("uvx", 0),
    ("pipx", 1),
    ("dotenv", 0),
    ("cross-env", 0),
    ("sshpass", 0),
    ("torsocks", 0),
    ("proxychains", 0),
    ("winpty", 0),
    ("start", 0),
    ("noglob", 0),
    ("nocorrect", 0),
    ("cpulimit", 0),
    ("chpst", 0),
    ("softlimit", 0),
    ("cgexec", 0),
];

/// Programs that run what comes after one of these words.
const SUBCOMMANDS: [(&str, &[&str]); 24] = [
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("gfind", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("docker", &["exec", "run"]),
    ("podman", &["exec", "run"]),
    ("nerdctl", &["exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("kubectl", &["exec", "run", "--"]),
    ("oc", &["exec", "run", "rsh", "--"]),
    ("lxc", &["exec"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("conda", &["run"]),
    ("bundle", &["exec"]),
    ("direnv", &["exec"]),
    ("mise", &["exec", "x"]),
    ("nix", &["-c", "--command", "run"]),
    ("git", &["foreach", "run", "-x", "--exec"]),
];

/// Programs that give words to a shell, and run what comes after them too.
const LINE_RUNNERS: [(&str, usize); 24] = [
    ("eval", 0),
    ("trap", 0),
    ("alias", 0),
    ("su", 1),
    ("runuser", 0),
    ("sg", 1),
    ("script", 0),
    ("watch", 0),
    ("parallel", 0),
    ("flock", 1),
    ("ssh", 1),
    ("mosh", 1),
    ("tmux", 1),
    ("screen", 0),
    ("nix-shell", 0),
    ("entr", 0),
    ("watchexec", 0),
    ("nodemon", 0),
    ("hyperfine", 0),
    ("capsh", 0),
    ("expect", 0),
    ("at", 0),
    ("batch", 0),
    ("fc", 0),
];

/// Programs that run code, with the options that code follows; none where any word may be code.
const INTERPRETERS: [(&str, &[&str]); 16] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("osascript", &["-e"]),
    ("awk", &[]),
    ("gawk", &[]),
    ("mawk", &[]),
    ("nawk", &[]),
];

/// What these words may run besides the program they begin with.
pub(super) fn wrapped(words: &[String]) -> Option<Wrapped> {
    let (first, rest) = words.split_first()?;
    let name = program(first);
    let found = |list: &[(&str, usize)]| list.iter().find(|it| it.0 == name).map(|it| it.1);
    if is_shell(&name) {
        return gives_command(rest).then(|| Wrapped {
            lines: rest.iter().flat_map(|word| lines_in(word)).collect(),
            all_lines: true,
            ..from(words, 1, 0)
        });
    }
    if let Some(operands) = found(&LINE_RUNNERS) {
        let lines = rest.iter().flat_map(|word| lines_in(word)).chain([rest.join(" ")]);
        let lines = lines.collect();
        return Some(Wrapped { lines, all_lines: true, ..from(words, 1, operands) });
    }
    if let Some(operands) = found(&EXECUTORS) {
        // `env -S` and `sudo -s` have a line in a word.
        let has_line = |it: &&String| it.contains(char::is_whitespace) && it.starts_with('-');
        let split =
            rest.iter().position(|it| ["-S", "--split-string", "-s", "-i"].contains(&&**it));
        let after = split.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        let lines = rest.iter().filter(has_line).chain(after).flat_map(|word| lines_in(word));
        return Some(Wrapped { lines: lines.collect(), ..from(words, 1, operands) });
    }
    windows(&name, rest).or_else(|| code(&name, rest)).or_else(|| subcommand(&name, words))
}

/// The name of a program, however it is called: without its folder, in small letters.
pub(super) fn program(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_lowercase();
    let name = name.trim_start_matches('=');
    let ending = [".exe", ".com", ".cmd", ".bat"].iter().find_map(|it| name.strip_suffix(it));
    ending.filter(|it| !it.is_empty()).unwrap_or(name).to_owned()
}

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Whether a shell runs what it reads, rather than a script or a command that it is given.
pub(super) fn reads_commands(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let script = rest.iter().any(|it| !it.starts_with(['-', '+']) && !it.starts_with("/dev/"));
    let asked = rest.iter().any(|it| it.starts_with('-') && it.ends_with('s'));
    is_shell(&program(first)) && !gives_command(rest) && (asked || !script)
}

/// Whether these words run a script.
pub(super) fn runs_script(words: &[String]) -> bool {
    let name = words.first().map(|it| program(it)).unwrap_or_default();
    is_shell(&name) || ["source", ".", "at", "batch", "ssh"].contains(&name.as_str())
}

fn from(words: &[String], from: usize, operands: usize) -> Wrapped {
    let mut operands = operands;
    let mut after_flag = false;
    let mut until = words.len();
    for (at, word) in words.iter().enumerate().skip(from) {
        let flag = word.starts_with(['-', '+']);
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        if !(flag || number || after_flag || is_assignment(word)) {
            match operands.checked_sub(1) {
                Some(left) => operands = left,
                None => {
                    until = at + 1;
                    break;
                }
            }
        }
        after_flag = flag && !word.contains('=') && word != "--";
    }
    Wrapped { from, unknown_until: until, ..Wrapped::default() }
}

/// Whether a shell is given a command, in a cluster of flags such as `-lc`.
fn gives_command(words: &[String]) -> bool {
    words.iter().any(|it| match it.strip_prefix("--") {
        Some(long) => long.starts_with("command") || long.starts_with("init-command"),
        None => it.starts_with(['-', '+']) && it.contains(['c', 'C']),
    })
}

/// The lines that a word may be or have in it: `-crm x`, `--command=rm x`, `!rm x`.
fn lines_in(word: &str) -> Vec<String> {
    let value = word.split_once('=').map(|(_, value)| value);
    let cluster = word.strip_prefix('-').and_then(|it| it.split_once(['c', 'S', 'e']));
    let flag = word.starts_with('-') && value.is_none();
    let whole = (!flag).then_some(word);
    let all = [whole, value, cluster.map(|(_, rest)| rest)].into_iter().flatten();
    all.map(|it| it.trim_start_matches('!').to_owned()).filter(|it| !it.is_empty()).collect()
}

/// `cmd /c` and PowerShell, which have escapes of their own.
fn windows(name: &str, rest: &[String]) -> Option<Wrapped> {
    let power = ["powershell", "pwsh"].contains(&name);
    if !power && name != "cmd" {
        return None;
    }
    let plain = |it: &String| it.replace(['^', '`'], "");
    let mut lines: Vec<String> = rest.iter().chain([&rest.join(" ")]).map(plain).collect();
    lines.retain(|it| it.contains(char::is_whitespace));
    let encoded = |it: &String| power && it.to_lowercase().starts_with("-e") && it.len() < 16;
    let hidden = rest.iter().any(encoded);
    Some(Wrapped { from: 1, unknown_until: rest.len() + 1, lines, hidden, ..Wrapped::default() })
}

fn code(name: &str, rest: &[String]) -> Option<Wrapped> {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (_, flags) = INTERPRETERS.iter().find(|it| it.0 == name)?;
    let is_flag = |it: &String| {
        let cluster = |flag: &str| {
            flag.len() == 2 && !it.starts_with("--") && it.ends_with(flag.trim_start_matches('-'))
        };
        flags.iter().any(|flag| it.starts_with(flag) || (it.starts_with('-') && cluster(flag)))
    };
    let at = if flags.is_empty() { 0 } else { rest.iter().position(is_flag)? };
    let code = rest.iter().skip(at).cloned().collect();
    // No command begins in these words themselves.
    Some(Wrapped { from: rest.len() + 1, code, ..Wrapped::default() })
}

fn subcommand(name: &str, words: &[String]) -> Option<Wrapped> {
    let (_, subcommands) = SUBCOMMANDS.iter().find(|it| it.0 == name)?;
    let alias = |it: &&String| name == "git" && it.contains("=!");
    let at = words.iter().position(|it| subcommands.contains(&it.as_str()));
    let mut lines: Vec<String> = words.iter().filter(alias).flat_map(|it| lines_in(it)).collect();
    if at.is_none() && lines.is_empty() {
        return None;
    }
    let from_at = at.map_or(words.len(), |at| at + 1);
    if name == "git" || name == "nix" {
        lines.extend(words.get(from_at..).unwrap_or_default().iter().cloned());
    }
    let operands = usize::from(["docker", "podman", "nerdctl", "kubectl", "oc"].contains(&name));
    Some(Wrapped { lines, ..from(words, from_at, operands) })
}

/// The words in a piece of code, whatever its language: enough to find a command in it.
pub(super) fn words_of_code(code: &str) -> Vec<String> {
    let between = |c: char| c.is_whitespace() || "'\"`()[]{},;|&=".contains(c) || c == UNKNOWN;
    code.split(between).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}
