//! A plain HTTP client: one connection, one request after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// After so long without a byte a test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        let error = &json["error"];
        assert!(error["message"].is_string() && error.get("hint").is_some(), "{json}");
        error["code"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { address, stream: BufReader::new(stream) }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a request with headers; `Host` is among them unless it is given.
    pub(crate) fn ask(&mut self, first: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = format!("{first} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.send(text.as_bytes());
        self.reply()
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), &[], "")
    }

    /// Like [`Client::get`], of a server that may end the connection first.
    pub(crate) fn try_get(&mut self, path: &str) -> Option<Reply> {
        let text = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        self.stream.get_mut().write_all(text.as_bytes()).ok()?;
        self.try_reply()
    }

    /// Gets JSON, which must be there.
    pub(crate) fn json(&mut self, path: &str) -> Value {
        let reply = self.get(&format!("/api/v1{path}"));
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        assert_eq!(reply.header("content-type"), Some("application/json; charset=utf-8"));
        reply.json()
    }

    /// Sends JSON.
    pub(crate) fn write(&mut self, first: &str, body: &str) -> Reply {
        let (method, path) = first.split_once(' ').unwrap();
        let first = format!("{method} /api/v1{path}");
        self.ask(&first, &[("content-type", "application/json")], body)
    }

    /// Reads an answer.
    pub(crate) fn reply(&mut self) -> Reply {
        self.try_reply().expect("an answer")
    }

    /// Reads an answer; `None` when the connection ends first.
    pub(crate) fn try_reply(&mut self) -> Option<Reply> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
        reply.body.resize(length, 0);
        self.stream.read_exact(&mut reply.body).ok()?;
        Some(reply)
    }

    /// Whether the server ends the connection, after whatever it still says.
    pub(crate) fn is_ended(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}
