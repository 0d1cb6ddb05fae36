//! Pages that memory has no room for, in a file without a name beside the database.
//!
//! The file is made when the first page comes, and is gone with its owner: nothing here is durable, and nothing of it is
//! left after a crash. **Words.** *Slot*: place of a page in the file; slots serve again.
//!
//! **Invariants.**
//! 1. A page read back is verified by a sum that stayed in memory, so that neither a damaged page nor that of another
//!    slot is ever given out.
//! 2. Giving a slot back allocates nothing and does no I/O (I13).
//! 3. The latch is not held across a read or a write of a page.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::io::{File, FileSystem};
use crate::sync::{Arc, Mutex};

/// Where a page lies, and the sum of its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    index: u64,
    sum: u64,
}

#[derive(Debug, Default)]
struct State {
    file: Option<Arc<dyn File>>,
    slots: u64,
    /// Slots not in use. Has room for all there are.
    free: Vec<u64>,
}

/// The file, or that there is none yet.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The database that it belongs to.
    path: PathBuf,
    page_size: usize,
    state: Mutex<State>,
}

impl Scratch {
    /// No file yet. It will lie beside `path` and take pages of `page_size` bytes.
    pub(crate) fn new(path: &Path, page_size: usize) -> Self {
        Self { path: path.to_path_buf(), page_size, state: Mutex::default() }
    }

    /// Pages in the file.
    pub(crate) fn used(&self) -> usize {
        let state = self.state.lock();
        crate::codec::num::to_usize(state.slots) - state.free.len()
    }

    /// Writes a page into a slot. On an error nothing is changed.
    pub(crate) fn write(&self, fs: &dyn FileSystem, bytes: &[u8]) -> Result<Slot> {
        assert_eq!(bytes.len(), self.page_size, "slots are pages");
        let (file, index) = self.take_slot(fs)?;
        match file.write_at(bytes, index * self.page_size as u64) {
            Ok(()) => Ok(Slot { index, sum: xxh3_64_with_seed(bytes, index) }),
            Err(error) => {
                self.state.lock().free.push(index);
                Err(self.error("write", error))
            }
        }
    }

    fn take_slot(&self, fs: &dyn FileSystem) -> Result<(Arc<dyn File>, u64)> {
        let mut state = self.state.lock();
        let file = match &state.file {
            Some(file) => Arc::clone(file),
            None => {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                let file = fs.create_unnamed(folder).map_err(|e| self.error("make", e))?;
                Arc::clone(state.file.insert(file))
            }
        };
        let index = match state.free.pop() {
            Some(index) => index,
            None => {
                state.slots += 1;
                let room = crate::codec::num::to_usize(state.slots) - state.free.len();
                state.free.reserve(room);
                state.slots - 1
            }
        };
        Ok((file, index))
    }

    /// Reads a page back.
    pub(crate) fn read(&self, slot: Slot) -> Result<Box<[u8]>> {
        let file = self.state.lock().file.clone().expect("a slot is in a file");
        let mut bytes = vec![0; self.page_size].into_boxed_slice();
        file.read_at(&mut bytes, slot.index * self.page_size as u64)
            .map_err(|e| self.error("read back", e))?;
        if xxh3_64_with_seed(&bytes, slot.index) != slot.sum {
            let error = IoError::new(ErrorKind::InvalidData, "a page is not what was written");
            return Err(self.error("read back", error));
        }
        Ok(bytes)
    }

    /// Gives a slot back.
    pub(crate) fn free(&self, slot: Slot) {
        self.state.lock().free.push(slot.index);
    }

    /// Lets the file go when no page is in it, and with it its space on the disk.
    pub(crate) fn trim(&self) {
        let mut state = self.state.lock();
        if state.free.len() as u64 == state.slots {
            *state = State::default();
        }
    }

    fn error(&self, action: &str, source: IoError) -> Error {
        Error::io(format!("{action} the scratch file beside"), &self.path, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sim::{Fault, SimFs};

    fn page(byte: u8) -> Vec<u8> {
        vec![byte; 4096]
    }

    #[test]
    fn slots_serve_again_and_the_file_goes_with_the_last_page() {
        let fs = SimFs::new(1);
        let scratch = Scratch::new(Path::new("x.hop"), 4096);
        let slots: Vec<Slot> = (0..9).map(|n| scratch.write(&fs, &page(n)).unwrap()).collect();
        scratch.free(slots[3]);
        let again = scratch.write(&fs, &page(77)).unwrap();
        assert_eq!((again.index, scratch.used()), (3, 9));
        assert_eq!(*scratch.read(again).unwrap(), page(77));
        assert_eq!(*scratch.read(slots[8]).unwrap(), page(8));
        scratch.trim();
        assert_eq!(scratch.used(), 9, "pages are in it");
        slots.iter().for_each(|slot| scratch.free(*slot));
        scratch.trim();
        assert_eq!(scratch.write(&fs, &page(1)).unwrap().index, 0);
        assert!(fs.paths().is_empty(), "it has no name");
    }

    #[test]
    fn another_page_in_the_slot_is_an_error() {
        let fs = SimFs::new(1);
        let scratch = Scratch::new(Path::new("x.hop"), 4096);
        let slot = scratch.write(&fs, &page(1)).unwrap();
        scratch.free(slot);
        scratch.write(&fs, &page(2)).unwrap();
        assert!(matches!(scratch.read(slot), Err(Error::Io { .. })));
    }

    #[test]
    fn a_failed_write_leaves_the_slot_free() {
        let fs = SimFs::new(1);
        let scratch = Scratch::new(Path::new("x.hop"), 4096);
        for fault in [Fault::Eio, Fault::NoSpace, Fault::ShortWrite] {
            scratch.write(&fs, &page(1)).map(|slot| scratch.free(slot)).unwrap();
            fs.fail_at(fs.steps() + 1, fault);
            assert!(matches!(scratch.write(&fs, &page(2)), Err(Error::Io { .. })));
            assert_eq!(scratch.used(), 0);
        }
    }
}
