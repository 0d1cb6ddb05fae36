//! How far a load is, on standard error: a bar on a terminal, else a line now and then.
//!
//! The load runs on the caller's thread and knows nothing of this; another thread looks at its counts. The time
//! left is that of reading the files, from the speed so far: only that is known beforehand.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use hopdb::load::{Phase, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::screen::{count, counted, per_second, tell};

/// What the phases are called, in order.
pub(super) const PHASES: [&str; 5] = [
    "looking at types",
    "reading nodes",
    "reading relationships",
    "building tables",
    "syncing the file",
];

pub(crate) const BAR_EVERY: Duration = Duration::from_millis(100);
pub(crate) const LINE_EVERY: Duration = Duration::from_secs(5);

/// Runs `load` and shows how far it is meanwhile.
pub(super) fn shown<T>(progress: &Progress, total: Option<u64>, load: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            let view = View { progress, total, started: Instant::now() };
            if stderr().is_terminal() { view.bar(&ended) } else { view.lines(&ended) }
        });
        let loaded = load();
        drop(running);
        loaded
    })
}

struct View<'p> {
    progress: &'p Progress,
    total: Option<u64>,
    started: Instant,
}

impl View<'_> {
    fn bar(&self, ended: &Receiver<()>) {
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
        let template = match self.total {
            Some(_) => "{prefix:21} {bar:30} {percent:>3} %  {msg}",
            None => "{prefix:21} {spinner} {bytes}  {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        while wait(ended, BAR_EVERY) {
            bar.set_prefix(self.phase());
            bar.set_position(self.progress.bytes_read());
            bar.set_message(self.speed());
            bar.tick();
        }
        bar.finish_and_clear();
    }

    fn lines(&self, ended: &Receiver<()>) {
        while wait(ended, LINE_EVERY) {
            let part = match self.total.filter(|total| *total > 0) {
                Some(total) => {
                    let percent = self.progress.bytes_read().saturating_mul(100) / total;
                    format!(" {percent} %,")
                }
                None => String::new(),
            };
            tell(format_args!("{}:{part} {}", self.phase(), self.speed()));
        }
    }

    fn phase(&self) -> &'static str {
        PHASES[self.progress.phase() as usize]
    }

    /// Rows so far; while files are read also rows a second, and the time left for that.
    fn speed(&self) -> String {
        let (nodes, relationships) = (self.progress.nodes(), self.progress.relationships());
        let rows = match self.progress.phase() {
            Phase::Looking => return String::new(),
            Phase::Nodes => counted(nodes, "node", "nodes"),
            Phase::Relationships => counted(relationships, "relationship", "relationships"),
            Phase::Building | Phase::Syncing => {
                let rows = counted(relationships, "relationship", "relationships");
                return format!("{rows}, {:.0} % written", self.progress.built() * 100.0);
            }
        };
        let elapsed = self.started.elapsed();
        let rate = count(per_second(nodes + relationships, elapsed));
        let left = match self.left(elapsed) {
            Some(left) => format!(", {} s left to read", left.as_secs() + 1),
            None => String::new(),
        };
        format!("{rows}, {rate} rows a second{left}")
    }

    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let (total, read) = (self.total?, self.progress.bytes_read());
        let left = total.saturating_sub(read);
        let millis = elapsed.as_millis().checked_mul(u128::from(left))? / u128::from(read.max(1));
        Some(Duration::from_millis(u64::try_from(millis).ok()?))
    }
}

/// Waits; false when the work has ended.
pub(crate) fn wait(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}
