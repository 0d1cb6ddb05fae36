//! Relationship files into rows of (start, type, end), and those into the tables of relationships.
//!
//! Relationships are numbered in the order of their start, type and end, so that a node's lie together.

use hopdb_storage::Bulk;

use super::field::{Field, FieldRules, encode_field};
use super::header::{Column, FileKind, Header, Role};
use super::id_map::{IdMap, SpaceId};
use super::nodes::{at, only, property_columns, text};
use super::plan::RelationshipFiles;
use super::rows::{Row, RowReader};
use super::run::{CHECK_EVERY, Context};
use super::sort::{RelationshipKey, sort_by_end, sort_by_start};
use crate::block::adjacency::{self, Pair};
use crate::block::relationships::{self, RelationshipRow};
use crate::error::{GraphError, LoadError, Result};
use crate::ids::{NodeId, PropertyKeyId, RelationshipId, TypeId};
use crate::keys;
use crate::record::RecordBuilder;
use crate::write::{GraphTxn, check_name};

/// The rows of all relationship files.
#[derive(Debug, Default)]
pub(super) struct LoadedRelationships {
    rows: Vec<RelationshipKey>,
    /// Property blocks, one behind the other.
    properties: Vec<u8>,
    /// Row and end of its block in `properties`, for rows that have one; ascending.
    property_ends: Vec<(u32, usize)>,
}

/// A group's columns, with names turned into ids.
struct Columns {
    start: (Column, SpaceId),
    end: (Column, SpaceId),
    type_column: Option<Column>,
    type_id: Option<TypeId>,
    properties: Vec<(Column, PropertyKeyId)>,
    /// Name and id of the type read last: types mostly repeat.
    last_type: (String, TypeId),
}

/// Reads all groups.
pub(super) fn read(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    ids: &mut IdMap,
) -> Result<LoadedRelationships> {
    let mut loaded = LoadedRelationships::default();
    let mut record = RecordBuilder::new();
    for group in &context.plan.relationships {
        read_group(context, txn, ids, group, (&mut loaded, &mut record))?;
    }
    context.progress.set_relationships(loaded.rows.len() as u64);
    Ok(loaded)
}

fn read_group(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    ids: &mut IdMap,
    group: &RelationshipFiles,
    (loaded, record): (&mut LoadedRelationships, &mut RecordBuilder),
) -> Result<()> {
    let dialect = context.plan.dialect;
    let counter = context.progress.counter();
    let mut rows = RowReader::open(context.source, &group.files, dialect, counter)?;
    let rules = dialect.field_rules();
    let header = rows.header(FileKind::Relationships)?;
    let mut columns = Columns::resolve(&header, group, txn, ids)?;
    while let Some(row) = rows.next_row()? {
        let number = u32::try_from(loaded.rows.len())
            .map_err(|_| row.error("one load takes fewer than 2^32 relationships"))?;
        loaded.rows.push(RelationshipKey {
            start: end_point(&row, &columns.start, ids)?,
            end: end_point(&row, &columns.end, ids)?,
            type_id: columns.type_of(&row, txn)?,
            row: number,
        });
        if !columns.properties.is_empty() {
            loaded.note_properties(&row, number, (&columns, &rules), record)?;
        }
        if u64::from(number).is_multiple_of(CHECK_EVERY) {
            context.progress.set_relationships(u64::from(number));
            if context.progress.is_stopped() {
                return Err(GraphError::Interrupted);
            }
        }
    }
    Ok(())
}

impl Columns {
    fn resolve(
        header: &Header,
        group: &RelationshipFiles,
        txn: &mut GraphTxn,
        ids: &mut IdMap,
    ) -> Result<Self> {
        let mut end = |column: Option<&Column>| {
            let column = column.expect("a header without ends is refused").clone();
            let (Role::StartId { space, .. } | Role::EndId { space, .. }) = &column.role else {
                unreachable!("it is the column of an end")
            };
            let space = ids.space(space);
            (column, space)
        };
        let start = end(only(header.start_ids(), &group.files)?);
        let end = end(only(header.end_ids(), &group.files)?);
        let type_id = match &group.relationship_type {
            Some(name) => {
                check_name("relationship type", name)?;
                Some(txn.catalog.type_or_new(name))
            }
            None => None,
        };
        let properties = property_columns(header, &group.files, txn)?;
        let type_column = header.type_column().cloned();
        if type_column.is_none() && type_id.is_none() {
            let file = group.files.first().cloned().unwrap_or_default();
            let reason = "no relationship type: give the header a :TYPE column, or name the type: \
                          --relationships=TYPE=file";
            return Err(LoadError::line(file, 1, reason).into());
        }
        let last_type = (String::new(), TypeId(0));
        Ok(Self { start, end, type_column, type_id, properties, last_type })
    }

