//! `hop export`, and loads of what it wrote.

use std::io::Read;

use crate::program::{Folder, friends, keys};

/// A graph with names and values that are hard to write.
fn hard() -> Folder {
    let people = "id:ID,\"`a:b\\n``,c`:long\",name:string,name:long,mixed:any,at:datetime,at:datetime[],\
                  place:point,\"v:vector{coordinateType:float, dimensions:2}\",:LABEL\n\
                  1,-5,\"say \"\"hi\"\"\n, then\",,\"[1, ['it\\'s', null]]\",2024-01-01T00:00:00Z,,,1;2,`A=;:.`;B\n\
                  2,,,7,\"'a'\",,2024-01-01T00:00:00.123456789+01:00[Europe/London],\"{x:1,y:2}\",,`A=;:.`\n\
                  3,,\"\",,null,2024-07-01T12:00:00+02:00,,,,C\n";
    let knows = ":START_ID,:END_ID,:TYPE,since:date,tags:string[]\n\
                 1,2,KNOWS,2020-02-29,a;\"b;c\"\n1,2,KNOWS,,\n2,3,\"`K=\"\"N`\",,\"\"\n3,3,KNOWS,,x\n";
    let folder = Folder::with(&[("people.csv", people), ("knows.csv", knows)]);
    let args = "--nodes=people.csv\n--relationships=knows.csv\n--unique=`A=;:.`.id\n\
                --index=`A=;:.`.`a:b\\n``,c`\n# not an argument\n";
    folder.write("hard.args", args.as_bytes());
    folder.hop_ok("load hard.hop @hard.args");
    folder
}

/// What `hop stat` says of the graph.
fn graph(folder: &Folder, database: &str) -> serde_json::Value {
    let mut stat = folder.json(&format!("stat {database} --json"));
    let stat = stat.as_object_mut().unwrap();
    for pages in ["file_bytes", "pages", "pages_by_kind"] {
        stat.remove(pages);
    }
    serde_json::Value::Object(stat.clone())
}

/// Exports, loads and exports again: both graphs and all files must be equal.
fn assert_comes_back(folder: &Folder, database: &str, options: &str) {
    folder.hop_ok(&format!("export {database} out {options}"));
    folder.hop_ok("load again.hop --folder out @out/load.args");
    assert_eq!(graph(folder, "again.hop"), graph(folder, database));
    folder.hop_ok("check again.hop");
    folder.hop_ok(&format!("export {database} first"));
    folder.hop_ok("export again.hop second");
    let names = |name: &str| {
        let entries = std::fs::read_dir(folder.path(name)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("first"), names("second"));
    for name in names("first") {
        let text = |folder_name| {
            let text = std::fs::read_to_string(folder.path(folder_name).join(&name)).unwrap();
            // Ids are new, and columns may come in another order: values must be the same.
            let mut fields: Vec<String> =
                text.lines().flat_map(|line| line.split(',')).map(str::to_owned).collect();
            fields.sort();
            fields
        };
        let (first, second) = (text("first"), text("second"));
        assert_eq!(first.len(), second.len(), "{name:?}");
        let is_id = |field: &&String| field.parse::<u8>().is_ok();
        let values = |fields: &[String]| -> Vec<String> {
            fields.iter().filter(|field| !is_id(field)).cloned().collect()
        };
        assert_eq!(values(&first), values(&second), "{name:?}");
    }
}

#[test]
fn a_graph_comes_back() {
    let folder = friends();
    folder.hop_ok("export friends.hop friends");
    let read = |name: &str| std::fs::read_to_string(folder.path("friends").join(name)).unwrap();
    assert!(read("nodes-Person.csv").starts_with(":ID,id:string,name:string\n0,"));
    assert!(read("load.args").contains("--nodes=Person=nodes-Person.csv\n"));
    folder.hop_ok("load again.hop --folder friends @friends/load.args");
    assert_eq!(graph(&folder, "again.hop"), graph(&folder, "friends.hop"));
    let walk = |database| {
        folder.json(&format!("walk {database} --from Person.id=7 --hops 3 --json"))["hops"].clone()
    };
    assert_eq!(walk("again.hop"), walk("friends.hop"));
}

#[test]
fn hard_names_and_values_come_back() {
    assert_comes_back(&hard(), "hard.hop", "");
}

#[test]
fn packed_files_come_back() {
    let folder = hard();
    assert_comes_back(&folder, "hard.hop", "--gzip");
    let names = std::fs::read_dir(folder.path("out")).unwrap();
    for path in names.map(|entry| entry.unwrap().path()) {
        let bytes = std::fs::read(&path).unwrap();
        if path.ends_with("load.args") {
            continue;
        }
        assert!(path.to_string_lossy().ends_with(".csv.gz"));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert!(text.starts_with(":ID") || text.starts_with(":START_ID"), "{text}");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn parquet_files_come_back() {
    assert_comes_back(&hard(), "hard.hop", "--format parquet");
}

#[cfg(feature = "columnar")]
#[test]
fn a_parquet_export_that_fails_leaves_nothing() {
    let folder = friends();
    folder.fails("export friends.hop out --format parquet --gzip", 2, &["packed already"]);
    assert!(!folder.names().contains(&"out".to_owned()));
}

#[cfg(not(feature = "columnar"))]
#[test]
fn without_parquet_it_is_said_how_to_get_it() {
    let folder = friends();
    folder.fails("export friends.hop out --format parquet", 2, &["--features columnar"]);
    assert!(!folder.names().contains(&"out".to_owned()));
}

#[test]
fn an_empty_graph_comes_back() {
    let folder = Folder::with(&[("empty.csv", ":ID\n")]);
    folder.hop_ok("load empty.hop --nodes=A=empty.csv --unique A.x");
    assert_comes_back(&folder, "empty.hop", "");
}

#[test]
fn the_report_says_what_was_written() {
    let folder = friends();
    let json = folder.json("export friends.hop out --json");
    assert_eq!(keys(&json), ["bytes", "files", "micros", "nodes", "relationships"]);
    assert_eq!((json["nodes"].as_u64(), json["relationships"].as_u64()), (Some(200), Some(1000)));
    assert_eq!(json["files"][2], "load.args");
    let text = folder.hop_ok("export friends.hop text").out;
    assert!(text.contains("hop load NEW.hop --folder text @text/load.args"), "{text}");
}

#[test]
fn folders_that_hold_something_and_missing_files_are_refused() {
    let folder = friends();
    folder.fails("export friends.hop .", 2, &["not empty", "hint: "]);
    folder.fails("export nothing.hop out", 2, &["nothing.hop"]);
    folder.fails(
        "load a.hop @nothing.args",
        2,
        &["@nothing.args: there is no such file", "hint: "],
    );
    folder.write("file", b"x");
    folder.fails("export friends.hop file", 3, &["cannot write file"]);
    assert_eq!(folder.names(), ["file", "friends.csv", "friends.hop", "people.csv"]);
}
