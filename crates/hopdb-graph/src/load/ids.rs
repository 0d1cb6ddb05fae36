//! From an id in a file to a node: one of this load, or one that was there before.
//!
//! Ids of this load are in a map of their own, unless they are numbers of nodes themselves (`--id-type actual`):
//! then only the ranges that were given are kept. Nodes that were there before are found by an indexed property.

use std::sync::Arc;

use super::header::{Column, ColumnType};
use super::id_map::{IdMap, SpaceId, plain_integer};
use super::words::NODES_MAX;
use crate::catalog::IndexDefinition;
use crate::error::Result;
use crate::graph::Snapshot;
use crate::ids::NodeId;
use crate::value::Value;

/// Marks a node among ids that are still to be looked up.
pub(super) const FOUND: u64 = 1 << 63;

/// Finds the nodes that ids in files mean.
#[derive(Debug)]
pub(super) struct Ids {
    map: IdMap,
    /// The first node of this load.
    first: u64,
    actual: Option<Ranges>,
    /// The graph before the load, when there was one.
    before: Option<Arc<Snapshot>>,
    /// Whether an id that is an integer means a node of this load by that integer, or none.
    integers_are_all: bool,
    /// Types of the columns that make the ids of a space, said by its nodes.
    types: Vec<(SpaceId, Vec<ColumnType>)>,
}

/// Why a node cannot have an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdError {
    /// The node of that number in the load has it.
    Taken(NodeId),
    /// It is no number of a node.
    NoNumber,
    /// It does not ascend.
    NotAscending {
        /// The least number that could come.
        least: u64,
    },
}

/// Where the ids of one end of a relationship are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    pub(super) space: SpaceId,
    /// Index over the property that holds the ids of nodes that were there before.
    pub(super) index: Option<IndexDefinition>,
}

impl Ids {
    /// Ids for nodes from `first` on.
    pub(super) fn new(first: u64, actual: bool, before: Option<Arc<Snapshot>>) -> Self {
        let actual = actual.then(Ranges::default);
        let integers_are_all = actual.is_none();
        let types = Vec::new();
        Self { map: IdMap::new(), first, actual, before, integers_are_all, types }
    }

    /// Whether there was a graph before, and ids are no numbers of its nodes.
    pub(super) fn adds(&self) -> bool {
        self.before.is_some() && self.actual.is_none()
    }

    pub(super) fn space(&mut self, name: &str) -> SpaceId {
        self.map.space(name)
    }

    pub(super) fn space_name(&self, space: SpaceId) -> &str {
        self.map.space_name(space)
    }

    /// Sets what the ids of a space are; whoever comes first has said it.
    pub(super) fn set_types(&mut self, space: SpaceId, columns: &[Column]) {
        if !columns.is_empty() && self.types.iter().all(|(other, _)| *other != space) {
            let types = columns.iter().map(|column| column.column_type.clone());
            self.types.push((space, types.collect()));
        }
    }

    /// Gives the columns of an end the types that the ids of its space have; the error is the number of columns that
    /// make an id there, when it is another.
    pub(super) fn give_types(
        &self,
        space: SpaceId,
        columns: &mut [Column],
    ) -> std::result::Result<(), usize> {
        let found = self.types.iter().find(|(other, _)| *other == space);
        let types = found.map_or(&[][..], |(_, types)| types);
        for (column, column_type) in columns.iter_mut().zip(types) {
            column.column_type = column_type.clone();
        }
        if types.is_empty() || types.len() == columns.len() { Ok(()) } else { Err(types.len()) }
    }

    /// Numbers a node that has an id.
    pub(super) fn insert(
        &mut self,
        space: SpaceId,
        id: &[u8],
    ) -> std::result::Result<NodeId, IdError> {
        let Some(ranges) = &mut self.actual else {
            let number = self.map.insert(space, id);
            // Past this number the map keeps integers among the texts.
            self.integers_are_all &= self.map.keeps_integers();
            let node = |number| NodeId(self.first + number);
            return number.map(node).map_err(|taken| IdError::Taken(node(taken.first)));
        };
        let number = std::str::from_utf8(id).ok().and_then(|text| text.parse::<u64>().ok());
        let number = number.filter(|number| *number < NODES_MAX).ok_or(IdError::NoNumber)?;
        let least = ranges.end().max(self.first);
        if number < least {
            return Err(IdError::NotAscending { least });
        }
        ranges.push(number);
        Ok(NodeId(number))
    }

    /// Whether a node of this load has the id. Numbers of nodes only say that they do not ascend.
    pub(super) fn is_taken(&self, space: SpaceId, id: &[u8]) -> bool {
        self.actual.is_none() && self.map.get(space, id).is_some()
    }

    /// Numbers a node that has none.
    pub(super) fn insert_nameless(&mut self) -> NodeId {
        match &mut self.actual {
            None => NodeId(self.first + self.map.insert_nameless()),
            Some(ranges) => {
                let number = ranges.end().max(self.first);
                ranges.push(number);
                NodeId(number)
            }
        }
    }

