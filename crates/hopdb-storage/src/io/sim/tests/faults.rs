//! Injected faults, and the record of what was asked.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::*;
use super::{create, durable_file, is_eio, outcomes};

#[test]
fn eio_has_no_effect_and_hits_one_step() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    fs.fail_at(1, Fault::Eio);
    fs.fail_at(3, Fault::Eio);
    assert!(is_eio(&file.write_at(b"x", 0).unwrap_err()));
    assert_eq!(fs.file_bytes("f").unwrap(), [1; 4]);
    file.write_at(b"y", 0).unwrap();
    assert!(is_eio(&fs.remove(Path::new("f")).unwrap_err()));
    assert_eq!(fs.file_bytes("f").unwrap(), b"y\x01\x01\x01");
}

#[test]
fn no_space_is_storage_full() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    fs.fail_at(1, Fault::NoSpace);
    fs.fail_at(2, Fault::NoSpace);
    assert_eq!(file.write_at(b"x", 9).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(file.reserve(9).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(fs.file_bytes("f").unwrap(), [1; 4]);
}

#[test]
fn a_short_write_ends_at_a_sector() {
    let mut found = BTreeSet::new();
    for seed in 0..100 {
        let fs = SimFs::new(seed);
        let file = durable_file(&fs, "f", 2048);
        fs.fail_at(1, Fault::ShortWrite);
        let error = file.write_at(&[2; 1500], 100).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        let bytes = fs.file_bytes("f").unwrap();
        let written = bytes.iter().filter(|byte| **byte == 2).count();
        assert!(bytes[100..100 + written].iter().all(|byte| *byte == 2));
        found.insert(written);
    }
    assert_eq!(found, BTreeSet::from([0, 412, 924, 1436]));
}

#[test]
fn a_failed_sync_forgets_what_it_should_have_written() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 2);
    file.write_at(b"a", 0).unwrap();
    fs.fail_at(2, Fault::FailedSync);
    assert!(is_eio(&file.sync().unwrap_err()));
    let mut byte = [0];
    file.read_at(&mut byte, 0).unwrap();
    assert_eq!(&byte, b"a");
    file.write_at(b"b", 1).unwrap();
    file.sync().unwrap();
    assert_eq!(fs.file_bytes("f").unwrap(), b"ab");
    let expected = [b"\x01b", b"ab"].map(|bytes| Some(bytes.to_vec()));
    assert_eq!(outcomes(&fs, "f"), BTreeSet::from(expected));
}

#[test]
fn a_write_synced_over_a_forgotten_one_is_safe() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 1);
    file.write_at(b"a", 0).unwrap();
    fs.fail_at(2, Fault::Eio);
    assert!(is_eio(&file.sync().unwrap_err()));
    file.write_at(b"b", 0).unwrap();
    file.sync().unwrap();
    assert_eq!(outcomes(&fs, "f"), BTreeSet::from([Some(b"b".to_vec())]));
}

#[test]
fn a_misdirected_write_lands_elsewhere() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4);
    fs.misdirect_at(1, 2);
    fs.misdirect_at(2, -9);
    file.write_at(b"x", 0).unwrap();
    file.write_at(b"y", 1).unwrap();
    file.sync().unwrap();
    assert_eq!(fs.after_crash_all_lost().file_bytes("f").unwrap(), b"y\x01x\x01");
}

