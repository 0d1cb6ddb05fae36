//! `hop bench`: shapes, and numbers that do not depend on the machine.

use crate::program::{friends, keys};

#[test]
fn warm_walks_read_no_page() {
    let folder = friends();
    let measured = folder.json("bench walk friends.hop --walks 50 --hops 2 --label Person --json");
    let expected = [
        "cache_frames",
        "hops",
        "mean_us",
        "median_us",
        "min_us",
        "p99_us",
        "page_reads_per_walk",
        "relationships_per_walk",
        "walks",
    ];
    assert_eq!(keys(&measured), expected);
    let number = |key: &str| measured[key].as_f64().unwrap();
    assert_eq!(number("walks"), 50.0);
    // Five friends, and five of each: every walk follows all.
    assert_eq!(number("relationships_per_walk"), 30.0);
    assert_eq!(number("page_reads_per_walk"), 0.0);
    assert!(number("min_us") > 0.0 && number("min_us") <= number("median_us"));
    assert!(number("median_us") <= number("p99_us"));
}

#[test]
fn a_cache_of_four_pages_is_enough() {
    let folder = friends();
    let args = "bench walk friends.hop --walks 20 --hops 3 --cache-bytes 1 --type FRIEND --json";
    let measured = folder.json(args);
    assert_eq!(measured["cache_frames"], 4);
    assert_eq!(measured["relationships_per_walk"], 155.0);
    let text = folder.hop_ok("bench walk friends.hop --walks 1 --hops 1").out;
    assert!(text.starts_with("1 walk of 1 hop\n"), "{text}");
    folder.fails("bench walk friends.hop --label Human", 2, &["no label \"Human\""]);
    folder.fails("bench walk friends.hop --walks 0", 2, &["--walks"]);
}

#[test]
fn commits_are_counted_and_kept() {
    let folder = friends();
    let args = "bench commit friends.hop --count 20 --by Person.id --threads 3 --json";
    let measured = folder.json(args);
    assert_eq!(keys(&measured), ["commits", "commits_per_second", "p50_us", "p99_us", "threads"]);
    assert_eq!(measured["commits"], 20);
    let ran = folder.hop_ok("bench commit friends.hop --count 5 --ack --type TRY");
    let ids: Vec<u64> = ran.out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(ids, (1020..1025).collect::<Vec<_>>());
    assert!(ran.err.contains("5 commits in "), "{}", ran.err);
    let stat = folder.json("stat friends.hop --json");
    let types = r#"{"BENCH":20,"FRIEND":1000,"TRY":5}"#;
    assert_eq!(stat["relationship_types"].to_string(), types);
    folder.hop_ok("check friends.hop");
    let texts = ["no index on Person.name", "hint: `hop stat` lists the indexes"];
    folder.fails("bench commit friends.hop --by Person.name", 2, &texts);
}

#[test]
fn commits_that_do_not_wait_are_acknowledged_once_they_are_on_disk() {
    let folder = friends();
    for (round, durability) in ["none", "async", "sync,none,none"].into_iter().enumerate() {
        let args = format!(
            "bench commit friends.hop --count 20 --ack --durability {durability} --threads 2 --cache-bytes 64KiB"
        );
        let ran = folder.hop_ok(&args);
        let mut ids: Vec<usize> = ran.out.lines().map(|line| line.parse().unwrap()).collect();
        ids.sort_unstable();
        let first = 1000 + 20 * round;
        assert_eq!(ids, (first..first + 20).collect::<Vec<_>>(), "{durability}");
    }
    folder.hop_ok("check friends.hop");
    folder.fails("bench commit friends.hop --durability never", 2, &["never", "sync, async, none"]);
}
