//! The real `hop`, run as users run it: in folders of their own, judged by output, exit code and what it leaves.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start programs and work with files; what cannot be done there fails the test"
)]

mod awkward;
mod bench;
mod demo;
mod docs;
mod export;
mod inspect;
mod kill;
mod load;
mod pages;
mod program;
mod rejects;
mod serve;
mod shared_data;
mod terminal;
mod walk;
