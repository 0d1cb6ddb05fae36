//! Logs that were cut, scrambled or added to: each opens to the commits that are whole before the first damage, or the
//! damage is named, and never anything else.
//!
//! The rule that every case is held against, from `docs/file-format.md`, "Log": the log ends at the first record that is
//! damaged. When an undamaged record behind it says that the place was synced, the database is not opened, and the error
//! names the place; otherwise all commits before it are there, and nothing of those behind. Records are found by their
//! checksums, wherever they lie in the file.
//!
//! No crash takes synced records away, as cuts do here. Commits that are lost so may have put pages where older ones had
//! been freed: who looks for those then gets an error, and never the newer page.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use hopdb_storage::io::sim::SimFs;
use hopdb_storage::{Error, Options, Store, View, WriteTxn};

const NAME: &str = "x.hop";
const LOG: &str = "x.hop-wal";
const SECTOR: usize = 512;
const RECORD_HEADER: usize = 40;
const COMMIT: u8 = 5;

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// A valid record of the log.
struct Record {
    at: usize,
    /// Behind the payload; padding may follow.
    end: usize,
    lsn: u64,
    durable: u64,
    /// Timestamp of the commit that it belongs to.
    ts: u64,
}

/// A disk that lost its process, and what must be found there.
struct Scene {
    fs: SimFs,
    options: Options,
    log: Vec<u8>,
    /// Those that recovery needs, by LSN.
    records: Vec<Record>,
    /// By commit timestamp.
    states: BTreeMap<u64, State>,
    /// Cases tried.
    cases: u64,
    /// How many of them were refused.
    refused: u64,
    /// How many lost commits whose pages are in the file, so that reading was refused.
    unreadable: u64,
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()).try_into().unwrap()
}

/// The redo point by the newer header slot.
fn base_lsn(file: &[u8]) -> u64 {
    let page_size = u32_at(file, 12);
    let newer = [0, page_size].into_iter().max_by_key(|slot| u64_at(file, slot + 56)).unwrap();
    u64_at(file, newer + 80)
}

/// All records from `base` on whose checksums hold.
fn find_records(log: &[u8], base: u64) -> Vec<Record> {
    let mut found = Vec::new();
    for at in (4096..log.len().saturating_sub(RECORD_HEADER)).step_by(8) {
        let header = &log[at..at + RECORD_HEADER];
        let end = at + RECORD_HEADER + u32_at(header, 4);
        let shaped = header[32] != 0 && header[33..] == [0; 7] && u64_at(header, 8) >= base;
        if shaped
            && end <= log.len()
            && u32_at(header, 0) == crc32c::crc32c(&log[at + 4..end]) as usize
        {
            let (lsn, durable) = (u64_at(header, 8), u64_at(header, 24));
            let ts = if header[32] == COMMIT { u64_at(log, at + RECORD_HEADER) } else { 0 };
            found.push(Record { at, end, lsn, durable, ts });
        }
    }
    found.sort_by_key(|record| record.lsn);
    let mut ts = None;
    for record in found.iter_mut().rev() {
        record.ts = if record.ts > 0 { record.ts } else { ts.expect("a commit ends the log") };
        ts = Some(record.ts);
    }
    found
}

fn content(view: &impl View) -> Result<State, Error> {
    let Some(table) = view.table("t")? else { return Ok(State::new()) };
    let mut cursor = view.cursor(table);
    let mut found = State::new();
    let mut more = cursor.first()?;
    while more {
        found.insert(cursor.key().unwrap().to_vec(), cursor.to_vec()?);
        more = cursor.next()?;
    }
    Ok(found)
}

fn random_bytes(random: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| random.u8(..)).collect()
}

