//! A block of node rows, read by one thread: everything about a node but its number.
//!
//! What belongs together over all rows (numbers, ids, names of labels) is left to whoever takes the batches in
//! order; here is the work that rows do not share.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::bad_rows::{BadRow, Fault};
use super::blocks::{BadCount, Block, Row, RowRules};
use super::header::{Column, Header};
use super::id_map::SpaceId;
use super::names::split_names;
use crate::error::{LoadError, Result};
use crate::ids::{LabelId, PropertyKeyId};
use crate::index::ValueKey;
use crate::record::RecordBuilder;
use crate::value::Value;
use crate::write::{GraphTxn, check_name};

/// What the columns of a file of nodes mean, with names turned into ids.
#[derive(Debug)]
pub(super) struct NodeColumns {
    pub(super) properties: Vec<(Column, PropertyKeyId)>,
    pub(super) ids: Vec<Column>,
    /// Whether ids must be numbers, and are no property that says so.
    pub(super) check_ids: bool,
    pub(super) space: SpaceId,
    pub(super) label: Option<Column>,
    /// Labels that all nodes get.
    pub(super) labels: Vec<LabelId>,
    /// Position among the indexes of the load, of those over properties of these columns.
    pub(super) indexes: Vec<(usize, PropertyKeyId)>,
}

/// The rows of a block.
#[derive(Debug, Default)]
pub(super) struct NodeBatch {
    /// Ids, property blocks and index keys, one behind the other.
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<std::result::Result<NodeRow, Box<BadRow>>>,
    /// The different contents of the label column.
    pub(super) label_sets: Vec<Vec<String>>,
    pub(super) keys: Vec<IndexKey>,
}

/// A node.
#[derive(Debug)]
pub(super) struct NodeRow {
    /// Its id; none when empty.
    pub(super) id: Range<u32>,
    pub(super) properties: Range<u32>,
    /// Position in `label_sets`.
    pub(super) label_set: Option<u32>,
    /// Positions in `keys`.
    pub(super) keys: Range<u32>,
}

/// The key of a value in an index.
#[derive(Debug)]
pub(super) struct IndexKey {
    /// Position of the index among those of the load.
    pub(super) index: usize,
    pub(super) bytes: Range<u32>,
    pub(super) cut: bool,
}

impl NodeBatch {
    /// Reads the rows of a block.
    pub(super) fn read(block: &Block<NodeColumns>, rules: &RowRules) -> Self {
        let mut reader = Reader {
            batch: Self::default(),
            record: RecordBuilder::new(),
            last: None,
            sets: FxHashMap::default(),
        };
        let columns = &*block.columns;
        let mut bad_count = BadCount::default();
        block.for_each(rules, |row| {
            if bad_count.is_over(rules) {
                return;
            }
            let row = row.and_then(|row| reader.read(&row, columns));
            if let Err(bad) = &row {
                bad_count.add(bad, rules);
            }
            reader.batch.rows.push(row.map_err(Box::new));
        });
        reader.batch
    }

    pub(super) fn bytes(&self, range: &Range<u32>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }
}

struct Reader {
    batch: NodeBatch,
    record: RecordBuilder,
    /// The label field of the row before, and its set: labels mostly repeat.
    last: Option<(Vec<u8>, u32)>,
    /// Positions of the sets met.
    sets: FxHashMap<Vec<String>, u32>,
}

impl Reader {
    fn read(
        &mut self,
        row: &Row<'_>,
        columns: &NodeColumns,
    ) -> std::result::Result<NodeRow, BadRow> {
        let label_set = match &columns.label {
            Some(column) => self.labels(row, column)?,
            None => None,
        };
        set_properties(&mut self.record, row, &columns.properties)?;
        if columns.check_ids {
            check_ids(row, columns)?;
        }
        let out = &mut self.batch.bytes;
        let start = position(out);
        append_id(out, row, &columns.ids);
        let id = start..position(out);
        self.record.write_properties(out);
        let properties = id.end..position(out);
        let first_key = u32_of(self.batch.keys.len());
        for (index, property) in &columns.indexes {
            if let Some(stored) = self.record.stored(*property) {
                let value = Value::decode(stored).expect("it was encoded just now");
                let key = ValueKey::of(&value);
                let start = position(out);
                out.extend_from_slice(&key.bytes);
                let bytes = start..position(out);
                self.batch.keys.push(IndexKey { index: *index, bytes, cut: key.cut });
            }
        }
        let keys = first_key..u32_of(self.batch.keys.len());
        Ok(NodeRow { id, properties, label_set, keys })
    }

