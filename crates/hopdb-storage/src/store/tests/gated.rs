//! A simulated disk whose syncs of one file wait, pass or fail as a test says.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::io::sim::SimFs;
use crate::io::{File, FileSystem, LockMode, OpenMode};
use crate::sync::{Arc, Condvar, Mutex};

/// What a sync of the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syncs {
    Pass,
    /// The one that waits passes, the next one waits.
    PassOne,
    Wait,
    /// One waits.
    Held,
    Fail,
}

/// Durable writes of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DurableWrites {
    None,
    /// They pass, whatever syncs do.
    Pass,
    /// They do what syncs do.
    Gated,
}

/// Holds up the syncs.
#[derive(Debug)]
pub(super) struct Gate {
    syncs: Mutex<Syncs>,
    changed: Condvar,
    /// How the name of the file ends.
    name: &'static str,
}

impl Gate {
    pub(super) fn set(&self, syncs: Syncs) {
        *self.syncs.lock() = syncs;
        self.changed.notify_all();
    }

    /// Lets one sync pass, and returns when it has.
    pub(super) fn let_one_pass(&self) {
        self.set(Syncs::PassOne);
        let mut syncs = self.syncs.lock();
        while *syncs == Syncs::PassOne {
            syncs = self.changed.wait(syncs);
        }
    }

    /// Returns when a sync waits.
    pub(super) fn until_held(&self) {
        let mut syncs = self.syncs.lock();
        while *syncs != Syncs::Held {
            syncs = self.changed.wait(syncs);
        }
    }

    fn pass(&self) -> io::Result<()> {
        let mut syncs = self.syncs.lock();
        while matches!(*syncs, Syncs::Wait | Syncs::Held) {
            if *syncs == Syncs::Wait {
                *syncs = Syncs::Held;
                self.changed.notify_all();
            }
            syncs = self.changed.wait(syncs);
        }
        if *syncs == Syncs::PassOne {
            *syncs = Syncs::Wait;
            self.changed.notify_all();
        }
        if *syncs == Syncs::Fail { Err(io::Error::other("no disk any more")) } else { Ok(()) }
    }
}

/// A simulated disk behind the gate.
#[derive(Clone, Debug)]
pub(super) struct GatedFs {
    pub(super) disk: SimFs,
    pub(super) gate: Arc<Gate>,
    pub(super) durable_writes: DurableWrites,
}

#[derive(Debug)]
struct GatedFile {
    file: Arc<dyn File>,
    gate: Option<Arc<Gate>>,
    durable_writes: DurableWrites,
}

impl GatedFs {
    /// An empty disk, all of whose syncs pass; those of the file whose name ends so can be held up.
    pub(super) fn new(name: &'static str) -> Self {
        let gate = Gate { syncs: Mutex::new(Syncs::Pass), changed: Condvar::new(), name };
        Self { disk: SimFs::new(1), gate: Arc::new(gate), durable_writes: DurableWrites::None }
    }
}

impl FileSystem for GatedFs {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let is_gated = path.to_string_lossy().ends_with(self.gate.name);
        let gate = is_gated.then(|| Arc::clone(&self.gate));
        let (file, durable_writes) = (self.disk.open(path, mode)?, self.durable_writes);
        Ok(Arc::new(GatedFile { file, gate, durable_writes }))
    }

    fn create_unnamed(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.disk.create_unnamed(dir)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }

    fn now(&self) -> Duration {
        self.disk.now()
    }

    fn yield_now(&self) {
        self.disk.yield_now();
    }
}

impl File for GatedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(buf, offset)
    }

    fn sync(&self) -> io::Result<()> {
        if let Some(gate) = &self.gate {
            gate.pass()?;
        }
        self.file.sync()
    }

    fn has_durable_writes(&self) -> bool {
        self.durable_writes != DurableWrites::None
    }

    fn write_durable(&self, blocks: &[u8], offset: u64) -> io::Result<()> {
        if let Some(gate) =
            self.gate.as_ref().filter(|_| self.durable_writes == DurableWrites::Gated)
        {
            gate.pass()?;
        }
        self.file.write_durable(blocks, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn reserve(&self, len: u64) -> io::Result<()> {
        self.file.reserve(len)
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.file.try_lock(mode)
    }

    fn lock_holder(&self) -> Option<u32> {
        self.file.lock_holder()
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        self.file.link(path)
    }
}
