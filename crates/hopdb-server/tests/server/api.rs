//! What reading answers.

use std::collections::BTreeSet;
use std::time::Duration;

use hopdb::{Database, NodeId, Transaction, Value};
use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::served::{Served, people};

fn ids(list: &Json, key: &str) -> Vec<u64> {
    let ids = list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap());
    ids.map(|id| id.parse().unwrap()).collect()
}

#[test]
fn the_database_is_described() {
    let served = Served::people();
    let mut database = served.client().json("/database");
    assert!(database["file_bytes"].take().as_u64().unwrap() > 0);
    assert!(database["format_version"].take().is_u64());
    let opened = database["opened"].take();
    assert!(opened.as_str().is_some_and(|opened| opened.len() == 16), "{opened}");
    let expected = json!({
        "opened": null,
        "name": "g.hop", "version": env!("CARGO_PKG_VERSION"), "format_version": null,
        "page_size": 4096, "file_bytes": null, "nodes": 4, "relationships": 5,
        "labels": [{"name": "Person", "nodes": 4}],
        "relationship_types": [
            {"name": "KNOWS", "relationships": 4}, {"name": "LIKES", "relationships": 1},
        ],
        "property_keys": ["name", "since"],
        "indexes": [{"label": "Person", "property": "name", "unique": true}],
        "writable": false,
    });
    assert_eq!(database, expected);
    let pool = served.client().json("/pool");
    assert_eq!(pool["opened"], opened);
    assert_ne!(Served::people().client().json("/pool")["opened"], opened);
    assert_eq!(pool["requests"], 2);
    assert_eq!(pool["requests_now"], 1);
    assert!(pool["resident"].as_u64() <= pool["frames_max"].as_u64());
}

#[test]
fn nodes_and_relationships_are_given_whole() {
    let served = Served::people();
    let mut client = served.client();
    let ada = json!({
        "id": "0", "labels": ["Person"], "properties": {"name": "Ada"},
        "degrees": [
            {"type": "KNOWS", "direction": "out", "count": 4},
            {"type": "KNOWS", "direction": "in", "count": 1},
            {"type": "LIKES", "direction": "in", "count": 1},
        ],
    });
    assert_eq!(client.json("/nodes/0"), ada);
    let first = json!({
        "id": "0", "type": "KNOWS", "start": "0", "end": "1", "properties": {"since": 1999},
    });
    assert_eq!(client.json("/relationships/0"), first);
    for (path, status, code) in [
        ("/nodes/9", 404, "not_found"),
        ("/nodes/99999999999999999999", 404, "not_found"),
        ("/nodes/x", 400, "bad_request"),
        ("/nodes/-1", 400, "bad_request"),
        ("/nodes/%FF", 400, "bad_request"),
        ("/nodes/0?x=1", 400, "bad_request"),
        ("/nodes/", 404, "not_found"),
        ("/nodes/0/x", 404, "not_found"),
        ("/relationships/5", 404, "not_found"),
        ("", 404, "not_found"),
    ] {
        let reply = client.get(&format!("/api/v1{path}"));
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{path}");
    }
}

#[test]
fn relationships_come_part_by_part() {
    let served = Served::people();
    let mut client = served.client();
    let all = client.json("/nodes/0/relationships");
    assert_eq!(ids(&all["relationships"], "id"), [3, 0, 1, 2, 4]);
    assert_eq!(ids(&all["nodes"], "id"), [0, 1, 2]);
    assert_eq!(all["next"], Json::Null);
    let mut found = Vec::new();
    let mut path = "/nodes/0/relationships?limit=1".to_owned();
    loop {
        let part = client.json(&path);
        found.extend(ids(&part["relationships"], "id"));
        let Some(next) = part["next"].as_str() else { break };
        path = format!("/nodes/0/relationships?limit=1&after={next}");
    }
    assert_eq!(found, [3, 0, 1, 2, 4]);
    let some = |client: &mut Client, query: &str| {
        let part = client.json(&format!("/nodes/0/relationships?{query}"));
        ids(&part["relationships"], "id")
    };
    assert_eq!(some(&mut client, "direction=in"), [3, 4]);
    assert_eq!(some(&mut client, "direction=in&type=LIKES"), [4]);
    let unknown = client.get("/api/v1/nodes/0/relationships?type=HATES");
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "not_found"));
    assert_eq!(unknown.json()["error"]["hint"], "there are: KNOWS, LIKES");
    for query in ["limit=0", "limit=1001", "direction=up", "after=x", "limit=1&limit=1"] {
        let reply = client.get(&format!("/api/v1/nodes/0/relationships?{query}"));
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"), "{query}");
    }
}

