//! The state of the simulated disk: its files and its names.
//!
//! Does what it is told, without faults, steps or chance; those are the plan's and the crash's. Invariant:
//! a file stays while a handle, a name, a durable name or a pending name refers to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::content::{BLOCK_BYTES, Content};
use super::inode::{Change, HandleId, Inode};
use super::names::{Directory, FileId, NameChange, normalize, split};

/// The files and names.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) files: BTreeMap<FileId, Inode>,
    pub(super) directories: BTreeMap<PathBuf, Directory>,
    /// Bytes of space, in whole blocks.
    pub(super) capacity: u64,
    /// Whether files have durable writes.
    pub(super) durable_writes: bool,
    /// Changes of bytes and lengths so far: a sync that begins now makes those of its file durable.
    pub(super) changes: u64,
    pub(super) next_file: FileId,
    next_handle: HandleId,
}

/// Refuses what ends past the largest file there is.
pub(super) fn check_end(offset: u64, len: u64) -> io::Result<()> {
    match offset.checked_add(len) {
        Some(end) if i64::try_from(end).is_ok() => Ok(()),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Names.
impl Disk {
    /// An empty disk.
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            files: BTreeMap::new(),
            directories: BTreeMap::new(),
            capacity,
            durable_writes: true,
            changes: 0,
            next_file: 0,
            next_handle: 0,
        }
    }

    pub(super) fn find(&self, path: &Path) -> Option<FileId> {
        let path = normalize(path);
        let (directory, name) = split(&path).ok()?;
        self.directories.get(directory)?.current.get(name).copied()
    }

    /// The file a name opens.
    pub(super) fn look_up(&self, path: &Path) -> io::Result<FileId> {
        if self.directories.contains_key(&normalize(path)) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.find(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.find(path).is_some() || self.directories.contains_key(&normalize(path))
    }

    /// Makes an empty file that has the name `path`.
    pub(super) fn create(&mut self, path: &Path) -> io::Result<FileId> {
        let path = normalize(path);
        let (directory, name) = self.free_name(&path)?;
        let file = self.add_file(Inode::new(path.clone(), directory));
        self.names(directory).change(NameChange::Add(name.to_owned(), file));
        Ok(file)
    }

    /// Makes an empty file without a name.
    pub(super) fn create_unnamed(&mut self, directory: &Path) -> FileId {
        let directory = normalize(directory);
        let label = directory.join(format!("(unnamed {})", self.next_file));
        let mut inode = Inode::new(label, &directory);
        inode.unnamed = true;
        self.add_file(inode)
    }

    pub(super) fn link(&mut self, file: FileId, path: &Path) -> io::Result<()> {
        let path = normalize(path);
        let (directory, name) = self.free_name(&path)?;
        let named =
            self.directories.values().any(|names| names.current.values().any(|f| *f == file));
        let inode = self.file_mut(file);
        if !inode.unnamed && !named {
            return Err(io::ErrorKind::NotFound.into());
        }
        if inode.directory != directory {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        inode.unnamed = false;
        inode.label.clone_from(&path);
        self.names(directory).change(NameChange::Add(name.to_owned(), file));
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (normalize(from), normalize(to));
        let file = self.look_up(&from)?;
        if self.directories.contains_key(&to) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let ((from_directory, from_name), (directory, name)) = (split(&from)?, split(&to)?);
        if from_directory != directory {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        // POSIX: a rename between two names of one file does nothing.
        if self.find(&to) == Some(file) {
            return Ok(());
        }
        let change = NameChange::Rename(from_name.to_owned(), name.to_owned());
        self.names(directory).change(change);
        self.file_mut(file).label.clone_from(&to);
        self.forget_unreferenced();
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        let path = normalize(path);
        self.look_up(&path)?;
        let (directory, name) = split(&path)?;
        self.names(directory).change(NameChange::Remove(name.to_owned()));
        self.forget_unreferenced();
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, directory: &Path) {
        if let Some(names) = self.directories.get_mut(&normalize(directory)) {
            names.sync();
        }
        self.forget_unreferenced();
    }

    /// Puts a file with these bytes at `path`, durable with its name and all names beside it.
    pub(super) fn put_durable(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = match self.find(path) {
            Some(file) => file,
            None => self.create(path)?,
        };
        let inode = self.file_mut(file);
        inode.settle(Content::from_bytes(bytes));
        let directory = inode.directory.clone();
        self.sync_dir(&directory);
        Ok(())
    }

    /// All names, sorted.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let join = |(directory, names): (&PathBuf, &Directory)| {
            names.current.keys().map(|name| directory.join(name)).collect::<Vec<_>>()
        };
        let mut paths: Vec<_> = self.directories.iter().flat_map(join).collect();
        paths.sort();
        paths
    }

    fn free_name<'a>(&self, path: &'a Path) -> io::Result<(&'a Path, &'a OsStr)> {
        if self.exists(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        split(path)
    }

    fn names(&mut self, directory: &Path) -> &mut Directory {
        self.directories.entry(directory.to_owned()).or_default()
    }

    fn add_file(&mut self, inode: Inode) -> FileId {
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(file, inode);
        file
    }

    fn forget_unreferenced(&mut self) {
        let named: BTreeSet<_> = self.directories.values().flat_map(Directory::files).collect();
        self.files.retain(|file, inode| !inode.handles.is_empty() || named.contains(file));
    }
}

/// Handles and locks.
impl Disk {
    /// A file that a handle or a name refers to.
    pub(super) fn file(&self, file: FileId) -> &Inode {
        self.files.get(&file).expect("a file that is referred to is kept")
    }

    pub(super) fn file_mut(&mut self, file: FileId) -> &mut Inode {
        self.files.get_mut(&file).expect("a file that is referred to is kept")
    }

    pub(super) fn open_handle(&mut self, file: FileId) -> HandleId {
        let handle = self.next_handle;
        self.next_handle += 1;
        self.file_mut(file).handles.insert(handle);
        handle
    }

    pub(super) fn close_handle(&mut self, file: FileId, handle: HandleId) {
        self.file_mut(file).close(handle);
        self.forget_unreferenced();
    }
}

/// Bytes.
impl Disk {
    /// Applies a change to the cache, if there is space for it; gives its number.
    pub(super) fn change(&mut self, file: FileId, change: Change) -> io::Result<u64> {
        let (offset, len) = match &change {
            Change::Write { offset, bytes } => (*offset, bytes.len() as u64),
            Change::SetLen(len) | Change::Reserve(len) => (0, *len),
        };
        check_end(offset, len)?;
        self.check_space(file, &change)?;
        let number = self.changes;
        self.changes += 1;
        self.file_mut(file).change(number, change);
        Ok(number)
    }

    fn check_space(&self, file: FileId, change: &Change) -> io::Result<()> {
        if self.capacity == u64::MAX {
            return Ok(());
        }
        let cached = &self.file(file).cached;
        let needed = match change {
            Change::Write { offset, bytes } => cached.blocks_to_write(*offset, bytes.len()),
            Change::Reserve(len) => cached.blocks_to_reserve(*len),
            Change::SetLen(_) => 0,
        };
        let free = (self.capacity / BLOCK_BYTES).saturating_sub(self.allocated_blocks());
        if needed > free { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }

    /// Blocks of the files that have a name or a handle.
    fn allocated_blocks(&self) -> u64 {
        let named: BTreeSet<_> =
            self.directories.values().flat_map(|names| names.current.values()).collect();
        let live = self
            .files
            .iter()
            .filter(|(file, inode)| !inode.handles.is_empty() || named.contains(file));
        live.map(|(_, inode)| inode.cached.allocated_blocks()).sum()
    }
}
