//! Savepoints against a stack of maps, and handles that outlive what they lead to.

use super::*;
use crate::Savepoint;

type State = BTreeMap<&'static str, Content>;

const TABLES: [&str; 3] = ["s", "t", "u"];

/// A transaction beside its model.
struct Nested {
    txn: WriteTxn,
    state: State,
    open: Vec<(Savepoint, State)>,
    gone: Vec<Savepoint>,
}

impl Nested {
    fn begin(store: &Store, state: State) -> Self {
        Self { txn: store.write().unwrap(), state, open: Vec::new(), gone: Vec::new() }
    }

    fn act(&mut self, random: &mut fastrand::Rng) {
        match random.u8(0..100) {
            0..8 => self.open.push((self.txn.savepoint().unwrap(), self.state.clone())),
            8..13 if !self.open.is_empty() => {
                let at = random.usize(0..self.open.len());
                self.txn.rollback_to(self.open[at].0).unwrap();
                self.state = self.open[at].1.clone();
                self.gone.extend(self.open.drain(at + 1..).map(|(savepoint, _)| savepoint));
            }
            13..17 if !self.open.is_empty() => {
                let at = random.usize(0..self.open.len());
                self.txn.release(self.open[at].0).unwrap();
                self.gone.extend(self.open.drain(at..).map(|(savepoint, _)| savepoint));
            }
            17 if !self.gone.is_empty() => {
                let gone = self.gone[random.usize(0..self.gone.len())];
                let refused = [self.txn.rollback_to(gone), self.txn.release(gone)];
                assert!(refused.iter().all(|done| matches!(done, Err(Error::SavepointMissing))));
            }
            18..20 => self.look(),
            _ => self.change(random),
        }
    }

    fn look(&self) {
        assert_eq!(self.txn.tables().unwrap(), self.state.keys().copied().collect::<Vec<_>>());
        assert!(self.state.iter().all(|(name, entries)| content(&self.txn, name) == *entries));
    }

    fn change(&mut self, random: &mut fastrand::Rng) {
        let name = TABLES[random.usize(0..TABLES.len())];
        let Some(entries) = self.state.get_mut(name) else {
            let table = self.txn.create_table(name).unwrap();
            let mut entries = Content::new();
            if random.bool() {
                let mut bulk = self.txn.bulk(table).unwrap();
                for n in 0..random.u32(0..400) {
                    let value = vec![byte(n); random.usize(0..200)];
                    bulk.push(&mut self.txn, &number(n), &value).unwrap();
                    entries.insert(number(n).to_vec(), value);
                }
                bulk.finish(&mut self.txn).unwrap();
            }
            self.state.insert(name, entries);
            return;
        };
        let table = self.txn.table(name).unwrap().unwrap();
        let first = random.u32(0..400);
        match random.u8(0..100) {
            0..3 => {
                self.txn.drop_table(name).unwrap();
                self.state.remove(name);
            }
            3..8 => {
                let (low, high) = (number(first), number(first + 60));
                let range = (Bound::Included(&low[..]), Bound::Excluded(&high[..]));
                self.txn.delete_range(table, range.0, range.1).unwrap();
                entries.retain(|key, _| !(low[..] <= key[..] && key[..] < high[..]));
            }
            8..30 => {
                let found = self.txn.delete(table, &number(first)).unwrap();
                assert_eq!(found, entries.remove(&number(first)[..]).is_some());
            }
            _ => {
                let len = if random.u8(0..8) == 0 { 20_000 } else { 200 };
                let value = vec![random.u8(..); random.usize(0..len)];
                self.txn.put(table, &number(first), &value).unwrap();
                entries.insert(number(first).to_vec(), value);
            }
        }
    }
}

#[test]
fn nested_savepoints_agree_with_a_stack_of_maps() {
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (_fs, store) = new_store(&frames([4, 16, 64][random.usize(0..3)]));
        let mut state = State::new();
        for _ in 0..12 {
            let mut nested = Nested::begin(&store, state.clone());
            (0..random.u32(1..200)).for_each(|_| nested.act(&mut random));
            nested.look();
            if random.u8(0..4) > 0 {
                nested.txn.commit().unwrap();
                state = nested.state;
            } else {
                drop(nested);
            }
            let snapshot = store.read();
            assert_eq!(snapshot.tables().unwrap(), state.keys().copied().collect::<Vec<_>>());
            assert!(state.iter().all(|(name, entries)| content(&snapshot, name) == *entries));
            drop(snapshot);
            assert_sound(&store);
        }
    }
}

