//! What the friends suite measured of each engine, and how it is told: records, ratios, notes.

use hopdb_bench::record::What;
use hopdb_bench::{Better, Report};

use crate::engine::Engine;

/// HopDB's load is level with that of bare tables up to this many times its time.
const LEVEL: f64 = 1.05;

/// Measurements of one engine, one a round.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) loads: Vec<f64>,
    pub(crate) bytes: Vec<f64>,
    /// Where the engine's load tells.
    pub(crate) peaks: Vec<f64>,
    pub(crate) medians: Vec<f64>,
    pub(crate) tails: Vec<f64>,
    /// Where calls go through another language.
    pub(crate) empty: Vec<f64>,
}

/// Which ids the loads and the walks have; what has none is not reported.
#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) load: Option<&'static str>,
    pub(crate) walk: Option<&'static str>,
}

/// An engine and what was measured of it.
pub(crate) type Entry = (Box<dyn Engine>, Measured);

/// Adds everything to the report: engine by engine, then HopDB beside each peer.
pub(crate) fn report_all(report: &mut Report, ids: Ids, entries: &[Entry]) {
    for (engine, measured) in entries {
        report_engine(report, ids, &**engine, measured);
    }
    let Some((_, ours)) = entries.iter().find(|(engine, _)| engine.name() == "hopdb") else {
        return;
    };
    for (engine, theirs) in entries.iter().filter(|(engine, _)| engine.name() != "hopdb") {
        ratios(report, ids, ours, (&**engine, theirs));
    }
}

fn report_engine(report: &mut Report, ids: Ids, engine: &dyn Engine, m: &Measured) {
    let (version, settings) = (engine.version(), engine.settings());
    report.note(format!("settings of {}: {settings}", engine.name()));
    let mut add = |workload: Option<&str>, metric, values: &[f64]| {
        let Some(workload) = workload.filter(|_| !values.is_empty()) else { return };
        let what = What {
            workload,
            engine: engine.name(),
            version: &version,
            metric,
            better: Better::Lower,
            settings: &settings,
        };
        report.add(&what, values);
    };
    add(ids.load, ("seconds", "s"), &m.loads);
    add(ids.load, ("bytes", "bytes"), &m.bytes);
    add(ids.load, ("peak_bytes", "bytes"), &m.peaks);
    add(ids.walk, ("p50_us", "us"), &m.medians);
    add(ids.walk, ("p99_us", "us"), &m.tails);
    add(ids.walk, ("empty_call_us", "us"), &m.empty);
}

/// How many times faster HopDB is than a peer, round by round.
fn ratios(report: &mut Report, ids: Ids, ours: &Measured, peer: (&dyn Engine, &Measured)) {
    let (engine, theirs) = peer;
    let of = if engine.holds_graph() { "" } else { "'s bare tables" };
    let unit = format!("x faster than {}{of}", engine.name());
    let mut add = |workload: Option<&str>, ours: &[f64], theirs: &[f64]| {
        let Some(workload) = workload.filter(|_| !theirs.is_empty()) else { return };
        let values: Vec<f64> = theirs.iter().zip(ours).map(|(b, a)| b / a).collect();
        let what = What {
            workload,
            engine: "hopdb",
            version: "",
            metric: ("ratio", &unit),
            better: Better::Higher,
            settings: "",
        };
        let faster = report.add(&what, &values);
        if !engine.holds_graph() {
            report.note(verdict(workload, engine.name(), 1.0 / faster));
        }
    };
    add(ids.load, &ours.loads, &theirs.loads);
    add(ids.walk, &ours.medians, &theirs.medians);
}

/// Whether HopDB, which takes `times` the time of `engine`'s bare tables, is level with them.
fn verdict(workload: &str, engine: &str, times: f64) -> String {
    let level = if times <= LEVEL { "level" } else { "not level" };
    format!(
        "{workload}: HopDB's graph takes {times:.2} times as long as bare tables, no index, no adjacency, \
         in {engine}: {level}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_whether_loads_are_level() {
        assert!(verdict("load-friends", "duckdb", 1.05).ends_with("in duckdb: level"));
        assert!(verdict("load-friends", "duckdb", 0.5).ends_with("in duckdb: level"));
        assert!(verdict("load-friends", "duckdb", 1.06).ends_with("in duckdb: not level"));
        assert!(verdict("load-friends", "duckdb", f64::NAN).ends_with("in duckdb: not level"));
    }
}
