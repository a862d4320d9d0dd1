//! Paths by their letters: made absolute, without `.` and `..`, inside of folders or not.
//!
//! Knows texts. Must not know the disk: whoever follows links asks elsewhere.

/// Where a path leads, seen from a folder; none where nobody can say: `~` is somebody's home, and
/// an address is no path.
pub fn resolve(path: &str, cwd: &str) -> Option<String> {
    absolute(path, cwd).map(|path| join("", &path))
}

/// A path as it is written, but from the root: what `..` means behind a link is for the disk to say.
pub fn absolute(path: &str, cwd: &str) -> Option<String> {
    let decoded;
    let path = match path.strip_prefix("file://") {
        Some(address) => {
            decoded = percent_decoded(address.strip_prefix("localhost").unwrap_or(address))?;
            decoded.starts_with('/').then_some(decoded.as_str())?
        }
        None => path,
    };
    let odd = path.is_empty() || path.starts_with('~') || path.contains("://");
    if odd || path.contains(char::is_control) {
        return None;
    }
    Some(match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{}/{path}", cwd.trim_end_matches('/')),
    })
}

/// A path or pattern seen from a folder, without `.` and `..`.
pub fn join(cwd: &str, path: &str) -> String {
    let from = if path.starts_with('/') { "" } else { cwd };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The way from a folder to a path inside of it; both without `.` and `..`.
pub fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(""),
    }
}

/// Whether a path is in the folder that git, Mercurial or Jujutsu keep for themselves, or is that
/// folder: what is written there they run.
pub fn is_in_repository(path: &str) -> bool {
    let own = |part: &str| OWN.iter().any(|it| part.eq_ignore_ascii_case(it));
    path.split('/').any(own)
}

/// Whether a file in such a folder decides what is run, or holds secrets, by its name.
pub fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    CONFIGURATION.iter().any(|it| name.eq_ignore_ascii_case(it))
}

const OWN: [&str; 3] = [".git", ".hg", ".jj"];
const CONFIGURATION: [&str; 5] =
    ["config", "config.worktree", "config.toml", "hgrc", "credentials"];

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_paths_lead() {
        let cases = [
            ("a/b", Some("/p/a/b")),
            ("./a", Some("/p/a")),
            ("/p/../etc/passwd", Some("/etc/passwd")),
            ("../q", Some("/q")),
            ("../../../q", Some("/q")),
            ("a/../b//c/", Some("/p/b/c")),
            ("/", Some("/")),
            ("file:///p/a%20b", Some("/p/a b")),
            ("file:///p/%2e%2e/etc", Some("/etc")),
            ("file://localhost/etc", Some("/etc")),
            ("file://host/etc", None),
            ("file:///a%zz", None),
            ("file:///a%ff", None),
            ("https://x/y", None),
            ("~/x", None),
            ("~root/x", None),
            ("", None),
            ("a\nb", None),
            ("a\0b", None),
        ];
        for (path, wanted) in cases {
            assert_eq!(resolve(path, "/p/").as_deref(), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_below() {
        assert_eq!(below("/p/a", "/p"), Some("a"));
        assert_eq!(below("/p/a", "/p/"), Some("a"));
        assert_eq!(below("/p", "/p"), Some(""));
        assert_eq!(below("/pp", "/p"), None);
        assert_eq!(below("/a", "/"), Some("a"));
    }
}
