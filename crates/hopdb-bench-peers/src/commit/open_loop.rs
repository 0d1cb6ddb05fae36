//! Commits at given times, whatever the store does: an open loop.
//!
//! Commit `n` is due at `start + n / rate`, and its latency counts from then. When the store stops for a second, all
//! commits due in that second are late, and say so; a loop that waits for one commit before it thinks of the next
//! would tell of one late commit. Threads take the commits in turn; only the one whose turn it is waits for the time,
//! so that many threads cost no more processor time than one.

use std::hint;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::engines::Store;
use super::rows::Updates;
use super::{float, in_threads};
use crate::Outcome;

/// A sleep may end this much too late.
const SLEEP_SLACK: Duration = Duration::from_millis(2);

/// When commits are due, and how many.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) per_second: f64,
    pub(super) commits: u64,
}

/// Latencies in nanoseconds, each to three digits.
pub(super) type Latencies = Histogram<u64>;

/// An empty histogram.
pub(super) fn latencies() -> Outcome<Latencies> {
    Ok(Latencies::new(3)?)
}

/// Commits one row of each thread's updates at a time. Gives the latencies, the number of updates of each thread, and
/// the seconds that it took.
pub(super) fn run(
    store: &dyn Store,
    updates: &[Updates],
    pace: Pace,
) -> Outcome<(Latencies, Vec<u64>, f64)> {
    let turns = Turns { start: Instant::now(), pace, next: Mutex::new(0) };
    let parts = in_threads(updates, |updates| commit_in_turn(store, *updates, &turns))?;
    let seconds = turns.start.elapsed().as_secs_f64();
    let mut all = latencies()?;
    let mut counts = Vec::new();
    for (part, count) in parts {
        all.add(part)?;
        counts.push(count);
    }
    Ok((all, counts, seconds))
}

fn commit_in_turn(store: &dyn Store, updates: Updates, turns: &Turns) -> Outcome<(Latencies, u64)> {
    let mut latencies = latencies()?;
    let mut count = 0;
    loop {
        let row = [updates.row(count)];
        let Some(due) = turns.take()? else { return Ok((latencies, count)) };
        store.commit(&row)?;
        latencies.record(u64::try_from(due.elapsed().as_nanos())?)?;
        count += 1;
    }
}

struct Turns {
    start: Instant,
    pace: Pace,
    next: Mutex<u64>,
}

impl Turns {
    /// Waits for the next commit's time, which it gives; at once when that has passed. `None` behind the last.
    fn take(&self) -> Outcome<Option<Instant>> {
        let mut next = self.next.lock().map_err(|_| "a thread panicked")?;
        if *next == self.pace.commits {
            return Ok(None);
        }
        let due = self.start + Duration::from_secs_f64(float(*next) / self.pace.per_second);
        *next += 1;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Some(due));
            }
            match left.checked_sub(SLEEP_SLACK) {
                Some(left) => thread::sleep(left),
                None => hint::spin_loop(),
            }
        }
    }
}

/// Commits as fast as it goes for a while; commits a second.
pub(super) fn peak(store: &dyn Store, updates: &[Updates], seconds: f64) -> Outcome<f64> {
    let began = Instant::now();
    let counts = in_threads(updates, |updates| {
        let mut count = 0;
        while began.elapsed().as_secs_f64() < seconds {
            store.commit(&[updates.row(count)])?;
            count += 1;
        }
        Ok(count)
    })?;
    Ok(float(counts.iter().sum()) / began.elapsed().as_secs_f64())
}

/// For each power of two, in microseconds, how many took up to that long and longer than the one before.
pub(super) fn buckets(latencies: &Latencies) -> Vec<(f64, u64)> {
    let steps = latencies.iter_log(1_000, 2.0);
    let bucket = |step: hdrhistogram::iterators::IterationValue<u64>| {
        (float(step.value_iterated_to()) / 1e3, step.count_since_last_iteration())
    };
    steps.map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::engines::About;
    use crate::commit::rows::{Row, Stream};

    /// Stops once, for a tenth of a second.
    struct Stopping(Mutex<u64>);

    impl Store for Stopping {
        fn about(&self) -> About {
            About { name: "stopping", version: String::new(), settings: "", keeps_rows: false }
        }

        fn load(&self, _: &mut dyn Iterator<Item = Row>) -> Outcome<()> {
            Ok(())
        }

        fn commit(&self, _: &[Row]) -> Outcome<()> {
            let mut commits = self.0.lock().unwrap();
            *commits += 1;
            if *commits == 100 {
                thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        }

        fn checkpoint(&self) -> Outcome<()> {
            Ok(())
        }

        fn get(&self, _: &[u8]) -> Outcome<Option<Vec<u8>>> {
            Ok(None)
        }

        fn scan(&self, _: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<()> {
            Ok(())
        }
    }

    #[test]
    fn all_commits_due_while_the_store_stops_are_late() {
        for threads in [1, 4] {
            let stream = Stream::new("open loop", 0, 0);
            let updates = |thread| Updates { stream, loaded: 10, thread, threads };
            let updates: Vec<Updates> = (0..threads).map(updates).collect();
            let pace = Pace { per_second: 2_000.0, commits: 400 };
            let (latencies, counts, seconds) =
                run(&Stopping(Mutex::new(0)), &updates, pace).unwrap();
            assert_eq!((latencies.len(), counts.iter().sum::<u64>()), (400, 400));
            assert!(seconds >= 0.199, "{seconds}");
            assert!(latencies.max() >= 99_000_000);
            // 200 commits were due within the stop, half of them in its first half.
            let late =
                latencies.iter_recorded().filter(|step| step.value_iterated_to() > 40_000_000);
            assert!(late.map(|step| step.count_at_value()).sum::<u64>() >= 100);
            let told: u64 = buckets(&latencies).iter().map(|(_, count)| count).sum();
            assert_eq!(told, 400);
        }
    }

    #[test]
    fn a_peak_is_commits_over_time() {
        let stream = Stream::new("peak", 0, 0);
        let updates = [Updates { stream, loaded: 10, thread: 0, threads: 1 }];
        let store = Stopping(Mutex::new(0));
        let rate = peak(&store, &updates, 0.15).unwrap();
        let commits = float(*store.0.lock().unwrap());
        assert!(rate > 0.0 && rate <= commits / 0.15, "{rate}, {commits}");
    }
}
