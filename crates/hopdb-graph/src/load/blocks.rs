//! The rows of a load's files in blocks, each some thousand rows that one thread works on.
//!
//! [`Blocks`] reads files front to back, in the order of the plan, and cuts them; [`Block::for_each`] gives the
//! rows of a block with their places. Whether a row is text or values is known here and not above.
//!
//! Invariant: the rows of all blocks, in order, are the rows of all files, in order; a row's line is the one on
//! which it begins in its file, also behind quoted newlines.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::bad_rows::{BadRow, Fault};
use super::csv::{Broken, Chunk, Chunks, Dialect, Record, Records};
use super::field::{Field, FieldError, FieldRules, encode_field, encode_value};
use super::header::Column;
use super::run::Context;
use super::table::{Table, TableRow};
use super::unpack::{self, Text};
use crate::error::{GraphError, LoadError, Result};
use crate::value::Value;
use crate::value::field_text::Separators;

/// A file of a load, with what its columns mean.
pub(super) struct Part<C> {
    pub(super) file: Arc<Path>,
    pub(super) columns: Arc<C>,
    /// Fields in the header.
    pub(super) width: usize,
    pub(super) content: Content,
}

/// How a file's rows are got.
pub(super) enum Content {
    /// Text to be opened when its turn comes. A first row like `header` is no row of data.
    Text { header: Option<Arc<[u8]>> },
    /// Text that is open and read up to the first row of data.
    Opened(Box<Chunks<Text>>),
    /// Rows of values.
    Table(Box<dyn Table>),
    /// Rows read before: their line in this file, and their text.
    Rows(std::vec::IntoIter<(u64, Vec<u8>)>),
}

/// Reads parts as blocks.
pub(super) struct Blocks<'c, C> {
    context: &'c Context<'c>,
    parts: std::vec::IntoIter<Part<C>>,
    current: Option<Part<C>>,
}

impl<'c, C> Blocks<'c, C> {
    pub(super) fn new(context: &'c Context<'c>, parts: Vec<Part<C>>) -> Self {
        Self { context, parts: parts.into_iter(), current: None }
    }

    /// The next block; `None` behind the last row of the last file.
    pub(super) fn next(&mut self) -> Result<Option<Block<C>>> {
        self.context.check_stopped()?;
        loop {
            if let Some(part) = &mut self.current {
                if let Some(body) = part.next(self.context)? {
                    let (file, columns) = (Arc::clone(&part.file), Arc::clone(&part.columns));
                    return Ok(Some(Block { file, columns, width: part.width, body }));
                }
                self.current = None;
            }
            self.current = self.parts.next();
            if self.current.is_none() {
                return Ok(None);
            }
        }
    }
}

impl<C> Blocks<'_, C> {
    /// The next block, and its bytes.
    pub(super) fn next_weighed(&mut self) -> Result<Option<(Block<C>, usize)>> {
        Ok(self.next()?.map(|block| {
            let bytes = block.bytes();
            (block, bytes)
        }))
    }
}

impl<C> Part<C> {
    fn next(&mut self, context: &Context<'_>) -> Result<Option<Body>> {
        match &mut self.content {
            Content::Text { header } => {
                let header = header.clone();
                let dialect = context.plan.dialect;
                let mut chunks = open(context, &self.file)?;
                let first = chunks.first_record().map_err(|error| self.unreadable(&error))?;
                self.content = Content::Opened(Box::new(chunks));
                let Some(chunk) = first else { return Ok(None) };
                match header.map_or(First::Row, |header| First::of(&header, &chunk.text, dialect)) {
                    First::Row => self.text(chunk).map(Some),
                    First::Header => self.next(context),
                    First::OtherHeader => {
                        let reason = "it begins with another header than the first file of its group; \
                                      load it by a --nodes or --relationships of its own";
                        Err(LoadError::line(&*self.file, chunk.first_line, reason).into())
                    }
                }
            }
            Content::Opened(chunks) => {
                let chunk = chunks.next_chunk();
                let chunk = chunk.map_err(|error| self.unreadable(&error))?;
                chunk.map(|chunk| self.text(chunk)).transpose()
            }
            Content::Table(table) => Ok(table.next_rows()?.map(Body::Values)),
            Content::Rows(rows) => Ok(rows.next().map(|(first_line, text)| {
                Body::Text(Chunk { text, first_line, unclosed: false, too_long: false })
            })),
        }
    }

