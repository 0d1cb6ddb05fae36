//! Nodes with tens of thousands of relationships: blocks that split, lose their first pair, and empty.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use hopdb::{Database, Direction, NodeId, Options, RelationshipId, Snapshot};

const SPOKES: u64 = 20_000;

struct Hub {
    database: Database,
    hub: NodeId,
    outgoing: BTreeSet<(NodeId, RelationshipId)>,
    incoming: BTreeSet<(NodeId, RelationshipId)>,
    random: fastrand::Rng,
}

impl Hub {
    fn new(folder: &tempfile::TempDir, seed: u64) -> Self {
        let database = Database::create(folder.path().join("x.hop"), &Options::default()).unwrap();
        let mut txn = database.write().unwrap();
        for _ in 0..SPOKES {
            txn.create_node(&[], &[]).unwrap();
        }
        txn.commit().unwrap();
        let (outgoing, incoming) = (BTreeSet::new(), BTreeSet::new());
        let random = fastrand::Rng::with_seed(seed);
        Self { database, hub: NodeId(SPOKES / 2), outgoing, incoming, random }
    }

    /// Neighbours in any order, some of them often, the hub itself among them; lists of another type beside.
    fn grow(&mut self, count: u64) {
        let mut txn = self.database.write().unwrap();
        for step in 0..count {
            let spoke = NodeId(match step % 4 {
                0 => self.random.u64(0..SPOKES),
                // Before all others, again and again.
                1 => SPOKES - 1 - step * SPOKES / count,
                2 => step * SPOKES / count,
                _ => self.random.u64(0..5) + self.hub.0,
            });
            if step % 2 == 0 {
                let row = txn.create_relationship(self.hub, "R", spoke, &[]).unwrap();
                self.outgoing.insert((spoke, row));
                if spoke == self.hub {
                    self.incoming.insert((self.hub, row));
                }
            } else {
                let row = txn.create_relationship(spoke, "R", self.hub, &[]).unwrap();
                self.incoming.insert((spoke, row));
                if spoke == self.hub {
                    self.outgoing.insert((self.hub, row));
                }
            }
            if step % 64 == 0 {
                txn.create_relationship(self.hub, "Beside", spoke, &[]).unwrap();
            }
        }
        txn.commit().unwrap();
    }

    /// Deletes those that `gone` names.
    fn shrink(&mut self, mut gone: impl FnMut(&mut fastrand::Rng, NodeId, RelationshipId) -> bool) {
        let mut txn = self.database.write().unwrap();
        let all: BTreeSet<_> = self.outgoing.union(&self.incoming).copied().collect();
        for (spoke, row) in all {
            if gone(&mut self.random, spoke, row) {
                txn.delete_relationship(row).unwrap();
                self.outgoing.remove(&(spoke, row));
                self.incoming.remove(&(spoke, row));
            }
        }
        txn.commit().unwrap();
    }

    fn compare(&self) -> Snapshot {
        let snapshot = self.database.read().unwrap();
        let reader = snapshot.reader();
        let type_id = reader.catalog().relationship_type("R");
        let sides = [(Direction::Outgoing, &self.outgoing), (Direction::Incoming, &self.incoming)];
        for (direction, expected) in sides {
            let mut pairs = Vec::new();
            let mut expander = reader.expander(direction, type_id);
            expander.expand(self.hub, &mut pairs).unwrap();
            assert!(pairs.iter().eq(expected.iter()), "{direction:?}");
            assert_eq!(expander.degree(self.hub).unwrap(), expected.len() as u64);
        }
        let report = snapshot.check().unwrap();
        assert!(report.is_clean(), "{:?} {:?}", report.problems, report.store.problems);
        snapshot
    }
}

#[test]
fn a_hub_grows_shrinks_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut hub = Hub::new(&folder, 1);
    hub.grow(20_000);
    hub.compare();
    // Every first pair of a block goes sooner or later, and whole blocks in the middle.
    hub.shrink(|random, spoke, _| random.u8(0..3) == 0 || (5_000..6_000).contains(&spoke.0));
    let before = hub.compare();
    hub.grow(4_000);
    hub.compare();
    let kept = before.reader().expander(Direction::Both, None).degree(hub.hub).unwrap();
    let mut txn = hub.database.write().unwrap();
    txn.detach_delete_node(hub.hub).unwrap();
    txn.commit().unwrap();
    hub.outgoing.clear();
    hub.incoming.clear();
    let after = hub.compare();
    assert_eq!(after.reader().catalog().relationship_count(), 0);
    // The snapshot from before still has them all.
    assert_eq!(before.reader().expander(Direction::Both, None).degree(hub.hub).unwrap(), kept);
    assert!(before.check().unwrap().is_clean());
}
