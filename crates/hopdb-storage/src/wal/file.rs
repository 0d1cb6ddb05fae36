//! The log file as such: made, opened, brought back into use after a crash. Layout: `docs/file-format.md`, "Log".

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::blocks::Blocks;
use super::leader::Waiting;
use super::reader::{self, Position, Reader, Remnants};
use super::space::{Extent, JUMP_LEN, Space, next_block};
use super::{Poison, RECORD_HEADER, State, Wal};
use crate::codec::num::{get_u32, get_u64, put_u32, put_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{File, FileSystem, OpenMode};
use crate::mutants::Mutant;
use crate::page::Lsn;
use crate::sync::{Arc, AtomicU64, Condvar, Mutex};

/// Bytes before the image area.
const IMAGES_AT: u64 = 4096;
const MAGIC: [u8; 8] = *b"\x89HopWA\r\n";
/// Version 0 did not begin extents with a block.
const VERSION: u32 = 1;
const AT_CHECKSUM: usize = 40;
const HEADER_LEN: usize = 48;
/// Most bytes of records that a log keeps space for; fewer where the cache is small.
const KEPT_MAX: u64 = 64 << 20;
/// Most bytes of the image area.
const IMAGES_MAX: usize = 4 << 20;
/// Bytes copied at a time.
const STEP: u64 = 1 << 20;

/// How large the parts of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSizes {
    /// Bytes of records that it keeps space for.
    pub(super) kept: u64,
    /// Steps in which the file grows.
    pub(super) step: u64,
    /// Bytes of a batch's records above which they go out before it is whole.
    pub(super) part: usize,
    /// Bytes of a page.
    pub(super) page_size: usize,
    /// Pages of the image area.
    pub(super) images: usize,
}

impl LogSizes {
    /// Those of a database with such pages that has so much memory for them: a small cache holds few changes, and its
    /// log is short.
    pub(crate) fn of(page_size: usize, cache_bytes: usize) -> Self {
        let kept = next_block((cache_bytes as u64 / 4).clamp(64 << 10, KEPT_MAX));
        let images = (cache_bytes / page_size / 16).clamp(4, IMAGES_MAX / page_size);
        let step = next_block(kept / 64);
        Self { kept, step, part: to_usize(step), page_size, images }
    }

    /// Byte of the file at which records begin.
    pub(super) fn records_at(self) -> u64 {
        IMAGES_AT + (self.images * self.page_size) as u64
    }

    /// Byte of the file at which an image lies.
    pub(super) fn image_at(self, slot: usize) -> u64 {
        IMAGES_AT + (slot * self.page_size) as u64
    }
}

impl Wal {
    /// Makes an empty log file, whose records will begin at `base`, and its name durable; a file of that name is
    /// left-over and goes.
    pub(crate) fn create(
        fs: &dyn FileSystem,
        path: &Path,
        (file_id, salt): (u128, u64),
        (sizes, base): (LogSizes, Lsn),
        poison: Arc<Poison>,
    ) -> Result<Self> {
        let err = |action, source| Error::io(action, path, source);
        if fs.exists(path).map_err(|e| err("look for", e))? {
            fs.remove(path).map_err(|e| err("remove the left-over", e))?;
        }
        let file = fs.open(path, OpenMode::CreateNew).map_err(|e| err("create", e))?;
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(&MAGIC);
        put_u32(&mut header, 8, VERSION);
        header[16..32].copy_from_slice(&file_id.to_le_bytes());
        put_u64(&mut header, 32, sizes.images as u64);
        let sum = xxh3_64(&header[..AT_CHECKSUM]);
        put_u64(&mut header, AT_CHECKSUM, sum);
        let at = sizes.records_at();
        file.reserve(at).map_err(|e| err("reserve space in", e))?;
        file.write_at(&header, 0).map_err(|e| err("write the header of", e))?;
        file.sync().map_err(|e| err("sync", e))?;
        if !Mutant::SkipLogNameSync.is_on() {
            fs.sync_dir(path.parent().unwrap_or(Path::new("")))
                .map_err(|e| err("make durable the name of", e))?;
        }
        let wal = Self::over(path, file, salt, (sizes, poison));
        let empty = [Extent { lsn: base, at, end_at: at }];
        *wal.state.lock() = State::new(base, base, Space::new(at, sizes.kept, empty), at);
        Ok(wal)
    }