    fn unreadable(&self, error: &std::io::Error) -> GraphError {
        LoadError::file(&*self.file, unpack::describe(error)).into()
    }

    /// Rows, unless only the beginning of one is held.
    fn text(&self, chunk: Chunk) -> Result<Body> {
        if !chunk.too_long {
            return Ok(Body::Text(chunk));
        }
        let reason = "the row that begins here is longer than 256 MiB; is a quote never closed?";
        Err(LoadError::line(&*self.file, chunk.first_line, reason).into())
    }
}

/// Opens a file of text.
pub(super) fn open(context: &Context<'_>, file: &Path) -> Result<Chunks<Text>> {
    let text = unpack::open(context.source, file, &context.progress.counter())?;
    Ok(Chunks::new(text, context.plan.dialect))
}

/// What the first row of a further file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Row,
    Header,
    /// It has a column of the header that says its type, or all of them in another order.
    OtherHeader,
}

impl First {
    fn of(header: &[u8], row: &[u8], dialect: Dialect) -> Self {
        let (mut first, mut second) = (Record::new(), Record::new());
        let read = Records::new(header, 1, dialect).next(&mut first)
            && Records::new(row, 1, dialect).next(&mut second);
        if !read {
            return Self::Row;
        }
        let fields = |record: &Record<'_>| -> Vec<Vec<u8>> {
            (0..record.len()).map(|index| record.text(index).trim_ascii().to_vec()).collect()
        };
        let (mut first, mut second) = (fields(&first), fields(&second));
        if first == second {
            return Self::Header;
        }
        if second.iter().any(|field| field.contains(&b':') && first.contains(field)) {
            return Self::OtherHeader;
        }
        first.sort_unstable();
        second.sort_unstable();
        if first == second { Self::OtherHeader } else { Self::Row }
    }
}

/// Some rows of one file.
pub(super) struct Block<C> {
    pub(super) file: Arc<Path>,
    pub(super) columns: Arc<C>,
    width: usize,
    body: Body,
}

enum Body {
    Text(Chunk),
    Values(Vec<TableRow>),
}

/// How rows are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRules {
    pub(super) dialect: Dialect,
    pub(super) fields: FieldRules,
    pub(super) ignore_extra_columns: bool,
    /// Bad rows that are tolerated: those of a block behind one more do not matter.
    pub(super) bad_max: u64,
    /// Whether a relationship that dangles is one of them.
    pub(super) dangling_counts: bool,
}

/// Counts the bad rows of a block, up to where no further row matters.
#[derive(Debug, Default)]
pub(super) struct BadCount(u64);

impl BadCount {
    pub(super) fn add(&mut self, bad: &BadRow, rules: &RowRules) {
        self.0 += u64::from(bad.fault != Fault::Dangling || rules.dangling_counts);
    }

    /// Whether the load stops at a row that was counted.
    pub(super) fn is_over(&self, rules: &RowRules) -> bool {
        self.0 > rules.bad_max
    }
}

impl<C> Block<C> {
    /// Bytes of memory that it takes, about.
    fn bytes(&self) -> usize {
        match &self.body {
            Body::Text(chunk) => chunk.text.len(),
            Body::Values(rows) => rows.iter().map(bytes_of_row).sum(),
        }
    }

