//! The operating system as a [`super::FileSystem`]: Linux system calls, no state of its own, no unsafe code.
//!
//! Must not interpret, buffer or retry beyond what one call promises: a failed sync is reported once and
//! never repeated here, because the kernel may have dropped the dirty pages. Invariants:
//! - No descriptor survives `exec` (std and every flag set here say `O_CLOEXEC`).
//! - Locks are `flock`: they belong to the open handle and end with it or with the process, however it ends.
//!   On NFS the kernel turns them into byte-range locks, which an unrelated close may drop: not supported.
//! - A name appears by [`File::link`] only if it was free: never by replacing a file.
//! - Durable writes go through a descriptor of their own, past the page cache; the kernel keeps both ways of one file in
//!   step.

#![expect(
    clippy::disallowed_methods,
    reason = "this is where files and the clock of the operating system are used"
)]

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, AtFlags, CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{BLOCK, File, FileSystem, LockMode, OpenMode, aligned};
use crate::sync::{self, Arc, AtomicU64, Mutex, Ordering};

/// Where the kernel shows the process's descriptors as links, which is how an unnamed file gets its name.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Where the kernel lists the locks of all files.
const LOCKS: &str = "/proc/locks";

/// What new files may be used for, before the process's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// Bytes written in one go where space cannot be reserved without writing.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// The files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFs;

impl FileSystem for RealFs {
    /// Fails with `IsADirectory` for a directory and `InvalidInput` for anything else but a regular file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(mode != OpenMode::ReadOnly)
            .create_new(mode == OpenMode::CreateNew)
            .open(path)?;
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            let message = format!("{} is a directory", path.display());
            return Err(io::Error::new(io::ErrorKind::IsADirectory, message));
        }
        if !kind.is_file() {
            let message = format!("{} is not a regular file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(RealFile::share(file, None))
    }

    fn create_unnamed(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        let dir = directory(dir);
        // Without /proc a file made without a name could never get one.
        if fs::exists(DESCRIPTORS).unwrap_or(false) {
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(NEW_FILE_MODE);
            match rustix::io::retry_on_intr(|| rustix::fs::open(dir, flags, mode)) {
                Ok(descriptor) => return Ok(RealFile::share(descriptor.into(), None)),
                // What kernels and file systems without O_TMPFILE answer.
                Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
                Err(error) => return Err(error.into()),
            }
        }
        create_hidden(dir)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// True for a directory too: opening it then says what is wrong.
    fn exists(&self, path: &Path) -> io::Result<bool> {
        fs::exists(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        fs::File::open(directory(dir))?.sync_all()
    }

    fn now(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }

    fn yield_now(&self) {
        sync::yield_now();
    }
}

/// The process of a line such as `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`, when it is about `file`.
fn holder(line: &str, file: &str) -> Option<u32> {
    let mut words = line.split_ascii_whitespace().skip(1);
    // Behind an arrow stands one who waits.
    words.next().filter(|kind| *kind == "FLOCK")?;
    let mut words = words.skip(2);
    let (pid, of) = (words.next()?, words.next()?);
    let pid: u32 = pid.parse().ok().filter(|pid| *pid > 0)?;
    (of == file).then_some(pid)
}

/// The empty path, which is the parent of a bare file name, as a path that can be opened.
fn directory(dir: &Path) -> &Path {
    if dir.as_os_str().is_empty() { Path::new(".") } else { dir }
}

/// The stand-in for an unnamed file: a hidden name that goes with the handle. A kill leaves it behind.
fn create_hidden(dir: &Path) -> io::Result<Arc<dyn File>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!(".hopdb-{}-{number}.tmp", std::process::id()));
        match fs::File::create_new(&path) {
            // Taken by the leavings of a killed process that had the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            // `create_new` opens for reading and writing.
            Ok(file) => return Ok(RealFile::share(file, Some(path))),
        }
    }
}

/// Opens a file once more, for writes past the page cache that are durable when they return.
fn open_direct(file: &fs::File) -> Option<fs::File> {
    let path = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::DSYNC | OFlags::CLOEXEC;
    let direct = rustix::io::retry_on_intr(|| rustix::fs::open(&*path, flags, Mode::empty()));
    let direct = fs::File::from(direct.ok()?);
    // Where blocks must be larger, a read says so.
    direct.read_at(aligned(&mut Vec::new(), BLOCK), 0).ok()?;
    Some(direct)
}

/// An open file of the operating system.
#[derive(Debug)]
struct RealFile {
    file: fs::File,
    /// The name to remove with the handle, while the file stands in for an unnamed one.
    hidden: Mutex<Option<PathBuf>>,
    /// For durable writes; nothing where the system has none. Opened when it is asked for.
    direct: OnceLock<Option<fs::File>>,
}

impl RealFile {
    fn share(file: fs::File, hidden: Option<PathBuf>) -> Arc<dyn File> {
        Arc::new(Self { file, hidden: Mutex::new(hidden), direct: OnceLock::new() })
    }

    fn direct(&self) -> Option<&fs::File> {
        self.direct.get_or_init(|| open_direct(&self.file)).as_ref()
    }

    /// Names a file by its descriptor; unlike a rename this fails when the name is taken.
    fn link_descriptor(&self, path: &Path) -> io::Result<()> {
        let descriptor = format!("{DESCRIPTORS}/{}", self.file.as_raw_fd());
        let link = || rustix::fs::linkat(CWD, &*descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW);
        Ok(rustix::io::retry_on_intr(link)?)
    }

