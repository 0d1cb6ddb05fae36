//! The benchmark harness: measurements as records, tables and JSON, and the workloads of HopDB itself.
//!
//! Rules: one run measures all sides, in turn; medians with minimum and maximum; ratios are the result.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, makes files and prints"
)]

pub mod csr;
pub mod friends;
pub mod http;
pub mod record;

pub use record::{Better, Record, Report};
