//! Creating and opening a store.
//!
//! A new database is made without a name and gets it when it is whole and synced: a crash leaves either the
//! whole file or nothing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Inner, Options, Store};
use crate::buffer::{Gone, PageRef, Pool, Publish};
use crate::error::{Error, Result};
use crate::io::real::RealFs;
use crate::io::{File, FileSystem, LockMode, OpenMode};
use crate::mutants::Mutant;
use crate::page::{self, CommitTs, DIRECTORY_ROOT, FIRST_PAGES, PageId, PageKind, slotted};
use crate::pager::header::{self, Header};
use crate::pager::{Pager, RedoPoint};
use crate::recovery::{self, RecoveryReport};
use crate::sync::Arc;
use crate::txn::allocation;
use crate::txn::checkpoint::Checkpointer;
use crate::txn::flusher::Flusher;
use crate::txn::gate::{Gate, WriterState};
use crate::txn::snapshots::Snapshots;
use crate::txn::worker::Worker;
use crate::txn::{Engine, Mode};
use crate::wal::{FIRST_LSN, LogSizes, Wal};

impl Store {
    /// Makes a new database at `path` and opens it.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`], bad options, the system's errors. Nothing is left then.
    pub fn create(path: &Path, options: &Options) -> Result<Self> {
        Self::create_with(Arc::new(RealFs), path, options)
    }

    /// Opens the database at `path`, after recovering it when it was not closed cleanly.
    ///
    /// # Errors
    /// See [`Error`]: not there, in use, another format or version, truncated, damaged.
    pub fn open(path: &Path, options: &Options) -> Result<Self> {
        Self::open_with(Arc::new(RealFs), path, options)
    }

    /// [`Store::create`] on a given file system.
    ///
    /// # Errors
    /// As [`Store::create`].
    pub fn create_with(fs: Arc<dyn FileSystem>, path: &Path, options: &Options) -> Result<Self> {
        let store = Self::create_unnamed(Arc::clone(&fs), folder(path), options)?;
        store.persist(path)?;
        Self::open_with(fs, path, options)
    }

    /// Makes a new database in `folder` that has no name before [`Store::persist`]: until then a crash or a
    /// drop leaves nothing of it, and commits need neither log nor sync.
    ///
    /// # Errors
    /// Bad options, the system's errors.
    pub fn create_unnamed(
        fs: Arc<dyn FileSystem>,
        folder: &Path,
        options: &Options,
    ) -> Result<Self> {
        header::check_page_size(options.page_size)?;
        let file =
            fs.create_unnamed(folder).map_err(|e| Error::io("create a database in", folder, e))?;
        let header = Header {
            page_size: options.page_size,
            file_id: fastrand::u128(..),
            generation: 1,
            commit_ts: CommitTs(0),
            page_count: FIRST_PAGES,
            base_lsn: FIRST_LSN,
            base_at: 0,
            salt: 0,
            clean: true,
        };
        let path = folder.join("(new database)");
        let sizes = LogSizes::of(options.page_size, options.cache_bytes);
        let pager = Pager::new(&path, file, header.clone(), sizes);
        let first = write_first_pages(&pager, &header)?;
        let engine = engine(fs, pager, options, Mode::Unnamed, PathBuf::new());
        let publish = |bytes| Publish { frame: PageRef::new(bytes), base: None, dirty: false };
        let first = first.into_iter().map(publish).collect();
        engine.pool.publish(first, &Gone::default(), CommitTs(0));
        Ok(Self { inner: Arc::new(Inner { engine, recovery: None }) })
    }

    /// [`Store::open`] on a given file system.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(fs: Arc<dyn FileSystem>, path: &Path, options: &Options) -> Result<Self> {
        let (open_mode, lock_mode, mode) = if options.read_only {
            (OpenMode::ReadOnly, LockMode::Shared, Mode::ReadOnly)
        } else {
            (OpenMode::ReadWrite, LockMode::Exclusive, Mode::ReadWrite)
        };
        let file = fs.open(path, open_mode).map_err(|e| Error::io("open", path, e))?;
        if !file.try_lock(lock_mode).map_err(|e| Error::io("lock", path, e))? {
            return Err(Error::Locked { path: path.to_path_buf(), holder: file.lock_holder() });
        }
        let header = Header::read(&*file, path)?;
        let sizes = LogSizes::of(header.page_size, options.cache_bytes);
        let pager = Pager::new(path, file, header.clone(), sizes);
        pager.check_length(header.page_count)?;
        let log_path = log_path(path);
        let has_log = fs.exists(&log_path).map_err(|e| Error::io("look for", &log_path, e))?;
        if has_log && Wal::first_salt(&*fs, &log_path, header.page_size)? == header.next_salt() {
            let slot = header.generation.is_multiple_of(2).into();
            return Err(pager.corrupt(PageId(slot), "the header that began the log is not in it"));
        }
        // Closed to the end, it has no log, and then the header is durable.
        if mode == Mode::ReadWrite && (has_log || !header.clean) {
            pager.renew_header()?;
        }
        let engine = engine(fs, pager, options, mode, log_path);
        let recovery = if header.clean { None } else { Some(recover(&engine)?) };
        Ok(Self { inner: Arc::new(Inner { engine, recovery }) })
    }
}