    /// Writes zeros from the end of the file to `len`: finds the space, though not that of holes below the
    /// end. The caller must not write past the end meanwhile.
    fn fill(&self, len: u64) -> io::Result<()> {
        let mut end = self.len()?;
        while end < len {
            let count =
                usize::try_from(len - end).map_or(ZEROS.len(), |rest| rest.min(ZEROS.len()));
            self.file.write_all_at(&ZEROS[..count], end)?;
            end += count as u64;
        }
        Ok(())
    }
}

impl File for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.file.read_at(&mut buf[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(buf, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn has_durable_writes(&self) -> bool {
        self.direct().is_some()
    }

    fn write_durable(&self, blocks: &[u8], offset: u64) -> io::Result<()> {
        match self.direct() {
            Some(direct) => direct.write_all_at(blocks, offset),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn reserve(&self, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        let allocate = || rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, len);
        let reserved = match rustix::io::retry_on_intr(allocate) {
            Err(Errno::OPNOTSUPP) => self.fill(len),
            other => other.map_err(io::Error::from),
        };
        reserved.map_err(|error| match error.kind() {
            // To the caller a spent quota is a full disk: both abort one transaction.
            io::ErrorKind::QuotaExceeded => io::Error::new(io::ErrorKind::StorageFull, error),
            _ => error,
        })
    }

    fn will_need(&self, offset: u64, len: u64) {
        // A hint: where it is not taken, the reads wait for the disk.
        rustix::fs::fadvise(&self.file, offset, NonZeroU64::new(len), Advice::WillNeed).ok();
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let taken = match mode {
            LockMode::Shared => self.file.try_lock_shared(),
            LockMode::Exclusive => self.file.try_lock(),
        };
        match taken {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// The kernel lists locks by device and inode. A process of another container may have no number here.
    fn lock_holder(&self) -> Option<u32> {
        let about = self.file.metadata().ok()?;
        let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
        let file = format!("{major:02x}:{minor:02x}:{}", about.ino());
        let locks = fs::read_to_string(LOCKS).ok()?;
        locks.lines().find_map(|line| holder(line, &file))
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        let mut hidden = self.hidden.lock();
        let Some(name) = &*hidden else {
            return self.link_descriptor(path);
        };
        fs::hard_link(name, path)?;
        // The file has its name; a hidden one that cannot be removed now is tried again by the drop.
        if fs::remove_file(name).is_ok() {
            *hidden = None;
        }
        Ok(())
    }
}

impl Drop for RealFile {
    fn drop(&mut self) {
        if let Some(name) = self.hidden.lock().take() {
            // Nobody is left to tell, and the name is only litter.
            drop(fs::remove_file(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn holders_of_locks_are_found() {
        let line = "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF";
        assert_eq!(holder(line, "fe:00:1234"), Some(4711));
        assert_eq!(holder(line, "fe:00:123"), None);
        for other in [
            "1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF",
            "1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 0 EOF",
            "1: FLOCK  ADVISORY  WRITE 0 fe:00:1234 0 EOF",
            "1: FLOCK",
            "",
        ] {
            assert_eq!(holder(other, "fe:00:1234"), None, "{other}");
        }
    }

    #[test]
    fn a_directory_does_not_open() {
        let dir = tempfile::tempdir().unwrap();
        let error = RealFs.open(dir.path(), OpenMode::ReadOnly).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        assert!(error.to_string().contains("is a directory"), "{error}");
        let error = RealFs.open(dir.path(), OpenMode::ReadWrite).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_device_does_not_open() {
        let error = RealFs.open(Path::new("/dev/null"), OpenMode::ReadWrite).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_hidden_file_is_gone_with_its_handle() {
        let dir = tempfile::tempdir().unwrap();
        let file = create_hidden(dir.path()).unwrap();
        file.write_at(b"bytes", 0).unwrap();
        assert!(names(dir.path())[0].starts_with(".hopdb-"));
        drop(file);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_linked_hidden_file_leaves_no_hidden_name() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        fs::write(&taken, b"old").unwrap();
        let file = create_hidden(dir.path()).unwrap();
        file.write_at(b"new", 0).unwrap();
        assert_eq!(file.link(&taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        file.link(&dir.path().join("free")).unwrap();
        file.link(&dir.path().join("second")).unwrap();
        drop(file);
        let mut left = names(dir.path());
        left.sort();
        assert_eq!(left, ["free", "second", "taken"]);
        assert_eq!(fs::read(dir.path().join("free")).unwrap(), b"new");
        assert_eq!(fs::read(taken).unwrap(), b"old");
    }

    #[test]
    fn filling_zeros_reaches_the_length_and_keeps_the_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let file = fs::File::create_new(dir.path().join("f")).unwrap();
        let file = RealFile { file, hidden: Mutex::new(None), direct: OnceLock::new() };
        file.write_at(b"kept", 0).unwrap();
        let len = ZEROS.len() as u64 * 2 + 5;
        file.fill(len).unwrap();
        assert_eq!(file.len().unwrap(), len);
        let mut start = [1; 6];
        file.read_at(&mut start, 0).unwrap();
        assert_eq!(&start, b"kept\0\0");
        file.fill(1).unwrap();
        assert_eq!(file.len().unwrap(), len);
    }

    #[test]
    fn the_empty_path_is_the_current_directory() {
        RealFs.sync_dir(Path::new("")).unwrap();
        assert!(RealFs.sync_dir(Path::new("/no/such/directory")).is_err());
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let first = RealFs.now();
        RealFs.yield_now();
        assert!(RealFs.now() >= first);
    }
}
