//! JSON lines: one object a line, whose keys are the columns.
//!
//! The file is read twice: once for all its keys, in the order in which they are first seen, and
//! once for the rows. Neither reading holds more than some thousand rows. Keys may be written as
//! the fields of a CSV header are (`id:ID(Person)`, `:TYPE`); what they mean is not known here,
//! but for `:IGNORE`, whose values are not looked at.
//!
//! A line that cannot be a row is a bad row: no JSON, no object, a key twice, a value that no
//! property can hold. Only what breaks the reading itself, as a file cut off inside gzip, is an
//! error. `lines` cuts the file into lines, `row` reads one.

mod lines;
mod row;

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use self::lines::{Line, Lines};
use super::table::{Table, TableColumn, TableFormat, TableRow};
use crate::error::LoadError;
use crate::value::Value;

/// Endings of names, without `.gz`.
const ENDINGS: [&str; 3] = ["jsonl", "ndjson", "json"];
/// More keys than this are data rather than names.
const KEYS_MAX: usize = 10_000;
const ROWS_PER_BATCH: usize = 4_096;
/// Ends a batch early whose lines are long.
const BATCH_BYTES: usize = 8 << 20;
/// Ends a batch early whose rows are wide.
const BATCH_VALUES: usize = 1 << 20;

/// Files of one JSON object a line: `.jsonl`, `.ndjson`, `.json`, each also with `.gz`.
///
/// Null, booleans, numbers, strings and arrays of those become the values of the same kind. An
/// integer beyond 64 bits, an object as a value, or a list in a list makes a bad row.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl TableFormat for JsonLines {
    fn open(&self, path: &Path) -> Result<Option<Box<dyn Table>>, LoadError> {
        if !is_named_so(path) {
            return Ok(None);
        }
        let keys = Keys::read(path)?;
        let seen = vec![0; keys.by_name.len()];
        let lines = Lines::open(path)?;
        Ok(Some(Box::new(Rows { path: path.to_owned(), keys, seen, lines })))
    }
}

fn is_named_so(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// A key of a file.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// Position among all keys.
    number: usize,
    /// Position among the columns; none when the key is to be ignored.
    column: Option<usize>,
}

/// All keys of a file.
#[derive(Debug, Default)]
struct Keys {
    by_name: FxHashMap<String, Key>,
    columns: Vec<TableColumn>,
}

impl Keys {
    /// The first reading. Lines that are no objects give no keys.
    fn read(path: &Path) -> Result<Self, LoadError> {
        let mut lines = Lines::open(path)?;
        let mut keys = Self::default();
        let mut first_refusal = None;
        while let Some(line) = lines.next_line()? {
            if first_refusal.is_none() && keys.by_name.is_empty() {
                refuse_array(path, &line)?;
            }
            match line.content.and_then(|text| row::keys(&text, |key| keys.add(key))) {
                Ok(()) => {}
                Err(reason) => {
                    first_refusal.get_or_insert((line.number, reason));
                }
            }
            if keys.by_name.len() > KEYS_MAX {
                let reason = format!(
                    "up to here its objects have more than {KEYS_MAX} different keys; keys are \
                     names of columns: write what varies as values"
                );
                return Err(LoadError::line(path, line.number, reason));
            }
        }
        if !keys.by_name.is_empty() {
            return Ok(keys);
        }
        Err(match first_refusal {
            Some((line, reason)) => LoadError::line(path, line, reason),
            None => LoadError::file(path, "no line of it has a key; leave the file out"),
        })
    }

    fn add(&mut self, key: &str) {
        if self.by_name.contains_key(key) {
            return;
        }
        let column = (!TableColumn::is_ignored(key)).then_some(self.columns.len());
        if column.is_some() {
            self.columns.push(TableColumn { name: key.to_owned(), type_text: None });
        }
        let number = self.by_name.len();
        self.by_name.insert(key.to_owned(), Key { number, column });
    }
}

/// An array of objects is one value over all lines, which cannot be read a line at a time.
fn refuse_array(path: &Path, line: &Line) -> Result<(), LoadError> {
    let is_array = line.content.as_ref().is_ok_and(|text| text.trim_start().starts_with('['));
    if !is_array {
        return Ok(());
    }
    let reason = "it begins with a JSON array; write one object per line, as `jq -c '.[]'` does";
    Err(LoadError::line(path, line.number, reason))
}

/// The second reading.
struct Rows {
    path: PathBuf,
    keys: Keys,
    /// By number of the key: the last line that had it.
    seen: Vec<u64>,
    lines: Lines,
}

impl Rows {
    fn row(&mut self, line: Line) -> Result<TableRow, LoadError> {
        let Line { number, content } = line;
        let row = TableRow { line: number, values: Vec::new(), source: None, bad: None };
        let text = match content {
            Ok(text) => text,
            Err(reason) => return Ok(TableRow { bad: Some(reason), ..row }),
        };
        let mut values = vec![Value::Null; self.keys.columns.len()];
        let mut is_known = true;
        let place_of = |name: &str| {
            let Some(key) = self.keys.by_name.get(name) else {
                is_known = false;
                return Ok(None);
            };
            if std::mem::replace(&mut self.seen[key.number], number) == number {
                return Err(format!("the key {name:?} comes twice; keep one of them"));
            }
            Ok(key.column)
        };
        let read = row::values(&text, place_of, &mut values);
        if !is_known {
            let reason = "a key of this line was not there a moment ago; was the file written to? \
                          load it when it is whole";
            return Err(LoadError::line(&self.path, number, reason));
        }
        let source = Some(text);
        Ok(match read {
            Ok(()) => TableRow { values, source, ..row },
            Err(reason) => TableRow { bad: Some(reason), source, ..row },
        })
    }
}

impl Table for Rows {
    fn columns(&self) -> &[TableColumn] {
        &self.keys.columns
    }

    fn next_rows(&mut self) -> Result<Option<Vec<TableRow>>, LoadError> {
        let count_max = (BATCH_VALUES / self.keys.columns.len().max(1)).clamp(1, ROWS_PER_BATCH);
        let mut rows = Vec::new();
        let mut bytes = 0;
        while rows.len() < count_max && bytes < BATCH_BYTES {
            let Some(line) = self.lines.next_line()? else { break };
            let row = self.row(line)?;
            bytes += row.source.as_ref().map_or(0, String::len);
            rows.push(row);
        }
        Ok((!rows.is_empty()).then_some(rows))
    }
}

#[cfg(test)]
mod tests;
