//! Lines for standard error that nobody waits for: a thread writes them, whoever says them goes on.
//!
//! Invariants:
//! 1. Saying a line takes no longer than adding it to a list, also when nobody reads standard error.
//! 2. The list has a limit. Past it lines are lost, and as soon as some can be written again, one says how many.
//! 3. At the end what is in the list is written, if that takes no longer than [`END_WAIT`].

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::failure::Failure;
use crate::screen::tell;

/// Lines that wait to be written.
const LINES_MAX: usize = 4096;

/// How long the end waits for lines to be written.
const END_WAIT: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Lines {
    waiting: VecDeque<String>,
    lost: u64,
    ending: bool,
    written: bool,
}

#[derive(Default)]
struct Shared {
    lines: Mutex<Lines>,
    changed: Condvar,
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Each change of the list is whole.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next lines, in their order; `None` at the end.
    fn next(&self) -> Option<(VecDeque<String>, u64)> {
        let nothing = |lines: &mut Lines| lines.waiting.is_empty() && !lines.ending;
        let waited = self.changed.wait_while(self.lines(), nothing);
        let mut lines = waited.unwrap_or_else(PoisonError::into_inner);
        if lines.waiting.is_empty() && lines.lost == 0 {
            lines.written = true;
            self.changed.notify_all();
            return None;
        }
        Some((std::mem::take(&mut lines.waiting), std::mem::take(&mut lines.lost)))
    }
}

/// Where lines are said.
#[derive(Clone)]
pub(crate) struct Said(Arc<Shared>);

impl Said {
    /// Starts the thread that writes, line by line, with `write`.
    pub(crate) fn to(write: impl Fn(&str) + Send + 'static) -> Result<Self, Failure> {
        let shared = Arc::<Shared>::default();
        let writer = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("hop-log".into())
            .spawn(move || {
                while let Some((lines, lost)) = writer.next() {
                    lines.iter().for_each(|line| write(line));
                    if lost > 0 {
                        write(&format!(
                            "{lost} lines were not written: nobody read standard error"
                        ));
                    }
                }
            })
            .map_err(|error| Failure::io("start a thread", error))?;
        Ok(Self(shared))
    }

    /// To standard error.
    pub(crate) fn to_stderr() -> Result<Self, Failure> {
        Self::to(|line| tell(line))
    }

    /// Says a line; it never waits for its being written.
    pub(crate) fn say(&self, line: &str) {
        let mut lines = self.0.lines();
        if lines.waiting.len() < LINES_MAX {
            lines.waiting.push_back(line.to_owned());
            self.0.changed.notify_all();
        } else {
            lines.lost += 1;
        }
    }

    /// Waits until all that was said is written, but not for long.
    pub(crate) fn end(&self) {
        let mut lines = self.0.lines();
        lines.ending = true;
        self.0.changed.notify_all();
        drop(self.0.changed.wait_timeout_while(lines, END_WAIT, |lines| !lines.written));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn lines_past_the_limit_are_counted() {
        let (go_on, wait) = mpsc::channel::<()>();
        let (wrote, written) = mpsc::channel();
        let said = Said::to(move |line| {
            wrote.send(line.to_owned()).unwrap();
            wait.recv().unwrap_or_default();
        })
        .unwrap();
        said.say("first");
        assert_eq!(written.recv().unwrap(), "first");
        // The writer waits: nobody else does.
        (0..LINES_MAX + 3).for_each(|n| said.say(&n.to_string()));
        drop(go_on);
        let lines: Vec<String> = written.iter().take(LINES_MAX).collect();
        assert_eq!((&*lines[0], &*lines[LINES_MAX - 1]), ("0", "4095"));
        assert_eq!(written.recv().unwrap(), "3 lines were not written: nobody read standard error");
        said.say("last");
        said.end();
        assert_eq!(written.iter().collect::<Vec<_>>(), ["last"]);
    }
}
