//! The friends graph: files, databases, and two-hop walks over it.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hopdb::generate::Friends;
use hopdb::load::{LoadReport, Progress};
use hopdb::{Database, Direction, NodeId, Options, Pair, Snapshot};
use tempfile::TempDir;

use crate::csr::Csr;

/// Files of a friends graph in a folder.
#[derive(Clone, Debug)]
pub struct Files {
    /// The people.
    pub people: PathBuf,
    /// The friendships.
    pub friends: PathBuf,
}

/// Writes the files of a friends graph.
///
/// # Errors
/// Those of the file system.
pub fn write_files(graph: Friends, folder: &Path) -> io::Result<Files> {
    let files = Files { people: folder.join("people.csv"), friends: folder.join("friends.csv") };
    let mut people = BufWriter::new(File::create(&files.people)?);
    graph.write_people(&mut people)?;
    people.flush()?;
    let mut friends = BufWriter::new(File::create(&files.friends)?);
    graph.write_friends(&mut friends)?;
    friends.flush()?;
    Ok(files)
}

/// Loads the files into a new database, with a unique index over the people's ids.
///
/// # Errors
/// Those of the load.
pub fn load(files: &Files, path: &Path) -> hopdb::Result<LoadReport> {
    let plan = Friends::load_plan(files.people.clone(), files.friends.clone());
    Database::load(path, &Options::default(), &plan, &Progress::default())
}

/// Generates and loads a friends graph in a new folder, which goes with the guard.
///
/// # Errors
/// Those of the file system and of the load.
pub fn database(graph: Friends) -> Result<(TempDir, PathBuf), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let files = write_files(graph, folder.path())?;
    let path = folder.path().join("friends.hop");
    load(&files, &path)?;
    Ok((folder, path))
}

/// The same graph as arrays; person `n` is node `n` in both.
///
/// # Errors
/// Too few people for their friends.
pub fn csr(graph: Friends) -> io::Result<Csr> {
    let small = |id: u64| u32::try_from(id).map_err(io::Error::other);
    let mut rows = Vec::new();
    graph.for_each(|person, friend| {
        rows.push((small(person)?, small(friend)?));
        Ok(())
    })?;
    Ok(Csr::new(small(graph.people)?, rows))
}

/// Times and counts of a round of walks.
#[derive(Clone, Debug, Default)]
pub struct Walks {
    /// Time of each walk.
    pub times: Vec<Duration>,
    /// End pairs over all walks.
    pub ends: u64,
    /// Sum of the ends' node ids.
    pub node_sum: u64,
    /// Node and relationship ids of the ends in one number: the answer to compare.
    pub checksum: u64,
}

/// Two-hop walks from `starts`, each giving all its end pairs.
///
/// # Errors
/// Failed reads, damage.
pub fn walk_hopdb(snapshot: &Snapshot, starts: &[u64]) -> hopdb::Result<Walks> {
    let reader = snapshot.reader();
    let type_id = reader.catalog().relationship_type("FRIEND");
    let mut expander = reader.expander(Direction::Outgoing, type_id);
    let (mut first, mut ends): (Vec<Pair>, Vec<Pair>) = (Vec::new(), Vec::new());
    let mut neighbours = Vec::new();
    let mut walks = Walks::default();
    for start in starts {
        let began = Instant::now();
        first.clear();
        ends.clear();
        expander.expand(NodeId(*start), &mut first)?;
        neighbours.clear();
        neighbours.extend(first.iter().map(|pair| pair.0));
        expander.expand_all(&neighbours, &mut ends)?;
        walks.times.push(began.elapsed());
        walks.count(black_box(&ends).iter().map(|(node, relationship)| (node.0, relationship.0)));
    }
    Ok(walks)
}

/// The same over arrays.
#[must_use]
pub fn walk_csr(csr: &Csr, starts: &[u64]) -> Walks {
    let mut ends = Vec::new();
    let mut walks = Walks::default();
    for start in starts {
        let start = u32::try_from(*start).unwrap_or(0);
        let began = Instant::now();
        ends.clear();
        csr.two_hops(start, &mut ends);
        walks.times.push(began.elapsed());
        walks.count(
            black_box(&ends)
                .iter()
                .map(|(node, relationship)| (u64::from(*node), u64::from(*relationship))),
        );
    }
    walks
}

impl Walks {
    fn count(&mut self, ends: impl Iterator<Item = (u64, u64)>) {
        for (node, relationship) in ends {
            self.ends += 1;
            self.node_sum += node;
            self.checksum = self.checksum.wrapping_add(node.wrapping_mul(31) ^ relationship);
        }
    }

    /// Times in microseconds.
    #[must_use]
    pub fn micros(&self) -> Vec<f64> {
        self.times.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }
}

/// Random people to start from.
#[must_use]
pub fn starts(people: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.u64(0..people)).collect()
}
