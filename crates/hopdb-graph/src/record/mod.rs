//! The stored record of a node or relationship: labels, and properties that can be read one by one.
//!
//! ```text
//! node record     = label count (varint), label ids (varints, ascending), property block
//! property block  = property count (varint),
//!                   directory: per property, key id (varint) and value length (varint),
//!                              ascending by key id,
//!                   the values' bytes in the order of the directory
//! ```
//!
//! A relationship's record is the property block alone. A value is in the form of
//! [`crate::value::codec`] and is never null: null means not stored.
//!
//! Invariants: reading is total on any bytes and allocates nothing; one property is found by
//! reading the directory only, never another property's value. [`RecordBuilder`] keeps its buffers:
//! writing a record allocates nothing once they have grown.

mod builder;

use hopdb_storage::codec::num::len_u64;
use hopdb_storage::codec::varint;

pub use builder::RecordBuilder;

use crate::error::DecodeError;
use crate::ids::{LabelId, PropertyKeyId};

/// A node record, read where it lies.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// The label ids, checked by `parse`.
    labels: &'a [u8],
    properties: PropertiesView<'a>,
}

impl<'a> RecordView<'a> {
    /// Reads the labels and the place of the properties.
    ///
    /// # Errors
    /// When the labels are cut off, out of range or out of order.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut at = 0;
        let count = varint::get(bytes, &mut at).ok_or(DecodeError::Truncated)?;
        let labels_start = at;
        let mut last = None;
        for _ in 0..count {
            let id = id32(bytes, &mut at)?;
            if last.is_some_and(|last| last >= id) {
                return Err(DecodeError::NotAscending);
            }
            last = Some(id);
        }
        let properties = PropertiesView::parse(&bytes[at..])?;
        Ok(Self { labels: &bytes[labels_start..at], properties })
    }

    /// The labels, ascending.
    pub fn labels(&self) -> impl Iterator<Item = LabelId> + use<'a> {
        let labels = self.labels;
        let mut at = 0;
        // `parse` has read the same bytes, so this ends only at their end.
        std::iter::from_fn(move || id32(labels, &mut at).ok().map(LabelId))
    }

    /// Whether the node has this label.
    #[must_use]
    pub fn has_label(&self, label: LabelId) -> bool {
        self.labels().take_while(|&other| other <= label).any(|other| other == label)
    }

    /// The stored value of one property.
    ///
    /// # Errors
    /// As [`PropertiesView::get`].
    pub fn property(&self, key: PropertyKeyId) -> Result<Option<&'a [u8]>, DecodeError> {
        self.properties.get(key)
    }

    /// All properties.
    #[must_use]
    pub fn properties(&self) -> PropertiesView<'a> {
        self.properties
    }
}

/// A property block, read where it lies.
#[derive(Clone, Copy, Debug)]
pub struct PropertiesView<'a> {
    count: u64,
    /// The directory and the values.
    rest: &'a [u8],
}

impl<'a> PropertiesView<'a> {
    /// A block without properties, as a relationship without a record has.
    pub const EMPTY: Self = Self { count: 0, rest: &[] };

    /// Reads the count.
    ///
    /// # Errors
    /// When the count is cut off or more than the bytes can hold.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut at = 0;
        let count = varint::get(bytes, &mut at).ok_or(DecodeError::Truncated)?;
        let rest = &bytes[at..];
        // A directory entry has two bytes at least.
        if count > len_u64(rest.len()) / 2 {
            return Err(DecodeError::Truncated);
        }
        Ok(Self { count, rest })
    }

    /// How many properties there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The stored value of one property; reads the directory only.
    ///
    /// # Errors
    /// When the directory is damaged or the value cut off.
    pub fn get(&self, key: PropertyKeyId) -> Result<Option<&'a [u8]>, DecodeError> {
        let mut at = 0;
        let mut offset = 0_usize;
        let mut found = None;
        for _ in 0..self.count {
            let (id, length) = directory_entry(self.rest, &mut at)?;
            if id > key && found.is_none() {
                return Ok(None);
            }
            if id == key {
                found = Some((offset, length));
            }
            offset = offset.checked_add(length).ok_or(DecodeError::Truncated)?;
        }
        let Some((offset, length)) = found else { return Ok(None) };
        let values = &self.rest[at..];
        // `offset + length` was part of the sum above, so it does not overflow.
        values.get(offset..offset + length).map(Some).ok_or(DecodeError::Truncated)
    }

    /// All keys and stored values, ascending by key.
    ///
    /// # Errors
    /// When the directory is damaged, out of order, or does not fit the values exactly.
    pub fn iter(&self) -> Result<PropertiesIter<'a>, DecodeError> {
        let mut at = 0;
        let mut total = 0_usize;
        let mut last = None;
        for _ in 0..self.count {
            let (id, length) = directory_entry(self.rest, &mut at)?;
            if last.is_some_and(|last| last >= id) {
                return Err(DecodeError::NotAscending);
            }
            last = Some(id);
            total = total.checked_add(length).ok_or(DecodeError::Truncated)?;
        }
        let (directory, values) = self.rest.split_at(at);
        if total > values.len() {
            return Err(DecodeError::Truncated);
        }
        if total < values.len() {
            return Err(DecodeError::TrailingBytes);
        }
        Ok(PropertiesIter { directory, at: 0, values })
    }
}

/// The properties of a block whose directory was found right by [`PropertiesView::iter`].
#[derive(Clone, Debug)]
pub struct PropertiesIter<'a> {
    directory: &'a [u8],
    at: usize,
    values: &'a [u8],
}

impl<'a> Iterator for PropertiesIter<'a> {
    type Item = (PropertyKeyId, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.directory.len() {
            return None;
        }
        let (key, length) = directory_entry(self.directory, &mut self.at).ok()?;
        let (value, rest) = self.values.split_at_checked(length)?;
        self.values = rest;
        Some((key, value))
    }
}

fn directory_entry(bytes: &[u8], at: &mut usize) -> Result<(PropertyKeyId, usize), DecodeError> {
    let key = PropertyKeyId(id32(bytes, at)?);
    let length = varint::get(bytes, at).ok_or(DecodeError::Truncated)?;
    let length = usize::try_from(length).map_err(|_| DecodeError::Truncated)?;
    Ok((key, length))
}

fn id32(bytes: &[u8], at: &mut usize) -> Result<u32, DecodeError> {
    let id = varint::get(bytes, at).ok_or(DecodeError::Truncated)?;
    u32::try_from(id).map_err(|_| DecodeError::OutOfRange)
}

#[cfg(test)]
mod tests;
