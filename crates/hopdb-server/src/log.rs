//! One line for each request: time, peer, method, path with its query, status, bytes, milliseconds.
//!
//! Only printable ASCII: other bytes of a path are `%XX`, so that no terminal obeys what a client sends.
//! Never a header, so never a token. A request whose client went away first has a `-` for its status.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::http::{Method, Uri};

/// Where lines go. It is called on the threads that answer: it should not wait.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// What is told of a request, before its end is known.
pub(crate) struct Entry {
    log: Option<Log>,
    started: Instant,
    peer: Option<SocketAddr>,
    method: Method,
    address: Uri,
    /// Status and bytes of the answer.
    end: Option<(u16, u64)>,
}

impl Entry {
    pub(crate) fn begin(
        log: Option<Log>,
        peer: Option<SocketAddr>,
        method: Method,
        address: Uri,
    ) -> Self {
        Self { log, started: Instant::now(), peer, method, address, end: None }
    }

    /// The request is answered.
    pub(crate) fn end(mut self, status: u16, bytes: u64) {
        self.end = Some((status, bytes));
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, peer, method, address, end, .. } = self;
        write!(f, "{:.3} ", jiff::Timestamp::now())?;
        match peer {
            Some(peer) => write!(f, "{peer} ")?,
            None => f.write_str("- ")?,
        }
        // The address as it was asked for: without a scheme and a host.
        let address = address.path_and_query().map_or("*", |address| address.as_str());
        write!(f, "{method} ")?;
        for byte in address.bytes() {
            match byte.is_ascii_graphic() {
                true => write!(f, "{}", char::from(byte))?,
                false => write!(f, "%{byte:02X}")?,
            }
        }
        f.write_str(" ")?;
        match end {
            Some((status, bytes)) => write!(f, "{status} {bytes} ")?,
            None => f.write_str("- 0 ")?,
        }
        write!(f, "{:.1}", started.elapsed().as_secs_f64() * 1e3)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(log) = &self.log {
            log(&self.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_obeys_a_path() {
        // The introducer of control sequences, and what turns text round.
        let address = "/\u{9b}2J\u{202e}?q=%41".parse().unwrap();
        let entry = Entry::begin(None, None, Method::GET, address);
        let line = entry.to_string();
        assert!(line.contains(" GET /%C2%9B2J%E2%80%AE?q=%41 - 0 "), "{line}");
        assert!(line.is_ascii());
    }
}
