//! Crashes of the simulated disk.

mod faults;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::*;
use crate::io::LockMode;

const SEEDS: u64 = 1000;

fn create(fs: &SimFs, name: &str) -> Arc<dyn File> {
    fs.open(Path::new(name), OpenMode::CreateNew).unwrap()
}

/// A file of `len` ones, durable with its name.
fn durable_file(fs: &SimFs, name: &str, len: usize) -> Arc<dyn File> {
    fs.write_file(name, vec![1; len]);
    fs.open(Path::new(name), OpenMode::ReadWrite).unwrap()
}

/// Bytes of `name` after a crash under each seed, `None` where it is gone.
fn outcomes(fs: &SimFs, name: &str) -> BTreeSet<Option<Vec<u8>>> {
    (0..SEEDS).map(|seed| fs.after_crash(seed).file_bytes(name)).collect()
}

fn is_crash(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Other && error.to_string() == "simulated crash"
}

fn is_eio(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

// Crash: bytes.

#[test]
fn synced_bytes_and_names_survive_every_seed() {
    let fs = SimFs::new(0);
    let file = create(&fs, "d/f");
    file.write_at(&[2; 3000], 100).unwrap();
    file.set_len(2000).unwrap();
    file.sync().unwrap();
    fs.sync_dir(Path::new("d")).unwrap();
    let expected = fs.file_bytes("d/f").unwrap();
    file.write_at(&[3; 10], 5000).unwrap();
    for seed in 0..SEEDS {
        let found = fs.after_crash(seed).file_bytes("d/f").unwrap();
        assert_eq!(found[..2000], expected, "seed {seed}");
    }
}

#[test]
fn an_unsynced_write_is_lost_kept_or_torn_in_sectors() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 2048);
    file.write_at(&[2; 1024], 256).unwrap();
    let found = outcomes(&fs, "f");
    // Three sectors, each old or new.
    assert_eq!(found.len(), 8);
    for bytes in found {
        let bytes = bytes.unwrap();
        assert!(bytes[..256].iter().chain(&bytes[1280..]).all(|byte| *byte == 1));
        for sector in [256..512, 512..1024, 1024..1280] {
            assert!(bytes[sector.clone()].iter().all(|byte| *byte == bytes[sector.start]));
        }
    }
}

#[test]
fn later_writes_may_survive_earlier_ones() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 2);
    file.write_at(b"a", 0).unwrap();
    file.write_at(b"b", 1).unwrap();
    let found: BTreeSet<_> = outcomes(&fs, "f").into_iter().map(Option::unwrap).collect();
    let expected = [b"\x01\x01", b"a\x01", b"\x01b", b"ab"].map(|bytes| bytes.to_vec());
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn kept_writes_to_one_place_end_in_their_order() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 1);
    file.write_at(b"a", 0).unwrap();
    file.write_at(b"b", 0).unwrap();
    assert_eq!(fs.after_crash_all_kept().file_bytes("f").unwrap(), b"b");
    assert_eq!(fs.after_crash_all_lost().file_bytes("f").unwrap(), b"\x01");
}

#[test]
fn a_lost_growth_cuts_the_file_or_leaves_a_gap_of_zeros() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 1);
    file.set_len(100).unwrap();
    file.write_at(b"x", 10).unwrap();
    let lengths: BTreeSet<_> =
        outcomes(&fs, "f").into_iter().map(|bytes| bytes.unwrap().len()).collect();
    assert_eq!(lengths, BTreeSet::from([1, 11, 100]));
    for bytes in outcomes(&fs, "f").into_iter().flatten() {
        assert!(bytes.iter().skip(1).all(|byte| *byte == 0 || *byte == b'x'));
    }
}

#[test]
fn an_unsynced_cut_and_an_unsynced_reserve_may_be_lost() {
    let fs = SimFs::new(0);
    let cut = durable_file(&fs, "cut", 10);
    cut.set_len(4).unwrap();
    let grown = durable_file(&fs, "grown", 10);
    grown.reserve(50).unwrap();
    let lengths = |name| -> BTreeSet<_> {
        outcomes(&fs, name).into_iter().map(|bytes| bytes.unwrap().len()).collect()
    };
    assert_eq!(lengths("cut"), BTreeSet::from([4, 10]));
    assert_eq!(lengths("grown"), BTreeSet::from([10, 50]));
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let fs = SimFs::new(0);
    for name in ["a", "b", "c"] {
        let file = create(&fs, name);
        file.write_at(&[2; 5000], 0).unwrap();
        file.write_at(&[3; 5000], 2500).unwrap();
    }
    let state = |fs: &SimFs| -> Vec<_> {
        fs.paths().into_iter().map(|path| (path.clone(), fs.file_bytes(path))).collect()
    };
    let disks: BTreeSet<_> = (0..50).map(|seed| state(&fs.after_crash(seed))).collect();
    assert!(disks.len() > 10);
    for seed in 0..50 {
        assert_eq!(state(&fs.after_crash(seed)), state(&fs.after_crash(seed)));
    }
}