impl Scene {
    /// Makes one commit for each of `commits`, which get the transaction and what is to be in the table.
    fn new<C>(options: Options, commits: &[C], commit: impl Fn(&mut WriteTxn, &C)) -> Self {
        let fs = SimFs::new(1);
        let shared = Arc::new(fs.clone());
        let store = Store::create_with(shared, Path::new(NAME), &options).unwrap();
        let mut states = BTreeMap::from([(0, State::new())]);
        for (ts, change) in (1..).zip(commits) {
            let mut txn = store.write().unwrap();
            if ts == 1 {
                txn.create_table("t").unwrap();
            }
            commit(&mut txn, change);
            states.insert(ts, content(&txn).unwrap());
            assert_eq!(txn.commit().unwrap().0, ts);
        }
        let fs = fs.after_crash_all_lost();
        let log = fs.file_bytes(LOG).unwrap();
        let records = find_records(&log, base_lsn(&fs.file_bytes(NAME).unwrap()));
        assert_eq!(records.last().unwrap().ts, commits.len() as u64, "the log ends with the last");
        fs.write_file(LOG, []);
        Self { fs, options, log, records, states, cases: 0, refused: 0, unreadable: 0 }
    }

    /// The first byte of the records of the last `count` commits, where those lie behind all others.
    fn start_of_last(&self, count: u64) -> usize {
        let last = self.last_ts();
        self.records.iter().find(|record| record.ts > last - count).unwrap().at
    }

    fn last_ts(&self) -> u64 {
        self.records.last().unwrap().ts
    }

    fn end(&self) -> usize {
        self.records.last().unwrap().end
    }

    /// Opens the database with another log, and holds what comes of it against the rule.
    fn try_log(&mut self, what: &str, log: &[u8]) {
        self.cases += 1;
        let is_damaged = |record: &&Record| {
            log.get(record.at..record.end) != Some(&self.log[record.at..record.end])
        };
        let first = self.records.iter().find(is_damaged);
        let knows = |first: &Record| {
            let mut whole = self.records.iter().filter(|record| !is_damaged(record));
            whole.any(|record| record.durable > first.lsn)
        };
        let refused = first.filter(|first| knows(first));

        let disk = self.fs.after_crash_all_kept();
        disk.write_file(LOG, log);
        let open = || Store::open_with(Arc::new(disk.clone()), Path::new(NAME), &self.options);
        let store = match (open(), refused) {
            (Ok(store), None) => store,
            (Err(Error::CorruptLog { lsn, .. }), Some(first)) if lsn == first.lsn => {
                self.refused += 1;
                return;
            }
            (Ok(_), Some(first)) => panic!("{what}: opened, though LSN {} was synced", first.lsn),
            (Err(error), _) => panic!("{what}: {error}"),
        };
        let ts = first.map_or(self.last_ts(), |first| first.ts - 1);
        assert_eq!(store.visible_ts().0, ts, "{what}: the last commit");
        let state = &self.states[&ts];
        match content(&store.read()) {
            Ok(found) => assert!(found == *state, "{what}: the table at commit {ts}"),
            Err(Error::VersionMissing { snapshot, .. }) if ts + 1 < self.last_ts() => {
                assert_eq!(snapshot, ts, "{what}");
                self.unreadable += 1;
                return;
            }
            Err(error) => panic!("{what}: {error}"),
        }
        if self.cases.is_multiple_of(16) {
            assert_eq!(store.read().check().unwrap().problems, [], "{what}");
            let mut txn = store.write().unwrap();
            let table = txn.create_table("more").unwrap();
            txn.put(table, b"key", &[7; 5000]).unwrap();
            txn.commit().unwrap();
            drop(store);
            let store = open().unwrap();
            assert!(content(&store.read()).unwrap() == *state, "{what}: opened again");
            assert!(store.read().table("more").unwrap().is_some(), "{what}: the commit behind it");
        }
    }

    /// Cuts the file at a byte; and leaves it as long, with zeros.
    fn cut_at(&mut self, byte: usize) {
        let mut log = self.log[..byte].to_vec();
        self.try_log(&format!("cut at byte {byte}"), &log);
        log.resize(self.log.len(), 0);
        self.try_log(&format!("zeros from byte {byte}"), &log);
    }

    /// Overwrites bytes.
    fn overwrite(&mut self, what: &str, at: usize, bytes: &[u8]) {
        let mut log = self.log.clone();
        log.resize(log.len().max(at + bytes.len()), 0);
        log[at..at + bytes.len()].copy_from_slice(bytes);
        self.try_log(&format!("{what} at byte {at}"), &log);
    }

