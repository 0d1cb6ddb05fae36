//! Makes the seeds of the corpus, and holds each to what it should do: a target that no longer understands the format
//! would find nothing.

use std::fs;
use std::path::Path;

use hopdb_fuzz::{Opened, header, log, page};

/// Writes the seeds of a target to its corpus, and runs each.
fn make(target: &str, seeds: Vec<Vec<u8>>, run: fn(&[u8]) -> Opened) -> Vec<Opened> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder).unwrap();
    let mut opened = Vec::new();
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        opened.push(run(seed));
    }
    opened
}

#[test]
fn headers() {
    assert_eq!(make("header", header::seeds(), header::run), [Some(1), Some(4)]);
    assert_eq!(header::run(&[0, 1]), None, "no magic");
}

#[test]
fn pages() {
    let opened = make("page", page::seeds(), page::run);
    assert!(opened.len() > 8 && opened.iter().all(|newest| *newest == Some(1)), "{opened:?}");
}

#[test]
fn logs() {
    assert_eq!(log::newest(), Some(4));
    let opened = make("log", log::seeds(), log::run);
    let (torn, sound) = opened.split_last().unwrap();
    assert_eq!(sound, [Some(4); 6]);
    assert_eq!(*torn, None, "a torn page without its image");
    assert_eq!(log::run(&[0]), Some(1), "no records");
}