    fn labels(
        &mut self,
        row: &Row<'_>,
        column: &Column,
    ) -> std::result::Result<Option<u32>, BadRow> {
        let field = row.text(column.index);
        if let Some((last, set)) = &self.last
            && **last == *field
        {
            return Ok(Some(*set));
        }
        let wrong = |reason: String| row.bad(Fault::Wrong, Some(column), reason);
        let text = std::str::from_utf8(&field)
            .map_err(|_| wrong("it is not valid UTF-8; save the file as UTF-8".into()))?;
        let mut names: Vec<String> = Vec::new();
        for name in split_names(text, char::from(row.array_delimiter())).map_err(wrong)? {
            if name.is_empty() {
                continue;
            }
            check_name("label", &name).map_err(|error| wrong(error.to_string()))?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let sets = &mut self.batch.label_sets;
        let set = *self.sets.entry(names).or_insert_with_key(|names| {
            sets.push(names.clone());
            u32_of(sets.len() - 1)
        });
        self.last = Some((field.into_owned(), set));
        Ok(Some(set))
    }
}

/// Fills a record with the properties of a row.
pub(super) fn set_properties(
    record: &mut RecordBuilder,
    row: &Row<'_>,
    properties: &[(Column, PropertyKeyId)],
) -> std::result::Result<(), BadRow> {
    record.clear();
    let mut present = 0;
    for (column, key) in properties {
        let set = record.set_with(*key, |out| row.encode(column, out));
        match set {
            Ok(set) => present += usize::from(set),
            Err(error) => return Err(row.bad(Fault::Wrong, Some(column), error.to_string())),
        }
    }
    if present == record.property_count() { Ok(()) } else { Err(twice(row, properties)) }
}

/// Two columns of one name, of different types, are both filled.
#[cold]
fn twice(row: &Row<'_>, properties: &[(Column, PropertyKeyId)]) -> BadRow {
    let mut seen = Vec::new();
    for (column, key) in properties {
        if matches!(row.encode(column, &mut Vec::new()), Ok(true)) {
            if seen.contains(key) {
                let reason =
                    "an earlier column sets the same property in this row; fill only one of them";
                return row.bad(Fault::Wrong, Some(column), reason);
            }
            seen.push(*key);
        }
    }
    unreachable!("a property is set twice")
}

/// What stands between the parts of an id of several columns.
pub(super) const ID_PART_END: u8 = 0x1f;

/// Appends the id that the columns of a row give; nothing when all are empty.
pub(super) fn append_id(out: &mut Vec<u8>, row: &Row<'_>, columns: &[Column]) {
    let start = out.len();
    let mut is_empty = true;
    for (number, column) in columns.iter().enumerate() {
        if number > 0 {
            out.push(ID_PART_END);
        }
        let text = row.id(column);
        is_empty &= text.is_empty();
        out.extend_from_slice(&text);
    }
    if is_empty {
        out.truncate(start);
    }
}

/// Why the id of a row is none: a column that is no property is looked at by nobody else.
fn check_ids(row: &Row<'_>, columns: &NodeColumns) -> std::result::Result<(), BadRow> {
    for column in columns.ids.iter().filter(|column| column.is_number()) {
        if let Err(error) = row.encode(column, &mut Vec::new()) {
            return Err(row.bad(Fault::Wrong, Some(column), error.to_string()));
        }
    }
    Ok(())
}

/// An id as a message shows it.
pub(super) fn shown(id: &[u8]) -> String {
    const CHARS_MAX: usize = 40;
    let text = String::from_utf8_lossy(id).replace(char::from(ID_PART_END), ", ");
    let mut shown: String = text.chars().take(CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

fn position(bytes: &[u8]) -> u32 {
    u32_of(bytes.len())
}

pub(super) fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a block is far below 4 GiB")
}

/// The columns of a header that are properties, with the ids of their keys.
pub(super) fn property_columns(
    header: &Header,
    file: &std::path::Path,
    txn: &mut GraphTxn,
) -> Result<Vec<(Column, PropertyKeyId)>> {
    let mut properties = Vec::new();
    for (column, name) in header.properties() {
        check_name("property key", name).map_err(|error| {
            LoadError::line(file, 1, error.to_string()).at_column(column.index + 1, &column.text)
        })?;
        properties.push((column.clone(), txn.catalog_mut().property_key_or_new(name)));
    }
    Ok(properties)
}
