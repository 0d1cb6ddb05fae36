//! `hop stat` and `hop check`, on whole files and on broken ones.

use std::fs;

use crate::program::{Folder, friends, keys};

#[test]
fn stat_counts_everything() {
    let folder = friends();
    let stat = folder.json("stat friends.hop --json");
    let expected = [
        "file_bytes",
        "format_version",
        "indexes",
        "labels",
        "nodes",
        "page_size",
        "pages",
        "pages_by_kind",
        "relationship_types",
        "relationships",
    ];
    assert_eq!(keys(&stat), expected);
    assert_eq!(stat["labels"].to_string(), r#"{"Person":200}"#);
    assert_eq!(stat["relationship_types"].to_string(), r#"{"FRIEND":1000}"#);
    assert_eq!(stat["indexes"][0]["property"], "id");
    assert_eq!(stat["indexes"][0]["unique"], true);
    let bytes = fs::metadata(folder.path("friends.hop")).unwrap().len();
    assert_eq!(stat["file_bytes"].as_u64(), Some(bytes));
    let kinds = stat["pages_by_kind"].as_object().unwrap();
    let pages: u64 = kinds.values().map(|pages| pages.as_u64().unwrap()).sum();
    assert_eq!(stat["pages"].as_u64(), Some(pages));
    assert_eq!(kinds["header"], 2);
    let text = folder.hop_ok("stat friends.hop").out;
    for line in ["  relationships   1,000", "    Person.id    unique"] {
        assert!(text.lines().any(|found| found == line), "no {line:?}: {text}");
    }
}

#[test]
fn a_whole_file_is_clean() {
    let folder = friends();
    let out = folder.hop_ok("check friends.hop").out;
    assert!(out.starts_with("friends.hop: no problems\n"), "{out}");
    let report = folder.json("check friends.hop --json");
    let expected = ["clean", "micros", "nodes", "page_reads", "pages", "problems", "relationships"];
    assert_eq!(keys(&report), expected);
    assert_eq!((&report["clean"], report["relationships"].as_u64()), (&true.into(), Some(1000)));
}

#[test]
fn acknowledged_relationships_are_looked_for() {
    let folder = friends();
    // The last line was not written to its end.
    folder.write("ids", b"0\n999\n10000");
    folder.hop_ok("check friends.hop --acknowledged ids");
    folder.write("ids", b"0\n1000\n7\n");
    let ran = folder.hop("check friends.hop --acknowledged ids");
    assert_eq!(ran.code, 1);
    let text = "relationship 1000 was acknowledged, but is not there\nfriends.hop: 1 problem\n";
    assert_eq!(ran.out, text);
    folder.write("ids", b"0\nx\n");
    folder.fails(
        "check friends.hop --acknowledged ids",
        2,
        &["ids:2: \"x\" is no id", "hint: one"],
    );
    folder.fails("check friends.hop --acknowledged none", 3, &["cannot read none: No such file"]);
}

#[test]
fn a_damaged_page_is_named() {
    let folder = friends();
    let mut bytes = fs::read(folder.path("friends.hop")).unwrap();
    let last = bytes.len() - 1000;
    bytes[last] ^= 1;
    folder.write("friends.hop", &bytes);
    let page = format!("page {}", last / 4096);
    let ran = folder.hop("check friends.hop");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(&page), "{}", ran.out);
    assert!(ran.out.contains("checksum"), "{}", ran.out);
    assert_eq!(ran.err, "");
    let ran = folder.hop("check friends.hop --json");
    assert_eq!(ran.code, 1);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["clean"], false);
    assert!(report["problems"][0].as_str().unwrap().contains(&page));
    let stat = folder.hop_ok("stat friends.hop --json");
    assert!(stat.err.contains("`hop check` names"), "{}", stat.err);
}

#[test]
fn files_that_are_no_database_are_told_apart() {
    let folder = friends();
    let bytes = fs::read(folder.path("friends.hop")).unwrap();
    folder.write("half.hop", &bytes[..bytes.len() / 2]);
    folder.write("empty.hop", b"");
    fs::create_dir(folder.path("folder")).unwrap();
    for (name, code, texts) in [
        ("none.hop", 2, ["cannot open none.hop: No such file", "hint: is the path right?"]),
        ("people.csv", 4, ["people.csv is not a HopDB database", "hint: `hop load` makes"]),
        ("empty.hop", 4, ["empty.hop is not a HopDB database", "it is empty"]),
        ("half.hop", 4, ["half.hop is truncated", "restore it from a copy"]),
        ("folder", 3, ["cannot open folder", "is a directory"]),
    ] {
        for command in ["stat", "check", "bench walk"] {
            folder.fails(&format!("{command} {name}"), code, &texts);
        }
        folder.fails(&format!("node {name} 0"), code, &texts);
        folder.fails(&format!("page {name} 0"), code, &texts);
    }
}

#[test]
fn a_file_in_use_is_told() {
    let folder = friends();
    let options = hopdb::Options::default();
    let db = hopdb::Database::open(folder.path("friends.hop"), &options).unwrap();
    let in_use = format!("friends.hop is in use by process {}", std::process::id());
    let texts = [&in_use, "hint: close the other program"];
    folder.fails("stat friends.hop", 3, &texts);
    db.close().unwrap();
    folder.hop_ok("stat friends.hop");
}

#[test]
fn an_empty_graph_can_be_looked_at() {
    let folder = Folder::new();
    let db = hopdb::Database::create(folder.path("e.hop"), &hopdb::Options::default()).unwrap();
    db.close().unwrap();
    assert_eq!(folder.json("stat e.hop --json")["nodes"], 0);
    folder.hop_ok("check e.hop");
    folder.fails("bench walk e.hop", 1, &["e.hop has no nodes"]);
    folder.fails("walk e.hop --from A.b=1 --hops 1", 1, &["e.hop has no nodes"]);
}
