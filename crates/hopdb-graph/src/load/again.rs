//! Rejected rows, mended, in place of the files they came from.

use std::path::{Path, PathBuf};

use super::bad_rows::{Origins, REJECT_COLUMNS};
use super::blocks::{Content, Part};
use super::csv::{Chunks, Dialect, Record, Records};
use super::node_rows::NodeColumns;
use super::relationship_rows::RelationshipColumns;
use super::run::Context;
use super::unpack;
use crate::error::{LoadError, Result};

/// What a file gives, or what is wrong with it.
type Loaded<T> = std::result::Result<T, LoadError>;

/// Rows that came from one file: their line in the file of rejected rows, and their text.
pub(super) struct Rows {
    from: PathBuf,
    rows: Vec<(u64, Vec<u8>)>,
}

/// The rows of a file of rejected rows, by the file that each came from, and the same by line.
///
/// # Errors
/// It is no such file.
pub(super) fn rows(context: &Context<'_>, file: &Path) -> Result<(Vec<Rows>, Origins)> {
    let mut origins = Origins { file: file.to_path_buf(), rows: Vec::new() };
    let text = unpack::open(context.source, file, &context.progress.counter())?;
    let mut chunks = Chunks::new(text, Dialect::default());
    let mut groups: Vec<Rows> = Vec::new();
    let mut is_header = true;
    while let Some(chunk) =
        chunks.next_chunk().map_err(|error| LoadError::file(file, unpack::describe(&error)))?
    {
        let mut record = Record::new();
        let mut records = Records::new(&chunk.text, chunk.first_line, Dialect::default());
        while records.next(&mut record) {
            if std::mem::take(&mut is_header) {
                check_header(&record, file)?;
                continue;
            }
            if record.len() != REJECT_COLUMNS.len() || record.broken().is_some() {
                let reason =
                    format!("it is no rejected row: expected {} columns", REJECT_COLUMNS.len());
                return Err(LoadError::line(file, record.line(), reason).into());
            }
            let origin = [0, 1].map(|at| String::from_utf8_lossy(record.text(at)).into_owned());
            let from = PathBuf::from(&origin[0]);
            origins.rows.push((record.line(), origin));
            let mut text = record.text(4).to_vec();
            text.push(b'\n');
            let row = (record.line(), text);
            match groups.iter_mut().find(|group| group.from == from) {
                Some(group) => group.rows.push(row),
                None => groups.push(Rows { from, rows: vec![row] }),
            }
        }
    }
    Ok((groups, origins))
}

fn check_header(record: &Record<'_>, file: &Path) -> Loaded<()> {
    let names = (0..record.len()).map(|index| record.text(index));
    if names.eq(REJECT_COLUMNS.iter().map(|name| name.as_bytes())) {
        return Ok(());
    }
    let wanted = REJECT_COLUMNS.join(",");
    let reason = format!("it is no file of rejected rows: its columns are not {wanted}");
    Err(LoadError::line(file, 1, reason))
}

/// Puts the rows in place of the files.
///
/// # Errors
/// A row came from a file that the plan does not name, or that is no CSV.
pub(super) fn replace(
    file: &Path,
    groups: Vec<Rows>,
    nodes: &mut Vec<Part<NodeColumns>>,
    relationships: &mut Vec<Part<RelationshipColumns>>,
) -> Result<()> {
    let mut groups = groups;
    replace_in(file, &mut groups, nodes)?;
    replace_in(file, &mut groups, relationships)?;
    let Some(Rows { from, rows }) = groups.into_iter().find(|group| !group.rows.is_empty()) else {
        return Ok(());
    };
    let line = rows.first().map_or(0, |(line, _)| *line);
    let reason = format!(
        "the row came from {}, which no --nodes or --relationships names; repeat them as in the load \
         that rejected it",
        from.display()
    );
    Err(LoadError::line(file, line, reason).into())
}

fn replace_in<C>(file: &Path, groups: &mut [Rows], parts: &mut Vec<Part<C>>) -> Result<()> {
    for part in std::mem::take(parts) {
        let Some(group) = groups.iter_mut().find(|group| *group.from == *part.file) else {
            continue;
        };
        let rows = std::mem::take(&mut group.rows);
        if matches!(part.content, Content::Table(_)) {
            let line = rows.first().map_or(0, |(line, _)| *line);
            let reason = format!(
                "the row came from {}, which is no CSV; put the mended rows into a file like it",
                part.file.display()
            );
            return Err(LoadError::line(file, line, reason).into());
        }
        let content = Content::Rows(rows.into_iter());
        parts.push(Part { file: file.into(), content, ..part });
    }
    Ok(())
}
