//! Rows that cannot be loaded: counted, written out, and in the end too many.
//!
//! Invariant: rows come here in the order of the files, whatever thread found them: the row that stops a load is
//! always the same.
#![expect(clippy::disallowed_methods, reason = "a file for the user, not the database's own")]

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::csv::{Dialect, write_field};
use super::plan::{BadRowRules, LoadReport};
use crate::error::{GraphError, LoadError, Result};

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It says nothing that can be loaded.
    Wrong,
    /// Its id is taken.
    Duplicate,
    /// A relationship without a type, or with an end that is not there.
    Dangling,
    /// What follows it cannot be told from it: it always stops the load.
    Fatal,
}

/// A row that cannot be loaded.
#[derive(Clone, Debug)]
pub(super) struct BadRow {
    /// Place and reason.
    pub(super) error: LoadError,
    pub(super) fault: Fault,
    /// The row as it stands in its file.
    pub(super) source: Vec<u8>,
}

/// Where the rows of a mended file of rejected rows came from: should they be rejected again, that is what counts.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// The mended file.
    pub(super) file: PathBuf,
    /// Line in it, ascending, and what it says of the row's first file and line.
    pub(super) rows: Vec<(u64, [String; 2])>,
}

impl Origins {
    fn of(&self, error: &LoadError) -> [String; 2] {
        let behind = self.rows.partition_point(|(line, _)| *line <= error.line);
        match behind.checked_sub(1) {
            Some(at) if error.file == self.file => self.rows[at].1.clone(),
            _ => [error.file.to_string_lossy().into_owned(), error.line.to_string()],
        }
    }
}

/// The columns of a file of rejected rows.
pub(super) const REJECT_COLUMNS: [&str; 5] = ["file", "line", "column", "reason", "row"];

/// Takes bad rows, until there are too many.
#[derive(Debug)]
pub(super) struct BadRows<'p> {
    rules: &'p BadRowRules,
    rejects: Option<BufWriter<File>>,
    origins: Origins,
    bad: u64,
    nodes: u64,
    relationships: u64,
}

impl<'p> BadRows<'p> {
    /// # Errors
    /// The file for rejected rows is there already, or its folder is not.
    pub(super) fn new(rules: &'p BadRowRules) -> Result<Self> {
        if let Some(path) = &rules.rejects
            && std::fs::symlink_metadata(path).is_ok()
        {
            let reason = "it is there already, and rows mended in it would be lost; move it away or \
                          name another file for --rejects";
            return Err(LoadError::file(path, reason).into());
        }
        if let Some(folder) = rules.rejects.as_ref().and_then(|path| path.parent())
            && !folder.as_os_str().is_empty()
            && !folder.is_dir()
        {
            let reason = "there is no such folder to write the rejected rows in; make it first";
            return Err(LoadError::file(folder, reason).into());
        }
        let origins = Origins::default();
        Ok(Self { rules, rejects: None, origins, bad: 0, nodes: 0, relationships: 0 })
    }

    /// Sets where rows came from that are loaded again.
    pub(super) fn set_origins(&mut self, origins: Origins) {
        self.origins = origins;
    }

    /// Takes a row.
    ///
    /// # Errors
    /// The row's own, when it stops the load; failed writes.
    pub(super) fn take(&mut self, row: BadRow) -> Result<()> {
        let BadRow { error, fault, source } = row;
        match fault {
            Fault::Duplicate if self.rules.skip_duplicate_nodes => self.nodes += 1,
            Fault::Dangling if self.rules.skip_bad_relationships => self.relationships += 1,
            Fault::Fatal => {
                self.flush()?;
                return Err(error.into());
            }
            _ if self.bad == self.rules.tolerance => {
                self.flush()?;
                return Err(too_many(error, self.bad).into());
            }
            _ => self.bad += 1,
        }
        self.write(&error, &source)
    }

    fn write(&mut self, error: &LoadError, source: &[u8]) -> Result<()> {
        let Some(path) = &self.rules.rejects else { return Ok(()) };
        let mut out = Vec::new();
        if self.rejects.is_none() {
            let file = create(path).map_err(|error| unwritable(path, &error))?;
            self.rejects = Some(BufWriter::new(file));
            out = REJECT_COLUMNS.join(",").into_bytes();
            out.push(b'\n');
        }
        let column = error.column.as_ref().map_or(String::new(), |column| match &column.name[..] {
            "" => column.number.to_string(),
            name => name.to_owned(),
        });
        let [file, line] = self.origins.of(error);
        let fields =
            [file.as_bytes(), line.as_bytes(), column.as_bytes(), error.reason.as_bytes(), source];
        for (index, field) in fields.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_field(&mut out, field, Dialect::default(), false);
        }
        out.push(b'\n');
        let writer = self.rejects.as_mut().expect("it was made above");
        writer.write_all(&out).map_err(|error| unwritable(path, &error))
    }

    fn flush(&mut self) -> Result<()> {
        match (&mut self.rejects, &self.rules.rejects) {
            (Some(writer), Some(path)) => writer.flush().map_err(|error| unwritable(path, &error)),
            _ => Ok(()),
        }
    }

    /// How many were taken.
    pub(super) fn count(&self) -> u64 {
        self.bad + self.nodes + self.relationships
    }

    /// Makes the rejected rows durable, and puts the counts into the report.
    ///
    /// # Errors
    /// Failed writes and syncs.
    pub(super) fn finish(mut self, report: &mut LoadReport) -> Result<()> {
        self.flush()?;
        if let (Some(writer), Some(path)) = (&self.rejects, &self.rules.rejects) {
            writer.get_ref().sync_all().map_err(|error| unwritable(path, &error))?;
        }
        report.bad_rows = self.bad;
        report.skipped_nodes = self.nodes;
        report.skipped_relationships = self.relationships;
        Ok(())
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn unwritable(path: &Path, error: &std::io::Error) -> GraphError {
    LoadError::file(path, format!("cannot write the rejected rows: {error}")).into()
}

/// The error that stops a load behind a number of bad rows.
fn too_many(error: LoadError, tolerated: u64) -> LoadError {
    if tolerated == 0 {
        return error;
    }
    let reason =
        format!("{}; it is one bad row more than the {tolerated} of --bad-tolerance", error.reason);
    LoadError { reason, ..error }
}