/// Node 0 with 3,000 relationships to others and 5 from others, of different types.
fn hub(txn: &mut Transaction) {
    let hub = txn.create_node(&["Hub"], &[]).unwrap();
    for _ in 0..3000 {
        let other = txn.create_node(&["Leaf"], &[]).unwrap();
        txn.create_relationship(hub, "HAS", other, &[]).unwrap();
    }
    for other in 1..=5 {
        txn.create_relationship(NodeId(other), "OWNS", hub, &[]).unwrap();
    }
}

#[test]
fn surroundings_are_a_fair_sample() {
    let served = Served::new(hub, |_| {});
    let mut client = served.client();
    let around = client.json("/nodes/0/surroundings?limit=60");
    let groups = around["groups"].as_array().unwrap();
    let sizes = |group: &Json| {
        (group["count"].as_u64().unwrap(), group["relationships"].as_array().unwrap().len())
    };
    assert_eq!(groups.iter().map(sizes).collect::<Vec<_>>(), [(3000, 55), (5, 5)]);
    assert_eq!((&groups[1]["type"], &groups[1]["direction"]), (&json!("OWNS"), &json!("in")));
    assert_eq!(around["nodes"].as_array().unwrap().len(), 55);
    assert_eq!(around["node"]["labels"], json!(["Hub"]));
    let page = client.json("/nodes/0/relationships?limit=1000&direction=out");
    assert_eq!(ids(&page["relationships"], "end").len(), 1000);
}

#[test]
fn walks_give_counts_and_a_sample_that_hangs_together() {
    let served = Served::new(hub, |_| {});
    let mut client = served.client();
    let walk = client.json("/nodes/0/walk?hops=3&sample=20");
    assert_eq!((&walk["complete"], &walk["start"]), (&json!(true), &json!("0")));
    let hops = walk["hops"].as_array().unwrap();
    let counts =
        |hop: &Json| ["relationships", "nodes", "new_nodes"].map(|key| hop[key].as_u64().unwrap());
    let expected = [[3005, 3000, 3000], [3005, 1, 0], [3005, 3000, 0]];
    assert_eq!(hops.iter().map(counts).collect::<Vec<_>>(), expected);
    let mut reached = BTreeSet::from([0]);
    for hop in hops {
        let sample = &hop["sample"];
        let (starts, ends) = (ids(sample, "start"), ids(sample, "end"));
        assert_eq!(starts.len(), 20);
        let pairs = starts.iter().zip(&ends);
        assert!(pairs.clone().all(|(start, end)| reached.contains(start) || reached.contains(end)));
        reached = starts.into_iter().chain(ends).collect();
    }
    let known: BTreeSet<u64> = ids(&walk["nodes"], "id").into_iter().collect();
    assert!(reached.is_subset(&known));
    let none = client.json("/nodes/0/walk?hops=1&sample=0&type=OWNS&direction=in");
    assert_eq!(counts(&none["hops"][0]), [5, 5, 5]);
    assert_eq!((&none["hops"][0]["sample"], &none["nodes"]), (&json!([]), &json!([])));
    for query in ["hops=0", "hops=9", "sample=1001"] {
        assert_eq!(client.get(&format!("/api/v1/nodes/0/walk?{query}")).code(), "bad_request");
    }
    assert_eq!(client.get("/api/v1/nodes/9999/walk").code(), "not_found");
}

