//! `hop bench walk`: walks from random nodes that return all paths' ends, timed one by one.
//!
//! The timed loop reuses one expander and two lists and reads the clock once a walk, so that little else than
//! the walks is measured.

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hopdb::{Database, Direction, Expander, NodeId, Pair, Snapshot, TypeId};
use serde::Serialize;

use super::{nodes, quantile};
use crate::failure::Failure;
use crate::screen::{Rows, Screen, count, counted, ratio};
use crate::size::ByteSize;
use crate::start::snapshot_with_nodes;
use crate::walk::Way;
use crate::{names, open};

const EXAMPLES: &str = "\
Examples:
  hop bench walk friends.hop
  hop bench walk friends.hop --walks 10000 --hops 3 --label Person --json
  hop bench walk friends.hop --cache-bytes 256KiB

With --json: {\"walks\":…,\"hops\":…,\"median_us\":…,\"p99_us\":…,\"min_us\":…,\"mean_us\":…,
\"relationships_per_walk\":…,\"page_reads_per_walk\":…,\"cache_frames\":…}";

/// Time walks from random nodes
///
/// Each walk returns the (node, relationship) pairs at the end of every path of so many hops, none
/// left out. All walks run once untimed, then again, timed one by one: with a cache that holds what
/// they need, no page is read. A small --cache-bytes shows what a walk costs when it does not.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// How many walks
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    walks: u64,
    /// Hops of each
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..))]
    hops: u32,
    /// Start at nodes with this label; at any when not given
    #[arg(long)]
    label: Option<String>,
    /// Follow only relationships of this type
    #[arg(long = "type", value_name = "TYPE")]
    relationship_type: Option<String>,
    /// Follow relationships that start at a node (out), end at it (in), or both
    #[arg(long, value_enum, default_value = "out")]
    direction: Way,
    /// Memory for pages, such as 64KiB or 1GiB; 256MiB when not given
    #[arg(long, value_name = "SIZE")]
    cache_bytes: Option<ByteSize>,
    /// Seed of the choice of nodes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Which walks.
pub(crate) struct Walks {
    pub(crate) starts: Vec<NodeId>,
    pub(crate) hops: u32,
    pub(crate) direction: Direction,
    pub(crate) type_id: Option<TypeId>,
}

/// What walks took.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) walks: usize,
    hops: u32,
    pub(crate) median_us: f64,
    pub(crate) p99_us: f64,
    min_us: f64,
    mean_us: f64,
    pub(crate) relationships_per_walk: f64,
    pub(crate) page_reads_per_walk: f64,
    cache_frames: usize,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, args.cache_bytes)?;
    let snapshot = snapshot_with_nodes(&db, &args.database)?;
    let catalog = snapshot.reader().catalog();
    let type_id = names::relationship_type(catalog, args.relationship_type.as_deref())?;
    let nodes = nodes(&snapshot, args.label.as_deref())?;
    let mut random = fastrand::Rng::with_seed(args.seed);
    let starts = (0..args.walks).map(|_| nodes[random.usize(..nodes.len())]).collect();
    let walks = Walks { starts, hops: args.hops, direction: args.direction.into(), type_id };
    let measured = measure(&db, &snapshot, &walks)?;
    if args.json {
        return screen.json(&measured);
    }
    let kind = if args.hops == 1 { "hop" } else { "hops" };
    let walks = counted(args.walks, "walk", "walks");
    writeln!(screen, "{walks} of {} {kind}\n", args.hops)?;
    Ok(write!(screen, "{}", measured.rows())?)
}

/// Makes all walks untimed, then timed.
pub(crate) fn measure(
    db: &Database,
    snapshot: &Snapshot,
    walks: &Walks,
) -> Result<Measured, Failure> {
    let expander = snapshot.reader().expander(walks.direction, walks.type_id);
    let mut walker = Walker { expander, from: Vec::new(), to: Vec::new(), followed: 0 };
    for start in &walks.starts {
        black_box(walker.walk(*start, walks.hops)?);
    }
    let mut times = Vec::with_capacity(walks.starts.len());
    walker.followed = 0;
    let reads_before = db.counts().io.pages_read;
    let mut before = Instant::now();
    for start in &walks.starts {
        black_box(walker.walk(*start, walks.hops)?);
        let now = Instant::now();
        times.push(now - before);
        before = now;
    }
    let counts = db.counts();
    let number = walks.starts.len() as u64;
    let [median_us, p99_us, min_us, mean_us] = summary(&times);
    Ok(Measured {
        walks: walks.starts.len(),
        hops: walks.hops,
        median_us,
        p99_us,
        min_us,
        mean_us,
        relationships_per_walk: ratio(walker.followed, number),
        page_reads_per_walk: ratio(counts.io.pages_read - reads_before, number),
        cache_frames: counts.pool.frames_max,
    })
}

/// Median, 99th percentile, least and mean, in microseconds.
fn summary(times: &[Duration]) -> [f64; 4] {
    let mut nanos: Vec<u64> =
        times.iter().map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).collect();
    nanos.sort_unstable();
    let sum: u64 = nanos.iter().sum();
    let of = |part| ratio(quantile(&nanos, part), 1000);
    [of(0.5), of(0.99), of(0.0), ratio(sum, 1000 * nanos.len() as u64)]
}

/// Walks again and again with the same memory.
struct Walker<'v, V> {
    expander: Expander<'v, V>,
    from: Vec<NodeId>,
    to: Vec<Pair>,
    /// Relationships followed, over all hops and walks.
    followed: u64,
}

impl<V: hopdb::kv::View> Walker<'_, V> {
    /// The ends of all paths of so many hops.
    #[inline]
    fn walk(&mut self, start: NodeId, hops: u32) -> Result<&[Pair], hopdb::GraphError> {
        self.to.clear();
        self.expander.expand(start, &mut self.to)?;
        self.followed += self.to.len() as u64;
        for _ in 1..hops {
            self.from.clear();
            self.from.extend(self.to.iter().map(|pair| pair.0));
            self.to.clear();
            self.expander.expand_all(&self.from, &mut self.to)?;
            self.followed += self.to.len() as u64;
        }
        Ok(&self.to)
    }
}

impl Measured {
    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        let micros = |us: f64| format!("{us:.2} µs");
        rows.add("median", micros(self.median_us), "")
            .add("99th percentile", micros(self.p99_us), "")
            .add("least", micros(self.min_us), "")
            .add("mean", micros(self.mean_us), "")
            .add("relationships", format!("{:.1}", self.relationships_per_walk), "a walk")
            .add("page reads", format!("{:.2}", self.page_reads_per_walk), "a walk")
            .add("page cache", count(self.cache_frames as u64), "pages at most");
        rows
    }
}
