//! Commands that are simple, commands that only look so, and where others hide.

use super::*;

fn line(text: &str) -> Command {
    Command::Line(text.into())
}

fn words(list: &[&str]) -> Command {
    Command::Words(list.iter().map(|it| (*it).to_owned()).collect())
}

fn allows(pattern: &str, command: &Command) -> bool {
    Pattern::new(pattern).unwrap().is_all_of(&command.parse())
}

fn finds(pattern: &str, command: &Command) -> bool {
    Pattern::new(pattern).unwrap().is_part_of(&command.parse())
}

#[test]
fn simple_commands_are_their_words() {
    let cases: [(&str, &[&str]); 14] = [
        ("git status", &["git", "status"]),
        ("  git\tstatus \n", &["git", "status"]),
        ("git commit -m 'a b'", &["git", "commit", "-m", "a b"]),
        (r#"git commit -m "a; b | c""#, &["git", "commit", "-m", "a; b | c"]),
        (r#"echo "a \"b\" \\ \n""#, &["echo", r#"a "b" \ \n"#]),
        (r"echo a\ b\;c", &["echo", "a b;c"]),
        ("echo ''", &["echo", ""]),
        ("echo a'b'\"c\"d", &["echo", "abcd"]),
        ("echo '$HOME `ls` $(ls)'", &["echo", "$HOME `ls` $(ls)"]),
        ("git log --format=x HEAD~3", &["git", "log", "--format=x", "HEAD~3"]),
        ("git commit -m 'two\nlines'", &["git", "commit", "-m", "two\nlines"]),
        ("bash -c 'git status'", &["git", "status"]),
        ("/bin/bash -lc \"git log\"", &["git", "log"]),
        ("make a#b", &["make", "a#b"]),
    ];
    for (text, words) in cases {
        assert_eq!(line(text).parse().simple.unwrap_or_default(), [words], "{text}");
    }
}

/// What a rule for `git status *` must never allow.
const NOT_SIMPLE: &[&str] = &[
    "git status; rm -rf /",
    "git status;rm -rf /",
    "git status & rm x",
    "git status && rm x",
    "git status || rm x",
    "git status | sh",
    "git status |& sh",
    "git status\nrm x",
    "git status\r\nrm x",
    "git status \\\n; rm x",
    "git status > ~/.bashrc",
    "git status >> x",
    "git status 2>&1",
    "git status &> x",
    "git status < x",
    "git status <<EOF\nrm\nEOF",
    "git status <<< x",
    "git status <(rm x)",
    "git status $(rm x)",
    "git status `rm x`",
    "git status \"$(rm x)\"",
    "git status \"`rm x`\"",
    "git status $HOME",
    "git status \"$HOME\"",
    "git status ${HOME:-$(rm x)}",
    "git status $((1+1))",
    "git status $'a\\nb'",
    "git status *",
    "git status a?",
    "git status [ab]",
    "git status {a,b}",
    "git status ~",
    "git status ~root/x",
    "git status =rm",
    "git status # x",
    "git status 'open",
    "git status \"open",
    "git status \\",
    "(git status)",
    "{ git status; }",
    "! git status",
    "if git status; then rm x; fi",
    "while git status",
    "time git status",
    "GIT_PAGER=rm git status",
    "A=1 B=2 git status",
    "PATH+=:x git status",
    "a[0]=x git status",
    "git status () { rm x; }",
    "git status\u{b}rm",
    "git status\u{a0}x \u{2003}y",
    "git status\0x",
    "bash -c 'git status; rm x'",
    "bash -c 'git status' x",
    "bash -c \"git status $X\"",
    "./bash -c 'git status'",
    "bash -i -c 'git status'",
    "bash -ic 'git status'",
    "eval git status",
    "env git status",
    "sudo git status",
    "xargs git status",
    "nohup git status",
    "command git status",
    "./git status",
    "/tmp/git status",
    "Git status",
    "git  'status;rm x'",
    "git 'status x'",
    "git",
    "",
    "   ",
    ";",
    "''",
    "'' git status",
];

#[test]
fn what_is_more_than_the_words_is_not_allowed() {
    for text in NOT_SIMPLE {
        assert!(!allows("git status *", &line(text)), "{text:?}");
        assert!(!allows("git status", &line(text)), "{text:?}");
    }
}

#[test]
fn patterns() {
    let yes = [
        ("git status", "git status"),
        ("git status *", "git status"),
        ("git status *", "git status --short src"),
        ("cargo test *", "cargo test --lib 'a b'"),
        ("git *", "git push"),
        ("git log --*", "git log --oneline"),
        ("npm run {test,lint}", "npm run lint"),
        ("echo 'a b'", "echo a\\ b"),
        ("echo \"a b\"", "echo 'a b'"),
        ("ls src/*", "ls src/a/b"),
        ("* --version", "rustc --version"),
        ("*", "anything at all"),
        ("make ?", "make a"),
        ("echo \\*", "echo '*'"),
    ];
    for (pattern, text) in yes {
        assert!(allows(pattern, &line(text)), "{pattern}: {text}");
    }
    let no = [
        ("git status", "git status --short"),
        ("git log --*", "git log HEAD"),
        ("git log --*", "git log --a b"),
        ("ls src/*", "ls src/../../etc"),
        ("ls src/*", "ls src/.."),
        ("* --version", "rm x --version"),
        ("echo \\*", "echo a"),
        ("make ?", "make ab"),
        ("git * push", "git push"),
        ("*", ""),
    ];
    for (pattern, text) in no {
        assert!(!allows(pattern, &line(text)), "{pattern}: {text}");
    }
}

#[test]
fn patterns_that_could_never_match_are_refused() {
    for pattern in ["", "  ", "git status; ls", "a && b", "a | b", "a > b", "'open", "a\\", "$(x)"]
    {
        assert!(Pattern::new(pattern).is_err(), "{pattern:?}");
    }
}

#[test]
fn programs_with_arguments() {
    assert!(allows("git status", &words(&["git", "status"])));
    assert!(allows("git commit *", &words(&["git", "commit", "-m", "a b"])));
    assert!(allows("git status", &words(&["bash", "-lc", "git status"])));
    assert!(allows("git commit -m *", &words(&["sh", "-c", "git commit -m 'a; b'"])));
    let no: [&[&str]; 10] = [
        &["git", "status; rm x"],
        &["git", "status", "&&", "rm"],
        &["git", "status", "$(rm x)"],
        &["git", "status", "a\nrm x"],
        &["git status"],
        &["bash", "-lc", "git status; rm x"],
        &["bash", "-lc", "git status", "x"],
        &["/tmp/bash", "-lc", "git status"],
        &["A=1", "git", "status"],
        &[],
    ];
    for list in no {
        assert!(!allows("git status *", &words(list)), "{list:?}");
    }
}

#[test]
fn a_rejected_command_is_found_wherever_it_hides() {
    let hidden = [
        "rm -rf /",
        "/bin/rm -rf /",
        "\\rm -rf /",
        "r'm' -rf /",
        "\"rm\" -rf /",
        "git status; rm -rf /",
        "git status && rm x",
        "true || rm x",
        "ls | rm x",
        "ls &rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "echo $(rm x)",
        "echo \"a $(rm x) b\"",
        "echo \"$(echo \"$(rm x)\")\"",
        "echo `rm x`",
        "echo \"`rm x`\"",
        "cat <(rm x)",
        "if true; then rm x; fi",
        "for i in a; do rm $i; done",
        "! rm x",
        "A=1 rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "env A=1 rm x",
        "timeout 5 rm x",
        "xargs -n1 rm",
        "find . -exec rm {} +",
        "nohup rm x &",
        "bash -c 'rm x'",
        "bash -ec 'rm x'",
        "sudo bash -c 'ls; rm x'",
        "eval rm x",
        "eval 'rm x'",
        "bash -c \"bash -c 'rm x'\"",
        "f() { rm x; }; f",
        "rm x > /dev/null 2>&1",
        "2>/dev/null rm x",
        "case a in a) rm x;; esac",
    ];
    for text in hidden {
        assert!(finds("rm *", &line(text)), "{text}");
    }
    for text in ["echo rm x", "git rm x", "ls # rm x", "echo 'rm x'", "armor x", "cat > rm", ""] {
        assert!(!finds("rm *", &line(text)), "{text}");
    }
    assert!(finds("rm *", &words(&["bash", "-lc", "ls; rm x"])));
    assert!(finds("rm *", &words(&["/usr/bin/rm", "x"])));
    assert!(finds("git push", &line("git push 2>&1 | tail")));
    assert!(finds("bash *", &line("bash -c ls")));
}

#[test]
fn what_is_too_much_to_read_may_be_anything_and_is_never_allowed() {
    let nasty = [
        "sudo eval ".repeat(20_000),
        "$(".repeat(10_000),
        "\"$(".repeat(10_000),
        "`".repeat(9_999),
        "(".repeat(10_000),
        "bash -c ".repeat(50_000),
        "x".repeat(3 << 20),
        "'".repeat(9_999),
        "${".repeat(10_000),
        format!("rm -rf x{}", " ".repeat(1 << 20)),
        format!("bash -c '{}' rm x", "x".repeat(1 << 20)),
        "a;".repeat(50_000),
        "ls 'open".to_owned(),
        "ls $(open".to_owned(),
    ];
    for text in &nasty {
        assert!(finds("rm *", &line(text)), "{:.40}", text);
        assert!(!allows("*", &line(text)), "{:.40}", text);
    }
    // Long, but nothing that hides anything.
    assert!(!finds("rm *", &line(&"a;".repeat(2_000))));
    assert!(!finds("rm *", &line(&format!("cat > x <<'EOF'\n{}\nEOF", "it's\n".repeat(9_000)))));
}

#[test]
fn the_exact_pattern_of_a_command_matches_it_and_no_other() {
    let commands: [&[&str]; 8] = [
        &["git", "status"],
        &["git", "commit", "-m", "it's a \"fix\"; really"],
        &["echo", "*"],
        &["echo", "a{b,c}", "[x]", "\\", ""],
        &["echo", "two\nlines"],
        &["ls", "a b", "~", "#x"],
        &["grep", "-r", "?"],
        &["echo", "a,b"],
    ];
    for list in commands {
        let list: Vec<String> = list.iter().map(|it| (*it).to_owned()).collect();
        let pattern = Pattern::exactly(&list);
        let quoted: Vec<String> =
            list.iter().map(|it| format!("'{}'", it.replace('\'', "'\\''"))).collect();
        let text = quoted.join(" ");
        assert!(allows(&pattern, &line(&text)), "{pattern}: {text}");
        assert!(!allows(&pattern, &line(&format!("{text} x"))), "{pattern}");
    }
}