#[test]
fn a_walk_that_takes_too_long_gives_what_it_has() {
    let served = Served::new(hub, |options| options.limits.walk_wait = Duration::ZERO);
    let walk = served.client().json("/nodes/0/walk?hops=3");
    assert_eq!((&walk["complete"], &walk["hops"]), (&json!(false), &json!([])));
}

#[test]
fn searches_find_strings_by_their_beginning_and_all_else_exactly() {
    let served = Served::new(
        |txn| {
            people(txn);
            for (name, age) in [("Adam", 7), ("Ad", 77)] {
                let properties = [("name", Value::from(name)), ("age", Value::from(age))];
                txn.create_node(&["Person", "a.b"], &properties).unwrap();
            }
            txn.create_index("a.b", "age", false).unwrap();
        },
        |_| {},
    );
    let mut client = served.client();
    let mut found = |query: &str| {
        let found = client.json(&format!("/search?{query}"));
        let results = found["results"].as_array().unwrap().clone();
        let values: Vec<Json> = results.iter().map(|hit| hit["value"].clone()).collect();
        (values, found["next"].as_str().map(str::to_owned))
    };
    assert_eq!(found("q=Ad"), (vec![json!("Ad"), json!("Ada"), json!("Adam")], None));
    assert_eq!(found("q=Ad&match=exact"), (vec![json!("Ad")], None));
    assert_eq!(found("q=ad"), (vec![], None));
    assert_eq!(found("q=7"), (vec![json!(7)], None));
    assert_eq!(found("q=7.0&index=%60a.b%60.age"), (vec![json!(7)], None));
    assert_eq!(found("q=7&index=Person.name"), (vec![], None));
    let (mut all, mut next) = found("q=&limit=2");
    while let Some(after) = next {
        let (values, then) = found(&format!("q=&limit=2&after={after}"));
        all.extend(values);
        next = then;
    }
    assert_eq!(all, ["Ad", "Ada", "Adam", "Bob", "Cem", "Dee"].map(Json::from));
    let hit = client.json("/search?q=Bob")["results"][0].clone();
    let bob = json!({"id": "1", "labels": ["Person"], "properties": {"name": "Bob"}});
    assert_eq!(hit, json!({"node": bob, "index": "Person.name", "value": "Bob"}));
    let unknown = client.get("/api/v1/search?q=x&index=Person.age");
    assert_eq!(unknown.code(), "not_found");
    assert_eq!(unknown.json()["error"]["hint"], "there are: Person.name, `a.b`.age");
    assert_eq!(client.get("/api/v1/search").code(), "bad_request");
    assert_eq!(client.get("/api/v1/search?q=x&match=some").code(), "bad_request");
    assert_eq!(client.get("/api/v1/search?q=x&after=99-0-00").code(), "not_found");
}

