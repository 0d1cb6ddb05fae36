//! A block of relationship rows, read by one thread: ends looked up, properties encoded.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::bad_rows::{BadRow, Fault};
use super::blocks::{BadCount, Block, Row, RowRules};
use super::header::Column;
use super::ids::{FOUND, Ids, Lookup};
use super::names::whole_name;
use super::node_rows::{append_id, set_properties, shown, u32_of};
use super::words::{Fields, Piece, Widths};
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
    /// Whether the id is the text of one column as it stands.
    pub(super) is_plain: bool,
}

/// The rows of a block.
#[derive(Debug, Default)]
pub(super) struct RelationshipBatch {
    /// The type is a position in `types` where those are, and the number is 0.
    pub(super) words: Vec<u128>,
    /// The words packed, where nothing is left to be put into them.
    pub(super) piece: Option<Piece>,
    /// Names of types met, when types come from a column.
    pub(super) types: Vec<TypeName>,
    /// Property blocks, one behind the other.
    pub(super) properties: Vec<u8>,
    /// Position in `words`, and place of its block in `properties`, for each that has one; ascending.
    pub(super) with_properties: Vec<(u32, Range<u32>)>,
    /// In the order of the rows.
    pub(super) bad: Vec<BadRow>,
}

/// A relationship type as a row names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TypeName {
    Known(TypeId),
    Named(String),
}

impl RelationshipBatch {
    /// Reads the rows of a block.
    ///
    /// `widths`, when rows are not numbered later, are those of the sorter.
    ///
    /// # Errors
    /// Failed reads of the graph that is there.
    pub(super) fn read(
        block: &Block<RelationshipColumns>,
        rules: &RowRules,
        ids: &Ids,
        widths: Option<Widths>,
    ) -> Result<Self> {
        let columns = &*block.columns;
        let mut reader = Reader::default();
        let mut failed = None;
        let mut bad_count = BadCount::default();
        let mut row_number = 0;
        block.for_each(rules, |row| {
            if failed.is_some() || bad_count.is_over(rules) {
                return;
            }
            let read = match row {
                Ok(row) => reader.read(&row, row_number, columns, ids),
                Err(bad) => Ok(Err(bad)),
            };
            match read {
                Ok(Ok(())) => {}
                Ok(Err(bad)) => {
                    bad_count.add(&bad, rules);
                    reader.bad.push((row_number, bad));
                }
                Err(error) => failed = Some(error),
            }
            row_number += 1;
        });
        if let Some(error) = failed {
            return Err(error);
        }
        for (ends, end) in [(&mut reader.starts, &columns.start), (&mut reader.ends, &columns.end)]
        {
            ids.find_integers(&end.lookup, ends);
        }
        let mut batch = reader.finish(block, rules, ids)?;
        if let Some(widths) = widths
            && columns.type_column.is_none()
        {
            batch.piece = Some(widths.piece(&batch.words));
            batch.words = Vec::new();
        }
        Ok(batch)
    }
}

#[derive(Default)]
struct Reader {
    batch: RelationshipBatch,
    /// For each row that is not bad, its two ends, each a node, or an id that is looked up with all others of the
    /// block: those wait for memory together, not one after the other.
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Of the same rows.
    types: Vec<u32>,
    row_numbers: Vec<u32>,
    /// Position among these, and end of the block in `properties`.
    property_ends: Vec<(u32, u32)>,
    bad: Vec<(u32, BadRow)>,
    record: RecordBuilder,
    id: Vec<u8>,
    /// The type field of the row before, and its position: types mostly repeat.
    last: Option<(Vec<u8>, u32)>,
    /// Positions of the types met.
    types_met: FxHashMap<TypeName, u32>,
}

impl Reader {
    fn read(
        &mut self,
        row: &Row<'_>,
        row_number: u32,
        columns: &RelationshipColumns,
        ids: &Ids,
    ) -> Result<std::result::Result<(), BadRow>> {
        let start = match self.end(row, &columns.start, ids)? {
            Ok(end) => end,
            Err(bad) => return Ok(Err(bad)),
        };
        let end = match self.end(row, &columns.end, ids)? {
            Ok(end) => end,
            Err(bad) => return Ok(Err(bad)),
        };
        match self.rest(row, columns) {
            Ok(type_id) => {
                self.starts.push(start);
                self.ends.push(end);
                self.types.push(type_id);
                self.row_numbers.push(row_number);
                Ok(Ok(()))
            }
            Err(bad) => Ok(Err(Self::first_fault(row, columns, ids, bad))),
        }
    }

    /// What is wrong with a row first: an end that is missing comes before its type and properties, and may not
    /// have been looked up yet.
    #[cold]
    fn first_fault(row: &Row<'_>, columns: &RelationshipColumns, ids: &Ids, bad: BadRow) -> BadRow {
        match Self::missing_end(row, columns, ids) {
            Some(end) => Self::dangling(row, end, ids),
            None => bad,
        }
    }

