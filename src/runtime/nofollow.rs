//! Files, opened so that what was decided upon is what is opened: by a path with no symbolic link
//! in it, of which no part is a link now. Whoever is to be asked about a path asks where it leads
//! (`disk::resolve`), decides on that, and opens that here; whatever somebody puts into its place
//! meanwhile is not followed.
//!
//! On Linux one call does it; elsewhere, and where that call is not there, folder after folder is
//! opened in the one before.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

/// How a folder is opened in which something is looked for.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// Never waits for the other end of a pipe, and never becomes the terminal's.
const QUIET: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Why something is not what it was taken for.
const LINK: &str = "it has become a symbolic link, or its folder has";
const NO_FILE: &str = "it is not a regular file";

/// A name in a folder that is open, whatever becomes of the way there.
#[derive(Debug)]
pub(super) struct Place {
    folder: OwnedFd,
    name: OsString,
}

/// Opens a regular file to be read. No part of the path may be a link.
pub(super) fn open(path: &Path) -> io::Result<File> {
    regular(open_at(path, OFlags::RDONLY | QUIET).map_err(told)?)
}

/// Opens a folder to be listed. No part of the path may be a link.
pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    open_at(path, OFlags::RDONLY | OFlags::DIRECTORY | QUIET).map_err(|error| match error {
        // To the system a link is no folder either.
        Errno::NOTDIR if is_link(path) => io::Error::other(LINK),
        error => told(error),
    })
}

/// Whether there is a regular file, and no link on the way.
pub(super) fn is_regular(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY | QUIET;
    let found = open_at(path, flags).and_then(rustix::fs::fstat);
    found.is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::RegularFile)
}

/// The bytes of a regular file. No part of the path may be a link.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file by a path whose links are followed: for files of ours and of git's.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = QUIET.bits().cast_signed();
    regular(OpenOptions::new().read(true).custom_flags(flags).open(path)?.into())
}

/// The bytes of such a file, at most so many.
pub(super) fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn regular(file: OwnedFd) -> io::Result<File> {
    let file = File::from(file);
    match file.metadata()? {
        it if it.is_file() => Ok(file),
        it if it.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other(NO_FILE)),
    }
}

fn told(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::MLINK => io::Error::other(LINK),
        // A socket, for instance.
        Errno::NXIO => io::Error::other(NO_FILE),
        error => error.into(),
    }
}

fn is_link(path: &Path) -> bool {
    path.ancestors().any(Path::is_symlink)
}

fn open_at(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use std::sync::atomic::AtomicBool;

        use rustix::fs::ResolveFlags;
        static MISSING: AtomicBool = AtomicBool::new(false);
        if !MISSING.load(Ordering::Relaxed) {
            let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
                // An old kernel, or a sandbox that has not heard of it.
                Err(Errno::NOSYS) => MISSING.store(true, Ordering::Relaxed),
                Err(Errno::PERM) => {}
                result => return result,
            }
        }
    }
    step_by_step(path, flags)
}

fn step_by_step(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut folder = rustix::fs::open("/", FOLDER, Mode::empty())?;
    let mut parts = path.components().filter_map(|it| match it {
        Component::Normal(name) => Some(Ok(name)),
        Component::ParentDir => Some(Err(Errno::INVAL)),
        _ => None,
    });
    let Some(mut name) = parts.next().transpose()? else {
        return rustix::fs::openat(&folder, ".", flags, Mode::empty());
    };
    for next in parts {
        folder = step(&folder, name)?;
        name = next?;
    }
    rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
}

/// A folder in a folder.
fn step(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let opened = rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
    match opened {
        Err(Errno::NOTDIR) => match rustix::fs::readlinkat(folder, name, Vec::new()) {
            Ok(_) => Err(Errno::LOOP),
            Err(_) => Err(Errno::NOTDIR),
        },
        opened => opened,
    }
}

impl Place {
    /// Where a path leads to, if its folder is there and no part of the way is a link.
    pub(super) fn find(path: &Path) -> io::Result<Place> {
        let (folder, name) = split(path)?;
        Ok(Place { folder: open_at(folder, FOLDER).map_err(told)?, name })
    }

    /// The same; folders that are missing are made.
    pub(super) fn make(path: &Path) -> io::Result<Place> {
        let (parent, name) = split(path)?;
        let mut missing = Vec::new();
        let mut there = parent;
        let mut folder = loop {
            match (open_at(there, FOLDER), there.parent(), there.file_name()) {
                (Err(Errno::NOENT), Some(up), Some(name)) => {
                    missing.push(name);
                    there = up;
                }
                (folder, ..) => break folder.map_err(told)?,
            }
        };
        for name in missing.into_iter().rev() {
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = step(&folder, name).map_err(told)?;
        }
        Ok(Place { folder, name })
    }

