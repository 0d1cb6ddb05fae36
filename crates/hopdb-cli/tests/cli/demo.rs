//! `hop generate` and `hop demo`: what newcomers run first.

use std::fs;

use crate::program::Folder;

#[test]
fn generated_files_are_the_same_for_a_seed_and_kept() {
    let folder = Folder::new();
    let args = "generate friends --people 30 --friends 4 --seed 9";
    let report = folder.json(&format!("{args} a/b --json"));
    assert_eq!((report["nodes"].as_u64(), report["relationships"].as_u64()), (Some(30), Some(120)));
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let people = read("a/b/people.csv");
    assert_eq!(people.lines().next(), Some("id:ID(Person),name:string"));
    let friends = read("a/b/friends.csv");
    assert_eq!(friends.lines().count(), 121);
    folder.fails(&format!("{args} a/b"), 2, &["a/b/people.csv exists already", "--force"]);
    folder.write("a/b/friends.csv", b"old");
    folder.hop_ok(&format!("{args} a/b --force"));
    assert_eq!(read("a/b/friends.csv"), friends);
    folder.hop_ok("generate friends --people 30 --friends 4 --seed 10 other");
    assert_ne!(read("other/friends.csv"), friends);
    folder.fails("generate friends --people 4 --friends 4 x", 2, &["4 people cannot have 4"]);
    assert_eq!(folder.names(), ["a", "other"]);
}

#[test]
fn the_demo_shows_both_graphs() {
    let folder = Folder::new();
    let out = folder.hop_ok("demo --quick --dir new/demo").out;
    for text in [
        "The files of this demo are in new/demo",
        "What pulls in ",
        "Which crates do the most others depend on?",
        "10,000 people, 100,000 friendships",
        "pages read: 0, pages written: ",
        "    1             10          10          10",
        "page reads",
        "Try next",
        "walk new/demo/friends.hop --from Person.id=42 --hops 4",
    ] {
        assert!(out.contains(text), "no {text:?}: {out}");
    }
    // HopDB's own crates stand in the graph of its crates.
    assert!(out.contains("hopdb-storage"), "{out}");
    assert!(!out.contains('\x1b'), "colour outside a terminal: {out}");
    assert!(out.lines().all(|line| line.trim_end() == line && line.chars().count() <= 110));

    folder.hop_ok("check new/demo/packages.hop");
    folder.hop_ok("check new/demo/friends.hop");
    // Every command that it says to try next works as it stands.
    let program = env!("CARGO_BIN_EXE_hop");
    let commands = out.lines().filter_map(|line| line.trim_start().strip_prefix(program));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 6, "{out}");
    commands.iter().for_each(|args| drop(folder.hop_ok(args)));
    folder.fails("demo --quick --dir new/demo", 2, &["new/demo is not empty", "hint: name a new"]);
}

#[test]
fn the_demo_finds_a_folder_itself() {
    let folder = Folder::new();
    let mut command = folder.command("demo --quick");
    let ran = crate::program::ran({
        command.env("TMPDIR", folder.path(""));
        command
    });
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [name] = &folder.names()[..] else { panic!("{:?}", folder.names()) };
    assert!(name.starts_with("hop-demo-"));
    assert!(ran.out.contains(name.as_str()));
}
