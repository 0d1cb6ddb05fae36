//! Rows that cannot be loaded: which stops a load, what is kept of them, and how they are loaded once mended.

use crate::program::Folder;

/// Seven bad rows of five kinds in four files.
fn awkward() -> Folder {
    Folder::with(&[
        ("a.csv", "id:ID,age:int,note\n1,5,ok\n2,old,\"two\nlines, \"\"quoted\"\"\"\n1,6,again\n"),
        ("b.csv", "id:ID,age:int,note\n\n3,7\n4,8,x,y\n5,9,fine\n"),
        ("r.csv", ":START_ID,:END_ID,:TYPE\n1,5,R\n1,2,R\n5,1,\n1,\"\nx\",R\n"),
    ])
}

const FILES: &str = "--nodes=P=a.csv,b.csv --relationships=r.csv --unique P.id";

const REJECTS: &str = "file,line,column,reason,row
a.csv,3,age:int,\"\"\"old\"\" is not an int: character 1 is 'o'\",\"2,old,\"\"two
lines, \"\"\"\"quoted\"\"\"\"\"\"\"
a.csv,5,id:ID,\"the id \"\"1\"\" is taken: an earlier row has it\",\"1,6,again\"
b.csv,3,,\"expected 3 columns, found 2\",\"3,7\"
b.csv,4,,\"expected 3 columns, found 4; --ignore-extra-columns leaves the further ones out\",\"4,8,x,y\"
r.csv,3,:END_ID,\"no node file has the id \"\"2\"\"\",\"1,2,R\"
r.csv,4,:TYPE,the relationship has no type,\"5,1,\"
r.csv,5,:END_ID,\"no node file has the id \"\"\\nx\"\"\",\"1,\"\"
x\"\",R\"
";

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn as_many_as_are_tolerated_are_left_out_and_one_more_stops_the_load() {
    let folder = awkward();
    let before = folder.names();
    let says = "r.csv:5: column 2 (:END_ID): no node file has the id \"\\nx\"; it is one bad row more \
                than the 6 of --bad-tolerance\n";
    folder.fails(&format!("load x.hop {FILES} --bad-tolerance 6"), 2, &[says]);
    assert_eq!(folder.names(), before);
    let report =
        folder.json(&format!("load x.hop {FILES} --bad-tolerance 7 --rejects bad.csv --json"));
    for (key, count) in [
        ("nodes", 2),
        ("relationships", 1),
        ("bad_rows", 7),
        ("skipped_nodes", 0),
        ("skipped_relationships", 0),
    ] {
        assert_eq!(report[key], count, "{key}");
    }
    assert_eq!(read(&folder, "bad.csv"), REJECTS);
    folder.hop_ok("check x.hop");
    let args =
        "--bad-tolerance 3 --skip-duplicate-nodes --skip-bad-relationships --rejects more.csv";
    let out = folder.hop_ok(&format!("load y.hop {FILES} {args}")).out;
    let left = "left out: 3 bad rows, 1 node whose id was taken, 3 relationships without a type or an \
                end; they are in more.csv\n";
    assert!(out.ends_with(left), "{out}");
    assert_eq!(read(&folder, "more.csv"), REJECTS);
    folder.hop_ok("check y.hop");
}

