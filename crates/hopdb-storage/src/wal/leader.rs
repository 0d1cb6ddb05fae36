//! Who makes the log durable: one thread for all who wait.
//!
//! The leader takes what is pending, writes and syncs it, and tells those whose records are durable then. Nobody waits
//! for company: what comes while it writes goes with the next leader.
//!
//! **Invariants.**
//! 1. There is one leader at a time, and the latch is not held while it writes and syncs. There is one sync at a time,
//!    and none after one that failed; a durable write tells of itself whether it failed.
//! 2. A leader that is to sync writes by durable writes where the file has them, and then waits for nothing else that is
//!    on its way to the file; unless parts of a batch were written before without a sync: those need one.
//! 3. A leader that is done tells all whose wait is over, and one of the others, who leads unless somebody does already:
//!    nobody waits without a leader. One that fails tells all.

use super::blocks::Blocks;
use super::{BUFFER_KEPT, Piece, State, Wal};
use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::page::Lsn;
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, Ordering};

/// What a thread that waits is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Its records are durable, and all has been done that had to be done then.
    Done,
    /// To look for itself.
    Look,
}

/// A thread that waits for a leader.
#[derive(Debug, Default)]
struct Waiter {
    told: Mutex<Option<Told>>,
    changed: Condvar,
}

impl Waiter {
    fn wait(&self) -> Told {
        let mut told = self.told.lock();
        loop {
            match *told {
                Some(told) => return told,
                None => told = self.changed.wait(told),
            }
        }
    }

    fn tell(&self, what: Told) {
        *self.told.lock() = Some(what);
        self.changed.notify_one();
    }
}

/// The threads that wait for a leader to be done.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Until everything below an LSN is durable.
    durable: Vec<(Lsn, Arc<Waiter>)>,
    /// For anything else.
    others: Vec<Arc<Waiter>>,
}

impl Waiting {
    /// Takes those out whose records are durable.
    fn take_durable(&mut self, durable: Lsn) -> Vec<Arc<Waiter>> {
        self.durable.extract_if(.., |(lsn, _)| *lsn <= durable).map(|(_, waiter)| waiter).collect()
    }

    /// Takes those out who have to look: all, or all who wait for something else and one of the rest.
    fn take_lookers(&mut self, all: bool) -> Vec<Arc<Waiter>> {
        let mut lookers = std::mem::take(&mut self.others);
        let count = if all { self.durable.len() } else { self.durable.len().min(1) };
        lookers.extend(self.durable.drain(..count).map(|(_, waiter)| waiter));
        lookers
    }
}

fn tell(waiters: &[Arc<Waiter>], what: Told) {
    waiters.iter().for_each(|waiter| waiter.tell(what));
}

impl Wal {
    /// Makes everything below `lsn` durable: as the leader, or by waiting for one. Before anybody who waits like this
    /// goes on, `durable` is called with the LSN below which everything is, by this thread or another.
    pub(crate) fn flush(&self, lsn: Lsn, durable: impl FnOnce(Lsn)) -> Result<()> {
        let mut state = self.state.lock();
        loop {
            assert!(lsn <= state.end, "nobody waits for records that are not there");
            if state.durable >= lsn {
                let known = state.durable;
                drop(state);
                durable(known);
                return Ok(());
            }
            self.poison.check()?;
            if !state.leading {
                let (known, waiters) = self.lead(state, true)?;
                durable(known);
                tell(&waiters, Told::Done);
                return Ok(());
            }
            let waiter = Arc::<Waiter>::default();
            state.waiting.durable.push((lsn, Arc::clone(&waiter)));
            drop(state);
            if waiter.wait() == Told::Done {
                return Ok(());
            }
            state = self.state.lock();
        }
    }

    /// Makes the whole batch durable that has the record `lsn`, and all before it.
    pub(crate) fn flush_batch_of(&self, lsn: Lsn) -> Result<()> {
        self.lead_until(true, |state| {
            assert!(lsn < state.whole, "pages are published with their whole batch");
            state.durable_whole > lsn
        })
    }

