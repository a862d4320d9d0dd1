//! What agents have changed in files that are not open: found by comparing what the files are with
//! what they were when the turn began, whichever way they were written.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::undo::Is;
use super::{Rewind, Whose};
use crate::runtime::input::Input;
use crate::runtime::nofollow;
use crate::runtime::reviews::{Lost, OnDisk};
use crate::runtime::snapshot::{Changed, Error, Snapshot, Snapshots};
use crate::session::ids::SessionId;

/// How long a look is put off: tool calls often end one right after the other.
const PAUSE: Duration = Duration::from_millis(200);

/// What a turn is compared with.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    /// When it began.
    pub(super) at: Instant,
    /// What the files were, once that is known.
    files: Arc<OnceLock<Snapshot>>,
    /// Whether somebody is about to look.
    looking: Arc<AtomicBool>,
}

impl Begun {
    pub(super) fn new() -> Begun {
        Begun { at: Instant::now(), files: Arc::default(), looking: Arc::default() }
    }

    pub(super) fn is(&self, files: &Snapshot) {
        if self.files.set(files.clone()).is_err() {
            tracing::debug!("a turn began twice");
        }
    }
}

impl Rewind {
    /// Looks what the agent of a session has changed so far.
    pub(in crate::runtime) fn look(&self, session: SessionId) {
        let Some(open) = self.open.get(&session).filter(|it| it.whose.config.look) else { return };
        let (whose, begun, inputs) = (open.whose.clone(), open.begun.clone(), self.inputs.clone());
        if begun.looking.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            sleep(PAUSE).await;
            let _turn = whose.turn.clone().lock_owned().await;
            begun.looking.store(false, Ordering::Relaxed);
            let work = move || {
                let Some(files) = begun.files.get() else { return };
                match whose.snapshots.changed_since(files) {
                    Ok(changed) => {
                        whose.found(&changed, begun.at, |found| {
                            inputs.blocking_send(found).map_err(drop)
                        });
                    }
                    Err(error) => tracing::warn!(%error, "changes of the agent are not looked at"),
                }
            };
            if let Err(error) = tokio::task::spawn_blocking(work).await {
                tracing::error!(%error, "a look failed");
            }
        });
    }
}

impl Whose {
    /// Hands over what was changed.
    pub(super) fn found<E>(
        &self,
        changed: &[Changed],
        since: Instant,
        send: impl FnOnce(Input) -> Result<(), E>,
    ) {
        if !self.config.look {
            return;
        }
        let of = |it: &Changed| on_disk(&self.snapshots, (self.session, since), it).transpose();
        let found: Vec<OnDisk> = changed
            .iter()
            .filter(|it| !nofollow::is_temporary(&it.path.0))
            .filter_map(of)
            .filter_map(|it| it.inspect_err(|error| tracing::warn!(%error, "not read")).ok())
            .collect();
        if send(Input::Found(found)).is_err() {
            tracing::debug!("the core is gone");
        }
    }
}

/// The texts of a file that has changed; nothing where one of them is none.
fn on_disk(
    snapshots: &Snapshots,
    (session, since): (SessionId, Instant),
    changed: &Changed,
) -> Result<Option<OnDisk>, Error> {
    let text = |is: &Is| -> Option<Option<Arc<str>>> {
        match is {
            Is::Missing => Some(None),
            is => is.text().map(|text| Some(text.into())),
        }
    };
    let (was, is) = (Is::of(snapshots, &changed.before)?, Is::of(snapshots, &changed.after)?);
    let (Some(before), Some(after)) = (text(&was), text(&is)) else {
        return Ok(None);
    };
    let Some(path) = changed.path.0.to_str().map(str::to_owned) else { return Ok(None) };
    let lost = match (was, is) {
        (Is::File { bytes, executable }, Is::Missing) => {
            Some(Lost { bytes: bytes.into(), executable })
        }
        _ => None,
    };
    Ok(Some(OnDisk { session, since, seen: None, path, before, after, lost }))
}
