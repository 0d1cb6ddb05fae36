//! Commits that wait for the log together: one sync for all, in order, all or nothing.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::gated::{DurableWrites, GatedFs, Syncs};
use super::*;

/// A store with the table `t`, whose log is held up from here on.
struct Group {
    fs: GatedFs,
    store: Store,
    commits: Vec<JoinHandle<Result<CommitTs>>>,
    first: CommitTs,
}

impl Group {
    fn new() -> Self {
        Self::with(DurableWrites::None)
    }

    fn with(durable_writes: DurableWrites) -> Self {
        let fs = GatedFs { durable_writes, ..GatedFs::new("-wal") };
        let shared: Arc<dyn FileSystem> = Arc::new(fs.clone());
        let store = Store::create_with(shared, Path::new(NAME), &frames(64)).unwrap();
        let first = put(&store, "t", b"before", b"0");
        fs.gate.set(Syncs::Wait);
        Self { fs, store, commits: Vec::new(), first }
    }

    /// Commits on a thread of its own; returns when the next writer could go on from it.
    fn commit(&mut self, key: &'static [u8], value: Vec<u8>) {
        let store = self.store.clone();
        self.commits.push(thread::spawn(move || {
            let mut txn = store.write().unwrap();
            let table = txn.table("t").unwrap().unwrap();
            txn.put(table, key, &value)?;
            txn.put(table, b"last", key)?;
            txn.commit()
        }));
        let published = CommitTs(self.first.0 + self.commits.len() as u64);
        while self.store.write().unwrap().base_ts() < published {
            thread::yield_now();
        }
    }

    /// Commits here, without waiting for the log.
    fn commit_later(&self, key: &[u8], value: &[u8]) -> CommitTs {
        let mut txn = self.store.write().unwrap();
        let table = txn.table("t").unwrap().unwrap();
        txn.put(table, key, value).unwrap();
        txn.set_durability(Durability::None);
        txn.commit().unwrap()
    }

    fn join(&mut self) -> Vec<Result<CommitTs>> {
        self.commits.drain(..).map(|commit| commit.join().unwrap()).collect()
    }
}

#[test]
fn commits_that_wait_share_a_sync_and_become_visible_in_order() {
    share_a_sync(Group::new());
    share_a_sync(Group::with(DurableWrites::Gated));
}

fn share_a_sync(mut group: Group) {
    let syncs = group.store.counts().io.log_syncs;
    let before = group.store.read();
    for key in [b"a", b"b", b"c", b"d"] {
        group.commit(key, vec![key[0]; 100]);
    }
    // The next writer sees them; a reader does not, whether it began before or after.
    let txn = group.store.write().unwrap();
    assert_eq!(get(&txn, "t", b"d").unwrap(), [b'd'; 100]);
    drop(txn);
    for snapshot in [&before, &group.store.read()] {
        assert_eq!(snapshot.commit_ts(), group.first);
        assert_eq!(content(snapshot, "t").len(), 1);
    }
    // The first is led alone: it is visible as it was, whatever the others have changed since.
    group.fs.gate.let_one_pass();
    while group.store.read().commit_ts() == group.first {
        thread::yield_now();
    }
    let second = group.store.read();
    assert_eq!(second.commit_ts(), CommitTs(group.first.0 + 1));
    assert_eq!(get(&second, "t", b"last").unwrap(), b"a");
    assert_eq!(content(&second, "t").len(), 3);
    drop(second);
    group.fs.gate.set(Syncs::Pass);
    let done: Vec<_> = group.join().into_iter().map(Result::unwrap).collect();
    assert_eq!(done, (1..=4).map(|n| CommitTs(group.first.0 + n)).collect::<Vec<_>>());
    // The first led alone, and the others shared what came next.
    assert_eq!(group.store.counts().io.log_syncs, syncs + 2);
    assert_eq!(content(&group.store.read(), "t").len(), 6);
    assert_eq!(content(&before, "t").len(), 1);
    drop(before);
    assert_sound(&group.store);
}

