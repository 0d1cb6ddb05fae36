//! Clients that are slow, broken, huge or many: each loses its own connection, and nobody else notices.
//!
//! Time limits are short here. Nothing waits for time to pass: a test reads until the server ends the connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use hopdb::{Database, Transaction};
use hopdb_server::Limits;

use crate::client::Client;
use crate::served::{Served, people};

const SHORT: Duration = Duration::from_millis(200);

/// A server whose patience is short.
fn impatient(change: impl FnOnce(&mut Limits)) -> Served {
    Served::new(people, |options| {
        options.writable = true;
        options.limits.headers_wait = SHORT;
        options.limits.body_wait = SHORT;
        change(&mut options.limits);
    })
}

fn works(served: &Served) {
    assert_eq!(served.client().json("/nodes/0")["id"], "0");
}

#[test]
fn headers_that_never_end_end_their_connection() {
    let served = impatient(|_| {});
    let mut silent = served.client();
    let mut slow = served.client();
    slow.send(b"GET / HTTP/1.1\r\nhost:");
    works(&served);
    assert!(silent.is_ended());
    assert!(slow.is_ended());
    // One byte now and then does not help.
    let drip = served.client();
    let mut stream: &TcpStream = drip.stream();
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
    let started = Instant::now();
    let ended = loop {
        assert!(started.elapsed() < Duration::from_secs(60), "it goes on for ever");
        match stream.peek(&mut [0]) {
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                if stream.write_all(b"x").is_err() {
                    break true;
                }
            }
            read => break read.is_ok_and(|bytes| bytes == 0) || stream.peek(&mut [0]).is_err(),
        }
    };
    assert!(ended);
    works(&served);
}

#[test]
fn half_closed_connections_end() {
    let served = impatient(|_| {});
    let mut cut = served.client();
    cut.send(b"GET / HTTP/1.1\r\nhost:");
    cut.stream().shutdown(Shutdown::Write).unwrap();
    assert!(cut.is_ended());
    let mut whole = served.client();
    whole.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    whole.stream().shutdown(Shutdown::Write).unwrap();
    assert!(whole.is_ended());
    let mut body = served.client();
    body.send(post(served.address().port(), "content-length: 10\r\n").as_bytes());
    body.stream().shutdown(Shutdown::Write).unwrap();
    assert!(body.is_ended());
    works(&served);
}

fn post(port: u16, headers: &str) -> String {
    format!(
        "POST /api/v1/nodes HTTP/1.1\r\nhost: localhost:{port}\r\n\
         content-type: application/json\r\n{headers}\r\n"
    )
}

#[test]
fn garbage_is_refused() {
    let served = impatient(|_| {});
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost localhost\r\n\r\n",
        b"POST /api/v1/nodes HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /api/v1/nodes HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        http2,
    ] {
        let mut client = served.client();
        client.send(bytes);
        // Who begins with HTTP/2 understands no answer.
        let expected = (bytes != http2).then_some(400);
        let status = client.try_reply().map(|reply| reply.status);
        assert_eq!(status, expected, "{}", String::from_utf8_lossy(bytes));
        assert!(client.is_ended());
    }
    works(&served);
}

#[test]
fn huge_headers_and_addresses_are_refused() {
    let served = impatient(|_| {});
    let mut client = served.client();
    let long = "x".repeat(9000);
    let reply = client.get(&format!("/api/v1/search?q={long}"));
    assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
    // As much as is taken, without an end; and too many.
    let begin = "GET / HTTP/1.1\r\n";
    let full = format!("{begin}x: {}", "x".repeat((16 << 10) - begin.len() - 3));
    let many = format!("{begin}{}\r\n", "x: y\r\n".repeat(101));
    for bytes in [full, many] {
        let mut client = served.client();
        client.send(bytes.as_bytes());
        assert_eq!(client.reply().status, 431);
        assert!(client.is_ended());
    }
    // Where bytes come that the server does not read, the system ends the connection, and the answer may be lost.
    let mut client = served.client();
    let mut stream: &TcpStream = client.stream();
    stream.write_all(begin.as_bytes()).unwrap();
    let _taken = (0..100).try_for_each(|n| write!(stream, "x{n}: {long}\r\n"));
    assert!(client.try_reply().is_none_or(|reply| reply.status == 431));
    assert!(client.is_ended());
    works(&served);
}

