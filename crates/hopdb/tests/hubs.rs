//! Nodes with tens of thousands of relationships: blocks that split, lose their first pair, and empty.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use hopdb::{Database, Direction, NodeId, Options, Part, RelationshipId, Snapshot, Walk};

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

    /// Degrees, and the relationships in parts that begin inside of blocks and at their ends.
    fn compare_parts(
        &self,
        snapshot: &Snapshot,
        direction: Direction,
        expected: &BTreeSet<(NodeId, RelationshipId)>,
    ) {
        let reader = snapshot.reader();
        let type_id = reader.catalog().relationship_type("R");
        let degrees = reader.degrees(self.hub).unwrap();
        let outgoing = direction == Direction::Outgoing;
        let degree = degrees
            .iter()
            .find(|degree| (degree.outgoing, Some(degree.type_id)) == (outgoing, type_id));
        assert_eq!(degree.map_or(0, |degree| degree.relationships), expected.len() as u64);
        let mut after = None;
        let mut rest = expected.iter();
        loop {
            let part = Part { after, limit: 333 };
            let part = reader.adjacent_part(self.hub, (direction, type_id), part).unwrap();
            let pairs = part.iter().map(|found| (found.neighbour, found.relationship));
            assert!(pairs.eq(rest.by_ref().take(part.len()).copied()), "{direction:?}");
            after = part.last().copied();
            if part.len() < 333 {
                break;
            }
        }
        assert_eq!(rest.next(), None, "{direction:?}");
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
            self.compare_parts(&snapshot, direction, expected);
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

#[test]
fn a_walk_stops_when_told_and_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let mut hub = Hub::new(&folder, 2);
    hub.grow(20_000);
    let snapshot = hub.database.read().unwrap();
    let walk = || Walk::new(snapshot.reader(), hub.hub, Direction::Both, None);
    let mut whole = walk();
    let hops = [whole.hop().unwrap(), whole.hop().unwrap()];
    let mut stopped = walk();
    assert_eq!(stopped.hop_while(|| true).unwrap(), Some(hops[0]));
    // More than 2,000 nodes: asked three times at least.
    let mut left = 2;
    let go_on = || {
        left -= 1;
        left >= 0
    };
    assert_eq!(stopped.hop_while(go_on).unwrap(), None);
    assert_eq!(left, -1);
    assert_eq!(stopped.hop_while(|| true).unwrap(), Some(hops[1]));
    assert_eq!(stopped.frontier(), whole.frontier());
}

#[test]
fn pages_that_somebody_holds_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut hub = Hub::new(&folder, 3);
    hub.grow(2_000);
    assert_eq!(hub.database.pinned_pages(), 0);
    let snapshot = hub.database.read().unwrap();
    let mut expander = snapshot.reader().expander(Direction::Both, None);
    expander.degree(hub.hub).unwrap();
    // A cursor keeps the leaf that it stands in, and the branches above it.
    let held = hub.database.pinned_pages();
    assert!((1..10).contains(&held), "{held}");
    drop(expander);
    assert_eq!(hub.database.pinned_pages(), 0);
}