/// The log that belongs to a database file: its name with `-wal` behind it.
fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push("-wal");
    PathBuf::from(name)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn engine(
    fs: Arc<dyn FileSystem>,
    pager: Pager,
    options: &Options,
    mode: Mode,
    log_path: PathBuf,
) -> Arc<Engine> {
    let pager = Arc::new(pager);
    let header = pager.header();
    let (commit_ts, page_count) = (header.commit_ts, header.page_count);
    let newest = RedoPoint { ts: commit_ts, pages: page_count, lsn: header.base_lsn };
    Arc::new(Engine {
        fs,
        pool: Pool::new(Arc::clone(&pager), options.cache_bytes),
        pager,
        snapshots: Snapshots::new(newest),
        gate: Gate::new(WriterState::new(commit_ts, page_count)),
        flusher: Flusher::default(),
        checkpointer: Checkpointer::default(),
        grower: Worker::default(),
        log_path,
        mode,
    })
}

/// Writes the header and the first pages; gives the latter.
fn write_first_pages(pager: &Pager, header: &Header) -> Result<[Box<[u8]>; 2]> {
    let io = |e| Error::io("write the header of", pager.path(), e);
    let file: &Arc<dyn File> = pager.file();
    file.set_len(FIRST_PAGES * header.page_size as u64).map_err(io)?;
    file.write_at(&header.encode(), header.offset()).map_err(io)?;
    let mut directory = vec![0; header.page_size].into_boxed_slice();
    page::init(&mut directory, DIRECTORY_ROOT, PageKind::Leaf, CommitTs(0));
    slotted::init(&mut directory);
    let mut map = vec![0; header.page_size].into_boxed_slice();
    page::init(&mut map, PageId(FIRST_PAGES - 1), PageKind::AllocationMap, CommitTs(0));
    for id in 0..FIRST_PAGES {
        allocation::set(&mut map, PageId(id), pager.range_pages(), true);
    }
    pager.write_born(&[&directory, &map])?;
    Ok([directory, map])
}

/// Names an unnamed store's file, which is whole and synced.
pub(super) fn link(engine: &Engine, path: &Path) -> Result<()> {
    engine.pager.file().link(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Error::AlreadyExists(path.to_path_buf()),
        _ => Error::io("name", path, e),
    })?;
    if Mutant::SkipNameSync.is_on() {
        return Ok(());
    }
    engine.fs.sync_dir(folder(path)).map_err(|e| {
        // As well as it goes: whoever is told that it failed should find nothing.
        drop(engine.fs.remove(path));
        Error::io("make durable the name of", path, e)
    })
}

fn recover(engine: &Engine) -> Result<RecoveryReport> {
    let path = engine.pager.path();
    if engine.mode == Mode::ReadOnly {
        return Err(Error::NeedsRecovery(path.to_path_buf()));
    }
    let log = &engine.log_path;
    if !engine.fs.exists(log).map_err(|e| Error::io("look for", log, e))? {
        return Err(Error::LogMissing { path: path.to_path_buf(), log: log.clone() });
    }
    let pager = &engine.pager;
    let header = pager.header();
    let id_salt = (header.file_id, header.salt);
    let poison = Arc::clone(pager.poison());
    let wal = Wal::open(&*engine.fs, log, id_salt, pager.log_sizes(), poison)?;
    let survey = recovery::survey(&header, &wal)?;
    pager.set_page_count(survey.newest.pages);
    pager.check_length(survey.file_pages)?;
    let unfinished = survey.unfinished_bytes > 0;
    wal.settle(survey.extents.clone(), survey.durable, (unfinished, &survey.remnants))?;
    pager.set_wal(wal);
    pager.reserve_pages(survey.newest.pages)?;
    let pages = recovery::redo(pager, &engine.pool, &survey)?;
    engine.snapshots.recovered(survey.newest);
    let mut state = engine.gate.enter();
    (state.commit_ts, state.page_count) = (survey.newest.ts, survey.newest.pages);
    engine.gate.leave(state);
    let cut_bytes = survey.unfinished_bytes + survey.remnants.bytes;
    let log_bytes = survey.log_bytes();
    Ok(RecoveryReport { commits: survey.commits(), pages, log_bytes, cut_bytes })
}
