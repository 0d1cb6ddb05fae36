//! Checkpoints: committed pages go to their places, then the redo point moves on.
//!
//! **Words.** *Target*: the newest published commit when the checkpoint begins; it becomes the redo point. *Step*: a
//! few pages, or the end. Writers and readers go on between the steps and beside them.
//!
//! **Order.** The pages that are dirty at the beginning are written in place, in page order, each as it is when its
//! turn comes (the log up to its LSN and its image are durable before); sync of the file; sync of the log; header with
//! the new redo point, sync; only then the space of the log before it is used again (I8, I9).
//!
//! **Why that is enough.** A page that a commit up to the target changed, and that was not in place then, is dirty at
//! the beginning. At the end it was written with at least that change; or its commit's successor freed it, and then the
//! sync of the log makes that one durable: what the page was does not matter any more. Pages that become dirty later
//! have their records behind the target.
//!
//! **Who takes the steps.** A thread of its own, at a pace: a commit waits behind what the disk has been given before it,
//! so steps are small, each with its sync, and there is a rest behind each, unless the log or the pool fills faster than
//! the pages are written. Where the file system has no threads (a simulation), whoever commits
//! takes one. No step holds the gate; only when the log is full, or the pool of dirty pages, the next transaction
//! waits at its beginning, and holds nothing then.

use std::path::Path;
use std::time::Duration;

use super::worker::Worker;
use super::{Engine, Mode};
use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::page::{CommitTs, PageId};
use crate::pager::RedoPoint;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering};
use crate::wal::Wal;

/// Most pages of one step; fewer where the pool is small.
const STEP_PAGES_MAX: usize = 32;
/// How many times as long as a step the rest behind it is, while there is time.
const REST: u32 = 3;

/// A checkpoint under way.
#[derive(Debug)]
struct Underway {
    target: RedoPoint,
    /// Pages that were dirty at the beginning, ascending.
    pages: Vec<PageId>,
    /// How many of them were written.
    done: usize,
    /// Bytes of the log at the beginning.
    log_bytes: u64,
}

/// The checkpoint under way, if there is one, and who takes its steps.
#[derive(Debug, Default)]
pub(crate) struct Checkpointer {
    underway: Mutex<Option<Underway>>,
    /// Whether there is one; or was, a moment ago.
    active: AtomicBool,
    worker: Worker,
    /// Whether the last step failed, for those who wait for one.
    failed: Mutex<bool>,
    stepped: Condvar,
}

/// Bytes of the log that a checkpoint can free: what lies behind the newest commit, of a transaction that failed, goes
/// with the next one.
fn log_bytes(engine: &Engine, wal: &Wal) -> u64 {
    engine.snapshots.newest().lsn.0.saturating_sub(wal.base().0)
}

/// Whether the log or the pool is full enough for a checkpoint.
fn is_due(engine: &Engine) -> bool {
    engine.mode == Mode::ReadWrite
        && (engine.pager.wal().is_some_and(|wal| log_bytes(engine, wal) > wal.len_max() / 2)
            || engine.pool.wants_checkpoint())
}

/// Whether so much is to be written that transactions must wait.
fn is_full(engine: &Engine) -> bool {
    engine.mode == Mode::ReadWrite
        && (engine.pager.wal().is_some_and(|wal| log_bytes(engine, wal) > wal.len_max())
            || engine.pool.is_clogged())
}

/// After a commit: has a step taken when one is due, and the log made longer when it is short.
pub(crate) fn nudge(engine: &Arc<Engine>) {
    if let Some(wal) = engine.pager.wal().filter(|wal| wal.is_short()) {
        grow(engine, wal);
    }
    let checkpointer = &engine.checkpointer;
    if !engine.fs.has_threads() {
        // The commit is done whatever becomes of the checkpoint; a failure poisons the store.
        drop(checkpointer.step(engine));
    } else if !checkpointer.active.load(Ordering::Acquire) && is_due(engine) && !wake(engine) {
        drop(checkpointer.step(engine));
    }
}

/// Has the log made longer, by a thread of its own where there are threads.
fn grow(engine: &Arc<Engine>, wal: &Wal) {
    let wakes = || engine.grower.wake(engine, engine.fs.now(), ("hopdb-log", grow_ahead));
    if !engine.fs.has_threads() || !wakes() {
        wal.grow_ahead();
    }
}

fn grow_ahead(engine: &Arc<Engine>) -> Option<Duration> {
    if let Some(wal) = engine.pager.wal() {
        wal.grow_ahead();
    }
    None
}

/// Has the thread take a step now; whether there is a thread.
fn wake(engine: &Arc<Engine>) -> bool {
    let worker = &engine.checkpointer.worker;
    worker.wake(engine, engine.fs.now(), ("hopdb-checkpoint", work))
}

/// Before a transaction: waits while too much is to be written. The caller holds nothing.
pub(crate) fn wait_for_room(engine: &Arc<Engine>) -> Result<()> {
    let checkpointer = &engine.checkpointer;
    if !engine.fs.has_threads() {
        while is_full(engine) && checkpointer.step(engine)? {}
        return Ok(());
    }
    let mut failed = checkpointer.failed.lock();
    while is_full(engine) {
        engine.check_writable()?;
        *failed = false;
        if !wake(engine) {
            drop(failed);
            checkpointer.step(engine)?;
            failed = checkpointer.failed.lock();
            continue;
        }
        failed = checkpointer.stepped.wait(failed);
        if *failed {
            // Whoever goes on finds out by itself, and fails if it must.
            return engine.check_writable();
        }
    }
    Ok(())
}

