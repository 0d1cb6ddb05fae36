//! What every [`FileSystem`] promises, held against both the real and the simulated one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::SimFs;
use crate::io::real::RealFs;
use crate::io::{BLOCK, File, FileSystem, LockMode, OpenMode, aligned};
use crate::sync::Arc;

/// A file system with a directory of its own.
struct Place<'a> {
    fs: &'a dyn FileSystem,
    dir: &'a Path,
}

impl Place<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn create(&self, name: &str) -> Arc<dyn File> {
        self.fs.open(&self.path(name), OpenMode::CreateNew).unwrap()
    }

    fn open(&self, name: &str) -> Arc<dyn File> {
        self.fs.open(&self.path(name), OpenMode::ReadWrite).unwrap()
    }

    fn exists(&self, name: &str) -> bool {
        self.fs.exists(&self.path(name)).unwrap()
    }
}

fn bytes(file: &dyn File) -> Vec<u8> {
    let mut bytes = vec![0xee; usize::try_from(file.len().unwrap()).unwrap() + 10];
    let count = file.read_at(&mut bytes, 0).unwrap();
    bytes.truncate(count);
    bytes
}

/// Runs `check` on both.
fn on_both(check: impl Fn(&Place<'_>)) {
    let dir = tempfile::tempdir().unwrap();
    check(&Place { fs: &RealFs, dir: dir.path() });
    check(&Place { fs: &SimFs::new(1), dir: Path::new("dir") });
}

#[test]
fn a_name_is_created_once() {
    on_both(|place| {
        assert!(!place.exists("f"));
        drop(place.create("f"));
        assert!(place.exists("f"));
        let again = place.fs.open(&place.path("f"), OpenMode::CreateNew);
        assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
    });
}

#[test]
fn what_is_not_a_file_does_not_open() {
    on_both(|place| {
        drop(place.create("f"));
        for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
            let missing = place.fs.open(&place.path("missing"), mode).unwrap_err();
            assert_eq!(missing.kind(), ErrorKind::NotFound);
            let directory = place.fs.open(place.dir, mode).unwrap_err();
            assert_eq!(directory.kind(), ErrorKind::IsADirectory);
        }
        let taken = place.fs.open(place.dir, OpenMode::CreateNew).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert!(place.fs.exists(place.dir).unwrap());
    });
}

#[test]
fn reads_stop_at_the_end() {
    on_both(|place| {
        let file = place.create("f");
        assert!(file.is_empty().unwrap());
        file.write_at(b"hello", 0).unwrap();
        let mut buf = [0xee; 8];
        assert_eq!(file.read_at(&mut buf, 3).unwrap(), 2);
        assert_eq!(&buf[..3], b"lo\xee");
        assert_eq!(file.read_at(&mut buf, 5).unwrap(), 0);
        assert_eq!(file.read_at(&mut buf, 1 << 40).unwrap(), 0);
        assert_eq!(file.read_at(&mut [], 0).unwrap(), 0);
        assert_eq!(file.len().unwrap(), 5);
    });
}

#[test]
fn a_gap_reads_as_zeros() {
    on_both(|place| {
        let file = place.create("f");
        file.write_at(b"far", 9000).unwrap();
        assert_eq!(file.len().unwrap(), 9003);
        let mut buf = [0xee; 9003];
        assert_eq!(file.read_at(&mut buf, 0).unwrap(), 9003);
        assert!(buf[..9000].iter().all(|byte| *byte == 0));
        assert_eq!(&buf[9000..], b"far");
        file.write_at(b"", 20_000).unwrap();
        assert_eq!(file.len().unwrap(), 9003);
    });
}

/// Memory that durable writes can take, of blocks with this byte.
fn blocks(memory: &mut Vec<u8>, count: usize, byte: u8) -> &[u8] {
    let blocks = aligned(memory, count * BLOCK);
    blocks.fill(byte);
    blocks
}

