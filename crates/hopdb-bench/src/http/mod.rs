//! Requests a second of `hop serve`, beside the limit of this machine: a responder that answers the same bytes
//! without looking at anything.
//!
//! `wrk` makes the requests, on the same two cores as whoever answers them: what is compared is how much of them
//! each leaves. Every round measures both, one after the other.

mod bare;
mod served;
mod wrk;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use hopdb::generate::Friends;

use crate::friends;
use crate::record::{Better, Report, What, spread};
use bare::Bare;
use served::Served;
use wrk::{Requests, Wrk};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What is asked, of a node with a random number.
const REQUESTS: [Requests; 3] = [
    Requests { name: "node", before: "/api/v1/nodes/", behind: "" },
    Requests {
        name: "neighbours",
        before: "/api/v1/nodes/",
        behind: "/relationships?direction=out&limit=100",
    },
    Requests {
        name: "walk-2",
        before: "/api/v1/nodes/",
        behind: "/walk?hops=2&direction=out&sample=0",
    },
];
const MINUTE: Duration = Duration::from_secs(60);
const CONNECTIONS: [u32; 3] = [1, 16, 64];

/// How long, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The graph.
    pub graph: Friends,
    /// Rounds, and the time of one measurement.
    pub rounds: usize,
    /// Time of one measurement.
    pub each: Duration,
    /// Time over which the memory is watched.
    pub soak: Duration,
}

/// Measures the binary `hop`.
///
/// # Errors
/// `wrk` or `hop` is not there, the server does not answer, a request fails.
pub fn run(report: &mut Report, hop: &Path, effort: &Effort) -> Outcome {
    let (_folder, database) = friends::database(effort.graph)?;
    let server = Served::start(hop, &database)?;
    for requests in &REQUESTS {
        let bare = Bare::start(server.answer(&requests.path(17))?)?;
        for connections in CONNECTIONS {
            let addresses = [server.address(), bare.address()];
            let rounds = compare(effort, requests, connections, addresses)?;
            add(report, &format!("http-{}-{connections}", requests.name), &rounds);
        }
    }
    soak(report, effort, &server)?;
    report.note(
        "bare: answers the same bytes without looking at the request; wrk runs on the same cores"
            .into(),
    );
    server.stop()
}

/// Ours and the limit's, round by round.
type Rounds = Vec<(wrk::Measured, wrk::Measured)>;

fn compare(
    effort: &Effort,
    requests: &Requests,
    connections: u32,
    addresses: [SocketAddr; 2],
) -> Outcome<Rounds> {
    let wrk =
        |address| Wrk { address, connections, people: effort.graph.people, time: effort.each };
    let [ours, limit] = addresses.map(wrk);
    (0..effort.rounds).map(|_| Ok((ours.run(requests)?, limit.run(requests)?))).collect()
}

fn add(report: &mut Report, workload: &str, rounds: &Rounds) {
    let mut add =
        |engine: &str, metric, better, value: fn(&wrk::Measured, &wrk::Measured) -> f64| {
            let version = if engine == "hopdb" { env!("CARGO_PKG_VERSION") } else { "-" };
            let what = What { workload, engine, version, metric, better, settings: "" };
            let values: Vec<f64> = rounds.iter().map(|(ours, limit)| value(ours, limit)).collect();
            report.add(&what, &values);
        };
    let rate = ("ops_per_second", "requests/s");
    add("hopdb", rate, Better::Higher, |ours, _| ours.per_second);
    add("bare", rate, Better::Higher, |_, limit| limit.per_second);
    let ratio = ("ratio", "bare/hopdb");
    add("hopdb", ratio, Better::Lower, |ours, limit| limit.per_second / ours.per_second);
    add("hopdb", ("p50_us", "us"), Better::Lower, |ours, _| ours.p50_us);
    add("hopdb", ("p99_us", "us"), Better::Lower, |ours, _| ours.p99_us);
    add("bare", ("p99_us", "us"), Better::Lower, |_, limit| limit.p99_us);
}

/// Mixed requests for a long time: the memory must not grow with them.
fn soak(report: &mut Report, effort: &Effort, server: &Served) -> Outcome {
    let began = Instant::now();
    let mut resident = Vec::new();
    let mut minutes = Vec::new();
    while began.elapsed() < effort.soak || resident.len() < REQUESTS.len() {
        let requests = &REQUESTS[resident.len() % REQUESTS.len()];
        let time = effort.each;
        let people = effort.graph.people;
        Wrk { address: server.address(), connections: 64, people, time }.run(requests)?;
        let bytes = server.resident_bytes()?;
        resident.push(bytes);
        if began.elapsed() >= MINUTE * u32::try_from(minutes.len())? {
            minutes.push(format!("{:.1}", bytes / 1e6));
        }
    }
    report.note(format!("resident megabytes, minute by minute: {}", minutes.join(" ")));
    // The first requests of each kind bring pages into the pool.
    let settled = &resident[REQUESTS.len() - 1..];
    let half = settled.len().div_ceil(2);
    let (first, last) = (spread(&settled[..half]).0, spread(&settled[half - 1..]).0);
    let what = |metric| What {
        workload: "http-memory",
        engine: "hopdb",
        version: env!("CARGO_PKG_VERSION"),
        metric,
        better: Better::Lower,
        settings: "64 connections",
    };
    report.add(&what(("resident_bytes", "bytes")), settled);
    report.add(&what(("ratio", "second half / first half")), &[last / first]);
    report.add(&what(("seconds", "s watched")), &[began.elapsed().as_secs_f64()]);
    Ok(())
}
