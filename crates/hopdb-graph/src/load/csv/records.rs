//! The records of a chunk.
//!
//! Must not cut: what is given to it is whole rows. Must not check: bytes may be no UTF-8, and rows
//! of any length.
//!
//! Unquoted fields are what most files consist of. They go through [`Records::plain`], which looks
//! at words of eight bytes and touches no byte but those behind delimiters. A quoted field without
//! quotes or escapes in it is a span of the text too. Only the others are copied.
//!
//! Invariant: a field is a span of the text, or of the record's own buffer, and spans never grow
//! past the row.

use super::Dialect;
use super::chunks::blank_lines;
use super::needles::{Needles, WORD_BYTES, append, first};

/// Reads records from text that holds whole rows.
#[derive(Debug)]
pub struct Records<'t> {
    text: &'t [u8],
    at: usize,
    /// The line of `at`, from 1.
    line: u64,
    dialect: Dialect,
    /// What ends an unquoted field.
    outside: Needles<2>,
    /// What matters in a quoted field.
    inside: Needles<3>,
}

/// One record: fields as spans of the text, with buffers that are used again.
#[derive(Clone, Debug, Default)]
pub struct Record<'t> {
    text: &'t [u8],
    source: &'t [u8],
    line: u64,
    broken: Option<Broken>,
    /// How many newlines are in its fields.
    newlines: u64,
    fields: Vec<Field>,
    /// Fields that differ from their text in the file, one behind the other.
    unescaped: Vec<u8>,
}

/// How a record is broken. Its fields are given as far as they can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The line, or the text, ended inside quotes, in a dialect without fields of many lines.
    NewlineInQuotes,
    /// A quote is not closed before the end of the text, in a dialect with fields of many lines.
    Unclosed,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A span of the text.
    Plain,
    /// A span of the text, between quotes.
    Quoted,
    /// A span of the buffer.
    Unescaped,
}

/// What comes behind a field.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// Another field, from here.
    Field(usize),
    /// Nothing in this row: `end` is where the row's text ends, `newline` where its line does.
    Row { end: usize, newline: usize },
}

impl<'t> Records<'t> {
    /// Reads `text`, whole rows, which begins on line `first_line` of its file.
    #[must_use]
    pub fn new(text: &'t [u8], first_line: u64, dialect: Dialect) -> Self {
        let quote = dialect.quote();
        Self {
            text,
            at: 0,
            line: first_line,
            dialect,
            outside: Needles::new([dialect.delimiter(), b'\n']),
            inside: Needles::new([quote, dialect.escape().unwrap_or(quote), b'\n']),
        }
    }

    /// Reads the next record into `record`, whose buffers are used again; false at the end. Blank
    /// lines are skipped.
    pub fn next(&mut self, record: &mut Record<'t>) -> bool {
        let text = self.text;
        // Hardly any line is blank.
        if !matches!(text.get(self.at), Some(byte) if *byte > b'\r') && !self.reach_row() {
            return false;
        }
        let start = self.at;
        record.begin(text, self.line);
        let (end, newline) = self.fields(record);
        record.source = &text[start..end];
        self.line += 1 + record.newlines;
        self.at = text.len().min(newline + 1);
        true
    }

    /// Skips blank lines; whether a row follows.
    #[cold]
    fn reach_row(&mut self) -> bool {
        let (bytes, lines) = blank_lines(&self.text[self.at..]);
        self.at += bytes;
        self.line += lines;
        !matches!(&self.text[self.at..], [] | [b'\r'])
    }

    /// Reads the fields of one row; gives the ends of its text and of its line.
    #[inline]
    fn fields(&self, record: &mut Record<'t>) -> (usize, usize) {
        let mut at = self.at;
        loop {
            let next = if self.text.get(at) == Some(&self.dialect.quote()) {
                self.quoted(at, record)
            } else {
                self.plain(at, record)
            };
            match next {
                Next::Field(next) => at = next,
                Next::Row { end, newline } => return (end, newline),
            }
        }
    }

    /// Reads unquoted fields from `at` to the row's end or to a quoted field.
    #[inline]
    fn plain(&self, at: usize, record: &mut Record<'t>) -> Next {
        let text = self.text;
        let (mut start, mut word) = (at, at);
        while word < text.len() {
            let mut hits = self.outside.hits(text, word);
            while hits != 0 {
                let end = word + first(hits);
                hits &= hits - 1;
                if text[end] == b'\n' {
                    return self.last_plain(start, end, record);
                }
                record.push(Kind::Plain, start, end);
                start = end + 1;
                if text.get(start) == Some(&self.dialect.quote()) {
                    return Next::Field(start);
                }
            }
            word += WORD_BYTES;
        }
        self.last_plain(start, text.len(), record)
    }

    #[inline]
    fn last_plain(&self, start: usize, newline: usize, record: &mut Record<'t>) -> Next {
        let end = self.row_end(newline);
        record.push(Kind::Plain, start, end);
        Next::Row { end, newline }
    }

    /// Where a row's text ends whose line ends at `newline`: one carriage return before it belongs
    /// to the line's end. A field without text has no such byte before it, but what opened it.
    #[inline]
    fn row_end(&self, newline: usize) -> usize {
        let returns = self.text[..newline].last() == Some(&b'\r');
        newline - usize::from(returns)
    }

