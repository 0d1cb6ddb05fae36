//! A handle of the simulated disk: reads, writes and syncs, each a step or a read of the plan.
//!
//! No latch is held while an operation takes time: others may go on meanwhile.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::disk::check_end;
use super::inode::{Change, HandleId};
use super::names::FileId;
use super::plan::{Fate, Fault, OperationKind, Request, crash_error};
use super::{SimFs, State};
use crate::io::{BLOCK, File, LockMode};

/// An open file of the simulated disk.
#[derive(Debug)]
pub(super) struct SimFile {
    pub(super) fs: SimFs,
    pub(super) file: FileId,
    pub(super) handle: HandleId,
    pub(super) writable: bool,
}

impl SimFile {
    /// The error Linux gives for the operation on a read-only descriptor.
    fn check_writable(&self, error: Errno) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(error.into()) }
    }

    /// Changes the bytes as the plan says; gives the number of the change, and what the caller is told.
    fn write(
        &self,
        kind: OperationKind,
        buf: &[u8],
        offset: u64,
    ) -> io::Result<(u64, io::Result<()>)> {
        self.check_writable(Errno::BADF)?;
        let mut state = self.fs.state();
        let fate = state.begin(kind, self.file, offset, buf.len() as u64)?;
        check_end(offset, buf.len() as u64)?;
        let (bytes, offset, outcome) = match fate {
            Fate::Normal => (buf, offset, Ok(())),
            Fate::Misdirected(delta) => (buf, offset.saturating_add_signed(delta), Ok(())),
            Fate::Crashing => (buf, offset, Err(crash_error())),
            Fate::Failing(Fault::ShortWrite) => {
                let len = state.short_len(offset, buf.len());
                (&buf[..len], offset, Err(Fault::ShortWrite.error()))
            }
            Fate::Failing(Fault::FailedSync) if kind == OperationKind::WriteDurable => {
                (buf, offset, Err(Fault::FailedSync.error()))
            }
            Fate::Failing(fault) => return Err(fault.error()),
        };
        let change = Change::Write { offset, bytes: bytes.into() };
        let number = state.disk.change(self.file, change)?;
        if kind == OperationKind::WriteDurable {
            state.disk.file_mut(self.file).launch(number);
        }
        drop(state);
        self.fs.take_time();
        Ok((number, outcome))
    }

    /// The bytes as they are now.
    fn look(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.fs.state();
        state.plan.alive()?;
        Ok(state.disk.file(self.file).cached.read(buf, offset))
    }
}

impl File for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = buf.len() as u64;
        {
            let mut state = self.fs.state();
            let State { disk, plan, .. } = &mut *state;
            let inode = disk.file(self.file);
            let kind = OperationKind::Read;
            plan.begin_read(Request { kind, path: &inode.label, offset, len })?;
            check_end(offset, len)?;
            let end = offset + len;
            if inode.unreadable.iter().any(|range| range.start < end && offset < range.end) {
                return Err(Fault::Eio.error());
            }
        }
        // In two looks: a write between them shows.
        let (first, second) = buf.split_at_mut(buf.len() / 2);
        let got = self.look(first, offset)?;
        if got < first.len() {
            return Ok(got);
        }
        self.fs.take_time();
        Ok(got + self.look(second, offset + got as u64)?)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.write(OperationKind::Write, buf, offset)?.1
    }

    fn has_durable_writes(&self) -> bool {
        self.fs.state().disk.durable_writes
    }

    fn write_durable(&self, blocks: &[u8], offset: u64) -> io::Result<()> {
        let unit = BLOCK as u64;
        assert!(offset.is_multiple_of(unit) && blocks.len().is_multiple_of(BLOCK), "whole blocks");
        assert_eq!(blocks.as_ptr().align_offset(BLOCK), 0, "memory of whole blocks");
        let (number, outcome) = self.write(OperationKind::WriteDurable, blocks, offset)?;
        let mut state = self.fs.state();
        // A crash meanwhile leaves the change pending: it may be lost, or torn.
        state.plan.alive()?;
        let file = state.disk.file_mut(self.file);
        file.land(number, outcome.is_ok());
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        let (fate, changes) = {
            let mut state = self.fs.state();
            let fate = state.begin(OperationKind::Sync, self.file, 0, 0)?;
            (fate, state.disk.changes)
        };
        self.fs.take_time();
        let mut state = self.fs.state();
        // A crash during the sync leaves the changes pending: any of them may survive.
        if fate == Fate::Crashing || state.plan.crashed {
            return Err(crash_error());
        }
        let file = state.disk.file_mut(self.file);
        match fate {
            Fate::Failing(fault) => {
                file.forget_dirty(changes);
                Err(fault.error())
            }
            _ => {
                file.sync(changes);
                Ok(())
            }
        }
    }

    fn len(&self) -> io::Result<u64> {
        let state = self.fs.state();
        state.plan.alive()?;
        Ok(state.disk.file(self.file).cached.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable(Errno::INVAL)?;
        self.fs.state().length_step(OperationKind::SetLen, self.file, Change::SetLen(len))
    }

    fn reserve(&self, len: u64) -> io::Result<()> {
        self.check_writable(Errno::BADF)?;
        self.fs.state().length_step(OperationKind::Reserve, self.file, Change::Reserve(len))
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let mut state = self.fs.state();
        state.plan.alive()?;
        Ok(state.disk.file_mut(self.file).try_lock(self.handle, mode))
    }

    fn lock_holder(&self) -> Option<u32> {
        None
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        let file = self.file;
        self.fs.state().name_step(OperationKind::Link, path, |disk| disk.link(file, path))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.fs.state().disk.close_handle(self.file, self.handle);
    }
}
