//! A block of relationship rows, read by one thread: ends looked up, properties encoded.

use super::bad_rows::{BadRow, Fault};
use super::blocks::{Block, Row, RowRules};
use super::header::Column;
use super::ids::{Ids, Lookup};
use super::node_rows::{append_id, is_number, set_properties, shown};
use super::words::Fields;
use crate::error::Result;
use crate::ids::{PropertyKeyId, TypeId};
use crate::record::RecordBuilder;
use crate::write::check_name;

/// What the columns of a file of relationships mean, with names turned into ids.
#[derive(Debug)]
pub(super) struct RelationshipColumns {
    pub(super) start: End,
    pub(super) end: End,
    pub(super) type_column: Option<Column>,
    pub(super) type_id: Option<TypeId>,
    pub(super) properties: Vec<(Column, PropertyKeyId)>,
}

/// The columns of one end, and where its ids are looked up.
#[derive(Debug)]
pub(super) struct End {
    pub(super) columns: Vec<Column>,
    pub(super) lookup: Lookup,
}

/// The rows of a block.
#[derive(Debug, Default)]
pub(super) struct RelationshipBatch {
    /// Sorted by start; the type is a position in `types` where those are, and the number is 0.
    pub(super) words: Vec<u128>,
    /// Names of types met, when types come from a column.
    pub(super) types: Vec<TypeName>,
    /// Property blocks, one behind the other.
    pub(super) properties: Vec<u8>,
    /// Position in `words` and end in `properties` of each block.
    pub(super) property_ends: Vec<(u32, u32)>,
    pub(super) bad: Vec<BadRow>,
}

/// A relationship type as a row names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TypeName {
    Known(TypeId),
    Named(String),
}

impl RelationshipBatch {
    /// Reads the rows of a block.
    ///
    /// # Errors
    /// Failed reads of the graph that is there.
    pub(super) fn read(
        block: &Block<RelationshipColumns>,
        rules: &RowRules,
        ids: &Ids,
    ) -> Result<Self> {
        let columns = &*block.columns;
        let mut reader = Reader {
            batch: Self::default(),
            record: RecordBuilder::new(),
            id: Vec::new(),
            last: None,
        };
        let mut failed = None;
        block.for_each(rules, |row| {
            if failed.is_some() {
                return;
            }
            let read = match row {
                Ok(row) => reader.read(&row, columns, ids),
                Err(bad) => Ok(Err(bad)),
            };
            match read {
                Ok(Ok(())) => {}
                Ok(Err(bad)) => reader.batch.bad.push(bad),
                Err(error) => failed = Some(error),
            }
        });
        failed.map_or(Ok(reader.batch), Err)
    }
}

struct Reader {
    batch: RelationshipBatch,
    record: RecordBuilder,
    id: Vec<u8>,
    /// The type field of the row before, and its position: types mostly repeat.
    last: Option<(Vec<u8>, u32)>,
}

impl Reader {
    fn read(
        &mut self,
        row: &Row<'_>,
        columns: &RelationshipColumns,
        ids: &Ids,
    ) -> Result<std::result::Result<(), BadRow>> {
        let node = match self.end(row, &columns.start, ids)? {
            Ok(node) => node,
            Err(bad) => return Ok(Err(bad)),
        };
        let other = match self.end(row, &columns.end, ids)? {
            Ok(node) => node,
            Err(bad) => return Ok(Err(bad)),
        };
        Ok(self.rest(row, columns, (node, other)))
    }

    fn rest(
        &mut self,
        row: &Row<'_>,
        columns: &RelationshipColumns,
        (node, other): (u64, u64),
    ) -> std::result::Result<(), BadRow> {
        let type_id = match &columns.type_column {
            Some(column) => self.type_of(row, column, columns.type_id)?,
            None => columns.type_id.expect("a file without types is refused").0,
        };
        if !columns.properties.is_empty() {
            set_properties(&mut self.record, row, &columns.properties)?;
            if !self.record.has_no_properties() {
                self.record.write_properties(&mut self.batch.properties);
                let at = u32_of(self.batch.words.len());
                self.batch.property_ends.push((at, u32_of(self.batch.properties.len())));
            }
        }
        self.batch.words.push(Fields { node, type_id, other, number: 0 }.pack());
        Ok(())
    }

    #[inline]
    fn end(
        &mut self,
        row: &Row<'_>,
        end: &End,
        ids: &Ids,
    ) -> Result<std::result::Result<u64, BadRow>> {
        let found = match &end.columns[..] {
            [column] if !is_number(column) => ids.find(&end.lookup, &row.text(column.index))?,
            columns => {
                self.id.clear();
                append_id(&mut self.id, row, columns);
                ids.find(&end.lookup, &self.id)?
            }
        };
        Ok(match found {
            Some(node) => Ok(node.0),
            None => Err(self.dangling(row, end, ids)),
        })
    }

    #[cold]
    fn dangling(&mut self, row: &Row<'_>, end: &End, ids: &Ids) -> BadRow {
        self.id.clear();
        append_id(&mut self.id, row, &end.columns);
        let column = end.columns.first();
        if self.id.is_empty() {
            return row.bad(Fault::Dangling, column, "the id is empty");
        }
        let space = match ids.space_name(end.lookup.space) {
            "" => String::new(),
            name => format!(" in the id space {name}"),
        };
        let before =
            if end.lookup.index.is_some() { ", and the index has no such node" } else { "" };
        let reason = format!("no node file has the id {}{space}{before}", shown(&self.id));
        row.bad(Fault::Dangling, column, reason)
    }

    /// Position of the row's type in `types`.
    fn type_of(
        &mut self,
        row: &Row<'_>,
        column: &Column,
        default: Option<TypeId>,
    ) -> std::result::Result<u32, BadRow> {
        let field = row.text(column.index);
        if let Some((last, at)) = &self.last
            && **last == *field
        {
            return Ok(*at);
        }
        let name = match (field.trim_ascii(), default) {
            ([], Some(type_id)) => TypeName::Known(type_id),
            ([], None) => {
                return Err(row.bad(Fault::Dangling, Some(column), "the relationship has no type"));
            }
            (name, _) => {
                let wrong = |reason: String| row.bad(Fault::Wrong, Some(column), reason);
                let name = std::str::from_utf8(name)
                    .map_err(|_| wrong("it is not valid UTF-8; save the file as UTF-8".into()))?;
                check_name("relationship type", name).map_err(|error| wrong(error.to_string()))?;
                TypeName::Named(name.to_owned())
            }
        };
        let types = &mut self.batch.types;
        let at = types.iter().position(|other| *other == name).unwrap_or_else(|| {
            types.push(name);
            types.len() - 1
        });
        let at = u32_of(at);
        self.last = Some((field.into_owned(), at));
        Ok(at)
    }
}

fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a block is far below 4 GiB")
}
