//! Opening databases. Commands that only read open read-only, so that any number may run at a time; a database
//! that was not closed cleanly is recovered first, and that is said on standard error.

use std::path::Path;

use hopdb::{Database, Options, RecoveryReport};

use crate::failure::Failure;
use crate::screen::{self, counted};
use crate::size::ByteSize;

/// Opens for reading.
pub(crate) fn read_only(path: &Path, cache_bytes: Option<ByteSize>) -> Result<Database, Failure> {
    let options = Options { read_only: true, ..options(cache_bytes) };
    match Database::open(path, &options) {
        Err(error) if error.needs_recovery() => {
            for_writing(path, cache_bytes)?.close()?;
            Ok(Database::open(path, &options)?)
        }
        opened => Ok(opened?),
    }
}

/// Opens for writing.
pub(crate) fn for_writing(path: &Path, cache_bytes: Option<ByteSize>) -> Result<Database, Failure> {
    let db = Database::open(path, &options(cache_bytes))?;
    if let Some(report) = db.recovery() {
        tell(path, report);
    }
    Ok(db)
}

fn options(cache_bytes: Option<ByteSize>) -> Options {
    let default = Options::default();
    Options { cache_bytes: cache_bytes.map_or(default.cache_bytes, |size| size.0), ..default }
}

fn tell(path: &Path, report: RecoveryReport) {
    let RecoveryReport { commits, cut_bytes, .. } = report;
    let commits = counted(commits, "commit", "commits");
    let cut = counted(cut_bytes, "byte", "bytes");
    screen::tell(format_args!(
        "recovered {}, which was not closed cleanly: {commits} replayed from its log, {cut} of an \
         unfinished one cut off",
        path.display()
    ));
}
