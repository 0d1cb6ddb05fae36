//! `hop load`: what it takes, what it says, and that nothing is left when it fails.

use std::io::Write;

use crate::program::{Folder, keys};

const PEOPLE: &str = "id:ID(Person),name:string,age:int,:LABEL\n\
    1,\"Ada, \"\"the\"\"\nfirst\",36,Writer\n2,Bob,,\n3,Eve,7,Writer;Poet\n";
const KNOWS: &str = ":START_ID(Person),:END_ID(Person),:TYPE\n1,2,KNOWS\n2,3,\n3,3,LIKES\n";

fn people() -> Folder {
    Folder::with(&[("people.csv", PEOPLE), ("knows.csv", KNOWS)])
}

#[test]
fn a_load_says_what_it_did() {
    let folder = people();
    let ran = folder.hop_ok(
        "load p.hop --nodes=Person=people.csv --relationships=MEETS=knows.csv --unique Person.id \
         --index Writer.name",
    );
    let pages = ran.out.lines().find(|line| line.starts_with("pages read")).unwrap();
    let written = pages.strip_prefix("pages read: 0, pages written: ").unwrap();
    assert!(written.parse::<u64>().unwrap() > 4, "{pages}");
    for text in ["loaded p.hop in ", "nodes", "3", "a second", "KiB", "reading relationships"] {
        assert!(ran.out.contains(text), "no {text}: {}", ran.out);
    }
    assert_eq!(ran.err, "");
    let stat = folder.json("stat p.hop --json");
    assert_eq!(stat["labels"].to_string(), r#"{"Person":3,"Poet":1,"Writer":2}"#);
    assert_eq!(stat["relationship_types"].to_string(), r#"{"KNOWS":1,"LIKES":1,"MEETS":1}"#);
    assert_eq!(folder.names(), ["knows.csv", "p.hop", "people.csv"]);
}

#[test]
fn json_has_the_numbers() {
    let report = people().json("load p.hop --nodes=people.csv --relationships=R=knows.csv --json");
    let expected = [
        "bad_rows",
        "file_bytes",
        "micros",
        "nodes",
        "nodes_per_second",
        "pages",
        "pages_read",
        "pages_written",
        "phase_micros",
        "relationships",
        "relationships_per_second",
        "skipped_nodes",
        "skipped_relationships",
        "spilled_bytes",
        "types",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!((report["nodes"].as_u64(), report["pages_read"].as_u64()), (Some(3), Some(0)));
    let phases = ["building", "looking", "nodes", "relationships", "syncing"];
    assert_eq!(keys(&report["phase_micros"]), phases);
}

#[test]
fn dialects_groups_and_packed_files() {
    let folder = Folder::with(&[
        ("header.csv", "id:ID|tags:string[]|note\n"),
        ("one.csv", "1|a!b|'x|y'\n"),
        ("r.csv", ":START_ID|:END_ID\n1|2\n"),
    ]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"2|c|z\n").unwrap();
    folder.write("two.csv.gz", &packed.finish().unwrap());
    folder.hop_ok(
        "load d.hop --delimiter | --array-delimiter ! --quote ' \
         --nodes=A:B=header.csv,one.csv,two.csv.gz --relationships=R=r.csv",
    );
    let walk = folder.hop_ok("walk d.hop --from B.note=x|y --hops 1").out;
    assert!(walk.contains("(:A:B {id: '1', tags: ['a', 'b'], note: 'x|y'})"), "{walk}");
}

#[test]
fn file_names_may_hold_the_signs_of_the_option() {
    let nodes = "id:ID\n1\n";
    let folder = Folder::with(&[("A=x.csv", nodes), ("b,c:d.csv", nodes)]);
    for (number, (nodes, labels)) in [
        ("A=x.csv", "{}"),
        ("=A=x.csv", "{}"),
        ("L=A=x.csv", r#"{"L":1}"#),
        ("b,c:d.csv", "{}"),
        ("L:M=b,c:d.csv", r#"{"L":1,"M":1}"#),
    ]
    .into_iter()
    .enumerate()
    {
        folder.hop_ok(&format!("load {number}.hop --nodes={nodes}"));
        let stat = folder.json(&format!("stat {number}.hop --json"));
        assert_eq!(stat["labels"].to_string(), labels, "{nodes}");
    }
}

#[test]
fn what_cannot_be_loaded_leaves_nothing() {
    let folder = people();
    folder.write("bad.csv", b"id:ID,age:int\n1,2\n\n2,x\n");
    folder.write("short.csv", b"id:ID,age:int\n1\n");
    folder.write("twice.csv", b"id:ID,name\n1,a\n2,a\n");
    folder.write("lost.csv", b":START_ID(Person),:END_ID(Person)\n1,2\n2,9\n");
    let before = folder.names();
    for (args, texts) in [
        ("--nodes=bad.csv", &["bad.csv:4: column 2 (age:int): \"x\"", "hint: nothing was"][..]),
        ("--nodes=short.csv", &["short.csv:2: expected 2 columns, found 1"]),
        ("--nodes=none.csv", &["none.csv: there is no such file"]),
        ("--nodes=people.csv --relationships=R=lost.csv", &["lost.csv:3: column 2", "\"9\""]),
        ("--nodes=people.csv --relationships=knows.csv", &["knows.csv:3", ":TYPE"]),
        ("--nodes=L=twice.csv --unique L.name", &["twice.csv:3", "name = 'a'", "twice.csv:2"]),
        ("--nodes=L=people.csv --index M.name", &["\"M\"", "hint: an index is written"]),
        ("--nodes=L=people.csv --index L", &["write Label.property, as in Person.id"]),
        ("--nodes=L=", &["a file has no name", "hint: write it as in --nodes=Label=file.csv"]),
        ("--nodes=people.csv --delimiter ab", &["\"ab\" is not one ASCII character"]),
        ("--nodes=people.csv --delimiter ;  --array-delimiter ;", &["must differ"]),
        ("", &["--nodes"]),
    ] {
        folder.fails(&format!("load n.hop {args}"), 2, texts);
        assert_eq!(folder.names(), before, "{args}");
    }
}

#[test]
fn a_name_that_is_taken_is_kept() {
    let folder = people();
    folder.write("p.hop", b"mine");
    let texts = ["p.hop exists already", "hint: a load makes a new database"];
    folder.fails("load p.hop --nodes=people.csv", 2, &texts);
    assert_eq!(std::fs::read(folder.path("p.hop")).unwrap(), b"mine");
    let texts = ["there is no folder x", "hint: make it first: mkdir -p x"];
    folder.fails("load x/p.hop --nodes=people.csv", 2, &texts);
}

#[test]
fn options_come_from_files_and_types_may_have_options() {
    let folder = people();
    folder.write("o.args", b"# people\n--nodes=Person=people.csv\n\n--unique=Person.id\r\n");
    folder.hop_ok("load p.hop @o.args");
    let stat = folder.json("stat p.hop --json");
    assert_eq!(stat["indexes"][0]["property"], "id");
    folder.fails(
        "load q.hop @none.args",
        2,
        &["@none.args: there is no such file", "hint: @FILE stands"],
    );
    let texts = ["there is an index on Person.id already", "hint: it takes in what is added"];
    folder.write("more.csv", b"id:ID(Person)\n9\n");
    folder.fails("load p.hop --add --nodes=Person=more.csv --unique Person.id", 2, &texts);

    folder.write("plain.csv", b"id,at,where\n1,2024-02-29T12:30:00,x: 1\n");
    folder.write("types.args", b"--types=at:datetime{timezone:+01:00},where:string\n");
    folder.hop_ok("load t.hop --nodes=P=plain.csv --id-column id @types.args");
    let walk = folder.hop_ok("walk t.hop --from P.id=1 --hops 1").out;
    assert!(walk.contains("datetime('2024-02-29T12:30:00+01:00')"), "{walk}");
}

#[test]
fn ids_that_json_writes_as_numbers_stay_numbers() {
    let folder = Folder::with(&[
        ("n.jsonl", "{\"id:ID\": 7, \"name\": \"a\"}\n{\"id:ID\": 8}\n"),
        ("r.csv", ":START_ID,:END_ID\n7,8\n"),
    ]);
    folder.hop_ok("load j.hop --nodes=N=n.jsonl --relationships=R=r.csv --unique N.id");
    let walk = folder.hop_ok("walk j.hop --from N.id=7 --hops 1").out;
    assert!(walk.contains("(:N {id: 7, name: 'a'})"), "{walk}");
}