#[test]
fn a_failed_sync_fails_all_who_wait_and_shows_none() {
    fail_all(Group::new());
    fail_all(Group::with(DurableWrites::Gated));
}

fn fail_all(mut group: Group) {
    for key in [b"a", b"b", b"c"] {
        group.commit(key, vec![key[0]; 100]);
    }
    group.fs.gate.set(Syncs::Fail);
    assert!(group.join().iter().all(Result::is_err));
    assert!(matches!(group.store.write(), Err(Error::Poisoned(_))));
    assert_eq!(group.store.read().commit_ts(), group.first);
    assert_eq!(content(&group.store.read(), "t").len(), 1);
    assert_sound(&group.store);
}

/// Whatever of the group's records a power loss leaves: the first so many commits, whole, and in order.
#[test]
fn a_crash_keeps_the_first_commits_of_a_group() {
    let mut seen = BTreeMap::new();
    for seed in 0..300 {
        let mut group = Group::new();
        // Values that split pages, and one that goes to the file by itself.
        for (key, len) in [(b"a", 900), (b"b", 900), (b"c", 900), (b"d", 900), (b"e", 9000)] {
            group.commit(key, vec![key[0]; len]);
        }
        // The first goes alone; the others' records are written by one of them, and not synced.
        let steps = group.fs.disk.steps();
        if seed % 3 > 0 {
            group.fs.gate.let_one_pass();
            // The sync, and the write of the next leader.
            while group.fs.disk.steps() < steps + 2 {
                thread::yield_now();
            }
        }
        let crashed = group.fs.disk.after_crash(seed);
        group.fs.gate.set(Syncs::Fail);
        group.join();
        let recovered = open_with(&crashed, &frames(64)).unwrap();
        assert_sound(&recovered);
        let found = content(&recovered.read(), "t");
        let commits = recovered.read().commit_ts().0 - group.first.0;
        let keys: Vec<&[u8]> = [&b"a"[..], b"b", b"c", b"d", b"e"].into_iter().collect();
        for (number, key) in (1..).zip(&keys) {
            assert_eq!(found.contains_key(*key), number <= commits, "seed {seed}: {key:?}");
        }
        let last = keys.get(usize::try_from(commits).unwrap().wrapping_sub(1)).copied();
        assert_eq!(found.get(&b"last"[..]).map(Vec::as_slice), last);
        *seen.entry(commits).or_insert(0) += 1;
        put(&recovered, "t", b"more", b"1");
        assert_sound(&recovered);
    }
    // None, the first alone, some of the others, and all.
    assert!(seen.len() > 3 && [0, 1, 5].iter().all(|n| seen.contains_key(n)), "{seen:?}");
}

/// A page freed by a commit that is not durable must not be overwritten in the file by those that follow.
#[test]
fn pages_freed_by_a_commit_that_waits_are_not_used_again() {
    for seed in 0..50 {
        let mut group = Group::new();
        group.fs.gate.set(Syncs::Pass);
        put(&group.store, "t", b"large", &[1; 40_000]);
        group.first = group.store.read().commit_ts();
        group.fs.gate.set(Syncs::Wait);
        group.commit(b"large", vec![2; 40_000]);
        group.commit(b"large", vec![3; 40_000]);
        // The first is durable. What the second freed of it must stay, as long as the second is not.
        group.fs.gate.let_one_pass();
        group.commit(b"large", vec![4; 40_000]);
        group.commit(b"large", vec![5; 40_000]);
        let crashed = group.fs.disk.after_crash(seed);
        group.fs.gate.set(Syncs::Fail);
        group.join();
        let recovered = open_with(&crashed, &frames(64)).unwrap();
        assert_sound(&recovered);
        let commits = recovered.read().commit_ts().0 - group.first.0;
        let value = get(&recovered.read(), "t", b"large").unwrap();
        assert!(value == [u8::try_from(commits).unwrap() + 1; 40_000], "seed {seed}");
    }
}

