//! The large graph of the demo: generated, loaded, walked, measured.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hopdb::generate::Friends;
use hopdb::load::Progress;
use hopdb::{Database, Direction, Options, Value, Walk};

use crate::bench::{Measured, Walks, measure, nodes};
use crate::failure::Failure;
use crate::generate::{Files, write_friends};
use crate::load::{load, pages_line, rows};
use crate::screen::{Screen, count, duration};
use crate::walk::walk_hops;

const FRIENDS: u64 = 10;
const SEED: u64 = 1;
const WALKS: usize = 1000;
/// Whose friends are looked at.
const PERSON: &str = "42";

/// Shows it all; the path of the database.
pub(super) fn show(folder: &Path, people: u64, screen: &mut Screen) -> Result<PathBuf, Failure> {
    let friendships = count(people * FRIENDS);
    let title = format!("2. A larger one: {} people, {friendships} friendships", count(people));
    screen.headline(&title)?;
    let started = Instant::now();
    let files = write_friends(&Friends { people, friends: FRIENDS, seed: SEED }, folder, false)?;
    writeln!(screen, "   generated in {}", duration(started.elapsed()))?;
    // What comes next takes the longest: let what was found so far be read meanwhile.
    screen.flush()?;
    let path = folder.join("friends.hop");
    let Files { people, friends } = files;
    let report = load(&path, &Friends::load_plan(people, friends), &Progress::default())?;
    writeln!(screen, "   loaded in {}, both directions, on disk", duration(report.time))?;
    indented(screen, &rows(&report).to_string())?;
    writeln!(screen, "   {}\n", pages_line(&report))?;

    let db = Database::open(&path, &Options { read_only: true, ..Options::default() })?;
    let snapshot = db.read()?;
    let found = snapshot.find("Person", "id", &Value::String(PERSON.into()))?;
    let nobody = || Failure::NothingFound { message: "nobody is there".into(), hint: None };
    let start = found.first().copied().ok_or_else(nobody)?;
    writeln!(screen, "   Friends of friends of person {PERSON}, read from the file just now:")?;
    let walk = Walk::new(snapshot.reader(), start, Direction::Outgoing, None);
    let walked = walk_hops(&db, walk, 3)?;
    let mut table = Vec::new();
    walked.table(&mut table)?;
    indented(screen, &String::from_utf8_lossy(&table))?;

    let all = nodes(&snapshot, Some("Person"))?;
    let mut random = fastrand::Rng::with_seed(SEED);
    let starts: Vec<_> = (0..WALKS).map(|_| all[random.usize(..all.len())]).collect();
    writeln!(screen, "\n   {} walks each, warm, every path to its end:", count(WALKS as u64))?;
    writeln!(screen, "     hops  relationships       median   99th perc.  page reads")?;
    for hops in [2, 3] {
        let starts = starts.clone();
        let walks = Walks { starts, hops, direction: Direction::Outgoing, type_id: None };
        line(screen, hops, &measure(&db, &snapshot, &walks)?)?;
    }
    writeln!(screen)?;
    Ok(path)
}

fn line(screen: &mut Screen, hops: u32, measured: &Measured) -> Result<(), Failure> {
    let Measured { median_us, p99_us, relationships_per_walk, page_reads_per_walk, .. } = measured;
    let median = screen.strong(&format!("{median_us:>8.1} µs"));
    writeln!(
        screen,
        "     {hops:>4}  {relationships_per_walk:>13.0}  {median}  {p99_us:>8.1} µs  {page_reads_per_walk:>10.0}"
    )?;
    Ok(())
}

fn indented(screen: &mut Screen, text: &str) -> Result<(), Failure> {
    for line in text.lines() {
        writeln!(screen, "{}", format!("   {line}").trim_end())?;
    }
    Ok(())
}
