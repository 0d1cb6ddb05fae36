//! Walks: hop by hop from a node, each hop from the distinct nodes that the one before reached.

use hopdb_storage::View;
use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::ids::{Direction, NodeId, TypeId};
use crate::read::{Pair, Reader};

/// Nodes whose pairs are held in memory at once.
const NODES_AT_ONCE: usize = 1024;

/// What one hop of a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Relationships followed from the distinct nodes that the hop before reached.
    pub relationships: u64,
    /// Distinct nodes at their other ends.
    pub nodes: u64,
    /// Those of them that no earlier hop reached; the start counts as reached.
    pub new_nodes: u64,
}

/// A walk that goes on hop by hop.
#[derive(Debug)]
pub struct Walk<'v, V> {
    expander: crate::read::Expander<'v, V>,
    /// Distinct nodes that the last hop reached, ascending.
    frontier: Vec<NodeId>,
    seen: FxHashSet<NodeId>,
    pairs: Vec<Pair>,
}

impl<'v, V: View> Walk<'v, V> {
    /// A walk that stands on `start`.
    #[must_use]
    pub fn new(
        reader: Reader<'v, V>,
        start: NodeId,
        direction: Direction,
        type_id: Option<TypeId>,
    ) -> Self {
        Self {
            expander: reader.expander(direction, type_id),
            frontier: vec![start],
            seen: FxHashSet::from_iter([start]),
            pairs: Vec::new(),
        }
    }

    /// The distinct nodes that the last hop reached, ascending.
    #[must_use]
    pub fn frontier(&self) -> &[NodeId] {
        &self.frontier
    }

    /// Goes one hop further.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn hop(&mut self) -> Result<Hop> {
        let hop = self.hop_while(|| true)?;
        Ok(hop.expect("nothing stopped it"))
    }

    /// Goes one hop further as long as `go_on` says so, which is asked before each 1,024 nodes. `None` when it
    /// was stopped: the walk then stands where it stood.
    ///
    /// # Errors
    /// Failed reads, damage.
    pub fn hop_while(&mut self, mut go_on: impl FnMut() -> bool) -> Result<Option<Hop>> {
        let mut reached = FxHashSet::default();
        let mut hop = Hop::default();
        for nodes in self.frontier.chunks(NODES_AT_ONCE) {
            if !go_on() {
                return Ok(None);
            }
            self.pairs.clear();
            self.expander.expand_all(nodes, &mut self.pairs)?;
            hop.relationships += self.pairs.len() as u64;
            reached.extend(self.pairs.iter().map(|pair| pair.0));
        }
        self.frontier = reached.into_iter().collect();
        self.frontier.sort_unstable();
        hop.nodes = self.frontier.len() as u64;
        hop.new_nodes = self.frontier.iter().filter(|node| self.seen.insert(**node)).count() as u64;
        Ok(Some(hop))
    }
}
