//! What is to be loaded, how it goes, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use super::rows::Dialect;

/// Files of nodes that share a header.
#[derive(Clone, Debug, Default)]
pub struct NodeFiles {
    /// Labels that every node of the files gets, besides those of a `:LABEL` column.
    pub labels: Vec<String>,
    /// The files; the first begins with the header.
    pub files: Vec<PathBuf>,
}

/// Files of relationships that share a header.
#[derive(Clone, Debug, Default)]
pub struct RelationshipFiles {
    /// Type of every relationship whose `:TYPE` column is missing or empty.
    pub relationship_type: Option<String>,
    /// The files; the first begins with the header.
    pub files: Vec<PathBuf>,
}

/// An index to be made with the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFor {
    /// Label of the nodes.
    pub label: String,
    /// Their property.
    pub property: String,
    /// Whether no two of the nodes may have the same value.
    pub unique: bool,
}

/// A whole load.
#[derive(Clone, Debug, Default)]
pub struct LoadPlan {
    /// Groups of node files, in the order in which nodes are numbered.
    pub nodes: Vec<NodeFiles>,
    /// Groups of relationship files.
    pub relationships: Vec<RelationshipFiles>,
    /// How fields are separated.
    pub dialect: Dialect,
    /// Indexes over the loaded nodes.
    pub indexes: Vec<IndexFor>,
}

/// What a load is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Reading nodes.
    Nodes,
    /// Reading relationships.
    Relationships,
    /// Sorting relationships and index entries, writing tables.
    Building,
    /// Writing what is left and syncing the file.
    Syncing,
}

/// How far a load is: written by the load, read by whoever shows it; and the way to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    bytes_read: Arc<AtomicU64>,
    nodes: AtomicU64,
    relationships: AtomicU64,
    stopped: AtomicBool,
}

impl Progress {
    /// What the load is busy with.
    #[must_use]
    pub fn phase(&self) -> Phase {
        [Phase::Nodes, Phase::Relationships, Phase::Building, Phase::Syncing]
            .into_iter()
            .find(|phase| *phase as u8 == self.phase.load(Ordering::Relaxed))
            .unwrap_or(Phase::Syncing)
    }

    /// Bytes of the files read so far, packed ones as they are.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Nodes read so far.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Relationships read so far.
    #[must_use]
    pub fn relationships(&self) -> u64 {
        self.relationships.load(Ordering::Relaxed)
    }

    /// Asks the load to stop: it ends soon with an error and leaves nothing behind.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    pub(super) fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }

    pub(super) fn set_relationships(&self, relationships: u64) {
        self.relationships.store(relationships, Ordering::Relaxed);
    }
}

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Nodes loaded.
    pub nodes: u64,
    /// Relationships loaded.
    pub relationships: u64,
    /// Bytes of the database file.
    pub file_bytes: u64,
    /// Pages of the database file read.
    pub pages_read: u64,
    /// Pages of the database file written.
    pub pages_written: u64,
    /// Pages of the database file.
    pub pages: u64,
    /// Time from the start until the file was durable under its name.
    pub time: Duration,
    /// The same by phase, in order: nodes, relationships, building, syncing.
    pub phases: [Duration; 4],
}