    /// Visits the rows in order: each, or why it is none.
    pub(super) fn for_each<'b>(
        &'b self,
        rules: &'b RowRules,
        mut visit: impl FnMut(std::result::Result<Row<'_>, BadRow>),
    ) {
        match &self.body {
            Body::Text(chunk) if chunk.unclosed => visit(Err(self.unclosed(chunk))),
            Body::Text(chunk) => {
                let mut records = Records::new(&chunk.text, chunk.first_line, rules.dialect);
                let mut record = Record::new();
                while records.next(&mut record) {
                    let row = self.row(rules, Cells::Text(&record));
                    visit(row.checked(self.width));
                }
            }
            Body::Values(rows) => {
                for values in rows {
                    let row = self.row(rules, Cells::Values(values));
                    visit(match &values.bad {
                        Some(reason) => Err(row.bad(Fault::Wrong, None, reason.clone())),
                        None => Ok(row),
                    });
                }
            }
        }
    }

    /// Of the row only the beginning was kept, in which the quote may not be.
    #[cold]
    fn unclosed(&self, chunk: &Chunk) -> BadRow {
        let reason = "a quote opened in this row is never closed";
        let error = LoadError::line(&*self.file, chunk.first_line, reason);
        BadRow { error, fault: Fault::Fatal, source: chunk.text.clone() }
    }

    fn row<'r>(&'r self, rules: &'r RowRules, cells: Cells<'r>) -> Row<'r> {
        Row { file: &self.file, rules, cells }
    }
}

/// One row, valid until the next is read.
#[derive(Clone, Copy)]
pub(super) struct Row<'r> {
    file: &'r Arc<Path>,
    rules: &'r RowRules,
    cells: Cells<'r>,
}

#[derive(Clone, Copy)]
enum Cells<'r> {
    Text(&'r Record<'r>),
    Values(&'r TableRow),
}

impl<'r> Row<'r> {
    /// The line on which the row begins.
    pub(super) fn line(&self) -> u64 {
        match self.cells {
            Cells::Text(record) => record.line(),
            Cells::Values(row) => row.line,
        }
    }

    /// The row as it stands in its file, or as CSV where that is no text.
    pub(super) fn source(&self) -> Vec<u8> {
        match self.cells {
            Cells::Text(record) => record.source().to_vec(),
            Cells::Values(row) => match &row.source {
                Some(source) => source.clone().into_bytes(),
                None => csv_of(&row.values, self.rules),
            },
        }
    }

    /// The text of the cell in column `index`: empty where there is none.
    pub(super) fn text(&self, index: usize) -> Cow<'r, [u8]> {
        match self.cells {
            Cells::Text(record) => Cow::Borrowed(record.text(index)),
            Cells::Values(row) => match row.values.get(index) {
                Some(Value::String(text)) => Cow::Borrowed(text.as_bytes()),
                Some(Value::Null) | None => Cow::Borrowed(&[]),
                Some(value) => Cow::Owned(field_of(value, self.rules).into_bytes()),
            },
        }
    }

    /// The id, or the part of one, in a column, as it is compared: numbers in one spelling, and other text as a
    /// property would have it.
    #[inline]
    pub(super) fn id(&self, column: &Column) -> Cow<'r, [u8]> {
        let text = self.text(column.index);
        if column.is_number() {
            return number_of(text);
        }
        let trims = self.rules.fields.trim_strings
            && self.field(column.index).is_some_and(|field| !field.quoted);
        if trims { trimmed(text) } else { text }
    }

    /// Appends the stored value of a cell; false when there is none.
    pub(super) fn encode(
        &self,
        column: &Column,
        out: &mut Vec<u8>,
    ) -> std::result::Result<bool, FieldError> {
        match self.cells {
            Cells::Text(record) => {
                let index = column.index;
                let field = Field { text: record.text(index), quoted: record.is_quoted(index) };
                encode_field(column, &self.rules.fields, field, out)
            }
            Cells::Values(row) => match row.values.get(column.index) {
                Some(Value::Null) | None => Ok(false),
                Some(value) if column.untyped => encode_any(value, out),
                Some(value) => encode_value(&column.column_type, &self.rules.fields, value, out),
            },
        }
    }

    /// What stands between the items of an array.
    pub(super) fn array_delimiter(&self) -> u8 {
        self.rules.fields.array_delimiter
    }

    /// The field in column `index` of a row of text.
    pub(super) fn field(&self, index: usize) -> Option<Field<'_>> {
        match self.cells {
            Cells::Text(record) => {
                Some(Field { text: record.text(index), quoted: record.is_quoted(index) })
            }
            Cells::Values(_) => None,
        }
    }

    /// Why the row cannot be loaded.
    #[cold]
    pub(super) fn bad(
        &self,
        fault: Fault,
        column: Option<&Column>,
        reason: impl Into<String>,
    ) -> BadRow {
        let mut error = LoadError::line(&**self.file, self.line(), reason);
        if let Some(column) = column {
            error = error.at_column(column.index + 1, &column.text);
        }
        BadRow { error, fault, source: self.source() }
    }

    fn checked(self, width: usize) -> std::result::Result<Self, BadRow> {
        let Cells::Text(record) = self.cells else { return Ok(self) };
        let fits = match self.rules.ignore_extra_columns {
            true => record.len() >= width,
            false => record.len() == width,
        };
        match record.broken() {
            None if fits => Ok(self),
            broken => Err(self.misshapen(record, broken, width)),
        }
    }

    #[cold]
    fn misshapen(&self, record: &Record<'_>, broken: Option<Broken>, width: usize) -> BadRow {
        match broken {
            Some(Broken::Unclosed) => {
                let reason = "a quote opened in this row is never closed";
                self.bad(Fault::Fatal, None, reason)
            }
            Some(Broken::NewlineInQuotes) => {
                let reason = "a quoted field runs over the end of the line, which \
                              --multiline-fields=false rules out; is a quote never closed?";
                self.bad(Fault::Wrong, None, reason)
            }
            None => {
                let found = record.len();
                let hint = match found {
                    1 => "; is the delimiter right?",
                    _ if found > width => "; --ignore-extra-columns leaves the further ones out",
                    _ => "",
                };
                self.bad(
                    Fault::Wrong,
                    None,
                    format!("expected {width} columns, found {found}{hint}"),
                )
            }
        }
    }
}