    /// Reads the quoted field whose quote is at `at`.
    #[inline]
    fn quoted(&self, at: usize, record: &mut Record<'t>) -> Next {
        let text = self.text;
        let start = at + 1;
        let mut end = self.inside.find(text, start);
        while text.get(end) == Some(&b'\n') && self.dialect.multiline() {
            record.newlines += 1;
            end = self.inside.find(text, end + 1);
        }
        if text.get(end) == Some(&self.dialect.quote()) {
            let behind = end + 1;
            let next = match text.get(behind) {
                Some(byte) if *byte == self.dialect.delimiter() => Some(Next::Field(behind + 1)),
                Some(b'\n') | None => Some(Next::Row { end: behind, newline: behind }),
                Some(b'\r') if matches!(text.get(behind + 1), Some(b'\n') | None) => {
                    Some(Next::Row { end: behind, newline: behind + 1 })
                }
                Some(_) => None,
            };
            if let Some(next) = next {
                record.push(Kind::Quoted, start, end);
                return next;
            }
        }
        let first_byte = record.unescaped.len();
        append(text, start, end, &mut record.unescaped);
        let next = self.unescape(end, record);
        record.push(Kind::Unescaped, first_byte, record.unescaped.len());
        next
    }

    /// Copies a quoted field into the record's buffer from `at` on, where something matters.
    fn unescape(&self, mut at: usize, record: &mut Record<'t>) -> Next {
        let text = self.text;
        let quote = self.dialect.quote();
        loop {
            let behind = at + 1;
            let from = match (text.get(at), text.get(behind)) {
                (Some(&byte), Some(&next)) if byte == quote && next == quote => {
                    record.unescaped.push(quote);
                    behind + 1
                }
                (Some(&byte), _) if byte == quote => return self.behind_quote(behind, record),
                (Some(b'\n'), _) if self.dialect.multiline() => {
                    record.newlines += 1;
                    record.unescaped.push(b'\n');
                    behind
                }
                (Some(b'\n'), _) => {
                    if text[at - 1] == b'\r' {
                        record.unescaped.pop();
                    }
                    return self.broken_line(at, record);
                }
                (Some(_), Some(&next)) => {
                    if let Some(newline) = self.line_ends(behind) {
                        return self.broken_line(newline, record);
                    }
                    record.newlines += u64::from(next == b'\n');
                    record.unescaped.push(next);
                    behind + 1
                }
                (_, None) | (None, _) => {
                    record.broken = Some(match self.dialect.multiline() {
                        true => Broken::Unclosed,
                        false => Broken::NewlineInQuotes,
                    });
                    return Next::Row { end: text.len(), newline: text.len() };
                }
            };
            at = self.inside.copy_until(text, from, &mut record.unescaped);
        }
    }

    /// The newline of a line end at `at`, where that ends a row even inside quotes.
    fn line_ends(&self, at: usize) -> Option<usize> {
        match &self.text[at..] {
            _ if self.dialect.multiline() => None,
            [b'\n', ..] => Some(at),
            [b'\r', b'\n', ..] => Some(at + 1),
            _ => None,
        }
    }

    /// Ends a row inside quotes.
    fn broken_line(&self, newline: usize, record: &mut Record<'t>) -> Next {
        record.broken = Some(Broken::NewlineInQuotes);
        Next::Row { end: self.row_end(newline), newline }
    }

    /// Copies what is behind a closing quote.
    fn behind_quote(&self, at: usize, record: &mut Record<'t>) -> Next {
        let found = self.outside.copy_until(self.text, at, &mut record.unescaped);
        let ends_row = self.text.get(found) != Some(&self.dialect.delimiter());
        let end = if ends_row { self.row_end(found) } else { found };
        record.unescaped.truncate(record.unescaped.len() - (found - end));
        if ends_row { Next::Row { end, newline: found } } else { Next::Field(found + 1) }
    }
}

impl<'t> Record<'t> {
    /// A record to read into, without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields: only before the first read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The field at `index`, from 0, without quotes and escapes; empty past the last.
    #[inline]
    #[must_use]
    pub fn text(&self, index: usize) -> &[u8] {
        match self.fields.get(index) {
            None => b"",
            Some(Field { kind: Kind::Unescaped, start, end }) => &self.unescaped[*start..*end],
            Some(Field { start, end, .. }) => &self.text[*start..*end],
        }
    }

    /// Whether the field at `index`, from 0, began with a quote.
    #[inline]
    #[must_use]
    pub fn is_quoted(&self, index: usize) -> bool {
        self.fields.get(index).is_some_and(|field| field.kind != Kind::Plain)
    }

    /// The line on which the record begins, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The record as it stands in the text, without its line end.
    #[must_use]
    pub fn source(&self) -> &'t [u8] {
        self.source
    }

    /// How the record is broken, if it is.
    #[must_use]
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }

    fn begin(&mut self, text: &'t [u8], line: u64) {
        self.text = text;
        self.line = line;
        self.broken = None;
        self.newlines = 0;
        self.fields.clear();
        self.unescaped.clear();
    }

    #[inline]
    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.fields.push(Field { kind, start, end });
    }
}