#[test]
fn durable_writes_and_others_see_one_file() {
    on_both(|place| {
        let file = place.create("f");
        if !file.has_durable_writes() {
            println!("skipped: no durable writes in {}", place.dir.display());
            return;
        }
        let unit = BLOCK as u64;
        file.reserve(8 * unit).unwrap();
        file.write_at(&[1; 3 * BLOCK], 100).unwrap();
        let mut memory = Vec::new();
        file.write_durable(blocks(&mut memory, 2, 2), unit).unwrap();
        file.write_at(&[3; 10], 2 * unit - 5).unwrap();
        let found = bytes(&*file);
        let expected = [
            (0, 100),
            (1, BLOCK - 100),
            (2, BLOCK - 5),
            (3, 10),
            (2, BLOCK - 5),
            (1, 100),
            (0, 5 * BLOCK - 100),
        ];
        let expected: Vec<u8> =
            expected.iter().flat_map(|(byte, count)| vec![*byte; *count]).collect();
        assert!(found == expected);
    });
}

#[test]
fn set_len_cuts_and_extends_with_zeros() {
    on_both(|place| {
        let file = place.create("f");
        file.write_at(&[7; 5000], 0).unwrap();
        file.set_len(4097).unwrap();
        file.set_len(5000).unwrap();
        let found = bytes(&*file);
        assert_eq!(found.len(), 5000);
        assert!(found[..4097].iter().all(|byte| *byte == 7));
        assert!(found[4097..].iter().all(|byte| *byte == 0));
        file.set_len(0).unwrap();
        assert!(file.is_empty().unwrap());
    });
}

#[test]
fn reserve_extends_and_never_cuts() {
    on_both(|place| {
        let file = place.create("f");
        file.reserve(0).unwrap();
        assert_eq!(file.len().unwrap(), 0);
        file.write_at(b"kept", 0).unwrap();
        file.reserve(10_000).unwrap();
        assert_eq!(file.len().unwrap(), 10_000);
        file.reserve(3).unwrap();
        assert_eq!(file.len().unwrap(), 10_000);
        assert_eq!(&bytes(&*file)[..6], b"kept\0\0");
    });
}

#[test]
fn an_unnamed_file_is_named_by_link() {
    on_both(|place| {
        let file = place.fs.create_unnamed(place.dir).unwrap();
        file.write_at(b"bytes", 0).unwrap();
        file.sync().unwrap();
        assert!(!place.exists("f"));
        file.link(&place.path("f")).unwrap();
        place.fs.sync_dir(place.dir).unwrap();
        drop(file);
        assert_eq!(bytes(&*place.open("f")), b"bytes");
    });
}

#[test]
fn link_does_not_take_a_taken_name() {
    on_both(|place| {
        place.create("f").write_at(b"old", 0).unwrap();
        let file = place.fs.create_unnamed(place.dir).unwrap();
        let taken = file.link(&place.path("f")).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!(bytes(&*place.open("f")), b"old");
        file.link(&place.path("g")).unwrap();
        file.link(&place.path("h")).unwrap();
        file.write_at(b"both", 0).unwrap();
        assert_eq!(bytes(&*place.open("g")), b"both");
        assert_eq!(bytes(&*place.open("h")), b"both");
    });
}

