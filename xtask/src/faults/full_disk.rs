//! `hop` on a disk of a few MiB, which is filled.
//!
//! What must hold on the full disk: what was acknowledged stays, reads go on, deletes commit, the database closes and
//! opens, after a kill as well; and what deletes have freed takes new commits.
//!
//! The disk is mounted in a mount namespace of its own, in which this program runs once more: nobody else sees it, and
//! it goes with the process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::hop::{Friends, Hop, said};

/// Bytes of the texts that fill the disk to the last corner.
const TEXTS: [usize; 4] = [200_000, 20_000, 2_000, 20];
const FULL: &str = "No space left on device";

/// A small disk, and how it is mounted at `$0`.
struct Disk {
    name: &'static str,
    namespace: &'static [&'static str],
    mount: &'static str,
}

const DISKS: [Disk; 2] = [
    Disk {
        name: "tmpfs",
        namespace: &["--map-root-user", "--mount"],
        mount: "mount -t tmpfs -o size=6m none \"$0\"",
    },
    Disk {
        name: "ext4",
        namespace: &["--mount"],
        mount: "truncate -s 12M \"$0.image\" && mkfs.ext4 -q -F \"$0.image\" && \
                mount -o loop \"$0.image\" \"$0\"",
    },
];

/// Tries all kinds of disks that can be mounted here; how many failed.
pub(super) fn run(hop: &Hop) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let mut failures = 0;
    for Disk { name, namespace, mount } in DISKS {
        let folder = hop.path(name);
        fs::create_dir(&folder).map_err(|error| format!("cannot make a folder: {error}"))?;
        let within = |program: &std::path::Path| {
            let mut command = Command::new("unshare");
            command.args(namespace).args(["sh", "-c", &format!("{mount} && exec \"$@\"")]);
            command.arg(&folder).arg(program);
            command
        };
        let probe = within("true".as_ref()).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            println!("skipped: a full disk of {name}, which cannot be mounted here");
            continue;
        }
        let status = within(&own)
            .args(["faults", "--full-disk"])
            .args([&folder, hop.program()])
            .status()
            .map_err(|error| format!("cannot run unshare: {error}"))?;
        failures += u64::from(!status.success());
    }
    Ok(failures)
}

/// Fills the disk whose folder this `hop` works in; whether all was well.
pub(super) fn within(hop: &Hop) -> Result<bool, String> {
    let disk = hop.folder.file_name().unwrap_or_default().display().to_string();
    match fill(hop) {
        Ok(said) => println!("full {disk:5} {said}"),
        Err(what) => {
            println!("full {disk}: {what}");
            return Ok(false);
        }
    }
    Ok(true)
}

fn fill(hop: &Hop) -> Result<String, String> {
    hop.must(&Friends::load("x.hop").replace("csv/", "../csv/"))?;
    let relationships = fill_with_commits(hop)?;

    let server = Server::start(hop)?;
    let nodes = server.fill()?;
    server.delete(&nodes)?;
    let again = server.fill()?;
    server.kill()?;
    hop.must("check x.hop --acknowledged ../acknowledged.txt")?;

    let server = Server::start(hop)?;
    server.delete(&again)?;
    server.create(TEXTS[0])?.ok_or("there is no space after the deletes")?;
    server.stop()?;
    let left: Vec<String> = hop.names(".")?;
    if left.iter().any(|name| name == "x.hop-wal") {
        return Err(format!("closed, and left {}", left.join(", ")));
    }
    hop.must("check x.hop --acknowledged ../acknowledged.txt")?;
    let (nodes, again) = (nodes.len(), again.len());
    Ok(format!(
        "{relationships} relationships, then {nodes} nodes, deleted, {again} more, killed, deleted"
    ))
}

