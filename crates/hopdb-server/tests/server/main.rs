//! The server over real sockets: what it answers, whom it refuses, and what clients that misbehave cannot do to others.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start threads and work with files; what cannot be done there fails the test"
)]

mod api;
mod changes;
mod client;
mod hostile;
mod safety;
mod served;
