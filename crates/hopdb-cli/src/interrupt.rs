//! Ctrl-C during work that leaves nothing half done.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::screen::tell;

/// The first Ctrl-C asks the work to stop; the second ends the process.
pub(crate) fn on_interrupt(stop: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let asked = AtomicBool::new(false);
    let handler = move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell("stopping; once more ends it at once");
        stop();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::io("watch for Ctrl-C", std::io::Error::other(error)))
}
