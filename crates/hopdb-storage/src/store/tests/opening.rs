//! Opening, closing, and files that are not what they should be.

use super::*;
use crate::codec::num::put_u32;

/// A closed database with some content.
fn closed() -> SimFs {
    let (fs, store) = new_store(&frames(64));
    let mut txn = store.write().unwrap();
    let table = txn.create_table("t").unwrap();
    for n in 0..500 {
        txn.put(table, &number(n), &vec![byte(n); if n % 100 == 9 { 6000 } else { 40 }]).unwrap();
    }
    txn.commit().unwrap();
    store.close().unwrap();
    fs
}

/// A database that was not closed, whose content is all in its log.
fn crashed() -> SimFs {
    let fs = closed();
    let store = open_with(&fs, &frames(64)).unwrap();
    for n in 0..5u8 {
        put(&store, "t", &[n], b"late");
    }
    fs.after_crash_all_lost()
}

fn open(fs: &SimFs) -> Result<Store> {
    open_with(fs, &frames(64))
}

#[test]
fn a_closed_store_is_one_file_and_opens_again() {
    let fs = closed();
    assert_eq!(fs.paths(), [Path::new(NAME)]);
    let store = open(&fs).unwrap();
    assert_eq!(store.recovery(), None);
    assert_eq!(content(&store.read(), "t").len(), 500);
    assert_eq!(store.path(), Path::new(NAME));
    let bytes = fs.file_bytes(NAME).unwrap();
    assert_eq!(store.file_bytes().unwrap(), bytes.len() as u64);
    store.close().unwrap();
    assert!(fs.file_bytes(NAME).unwrap() == bytes, "reading changes nothing");
}

#[test]
fn a_dropped_store_is_closed() {
    let (fs, store) = new_store(&frames(64));
    put(&store, "t", b"a", b"1");
    let clone = store.clone();
    drop(store);
    assert_eq!(fs.paths().len(), 2, "a clone has it open");
    drop(clone);
    assert_eq!(fs.paths(), [Path::new(NAME)]);
    assert_eq!(open(&fs).unwrap().recovery(), None);
}

#[test]
fn a_snapshot_outlives_its_store() {
    let (_fs, store) = new_store(&frames(4));
    put(&store, "t", b"a", &[1; 30_000]);
    let snapshot = store.read();
    let clone = store.clone();
    store.close().unwrap();
    assert_eq!(get(&snapshot, "t", b"a").unwrap(), [1; 30_000]);
    assert!(matches!(clone.write(), Err(Error::Poisoned(_))));
    assert!(matches!(clone.flush(), Err(Error::Poisoned(_))));
    assert_eq!(get(&clone.read(), "t", b"a").unwrap(), [1; 30_000]);
}

#[test]
fn a_log_that_a_close_could_not_remove_goes_with_the_next() {
    let fs = closed();
    fs.write_file("x.hop-wal", b"left over");
    let store = open(&fs).unwrap();
    assert_eq!(content(&store.read(), "t").len(), 500);
    store.close().unwrap();
    assert_eq!(fs.paths(), [Path::new(NAME)]);
}

#[test]
fn recovery_brings_the_commits_back_and_says_so() {
    let fs = crashed();
    let store = open(&fs).unwrap();
    let report = store.recovery().unwrap();
    assert_eq!((report.commits, report.cut_bytes), (5, 0));
    assert!(report.pages > 0);
    assert_eq!(content(&store.read(), "t").len(), 505);
    assert_sound(&store);
    store.close().unwrap();
    assert_eq!(open(&fs).unwrap().recovery(), None);
}

#[test]
fn recovery_says_how_much_it_cut() {
    let fs = crashed();
    let mut log = fs.file_bytes("x.hop-wal").unwrap();
    // The last record is the last commit's: 40 bytes and 16 of payload.
    let last = log.iter().rposition(|byte| *byte != 0).unwrap();
    log[last] ^= 1;
    fs.write_file("x.hop-wal", &log);
    let report = open(&fs).unwrap().recovery().unwrap();
    assert_eq!(report.commits, 4);
    assert!(report.cut_bytes > 56 && report.cut_bytes < 5000, "{report:?}");
}

#[test]
fn a_reader_changes_nothing_and_refuses_to() {
    let fs = closed();
    let before = fs.file_bytes(NAME).unwrap();
    let options = Options { read_only: true, ..frames(4) };
    let (first, second) = (open_with(&fs, &options).unwrap(), open_with(&fs, &options).unwrap());
    assert!(matches!(open(&fs), Err(Error::Locked { .. })));
    for store in [first, second] {
        assert_eq!(content(&store.read(), "t").len(), 500);
        assert!(matches!(store.write(), Err(Error::ReadOnly)));
        assert!(matches!(store.flush(), Err(Error::ReadOnly)));
        assert!(matches!(store.checkpoint(), Err(Error::ReadOnly)));
        store.clear_cache().unwrap();
        assert_sound(&store);
        store.close().unwrap();
    }
    assert!(fs.file_bytes(NAME).unwrap() == before);
    assert!(matches!(open_with(&crashed(), &options), Err(Error::NeedsRecovery(_))));
}

