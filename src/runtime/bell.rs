//! Asks for one wake-up of Neovim, however much there is to tell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

/// How long a ring may take, in milliseconds, before whoever silences the bell goes on without it.
const PATIENCE: u32 = 100;

/// Rings the other thread, at most once until it has come.
pub struct Bell {
    ring: Box<dyn Fn() + Send + Sync>,
    armed: AtomicBool,
    /// Nobody will come any more.
    silenced: AtomicBool,
    /// Held while the bell rings.
    ringing: Mutex<()>,
}

impl Bell {
    /// A bell that rings by calling `ring`, from any thread.
    pub fn new(ring: impl Fn() + Send + Sync + 'static) -> Bell {
        let (armed, silenced) = (AtomicBool::new(false), AtomicBool::new(false));
        Bell { ring: Box::new(ring), armed, silenced, ringing: Mutex::new(()) }
    }

    /// Rings, unless a ring is still unanswered.
    pub fn ring(&self) {
        if !self.armed.swap(true, Ordering::AcqRel) {
            self.sound();
        }
    }

    /// Rings in any case: the other thread has come, and has left something to do.
    pub fn ring_again(&self) {
        self.armed.store(true, Ordering::Release);
        self.sound();
    }

    /// Never rings again: Neovim goes, and its loop must not be touched when it is closed.
    pub fn silence(&self) {
        self.silenced.store(true, Ordering::SeqCst);
        for _ in 0..PATIENCE {
            match self.ringing.try_lock() {
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Ok(_) | Err(TryLockError::Poisoned(_)) => return,
            }
        }
    }

    fn sound(&self) {
        let _ringing = self.ringing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.silenced.load(Ordering::SeqCst) {
            (self.ring)();
        }
    }

    /// The other thread has come; the next ring counts again.
    pub fn answered(&self) {
        self.armed.store(false, Ordering::Release);
    }
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bell").field("armed", &self.armed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_silenced_bell_does_not_ring() {
        let rings = Arc::new(AtomicUsize::new(0));
        let count = rings.clone();
        let bell = Bell::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        bell.ring();
        bell.ring();
        assert_eq!(rings.load(Ordering::Relaxed), 1, "once until somebody comes");
        bell.answered();
        bell.silence();
        bell.ring();
        bell.ring_again();
        assert_eq!(rings.load(Ordering::Relaxed), 1);
    }
}