#[test]
fn mended_rows_are_loaded_again_however_often() {
    let folder = awkward();
    folder.hop_ok(&format!("load x.hop {FILES} --bad-tolerance 7 --rejects bad.csv"));
    let mended = REJECTS
        .replace("\"2,old,", "\"2,50,")
        .replace("\"1,6,again\"", "")
        .replace("\"3,7\"", "\"3,7,\"")
        .replace("\"5,1,\"", "\"5,1,S\"");
    folder.write("bad.csv", mended.as_bytes());
    let add = "load x.hop --add --nodes=P=a.csv,b.csv --relationships=r.csv";
    let says = "bad.csv:6: expected 3 columns, found 4; --ignore-extra-columns leaves the further ones out\n";
    folder.fails(&format!("{add} --again bad.csv"), 2, &[says]);
    let report =
        folder.json(&format!("{add} --again bad.csv --bad-tolerance 2 --rejects worse.csv --json"));
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!([count("nodes"), count("relationships"), count("bad_rows")], [2, 2, 2]);
    // Where they came from at first is kept.
    let lines: Vec<_> = REJECTS.split_inclusive('\n').collect();
    let left = [lines[0], lines[5], lines[8], lines[9]].concat();
    let left = left.replace("\"\\nx\"\"\"", "\"\\nx\"\", and the index has no such node\"");
    assert_eq!(read(&folder, "worse.csv"), left);
    folder.write(
        "worse.csv",
        left.replace("x,y", "x").replace("1,\"\"\nx\"\",R", "1,4,R").as_bytes(),
    );
    let report = folder.json(&format!("{add} --again worse.csv --json"));
    assert_eq!((report["nodes"].as_u64(), report["relationships"].as_u64()), (Some(1), Some(1)));
    folder.hop_ok("check x.hop");
    let stat = folder.json("stat x.hop --json");
    assert_eq!(stat["labels"].to_string(), r#"{"P":5}"#);
    assert_eq!(stat["relationship_types"].to_string(), r#"{"R":3,"S":1}"#);
}

#[test]
fn what_is_not_to_be_loaded_again_is_said() {
    let folder = awkward();
    folder.write("n.jsonl", b"{\"a\":1}\n{\"a\":}\n");
    folder.hop_ok("load j.hop --nodes=n.jsonl --bad-tolerance 1 --rejects j.csv");
    folder.write("other.csv", b"file,line,column,reason,row\nc.csv,7,,,1\n");
    folder.write("short.csv", b"file,line,column,reason,row\nc.csv,7\n");
    // The same id twice: where it is first cannot be told by the files that the rows came from.
    folder.write(
        "twice.csv",
        b"file,line,column,reason,row\na.csv,2,,,\"7,1,\"\na.csv,3,,,\"7,2,\"\n",
    );
    for (args, says) in [
        (
            "--nodes=n.jsonl --again j.csv",
            "j.csv:2: the row came from n.jsonl, which is no CSV; put the mended rows into a file like it",
        ),
        (
            "--nodes=a.csv --again other.csv",
            "other.csv:2: the row came from c.csv, which no --nodes or --relationships names; repeat them as in the load that rejected it",
        ),
        (
            "--nodes=a.csv --again short.csv",
            "short.csv:2: it is no rejected row: expected 5 columns",
        ),
        (
            "--nodes=a.csv --again a.csv",
            "a.csv:1: it is no file of rejected rows: its columns are not file,line,column,reason,row",
        ),
        ("--nodes=a.csv --again no.csv", "no.csv: there is no such file; is the path right?"),
        (
            "--nodes=a.csv --again twice.csv",
            "twice.csv:3: column 1 (id:ID): the id \"7\" is taken: an earlier row has it",
        ),
    ] {
        folder.fails(&format!("load x.hop {args}"), 2, &[&format!("error: {says}\n")]);
    }
}

#[test]
fn the_first_bad_row_of_the_files_stops_a_load_whatever_thread_meets_one() {
    let mut early: String = (0..30_000).map(|id| format!("\"{id}\n\",\"a\n\nb\"\n")).collect();
    early += "x,y,z\n";
    let late = "1,2,3\n".repeat(200_000);
    let folder = Folder::new();
    folder.write("a.csv", b"id:ID,k\n\"\n\",\n");
    folder.write("b.csv", early.as_bytes());
    folder.write("c.csv", late.as_bytes());
    let says = "b.csv:120001: expected 2 columns, found 3; --ignore-extra-columns leaves the further ones out\n";
    for _ in 0..8 {
        folder.fails("load x.hop --nodes=a.csv,b.csv,c.csv", 2, &[says]);
    }
    let says = "c.csv:41: expected 2 columns, found 3; --ignore-extra-columns leaves the further ones out; \
                it is one bad row more than the 41 of --bad-tolerance\n";
    folder.fails("load x.hop --nodes=a.csv,b.csv,c.csv --bad-tolerance 41", 2, &[says]);
    assert_eq!(folder.names(), ["a.csv", "b.csv", "c.csv"]);
}

#[test]
fn a_quote_that_is_never_closed_stops_a_load_wherever_it_opens() {
    let long = "x".repeat(6_000);
    let folder = Folder::new();
    folder.write("a.csv", format!(":ID,k,l\n1,2,3\n2,{long},\"open\n3,4,5\n").as_bytes());
    let says = "a.csv:3: a quote opened in this row is never closed\n";
    folder.fails("load x.hop --nodes=a.csv --bad-tolerance 9", 2, &[says]);
}