fn trimmed(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_vec()),
    }
}

/// The text of an integer without plus sign and leading zeros; as it is where it is none.
#[inline]
fn number_of(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let text = trimmed(text);
    match *text {
        [b'1'..=b'9', ..] | [b'0'] | [] => text,
        _ => spelled(&text).map_or(text, Cow::Owned),
    }
}

#[cold]
fn spelled(text: &[u8]) -> Option<Vec<u8>> {
    let number = std::str::from_utf8(text).ok()?.parse::<i64>().ok()?;
    Some(number.to_string().into_bytes())
}

fn bytes_of_row(row: &TableRow) -> usize {
    let source = row.source.as_ref().map_or(0, String::len);
    source + row.values.iter().map(bytes_of_value).sum::<usize>()
}

fn bytes_of_value(value: &Value) -> usize {
    let more = match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(values) => values.iter().map(bytes_of_value).sum(),
        _ => 0,
    };
    size_of::<Value>() + more
}

/// A value of a column that holds any.
fn encode_any(value: &Value, out: &mut Vec<u8>) -> std::result::Result<bool, FieldError> {
    let start = out.len();
    match value.encode(out) {
        Ok(()) => Ok(true),
        Err(error) => {
            out.truncate(start);
            Err(FieldError { text: String::new(), wanted: "a value", why: error.to_string() })
        }
    }
}

/// The value as a field has it; as Cypher writes it where no field can hold it.
fn field_of(value: &Value, rules: &RowRules) -> String {
    let FieldRules { quote, array_delimiter, vector_delimiter, .. } = rules.fields;
    let separators = Separators { quote, array_delimiter, vector_delimiter };
    let mut text = String::new();
    match value.write_field(&separators, &mut text) {
        Ok(_) => text,
        Err(_) => value.to_string(),
    }
}

fn csv_of(values: &[Value], rules: &RowRules) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(rules.dialect.delimiter());
        }
        if !value.is_null() {
            super::csv::write_field(
                &mut out,
                field_of(value, rules).as_bytes(),
                rules.dialect,
                true,
            );
        }
    }
    out
}
