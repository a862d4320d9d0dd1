//! Lets only a few tests run Neovims at once, so that deadlines mean something on a small machine.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, PoisonError};

const PLACES: usize = 3;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Leave to run Neovims on this thread.
///
/// A thread that already holds one gets the next at once: three tests with one Neovim each, all
/// wanting a second, would otherwise wait for each other for ever. Bound to its thread for the
/// same reason.
pub(crate) struct Permit(PhantomData<*const ()>);

impl Permit {
    /// Waits for a free place.
    pub(crate) fn take() -> Permit {
        if HELD.get() == 0 {
            let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
            let mut taken =
                FREED.wait_while(taken, |it| *it >= PLACES).unwrap_or_else(PoisonError::into_inner);
            *taken += 1;
        }
        HELD.set(HELD.get() + 1);
        Permit(PhantomData)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        if HELD.get() == 0 {
            *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            FREED.notify_one();
        }
    }
}
