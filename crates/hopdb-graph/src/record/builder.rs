//! Writing records: gathers labels and properties in any order, then writes them in theirs.
//!
//! One builder serves any number of records: `clear` forgets the content and keeps the buffers.
//! Invariant: of a label or property set more than once the last word counts, so a caller may load
//! a record with `read_node` and change parts of it.

use hopdb_storage::codec::num::len_u64;
use hopdb_storage::codec::varint;

use super::{PropertiesView, RecordView};
use crate::error::{DecodeError, NestingError};
use crate::ids::{LabelId, PropertyKeyId};
use crate::value::Value;

/// Gathers one record at a time.
#[derive(Debug, Default)]
pub struct RecordBuilder {
    labels: Vec<LabelId>,
    entries: Vec<Entry>,
    /// Stored values in the order they were set; those overwritten since lie here unused.
    values: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: PropertyKeyId,
    start: usize,
    end: usize,
}

impl RecordBuilder {
    /// An empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the content, keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.entries.clear();
        self.values.clear();
    }

    /// Replaces the content by that of a node record.
    ///
    /// # Errors
    /// When the record's properties are damaged.
    pub fn read_node(&mut self, record: RecordView<'_>) -> Result<(), DecodeError> {
        self.read_properties(record.properties())?;
        self.labels.extend(record.labels());
        Ok(())
    }

    /// Replaces the content by that of a property block.
    ///
    /// # Errors
    /// When the block is damaged.
    pub fn read_properties(&mut self, properties: PropertiesView<'_>) -> Result<(), DecodeError> {
        self.clear();
        for (key, value) in properties.iter()? {
            self.set_stored(key, value);
        }
        Ok(())
    }

    /// Adds a label; adding one that is there changes nothing.
    pub fn add_label(&mut self, label: LabelId) {
        if !self.labels.contains(&label) {
            self.labels.push(label);
        }
    }

    /// Removes a label; says whether it was there.
    pub fn remove_label(&mut self, label: LabelId) -> bool {
        let before = self.labels.len();
        self.labels.retain(|&other| other != label);
        self.labels.len() < before
    }

    /// Sets a property; null removes it.
    ///
    /// # Errors
    /// When the value cannot be stored; the property is then as it was.
    pub fn set(&mut self, key: PropertyKeyId, value: &Value) -> Result<(), NestingError> {
        if value.is_null() {
            self.remove_property(key);
            return Ok(());
        }
        self.set_with(key, |out| value.encode(out).map(|()| true)).map(|_| ())
    }

    /// Sets a property to a value that is in its stored form already.
    pub fn set_stored(&mut self, key: PropertyKeyId, stored: &[u8]) {
        let start = self.values.len();
        self.values.extend_from_slice(stored);
        self.note(key, start);
    }

    /// Sets a property to the stored value that `put` appends, if `put` says that there is one;
    /// says the same.
    ///
    /// # Errors
    /// Those of `put`; the property is then as it was.
    pub fn set_with<E>(
        &mut self,
        key: PropertyKeyId,
        put: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let start = self.values.len();
        let present = put(&mut self.values);
        if matches!(present, Ok(true)) {
            self.note(key, start);
        } else {
            self.values.truncate(start);
        }
        present
    }

    /// Removes a property; says whether it was there.
    pub fn remove_property(&mut self, key: PropertyKeyId) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.key != key);
        self.entries.len() < before
    }

    /// The stored value of a property, if it is set.
    #[must_use]
    pub fn stored(&self, key: PropertyKeyId) -> Option<&[u8]> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(&self.values[entry.start..entry.end])
    }

    /// How many properties there are.
    #[must_use]
    pub fn property_count(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no property.
    #[must_use]
    pub fn has_no_properties(&self) -> bool {
        self.entries.is_empty()
    }

    /// The labels so far, in no particular order.
    #[must_use]
    pub fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// Appends the node record. The content stays.
    pub fn write_node(&mut self, out: &mut Vec<u8>) {
        self.labels.sort_unstable();
        varint::put(out, len_u64(self.labels.len()));
        for label in &self.labels {
            varint::put(out, u64::from(label.0));
        }
        self.write_properties(out);
    }

    /// Appends the property block alone, as a relationship has it. The content stays.
    pub fn write_properties(&mut self, out: &mut Vec<u8>) {
        self.entries.sort_unstable();
        varint::put(out, len_u64(self.entries.len()));
        for entry in &self.entries {
            varint::put(out, u64::from(entry.key.0));
            varint::put(out, len_u64(entry.end - entry.start));
        }
        for entry in &self.entries {
            out.extend_from_slice(&self.values[entry.start..entry.end]);
        }
    }

    fn note(&mut self, key: PropertyKeyId, start: usize) {
        let entry = Entry { key, start, end: self.values.len() };
        // Records have few properties, and a loader sets them in the same order each time: looking
        // through them costs less than a map.
        match self.entries.iter_mut().find(|other| other.key == key) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }
}
