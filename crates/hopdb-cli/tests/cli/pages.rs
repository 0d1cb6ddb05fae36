//! `hop node` and `hop page`: what lies where, as text and as JSON, whole and damaged.

use std::fs;

use serde_json::Value;

use crate::docs::lines_fit;
use crate::program::{Folder, friends, keys};

/// Fails unless the fields tile the bytes beside them.
fn assert_tiles(shown: &Value) {
    let bytes = shown["bytes"].as_str().unwrap().len() / 2;
    let end = shown["fields"].as_array().unwrap().iter().fold(0, |at, field| {
        assert_eq!(keys(field), ["depth", "len", "name", "start", "value"]);
        assert_eq!(field["start"], at, "{field}");
        at + field["len"].as_u64().unwrap()
    });
    assert_eq!(end, bytes as u64);
}

fn assert_cell(cell: &Value, table: &str) {
    assert_eq!(keys(cell), ["bytes", "chain", "fields", "large", "offset", "table"]);
    assert_eq!(cell["table"], table);
    assert_tiles(cell);
    let chain = cell["chain"].as_array().unwrap();
    let expected = ["free_bytes", "key", "kind", "level", "page", "slot", "slots"];
    chain.iter().for_each(|step| assert_eq!(keys(step), expected));
    assert_eq!(chain.last().unwrap()["kind"], "leaf");
    assert_eq!(chain.last().unwrap()["level"], 0);
}

fn assert_in_columns(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert_eq!(line.trim_end(), line);
    }
}

#[test]
fn a_node_is_shown_with_its_relationships() {
    let folder = friends();
    let text = folder.hop_ok("node friends.hop Person.id=42").out;
    assert_in_columns(&text);
    assert!(text.starts_with("node 42 :Person\n\n  id    '42'\n  name  'person42'\n\n"), "{text}");
    assert!(text.contains("\n5 relationships out :FRIEND\n  → node "), "{text}");
    assert_eq!(text, folder.hop_ok("node friends.hop 42").out);
    let json = folder.json("node friends.hop 42 --json");
    assert_eq!(keys(&json), ["id", "labels", "properties", "relationships"]);
    assert_eq!((&json["id"], &json["labels"][0]), (&"42".into(), &"Person".into()));
    assert_eq!(json["properties"]["name"], "'person42'");
    let groups = json["relationships"].as_array().unwrap();
    assert_eq!(keys(&groups[0]), ["count", "direction", "first", "type"]);
    let degree = |group: &Value| group["count"].as_u64().unwrap();
    assert_eq!((degree(&groups[0]), &groups[0]["direction"]), (5, &"out".into()));
    for side in ["out", "in"] {
        let walk =
            format!("walk friends.hop --from Person.id=42 --hops 1 --direction {side} --json");
        let found = folder.json(&walk)["hops"][0]["relationships"].as_u64();
        let group = groups.iter().find(|group| group["direction"] == side);
        assert_eq!(found, Some(group.map_or(0, degree)));
    }
    let friend = groups[0]["first"][0]["neighbour"].as_str().unwrap();
    assert!(text.contains(&format!("{{id: '{friend}', name: 'person{friend}'}}")), "{text}");
}

#[test]
fn the_bytes_of_a_node_are_shown() {
    let folder = friends();
    let text = folder.hop_ok("node friends.hop Person.id=42 --bytes").out;
    assert_in_columns(&text);
    for line in [
        "record: table nodes",
        "5 relationships out :FRIEND, 1 block: table adjacency",
        "unique index Person.id: table index.0",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line}: {text}");
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    for part in [
        " 6a node 42",
        " 34 32 id '42'",
        " 70 65 72 73 6f 6e 34 32 name 'person42'",
        " 1e 34 32 00 value \"42\"",
        "page 5 root, branch at level 1 slot 0 of 2 the least keys",
    ] {
        assert!(lines.iter().any(|line| line.ends_with(part)), "no {part:?}: {text}");
    }
    let json = folder.json("node friends.hop 42 --bytes --json");
    assert_cell(&json["record"], "nodes");
    for group in json["adjacency"].as_array().unwrap() {
        assert_eq!(keys(group), ["blocks", "direction", "first", "relationships", "type"]);
        assert_cell(&group["first"], "adjacency");
    }
    let entry = &json["indexes"][0];
    assert_eq!((&entry["index"], &entry["unique"]), (&"Person.id".into(), &true.into()));
    assert_cell(&entry["cell"], "index.0");
}