    /// Zeros, scrambles and turns back to what else lies in the log each sector from `from` on.
    fn spoil_sectors(&mut self, from: usize, step: usize, random: &mut Rng) {
        for at in (from / SECTOR * SECTOR..self.end()).step_by(SECTOR * step) {
            self.overwrite("a sector of zeros", at, &[0; SECTOR]);
            self.overwrite("a scrambled sector", at, &random_bytes(random, SECTOR));
            let other = from + random.usize(0..=at - from / SECTOR * SECTOR);
            let older = self.log[other..other + SECTOR].to_vec();
            self.overwrite("an older sector", at, &older);
        }
    }
}

/// One commit for each length, of three values.
fn scene(cache_bytes: usize, lengths: &[usize]) -> Scene {
    let options = Options { cache_bytes, ..Options::default() };
    Scene::new(options, lengths, |txn, length| {
        let table = txn.table("t").unwrap().unwrap();
        let byte = length.to_le_bytes()[0];
        for key in 0..3 {
            let value = vec![byte ^ key; length / (usize::from(key) + 1)];
            txn.put(table, &[key, byte % 7], &value).unwrap();
        }
    })
}

/// A log so short that everything can be done to each of its bytes.
fn short() -> Scene {
    scene(512 << 10, &[0, 1, 300, 7, 100, 20, 60])
}

/// Values of every size: in a leaf, in a page, in extents that go to the log, in extents that do not.
fn mixed() -> Scene {
    let lengths = [0, 1, 7, 100, 1000, 3000, 9000, 120_000, 400_000, 20, 2000, 0, 60, 500, 3, 1200];
    let scene = scene(4 << 20, &lengths);
    assert_eq!(scene.records[0].ts, 1, "no checkpoint was made");
    scene
}

#[test]
fn a_log_cut_at_any_byte_opens_to_the_commits_before() {
    let mut scene = short();
    (scene.records[0].at..scene.end() + 16).for_each(|byte| scene.cut_at(byte));
    assert_eq!((scene.refused, scene.unreadable), (0, 0), "what is cut off tells nothing");

    let mut scene = mixed();
    let mut borders: Vec<usize> =
        scene.records.iter().flat_map(|r| [r.at, r.at + 1, r.end]).collect();
    borders.extend((scene.records[0].at..scene.end()).step_by(1999));
    borders.iter().for_each(|byte| scene.cut_at(*byte));
    assert_eq!(scene.refused, 0);
    assert!(scene.unreadable < scene.cases / 2, "{} of {}", scene.unreadable, scene.cases);
}

#[test]
fn any_damaged_byte_is_a_torn_tail_or_named() {
    let mut scene = short();
    let mut random = Rng::with_seed(1);
    for at in scene.records[0].at..scene.end() {
        let byte = scene.log[at];
        scene.overwrite("a flipped bit", at, &[byte ^ 1 << random.u8(0..8)]);
        if byte != 0 {
            scene.overwrite("a zero", at, &[0]);
        }
    }
    assert!(scene.refused > scene.cases / 2, "{} of {}", scene.refused, scene.cases);
    assert!(scene.refused < scene.cases * 19 / 20, "{} of {}", scene.refused, scene.cases);

    // Every field of every record's header, and the end of its payload.
    let mut scene = mixed();
    for index in 0..scene.records.len() {
        let Record { at, end, .. } = scene.records[index];
        for at in [0, 4, 8, 16, 24, 32, 40].map(|field| at + field).into_iter().chain([end - 1]) {
            let bytes = random_bytes(&mut random, (end - at).min(4));
            scene.overwrite("scrambled bytes", at, &bytes);
        }
    }
    assert!(scene.refused > scene.cases * 3 / 4, "{} of {}", scene.refused, scene.cases);
}

#[test]
fn any_damaged_sector_is_a_torn_tail_or_named() {
    let mut scene = mixed();
    let first = scene.records[0].at;
    scene.spoil_sectors(first, 1, &mut Rng::with_seed(2));
    assert!(scene.refused > 100, "{} of {}", scene.refused, scene.cases);
}

