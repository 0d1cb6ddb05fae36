//! Checkpoints: committed pages go to their places, then the redo point moves on.
//!
//! Order: images of the dirty pages to the log, sync; pages in place, sync; header with the new redo point and
//! salt, sync; only then is the log written from its start again (I8, I9). The caller keeps writers out.

use std::path::Path;

use crate::error::{Error, Result};
use crate::page::CommitTs;
use crate::txn::{Engine, Mode};
use crate::wal;

/// Log bytes after which a commit is followed by a checkpoint.
const LOG_BYTES_MAX: u64 = wal::KEPT_BYTES;

/// Whether the log or the pool is full enough for a checkpoint.
pub(crate) fn is_due(engine: &Engine) -> bool {
    engine.mode == Mode::ReadWrite
        && (engine.pager.wal().is_some_and(|wal| wal.len() > LOG_BYTES_MAX)
            || engine.pool.wants_checkpoint())
}

/// Makes all commits durable, writes their pages in place and syncs them; they stay in the pool.
pub(crate) fn flush(engine: &Engine) -> Result<()> {
    if let Some(wal) = engine.pager.wal() {
        engine.flush_log(wal.end())?;
    }
    while engine.pool.write_back(usize::MAX)? > 0 {}
    engine.pool.shrink();
    engine.pager.reserve_pages(engine.pager.page_count())?;
    engine.pager.sync()
}

/// Moves the redo point behind `commit_ts`, the newest commit.
pub(crate) fn run(engine: &Engine, commit_ts: CommitTs) -> Result<()> {
    if engine.pager.wal().is_none_or(|wal| wal.len() == 0) {
        return Ok(());
    }
    restart(engine, commit_ts)
}

/// Moves the redo point behind what recovery restored, even when that is nothing: records of the torn tail
/// must never follow new ones, so the salt changes.
pub(crate) fn restart(engine: &Engine, commit_ts: CommitTs) -> Result<()> {
    flush(engine)?;
    engine.pager.advance(commit_ts, false)
}

/// Puts everything into the file and marks it closed cleanly; the log goes.
pub(crate) fn close(engine: &Engine, commit_ts: CommitTs) -> Result<()> {
    if engine.mode == Mode::ReadOnly {
        return Ok(());
    }
    let untouched = engine.pager.header().clean && engine.pager.wal().is_none();
    if engine.mode == Mode::Unnamed || !untouched {
        flush(engine)?;
        engine.pager.trim()?;
        engine.pager.advance(commit_ts, true)?;
    }
    if engine.mode == Mode::Unnamed {
        return Ok(());
    }
    // Also one that an earlier close did not come to remove.
    let log = &engine.log_path;
    let io = |action, error| Error::io(action, log, error);
    if engine.fs.exists(log).map_err(|e| io("look for", e))? {
        engine.fs.remove(log).map_err(|e| io("remove", e))?;
        let folder = log.parent().unwrap_or(Path::new(""));
        engine.fs.sync_dir(folder).map_err(|e| io("make durable the removal of", e))?;
    }
    Ok(())
}