    /// The first end whose id is an integer that means no node.
    fn missing_end<'c>(
        row: &Row<'_>,
        columns: &'c RelationshipColumns,
        ids: &Ids,
    ) -> Option<&'c End> {
        [&columns.start, &columns.end].into_iter().find(|end| {
            // Ids of several columns were looked up at once.
            let [column] = &end.columns[..] else { return false };
            let integer = ids.integer(&end.lookup, &row.id(column));
            integer.is_some_and(|integer| ids.find_integer(&end.lookup, integer).is_none())
        })
    }

    /// Type and properties.
    fn rest(
        &mut self,
        row: &Row<'_>,
        columns: &RelationshipColumns,
    ) -> std::result::Result<u32, BadRow> {
        let type_id = match &columns.type_column {
            Some(column) => self.type_of(row, column, columns.type_id)?,
            None => columns.type_id.expect("a file without types is refused").0,
        };
        if !columns.properties.is_empty() {
            set_properties(&mut self.record, row, &columns.properties)?;
            if self.record.property_count() > 0 {
                self.record.write_properties(&mut self.batch.properties);
                let at = u32_of(self.starts.len());
                self.property_ends.push((at, u32_of(self.batch.properties.len())));
            }
        }
        Ok(type_id)
    }

    /// A node, or an id to be looked up: see [`Ids::find_integers`].
    #[inline]
    fn end(
        &mut self,
        row: &Row<'_>,
        end: &End,
        ids: &Ids,
    ) -> Result<std::result::Result<u64, BadRow>> {
        if end.is_plain
            && let Some(field) = row.field(end.columns[0].index)
            && let Some(integer) = ids.integer(&end.lookup, field.text)
        {
            return Ok(Ok(integer));
        }
        let found = match &end.columns[..] {
            [column] => {
                let id = row.id(column);
                match ids.integer(&end.lookup, &id) {
                    Some(integer) => return Ok(Ok(integer)),
                    None => ids.find(&end.lookup, &id)?,
                }
            }
            columns => {
                self.id.clear();
                append_id(&mut self.id, row, columns);
                ids.find(&end.lookup, &self.id)?
            }
        };
        Ok(match found {
            Some(node) => Ok(FOUND | node.0),
            None => Err(Self::dangling(row, end, ids)),
        })
    }

    /// Packs what was read, and finds the rows whose ends are not there.
    fn finish(
        mut self,
        block: &Block<RelationshipColumns>,
        rules: &RowRules,
        ids: &Ids,
    ) -> Result<RelationshipBatch> {
        let mut dangling = Vec::new();
        let mut property_ends = self.property_ends.iter().peekable();
        let mut start = 0;
        let words = &mut self.batch.words;
        words.reserve_exact(self.starts.len());
        let rows = self.starts.iter().zip(&self.ends).zip(self.types.iter().zip(&self.row_numbers));
        for (at, ((node, other), (type_id, row_number))) in (0..).zip(rows) {
            let block = property_ends.next_if(|(row, _)| *row == at).map(|(_, end)| {
                let block = start..*end;
                start = *end;
                block
            });
            if node & other & FOUND == 0 {
                dangling.push(*row_number);
                continue;
            }
            if let Some(block) = block {
                self.batch.with_properties.push((u32_of(words.len()), block));
            }
            let (node, other) = (node & !FOUND, other & !FOUND);
            words.push(Fields { node, type_id: *type_id, other, number: 0 }.pack());
        }
        if !dangling.is_empty() {
            self.add_dangling(block, rules, ids, &dangling);
        }
        self.bad.sort_by_key(|(row_number, _)| *row_number);
        self.batch.bad = self.bad.into_iter().map(|(_, bad)| bad).collect();
        Ok(self.batch)
    }

    #[cold]
    fn add_dangling(
        &mut self,
        block: &Block<RelationshipColumns>,
        rules: &RowRules,
        ids: &Ids,
        dangling: &[u32],
    ) {
        let columns = &*block.columns;
        let mut row_number = 0;
        let mut left = dangling;
        block.for_each(rules, |row| {
            if left.first() == Some(&row_number)
                && let Ok(row) = row
            {
                left = &left[1..];
                let missing = Self::missing_end(&row, columns, ids);
                let end = missing.expect("one of the ends was not found");
                self.bad.push((row_number, Self::dangling(&row, end, ids)));
            }
            row_number += 1;
        });
    }

    #[cold]
    fn dangling(row: &Row<'_>, end: &End, ids: &Ids) -> BadRow {
        let mut id = Vec::new();
        append_id(&mut id, row, &end.columns);
        let column = end.columns.first();
        if id.is_empty() {
            return row.bad(Fault::Dangling, column, "the id is empty");
        }
        let space = match ids.space_name(end.lookup.space) {
            "" => String::new(),
            name => format!(" in the id space {name}"),
        };
        let before = match end.lookup.index {
            Some(_) => ", and the index has no such node",
            None if ids.adds() => "; --from-nodes and --to-nodes find nodes that are there already",
            None => "",
        };
        let reason = format!("no node file has the id {}{space}{before}", shown(&id));
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
                let name = whole_name(name).map_err(wrong)?;
                check_name("relationship type", &name).map_err(|error| wrong(error.to_string()))?;
                TypeName::Named(name.into_owned())
            }
        };
        let types = &mut self.batch.types;
        let at = *self.types_met.entry(name).or_insert_with_key(|name| {
            types.push(name.clone());
            u32_of(types.len() - 1)
        });
        self.last = Some((field.into_owned(), at));
        Ok(at)
    }
}