/// One step of the thread; gives how long it rests.
fn work(engine: &Arc<Engine>) -> Option<Duration> {
    let checkpointer = &engine.checkpointer;
    let _told = ToldOfPanic(checkpointer);
    let start = engine.fs.now();
    let more = checkpointer.step(engine);
    checkpointer.tell(more.is_err());
    match more {
        Ok(true) if checkpointer.is_late(engine) => Some(Duration::ZERO),
        Ok(true) => Some(REST * engine.fs.now().saturating_sub(start)),
        // A failure poisons the store, or leaves all as it was: the next commit asks again.
        Ok(false) | Err(_) => None,
    }
}

/// Tells those who wait for a step when it panics.
struct ToldOfPanic<'a>(&'a Checkpointer);

impl Drop for ToldOfPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.tell(true);
        }
    }
}

impl Checkpointer {
    /// Takes a step of the checkpoint under way, or begins one that is due; whether there is more to do.
    fn step(&self, engine: &Engine) -> Result<bool> {
        let mut underway = self.underway.lock();
        if underway.is_none() {
            if !is_due(engine) {
                return Ok(false);
            }
            *underway = begin(engine);
        }
        self.go_on(engine, &mut underway)
    }

    fn go_on(&self, engine: &Engine, underway: &mut Option<Underway>) -> Result<bool> {
        let Some(checkpoint) = underway else { return Ok(false) };
        self.active.store(true, Ordering::Release);
        let stepped = checkpoint.step(engine);
        if !matches!(stepped, Ok(true)) {
            *underway = None;
            self.active.store(false, Ordering::Release);
        }
        stepped
    }

    /// Whether the log fills faster than the pages are written.
    fn is_late(&self, engine: &Engine) -> bool {
        let underway = self.underway.lock();
        let (Some(checkpoint), Some(wal)) = (&*underway, engine.pager.wal()) else { return false };
        let room = wal.len_max().saturating_sub(checkpoint.log_bytes).max(1);
        let filled = log_bytes(engine, wal).saturating_sub(checkpoint.log_bytes);
        let (pages, done) = (checkpoint.pages.len() as u64, checkpoint.done as u64);
        let pool_room = (engine.pool.dirty_max() as u64).saturating_sub(pages).max(1);
        let pool_filled = (engine.pool.dirty() as u64 + done).saturating_sub(pages);
        // Done by the time that half of the room is filled.
        2 * filled * pages > done * room || 2 * pool_filled * pages > done * pool_room
    }

    /// Tells those who wait for a step how it went, or that there will be none.
    pub(crate) fn tell(&self, failed: bool) {
        *self.failed.lock() = failed;
        self.stepped.notify_all();
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.worker.stop();
    }
}

/// A checkpoint of the newest commit; none when that is the redo point.
fn begin(engine: &Engine) -> Option<Underway> {
    let target = engine.snapshots.newest();
    let wal = engine.pager.wal()?;
    let log_bytes = log_bytes(engine, wal);
    let pages = engine.pool.dirty_pages();
    // Behind the newest commit is only a store that was closed meanwhile.
    let something = target.lsn > wal.base() || target.lsn == wal.base() && !pages.is_empty();
    something.then_some(Underway { target, pages, done: 0, log_bytes })
}

impl Underway {
    /// Writes some pages, or ends the checkpoint; whether there is more to do.
    fn step(&mut self, engine: &Engine) -> Result<bool> {
        if self.done < self.pages.len() {
            let step = (engine.pool.frames_max() / 16).clamp(1, STEP_PAGES_MAX);
            let end = self.pages.len().min(self.done + step);
            engine.pool.write_back(&self.pages[self.done..end])?;
            // Few at a time: a commit waits behind what the disk has been given before.
            engine.pager.sync_in_place()?;
            engine.pool.shrink();
            self.done = end;
            return Ok(true);
        }
        engine.pager.reserve_pages(self.target.pages)?;
        engine.pager.sync_in_place()?;
        // Pages that were freed meanwhile are not in place: what freed them must not be lost.
        if let Some(wal) = engine.pager.wal().filter(|_| !Mutant::SkipLastLogSync.is_on()) {
            engine.flush_log(wal.end())?;
        }
        engine.pager.advance(self.target, false)?;
        Ok(false)
    }
}

/// Makes all commits durable, writes their pages in place and syncs them; they stay in the pool.
pub(crate) fn flush(engine: &Engine) -> Result<()> {
    if let Some(wal) = engine.pager.wal() {
        engine.flush_log(wal.end())?;
    }
    engine.pool.write_back_all()?;
    engine.pool.shrink();
    engine.pager.reserve_pages(engine.pager.page_count())?;
    engine.pager.sync_in_place()
}

/// Ends the checkpoint under way, and makes another of the newest commit.
pub(crate) fn run(engine: &Engine) -> Result<()> {
    let checkpointer = &engine.checkpointer;
    let mut underway = checkpointer.underway.lock();
    while checkpointer.go_on(engine, &mut underway)? {}
    *underway = begin(engine);
    while checkpointer.go_on(engine, &mut underway)? {}
    engine.pool.shrink();
    Ok(())
}

/// Puts everything into the file and marks it closed cleanly; the log goes. The caller keeps writers out, and no thread
/// takes steps any more.
pub(crate) fn close(engine: &Engine, ts: CommitTs) -> Result<()> {
    if engine.mode == Mode::ReadOnly {
        return Ok(());
    }
    let _nobody_else = engine.checkpointer.underway.lock();
    let pager = &engine.pager;
    let untouched = pager.header().clean && pager.wal().is_none();
    if engine.mode == Mode::Unnamed || !untouched {
        flush(engine)?;
        pager.trim()?;
        let lsn = pager.wal().map_or(pager.header().base_lsn, |wal| wal.end());
        pager.advance(RedoPoint { ts, pages: pager.page_count(), lsn }, true)?;
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