    fn type_of(&mut self, row: &Row<'_>, txn: &mut GraphTxn) -> Result<TypeId> {
        let field = self.type_column.as_ref().map(|column| (column, row.get(column.index)));
        let Some((column, field)) = field.filter(|(_, field)| !field.is_empty()) else {
            let missing = || {
                let column = self.type_column.as_ref().map_or(1, |column| column.index + 1);
                row.error("the relationship has no type").at_column(column, ":TYPE")
            };
            return Ok(self.type_id.ok_or_else(missing)?);
        };
        if field != self.last_type.0.as_bytes() {
            let name = text(row, column, field)?;
            check_name("relationship type", name)
                .map_err(|error| at(row, column, error.to_string()))?;
            self.last_type = (name.to_string(), txn.catalog.type_or_new(name));
        }
        Ok(self.last_type.1)
    }
}

fn end_point(
    row: &Row<'_>,
    (column, space): &(Column, SpaceId),
    ids: &IdMap,
) -> std::result::Result<NodeId, LoadError> {
    let id = row.get(column.index);
    ids.get(*space, id).map(NodeId).ok_or_else(|| {
        let space = match ids.space_name(*space) {
            "" => String::new(),
            name => format!(" in the id space {name}"),
        };
        let shown: String = String::from_utf8_lossy(id).chars().take(40).collect();
        at(row, column, format!("no node file has the id {shown:?}{space}"))
    })
}

impl LoadedRelationships {
    fn note_properties(
        &mut self,
        row: &Row<'_>,
        number: u32,
        (columns, rules): (&Columns, &FieldRules),
        record: &mut RecordBuilder,
    ) -> Result<()> {
        record.clear();
        for (column, key) in &columns.properties {
            let field = Field { text: row.get(column.index), quoted: false };
            record
                .set_with(*key, |out| encode_field(column, rules, field, out))
                .map_err(|error| at(row, column, error.to_string()))?;
        }
        if !record.has_no_properties() {
            record.write_properties(&mut self.properties);
            self.property_ends.push((number, self.properties.len()));
        }
        Ok(())
    }

    fn properties_of(&self, row: u32) -> Option<&[u8]> {
        let at = self.property_ends.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        let start = if at == 0 { 0 } else { self.property_ends[at - 1].1 };
        Some(&self.properties[start..self.property_ends[at].1])
    }

    /// Writes all tables of relationships; gives their number.
    pub(super) fn build(mut self, txn: &mut GraphTxn) -> Result<u64> {
        sort_by_start(&mut self.rows);
        self.count_types(txn);
        self.build_rows(txn)?;
        if !self.property_ends.is_empty() {
            self.build_properties(txn)?;
        }
        let count = self.rows.len() as u64;
        // From here on a row's number is its relationship's id.
        for (id, row) in (0..).zip(&mut self.rows) {
            row.row = id;
        }
        let outgoing = self.rows;
        let mut incoming = outgoing.clone();
        sort_by_end(&mut incoming);
        build_adjacency(txn, &outgoing, &incoming)?;
        txn.catalog.counters.next_relationship = count;
        Ok(count)
    }

    fn count_types(&self, txn: &mut GraphTxn) {
        let mut counts: Vec<u64> = Vec::new();
        for row in &self.rows {
            let type_id = row.type_id.0 as usize;
            if type_id >= counts.len() {
                counts.resize(type_id + 1, 0);
            }
            counts[type_id] += 1;
        }
        for (type_id, count) in (0..).zip(counts) {
            txn.catalog.count_type(TypeId(type_id), count);
        }
    }

