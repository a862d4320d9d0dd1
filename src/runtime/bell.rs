//! Asks for one wake-up of Neovim, however much there is to tell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rings the other thread, at most once until it has come.
pub struct Bell {
    ring: Box<dyn Fn() + Send + Sync>,
    armed: AtomicBool,
    /// Nobody will come any more. Held while the bell rings: who has silenced it knows that it does
    /// not ring, and will not.
    silenced: Mutex<bool>,
}

impl Bell {
    /// A bell that rings by calling `ring`, from any thread.
    pub fn new(ring: impl Fn() + Send + Sync + 'static) -> Bell {
        Bell { ring: Box::new(ring), armed: AtomicBool::new(false), silenced: Mutex::new(false) }
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
        *self.silenced.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn sound(&self) {
        let silenced = self.silenced.lock().unwrap_or_else(PoisonError::into_inner);
        if !*silenced {
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
