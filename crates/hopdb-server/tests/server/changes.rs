//! What writing does and answers.

use serde_json::json;

use crate::served::Served;

#[test]
fn nodes_are_made_changed_and_deleted() {
    let served = Served::writable();
    let mut client = served.client();
    assert_eq!(client.json("/database")["writable"], true);
    let made = client.write(
        "POST /nodes",
        r#"{"labels":["Person","New"],"properties":{"name":"Eve","born":{"$type":"Date","_value":"1999-12-31"},"gone":null}}"#,
    );
    assert_eq!(made.status, 201);
    let eve = json!({
        "id": "4", "labels": ["Person", "New"], "degrees": [],
        "properties": {"name": "Eve", "born": {"$type": "Date", "_value": "1999-12-31"}},
    });
    assert_eq!(made.json(), eve);
    assert_eq!(client.json("/nodes/4"), eve);
    let change = r#"{"set":{"born":null,"age":25},"remove_labels":["New"],"add_labels":["Old"]}"#;
    let changed = client.write("PATCH /nodes/4", change);
    assert_eq!(changed.status, 200);
    let eve = json!({
        "id": "4", "labels": ["Person", "Old"], "degrees": [],
        "properties": {"name": "Eve", "age": 25},
    });
    assert_eq!(changed.json(), eve);
    assert_eq!(client.json("/nodes/4"), eve);
    let gone = client.write("DELETE /nodes/4", "");
    assert_eq!((gone.status, gone.body.len()), (204, 0));
    assert_eq!(client.get("/api/v1/nodes/4").code(), "not_found");
    assert_eq!(client.write("DELETE /nodes/4", "").code(), "not_found");
    let kept = client.write("DELETE /nodes/1", "");
    assert_eq!((kept.status, kept.code().as_str()), (409, "conflict"));
    assert_eq!(client.write("DELETE /nodes/1?detach=yes", "").code(), "bad_request");
    assert_eq!(client.write("DELETE /nodes/1?detach=true", "").status, 204);
    assert_eq!(client.json("/database")["relationships"], 2);
}

#[test]
fn relationships_are_made_changed_and_deleted() {
    let served = Served::writable();
    let mut client = served.client();
    let new = r#"{"start":"3","end":"0","type":"KNOWS","properties":{"since":2001}}"#;
    let made = client.write("POST /relationships", new);
    assert_eq!(made.status, 201);
    let mut known = json!({
        "id": "5", "type": "KNOWS", "start": "3", "end": "0", "properties": {"since": 2001},
    });
    assert_eq!(made.json(), known);
    let changed = client.write("PATCH /relationships/5", r#"{"set":{"since":[1.5,"x"]}}"#);
    known["properties"]["since"] = json!([1.5, "x"]);
    assert_eq!((changed.status, changed.json()), (200, known.clone()));
    assert_eq!(client.json("/relationships/5"), known);
    assert_eq!(client.write("DELETE /relationships/5", "").status, 204);
    assert_eq!(client.get("/api/v1/relationships/5").code(), "not_found");
    assert_eq!(client.json("/nodes/3")["degrees"], json!([]));
}

#[test]
fn what_cannot_be_stored_changes_nothing() {
    let served = Served::writable();
    let mut client = served.client();
    let long = format!(r#"{{"labels":["{}"]}}"#, "x".repeat(256));
    for (first, body, code) in [
        ("POST /nodes", "", "bad_request"),
        ("POST /nodes", "[]", "bad_request"),
        ("POST /nodes", "{", "bad_request"),
        ("POST /nodes", r#"{"label":[]}"#, "bad_request"),
        ("POST /nodes", r#"{"labels":"x"}"#, "bad_request"),
        ("POST /nodes", r#"{"labels":[""]}"#, "unprocessable"),
        ("POST /nodes", &long, "unprocessable"),
        ("POST /nodes", r#"{"properties":{"a":{"b":1}}}"#, "unprocessable"),
        ("POST /nodes", r#"{"properties":{"a":9223372036854775808}}"#, "unprocessable"),
        ("POST /nodes", r#"{"labels":["Person"],"properties":{"name":"Ada"}}"#, "conflict"),
        ("PATCH /nodes/1", r#"{"set":{"name":"Ada"},"add_labels":["X"]}"#, "conflict"),
        ("PATCH /nodes/1", r#"{"set":{"name":"Ben"},"add_labels":[""]}"#, "unprocessable"),
        ("PATCH /nodes/9", r#"{"set":{"name":"Ben"}}"#, "not_found"),
        ("PATCH /nodes/9", "{}", "not_found"),
        ("POST /relationships", r#"{"start":"0","end":"1"}"#, "bad_request"),
        ("POST /relationships", r#"{"start":0,"end":"1","type":"X"}"#, "bad_request"),
        ("POST /relationships", r#"{"start":"a","end":"1","type":"X"}"#, "bad_request"),
        ("POST /relationships", r#"{"start":"9","end":"1","type":"X"}"#, "not_found"),
        ("POST /relationships", r#"{"start":"0","end":"1","type":""}"#, "unprocessable"),
        ("PATCH /relationships/9", r#"{"set":{"a":1}}"#, "not_found"),
    ] {
        let reply = client.write(first, body);
        assert_eq!(reply.code(), code, "{first} {body}: {}", reply.json());
    }
    assert_eq!(client.json("/nodes/1")["properties"], json!({"name": "Bob"}));
    assert_eq!(client.json("/nodes/1")["labels"], json!(["Person"]));
    let database = client.json("/database");
    assert_eq!((&database["nodes"], &database["relationships"]), (&json!(4), &json!(5)));
}

#[test]
fn a_server_that_reads_does_not_write() {
    let served = Served::people();
    let mut client = served.client();
    for first in [
        "POST /nodes",
        "PATCH /nodes/0",
        "DELETE /nodes/0",
        "POST /relationships",
        "PATCH /relationships/0",
        "DELETE /relationships/0",
    ] {
        let reply = client.write(first, "{}");
        assert_eq!((reply.status, reply.code().as_str()), (403, "read_only"), "{first}");
    }
}

#[test]
fn bodies_are_json() {
    let served = Served::writable();
    let mut client = served.client();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let reply = client.ask("POST /api/v1/nodes", &[("content-type", kind)], "{}");
        assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported_media_type"));
    }
    let kind = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(client.ask("POST /api/v1/nodes", &kind, "{}").status, 201);
}
