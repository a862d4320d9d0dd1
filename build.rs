//! Tells the crate which commit it was built from; nothing else.

use std::path::Path;
use std::process::Command;

fn main() {
    // Only the branch that is checked out counts: a commit elsewhere is no reason to build.
    println!("cargo::rerun-if-changed=build.rs");
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", branch.as_str()] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).is_file()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=9", "HEAD"]).unwrap_or_else(|| "no git".to_owned());
    println!("cargo::rustc-env=ACP_COMMIT={commit}");
}

/// What git says, if there is git and it has something to say.
fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok()?;
    let words = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    (out.status.success() && !words.is_empty()).then_some(words)
}