#[test]
fn a_commit_that_does_not_wait_is_read_at_once_and_durable_with_the_next_that_does() {
    let group = Group::new();
    let syncs = group.store.counts().io.log_syncs;
    let later = group.commit_later(b"a", b"1");
    assert_eq!(group.store.read().commit_ts(), later);
    assert_eq!(get(&group.store.read(), "t", b"a").unwrap(), b"1");
    assert_eq!(group.store.counts().io.log_syncs, syncs);
    let crashed = open_with(&group.fs.disk.after_crash_all_kept(), &frames(64)).unwrap();
    assert_eq!(crashed.read().commit_ts(), group.first);
    group.fs.gate.set(Syncs::Pass);
    // One that changes nothing does as well.
    group.store.write().unwrap().commit().unwrap();
    assert_eq!(group.store.counts().io.log_syncs, syncs + 1);
    let crashed = open_with(&group.fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(content(&crashed.read(), "t").len(), 2);
    group.commit_later(b"a", b"2");
    put(&group.store, "t", b"b", b"2");
    assert_eq!(group.store.counts().io.log_syncs, syncs + 2);
    let crashed = open_with(&group.fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert_eq!(content(&crashed.read(), "t").len(), 3);
}

#[test]
fn a_commit_that_does_not_wait_is_not_seen_before_one_that_does() {
    let mut group = Group::new();
    group.commit(b"a", b"1".to_vec());
    let later = group.commit_later(b"b", b"2");
    assert_eq!(group.store.read().commit_ts(), group.first);
    group.fs.gate.let_one_pass();
    while group.store.read().commit_ts() < later {
        thread::yield_now();
    }
    assert_eq!(get(&group.store.read(), "t", b"b").unwrap(), b"2");
    group.fs.gate.set(Syncs::Pass);
    group.join().pop().unwrap().unwrap();
}

/// A page freed by a commit that is not durable is what a crash brings back.
#[test]
fn pages_freed_by_a_commit_that_is_not_durable_stay() {
    let group = Group::new();
    group.fs.gate.set(Syncs::Pass);
    put(&group.store, "t", b"large", &[1; 40_000]);
    for value in 2..8 {
        group.commit_later(b"large", &[value; 40_000]);
    }
    let crashed = open_with(&group.fs.disk.after_crash_all_lost(), &frames(64)).unwrap();
    assert!(get(&crashed.read(), "t", b"large").unwrap() == [1; 40_000]);
    assert_sound(&crashed);
    // Durable, they are free.
    group.store.flush().unwrap();
    let pages = group.store.file_bytes().unwrap();
    for value in 8..10 {
        group.commit_later(b"large", &[value; 40_000]);
    }
    assert_eq!(group.store.file_bytes().unwrap(), pages);
    assert_sound(&group.store);
}

#[test]
fn a_commit_with_a_delay_is_durable_without_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join(NAME), &frames(64)).unwrap();
    put(&store, "t", b"a", b"1");
    let syncs = store.counts().io.log_syncs;
    let mut txn = store.write().unwrap();
    let table = txn.table("t").unwrap().unwrap();
    txn.put(table, b"b", b"2").unwrap();
    txn.set_durability(Durability::Async { max_delay: Duration::from_millis(1) });
    txn.commit().unwrap();
    assert_eq!(get(&store.read(), "t", b"b").unwrap(), b"2");
    // Nobody else syncs.
    while store.counts().io.log_syncs == syncs {
        thread::yield_now();
    }
    // One with a delay that does not end here does not hold up the close.
    let mut txn = store.write().unwrap();
    txn.put(table, b"c", b"3").unwrap();
    txn.set_durability(Durability::Async { max_delay: Duration::from_secs(1 << 40) });
    txn.commit().unwrap();
    store.close().unwrap();
    let store = Store::open(&folder.path().join(NAME), &frames(64)).unwrap();
    assert_eq!(content(&store.read(), "t").len(), 3);
}
