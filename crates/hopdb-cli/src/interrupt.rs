//! Ctrl-C during work that leaves nothing half done.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// What is told at the first Ctrl-C.
pub(crate) const STOPPING: &str = "stopping; once more ends it at once";

/// The first Ctrl-C calls `asked`, which asks the work to stop before it does anything that may wait; the second ends
/// the process.
pub(crate) fn on_interrupt(asked: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let again = AtomicBool::new(false);
    let handler = move || {
        if again.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        asked();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::io("watch for Ctrl-C", std::io::Error::other(error)))
}