#[test]
fn huge_bodies_are_refused() {
    let served = impatient(|_| {});
    let port = served.address().port();
    let mut client = served.client();
    client.send(post(port, "content-length: 1048577\r\n").as_bytes());
    let reply = client.reply();
    assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
    // Without a length, and without an end.
    let mut client = served.client();
    client.send(post(port, "transfer-encoding: chunked\r\n").as_bytes());
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
    let mut stream: &TcpStream = client.stream();
    let sent =
        (0..).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).take(10_000).count();
    assert!(sent < 10_000, "all of it was taken");
    // The answer may be lost, as above.
    assert!(client.try_reply().is_none_or(|reply| reply.code() == "too_large"));
    works(&served);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let served = impatient(|_| {});
    let mut client = served.client();
    let head = post(served.address().port(), "content-length: 10\r\n");
    client.send(head.as_bytes());
    client.send(b"{\"a");
    works(&served);
    let reply = client.reply();
    assert_eq!((reply.status, reply.code().as_str()), (503, "timeout"));
    assert!(client.is_ended());
}

#[test]
fn many_idle_connections_stand_in_nobodys_way() {
    let served = Served::people();
    let mut idle: Vec<Client> = (0..200).map(|_| served.client()).collect();
    let mut client = served.client();
    for _ in 0..100 {
        assert_eq!(client.json("/nodes/1")["id"], "1");
    }
    // They are as good as new.
    for client in &mut idle {
        assert_eq!(client.json("/nodes/2")["id"], "2");
    }
}

/// Asks until there is room for one more connection.
fn until_there_is_room(served: &Served) {
    let started = Instant::now();
    loop {
        let mut client = served.client();
        match client.try_get("/api/v1/nodes/0") {
            Some(reply) if reply.status == 200 => return,
            Some(reply) => assert_eq!((reply.status, reply.code().as_str()), (503, "busy")),
            None => {}
        }
        assert!(started.elapsed() < Duration::from_secs(60), "there is never room");
    }
}

#[test]
fn connections_are_counted() {
    let served = Served::new(people, |options| options.limits.connections = 3);
    let mut open: Vec<Client> = (0..3).map(|_| served.client()).collect();
    open.iter_mut().for_each(|client| drop(client.json("/nodes/0")));
    let mut fourth = served.client();
    let reply = fourth.reply();
    assert_eq!((reply.status, reply.code().as_str()), (503, "busy"));
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert!(fourth.is_ended());
    open.pop();
    until_there_is_room(&served);
}

#[test]
fn answers_that_nobody_takes_end_their_connection() {
    let served = Served::new(large, |options| {
        options.limits.connections = 1;
        options.limits.write_wait = SHORT;
    });
    let mut client = served.client();
    let port = served.address().port();
    for _ in 0..4 {
        client.send(
            format!("GET /api/v1/nodes/1 HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n").as_bytes(),
        );
    }
    // There is room for one: it is given up, although its client is still there.
    until_there_is_room(&served);
    drop(client);
}

/// Node 0, and node 1 with a text of 8 MiB.
fn large(txn: &mut Transaction) {
    txn.create_node(&[], &[]).unwrap();
    txn.create_node(&[], &[("text", "x".repeat(8 << 20).into())]).unwrap();
}

#[test]
fn answers_that_wait_have_a_limit_together() {
    let served = Served::new(large, |options| options.limits.answers_bytes = 16 << 20);
    let port = served.address().port();
    let mut holds = served.client();
    let request = format!("GET /api/v1/nodes/1 HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n");
    // Several: the first may lie in the system's buffers as a whole.
    (0..4).for_each(|_| holds.send(request.as_bytes()));
    let started = Instant::now();
    let until = |status: u16| {
        loop {
            let reply = served.client().get("/api/v1/nodes/1");
            if reply.status == 503 {
                assert_eq!(
                    (reply.code().as_str(), reply.header("retry-after")),
                    ("busy", Some("1"))
                );
            }
            if reply.status == status {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "it stays {}", reply.status);
        }
    };
    // One is there that nobody takes: there is no room for another, but for small ones.
    until(503);
    works(&served);
    drop(holds);
    until(200);
}

