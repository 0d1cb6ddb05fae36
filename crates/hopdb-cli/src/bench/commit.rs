//! `hop bench commit`: durable one-relationship commits, timed one by one.
//!
//! With `--ack`, each relationship's id is printed when it is on disk: whoever kills the process knows what must be
//! there afterwards. Commits that need not wait for the disk are printed behind the next one of their thread that did,
//! since a crash keeps a commit only with all before it; those that none follows, behind the close.
//!
//! One thread is the caller's own, so that whoever counts the system calls of a thread counts all of them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hopdb::{Database, Durability, NodeId, RelationshipId, Snapshot, Value};
use serde::Serialize;

use super::{nodes, quantile};
use crate::failure::Failure;
use crate::screen::{Rows, Screen, counted, duration, per_second, ratio, tell};
use crate::size::ByteSize;
use crate::start::{LabelProperty, snapshot_with_nodes};
use crate::{names, open};

/// Most nodes whose values are kept to be looked up.
const SAMPLE_MAX: usize = 10_000;
/// How long a commit may stay off the disk with `--durability async`.
const ASYNC_DELAY: Duration = Duration::from_millis(10);

const EXAMPLES: &str = "\
Examples:
  cp friends.hop try.hop && hop bench commit try.hop --count 1000
  hop bench commit try.hop --count 5000 --by Person.id --threads 4 --json
  hop bench commit try.hop --count 1000000 --ack
  hop bench commit try.hop --durability sync,none

With --json: {\"commits\":…,\"threads\":…,\"commits_per_second\":…,\"p50_us\":…,\"p99_us\":…}";

/// Time durable commits of one relationship each
///
/// Changes the database: use a copy. Each commit makes one relationship between two random nodes
/// and returns when it is on disk, or as --durability says. With --by, both nodes are looked up by an
/// indexed property first.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The database file; it is changed
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// How many commits
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Threads that commit at the same time
    #[arg(long, value_name = "T", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
    /// Look both nodes up by this indexed property
    #[arg(long, value_name = "LABEL.PROPERTY")]
    by: Option<LabelProperty>,
    /// Type of the relationships
    #[arg(long = "type", value_name = "TYPE", default_value = "BENCH")]
    relationship_type: String,
    /// Seed of the choice of nodes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// What commits wait for, in turn: the disk (sync), nothing, but to be on disk 10 ms later (async),
    /// nothing at all (none)
    #[arg(long, value_name = "HOW", value_enum, value_delimiter = ',', default_value = "sync")]
    durability: Vec<Wait>,
    /// Memory for pages, such as 64KiB or 1GiB; 256MiB when not given
    #[arg(long, value_name = "SIZE")]
    cache_bytes: Option<ByteSize>,
    /// Print each relationship's id on a line of its own once it is on disk; the summary goes to
    /// standard error then
    #[arg(long)]
    ack: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a commit waits for.
#[derive(Clone, Copy, ValueEnum)]
enum Wait {
    Sync,
    Async,
    None,
}

impl From<Wait> for Durability {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::Sync => Self::Sync,
            Wait::Async => Self::Async { max_delay: ASYNC_DELAY },
            Wait::None => Self::None,
        }
    }
}

#[derive(Serialize)]
struct Measured {
    commits: u64,
    threads: u64,
    commits_per_second: f64,
    p50_us: f64,
    p99_us: f64,
}

/// Where the ends of new relationships come from.
enum Ends {
    Ids(Vec<NodeId>),
    Values { by: LabelProperty, values: Vec<Value> },
}

/// What a thread has done.
#[derive(Default)]
struct Done {
    times: Vec<Duration>,
    /// Committed and to be acknowledged, but not known to be on disk.
    volatile: Vec<RelationshipId>,
}

/// What all threads share.
struct Work<'a> {
    db: &'a Database,
    args: &'a Args,
    ends: Ends,
    begun: AtomicU64,
    failed: AtomicBool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::for_writing(&args.database, args.cache_bytes)?;
    let ends = ends(&snapshot_with_nodes(&db, &args.database)?, args)?;
    let (begun, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = Work { db: &db, args, ends, begun, failed };
    let started = Instant::now();
    let Done { times, volatile } = work.run()?;
    let time = started.elapsed();
    drop(work);
    db.close()?;
    acknowledge(&volatile)?;
    let measured = measured(times, time, args.threads);
    if args.json {
        return screen.json(&measured);
    }
    let commits = counted(args.count, "commit", "commits");
    let text = format!("{commits} in {}\n\n{}", duration(time), measured.rows());
    if args.ack {
        tell(text.trim_end());
    } else {
        write!(screen, "{text}")?
    }
    Ok(())
}

