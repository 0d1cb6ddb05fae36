//! How far an export is: written by it, read by whoever shows it; and the way to stop it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::{GraphError, Result};

/// What an export is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Looking at all values, for the columns that hold them.
    Looking,
    /// Writing nodes.
    Nodes,
    /// Writing relationships, then syncing.
    Relationships,
}

/// How far an export is.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    nodes: AtomicU64,
    relationships: AtomicU64,
    stopped: AtomicBool,
}

// Numbers for a progress bar, and a wish to stop: nothing is ordered by them.
impl Progress {
    /// What the export is busy with.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Looking,
            1 => Phase::Nodes,
            _ => Phase::Relationships,
        }
    }

    /// Nodes looked at and nodes written, together: each counts twice in the end.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Relationships looked at and relationships written, together.
    #[must_use]
    pub fn relationships(&self) -> u64 {
        self.relationships.load(Ordering::Relaxed)
    }

    /// Asks the export to stop: it ends soon with an error and leaves nothing behind.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(super) fn count_node(&self) -> Result<()> {
        self.nodes.fetch_add(1, Ordering::Relaxed);
        self.go_on()
    }

    pub(super) fn count_relationship(&self) -> Result<()> {
        self.relationships.fetch_add(1, Ordering::Relaxed);
        self.go_on()
    }

    fn go_on(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) { Err(GraphError::Interrupted) } else { Ok(()) }
    }
}
