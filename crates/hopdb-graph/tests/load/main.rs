//! Whole loads: what comes of good files, of bad ones, of stops, full disks and crashes.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test, which looks into folders"
)]

mod adding;
mod disks;
mod files;
mod graphs;
mod random;
mod refusals;
