//! Why a handle no longer writes: after a failed write or sync nobody knows what is on disk.
//!
//! Invariant: once set, it stays, with the first reason.

use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::sync::Mutex;

/// Why a handle no longer writes, once it does not.
#[derive(Debug, Default)]
pub(crate) struct Poison(Mutex<Option<String>>);

impl Poison {
    /// Fails when a write or a sync failed before.
    pub(crate) fn check(&self) -> Result<()> {
        match &*self.0.lock() {
            Some(reason) => Err(Error::Poisoned(reason.clone())),
            None => Ok(()),
        }
    }

    /// Stops writing for good because the store was closed.
    pub(crate) fn close(&self) {
        self.0.lock().get_or_insert_with(|| "the store was closed".into());
    }

    /// Stops writing for good because of `error`, and hands it back.
    pub(crate) fn set(&self, error: Error) -> Error {
        if Mutant::NoPoison.is_on() {
            return error;
        }
        self.0.lock().get_or_insert_with(|| match &error {
            Error::Io { source, .. } => format!("{error}: {source}"),
            other => other.to_string(),
        });
        error
    }
}