    fn build_rows(&self, txn: &mut GraphTxn) -> Result<()> {
        let mut bulk = txn.txn.bulk(txn.shared.tables.relationships)?;
        let (mut key, mut block) = (Vec::new(), Vec::new());
        let mut first = 0;
        let mut slots = Vec::with_capacity(keys::BLOCK_ROWS_MAX);
        while first < self.rows.len() {
            let mut rows = keys::BLOCK_ROWS_MAX.min(self.rows.len() - first);
            loop {
                slots.clear();
                slots.extend(self.rows[first..first + rows].iter().map(|row| {
                    let RelationshipKey { start, end, type_id, .. } = *row;
                    Some(RelationshipRow { start, end, type_id })
                }));
                block.clear();
                relationships::encode(&slots, &mut block);
                if block.len() <= keys::BLOCK_BYTES_MAX {
                    break;
                }
                rows /= 2;
            }
            key.clear();
            keys::relationship(&mut key, RelationshipId(first as u64));
            bulk.push(&mut txn.txn, &key, &block)?;
            first += rows;
        }
        bulk.finish(&mut txn.txn)?;
        Ok(())
    }

    fn build_properties(&self, txn: &mut GraphTxn) -> Result<()> {
        let mut bulk = txn.txn.bulk(txn.shared.tables.relationship_properties)?;
        let mut key = Vec::new();
        for (id, row) in (0..).zip(&self.rows) {
            if let Some(block) = self.properties_of(row.row) {
                key.clear();
                keys::relationship(&mut key, RelationshipId(id));
                bulk.push(&mut txn.txn, &key, block)?;
            }
        }
        bulk.finish(&mut txn.txn)?;
        Ok(())
    }
}

/// Writes both sides, node by node.
fn build_adjacency(
    txn: &mut GraphTxn,
    outgoing: &[RelationshipKey],
    incoming: &[RelationshipKey],
) -> Result<()> {
    let mut bulk = txn.txn.bulk(txn.shared.tables.adjacency)?;
    let mut blocks = BlockWriter::default();
    let (mut outgoing, mut incoming) = (outgoing, incoming);
    loop {
        let node = match (outgoing.first(), incoming.first()) {
            (None, None) => break,
            (Some(row), None) => row.start,
            (None, Some(row)) => row.end,
            (Some(a), Some(b)) => a.start.min(b.end),
        };
        let count = outgoing.partition_point_near(|row| row.start == node);
        blocks.side(txn, &mut bulk, (node, true), &outgoing[..count])?;
        outgoing = &outgoing[count..];
        let count = incoming.partition_point_near(|row| row.end == node);
        blocks.side(txn, &mut bulk, (node, false), &incoming[..count])?;
        incoming = &incoming[count..];
    }
    bulk.finish(&mut txn.txn)?;
    Ok(())
}

/// Like `partition_point`, for runs that are short against the slice.
trait PartitionPointNear<T> {
    fn partition_point_near(&self, is_before: impl Fn(&T) -> bool) -> usize;
}

impl<T> PartitionPointNear<T> for [T] {
    fn partition_point_near(&self, is_before: impl Fn(&T) -> bool) -> usize {
        self.iter().position(|item| !is_before(item)).unwrap_or(self.len())
    }
}

#[derive(Default)]
struct BlockWriter {
    pairs: Vec<Pair>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl BlockWriter {
    /// Writes the blocks of one side of a node.
    fn side(
        &mut self,
        txn: &mut GraphTxn,
        bulk: &mut Bulk,
        (node, outgoing): (NodeId, bool),
        mut rows: &[RelationshipKey],
    ) -> Result<()> {
        while let Some(row) = rows.first() {
            let type_id = row.type_id;
            let count = rows.partition_point_near(|row| row.type_id == type_id);
            self.pairs.clear();
            self.pairs.extend(rows[..count].iter().map(|row| {
                let neighbour = if outgoing { row.end } else { row.start };
                (neighbour, RelationshipId(u64::from(row.row)))
            }));
            rows = &rows[count..];
            let mut from = 0;
            while from < self.pairs.len() {
                let pairs = &self.pairs[from..];
                let fit = adjacency::split_at_bytes(pairs, keys::BLOCK_BYTES_MAX);
                self.key.clear();
                keys::adjacency_prefix(&mut self.key, node, Some(outgoing), Some(type_id));
                keys::pair(&mut self.key, pairs[0]);
                self.value.clear();
                adjacency::encode(&pairs[..fit], &mut self.value);
                bulk.push(&mut txn.txn, &self.key, &self.value)?;
                from += fit;
            }
        }
        Ok(())
    }
}