#[test]
fn the_bytes_of_nodes_and_pages_are_shown() {
    let served = Served::people();
    let mut client = served.client();
    let ada = client.json("/inspect/nodes/0");
    assert_eq!(ada["node"], client.json("/nodes/0"));
    let record = &ada["record"];
    let tile = |fields: &Json, hex: &Json| {
        let mut at = 0;
        for field in fields.as_array().unwrap() {
            assert_eq!(field["start"], at, "{field}");
            at += field["len"].as_u64().unwrap();
        }
        assert_eq!(hex.as_str().unwrap().len() as u64, 2 * at);
    };
    tile(&record["fields"], &record["bytes"]);
    assert_eq!((&record["table"], &record["large"]), (&json!("nodes"), &Json::Null));
    let groups = ada["adjacency"].as_array().unwrap().iter();
    let groups: Vec<Json> =
        groups.map(|it| json!([it["direction"], it["type"], it["relationships"]])).collect();
    assert_eq!(json!(groups), json!([["out", "KNOWS", 4], ["in", "KNOWS", 1], ["in", "LIKES", 1]]));
    assert_eq!(ada["indexes"][0]["index"], "Person.name");
    // The record lies in the page that it says, where it says.
    let step = record["chain"].as_array().unwrap().last().unwrap();
    let page = client.json(&format!("/inspect/pages/{}", step["page"]));
    tile(&page["fields"], &page["bytes"]);
    let at = 2 * usize::try_from(record["offset"].as_u64().unwrap()).unwrap();
    let bytes = record["bytes"].as_str().unwrap();
    assert_eq!(&page["bytes"].as_str().unwrap()[at..at + bytes.len()], bytes);
    assert_eq!((&page["kind"], &page["table"]), (&json!("leaf"), &json!("nodes")));
    for (path, code) in [
        ("nodes/9", "not_found"),
        ("pages/4294967295", "not_found"),
        ("pages/4294967296", "bad_request"),
        ("pages/-1", "bad_request"),
        ("pages/0?x=1", "bad_request"),
    ] {
        assert_eq!(client.get(&format!("/api/v1/inspect/{path}")).code(), code, "{path}");
    }
}

#[test]
fn answers_have_a_limit() {
    let fill = |txn: &mut Transaction| {
        txn.create_node(&[], &[("text", "x".repeat(5000).into())]).unwrap();
    };
    let served = Served::new(fill, |options| options.limits.answer_bytes = 4000);
    let mut client = served.client();
    let reply = client.get("/api/v1/nodes/0");
    assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
    let summary = client.json("/nodes/0/surroundings")["node"].clone();
    assert_eq!(summary["properties"]["text"].as_str().unwrap().len(), 256);
    assert_eq!(summary["cut"], true);
}

#[test]
fn the_page_and_the_document_are_there() {
    let served = Served::people();
    let mut client = served.client();
    let page = client.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'; "));
    let tag = page.header("etag").unwrap().to_owned();
    let again = client.ask("GET /", &[("if-none-match", &tag)], "");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let document = client.json("/openapi.json");
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(client.get("/assets/none.js").code(), "not_found");
    assert_eq!(client.get("/assets/../Cargo.toml").code(), "not_found");
}

#[test]
fn a_search_looks_at_so_many_entries() {
    let begin = "x".repeat(2_000);
    let fill = |txn: &mut hopdb::Transaction| {
        txn.create_index("Text", "text", false).unwrap();
        for number in 0..10 {
            let text = format!("{begin}{number}");
            txn.create_node(&["Text"], &[("text", text.into())]).unwrap();
        }
    };
    let served = Served::new(fill, |options| options.limits.search_entries = 4);
    let mut client = served.client();
    // All keys are the same up to the cut.
    let mut path = format!("/search?q={begin}9");
    let (mut parts, mut found) = (0, Vec::new());
    loop {
        let part = client.json(&path);
        parts += 1;
        found.extend(part["results"].as_array().unwrap().clone());
        let Some(next) = part["next"].as_str() else { break };
        path = format!("/search?q={begin}9&after={next}");
    }
    assert_eq!((parts, found.len()), (3, 1));
    assert_eq!(found[0]["node"]["id"], "9");
}

#[test]
fn the_pages_of_a_hop_are_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.hop");
    let db = Database::create(&path, &hopdb::Options::default()).unwrap();
    let mut txn = db.write().unwrap();
    people(&mut txn);
    txn.commit().unwrap();
    db.close().unwrap();
    // Nothing is in memory, and the sample reads what the hop reads.
    let db = Database::open(&path, &hopdb::Options::default()).unwrap();
    let served = Served::over(folder, db, |_| {});
    let walk = |served: &Served| served.client().json("/nodes/0/walk?hops=1");
    assert!(walk(&served)["hops"][0]["pages_read"].as_u64().unwrap() > 0);
    assert_eq!(walk(&served)["hops"][0]["pages_read"], 0);
}