#[test]
fn large_values_and_lonely_nodes_are_shown() {
    let rows = format!("id:ID,text\n1,{}\n2,\n", "lorem ipsum ".repeat(4000));
    let folder = Folder::with(&[("docs.csv", &rows)]);
    folder.hop_ok("load docs.hop --nodes=Doc=docs.csv");
    let text = folder.hop_ok("node docs.hop 0 --bytes").out;
    assert_in_columns(&text);
    assert!(text.contains("\n  (the first 16,384 bytes of them below)\n"), "{text}");
    let json = folder.json("node docs.hop 0 --bytes --json");
    let large = &json["record"]["large"];
    assert_eq!(keys(large), ["bytes", "cut", "extents", "fields", "length"]);
    assert_eq!((&large["cut"], large["extents"][0]["pages"].as_u64()), (&true.into(), Some(12)));
    assert_tiles(large);
    let page = large["extents"][0]["first_page"].as_u64().unwrap();
    let text = folder.hop_ok(&format!("page docs.hop {page}")).out;
    assert!(text.starts_with(&format!("page {page}: part of a large value\n")), "{text}");
    let text = folder.hop_ok("node docs.hop 1").out;
    assert_eq!(text, "node 1 :Doc\n\n  id  '2'\n\nno relationships\n");
}

#[test]
fn every_page_is_shown() {
    let folder = friends();
    let stat = folder.json("stat friends.hop --json");
    let pages = stat["pages"].as_u64().unwrap();
    let mut kinds = std::collections::BTreeMap::<String, u64>::new();
    for page in 0..pages {
        let shown = folder.json(&format!("page friends.hop {page} --json"));
        assert_eq!(keys(&shown), ["bytes", "fields", "kind", "level", "page", "slots", "table"]);
        assert_eq!(shown["page"], page);
        assert_eq!(shown["bytes"].as_str().unwrap().len(), 2 * 4096);
        assert_tiles(&shown);
        for slot in shown["slots"].as_array().unwrap() {
            assert_eq!(keys(slot), ["child", "key", "len", "offset", "slot", "value"]);
        }
        *kinds.entry(shown["kind"].as_str().unwrap().into()).or_default() += 1;
        assert_in_columns(&folder.hop_ok(&format!("page friends.hop {page}")).out);
    }
    for (kind, count) in kinds {
        assert_eq!(stat["pages_by_kind"][&kind], count, "{kind}");
    }
}

#[test]
fn a_page_of_a_tree_has_its_slots_in_lines() {
    let folder = friends();
    let text = folder.hop_ok("page friends.hop 5").out;
    assert!(text.starts_with("page 5: branch at level 1 of table nodes\n"), "{text}");
    assert!(text.contains("\n  slot  cell at  bytes  keys from         child\n"), "{text}");
    assert!(text.contains("     0     4094      2  (all keys below)  page "), "{text}");
    let text = folder.hop_ok("page friends.hop 2").out;
    assert!(text.starts_with("page 2: leaf of table directory\n"), "{text}");
    assert!(
        text.lines().any(|line| line.ends_with("nodes                    root page 5")),
        "{text}"
    );
}

#[test]
fn a_damaged_page_is_shown_as_one() {
    let folder = friends();
    let leaf = folder.json("node friends.hop 42 --bytes --json")["record"]["chain"][1]["page"]
        .as_u64()
        .unwrap();
    let mut bytes = fs::read(folder.path("friends.hop")).unwrap();
    bytes[usize::try_from(leaf).unwrap() * 4096 + 4000] ^= 1;
    folder.write("friends.hop", &bytes);
    let text = folder.hop_ok(&format!("page friends.hop {leaf}")).out;
    assert_in_columns(&text);
    assert!(text.contains("does not match the bytes"), "{text}");
    let damaged = format!("page {leaf} of friends.hop is damaged");
    folder.fails("node friends.hop 42", 4, &[&damaged, "hint: restore"]);
}

#[test]
fn what_is_not_there_is_told() {
    let folder = friends();
    let stat = folder.json("stat friends.hop --json");
    let last = stat["pages"].as_u64().unwrap() - 1;
    let beyond = format!("0 to {last}");
    folder.fails("page friends.hop 9999", 1, &["friends.hop has no page 9999", &beyond]);
    folder.fails("page friends.hop x", 2, &["invalid value 'x'"]);
    folder.fails(
        "node friends.hop 200",
        1,
        &["there is no node 200", "hint: the database has 200"],
    );
    folder.fails("node friends.hop Person.id=200", 1, &["no node :Person has id = 200"]);
    folder.fails("node friends.hop x", 2, &["write an id, as 42, or Label.property=value"]);
    folder.fails("node friends.hop Persn.id=1", 2, &["did you mean \"Person\"?"]);
}

#[test]
fn the_reference_shows_what_is_printed() {
    let folder = friends();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let text = fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = text.split("```console\n$ hop ").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let shown = shown.split("```").next().unwrap();
        let printed = folder.hop_ok(command).out;
        let [shown, printed] = [shown, &printed].map(|text| text.lines().collect::<Vec<_>>());
        assert!(lines_fit(&shown, &printed), "{command}: {}", printed.join("\n"));
    }
}