/// Commits until the disk is full; how many were acknowledged.
fn fill_with_commits(hop: &Hop) -> Result<usize, String> {
    let output = hop.run("bench commit x.hop --count 10000000 --ack --by Person.id")?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(3) || !told.contains(FULL) || !told.contains("x.hop") {
        return Err(format!("full, hop ended with {} and said {told}", output.status));
    }
    let acknowledged = String::from_utf8_lossy(&output.stdout);
    hop.write("../acknowledged.txt", &acknowledged)?;
    let output = hop.run("check x.hop --acknowledged ../acknowledged.txt")?;
    if !output.status.success() {
        return Err(format!("full of commits: {}", said(&output)));
    }
    Ok(acknowledged.lines().count())
}

/// `hop serve` on the database.
struct Server {
    process: Child,
    /// Host and port.
    address: String,
}

impl Server {
    fn start(hop: &Hop) -> Result<Self, String> {
        let mut process = hop
            .command("serve x.hop --write --listen 127.0.0.1:0 --quiet")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start hop serve: {error}"))?;
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out)
                .read_line(&mut line)
                .map_err(|error| format!("cannot read what hop serve says: {error}"))?;
        }
        let Some((_, address)) = line.trim_end().split_once("http://") else {
            let output = process.wait_with_output().map_err(|error| error.to_string())?;
            return Err(format!("hop serve did not start: {}", said(&output)));
        };
        Ok(Self { process, address: address.trim_end_matches('/').to_owned() })
    }

    /// Status and body of the answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<(u16, String), String> {
        let io = |error: std::io::Error| format!("{method} {path}: {error}");
        let mut stream = TcpStream::connect(&self.address).map_err(io)?;
        let (host, length) = (&self.address, body.len());
        write!(
            stream,
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .map_err(io)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(io)?;
        let status = answer.split_ascii_whitespace().nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let status = status.ok_or_else(|| format!("{method} {path}: no answer"))?;
        Ok((status, body.to_owned()))
    }

    /// Makes a node with a text of so many bytes: its id, or `None` on a full disk.
    fn create(&self, bytes: usize) -> Result<Option<String>, String> {
        let text = "x".repeat(bytes);
        let body = format!("{{\"labels\":[\"Text\"],\"properties\":{{\"text\":\"{text}\"}}}}");
        let (status, answer) = self.ask("POST", "/nodes", &body)?;
        let id = answer.strip_prefix("{\"id\":\"").and_then(|rest| rest.split_once('"'));
        match (status, id) {
            (200 | 201, Some((id, _))) => Ok(Some(id.to_owned())),
            (500, _) if answer.contains(FULL) => Ok(None),
            _ => Err(format!("a node of {bytes} bytes: {status} {answer}")),
        }
    }

    /// Makes nodes until the disk is full; their ids.
    fn fill(&self) -> Result<Vec<String>, String> {
        let mut ids = Vec::new();
        for bytes in TEXTS {
            while let Some(id) = self.create(bytes)? {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Reads and deletes nodes, one in each commit.
    fn delete(&self, ids: &[String]) -> Result<(), String> {
        for (number, id) in ids.iter().enumerate() {
            let path = format!("/nodes/{id}");
            for (method, expected) in [("GET", 200), ("DELETE", 204), ("GET", 404)] {
                let (status, answer) = self.ask(method, &path, "")?;
                if status != expected {
                    let done = format!("after {number} of {} deletes", ids.len());
                    return Err(format!("{done}, {method} {path}: {status} {answer}"));
                }
            }
        }
        Ok(())
    }

    fn kill(mut self) -> Result<(), String> {
        self.process.kill().map_err(|error| format!("cannot kill hop serve: {error}"))?;
        self.process.wait().map(drop).map_err(|error| format!("cannot wait for hop serve: {error}"))
    }

    /// Asks it to end, as Ctrl-C does.
    fn stop(self) -> Result<(), String> {
        let status = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        status.map_err(|error| format!("cannot run kill: {error}"))?;
        let output = self.process.wait_with_output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("hop serve ended with {}: {}", output.status, said(&output)))
    }
}