    /// Opens an existing log of the database `file_id`. Before it can be written to, [`Wal::settle`].
    pub(crate) fn open(
        fs: &dyn FileSystem,
        path: &Path,
        (file_id, salt): (u128, u64),
        sizes: LogSizes,
        poison: Arc<Poison>,
    ) -> Result<Self> {
        let file = fs.open(path, OpenMode::ReadWrite).map_err(|e| Error::io("open", path, e))?;
        let images = read_header(&*file, path, file_id, sizes.page_size)?;
        Ok(Self::over(path, file, salt, (LogSizes { images, ..sizes }, poison)))
    }

    /// The salt in the first record of the file at `path`, 0 where there is none: a log whose salt is that of a header to
    /// come was begun by one that is lost.
    pub(crate) fn first_salt(fs: &dyn FileSystem, path: &Path, page_size: usize) -> Result<u64> {
        let file = fs.open(path, OpenMode::ReadOnly).map_err(|e| Error::io("open", path, e))?;
        let read =
            |bytes: &mut [u8], at| file.read_at(bytes, at).map_err(|e| Error::io("read", path, e));
        let mut header = [0; HEADER_LEN];
        read(&mut header, 0)?;
        let images = get_u64(&header, 32).min((IMAGES_MAX / page_size) as u64);
        let mut record = [0; RECORD_HEADER];
        read(&mut record, IMAGES_AT + images * page_size as u64)?;
        Ok(get_u64(&record, 16))
    }

    fn over(
        path: &Path,
        file: Arc<dyn File>,
        salt: u64,
        (sizes, poison): (LogSizes, Arc<Poison>),
    ) -> Self {
        let at = sizes.records_at();
        let empty = [Extent { lsn: Lsn(0), at, end_at: at }];
        let state = State::new(Lsn(0), Lsn(0), Space::new(at, sizes.kept, empty), 0);
        let blocks = file.has_durable_writes().then(Mutex::<Blocks>::default);
        Self {
            path: path.to_path_buf(),
            file,
            poison,
            salt,
            sizes,
            state: Mutex::new(state),
            resized: Condvar::new(),
            syncing: Mutex::default(),
            blocks,
            syncs: AtomicU64::new(0),
        }
    }

    /// Byte of the file at which records begin.
    pub(crate) fn records_at(&self) -> u64 {
        self.sizes.records_at()
    }

    pub(crate) fn file_len(&self) -> Result<u64> {
        self.file.len().map_err(|e| Error::io("measure", &self.path, e))
    }

    pub(super) fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<usize> {
        self.file.read_at(bytes, at).map_err(|e| Error::io("read", &self.path, e))
    }