#[test]
fn a_full_disk_refuses_growth_alone() {
    let fs = SimFs::new(0);
    fs.set_capacity(4 * 4096 + 100);
    let file = create(&fs, "f");
    file.reserve(2 * 4096).unwrap();
    file.write_at(&[2; 4096], 4096).unwrap();
    let other = create(&fs, "g");
    other.write_at(&[3; 8192], 0).unwrap();
    assert_eq!(other.write_at(b"x", 8192).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(other.reserve(8193).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(other.len().unwrap(), 8192);
    file.write_at(&[4; 8192], 0).unwrap();
    other.set_len(1 << 30).unwrap();
    let in_hole = other.write_at(b"x", 1 << 20).unwrap_err();
    assert_eq!(in_hole.kind(), ErrorKind::StorageFull);
    other.set_len(4096).unwrap();
    file.write_at(b"x", 8192).unwrap();
}

#[test]
fn a_cut_gives_reserved_space_back() {
    let fs = SimFs::new(0);
    fs.set_capacity(2 * 4096);
    let file = create(&fs, "f");
    let other = create(&fs, "g");
    file.reserve(2 * 4096).unwrap();
    assert!(other.write_at(b"x", 0).is_err());
    file.set_len(4096).unwrap();
    other.write_at(b"x", 0).unwrap();
}

#[test]
fn a_removed_file_gives_its_space_back_with_its_last_handle() {
    let fs = SimFs::new(0);
    fs.set_capacity(4096);
    let file = create(&fs, "f");
    let other = create(&fs, "g");
    file.write_at(b"x", 0).unwrap();
    fs.remove(Path::new("f")).unwrap();
    assert!(other.write_at(b"y", 0).is_err());
    drop(file);
    other.write_at(b"y", 0).unwrap();
}

#[test]
fn capacity_and_bad_ranges_outlive_the_crash() {
    let fs = SimFs::new(0);
    let file = durable_file(&fs, "f", 4096);
    fs.set_capacity(4096);
    fs.fail_reads("f", 10..20);
    assert!(is_eio(&file.read_at(&mut [0; 4], 7).unwrap_err()));
    file.read_at(&mut [0; 3], 7).unwrap();
    file.read_at(&mut [0; 3], 20).unwrap();
    let next = fs.after_crash(0);
    let file = next.open(Path::new("f"), OpenMode::ReadWrite).unwrap();
    assert!(is_eio(&file.read_at(&mut [0], 19).unwrap_err()));
    assert_eq!(file.write_at(b"x", 4096).unwrap_err().kind(), ErrorKind::StorageFull);
}

#[test]
fn corruption_is_cached_and_durable() {
    let fs = SimFs::new(0);
    fs.write_file("f", [0, 1, 2, 3]);
    fs.corrupt("f", 2, 0x80);
    assert_eq!(fs.file_bytes("f").unwrap(), [0, 1, 0x82, 3]);
    assert_eq!(fs.after_crash_all_lost().file_bytes("f").unwrap(), [0, 1, 0x82, 3]);
}

#[test]
#[should_panic(expected = "no byte 4 in f")]
fn there_is_no_corruption_past_the_end() {
    let fs = SimFs::new(0);
    fs.write_file("f", [0; 4]);
    fs.corrupt("f", 4, 1);
}

// The record.

#[test]
fn steps_and_reads_are_counted_apart() {
    let fs = SimFs::new(0);
    let file = create(&fs, "f");
    file.write_at(b"x", 0).unwrap();
    file.set_len(5).unwrap();
    file.reserve(9).unwrap();
    file.sync().unwrap();
    fs.rename(Path::new("f"), Path::new("g")).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    fs.remove(Path::new("g")).unwrap();
    assert!(fs.remove(Path::new("g")).is_err());
    fs.create_unnamed(Path::new("")).unwrap().link(Path::new("h")).unwrap();
    file.read_at(&mut [0], 0).unwrap();
    assert_eq!((fs.steps(), fs.reads()), (11, 1));
    let counts = fs.counts()[Path::new("f")];
    assert_eq!(counts, Counts { writes: 1, syncs: 1 });
}

#[test]
fn the_trace_lists_operations_while_it_is_on() {
    let fs = SimFs::new(0);
    let file = create(&fs, "./d/f");
    assert!(fs.trace().is_empty());
    fs.set_trace(true);
    file.write_at(b"abc", 7).unwrap();
    file.read_at(&mut [0; 2], 1).unwrap();
    fs.rename(Path::new("d/f"), Path::new("d/g")).unwrap();
    file.reserve(99).unwrap();
    let entry = |step, kind, path, offset, len| {
        let path = PathBuf::from(path);
        Operation { step, kind, path, offset, len }
    };
    let expected = [
        entry(2, OperationKind::Write, "d/f", 7, 3),
        entry(2, OperationKind::Read, "d/f", 1, 2),
        entry(3, OperationKind::Rename, "d/g", 0, 0),
        entry(4, OperationKind::Reserve, "d/g", 0, 99),
    ];
    assert_eq!(fs.trace(), expected);
    fs.set_trace(false);
    assert!(fs.trace().is_empty());
}

#[test]
fn files_are_listed_and_written_in_tests() {
    let fs = SimFs::new(0);
    fs.write_file("b/f", b"old");
    drop(create(&fs, "b/g"));
    fs.write_file("./b/f", b"new bytes");
    assert_eq!(fs.paths(), [PathBuf::from("b/f"), PathBuf::from("b/g")]);
    assert_eq!(fs.after_crash_all_lost().file_bytes("b/f").unwrap(), b"new bytes");
    assert_eq!(fs.file_bytes("b/missing"), None);
    assert_eq!(fs.steps(), 1);
}

#[test]
fn the_clock_ticks_microseconds() {
    let fs = SimFs::new(0);
    assert_eq!(fs.now(), Duration::from_micros(1));
    fs.yield_now();
    assert_eq!(fs.clone().now(), Duration::from_micros(2));
}
