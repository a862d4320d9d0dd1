//! The log: a file a day under Neovim's log folder, written by a thread of its own. Panics go
//! there too; on the screen they would be drawn over the editor.

mod file;
pub(super) mod limit;

use std::path::Path;

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::{DefaultFields, Format};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, reload};

use self::file::DayFile;
use self::limit::Limit;

/// How many lines may wait to be written. There is room for all of them from the start, and making
/// it keeps Neovim waiting: what the crate would take by itself is 4 MB.
const LINES: usize = 8 * 1024;

/// The running log. Dropping it writes what is still in memory.
pub struct Log {
    level: reload::Handle<LevelFilter, Registry>,
    _writer: WorkerGuard,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    /// Starts the log in a folder, which is made if need be.
    ///
    /// # Errors
    /// The folder can't be written, or a log runs already.
    pub fn start(folder: &Path, level: &str) -> Result<Log, String> {
        let file = DayFile::open(folder)?;
        let writer = NonBlockingBuilder::default().buffered_lines_limit(LINES);
        let (writer, guard) = writer.finish(file);
        let (filter, handle) = reload::Layer::new(level_named(level));
        let lines = tracing_subscriber::fmt::layer()
            .event_format(Format::default().with_ansi(false).with_target(false))
            .fmt_fields(DefaultFields::new())
            .with_ansi(false)
            .with_writer(writer);
        let log = tracing_subscriber::registry().with(filter).with(Limit).with(lines);
        log.try_init().map_err(|error| error.to_string())?;
        Ok(Log { level: handle, _writer: guard })
    }

    /// Changes what is worth a line.
    pub fn set_level(&self, level: &str) {
        if let Err(error) = self.level.reload(level_named(level)) {
            tracing::error!(%error, "the log level could not be changed");
        }
    }
}

/// Sends panics to the log and tells the user once, whichever thread they happen on.
pub fn catch_panics(tell: impl Fn(String) + Send + Sync + 'static) {
    let told = std::sync::Once::new();
    std::panic::set_hook(Box::new(move |panic| {
        let backtrace = std::backtrace::Backtrace::force_capture();
        tracing::error!(%panic, %backtrace, "a bug in acp.nvim");
        told.call_once(|| {
            tell("acp.nvim has a bug; `:Acp log` shows it. Your edits are safe.".to_owned());
        });
    }));
}

fn level_named(level: &str) -> LevelFilter {
    level.parse().unwrap_or(LevelFilter::INFO)
}
