//! The folder of an export: the one place here that makes and removes files.
//!
//! Invariant: dropped before it is finished, the files named by it are gone, and so is the folder when it was made.
#![expect(clippy::disallowed_methods, reason = "files of the user, not the database's own")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{GraphError, Result};

/// A folder that is filled.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    made: bool,
    files: Vec<PathBuf>,
    finished: bool,
}

impl Folder {
    /// Makes the folder where it is not there.
    ///
    /// # Errors
    /// It holds something, is no folder, or cannot be made.
    pub(super) fn new(path: &Path) -> Result<Self> {
        let failed = |source| GraphError::ExportFile { path: path.to_owned(), source };
        let made = match fs::read_dir(path) {
            Ok(mut entries) => match entries.next() {
                Some(_) => return Err(GraphError::FolderTaken { path: path.to_owned() }),
                None => false,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path).map_err(failed)?;
                true
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path: path.to_owned(), made, files: Vec::new(), finished: false })
    }

    /// The path of a file that will be made.
    pub(super) fn path(&mut self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        self.files.push(path.clone());
        path
    }

    /// Writes the last file, whole or not at all, makes all names durable, and gives the bytes of all files.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn finish(mut self, name: &str, bytes: &[u8]) -> Result<u64> {
        let mut total = bytes.len() as u64;
        for path in &self.files {
            let length = fs::metadata(path).map(|metadata| metadata.len());
            total += length.map_err(|source| self.failed(path, source))?;
        }
        let path = self.path(name);
        let hidden = self.path(&format!(".{name}.tmp"));
        let written = write(&hidden, bytes).and_then(|()| sync(&self.path));
        written.map_err(|source| self.failed(&path, source))?;
        let named = fs::rename(&hidden, &path).and_then(|()| sync(&self.path));
        named.map_err(|source| self.failed(&path, source))?;
        self.finished = true;
        Ok(total)
    }

    fn failed(&self, path: &Path, source: io::Error) -> GraphError {
        GraphError::ExportFile { path: path.to_owned(), source }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        // The error that is told is the one that led here.
        for path in &self.files {
            drop(fs::remove_file(path));
        }
        if self.made {
            drop(fs::remove_dir(&self.path));
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = new_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// A file that was not there.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    File::create_new(path)
}
