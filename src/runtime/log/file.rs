//! The file of a day: readable by the user alone, and bounded in length.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing_appender::rolling::{Builder, RollingFileAppender, Rotation};

/// How many days are kept.
const DAYS: usize = 7;
/// The most bytes of a day. Whoever needs more than that to find a mistake does not find it.
const MOST: u64 = 50 << 20;
/// The most bytes of one line.
const LINE: usize = 2 << 10;
/// After so many bytes the file's length is looked up: other Neovims write to it as well.
const LOOK: u64 = 1 << 20;

/// Writes to the file of the day.
pub(super) struct DayFile {
    appender: RollingFileAppender,
    folder: PathBuf,
    most: u64,
    /// The day, counted from 1970.
    day: u64,
    /// How long the file is, more or less, and how much was written since that was looked up.
    length: u64,
    written: u64,
    full: bool,
}

impl DayFile {
    /// The file of today in a folder, which is made if need be.
    pub(super) fn open(folder: &Path) -> Result<DayFile, String> {
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        let day = today();
        make_private(folder, day).map_err(failed)?;
        let appender = Builder::new()
            .rotation(Rotation::DAILY)
            .filename_prefix("acp")
            .filename_suffix("log")
            .max_log_files(DAYS)
            .build(folder)
            .map_err(|error| error.to_string())?;
        let length = length(folder, day);
        let folder = folder.to_owned();
        Ok(DayFile { appender, folder, most: MOST, day, length, written: 0, full: false })
    }

    /// A new day has a new file, before anybody else can make it with other rights.
    fn turn_page(&mut self, day: u64) -> io::Result<()> {
        (self.day, self.length, self.written, self.full) = (day, 0, 0, false);
        make_private(&self.folder, day)
    }
}

impl Write for DayFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let day = today();
        if day != self.day {
            self.turn_page(day)?;
        }
        let (whole, line) = (line.len(), beginning(line));
        let bytes = line.len() as u64;
        if self.length + self.written + bytes > self.most {
            if !self.full {
                self.full = true;
                let megabytes = self.most >> 20;
                writeln!(self.appender, "The log has {megabytes} MB: no more today")?;
            }
            return Ok(whole);
        }
        self.appender.write_all(line)?;
        if line.len() < whole {
            self.appender.write_all("…\n".as_bytes())?;
        }
        self.written += bytes;
        if self.written > LOOK {
            (self.length, self.written) = (length(&self.folder, self.day), 0);
        }
        Ok(whole)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.appender.flush()
    }
}

/// What is written of a line: an agent's words may be in it. Errors are our own, and a panic has a
/// long story to tell.
fn beginning(line: &[u8]) -> &[u8] {
    let level = line.get(..64).unwrap_or(line);
    let ours = memchr::memmem::find(level, b"ERROR").is_some();
    let most = if ours { LINE * 16 } else { LINE };
    line.get(..most).unwrap_or(line)
}

/// Makes the file of a day so that nobody else can read it: agents' words are in it. One that is
/// there is made so.
fn make_private(folder: &Path, day: u64) -> io::Result<()> {
    let file =
        OpenOptions::new().append(true).create(true).mode(0o600).open(file_of(folder, day))?;
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

fn length(folder: &Path, day: u64) -> u64 {
    fs::metadata(file_of(folder, day)).map_or(0, |it| it.len())
}

/// The name that the appender gives to the file of a day.
fn file_of(folder: &Path, day: u64) -> PathBuf {
    let Date { year, month, day } = Date::of(day);
    folder.join(format!("acp.{year:04}-{month:02}-{day:02}.log"))
}

/// Days since 1970, in UTC as the appender counts them.
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400
}

/// A day of the calendar.
#[derive(Debug, PartialEq, Eq)]
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// The day that is so many days after the first of 1970.
    fn of(mut days: u64) -> Date {
        let mut year = 1970;
        while days >= days_of(year) {
            days -= days_of(year);
            year += 1;
        }
        let february = days_of(year) - 337;
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
            if days < length {
                break;
            }
            days -= length;
            month += 1;
        }
        Date { year, month, day: days + 1 }
    }
}

fn days_of(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    if leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (789, (1972, 2, 29)),
            (11_016, (2000, 2, 29)),
            (20_454, (2026, 1, 1)),
            (20_775, (2026, 11, 18)),
            (20_818, (2026, 12, 31)),
        ] {
            let Date { year, month, day } = Date::of(days);
            assert_eq!((year, month, day), expected, "{days}");
        }
    }

    #[test]
    fn the_file_is_private_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(folder.path(), today());
        fs::write(&path, "before\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let mut file = DayFile { most: 3 << 20, ..DayFile::open(folder.path()).unwrap() };
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let line = [b'x'; 1024];
        for _ in 0..10_000 {
            file.write_all(&line).unwrap();
        }
        file.flush().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!((2 << 20..=(3 << 20) + 100).contains(&text.len()), "{}", text.len());
        assert!(text.starts_with("before\n") && text.ends_with("no more today\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "it is the appender's name");
        // Another day, another file.
        file.turn_page(today()).unwrap();
        file.write_all(b"new\n").unwrap();
        assert!(!file.full);
    }
}
