//! Where the files of a load come from: the one place of this crate that opens any.
//!
//! Everything above reads through [`Source`], so that tests and other stores can hand in bytes.
#![expect(clippy::disallowed_methods, reason = "user files to be loaded, not the database's own")]

use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;

/// What can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// Opens files by name.
pub trait Source: Sync {
    /// A reader from the start of the file.
    ///
    /// # Errors
    /// Those of the file system; a directory is [`io::ErrorKind::IsADirectory`].
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// A reader that can go to any place of the file.
    ///
    /// # Errors
    /// As [`Source::open`]; a pipe has no places.
    fn open_seek(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>>;

    /// The file's length in bytes, when it is known: a file without one can be read once.
    fn len(&self, path: &Path) -> Option<u64>;
}

/// The name that stands for the standard input.
pub const STANDARD_INPUT: &str = "-";

fn open(path: &Path) -> io::Result<fs::File> {
    let file = fs::File::open(path)?;
    // Linux opens directories and fails only at the first read.
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

/// The file system of the machine; `-` is the standard input.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSource;

impl Source for FileSource {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        if path == Path::new(STANDARD_INPUT) {
            return Ok(Box::new(io::stdin()));
        }
        Ok(Box::new(open(path)?))
    }

    fn open_seek(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(open(path)?))
    }

    fn len(&self, path: &Path) -> Option<u64> {
        if path == Path::new(STANDARD_INPUT) {
            return None;
        }
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_directories_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        fs::write(&file, "abc").unwrap();
        assert_eq!(FileSource.len(&file), Some(3));
        assert_eq!(io::read_to_string(FileSource.open(&file).unwrap()).unwrap(), "abc");
        let kind = |path: &Path| FileSource.open(path).map(|_| ()).unwrap_err().kind();
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        assert_eq!(kind(&folder.path().join("b.csv")), io::ErrorKind::NotFound);
        assert_eq!(FileSource.len(folder.path()), None);
    }
}