#[test]
fn a_savepoint_of_another_transaction_is_refused() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let other = txn.savepoint().unwrap();
    drop(txn);
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    txn.savepoint().unwrap();
    txn.put(table, b"a", b"1").unwrap();
    assert!(matches!(txn.rollback_to(other), Err(Error::SavepointMissing)));
    assert!(matches!(txn.release(other), Err(Error::SavepointMissing)));
    txn.commit().unwrap();
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), b"1");
}

/// Whatever is done with the handle of a table that was rolled back, other tables stay as they are.
#[test]
fn a_table_that_was_rolled_back_is_refused_and_does_no_harm() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let savepoint = txn.savepoint().unwrap();
    let lost = txn.create_table("lost").unwrap();
    let mut empty = txn.bulk(lost).unwrap();
    txn.rollback_to(savepoint).unwrap();
    let table = txn.create_table("t").unwrap();
    assert_ne!(table, lost, "its root is not used again");
    let large = vec![1; 50_000];
    let refusals = [
        txn.put(lost, b"a", b"1").map(drop),
        txn.put(lost, b"a", &large).map(drop),
        txn.delete(lost, b"a").map(drop),
        txn.delete_range(lost, Bound::Unbounded, Bound::Unbounded).map(drop),
        txn.bulk(lost).map(drop),
        empty.push(&mut txn, b"a", &large),
        txn.get(lost, b"a").map(drop),
        txn.cursor(lost).first().map(drop),
    ];
    for refused in refusals {
        assert!(matches!(refused, Err(Error::RolledBack(_))), "{refused:?}");
    }
    txn.put(table, b"b", b"2").unwrap();
    txn.commit().unwrap();
    assert_eq!(content(&store.read(), "t").len(), 1);
    assert_sound(&store);
    // The root is free for the next transaction.
    let pages = store.file_bytes().unwrap();
    put(&store, "v", b"a", b"1");
    assert_eq!(store.file_bytes().unwrap(), pages);
}

#[test]
fn a_bulk_load_does_not_outlive_its_savepoint() {
    let (_fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    let savepoint = txn.savepoint().unwrap();
    let mut bulk = txn.bulk(table).unwrap();
    for n in 0..1000 {
        bulk.push(&mut txn, &number(n), &[1; 100]).unwrap();
    }
    assert!(matches!(txn.savepoint(), Err(Error::LoadUnfinished)));
    txn.rollback_to(savepoint).unwrap();
    assert!(matches!(bulk.push(&mut txn, &number(1000), b""), Err(Error::RolledBack(_))));
    assert!(matches!(bulk.finish(&mut txn), Err(Error::RolledBack(_))));
    txn.put(table, b"a", b"1").unwrap();
    txn.commit().unwrap();
    assert_eq!(content(&store.read(), "t").len(), 1);
    assert_sound(&store);
}

/// An operation that failed half-way is undone by going back, and the transaction goes on.
#[test]
fn going_back_heals_a_failed_operation() {
    let (fs, store) = new_store(&frames(4));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..3000 {
        txn.put(table, &number(n), &[1; 100]).unwrap();
    }
    txn.commit().unwrap();
    store.clear_cache().unwrap();
    let mut txn = store.write().unwrap();
    txn.put(table, &number(5000), b"kept").unwrap();
    let savepoint = txn.savepoint().unwrap();
    fs.fail_read_at(fs.reads() + 5);
    txn.delete_range(table, Bound::Included(&number(100)), Bound::Unbounded).unwrap_err();
    assert!(matches!(txn.savepoint(), Err(Error::CannotCommit(_))));
    txn.rollback_to(savepoint).unwrap();
    txn.put(table, &number(5001), b"too").unwrap();
    txn.commit().unwrap();
    assert_eq!(content(&store.read(), "t").len(), 3002);
    assert_sound(&store);
}