#[test]
fn answers_are_taken_at_a_least_rate() {
    let served = Served::new(large, |options| {
        options.limits.write_wait = SHORT;
        options.limits.write_bytes_per_second_min = u64::MAX;
    });
    let port = served.address().port();
    let request = format!("GET /api/v1/nodes/1 HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n");
    let client = served.client();
    let mut stream: &TcpStream = client.stream();
    // Some answers, one after the other: more than what lies in the system's buffers.
    (0..8).for_each(|_| stream.write_all(request.as_bytes()).unwrap());
    // It takes some bytes all the time, and never waits long, but for its turns at other things.
    let (mut taken, mut other) = (0, served.client());
    let mut part = vec![0; 8 << 10];
    let ended = loop {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => break true,
            Ok(bytes) => taken += bytes,
        }
        if taken >= 64 << 20 {
            break false;
        }
        other.json("/nodes/0");
    };
    assert!(ended, "all was taken, however slowly");
}

#[test]
fn threads_that_wait_hold_up_nobody() {
    let (began, begins) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    // The log stands for long work: it keeps the thread of the request, as a read from a slow disk would.
    let log = move |line: &str| {
        if line.contains("/nodes/1") {
            began.send(()).unwrap();
            // When the test has failed nobody says so.
            wait.lock().unwrap().recv().unwrap_or_default();
        }
    };
    let served = Served::new(people, |options| {
        options.limits.requests = 4;
        options.log = Some(Arc::new(log));
    });
    let port = served.address().port();
    let request = format!("GET /api/v1/nodes/1 HTTP/1.1\r\nhost: localhost:{port}\r\n\r\n");
    let mut other = served.client();
    for _ in 0..4 {
        // Its connection waits for its next request, as all do: the thread that sees it come also has it.
        let mut held = served.client();
        held.json("/nodes/2");
        other.json("/nodes/2");
        held.send(request.as_bytes());
        begins.recv().unwrap();
        for client in [&mut other, &mut served.client()] {
            client.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            assert_eq!(client.json("/nodes/0")["id"], "0");
        }
        go_on.send(()).unwrap();
        assert_eq!(held.reply().status, 200);
    }
}

#[test]
fn a_change_that_is_late_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::create(folder.path().join("g.hop"), &hopdb::Options::default()).unwrap();
    let mut txn = db.write().unwrap();
    people(&mut txn);
    txn.commit().unwrap();
    let served = Served::over(folder, db.clone(), |options| {
        options.writable = true;
        options.limits.requests = 1;
        options.limits.request_wait = SHORT;
    });
    let under_way = db.write().unwrap();
    let reply = served.client().write("POST /nodes", "{}");
    assert_eq!((reply.status, reply.code().as_str()), (503, "timeout"));
    drop(under_way);
    // Its place is free when it has ended.
    until_there_is_room(&served);
    assert_eq!(served.client().json("/database")["nodes"], 4);
}

#[test]
fn running_requests_are_finished_at_the_end() {
    let served = Served::writable();
    let port = served.address().port();
    let mut idle = served.client();
    idle.json("/nodes/0");
    let mut fresh = served.client();
    let mut client = served.client();
    client.send(post(port, "content-length: 2\r\nexpect: 100-continue\r\n").as_bytes());
    // The server asks for the body: the request runs.
    assert_eq!(client.reply().status, 100);
    served.stop();
    assert!(idle.is_ended());
    client.send(b"{}");
    assert_eq!(client.reply().status, 201);
    assert!(client.is_ended());
    assert!(fresh.is_ended());
    let db = served.ended();
    assert_eq!(db.read().unwrap().reader().catalog().node_count(), 5);
    assert!(db.recovery().is_none());
}
