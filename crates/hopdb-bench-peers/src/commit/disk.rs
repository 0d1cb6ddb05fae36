//! What this process does with the disk, as the system tells it; and files out of its memory.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise, statfs};

use crate::Outcome;

/// Type of a file system in memory.
const TMPFS: u64 = 0x0102_1994;

/// Fails where a sync would cost nothing.
pub(super) fn check_is_disk(folder: &Path) -> Outcome<()> {
    if u64::try_from(statfs(folder)?.f_type)? == TMPFS {
        let message = "is in memory: name a folder on a disk with --dir";
        return Err(format!("{} {message}", folder.display()).into());
    }
    Ok(())
}

/// A counter of `/proc/self/io`.
fn counter(name: &str) -> Outcome<u64> {
    let text = fs::read_to_string("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    Ok(line.ok_or("no such counter")?.parse()?)
}

/// Bytes that this process has written to files, at once or later.
pub(super) fn bytes_written() -> Outcome<u64> {
    counter("wchar")
}

/// Bytes that the disk has read for this process.
pub(super) fn bytes_from_disk() -> Outcome<u64> {
    counter("read_bytes")
}

/// Lengths of the files below `folder` that this process has open, those without a name too.
pub(super) fn open_file_bytes(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir("/proc/self/fd")? {
        let path = entry?.path();
        // The descriptor of the listing itself is gone by now.
        if fs::read_link(&path).is_ok_and(|target| target.starts_with(folder)) {
            bytes += fs::metadata(&path)?.len();
        }
    }
    Ok(bytes)
}

/// Reads all files of `folder` whose names begin with `name`, or whose folders' names do: afterwards they are in the
/// system's cache, as far as it has room.
pub(super) fn warm(folder: &Path, name: &str) -> Outcome<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            warm(&entry.path(), "")?;
        } else {
            io::copy(&mut File::open(entry.path())?, &mut io::sink())?;
        }
    }
    Ok(())
}

/// Copies a file down to the disk; afterwards its pages are in the system's cache, or none of them, as said.
pub(super) fn copy(from: &Path, to: &Path, cached: bool) -> Outcome<()> {
    fs::copy(from, to)?;
    let mut file = File::open(to)?;
    file.sync_all()?;
    if cached {
        io::copy(&mut file, &mut io::sink())?;
    } else {
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn written_bytes_and_open_files_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let before = bytes_written().unwrap();
        let mut file = tempfile::tempfile_in(folder.path()).unwrap();
        file.write_all(&[1; 5000]).unwrap();
        assert!(bytes_written().unwrap() >= before + 5000);
        assert_eq!(open_file_bytes(folder.path()).unwrap(), 5000);
        drop(file);
        assert_eq!(open_file_bytes(folder.path()).unwrap(), 0);
    }
}
