//! What a client may cost. One place for all numbers; `docs/http.md` has them for users.

use std::time::Duration;

/// Limits of a server. The defaults are for people and programs on one machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at a time. One more is answered 503 at once and closed.
    pub connections: usize,
    /// Requests that work on the database at a time. One more is answered 503.
    pub requests: usize,
    /// Bytes of a request's first line and headers together; at least 8 KiB.
    pub header_bytes: usize,
    /// Bytes of a path with its query.
    pub address_bytes: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Bytes of an answer.
    pub answer_bytes: usize,
    /// Bytes of all answers that are being made or wait for their clients. What does not fit is answered 503.
    pub answers_bytes: usize,
    /// Entries of indexes that a search looks at; then it says where the next one goes on.
    pub search_entries: usize,
    /// How long a connection may take until the headers of its next request are there, idle time included.
    pub headers_wait: Duration,
    /// How long a body may take to arrive.
    pub body_wait: Duration,
    /// How long bytes may wait for their client, beyond the time that they take at the least rate.
    pub write_wait: Duration,
    /// The least rate, in bytes a second.
    pub write_bytes_per_second_min: u64,
    /// How long the work of a request may take.
    pub request_wait: Duration,
    /// How long a walk may go on; what it found by then is the answer.
    pub walk_wait: Duration,
    /// How long running requests have at the end.
    pub stop_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            requests: 64,
            header_bytes: 16 << 10,
            address_bytes: 8 << 10,
            body_bytes: 1 << 20,
            answer_bytes: 32 << 20,
            answers_bytes: 256 << 20,
            search_entries: 10_000,
            headers_wait: Duration::from_secs(30),
            body_wait: Duration::from_secs(10),
            write_wait: Duration::from_secs(30),
            write_bytes_per_second_min: 64 << 10,
            request_wait: Duration::from_secs(30),
            walk_wait: Duration::from_secs(10),
            stop_wait: Duration::from_secs(10),
        }
    }
}