    /// The number behind those of all nodes.
    pub(super) fn end(&self) -> u64 {
        match &self.actual {
            None => self.first + self.map.node_count(),
            Some(ranges) => ranges.end().max(self.first),
        }
    }

    /// The id as an integer, when that alone says which node it means: ids of this load, in the usual form.
    #[inline]
    pub(super) fn integer(&self, lookup: &Lookup, id: &[u8]) -> Option<u64> {
        if lookup.index.is_some() || !self.integers_are_all {
            return None;
        }
        plain_integer(id)
    }

    /// The node of an integer from [`Ids::integer`].
    #[inline]
    pub(super) fn find_integer(&self, lookup: &Lookup, integer: u64) -> Option<NodeId> {
        self.map.get_integer(lookup.space, integer).map(|number| NodeId(self.first + number))
    }

    /// Puts nodes for the integers among `ends`, marked with [`FOUND`]; those that mean none stay.
    pub(super) fn find_integers(&self, lookup: &Lookup, ends: &mut [u64]) {
        for end in ends {
            if *end & FOUND == 0
                && let Some(node) = self.find_integer(lookup, *end)
            {
                *end = FOUND | node.0;
            }
        }
    }

    /// The node that an id means.
    pub(super) fn find(&self, lookup: &Lookup, id: &[u8]) -> Result<Option<NodeId>> {
        if let Some(ranges) = &self.actual {
            return self.find_actual(ranges, id);
        }
        if let Some(number) = self.map.get(lookup.space, id) {
            return Ok(Some(NodeId(self.first + number)));
        }
        match (&self.before, &lookup.index) {
            (Some(before), Some(index)) => find_before(before, index, id),
            _ => Ok(None),
        }
    }

    fn find_actual(&self, ranges: &Ranges, id: &[u8]) -> Result<Option<NodeId>> {
        let number = std::str::from_utf8(id).ok().and_then(|text| text.parse::<u64>().ok());
        let Some(number) = number else { return Ok(None) };
        if ranges.contains(number) {
            return Ok(Some(NodeId(number)));
        }
        match &self.before {
            Some(before) if before.reader().has_node(NodeId(number))? => Ok(Some(NodeId(number))),
            _ => Ok(None),
        }
    }

    /// Bytes of memory taken, about.
    pub(super) fn memory_bytes(&self) -> usize {
        self.map.memory_bytes() + self.actual.as_ref().map_or(0, Ranges::memory_bytes)
    }
}

/// A node that was there before: the id is the value of its property, as a string or as a number.
fn find_before(before: &Snapshot, index: &IndexDefinition, id: &[u8]) -> Result<Option<NodeId>> {
    let Ok(text) = std::str::from_utf8(id) else { return Ok(None) };
    let reader = before.reader();
    let mut found = reader.find_in_index(index, &Value::String(text.to_owned()))?;
    if found.is_empty()
        && let Ok(number) = text.parse::<i64>()
        && number.to_string() == text
    {
        found = reader.find_in_index(index, &Value::Integer(number))?;
    }
    // The index is unique: see where it is looked up.
    Ok(found.first().copied())
}

/// Ascending numbers, kept as ranges.
#[derive(Debug, Default)]
struct Ranges {
    /// First and last of each.
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |(_, last)| last + 1)
    }

    fn push(&mut self, number: u64) {
        match self.ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => self.ranges.push((number, number)),
        }
    }

    fn contains(&self, number: u64) -> bool {
        let at = self.ranges.partition_point(|(first, _)| *first <= number);
        at > 0 && number <= self.ranges[at - 1].1
    }

    fn memory_bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_was_pushed() {
        let mut ranges = Ranges::default();
        let pushed = [0, 1, 2, 5, 9, 10];
        pushed.iter().for_each(|number| ranges.push(*number));
        for number in 0..12 {
            assert_eq!(ranges.contains(number), pushed.contains(&number), "{number}");
        }
        assert_eq!((ranges.end(), ranges.ranges.len()), (11, 3));
    }

    #[test]
    fn actual_ids_ascend() {
        let mut ids = Ids::new(3, true, None);
        let space = ids.space("");
        assert_eq!(ids.insert(space, b"2"), Err(IdError::NotAscending { least: 3 }));
        assert_eq!(ids.insert(space, b"7"), Ok(NodeId(7)));
        assert_eq!(ids.insert(space, b"7"), Err(IdError::NotAscending { least: 8 }));
        assert_eq!(ids.insert(space, b"x"), Err(IdError::NoNumber));
        assert_eq!(ids.insert_nameless(), NodeId(8));
        let lookup = Lookup { space, index: None };
        assert_eq!(ids.find(&lookup, b"8").unwrap(), Some(NodeId(8)));
        assert_eq!(ids.find(&lookup, b"3").unwrap(), None);
        assert_eq!(ids.end(), 9);
    }
}