#[test]
fn survivors_are_durable_and_apart() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    file.write_at(b"x", 0).unwrap();
    let kept = fs.after_crash_all_kept();
    assert_eq!(kept.after_crash_all_lost().file_bytes("f").unwrap(), b"x\x01\x01\x01");
    let handle = kept.open(Path::new("f"), OpenMode::ReadWrite).unwrap();
    handle.write_at(b"y", 0).unwrap();
    assert_eq!(fs.file_bytes("f").unwrap(), b"x\x01\x01\x01");
}

// Crash: names.

#[test]
fn a_name_needs_its_directory_synced() {
    let fs = SimFs::new(0);
    let file = create(&fs, "d/f");
    file.write_at(b"bytes", 0).unwrap();
    file.sync().unwrap();
    fs.sync_dir(Path::new("other")).unwrap();
    let expected = BTreeSet::from([None, Some(b"bytes".to_vec())]);
    assert_eq!(outcomes(&fs, "d/f"), expected);
    fs.sync_dir(Path::new("./d/")).unwrap();
    assert_eq!(outcomes(&fs, "d/f"), BTreeSet::from([Some(b"bytes".to_vec())]));
}

#[test]
fn a_synced_name_does_not_sync_the_bytes() {
    let fs = SimFs::new(0);
    create(&fs, "f").write_at(b"x", 0).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    let expected = BTreeSet::from([Some(vec![]), Some(b"x".to_vec())]);
    assert_eq!(outcomes(&fs, "f"), expected);
}

#[test]
fn a_prefix_of_the_name_changes_survives() {
    let fs = SimFs::new(0);
    fs.write_file("a", b"a");
    drop(create(&fs, "b"));
    fs.rename(Path::new("a"), Path::new("c")).unwrap();
    fs.remove(Path::new("b")).unwrap();
    let found: BTreeSet<_> = (0..SEEDS).map(|seed| fs.after_crash(seed).paths()).collect();
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    let expected = [paths(&["a"]), paths(&["a", "b"]), paths(&["b", "c"]), paths(&["c"])];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_replaced_or_removed_file_may_come_back_with_its_bytes() {
    let fs = SimFs::new(0);
    fs.write_file("new", b"new");
    fs.write_file("old", b"old");
    fs.rename(Path::new("new"), Path::new("old")).unwrap();
    let expected = BTreeSet::from([Some(b"old".to_vec()), Some(b"new".to_vec())]);
    assert_eq!(outcomes(&fs, "old"), expected);
    fs.sync_dir(Path::new("")).unwrap();
    fs.remove(Path::new("old")).unwrap();
    assert_eq!(outcomes(&fs, "old"), BTreeSet::from([None, Some(b"new".to_vec())]));
}

#[test]
fn an_unnamed_file_vanishes_unless_linked() {
    let fs = SimFs::new(0);
    let file = fs.create_unnamed(Path::new("d")).unwrap();
    file.write_at(b"x", 0).unwrap();
    file.sync().unwrap();
    assert!(fs.after_crash_all_kept().paths().is_empty());
    file.link(Path::new("d/f")).unwrap();
    assert_eq!(fs.after_crash_all_kept().file_bytes("d/f").unwrap(), b"x");
    assert_eq!(fs.after_crash_all_lost().file_bytes("d/f"), None);
    fs.sync_dir(Path::new("d")).unwrap();
    assert_eq!(fs.after_crash_all_lost().file_bytes("d/f").unwrap(), b"x");
}

#[test]
fn names_do_not_move_between_directories() {
    let fs = SimFs::new(0);
    fs.write_file("a/f", b"x");
    let error = fs.rename(Path::new("a/f"), Path::new("b/f")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CrossesDevices);
}

// Crash points.

#[test]
fn every_call_fails_from_the_crash_on() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    file.write_at(b"a", 0).unwrap();
    fs.crash_at_step(fs.steps() + 2);
    file.write_at(b"b", 1).unwrap();
    assert!(!fs.crashed());
    assert!(is_crash(&file.write_at(b"c", 2).unwrap_err()));
    assert!(fs.crashed());
    let steps = fs.steps();
    let path = Path::new("f");
    let failures = [
        file.read_at(&mut [0], 0).map(drop),
        file.write_at(b"d", 0),
        file.sync(),
        file.set_len(0),
        file.reserve(9),
        file.len().map(drop),
        file.try_lock(LockMode::Shared).map(drop),
        file.link(Path::new("g")),
        fs.open(path, OpenMode::ReadOnly).map(drop),
        fs.open(Path::new("g"), OpenMode::CreateNew).map(drop),
        fs.create_unnamed(Path::new("")).map(drop),
        fs.exists(path).map(drop),
        fs.rename(path, Path::new("g")),
        fs.remove(path),
        fs.sync_dir(Path::new("")),
    ];
    for failure in failures {
        assert!(is_crash(&failure.unwrap_err()));
    }
    assert_eq!(fs.steps(), steps);
    assert_eq!(fs.after_crash_all_kept().file_bytes("f").unwrap(), b"abc\x01");
    assert_eq!(fs.after_crash_all_lost().file_bytes("f").unwrap(), b"\x01\x01\x01\x01");
}

