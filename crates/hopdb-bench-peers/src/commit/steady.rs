//! `commit-steady`, `commit-steady-16`: how late commits are at 70 % of the peak rate, for minutes, by one thread and
//! by 16, beside a bare overwrite and sync of a file at the same rate.
//!
//! HopDB runs without a pause, so that its checkpoints find none that the load would not leave them. The bare file has
//! its turn before and after, a quarter of the time each, while HopDB has nothing left to do: a disk that changes with
//! time changes between the two. Updates hit random rows of a large table, so that checkpoints have many pages to write.

use std::path::Path;

use hopdb_bench::Report;
use hopdb_bench::record::Better;

use super::engines::Store;
use super::hopdb::HopDb;
use super::limit::Limit;
use super::open_loop::{self, Latencies, Pace, buckets, latencies};
use super::rows::{Stream, Updates};
use super::{Settings, Told, check_rows, float, loaded_hopdb};
use crate::Outcome;

/// Share of the peak rate.
const SHARE: f64 = 0.7;
/// By so much HopDB's latency may be over that of the bare file.
const BAR_MS: f64 = 50.0;

/// Runs those of the two workloads that are wanted.
pub(super) fn measure(settings: &Settings, folder: &Path, report: &mut Report) -> Outcome<()> {
    let wanted = [("commit-steady", 1), ("commit-steady-16", 16)];
    let wanted: Vec<_> = wanted.into_iter().filter(|(name, _)| settings.measures(name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let store = loaded_hopdb(settings, folder)?;
    for (workload, threads) in wanted {
        let bare = Limit::create(&folder.join(workload))?;
        let run = Run { workload, threads, loaded: settings.loaded() };
        run.measure(settings, (&store, &bare), report)?;
    }
    store.store().clone().close()?;
    Ok(())
}

struct Run {
    workload: &'static str,
    threads: u64,
    loaded: u64,
}

impl Run {
    /// Updates of each thread in one part of the run.
    fn updates(&self, part: u64) -> Vec<Updates> {
        let of_thread = |thread| {
            let stream = Stream::new(self.workload, part, thread);
            Updates { stream, loaded: self.loaded, thread, threads: self.threads }
        };
        (0..self.threads).map(of_thread).collect()
    }

    fn measure(
        &self,
        settings: &Settings,
        (store, bare): (&HopDb, &Limit),
        report: &mut Report,
    ) -> Outcome<()> {
        let minutes = settings.options.minutes.unwrap_or(if settings.quick { 0.2 } else { 10.0 });
        eprintln!("{}: {minutes} minutes, and half as much bare", self.workload);
        let peak_seconds = if settings.quick { 3.0 } else { 20.0 };
        let peak = open_loop::peak(store, &self.updates(0), peak_seconds)?;
        let per_second = peak * SHARE;
        let bare_pace = Pace { per_second, commits: commits(per_second, minutes / 4.0) };
        let mut theirs = latencies()?;
        store.checkpoint()?;
        let (before, _, before_seconds) = open_loop::run(bare, &self.updates(1), bare_pace)?;
        theirs.add(before)?;
        let counts = store.store().counts();
        let updates = self.updates(2);
        let pace = Pace { per_second, commits: commits(per_second, minutes) };
        let (ours, updated, seconds) = open_loop::run(store, &updates, pace)?;
        let pages = store.store().counts().io.pages_written - counts.io.pages_written;
        store.checkpoint()?;
        let (after, _, after_seconds) = open_loop::run(bare, &self.updates(1), bare_pace)?;
        theirs.add(after)?;
        for (updates, count) in updates.iter().zip(updated) {
            check_rows(store, &updates.newest(count))?;
        }
        let run = format!(
            "{} rows before, updated at random; threads: {}; open loop at {per_second:.0} commits/s, \
             70 % of the peak",
            self.loaded, self.threads
        );
        let mut told = Told::new(report, self.workload, store.about(), &run);
        told.add(("peak_per_second", "commits/s"), Better::Higher, &[peak]);
        told.add(("pages_written", "pages"), Better::Lower, &[float(pages)]);
        tell(told, &ours, seconds);
        let told = Told::new(report, self.workload, bare.about(), &run);
        tell(told, &theirs, before_seconds + after_seconds);
        self.verdict(report, &ours, &theirs);
        Ok(())
    }

    fn verdict(&self, report: &mut Report, ours: &Latencies, theirs: &Latencies) {
        for (name, latencies) in [("hopdb", ours), ("limit", theirs)] {
            report.note(format!("{}, {name}:\n{}", self.workload, drawn(latencies)));
        }
        let over = ms(ours.value_at_quantile(0.999)) - ms(theirs.value_at_quantile(0.999));
        let kept = if over <= BAR_MS { "within" } else { "NOT within" };
        let line = format!("p99.9 over that of the bare file by {over:.2} ms, {kept} {BAR_MS} ms");
        report.note(format!("{}: {line}", self.workload));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of commits, positive and far below 2^53"
)]
fn commits(per_second: f64, minutes: f64) -> u64 {
    (per_second * minutes * 60.0) as u64
}

fn ms(nanoseconds: u64) -> f64 {
    float(nanoseconds) / 1e6
}

/// Records of one side. The histogram is in the settings of the number of commits.
fn tell(mut told: Told<'_>, latencies: &Latencies, seconds: f64) {
    let at = |quantile| float(latencies.value_at_quantile(quantile)) / 1e3;
    told.add(("ops_per_second", "commits/s"), Better::Higher, &[float(latencies.len()) / seconds]);
    told.add(("p50_us", "us"), Better::Lower, &[at(0.5)]);
    told.add(("p99_us", "us"), Better::Lower, &[at(0.99)]);
    told.add(("p999_us", "us"), Better::Lower, &[at(0.999)]);
    told.add(("max_us", "us"), Better::Lower, &[at(1.0)]);
    let counts: Vec<String> =
        buckets(latencies).iter().map(|(upto, count)| format!("{upto:.0}:{count}")).collect();
    told.settings = format!("{}; histogram, up to us:commits {}", told.settings, counts.join(" "));
    told.add(("commits", "commits"), Better::Higher, &[float(latencies.len())]);
}

/// A line for each bucket that is not empty, with a bar as long as the logarithm of its count.
fn drawn(latencies: &Latencies) -> String {
    let line = |(upto, count): (f64, u64)| {
        let bar = "#".repeat(count.ilog2() as usize + 1);
        format!("  up to {upto:>9.0} us  {count:>10}  {bar}")
    };
    let filled = buckets(latencies).into_iter().filter(|(_, count)| *count > 0);
    filled.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_drawn_without_empty_buckets() {
        let mut some = latencies().unwrap();
        some.record_n(1_500, 8).unwrap();
        some.record(100_000).unwrap();
        let lines =
            ["  up to         2 us           8  ####", "  up to       128 us           1  #"];
        assert_eq!(drawn(&some).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn commits_of_a_time() {
        assert_eq!(commits(100.0, 0.5), 3_000);
    }
}