    /// Writes what is pending when it is several parts of a batch, without a sync.
    pub(super) fn write_out(&self) -> Result<()> {
        self.lead_until(false, |state| state.pending.len() <= 4 * self.sizes.part)
    }

    /// Leads, or waits for a leader, until the state is as it should be.
    fn lead_until(&self, sync: bool, done: impl Fn(&State) -> bool) -> Result<()> {
        let mut state = self.state.lock();
        while !done(&state) {
            self.poison.check()?;
            if state.leading {
                let waiter = Arc::<Waiter>::default();
                state.waiting.others.push(Arc::clone(&waiter));
                drop(state);
                waiter.wait();
            } else {
                let (_, waiters) = self.lead(state, sync)?;
                tell(&waiters, Told::Look);
            }
            state = self.state.lock();
        }
        Ok(())
    }

    /// Writes what is pending, and, where it is to `sync`, makes it durable. There is no leader. Gives the LSN below which everything is durable, and
    /// those who waited for that, who are to be told.
    fn lead(
        &self,
        mut state: MutexGuard<'_, State>,
        sync: bool,
    ) -> Result<(Lsn, Vec<Arc<Waiter>>)> {
        state.leading = true;
        let mut bytes = std::mem::take(&mut state.pending);
        let pieces = std::mem::take(&mut state.pieces);
        let (end, whole) = (state.end, state.whole);
        let unsynced = state.unsynced && !Mutant::ForgetUnsynced.is_on();
        drop(state);
        let records = (&bytes[..], &pieces[..]);
        let done = match &self.blocks {
            _ if !sync || Mutant::SkipLogSync.is_on() => self.write_cached(records),
            Some(blocks) if !unsynced => self.write_durable(&mut blocks.lock(), records),
            _ => self.write_cached(records).and_then(|()| self.sync()),
        };
        let mut state = self.state.lock();
        state.leading = false;
        state.unsynced = !sync;
        if done.is_ok() && sync {
            (state.durable, state.durable_whole) = (end, whole);
        }
        if state.pending.is_empty() && bytes.capacity() <= BUFFER_KEPT {
            // The memory serves the next batch.
            bytes.clear();
            state.pending = bytes;
        }
        let durable = state.durable;
        let waiters = if done.is_ok() { state.waiting.take_durable(durable) } else { Vec::new() };
        let lookers = state.waiting.take_lookers(done.is_err());
        drop(state);
        tell(&lookers, Told::Look);
        done.map(|()| (durable, waiters))
    }

    fn write_cached(&self, records: (&[u8], &[Piece])) -> Result<()> {
        for (bytes, at) in pieces_of(records) {
            self.write_at(bytes, at)?;
        }
        if let Some(blocks) = &self.blocks {
            blocks.lock().forget();
        }
        Ok(())
    }

    fn write_durable(&self, blocks: &mut Blocks, records: (&[u8], &[Piece])) -> Result<()> {
        for (bytes, at) in pieces_of(records) {
            let failed = |action, e| self.poison.set(Error::io(action, &self.path, e));
            blocks.know(&*self.file, at).map_err(|e| failed("read", e))?;
            self.syncs.fetch_add(1, Ordering::Relaxed);
            blocks.write(&*self.file, bytes, at).map_err(|e| failed("write", e))?;
        }
        Ok(())
    }

    /// One at a time: a sync that fails tells its caller alone, and what it has given up counts as written for the next
    /// one, which must find the poison before it begins.
    pub(super) fn sync(&self) -> Result<()> {
        let _one = self.syncing.lock();
        self.poison.check()?;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.file.sync().map_err(|e| self.poison.set(Error::io("sync", &self.path, e)))
    }
}

/// The bytes of records, and where each part of them goes.
fn pieces_of<'a>(
    (bytes, pieces): (&'a [u8], &'a [Piece]),
) -> impl Iterator<Item = (&'a [u8], u64)> {
    let ends = pieces.iter().skip(1).map(|piece| piece.start).chain([bytes.len()]);
    pieces.iter().zip(ends).map(|(piece, end)| (&bytes[piece.start..end], piece.at))
}
