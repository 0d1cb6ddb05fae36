//! Building a table from ascending keys, within a write transaction.
//!
//! Invariant: what a load has written goes with the savepoint that it is behind: no savepoint is made while a load is
//! under way, and none goes on after the transaction went back.

use super::{Table, WriteTxn};
use crate::btree::bulk::BulkBuilder;
use crate::btree::delete;
use crate::buffer::PageSource;
use crate::error::{Error, Result};
use crate::page::PageId;

impl WriteTxn {
    /// Begins to build an empty table bottom-up from ascending keys.
    ///
    /// # Errors
    /// [`Error::TableExists`] when the table has entries.
    pub fn bulk(&self, table: Table) -> Result<Bulk> {
        check_empty(&self.writer, table.root)?;
        let builder = BulkBuilder::new(table.root, self.writer.ts());
        Ok(Bulk { builder, root: table.root, rollbacks: self.writer.rollbacks() })
    }
}

/// Builds one table bottom-up; several may be built side by side in one transaction.
#[derive(Debug)]
pub struct Bulk {
    builder: BulkBuilder,
    root: PageId,
    /// How often the transaction had gone back when the first entry came.
    rollbacks: u64,
}

impl Bulk {
    /// Appends an entry.
    ///
    /// # Errors
    /// [`Error::KeysNotAscending`], [`Error::KeyTooLarge`], [`Error::RolledBack`], failed writes.
    pub fn push(&mut self, txn: &mut WriteTxn, key: &[u8], value: &[u8]) -> Result<()> {
        self.check(txn)?;
        if self.builder.is_empty() {
            check_empty(&txn.writer, self.root)?;
            self.rollbacks = txn.writer.rollbacks();
        }
        txn.writer.change(|writer| {
            let is_first = self.builder.is_empty();
            self.builder.push(writer, key, value)?;
            if is_first {
                writer.begin_load();
            }
            Ok(())
        })
    }

    /// Makes the entries the table's content; gives their number.
    ///
    /// # Errors
    /// Failed writes, [`Error::TableExists`] when the table has got entries meanwhile. A transaction with a
    /// load that is not finished cannot commit. [`Error::RolledBack`].
    pub fn finish(self, txn: &mut WriteTxn) -> Result<u64> {
        self.check(txn)?;
        check_empty(&txn.writer, self.root)?;
        if !self.builder.is_empty() {
            txn.writer.end_load();
        }
        txn.writer.change(|writer| self.builder.finish(writer))
    }

    /// What it has written went when the transaction went back: no savepoint is made while a load is under way.
    fn check(&self, txn: &WriteTxn) -> Result<()> {
        if self.builder.is_empty() || self.rollbacks == txn.writer.rollbacks() {
            return Ok(());
        }
        Err(Error::RolledBack("a bulk load"))
    }
}

fn check_empty(source: &impl PageSource, root: PageId) -> Result<()> {
    if delete::is_empty(source, root)? {
        return Ok(());
    }
    Err(Error::TableExists("with entries, for a bulk load".into()))
}