#[test]
fn what_lies_behind_the_log_does_not_matter() {
    let mut scene = mixed();
    let mut random = Rng::with_seed(3);
    let end = scene.end().next_multiple_of(8);
    for gap in [0, 1, 4, 8, 40, 504, 5000] {
        let garbage = random_bytes(&mut random, 3000);
        scene.overwrite("garbage", end + gap, &garbage);
        for index in (0..scene.records.len()).step_by(5) {
            // Older records, one or all that follow it.
            let Record { at, end: behind, .. } = scene.records[index];
            let (one, all) = (scene.log[at..behind].to_vec(), scene.log[at..end].to_vec());
            scene.overwrite("an older record", end + gap, &one);
            scene.overwrite("older records", end + gap, &all);
        }
    }
    assert_eq!(scene.refused, 0);
}

/// A log that went round: records lie in several places, and some are left over from before the redo point.
#[test]
fn a_log_that_was_used_again_is_held_to_the_same_rule() {
    let options = Options { cache_bytes: 256 << 10, ..Options::default() };
    let commits: Vec<u32> = (0..400).collect();
    let mut scene = Scene::new(options, &commits, |txn, number| {
        let table = txn.table("t").unwrap().unwrap();
        let mut random = Rng::with_seed(u64::from(*number));
        for _ in 0..3 {
            let (key, length) = (random.u8(0..40), random.usize(0..300));
            txn.put(table, &[key], &random_bytes(&mut random, length)).unwrap();
        }
    });
    assert!(scene.records[0].ts > 100, "checkpoints were made");
    let mut random = Rng::with_seed(4);
    for index in 0..scene.records.len() {
        let Record { at, end, .. } = scene.records[index];
        scene.overwrite("a scrambled record", at, &random_bytes(&mut random, end - at));
        let byte = random.usize(at..end);
        scene.cut_at(byte);
        let flipped = scene.log[byte] ^ 0x10;
        scene.overwrite("a flipped bit", byte, &[flipped]);
    }
    let last: Vec<(usize, usize)> = scene
        .records
        .iter()
        .filter(|record| record.ts > scene.last_ts() - 2)
        .map(|record| (record.at, record.end))
        .collect();
    for (at, end) in last {
        for byte in at..end {
            scene.cut_at(byte);
        }
    }
    assert!(scene.refused > 100 && scene.refused < scene.cases, "{} refused", scene.refused);
}

/// Commits of many MiB: their records are written in parts.
#[test]
fn a_large_commit_is_there_whole_or_not_at_all() {
    for page_size in [4096, 65_536] {
        let options = Options { cache_bytes: 96 << 20, page_size, ..Options::default() };
        let length = page_size / 5;
        let keys = u32::try_from(5_000_000 / length).unwrap();
        let mut scene = Scene::new(options, &[0, 1, 2, 3], |txn, number| {
            let table = txn.table("t").unwrap().unwrap();
            let mut random = Rng::with_seed(*number);
            let keys = if *number == 3 { keys / 100..keys / 100 + 2 } else { 0..keys };
            for key in keys {
                let value = random_bytes(&mut random, length);
                txn.put(table, &key.to_be_bytes(), &value).unwrap();
            }
        });
        let commit = |ts: u64| scene.records.iter().filter(move |record| record.ts == ts);
        let bytes: usize = commit(3).map(|record| record.end - record.at).sum();
        assert!(bytes > 3 << 20, "{bytes} bytes");
        let mut random = Rng::with_seed(5);
        let (from, end) = (scene.records[0].at, scene.end());
        for _ in 0..12 {
            let byte = random.usize(from..end);
            scene.cut_at(byte);
            scene.overwrite("a scrambled sector", byte, &random_bytes(&mut random, SECTOR));
        }
        for byte in (scene.start_of_last(1)..end).step_by(1 + length / 4) {
            scene.cut_at(byte);
        }
        assert!(scene.refused > 5, "{} of {}", scene.refused, scene.cases);
    }
}