    /// What is there, links not followed.
    pub(super) fn stat(&self) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the regular file that is there to be read.
    pub(super) fn open(&self) -> io::Result<File> {
        regular(self.open_as(OFlags::RDONLY)?)
    }

    /// Opens the file that is there to be written in place.
    pub(super) fn open_to_write(&self) -> io::Result<File> {
        regular(self.open_as(OFlags::WRONLY)?)
    }

    fn open_as(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | QUIET;
        rustix::fs::openat(&self.folder, &self.name, flags, Mode::empty()).map_err(told)
    }

    /// Where the link that is there leads.
    pub(super) fn read_link(&self) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&self.folder, &self.name, Vec::new())?.into_bytes())
    }

    /// Puts a link there, in the place of whatever file or link there is.
    pub(super) fn put_link(&self, target: &Path) -> io::Result<()> {
        let new = self.sibling();
        rustix::fs::symlinkat(target, &self.folder, &new)?;
        self.replace_by(&new)
    }

    /// Removes the file or link that is there.
    pub(super) fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Removes the folder that is there, if nothing is in it.
    pub(super) fn remove_folder(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Puts a new file with these bytes there, whole or not at all, in the place of whatever file
    /// or link there is. Whose it is and who may read it stays; nobody else reads it meanwhile.
    pub(super) fn replace(&self, bytes: &[u8], old: Option<&Stat>) -> io::Result<()> {
        let new = self.sibling();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | QUIET;
        // A file that is new to all may have from the start what the user gives new files.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let mut file = File::from(rustix::fs::openat(&self.folder, &new, flags, mode)?);
        let mut write = || {
            file.write_all(bytes)?;
            let Some(old) = old else { return Ok(()) };
            if rustix::fs::fstat(&file)?.st_gid != old.st_gid {
                rustix::fs::fchown(&file, None, Some(Gid::from_raw(old.st_gid)))?;
            }
            rustix::fs::fchmod(&file, Mode::from_raw_mode(old.st_mode))?;
            // Else a crash of the machine could leave neither the old text nor the new one. Where
            // there was none, it is not worth the many seconds that a busy disk takes for it.
            file.sync_data()
        };
        match write() {
            Ok(()) => self.replace_by(&new),
            Err(error) => {
                self.drop_sibling(&new);
                Err(error)
            }
        }
    }

    /// Sets who may run the file that is there.
    pub(super) fn set_mode(&self, mode: RawMode) -> io::Result<()> {
        Ok(rustix::fs::fchmod(self.open()?, Mode::from_raw_mode(mode))?)
    }

    fn replace_by(&self, new: &OsStr) -> io::Result<()> {
        rustix::fs::renameat(&self.folder, new, &self.folder, &self.name)
            .inspect_err(|_| self.drop_sibling(new))
            .map_err(io::Error::from)
    }

    fn drop_sibling(&self, new: &OsStr) {
        if let Err(error) = rustix::fs::unlinkat(&self.folder, new, AtFlags::empty()) {
            tracing::warn!(name = ?new, %error, "left behind");
        }
    }

    /// A name for what is about to take the place.
    fn sibling(&self) -> OsString {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        format!(".acp-{}-{number}.tmp", std::process::id()).into()
    }
}

/// Whether a file is one that is about to take the place of another.
pub(super) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    name.starts_with(".acp-") && name.ends_with(".tmp")
}

fn split(path: &Path) -> io::Result<(&Path, OsString)> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok((folder, name.to_owned())),
        _ => Err(io::ErrorKind::IsADirectory.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both ways to open refuse the same.
    #[test]
    fn no_link_is_followed_on_any_part_of_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/f"), "text").unwrap();
        symlink(root.join("a"), root.join("to-a")).unwrap();
        symlink("f", root.join("a/b/to-f")).unwrap();
        let flags = OFlags::RDONLY | QUIET;
        for open in [open_at, step_by_step] {
            assert!(open(&root.join("a/b/f"), flags).is_ok());
            assert!(open(Path::new("/"), flags).is_ok());
            for (path, error) in [
                ("to-a/b/f", Errno::LOOP),
                ("a/b/to-f", Errno::LOOP),
                ("a/b/f/g", Errno::NOTDIR),
                ("a/none/f", Errno::NOENT),
            ] {
                assert_eq!(open(&root.join(path), flags).unwrap_err(), error, "{path}");
            }
        }
        assert!(is_regular(&root.join("a/b/f")));
        for path in ["to-a/b/f", "a/b/to-f", "a/b", "none"] {
            assert!(!is_regular(&root.join(path)), "{path}");
        }
        assert!(Place::find(&root.join("to-a/new")).is_err());
        assert!(Place::make(&root.join("to-a/new/new")).is_err());
        assert!(!root.join("a/new").exists());
    }
}