fn ends(snapshot: &Snapshot, args: &Args) -> Result<Ends, Failure> {
    let Some(by) = &args.by else { return Ok(Ends::Ids(nodes(snapshot, None)?)) };
    let reader = snapshot.reader();
    let label = names::label(reader.catalog(), &by.label)?;
    let property = names::property_key(reader.catalog(), &by.property)?;
    if reader.catalog().index(label, property).is_none() {
        let message = format!("there is no index on {}.{}", by.label, by.property);
        return Err(Failure::input(message, "`hop stat` lists the indexes"));
    }
    let nodes = nodes(snapshot, Some(&by.label))?;
    let mut random = fastrand::Rng::with_seed(args.seed);
    let mut values = Vec::new();
    for _ in 0..nodes.len().min(SAMPLE_MAX) {
        values.extend(reader.property(nodes[random.usize(..nodes.len())], property)?);
    }
    if values.is_empty() {
        let message = format!("no node :{} has a {}", by.label, by.property);
        return Err(Failure::NothingFound { message, hint: None });
    }
    Ok(Ends::Values { by: by.clone(), values })
}

impl Work<'_> {
    /// What all threads have done, in no order.
    fn run(&self) -> Result<Done, Failure> {
        if self.args.threads == 1 {
            return self.commit_on_and_on(0);
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.args.threads)
                .map(|thread| scope.spawn(move || self.commit_on_and_on(thread)))
                .collect();
            let mut all = Done::default();
            let mut failure = None;
            for thread in threads {
                match thread.join() {
                    Ok(Ok(done)) => {
                        all.times.extend(done.times);
                        all.volatile.extend(done.volatile);
                    }
                    Ok(Err(error)) => failure = failure.or(Some(error)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            failure.map_or(Ok(all), Err)
        })
    }

    fn commit_on_and_on(&self, thread: u64) -> Result<Done, Failure> {
        let mut random = fastrand::Rng::with_seed(self.args.seed.wrapping_add(thread));
        let mut done = Done::default();
        let mut waits = self.args.durability.iter().cycle();
        while !self.failed.load(Ordering::Relaxed)
            && self.begun.fetch_add(1, Ordering::Relaxed) < self.args.count
            && let Some(wait) = waits.next()
        {
            let before = Instant::now();
            let id = self.commit(&mut random, (*wait).into());
            done.times.push(before.elapsed());
            let told = id.and_then(|id| {
                if self.args.ack {
                    done.volatile.push(id);
                }
                match wait {
                    Wait::Sync => acknowledge(&std::mem::take(&mut done.volatile)),
                    Wait::Async | Wait::None => Ok(()),
                }
            });
            told.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
        }
        Ok(done)
    }

    fn commit(
        &self,
        random: &mut fastrand::Rng,
        durability: Durability,
    ) -> Result<RelationshipId, Failure> {
        let mut txn = self.db.write()?;
        txn.set_durability(durability);
        let start = self.end(&txn, random)?;
        let end = self.end(&txn, random)?;
        let id = txn.create_relationship(start, &self.args.relationship_type, end, &[])?;
        txn.commit()?;
        Ok(id)
    }

    fn end(&self, txn: &hopdb::Transaction, random: &mut fastrand::Rng) -> Result<NodeId, Failure> {
        match &self.ends {
            Ends::Ids(nodes) => Ok(nodes[random.usize(..nodes.len())]),
            Ends::Values { by, values } => {
                let reader = txn.reader();
                let label = names::label(reader.catalog(), &by.label)?;
                let property = names::property_key(reader.catalog(), &by.property)?;
                let found = reader.find(label, property, &values[random.usize(..values.len())])?;
                found.first().copied().ok_or_else(|| Failure::NothingFound {
                    message: format!("a node :{} is gone from its index", by.label),
                    hint: Some("`hop check` names what is wrong".into()),
                })
            }
        }
    }
}

/// Prints ids that are on disk.
fn acknowledge(ids: &[RelationshipId]) -> Result<(), Failure> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    Ok(out.flush()?)
}

fn measured(times: Vec<Duration>, time: Duration, threads: u64) -> Measured {
    let mut nanos: Vec<u64> =
        times.iter().map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).collect();
    nanos.sort_unstable();
    let commits = nanos.len() as u64;
    let milli_rate = per_second(commits.saturating_mul(1000), time);
    Measured {
        commits,
        threads,
        commits_per_second: ratio(milli_rate, 1000),
        p50_us: ratio(quantile(&nanos, 0.5), 1000),
        p99_us: ratio(quantile(&nanos, 0.99), 1000),
    }
}

impl Measured {
    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.add("commits", format!("{:.0}", self.commits_per_second), "a second")
            .add("median", format!("{:.1} µs", self.p50_us), "")
            .add("99th percentile", format!("{:.1} µs", self.p99_us), "");
        rows
    }
}
