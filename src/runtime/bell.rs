//! Asks for one wake-up of Neovim, however much there is to tell.

use std::sync::atomic::{AtomicBool, Ordering};

/// Rings the other thread, at most once until it has come.
pub struct Bell {
    ring: Box<dyn Fn() + Send + Sync>,
    armed: AtomicBool,
    silent: AtomicBool,
}

impl Bell {
    /// A bell that rings by calling `ring`, from any thread.
    pub fn new(ring: impl Fn() + Send + Sync + 'static) -> Bell {
        Bell { ring: Box::new(ring), armed: AtomicBool::new(false), silent: AtomicBool::new(false) }
    }

    /// Rings, unless a ring is still unanswered.
    pub fn ring(&self) {
        if !self.armed.swap(true, Ordering::AcqRel) {
            self.ring_again();
        }
    }

    /// Rings in any case: the other thread has come, and has left something to do.
    pub fn ring_again(&self) {
        self.armed.store(true, Ordering::Release);
        if !self.silent.load(Ordering::Acquire) {
            (self.ring)();
        }
    }

    /// Nobody comes any more: there is nobody to ring for.
    pub fn silence(&self) {
        self.silent.store(true, Ordering::Release);
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
