//! Contents by their names: a folder of files that are written once and never changed.
//!
//! Several Neovims write into it at once: each content comes under its name whole or not at all,
//! and the same content twice is the same file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::sha256;

/// A content that nobody refers to yet may be one that somebody is about to.
const YOUNG: Duration = Duration::from_secs(3600);

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    folder: PathBuf,
}

impl Objects {
    pub(super) fn new(folder: PathBuf) -> Objects {
        Objects { folder }
    }

    fn place(&self, name: &str) -> PathBuf {
        let (first, rest) = name.split_at_checked(2).unwrap_or((name, ""));
        self.folder.join(first).join(rest)
    }

    /// Keeps a content; its name.
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let name = sha256::hex(bytes);
        let place = self.place(&name);
        match File::options().write(true).open(&place) {
            // Whoever sweeps looks at the time, and leaves what is wanted again.
            Ok(file) => file.set_modified(SystemTime::now())?,
            Err(_) => write_atomic(&place, bytes)?,
        }
        Ok(name)
    }

    pub(super) fn get(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.place(name))
    }

    /// Removes what is not wanted any more.
    pub(super) fn sweep(&self, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
        let folders = match fs::read_dir(&self.folder) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for folder in folders {
            let folder = folder?;
            for file in fs::read_dir(folder.path())? {
                let file = file?;
                let name = folder.file_name().to_string_lossy().into_owned()
                    + &file.file_name().to_string_lossy();
                let age = file.metadata().and_then(|it| it.modified()).ok();
                let young = age.is_none_or(|it| it.elapsed().is_ok_and(|age| age < YOUNG));
                if !young && !wanted(&name) {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(())
    }
}

/// Makes a folder that is nobody else's business.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file of ours, whole or not at all.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = path.parent().unwrap_or(Path::new("/"));
    private_folder(folder)?;
    let new = folder.join(format!(".{}-{number}.tmp", std::process::id()));
    let write = || {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        fs::rename(&new, path)
    };
    write().inspect_err(|_| {
        if let Err(error) = fs::remove_file(&new) {
            tracing::debug!(path = %new.display(), %error, "left behind");
        }
    })
}
