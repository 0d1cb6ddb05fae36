//! A small file system: the only way the engine touches files, clocks and threads.
//!
//! [`real`] is the operating system; [`sim`] is a simulated disk that loses, tears and fails.
//! What is assumed of a disk stands in `docs/file-format.md`.

pub mod real;
pub mod sim;

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::sync::Arc;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Existing file, for reading.
    ReadOnly,
    /// Existing file, for reading and writing.
    ReadWrite,
    /// New file, for reading and writing; fails with `AlreadyExists` when the name is taken.
    CreateNew,
}

/// How a file is locked: by one writer or by many readers. Locks end with the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Many holders, none of them exclusive.
    Shared,
    /// One holder.
    Exclusive,
}

/// The file system and the clock. A name (a directory entry) is durable only after [`FileSystem::sync_dir`].
pub trait FileSystem: Send + Sync + Debug {
    /// Opens or creates `path`.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>>;
    /// Makes a file in `dir` that has no name yet: it is gone with its last handle unless [`File::link`] names it.
    fn create_unnamed(&self, dir: &Path) -> io::Result<Arc<dyn File>>;
    /// Removes the name `path`; open handles go on.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Renames `from` to `to`, replacing `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Whether `path` names a file.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Makes the names in `dir` durable. An empty path is the current directory.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Time since some fixed moment, never going back.
    fn now(&self) -> Duration;
    /// Lets other threads run: used between retries of a short wait.
    fn yield_now(&self);
    /// Whether work in the background has threads of its own. Otherwise whoever gives cause for it does a part of it:
    /// simulations, where the order of all calls must be that of the seed.
    fn has_threads(&self) -> bool {
        true
    }
}

/// Reserves a file up to `len` bytes, and on to a multiple of `step` when the disk has the space; gives how far.
pub(crate) fn reserve_ahead(file: &dyn File, len: u64, step: u64) -> io::Result<u64> {
    let ahead = len.next_multiple_of(step);
    match file.reserve(ahead) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => file.reserve(len).map(|()| len),
        done => done.map(|()| ahead),
    }
}

/// What the offsets, the lengths and the addresses in memory of durable writes are multiples of, in bytes.
pub const BLOCK: usize = 4096;

/// `len` bytes of this memory, more of which is taken where it is too short, at an address that durable writes can take.
pub(crate) fn aligned(memory: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if memory.len() < len + BLOCK {
        memory.resize(len + BLOCK, 0);
    }
    let start = memory.as_ptr().align_offset(BLOCK);
    &mut memory[start..start + len]
}

/// An open file. All access is positional, so that any number of threads share one handle.
pub trait File: Send + Sync + Debug {
    /// Reads until `buf` is full or the file ends; gives the bytes read.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `buf`, growing the file when it ends before.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Makes all bytes written before, and the length, durable.
    fn sync(&self) -> io::Result<()>;
    /// Whether there is [`File::write_durable`].
    fn has_durable_writes(&self) -> bool {
        false
    }
    /// Writes all of `blocks`, which are durable when this returns, and nothing else of the file is. Offset, length and
    /// address are multiples of [`BLOCK`]. When it fails, any part of them may be there, or be there after a crash.
    fn write_durable(&self, _blocks: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts or extends (with zeros) to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes sure that writes below `len` bytes will not run out of space; extends the file with zeros to `len`
    /// when it is shorter. Fails with `StorageFull`.
    fn reserve(&self, len: u64) -> io::Result<()>;
    /// Says that these bytes will be read soon, so that the system can begin; nothing depends on it.
    fn will_need(&self, _offset: u64, _len: u64) {}
    /// Takes the lock without waiting; `false` when another open handle holds it in a conflicting way.
    fn try_lock(&self, mode: LockMode) -> io::Result<bool>;
    /// The process that holds a lock of the file, where the system tells; another handle of this process counts.
    fn lock_holder(&self) -> Option<u32>;
    /// Gives an unnamed file the name `path`; fails with `AlreadyExists` when the name is taken.
    fn link(&self, path: &Path) -> io::Result<()>;
}
