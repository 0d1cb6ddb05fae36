//! Real data sets, where `HOPDB_SHARED` names their folder: exact counts, clean checks, and walks that equal a count
//! made here from the text of the CSV files, without any of HopDB's code.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::program::Folder;

/// The folder with the data sets, or a line that says why there is none.
fn shared() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("HOPDB_SHARED") else {
        // Past the test harness, which keeps what is printed by tests that pass.
        let skipped = b"skipped: HOPDB_SHARED does not name a folder with data sets\n";
        std::io::stderr().write_all(skipped).unwrap();
        return None;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join(folder).join("data");
    assert!(folder.is_dir(), "HOPDB_SHARED has no folder data: {}", folder.display());
    Some(folder)
}

/// A graph as the files have it: nodes by id space and id.
#[derive(Default)]
struct Counted {
    numbers: HashMap<(String, String), usize>,
    /// Type and other end of each relationship that starts at a node, by the node's number.
    out: Vec<Vec<(String, usize)>>,
    /// The same of those that end at it.
    into: Vec<Vec<(String, usize)>>,
}

impl Counted {
    fn number(&mut self, space: &str, id: &str) -> usize {
        let next = self.out.len();
        let number = *self.numbers.entry((space.into(), id.into())).or_insert(next);
        if number == next {
            self.out.push(Vec::new());
            self.into.push(Vec::new());
        }
        number
    }

    /// Takes in a file whose first two columns are the ends.
    fn read(&mut self, path: &Path, relationship_type: &str, delimiter: char) {
        let mut text = String::new();
        let file = fs::File::open(path).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        let mut lines = text.lines();
        let space = |field: &str| field.split(['(', ')']).nth(1).unwrap().to_string();
        let spaces: Vec<String> =
            lines.next().unwrap().split(delimiter).take(2).map(space).collect();
        for line in lines {
            let mut fields = line.split(delimiter);
            let start = self.number(&spaces[0], fields.next().unwrap());
            let end = self.number(&spaces[1], fields.next().unwrap());
            self.out[start].push((relationship_type.into(), end));
            self.into[end].push((relationship_type.into(), start));
        }
    }

    /// (relationships, nodes) by hop.
    fn walk(&self, start: (&str, &str), wanted: Option<&str>, direction: &str) -> Vec<[u64; 2]> {
        let mut frontier = vec![self.numbers[&(start.0.to_string(), start.1.to_string())]];
        let mut hops = Vec::new();
        for _ in 0..3 {
            let mut ends = Vec::new();
            for node in frontier {
                let of_type =
                    |(name, _): &&(String, usize)| wanted.is_none_or(|wanted| wanted == name);
                let out = self.out[node].iter().filter(of_type).map(|(_, end)| *end);
                let into = self.into[node].iter().filter(of_type).map(|(_, end)| *end);
                match direction {
                    "out" => ends.extend(out),
                    "in" => ends.extend(into),
                    // A relationship of a node with itself is seen once.
                    _ => ends.extend(out.chain(into.filter(|end| *end != node))),
                }
            }
            let relationships = ends.len() as u64;
            ends.sort_unstable();
            ends.dedup();
            hops.push([relationships, ends.len() as u64]);
            frontier = ends;
        }
        hops
    }
}

/// What a walk is: start's label and id, type, direction.
type Walk<'w> = ((&'w str, &'w str), Option<&'w str>, &'w str);

fn compare(folder: &Folder, database: &str, counted: &Counted, walks: &[Walk<'_>]) {
    for ((label, id), wanted, direction) in walks {
        let typed = wanted.map_or(String::new(), |name| format!("--type {name}"));
        let args = format!(
            "walk {database} --from {label}.id={id} {typed} --direction {direction} --hops 3 --json"
        );
        let walk = folder.json(&args);
        let hops = walk["hops"].as_array().unwrap().iter();
        let hops: Vec<[u64; 2]> = hops
            .map(|hop| ["relationships", "nodes"].map(|key| hop[key].as_u64().unwrap()))
            .collect();
        assert_eq!(hops, counted.walk((label, id), *wanted, direction), "{args}");
    }
}

fn assert_counts(folder: &Folder, database: &str, nodes: u64, relationships: u64) {
    let stat = folder.json(&format!("stat {database} --json"));
    assert_eq!(stat["nodes"].as_u64(), Some(nodes));
    assert_eq!(stat["relationships"].as_u64(), Some(relationships));
    let report = folder.json(&format!("check {database} --json"));
    assert_eq!(report["problems"].to_string(), "[]");
    assert_eq!(report["nodes"].as_u64(), Some(nodes));
    assert_eq!(report["relationships"].as_u64(), Some(relationships));
}

#[test]
fn ego_twitter_is_counted_alike() {
    let Some(data) = shared() else { return };
    let folder = Folder::new();
    let data = data.join("ego-twitter");
    let files = data.display();
    folder.hop_ok(&format!(
        "load t.hop --nodes=User={files}/users.csv.gz \
         --relationships=FOLLOWS={files}/follows.csv.gz --unique User.id"
    ));
    assert_counts(&folder, "t.hop", 81_306, 1_342_310);
    let mut counted = Counted::default();
    counted.read(&data.join("follows.csv.gz"), "FOLLOWS", ',');
    let start = |id| ("User", id);
    let walks = [
        (start("1"), None, "out"),
        (start("12"), Some("FOLLOWS"), "both"),
        (start("4000"), None, "in"),
        (start("31000"), None, "both"),
    ];
    compare(&folder, "t.hop", &counted, &walks);
}

/// `hasCreator` as `HAS_CREATOR`.
fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            upper.push('_');
        }
        upper.extend(letter.to_uppercase());
    }
    upper
}

#[test]
fn the_social_network_is_counted_alike() {
    let Some(data) = shared() else { return };
    let folder = Folder::new();
    let data = data.join("snb-sf0.1");
    let mut args = String::from("load s.hop --delimiter | --unique Person.id --index Forum.id");
    let mut counted = Counted::default();
    let entries = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort_unstable();
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let Some(stem) = name.strip_suffix(".csv.gz") else { continue };
        let path = file.display();
        match stem.split('_').collect::<Vec<_>>()[..] {
            // These carry their labels in a column.
            ["Organisation" | "Place"] => args += &format!(" --nodes={path}"),
            [label] => args += &format!(" --nodes={label}={path}"),
            [_, name, _] => {
                let name = upper_snake(name);
                args += &format!(" --relationships={name}={path}");
                counted.read(file, &name, '|');
            }
            _ => panic!("{stem} is neither nodes nor relationships"),
        }
    }
    folder.hop_ok(&args);
    assert_counts(&folder, "s.hop", 327_588, 1_354_697);
    let person = |id| ("Person", id);
    let walks = [
        (person("933"), None, "out"),
        (person("933"), Some("KNOWS"), "both"),
        (person("1129"), Some("LIKES"), "out"),
        (person("2199023256077"), None, "in"),
        (("Forum", "893353197569"), None, "both"),
    ];
    compare(&folder, "s.hop", &counted, &walks);
}
