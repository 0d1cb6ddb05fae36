//! How far an export is, on standard error: a bar on a terminal, else a line now and then.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use hopdb::export::{Phase, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::load::progress::{BAR_EVERY, LINE_EVERY, wait};
use crate::screen::{count, per_second, tell};

/// Runs `export` and shows how far it is meanwhile; `total` is nodes and relationships together.
pub(super) fn shown<T>(progress: &Progress, total: u64, export: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            // All are looked at, then written.
            let view = View { progress, total: 2 * total, started: Instant::now() };
            if stderr().is_terminal() { view.bar(&ended) } else { view.lines(&ended) }
        });
        let exported = export();
        drop(running);
        exported
    })
}

struct View<'p> {
    progress: &'p Progress,
    total: u64,
    started: Instant,
}

impl View<'_> {
    fn bar(&self, ended: &Receiver<()>) {
        let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template("{prefix:21} {bar:30} {percent:>3} %  {msg}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        while wait(ended, BAR_EVERY) {
            bar.set_prefix(self.phase());
            bar.set_position(self.rows());
            bar.set_message(self.speed());
            bar.tick();
        }
        bar.finish_and_clear();
    }

    fn lines(&self, ended: &Receiver<()>) {
        while wait(ended, LINE_EVERY) {
            let percent = self.rows().saturating_mul(100) / self.total.max(1);
            tell(format_args!("{}: {percent} %, {}", self.phase(), self.speed()));
        }
    }

    fn rows(&self) -> u64 {
        self.progress.nodes() + self.progress.relationships()
    }

    fn phase(&self) -> &'static str {
        match self.progress.phase() {
            Phase::Looking => "looking at values",
            Phase::Nodes => "writing nodes",
            Phase::Relationships => "writing relationships",
        }
    }

    fn speed(&self) -> String {
        format!("{} rows a second", count(per_second(self.rows(), self.started.elapsed())))
    }
}
