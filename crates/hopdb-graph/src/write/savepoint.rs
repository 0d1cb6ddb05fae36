//! Savepoints of a graph transaction: the store's, and the catalog as of each.
//!
//! Invariants: the store and the list here have the same savepoints; going back allocates nothing, as the catalog of a
//! savepoint is shared until the transaction changes it.

use std::sync::Arc;

use hopdb_storage::Savepoint;

use super::GraphTxn;
use crate::error::{GraphError, Result};

impl GraphTxn {
    /// Notes where the transaction is, so that it can go back to it. Savepoints nest.
    ///
    /// # Errors
    /// [`GraphError::TransactionFailed`] when a change failed half-way.
    pub fn savepoint(&mut self) -> Result<Savepoint> {
        if self.failed {
            return Err(GraphError::TransactionFailed);
        }
        let savepoint = self.txn.savepoint()?;
        self.savepoints.push((savepoint, Arc::clone(&self.catalog)));
        Ok(savepoint)
    }

    /// Undoes everything since a savepoint, failed changes too; the savepoint stays, those made after it go. Ids given
    /// out since then are given out again. Allocates nothing and does no I/O.
    ///
    /// # Errors
    /// [`hopdb_storage::Error::SavepointMissing`]; nothing is changed then.
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.txn.rollback_to(savepoint)?;
        let at = self.position(savepoint);
        self.savepoints.truncate(at + 1);
        self.catalog = Arc::clone(&self.savepoints[at].1);
        self.failed = false;
        Ok(())
    }

    /// Forgets a savepoint and those made after it; the changes stay.
    ///
    /// # Errors
    /// [`hopdb_storage::Error::SavepointMissing`]; nothing is changed then.
    pub fn release(&mut self, savepoint: Savepoint) -> Result<()> {
        self.txn.release(savepoint)?;
        self.savepoints.truncate(self.position(savepoint));
        Ok(())
    }

    /// Where a savepoint that the store has is in the list here.
    fn position(&self, savepoint: Savepoint) -> usize {
        let at = self.savepoints.iter().rposition(|(other, _)| *other == savepoint);
        at.expect("the store and the graph have the same savepoints")
    }
}