#[test]
fn a_removed_file_does_not_come_back_by_link() {
    on_both(|place| {
        let file = place.create("f");
        place.fs.remove(&place.path("f")).unwrap();
        let gone = file.link(&place.path("g")).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
        let file = place.fs.create_unnamed(place.dir).unwrap();
        file.link(&place.path("f")).unwrap();
        place.fs.remove(&place.path("f")).unwrap();
        let gone = file.link(&place.path("g")).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn rename_replaces() {
    on_both(|place| {
        place.create("a").write_at(b"from a", 0).unwrap();
        let replaced = place.create("b");
        replaced.write_at(b"from b", 0).unwrap();
        place.fs.rename(&place.path("a"), &place.path("b")).unwrap();
        assert!(!place.exists("a"));
        assert_eq!(bytes(&*place.open("b")), b"from a");
        assert_eq!(bytes(&*replaced), b"from b");
        let missing = place.fs.rename(&place.path("a"), &place.path("b")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        place.fs.rename(&place.path("b"), &place.path("b")).unwrap();
        assert!(place.exists("b"));
    });
}

#[test]
fn a_removed_file_lives_on_in_its_handles() {
    on_both(|place| {
        let file = place.create("f");
        file.write_at(b"bytes", 0).unwrap();
        place.fs.remove(&place.path("f")).unwrap();
        assert!(!place.exists("f"));
        assert_eq!(place.fs.remove(&place.path("f")).unwrap_err().kind(), ErrorKind::NotFound);
        let other = place.create("f");
        assert_eq!(bytes(&*file), b"bytes");
        assert!(bytes(&*other).is_empty());
    });
}

#[test]
fn locks_conflict_between_handles() {
    use LockMode::{Exclusive, Shared};
    on_both(|place| {
        let first = place.create("f");
        let second = place.open("f");
        let third = place.open("f");
        assert!(first.try_lock(Exclusive).unwrap());
        assert!(first.try_lock(Exclusive).unwrap());
        assert!(!second.try_lock(Exclusive).unwrap());
        assert!(!second.try_lock(Shared).unwrap());
        drop(Arc::clone(&first));
        assert!(!second.try_lock(Shared).unwrap(), "the handle has another owner");
        drop(first);
        assert!(second.try_lock(Shared).unwrap());
        assert!(third.try_lock(Shared).unwrap());
        assert!(!third.try_lock(Exclusive).unwrap());
        assert!(second.try_lock(Exclusive).unwrap(), "a refused upgrade gives the old lock up");
    });
}

#[test]
fn a_read_only_handle_does_not_write() {
    on_both(|place| {
        place.create("f").write_at(b"bytes", 0).unwrap();
        let file = place.fs.open(&place.path("f"), OpenMode::ReadOnly).unwrap();
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.set_len(1).is_err());
        assert!(file.reserve(10).is_err());
        file.sync().unwrap();
        assert!(file.try_lock(LockMode::Shared).unwrap());
        assert_eq!(bytes(&*file), b"bytes");
    });
}

#[test]
fn offsets_past_the_largest_file_fail() {
    on_both(|place| {
        let file = place.create("f");
        for offset in [1 << 63, u64::MAX] {
            assert!(file.write_at(b"x", offset).is_err());
            assert!(file.read_at(&mut [0], offset).is_err());
            assert!(file.set_len(offset).is_err());
            assert!(file.reserve(offset).is_err());
        }
        assert_eq!(file.len().unwrap(), 0);
    });
}

#[test]
fn both_agree_on_random_operations() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let sim = SimFs::new(seed);
        let name = format!("f{seed}");
        let real = Place { fs: &RealFs, dir: dir.path() }.create(&name);
        let simulated = sim.open(Path::new(&name), OpenMode::CreateNew).unwrap();
        for step in 0..100 {
            random_operation(&mut rng, &[&*real, &*simulated]);
            assert_eq!(bytes(&*real), bytes(&*simulated), "seed {seed}, step {step}");
        }
    }
}

fn random_operation(rng: &mut fastrand::Rng, files: &[&dyn File]) {
    let offset = rng.u64(0..20_000);
    let data = vec![rng.u8(1..); rng.usize(0..9000)];
    let operation = rng.u8(0..10);
    for file in files {
        match operation {
            0 => file.set_len(offset).unwrap(),
            1 => file.reserve(offset).unwrap(),
            2 => file.sync().unwrap(),
            _ => file.write_at(&data, offset).unwrap(),
        }
    }
}
