//! `hop serve` as a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::Outcome;

/// A running server; killed when it is dropped.
pub(super) struct Served {
    process: Child,
    address: SocketAddr,
}

impl Served {
    /// Starts it on a free port, and reads the address from what it prints.
    pub(super) fn start(hop: &Path, database: &Path) -> Outcome<Self> {
        let mut process = Command::new(hop)
            .arg("serve")
            .arg(database)
            .args(["--listen", "127.0.0.1:0", "--quiet"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", hop.display()))?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit("http://").next().map(|rest| rest.trim_end_matches('/'));
        let address = address.and_then(|address| address.parse().ok());
        let address = address.ok_or_else(|| format!("hop serve printed {line:?}"))?;
        Ok(Self { process, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The whole answer to a GET, head and body, as it came.
    pub(super) fn answer(&self, path: &str) -> Outcome<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)?;
        let mut answer = Vec::new();
        let mut some = [0; 65536];
        loop {
            let got = stream.read(&mut some)?;
            answer.extend_from_slice(&some[..got]);
            if got == 0 || is_whole(&answer) {
                break;
            }
        }
        if answer.starts_with(b"HTTP/1.1 200 ") && is_whole(&answer) {
            return Ok(answer);
        }
        Err(format!("GET {path}: {}", String::from_utf8_lossy(&answer)).into())
    }

    /// Memory that the process has now.
    pub(super) fn resident_bytes(&self) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
        let kib: f64 = kib.ok_or("the process has no memory")?;
        Ok(kib * 1024.0)
    }

    /// Asks it to end, and waits; it must end well.
    pub(super) fn stop(mut self) -> Outcome {
        let kill = Command::new("kill").arg(self.process.id().to_string()).status()?;
        let ended = self.process.wait()?;
        if kill.success() && ended.success() {
            return Ok(());
        }
        Err(format!("hop serve ended with {ended}").into())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Ended already, where it was stopped.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Whether an answer is there to the last byte that its head promises.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| answer.len() >= head.len() + 4 + length)
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn answers_end_where_their_heads_say() {
        assert!(is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n"));
        assert!(!is_whole(b"HTTP/1.1 200 OK\r\n\r\n{}"));
    }
}
