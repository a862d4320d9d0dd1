//! Where paths really lead, for permissions: links followed, also those that lead to nothing yet.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;

use super::disk::real;
use super::input::Input;
use crate::session::effect::PathsToResolve;
use crate::session::event::Event;
use crate::session::paths;

/// How many permissions are looked at at once: a disk that does not answer holds up no more
/// threads than these.
static PERMITS: Semaphore = Semaphore::const_new(4);

/// Finds out where paths lead, and tells the core.
pub fn resolve(wanted: PathsToResolve, inputs: Sender<Input>) {
    tokio::spawn(async move {
        // It fails only if closed, which nobody does.
        let _permit = PERMITS.acquire().await;
        let PathsToResolve { ask, paths, roots } = wanted;
        let work = tokio::task::spawn_blocking(move || real_paths(paths, &roots));
        // Where they lead nobody knows: then no rule allows anything by them.
        let real = work.await.unwrap_or_default();
        if inputs.send(Input::Event(Event::PathsResolved { ask, real })).await.is_err() {
            tracing::debug!("the core is gone");
        }
    });
}

/// Where each path leads. What leads into one of the folders is told by the folder's own name.
pub fn real_paths(paths: Vec<String>, roots: &[String]) -> HashMap<String, String> {
    let folder = |root: &String| (PathBuf::from(root), real(Path::new(root), 0));
    let folders: Vec<(PathBuf, PathBuf)> = roots.iter().map(folder).collect();
    let lead = |path: String| {
        let real = real(Path::new(&path), 0);
        let inside = folders.iter().find_map(|(root, folder)| {
            let rest = real.strip_prefix(folder).ok()?;
            Some(root.join(rest))
        });
        // A name that is not UTF-8 can't be told to anybody, nor be what an agent means.
        let real = inside.unwrap_or(real).into_os_string().into_string().ok()?;
        Some((path, paths::join("", &real)))
    };
    paths.into_iter().filter_map(lead).collect()
}
