//! Whom the server answers at all.

use std::sync::{Arc, Mutex};

use hopdb::Database;
use hopdb_server::{Error, Options, Server, Token};

use crate::served::{Served, people};

const TOKEN: &str = "a-token-of-sixteen";

#[test]
fn other_names_and_other_pages_are_refused() {
    let served = Served::people();
    let mut client = served.client();
    let port = served.address().port();
    let forbidden = |reply: crate::client::Reply| {
        assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"));
        assert!(reply.header("content-security-policy").is_some());
    };
    for path in ["/", "/api/v1/database", "/none"] {
        let first = format!("GET {path}");
        forbidden(client.ask(&first, &[("host", &format!("evil.example:{port}"))], ""));
        forbidden(client.ask(&first, &[("host", "localhost")], ""));
        forbidden(client.ask(&first, &[("origin", "http://evil.example")], ""));
    }
    let own = format!("localhost:{port}");
    let origin = format!("http://{own}");
    let reply = client.ask("GET /api/v1/database", &[("host", &own), ("origin", &origin)], "");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), None);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
}

#[test]
fn the_token_is_asked_for_and_never_told() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let served = Served::new(people, |options| {
        options.token = Some(Token::new(TOKEN).unwrap());
        options.log = Some(Arc::new(move |line: &str| log.lock().unwrap().push(line.to_owned())));
    });
    let mut client = served.client();
    assert_eq!(client.get("/").status, 200);
    let reply = client.get("/api/v1/database");
    assert_eq!((reply.status, reply.code().as_str()), (401, "unauthorized"));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    let wrong = [("authorization", "Bearer another-token-of-this")];
    assert_eq!(client.ask("GET /api/v1/database", &wrong, "").status, 401);
    let bearer = format!("Bearer {TOKEN}");
    let right = [("authorization", &*bearer)];
    assert_eq!(client.ask("GET /api/v1/nodes/0?x=1", &right, "").status, 400);
    assert_eq!(client.ask("GET /api/v1/database", &right, "").status, 200);
    served.stop();
    drop(served.ended());
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 5);
    assert!(!lines.iter().any(|line| line.contains(TOKEN)), "{lines:?}");
    let [time, peer, method, path, status, bytes, ms] = lines[3].split(' ').collect::<Vec<_>>()[..]
    else {
        panic!("{lines:?}");
    };
    assert!(time.ends_with('Z') && peer.starts_with("127.0.0.1:"), "{lines:?}");
    assert_eq!((method, path, status), ("GET", "/api/v1/nodes/0?x=1", "400"));
    assert!(bytes.parse::<u64>().unwrap() > 0 && ms.parse::<f64>().unwrap() >= 0.0);
}

#[test]
fn other_machines_need_leave_and_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::create(folder.path().join("g.hop"), &hopdb::Options::default()).unwrap();
    let token = Some(Token::new(TOKEN).unwrap());
    let bind = |allow_remote, token: &Option<Token>| {
        let options = Options::new("0.0.0.0:0".parse().unwrap());
        Server::bind(db.clone(), Options { allow_remote, token: token.clone(), ..options })
    };
    assert!(matches!(bind(false, &None), Err(Error::Remote { .. })));
    assert!(matches!(bind(false, &token), Err(Error::Remote { .. })));
    assert!(matches!(bind(true, &None), Err(Error::NoToken { .. })));
    assert!(bind(true, &token).is_ok());
}

#[test]
fn a_taken_port_is_told() {
    let served = Served::people();
    let folder = tempfile::tempdir().unwrap();
    let db = Database::create(folder.path().join("g.hop"), &hopdb::Options::default()).unwrap();
    match Server::bind(db, Options::new(served.address())) {
        Err(Error::Listen { source, .. }) => {
            assert_eq!(source.kind(), std::io::ErrorKind::AddrInUse);
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the port is taken"),
    }
}

#[test]
fn methods_that_a_path_does_not_take_are_told() {
    let served = Served::people();
    let mut client = served.client();
    for (first, allowed) in [
        ("DELETE /api/v1/database", "GET,HEAD"),
        ("TRACE /api/v1/nodes/0", "GET,HEAD,PATCH,DELETE"),
        ("OPTIONS /api/v1/nodes", "POST"),
        ("PUT /api/v1/openapi.json", "GET,HEAD"),
        ("POST /", "GET,HEAD"),
        ("BREW /api/v1/pool", "GET,HEAD"),
    ] {
        let reply = client.ask(first, &[], "");
        assert_eq!((reply.status, reply.code().as_str()), (405, "method_not_allowed"), "{first}");
        assert_eq!(reply.header("allow"), Some(allowed), "{first}");
    }
    let unknown = client.ask("OPTIONS *", &[], "");
    assert_eq!(unknown.code(), "not_found");
}