#[test]
fn the_operation_that_is_hit_may_survive() {
    let hit = |act: &dyn Fn(&SimFs, &dyn File) -> io::Result<()>| {
        let fs = SimFs::new(0);
        let file = durable_file(&fs, "f", 4);
        file.write_at(b"x", 0).unwrap();
        fs.crash_at_step(fs.steps() + 1);
        assert!(is_crash(&act(&fs, &*file).unwrap_err()));
        (fs.after_crash_all_lost(), fs.after_crash_all_kept())
    };
    let (lost, kept) = hit(&|_, file| file.set_len(2));
    assert_eq!(lost.file_bytes("f").unwrap().len(), 4);
    assert_eq!(kept.file_bytes("f").unwrap().len(), 2);
    let (lost, kept) = hit(&|_, file| file.sync());
    assert_eq!(lost.file_bytes("f").unwrap()[0], 1);
    assert_eq!(kept.file_bytes("f").unwrap()[0], b'x');
    let (lost, kept) = hit(&|fs, _| fs.remove(Path::new("f")));
    assert_eq!((lost.paths().len(), kept.paths().len()), (1, 0));
    let (lost, kept) = hit(&|fs, _| fs.open(Path::new("g"), OpenMode::CreateNew).map(drop));
    assert_eq!((lost.paths().len(), kept.paths().len()), (1, 2));
    let (lost, kept) = hit(&|_, file| file.link(Path::new("g")));
    assert_eq!((lost.paths().len(), kept.paths().len()), (1, 2));
}

#[test]
fn survivors_have_no_crash_no_fault_and_no_lock() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    assert!(file.try_lock(LockMode::Exclusive).unwrap());
    fs.crash_at_step(1);
    fs.fail_at(1, Fault::Eio);
    let next = fs.after_crash(0);
    assert_eq!((next.steps(), next.reads(), next.crashed()), (0, 0, false));
    let file = next.open(Path::new("f"), OpenMode::ReadWrite).unwrap();
    assert!(file.try_lock(LockMode::Exclusive).unwrap());
    file.write_at(b"x", 0).unwrap();
}

// Every crash.

#[test]
fn every_crash_is_every_subset_and_every_tear_once() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 2048);
    file.write_at(&[2; 1536], 0).unwrap();
    file.write_at(&[3; 10], 600).unwrap();
    drop(create(&fs, "g"));
    let found: BTreeSet<_> =
        fs.every_crash(10).map(|fs| (fs.file_bytes("f"), fs.paths())).collect();
    assert_eq!(found.len(), fs.every_crash(10).count(), "each once");
    let without_name = found.iter().filter(|(_, paths)| paths.len() == 1).count();
    assert_eq!(without_name * 2, found.len(), "with and without the name");
    // The first write kept, lost, or torn behind or before one of its two inner borders; with each the second one, kept
    // or lost.
    assert_eq!(without_name, 2 * (2 + 2 * 2));
    for seed in 0..SEEDS {
        let drawn = fs.after_crash(seed);
        // Chance also tears in the middle.
        let bytes = drawn.file_bytes("f").unwrap();
        let middle_alone = bytes[0] == bytes[1024] && bytes[0] != bytes[512];
        assert!(middle_alone || found.contains(&(Some(bytes), drawn.paths())), "seed {seed}");
    }
}

#[test]
fn with_many_changes_every_crash_decides_over_the_newest() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 20);
    for at in 0..20 {
        file.write_at(&[2], at).unwrap();
    }
    let found: BTreeSet<_> = fs.every_crash(4).map(|fs| fs.file_bytes("f").unwrap()).collect();
    assert_eq!(found.len(), 2 * 16);
    assert!(found.contains(&vec![1; 20]) && found.contains(&vec![2; 20]));
}