#[test]
fn one_writer_has_the_file() {
    let fs = closed();
    let store = open(&fs).unwrap();
    assert!(matches!(open(&fs), Err(Error::Locked { .. })));
    assert!(matches!(
        open_with(&fs, &Options { read_only: true, ..frames(64) }),
        Err(Error::Locked { .. })
    ));
    drop(store);
    open(&fs).unwrap();
}

#[test]
fn other_files_are_not_databases() {
    let text = b"Shopping list: milk, bread, and a longer rest of the text.";
    let mut sqlite = vec![0; 8192];
    sqlite[..16].copy_from_slice(b"SQLite format 3\0");
    for (bytes, says) in [
        (vec![], "it is empty"),
        (sqlite, "an SQLite file"),
        (text.to_vec(), "Shopping"),
        (vec![0; 100_000], "starts with"),
        (b"x".to_vec(), "starts with"),
    ] {
        let fs = SimFs::new(1);
        fs.write_file(NAME, &bytes);
        match open(&fs) {
            Err(error @ Error::NotADatabase { .. }) => {
                assert!(error.to_string().contains(says), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert!(fs.file_bytes(NAME).unwrap() == bytes, "and stay as they are");
    }
}

#[test]
fn missing_files_and_folders_are_told() {
    let fs = SimFs::new(1);
    assert!(matches!(open(&fs), Err(Error::Io { .. })));
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default();
    for path in [dir.path().to_path_buf(), dir.path().join("no/x.hop"), dir.path().join("x.hop")] {
        assert!(matches!(Store::open(&path, &options), Err(Error::Io { .. })), "{path:?}");
    }
    assert!(matches!(Store::create(&dir.path().join("no/x.hop"), &options), Err(Error::Io { .. })));
    assert!(matches!(Store::create(dir.path(), &options), Err(Error::AlreadyExists(_))));
}

#[test]
fn another_version_is_told() {
    for (at, number, says) in [(8, 7, "format version 7"), (32, 1, "features")] {
        let fs = closed();
        let mut bytes = fs.file_bytes(NAME).unwrap();
        for slot in [0, PAGE] {
            put_u32(&mut bytes, slot + at, number);
            let sum = xxhash_rust::xxh3::xxh3_64(&bytes[slot..slot + 120]);
            bytes[slot + 120..slot + 128].copy_from_slice(&sum.to_le_bytes());
        }
        fs.write_file(NAME, &bytes);
        match open(&fs) {
            Err(error @ Error::Unsupported { .. }) => {
                assert!(error.to_string().contains(says), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_truncated_file_is_told_at_every_length() {
    let fs = closed();
    let bytes = fs.file_bytes(NAME).unwrap();
    for len in (0..bytes.len()).step_by(509).chain([1, 7, 8, 127, 128, PAGE, PAGE + 127]) {
        let cut = fs.after_crash_all_kept();
        cut.write_file(NAME, &bytes[..len]);
        match open(&cut) {
            Err(
                Error::Truncated { .. } | Error::NotADatabase { .. } | Error::CorruptPage { .. },
            ) => {}
            other => panic!("{len} bytes: {other:?}"),
        }
    }
}

#[test]
fn a_flipped_bit_is_found_in_every_page() {
    let fs = closed();
    let bytes = fs.file_bytes(NAME).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for page in 0..bytes.len() / PAGE {
        // Only the first bytes of the header pages mean something.
        let len = if page < 2 { 128 } else { PAGE };
        let damaged = fs.after_crash_all_kept();
        damaged.corrupt(NAME, (page * PAGE + random.usize(0..len)) as u64, 1 << random.u8(0..8));
        let Ok(store) = open(&damaged) else { continue };
        assert!(page >= 2, "a damaged header does not open");
        // The directory itself cannot be passed over.
        let Ok(report) = store.read().check() else { continue };
        let found = report.problems.iter().any(|problem| problem.page == page as u64);
        assert!(found, "page {page}: {:?}", report.problems);
    }
}

#[test]
fn a_missing_log_is_told() {
    let fs = crashed();
    fs.remove(Path::new("x.hop-wal")).unwrap();
    assert!(matches!(open(&fs), Err(Error::LogMissing { .. })));
}

#[test]
fn another_log_is_told() {
    let fs = crashed();
    for (log, says) in [
        (crashed().file_bytes("x.hop-wal").unwrap(), "another database"),
        (b"not a log at all, but long enough to have a header".to_vec(), "not a HopDB log"),
        (Vec::new(), "not a HopDB log"),
    ] {
        fs.write_file("x.hop-wal", &log);
        match open(&fs) {
            Err(error @ Error::CorruptLog { .. }) => {
                assert!(error.to_string().contains(says), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A log cut anywhere gives a commit, whole, or an error; never something between.
#[test]
fn a_log_cut_at_any_length_gives_a_whole_commit() {
    let fs = crashed();
    let log = fs.file_bytes("x.hop-wal").unwrap();
    let used = log.iter().rposition(|byte| *byte != 0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for len in (0..used + 2).step_by(13).chain([log.len()]) {
        let cut = fs.after_crash_all_kept();
        cut.write_file("x.hop-wal", &log[..len]);
        match open(&cut) {
            Ok(store) => {
                seen.insert(content(&store.read(), "t").len());
                assert_sound(&store);
            }
            Err(Error::CorruptLog { .. }) => assert!(len < records_at(&log), "{len}"),
            Err(other) => panic!("{len}: {other:?}"),
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [500, 501, 502, 503, 504, 505]);
}

/// A hole in the log below what was synced is no torn tail.
#[test]
fn a_damaged_record_before_synced_ones_is_told() {
    let fs = crashed();
    let at = records_at(&fs.file_bytes("x.hop-wal").unwrap());
    fs.corrupt("x.hop-wal", at as u64 + 50, 4);
    assert!(matches!(open(&fs), Err(Error::CorruptLog { lsn: 4096.., .. })));
}

#[test]
fn a_name_that_is_taken_is_not_touched() {
    let fs = closed();
    let before = fs.file_bytes(NAME).unwrap();
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let created = Store::create_with(Arc::clone(&shared), Path::new(NAME), &frames(64));
    assert!(matches!(created, Err(Error::AlreadyExists(_))));
    let store = Store::create_unnamed(shared, Path::new(""), &frames(64)).unwrap();
    put(&store, "t", b"a", b"1");
    assert!(matches!(store.persist(Path::new(NAME)), Err(Error::AlreadyExists(_))));
    assert!(fs.file_bytes(NAME).unwrap() == before);
    assert_eq!(fs.paths(), [Path::new(NAME)]);
}

#[test]
fn an_unnamed_store_writes_no_log_and_leaves_nothing() {
    let fs = SimFs::new(1);
    let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
    let store = Store::create_unnamed(Arc::clone(&shared), Path::new(""), &frames(4)).unwrap();
    for n in 0..20 {
        put(&store, "t", &number(n), &[1; 3000]);
    }
    assert_eq!(store.counts().io.log_syncs, 0);
    drop(store);
    assert!(fs.paths().is_empty());
    let store = Store::create_unnamed(shared, Path::new(""), &frames(4)).unwrap();
    for n in 0..20 {
        put(&store, "t", &number(n), &[1; 3000]);
    }
    store.persist(Path::new(NAME)).unwrap();
    let store = open_with(&fs, &frames(4)).unwrap();
    assert_eq!(content(&store.read(), "t").len(), 20);
    assert_sound(&store);
}

#[test]
fn page_sizes_are_checked() {
    let fs: Arc<dyn FileSystem> = Arc::new(SimFs::new(1));
    for page_size in [0, 512, 2048, 5000, 131_072, usize::MAX] {
        let options = Options { page_size, ..Options::default() };
        let created = Store::create_with(Arc::clone(&fs), Path::new(NAME), &options);
        assert!(matches!(created, Err(Error::InvalidOption { option: "page_size", .. })));
    }
}

#[test]
fn a_real_file_goes_the_same_way() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.hop");
    let store = Store::create(&path, &frames(8)).unwrap();
    put(&store, "t", b"a", &[3; 50_000]);
    let error = Store::open(&path, &frames(8)).unwrap_err();
    assert!(matches!(error, Error::Locked { holder: Some(pid), .. } if pid == std::process::id()));
    assert!(error.to_string().contains("in use by this process already"), "{error}");
    store.close().unwrap();
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(names, std::slice::from_ref(&path));
    let store = Store::open(&path, &frames(8)).unwrap();
    assert_eq!(get(&store.read(), "t", b"a").unwrap(), [3; 50_000]);
    assert_sound(&store);
}

#[test]
fn a_damaged_page_is_named_once_and_not_for_what_it_hides() {
    let fs = closed();
    let store = open(&fs).unwrap();
    let root = store.read().table("t").unwrap().unwrap().root;
    drop(store);
    fs.corrupt(NAME, root.0 * PAGE as u64 + 300, 1);
    let report = open(&fs).unwrap().read().check().unwrap();
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let root = format!("table t, page {root}: damaged: its checksum does not match");
    assert_eq!(problems, [root], "the pages below the root are not blamed");
}
