//! What a store should hold: a sorted map for each table, with values named by a few numbers.
//!
//! A state of the model is cheap to copy, so one can be kept for each commit and each snapshot.

use std::collections::BTreeMap;

use hopdb_storage::{Result, Savepoint, View, WriteTxn};

use super::Trouble;
use super::workload::Change;

/// A value, made of its length and a number to draw its bytes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Bytes.
    pub len: usize,
    /// Seed of the bytes.
    pub tag: u64,
}

impl Value {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len];
        fastrand::Rng::with_seed(self.tag).fill(&mut bytes);
        bytes
    }
}

/// What one table holds.
pub type Entries = BTreeMap<Vec<u8>, Value>;

/// What a store holds as of one commit.
pub type Tables = BTreeMap<String, Entries>;

/// Holds a view against the model: the first difference, if there is one.
///
/// # Errors
/// Failed reads.
pub fn difference(view: &impl View, model: &Tables) -> Result<Option<String>> {
    let names: Vec<String> = model.keys().cloned().collect();
    let found = view.tables()?;
    if found != names {
        return Ok(Some(format!("tables {found:?} instead of {names:?}")));
    }
    for (name, entries) in model {
        let Some(table) = view.table(name)? else {
            return Ok(Some(format!("table {name} is listed, but not found")));
        };
        let mut cursor = view.cursor(table);
        let mut more = cursor.first()?;
        for (key, value) in entries {
            if !more || cursor.key() != Some(key) {
                let found = cursor.key().map(<[u8]>::to_vec);
                return Ok(Some(format!("table {name}: {found:?} where {key:?} should be")));
            }
            if cursor.to_vec()? != value.bytes() {
                return Ok(Some(format!("table {name}, key {key:?}: another value")));
            }
            more = cursor.next()?;
        }
        if more {
            return Ok(Some(format!("table {name}: more entries than {}", entries.len())));
        }
    }
    Ok(None)
}

/// Makes changes in the transaction and in the model alike. A change that does not apply, as one of a
/// table that is not there, is passed over in both.
///
/// # Errors
/// The store's, and answers of the store that differ from the model's.
pub fn apply(
    txn: &mut WriteTxn,
    model: &mut Tables,
    changes: &[Change],
) -> std::result::Result<(), Trouble> {
    let mut open: Vec<(Savepoint, Tables)> = Vec::new();
    for change in changes {
        match change {
            Change::Savepoint => open.push((txn.savepoint()?, model.clone())),
            Change::RollbackTo(number) if !open.is_empty() => {
                open.truncate(number % open.len() + 1);
                let (savepoint, then) = &open[open.len() - 1];
                txn.rollback_to(*savepoint)?;
                model.clone_from(then);
            }
            Change::Release(number) if !open.is_empty() => {
                let at = number % open.len();
                txn.release(open[at].0)?;
                open.truncate(at);
            }
            Change::RollbackTo(_) | Change::Release(_) => {}
            change => apply_to_tables(txn, model, change)?,
        }
    }
    Ok(())
}

fn apply_to_tables(
    txn: &mut WriteTxn,
    model: &mut Tables,
    change: &Change,
) -> std::result::Result<(), Trouble> {
    match change {
        Change::CreateTable(name) => {
            if !model.contains_key(name) {
                txn.create_table(name)?;
                model.insert(name.clone(), Entries::new());
            }
        }
        Change::DropTable(name) => {
            if model.remove(name).is_some() {
                txn.drop_table(name)?;
            }
        }
        Change::Bulk(name, entries) => {
            if !model.contains_key(name) {
                let table = txn.create_table(name)?;
                let mut bulk = txn.bulk(table)?;
                for (key, value) in entries {
                    bulk.push(txn, key, &value.bytes())?;
                }
                expect("entries loaded", bulk.finish(txn)?, entries.len() as u64)?;
                model.insert(name.clone(), entries.clone());
            }
        }
        Change::Put(name, ..) | Change::Delete(name, ..) | Change::DeleteRange(name, ..) => {
            if let Some(entries) = model.get_mut(name) {
                apply_to_table(txn, name, entries, change)?;
            }
        }
        Change::Savepoint | Change::RollbackTo(_) | Change::Release(_) => {}
    }
    Ok(())
}

fn apply_to_table(
    txn: &mut WriteTxn,
    name: &str,
    entries: &mut Entries,
    change: &Change,
) -> std::result::Result<(), Trouble> {
    let Some(table) = txn.table(name)? else {
        return Err(Trouble::Wrong(format!("table {name} is gone")));
    };
    match change {
        Change::Put(_, key, value) => {
            let new = txn.put(table, key, &value.bytes())?;
            expect("a new key", new, entries.insert(key.clone(), *value).is_none())
        }
        Change::Delete(_, key) => {
            let found = txn.delete(table, key)?;
            expect("a key to delete", found, entries.remove(key).is_some())
        }
        Change::DeleteRange(_, low, high) => {
            let count = txn.delete_range(
                table,
                low.as_ref().map(Vec::as_slice),
                high.as_ref().map(Vec::as_slice),
            )?;
            let before = entries.len();
            entries.retain(|key, _| !super::workload::contains(low, high, key));
            expect("entries deleted", count, (before - entries.len()) as u64)
        }
        _ => Ok(()),
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> std::result::Result<(), Trouble> {
    if found == expected {
        return Ok(());
    }
    Err(Trouble::Wrong(format!("{what}: {found:?} instead of {expected:?}")))
}
