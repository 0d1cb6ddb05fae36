//! HopDB's own workloads: walks beside arrays in memory, loads, and how opening grows with the graph.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, makes files and prints"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use hopdb::generate::Friends;
use hopdb::{Database, Options, Value};
use hopdb_bench::friends::{self, Walks};
use hopdb_bench::http::{self, Effort};
use hopdb_bench::record::{What, percentile, spread};
use hopdb_bench::{Better, Report};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Measures HopDB against limits of this machine.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    suite: Suite,
    /// Also writes the records as JSON.
    #[arg(long, global = true)]
    json: Option<PathBuf>,
    /// Smaller and shorter.
    #[arg(long, global = true)]
    quick: bool,
}

#[derive(Subcommand)]
enum Suite {
    /// Two-hop walks of the friends graph, warm, beside the same graph as arrays in this process.
    Walk,
    /// Durable loads of the friends graph, beside writing and syncing as many bytes.
    Load,
    /// Opening and the first look-up, with 10 thousand, 100 thousand and 1 million nodes.
    Open,
    /// Two-hop walks with pools of a few pages and more.
    Pool,
    /// Requests to `hop serve`, made by `wrk`, beside a responder that looks at nothing.
    Http {
        /// Over how many minutes the server's memory is watched in the end.
        #[arg(long, default_value_t = 1)]
        minutes: u64,
        /// The binary; the one beside this program when not given.
        #[arg(long)]
        hop: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    type Run = Box<dyn FnOnce(&mut Report, bool) -> Outcome>;
    let (name, run): (_, Run) = match arguments.suite {
        Suite::Walk => ("walk", Box::new(walk)),
        Suite::Load => ("load", Box::new(load)),
        Suite::Open => ("open", Box::new(open)),
        Suite::Pool => ("pool", Box::new(pool)),
        Suite::Http { minutes, hop } => {
            ("http", Box::new(move |report, quick| http(report, quick, minutes, hop)))
        }
    };
    let mut report = Report::new(name);
    let done = run(&mut report, arguments.quick)
        .and_then(|()| report.finish(arguments.json.as_deref()).map_err(Into::into));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn graph(quick: bool) -> Friends {
    Friends { people: if quick { 10_000 } else { 100_000 }, friends: 10, seed: 42 }
}

fn what<'a>(workload: &'a str, engine: &'a str, metric: (&'a str, &'a str)) -> What<'a> {
    let version = if engine == "hopdb" { VERSION } else { "-" };
    What { workload, engine, version, metric, better: Better::Lower, settings: "" }
}

fn walk(report: &mut Report, quick: bool) -> Outcome {
    let graph = graph(quick);
    let (_folder, path) = friends::database(graph)?;
    let csr = friends::csr(graph)?;
    let db = Database::open(&path, &Options { read_only: true, ..Options::default() })?;
    let snapshot = db.read()?;
    let starts = friends::starts(graph.people, 1000, 7);
    // Warm: every page of the walks comes into the pool.
    friends::walk_hopdb(&snapshot, &starts)?;
    let reads = db.counts().io.pages_read;
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut tails = Vec::new();
    for _ in 0..9 {
        let (a, b) = (friends::walk_hopdb(&snapshot, &starts)?, friends::walk_csr(&csr, &starts));
        same(&a, &b)?;
        ours.push(spread(&a.micros()).0);
        tails.push(percentile(&a.micros(), 99));
        theirs.push(spread(&b.micros()).0);
        ratios.push(ours[ours.len() - 1] / theirs[theirs.len() - 1]);
    }
    report.add(&what("walk-2", "hopdb", ("p50_us", "us")), &ours);
    report.add(&what("walk-2", "hopdb", ("p99_us", "us")), &tails);
    report.add(&what("walk-2", "csr", ("p50_us", "us")), &theirs);
    report.add(&what("walk-2", "hopdb", ("ratio", "x csr")), &ratios);
    let reads = db.counts().io.pages_read - reads;
    report.add(&what("walk-2", "hopdb", ("pages_read", "pages")), &[count(reads)]);
    Ok(())
}

fn http(report: &mut Report, quick: bool, minutes: u64, hop: Option<PathBuf>) -> Outcome {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("hop"));
    let hop = hop.or_else(beside).filter(|hop| hop.is_file());
    let hop = hop.ok_or("no `hop` is there: cargo build --release -p hopdb-cli")?;
    let (rounds, each, soak) = if quick { (1, 1, 0) } else { (3, 3, 60 * minutes) };
    let [each, soak] = [each, soak].map(Duration::from_secs);
    http::run(report, &hop, &Effort { graph: graph(quick), rounds, each, soak })
}

fn same(a: &Walks, b: &Walks) -> Outcome {
    if (a.ends, a.checksum) == (b.ends, b.checksum) {
        return Ok(());
    }
    Err(format!("answers differ: {} ends and {} ends", a.ends, b.ends).into())
}

fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn load(report: &mut Report, quick: bool) -> Outcome {
    use std::io::Write;
    let folder = tempfile::tempdir()?;
    let files = friends::write_files(graph(quick), folder.path())?;
    let (mut seconds, mut limit, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..5 {
        let path = folder.path().join(format!("{round}.hop"));
        let loaded = friends::load(&files, &path)?;
        eprintln!("{:?} by phase: {:?}", loaded.time, loaded.phases);
        seconds.push(loaded.time.as_secs_f64());
        let bytes = vec![7; usize::try_from(loaded.file_bytes)?];
        let began = Instant::now();
        let mut file = std::fs::File::create(folder.path().join("raw"))?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        limit.push(began.elapsed().as_secs_f64());
        ratios.push(seconds[round] / limit[round]);
        if round == 0 {
            for (metric, value) in [
                ("bytes", loaded.file_bytes),
                ("pages_read", loaded.pages_read),
                ("pages_written", loaded.pages_written),
                ("pages", loaded.pages),
            ] {
                report.add(&what("load-friends", "hopdb", (metric, metric)), &[count(value)]);
            }
        }
    }
    report.add(&what("load-friends", "hopdb", ("seconds", "s")), &seconds);
    report.add(&what("load-friends", "raw write + sync", ("seconds", "s")), &limit);
    report.add(&what("load-friends", "hopdb", ("ratio", "x raw")), &ratios);
    Ok(())
}

fn open(report: &mut Report, quick: bool) -> Outcome {
    let sizes: &[u64] = if quick { &[1_000, 10_000] } else { &[10_000, 100_000, 1_000_000] };
    for people in sizes {
        let graph = Friends { people: *people, friends: 1, seed: 1 };
        let (_folder, path) = friends::database(graph)?;
        let (mut opens, mut finds, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..21 {
            let began = Instant::now();
            let db = Database::open(&path, &Options { read_only: true, ..Options::default() })?;
            opens.push(began.elapsed().as_secs_f64() * 1e6);
            reads.push(count(db.counts().io.pages_read));
            let found = db.read()?.find("Person", "id", &Value::String("17".into()))?;
            finds.push(began.elapsed().as_secs_f64() * 1e6);
            if found.len() != 1 {
                return Err("the look-up found nothing".into());
            }
        }
        let workload = format!("open-{people}");
        report.add(&what(&workload, "hopdb", ("open_us", "us")), &opens);
        report.add(&what(&workload, "hopdb", ("open_and_find_us", "us")), &finds);
        report.add(&what(&workload, "hopdb", ("pages_read", "pages")), &reads);
    }
    Ok(())
}

fn pool(report: &mut Report, quick: bool) -> Outcome {
    let graph = graph(quick);
    let (_folder, path) = friends::database(graph)?;
    let starts = friends::starts(graph.people, 1000, 7);
    for frames in [4, 16, 64, 256, 1024, 4096, 16384] {
        let options = Options { read_only: true, cache_bytes: frames * 4096, ..Options::default() };
        let db = Database::open(&path, &options)?;
        let snapshot = db.read()?;
        friends::walk_hopdb(&snapshot, &starts)?;
        let before = db.counts().io.pages_read;
        let walks = friends::walk_hopdb(&snapshot, &starts)?;
        let reads = count(db.counts().io.pages_read - before) / count(starts.len() as u64);
        let workload = format!("walk-2-{frames}-pages");
        report.add(&what(&workload, "hopdb", ("p50_us", "us")), &[spread(&walks.micros()).0]);
        report.add(&what(&workload, "hopdb", ("pages_read", "pages a walk")), &[reads]);
    }
    Ok(())
}
