//! `hop` killed and interrupted at work: nothing of a load stays, and everything that was acknowledged does.
//!
//! Loads read from a pipe that the test fills: what the test has written beyond the pipe's buffer, the load has
//! read, so the load is known to be at work without waiting for any time to pass.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command};

use hopdb::{Database, Options, RelationshipId};

use crate::program::{Folder, friends};

/// More than pipes and readers buffer.
const ROWS: u64 = 200_000;

/// A load that reads nodes from a pipe and has read many; the pipe's end to write more to.
fn load_at_work(folder: &Folder) -> (Child, File) {
    let made = Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap();
    assert!(made.success());
    let load = folder.start("load p.hop --nodes=Person=pipe.csv --unique Person.id");
    let mut pipe = File::options().write(true).open(folder.path("pipe.csv")).unwrap();
    let rows: String = (0..ROWS).map(|id| format!("{id}\n")).collect();
    pipe.write_all(b"id:ID\n").unwrap();
    pipe.write_all(rows.as_bytes()).unwrap();
    (load, pipe)
}

fn interrupt(process: &Child) {
    let kill = format!("kill -INT {}", process.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Reads standard error up to a line that starts so.
fn wait_for(process: &mut Child, start: &str) -> BufReader<std::process::ChildStderr> {
    let mut err = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with(start) {
        line.clear();
        assert_ne!(err.read_line(&mut line).unwrap(), 0, "it ended without saying {start:?}");
    }
    err
}

#[test]
fn a_killed_load_leaves_nothing() {
    let folder = Folder::new();
    let (mut load, pipe) = load_at_work(&folder);
    load.kill().unwrap();
    load.wait().unwrap();
    drop(pipe);
    assert_eq!(folder.names(), ["pipe.csv"]);
}

#[test]
fn an_interrupted_load_leaves_nothing() {
    let folder = Folder::new();
    let (mut load, pipe) = load_at_work(&folder);
    interrupt(&load);
    let mut err = wait_for(&mut load, "stopping");
    drop(pipe);
    let mut said = String::new();
    err.read_to_string(&mut said).unwrap();
    assert_eq!(said, "error: interrupted; nothing was left behind\n");
    assert_eq!(load.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), ["pipe.csv"]);
}

#[test]
fn a_load_that_hangs_can_be_interrupted_twice() {
    let folder = Folder::new();
    let (mut load, pipe) = load_at_work(&folder);
    interrupt(&load);
    drop(wait_for(&mut load, "stopping"));
    interrupt(&load);
    assert_eq!(load.wait().unwrap().code(), Some(130));
    drop(pipe);
    assert_eq!(folder.names(), ["pipe.csv"]);
}

#[test]
fn a_load_from_a_pipe_ends_well() {
    let folder = Folder::new();
    let (load, pipe) = load_at_work(&folder);
    drop(pipe);
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.json("stat p.hop --json")["nodes"].as_u64(), Some(ROWS));
}

#[test]
fn every_acknowledged_commit_outlives_a_kill() {
    let folder = friends();
    let mut acknowledged: Vec<u64> = Vec::new();
    for (run, threads) in [(1, 1), (2, 2)] {
        let args = format!(
            "bench commit friends.hop --count 1000000 --ack --threads {threads} --seed {run} \
             --by Person.id"
        );
        let mut process = folder.start(&args);
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut text = String::new();
        for _ in 0..200 {
            out.read_line(&mut text).unwrap();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        out.read_to_string(&mut text).unwrap();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        acknowledged.extend(whole.map(|line| line.trim_end().parse::<u64>().unwrap()));

        let ran = folder.hop_ok("check friends.hop");
        assert!(ran.err.starts_with("recovered friends.hop, which was not closed"), "{}", ran.err);
    }
    assert!(acknowledged.len() >= 400, "{}", acknowledged.len());
    let options = Options { read_only: true, ..Options::default() };
    let snapshot = Database::open(folder.path("friends.hop"), &options).unwrap().read().unwrap();
    for id in acknowledged {
        let found = snapshot.reader().relationship(RelationshipId(id)).unwrap();
        assert!(found.is_some(), "relationship {id} was acknowledged");
    }
}

/// Writers and readers alike: while one lives the file is said to be in use by it; the moment it is dead, however it
/// died, the file is free.
#[test]
fn a_lock_dies_with_its_holder() {
    let folder = friends();
    let writer = "bench commit friends.hop --count 1000000 --ack --by Person.id";
    let reader = "serve friends.hop --listen 127.0.0.1:0 --quiet";
    for (holder, other) in [(writer, "stat friends.hop"), (reader, writer)] {
        let mut process = folder.start(holder);
        let mut line = String::new();
        // Open to the end: a program whose output nobody takes ends by itself.
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let in_use = format!("friends.hop is in use by process {}", process.id());
        folder.fails(other, 3, &[&in_use, "hint: close the other program"]);
        process.kill().unwrap();
        process.wait().unwrap();
        folder.hop_ok("check friends.hop");
        folder.hop_ok("bench commit friends.hop --count 2 --by Person.id");
    }
}
