//! Files that somebody may be writing at this moment: they are read when that is over. Who writes a
//! file in place makes it empty first.
//!
//! Knows clocks. Must not know what is read, nor what becomes of it.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::stamp::Stamp;

/// How long ago a file must have been written to be taken for complete at once.
const LONG_AGO: Duration = Duration::from_millis(100);
/// The same for an empty one: whoever made it so may be held up on the way to its text.
const LONG_EMPTY: Duration = Duration::from_secs(2);
/// How long a file that was written just now must stay as it is.
const STILL: Duration = Duration::from_millis(10);
/// How often an empty one is looked at again for as long.
const EMPTY: usize = 100;
/// How often it is read at most.
const TRIES: usize = 20;

/// Reads until the file stays as it is. `read` finds the stamp before it reads.
pub(super) fn read<T, E>(
    read: impl Fn() -> Result<(Stamp, T), E>,
    stamp: impl Fn() -> Option<Stamp>,
) -> Result<(Stamp, T), E> {
    let mut found = read()?;
    for _ in 0..TRIES {
        let times = if is_old(&found.0) { 0 } else { usize::max(1, empty(&found.0) * EMPTY) };
        let mut same = stamp() == Some(found.0);
        for _ in 0..times {
            sleep(STILL);
            same = stamp() == Some(found.0);
            if !same {
                break;
            }
        }
        if same {
            break;
        }
        found = read()?;
    }
    Ok(found)
}

fn empty(stamp: &Stamp) -> usize {
    usize::from(stamp.size == 0)
}

/// Whether a file was left alone for a while: who writes it now gives it another stamp.
///
/// The clock of the file system may be a little ahead of ours. What is far ahead tells nothing.
pub(super) fn is_old(stamp: &Stamp) -> bool {
    let written = u64::try_from(stamp.changed.0).ok().and_then(|seconds| {
        let nanoseconds = u32::try_from(stamp.changed.1).ok()?;
        UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
    });
    let Some(written) = written else { return true };
    let passed = SystemTime::now().duration_since(written);
    let enough = if stamp.size == 0 { LONG_EMPTY } else { LONG_AGO };
    passed.unwrap_or_else(|ahead| ahead.duration()) > enough
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn stamp(changed: SystemTime, size: u64) -> Stamp {
        let passed = changed.duration_since(UNIX_EPOCH).unwrap();
        let changed = (passed.as_secs().cast_signed(), passed.subsec_nanos().into());
        Stamp { seconds: changed.0, nanoseconds: changed.1, size, changed, inode: 1 }
    }

    #[test]
    fn what_is_being_written_is_read_again() {
        let sizes = [0, 0, 0, 4, 8, 8, 8, 8, 9];
        let (count, last) = (Cell::new(0), Cell::new(stamp(SystemTime::now(), 0)));
        let look = || {
            let size = sizes[count.get()];
            if size != last.get().size {
                last.set(stamp(SystemTime::now(), size));
            }
            count.set(count.get() + 1);
            last.get()
        };
        let found = read(|| Ok::<_, ()>((look(), sizes[count.get() - 1])), || Some(look()));
        assert_eq!(found.unwrap().1, 8);
        let old = stamp(SystemTime::now().checked_sub(Duration::from_secs(3)).unwrap(), 0);
        assert_eq!(read(|| Ok::<_, ()>((old, 1)), || Some(old)).unwrap().1, 1);
        assert!(read(|| Err::<(Stamp, ()), _>(()), || None).is_err());
    }
}