    /// Reads the records from `base` on.
    pub(crate) fn reader(&self, base: Position) -> Result<Reader<'_>> {
        Reader::new(self, base)
    }

    /// What lies in the file of records at or above `end`, outside the extents of the records before it.
    pub(crate) fn remnants(&self, end: Lsn, extents: &[Extent]) -> Result<Remnants> {
        reader::remnants(self, end, extents)
    }

    /// Goes on behind the last of `extents`: makes durable what is not known to be, images and all from `durable` on, and
    /// takes the headers of `remnants` away, which must never follow new records. With `unfinished`, the last records are
    /// of a transaction that did not come to its commit: they stay, since what was synced must not go piecemeal, and the
    /// next batch begins with a rollback.
    ///
    /// What is not known to be durable is written again: after a sync that failed, the system may show bytes that it has
    /// given up writing.
    pub(crate) fn settle(
        &self,
        extents: Vec<Extent>,
        durable: Lsn,
        (unfinished, remnants): (bool, &Remnants),
    ) -> Result<()> {
        // Images, too: they may be all that there is of pages which will be written in place.
        self.write_again(IMAGES_AT, self.records_at())?;
        let first = extents.first().expect("a log has an extent").lsn;
        let last = *extents.last().expect("a log has an extent");
        let end = Lsn(last.lsn.0 + (last.end_at - last.at));
        for extent in &extents {
            let known = durable.0.saturating_sub(extent.lsn.0).min(extent.end_at - extent.at);
            let jump = if *extent == last { 0 } else { JUMP_LEN };
            self.write_again(extent.at + known, extent.end_at + jump)?;
        }
        let write = |e| Error::io("clear the torn tail of", &self.path, e);
        for at in remnants.headers.iter().filter(|_| !Mutant::KeepTornTail.is_on()) {
            self.file.write_at(&[0; RECORD_HEADER], *at).map_err(write)?;
        }
        let reserved = next_block(self.file_len()?.max(self.records_at()));
        self.file.reserve(reserved).map_err(|e| Error::io("reserve space in", &self.path, e))?;
        self.file.sync().map_err(|e| Error::io("sync", &self.path, e))?;
        let space = Space::new(self.records_at(), self.sizes.kept, extents);
        let state = State::new(first, end, space, reserved);
        *self.state.lock() = State { unfinished, ..state };
        Ok(())
    }

    fn write_again(&self, mut from: u64, to: u64) -> Result<()> {
        if Mutant::TrustLogTail.is_on() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        while from < to {
            bytes.resize(to_usize((to - from).min(STEP)), 0);
            let got = self.read_at(&mut bytes, from)?;
            self.file
                .write_at(&bytes[..got], from)
                .map_err(|e| Error::io("write again", &self.path, e))?;
            from += bytes.len() as u64;
        }
        Ok(())
    }
}

impl State {
    /// A log whose records from `base` to `end` lie in `space`, and are durable.
    fn new(base: Lsn, end: Lsn, space: Space, reserved: u64) -> Self {
        Self {
            base,
            end,
            durable: end,
            whole: end,
            durable_whole: end,
            space,
            reserved,
            resizing: false,
            stuck: false,
            unsynced: false,
            pending: Vec::new(),
            pieces: Vec::new(),
            spare: Vec::new(),
            leading: false,
            waiting: Waiting::default(),
            unfinished: false,
        }
    }
}

/// Holds the header of a log against what it must be; gives the pages of its image area.
fn read_header(file: &dyn File, path: &Path, file_id: u128, page_size: usize) -> Result<usize> {
    let mut header = [0; HEADER_LEN];
    let got = file.read_at(&mut header, 0).map_err(|e| Error::io("read", path, e))?;
    let bad = |reason: &str| Error::CorruptLog {
        path: path.to_path_buf(),
        lsn: 0,
        reason: reason.into(),
    };
    if got < HEADER_LEN || header[..8] != MAGIC {
        return Err(bad("it is not a HopDB log"));
    }
    let version = get_u32(&header, 8);
    if version != VERSION {
        return Err(Error::Unsupported {
            path: path.to_path_buf(),
            found: format!("log version {version}"),
            supported: format!("log version {VERSION}"),
        });
    }
    if get_u64(&header, AT_CHECKSUM) != xxh3_64(&header[..AT_CHECKSUM]) {
        return Err(bad("the checksum of its header does not match"));
    }
    if header[16..32] != file_id.to_le_bytes() {
        return Err(bad("it belongs to another database"));
    }
    let images = get_u64(&header, 32);
    if images == 0 || images > (IMAGES_MAX / page_size) as u64 {
        return Err(bad("its image area is of a size that none has"));
    }
    Ok(to_usize(images))
}
