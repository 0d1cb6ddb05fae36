//! `hop serve`: starts, answers, ends in order; refuses what is not safe.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use crate::program::{Folder, friends};

/// After so long without a byte a test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that was started; killed when a test fails.
pub(crate) struct Served {
    process: Child,
    pub(crate) address: SocketAddr,
    /// What it printed.
    pub(crate) line: String,
}

impl Served {
    /// Starts `hop` with arguments, and waits until it listens.
    pub(crate) fn start(folder: &Folder, args: &str) -> Self {
        let mut process = folder.start(args);
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("listening on http://") {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "hop {args} does not listen");
        }
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches('/');
        let address = address.replace("localhost", "127.0.0.1").parse().unwrap();
        Self { process, address, line }
    }

    /// The status and the body of an answer.
    pub(crate) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end without reading its standard error before.
    fn ended_unread(mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }

    /// Waits for its end: how it ended, and its standard error.
    pub(crate) fn ended(mut self) -> (ExitStatus, String) {
        let mut err = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.process.wait().unwrap(), err)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It is gone already where the test went well.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn a_server_answers_and_ends_in_order() {
    let folder = friends();
    for signal in ["TERM", "INT"] {
        let served = Served::start(&folder, "serve friends.hop --listen 127.0.0.1:0");
        assert!(served.address.ip().is_loopback());
        let (status, body) = served.get("/api/v1/database", "");
        let database: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, database["nodes"].as_u64()), (200, Some(200)));
        assert_eq!(database["name"], "friends.hop");
        assert_eq!(served.get("/", "").0, 200);
        // Others read beside it.
        folder.hop_ok("stat friends.hop");
        served.signal(signal);
        let (ended, err) = served.ended();
        assert_eq!(ended.code(), Some(0), "{err}");
        assert!(err.contains(" GET /api/v1/database 200 "), "{err}");
    }
    let served = Served::start(&folder, "serve friends.hop --listen 127.0.0.1:0 --quiet");
    assert_eq!(served.get("/", "").0, 200);
    served.signal("TERM");
    let (_, err) = served.ended();
    assert_eq!(err, "stopping; once more ends it at once\n");
}

#[test]
fn nobody_has_to_read_the_log() {
    let folder = friends();
    let served = Served::start(&folder, "serve friends.hop --listen 127.0.0.1:0");
    // Standard error is a pipe; it is full after some hundred lines.
    for _ in 0..3000 {
        assert_eq!(served.get("/api/v1/nodes/0", "").0, 200);
    }
    served.signal("TERM");
    let ended = served.ended_unread();
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn a_server_that_writes_has_the_file_alone() {
    let folder = friends();
    let served = Served::start(&folder, "serve friends.hop --listen 127.0.0.1:0 --write --quiet");
    let in_use_by = |process: &Child| format!("friends.hop is in use by process {}", process.id());
    let texts = [&*in_use_by(&served.process), "hint: close the other program"];
    folder.fails("stat friends.hop", 3, &texts);
    folder.fails("serve friends.hop --listen 127.0.0.1:0", 3, &texts);
    let mut stream = TcpStream::connect(served.address).unwrap();
    let host = served.address;
    write!(
        stream,
        "DELETE /api/v1/nodes/5?detach=true HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 204 "), "{text}");
    served.signal("TERM");
    assert_eq!(served.ended().0.code(), Some(0));
    // It was closed: nothing is left to recover.
    assert_eq!(folder.hop_ok("stat friends.hop").err, "");
    assert_eq!(folder.json("stat friends.hop --json")["nodes"], 199);
    folder.hop_ok("check friends.hop");
    let mut reader = folder.start("serve friends.hop --listen 127.0.0.1:0 --quiet");
    let mut line = String::new();
    BufReader::new(reader.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let texts = [&*in_use_by(&reader), "hint: close the other program"];
    folder.fails("serve friends.hop --listen 127.0.0.1:0 --write", 3, &texts);
    reader.kill().unwrap();
    reader.wait().unwrap();
}

#[test]
fn other_machines_are_let_in_by_token_alone() {
    let folder = friends();
    let serve = "serve friends.hop --listen 0.0.0.0:0";
    let texts = ["0.0.0.0:0 can be reached from other machines", "hint: listen on 127.0.0.1"];
    folder.fails(serve, 2, &texts);
    let usage = folder.hop(&format!("{serve} --allow-remote"));
    assert_eq!(usage.code, 2);
    assert!(usage.err.contains("--token-file"), "{}", usage.err);
    let serve = format!("{serve} --allow-remote --token-file token");
    folder.fails(&serve, 3, &["cannot read the token in token: No such file"]);
    folder.write("token", b"too short\n");
    folder.fails(&serve, 2, &["the token has characters", "hint: a new one: head -c"]);
    folder.write("token", b"short\n");
    folder.fails(&serve, 2, &["the token is shorter than 16 characters"]);
    folder.write("token", b"0123456789abcdef\n");
    let served = Served::start(&folder, &format!("{serve} --allow-host graph.example --quiet"));
    // The address stands for all, and is no name to ask for.
    let port = served.address.port();
    assert_eq!(served.line, format!("listening on http://localhost:{port}/\n"));
    assert_eq!(served.get("/api/v1/database", "").0, 401);
    let bearer = "authorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(served.get("/api/v1/database", bearer).0, 200);
    served.signal("TERM");
    assert_eq!(served.ended().0.code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_told() {
    let folder = friends();
    let served = Served::start(&folder, "serve friends.hop --listen 127.0.0.1:0 --quiet");
    let taken = format!("serve friends.hop --listen {}", served.address);
    let text = format!("cannot listen on {}: Address already in use", served.address);
    folder.fails(
        &taken,
        3,
        &[&text, "hint: another program has the port: choose one with --listen"],
    );
    folder.fails("serve none.hop", 2, &["cannot open none.hop", "hint: is the path right?"]);
    folder.fails("serve people.csv", 4, &["people.csv is not a HopDB database"]);
    let usage = folder.hop("serve friends.hop --listen 7474");
    assert_eq!(usage.code, 2);
    assert!(usage.err.contains("as in 127.0.0.1:7474"), "{}", usage.err);
}

#[test]
fn the_demo_ends_in_a_server() {
    let folder = Folder::new();
    let served = Served::start(&folder, "demo --quick --dir demo --serve");
    assert!(served.line.starts_with("listening on http://127.0.0.1:"), "{}", served.line);
    let (status, body) = served.get("/api/v1/search?q=42&match=exact", "");
    assert_eq!(status, 200);
    assert!(body.contains(r#""value":"42""#), "{body}");
    served.signal("INT");
    assert_eq!(served.ended().0.code(), Some(0));
}
