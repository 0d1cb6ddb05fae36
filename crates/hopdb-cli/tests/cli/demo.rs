//! `hop generate` and `hop demo`: what newcomers run first.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::{Folder, Ran, ran};
use crate::serve::Served;

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

/// Every command that a demo says to try next works as it stands.
fn try_next(folder: &Folder, out: &str) {
    let program = env!("CARGO_BIN_EXE_hop");
    let commands = out.lines().filter_map(|line| line.trim_start().strip_prefix(program));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 7, "{out}");
    let (serve, others): (Vec<&str>, Vec<&str>) =
        commands.into_iter().partition(|args| args.starts_with(" serve "));
    others.iter().for_each(|args| drop(folder.hop_ok(args)));
    // This one ends when it is told to; its usual port may be taken here.
    let [serve] = serve[..] else { panic!("{out}") };
    let served = Served::start(folder, &format!("{serve} --listen 127.0.0.1:0"));
    served.signal("TERM");
    assert_eq!(served.ended().0.code(), Some(0));
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
    // HopDB's own crates stand in the graph of its crates, and depend on others.
    let walk = "walk new/demo/packages.hop --from Package.name=hopdb-storage --hops 1 --json";
    assert!(folder.json(walk)["hops"][0]["nodes"].as_u64().unwrap() > 3);
    assert!(!out.contains('\x1b'), "colour outside a terminal: {out}");
    assert!(out.lines().all(|line| line.trim_end() == line && line.chars().count() <= 110));

    folder.hop_ok("check new/demo/packages.hop");
    folder.hop_ok("check new/demo/friends.hop");
    try_next(&folder, &out);
    folder.fails("demo --quick --dir new/demo", 2, &["new/demo is not empty", "hint: name a new"]);
}

#[test]
fn the_demo_finds_a_folder_itself() {
    let folder = Folder::new();
    let mut command = folder.command("demo --quick");
    let ran = ran({
        command.env("TMPDIR", folder.path(""));
        command
    });
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [name] = &folder.names()[..] else { panic!("{:?}", folder.names()) };
    assert!(name.starts_with("hop-demo-"));
    assert!(ran.out.contains(name.as_str()));
}

const DEBIAN: &str = include_str!("debian.txt");

/// Runs `hop` where the only program is an `apt-cache` that prints a text and ends with a code; or where there is
/// none.
fn with_apt(folder: &Folder, args: &str, apt: Option<(&str, u8)>) -> Ran {
    let programs = folder.path("programs");
    fs::create_dir_all(&programs).unwrap();
    if let Some((text, code)) = apt {
        let script = programs.join("apt-cache");
        let print = "while IFS= read -r line; do printf '%s\\n' \"$line\"; done <\"$0.txt\"";
        fs::write(
            &script,
            format!("#!/bin/sh\n[ \"$*\" = dumpavail ] || exit 9\n{print}\nexit {code}\n"),
        )
        .unwrap();
        fs::write(programs.join("apt-cache.txt"), text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = folder.command(args);
    command.env("PATH", &programs);
    ran(command)
}

#[test]
fn debian_packages_are_loaded_and_asked_about() {
    let folder = Folder::new();
    let Ran { code, out, err } = with_apt(&folder, "demo --debian --dir shown", Some((DEBIAN, 0)));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for text in [
        "The files of this demo are in shown",
        "   24 nodes\n      12 Package, 3 VirtualPackage, 4 Maintainer, 5 Section\n",
        "   44 relationships\n      18 DEPENDS, 2 PRE_DEPENDS, 1 RECOMMENDS, 3 PROVIDES, 1 CONFLICTS,",
        "1. What must be there for desktop, and how far away is it?\n   answered in ",
        "               1            3     321 KiB  office\n",
        "          in all            7     418 KiB\n",
        "               5            6    50 %     2  base\n",
        "3. Why does desktop need postman? The shortest chain:\n",
        "     mailer   Depends: mailer\n     postman  Depends: transport-agent\n",
        "               4           2  Base Team\n",
        "   5 packages in 2 groups; the largest:\n     3  loop-a, loop-b, loop-c\n",
        "walk shown/debian.hop --from Package.name=desktop --type DEPENDS --hops 4",
    ] {
        assert!(out.contains(text), "no {text:?}: {out}");
    }
    assert!(!out.contains("friendships"), "{out}");
    // How long the commands at the end are depends on where `hop` is.
    let shown = out.lines().take_while(|line| *line != "Try next");
    shown.for_each(|line| assert!(line.trim_end() == line && line.chars().count() <= 90, "{line}"));
    try_next(&folder, &out);
}

#[test]
fn a_list_of_one_package_is_a_graph() {
    let folder = Folder::new();
    let ran = with_apt(&folder, "demo --debian --dir shown", Some(("Package: only\n", 0)));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("   1 node\n      1 Package\n"), "{}", ran.out);
}

#[test]
fn without_package_lists_the_demo_says_what_to_do() {
    let folder = Folder::new();
    for (apt, code, texts) in [
        (None, 2, ["error: there is no `apt-cache`", "needs Debian, Ubuntu", "`hop demo` without"]),
        (Some(("", 0)), 2, ["error: apt has no package lists", "`apt-get update`", "`hop demo`"]),
        (Some(("nonsense\n", 0)), 2, ["no package lists", "`apt-get update`", "without --debian"]),
        (Some(("", 100)), 3, ["error: cannot read", "apt-cache dumpavail", "exit status: 100"]),
        (Some((DEBIAN, 100)), 3, ["error: cannot read", "dumpavail", "exit status: 100"]),
    ] {
        let ran = with_apt(&folder, "demo --debian --dir x", apt);
        assert_eq!(ran.code, code, "{apt:?}: {}{}", ran.out, ran.err);
        for text in texts {
            assert!(ran.err.contains(text), "{apt:?} does not say {text:?}: {}", ran.err);
        }
        // Where nothing was read, nothing stays.
        let read = apt.is_some_and(|(text, _)| !text.is_empty());
        assert_eq!(folder.path("x").exists(), read, "{apt:?}");
        if read {
            fs::remove_dir_all(folder.path("x")).unwrap();
        }
    }
    folder.fails("demo --debian --quick", 2, &["--quick"]);
}
