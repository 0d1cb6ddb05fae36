//! The Debian part of the demo: every package that apt knows on this machine, loaded and asked about.
//!
//! Labels: `Package`, `VirtualPackage` (a name that packages provide or refer to, and that is no package in the
//! lists), `Maintainer`, `Section`. Relationship types: one for each field of relations, `DEPENDS` and so on, with the
//! properties `clause`, `alternative`, `version` and `architecture`; `MAINTAINED_BY`, `IN_SECTION`.
//!
//! `apt` runs apt-cache; `control` reads its stanzas; `files` writes the CSV files; `needs`, `circles` and `questions`
//! find the answers. Here they are shown.

mod apt;
mod circles;
mod control;
mod files;
mod needs;
mod questions;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hopdb::load::Progress;
use hopdb::{Database, Options};

use super::wrapped;
use crate::failure::Failure;
use crate::load::load;
use crate::screen::{Screen, bytes, count, counted, duration, ratio};
use questions::{Chain, Distance, Keeper, Questions, Step, Wanted};

pub(super) use apt::Lists;

/// Packages worth to be asked about: the first that the lists have is taken.
const WELL_KNOWN: [&str; 3] = ["gnome", "ubuntu-desktop", "git"];
/// From what to what a chain is looked for.
const CHAINS: [(&str, &str); 3] =
    [("libreoffice", "perl"), ("gnome", "perl"), ("git", "libkrb5-3")];
const MOST_WANTED: usize = 10;
const KEEPERS: usize = 8;
const CIRCLES: usize = 3;

/// What was shown: the database, and the packages that were looked at.
pub(super) struct Shown {
    pub(super) database: PathBuf,
    pub(super) subject: String,
    pub(super) most_wanted: String,
}

/// Loads the lists and asks about them.
pub(super) fn show(lists: Lists, folder: &Path, screen: &mut Screen) -> Result<Shown, Failure> {
    screen.headline("Debian's packages, as apt knows them on this machine")?;
    let database = load_lists(lists, folder, screen)?;
    let db = Database::open(&database, &Options { read_only: true, ..Options::default() })?;
    let snapshot = db.read()?;
    let mut questions = Questions::new(&snapshot)?;
    let subject = questions.subject(&WELL_KNOWN)?;
    let name = questions.text(subject, "name")?;

    let (needed, time) = timed(|| questions.needed(subject))?;
    show_needed(&name, &needed, time, screen)?;
    let (wanted, time) = timed(|| questions.most_wanted(MOST_WANTED))?;
    show_wanted(&wanted, questions.packages(), time, screen)?;
    let (chain, time) = timed(|| questions.chain(&CHAINS, subject))?;
    show_chain(&chain, time, screen)?;
    let (keepers, time) = timed(|| questions.keepers(KEEPERS))?;
    show_keepers(&keepers, time, screen)?;
    let (circles, time) = timed(|| questions.circles())?;
    show_circles(&circles, time, screen)?;
    let most_wanted = wanted.first().map_or_else(|| name.clone(), |wanted| wanted.name.clone());
    Ok(Shown { database, subject: name, most_wanted })
}

/// Writes the CSV files and loads them; the path of the database.
fn load_lists(mut lists: Lists, folder: &Path, screen: &mut Screen) -> Result<PathBuf, Failure> {
    let started = Instant::now();
    let plan = files::write(lists.text(), folder)?;
    lists.finish()?;
    let time = duration(started.elapsed());
    writeln!(screen, "   read from `apt-cache dumpavail` and written as CSV in {time}")?;
    screen.flush()?;
    let database = folder.join("debian.hop");
    let report = load(&database, &plan, &Progress::default())?;
    writeln!(screen, "   loaded in {}, both directions, on disk\n", duration(report.time))?;
    let db = Database::open(&database, &Options { read_only: true, ..Options::default() })?;
    let snapshot = db.read()?;
    let catalog = snapshot.reader().catalog();
    writeln!(screen, "   {}", counted(report.nodes, "node", "nodes"))?;
    listed(catalog.labels(), screen)?;
    let relationships = counted(report.relationships, "relationship", "relationships");
    writeln!(screen, "   {relationships}")?;
    listed(catalog.relationship_types(), screen)?;
    Ok(database)
}

fn listed<'n, N: AsRef<str> + 'n>(
    names: impl Iterator<Item = (&'n N, u64)>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let names = names.filter(|(_, number)| *number > 0);
    let names = names.map(|(name, number)| format!("{} {}", count(number), name.as_ref()));
    Ok(writeln!(screen, "      {}", wrapped(&names.collect::<Vec<_>>(), 6))?)
}

/// An answer, and the time that it took.
fn timed<T>(ask: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Duration), Failure> {
    let started = Instant::now();
    let answer = ask()?;
    Ok((answer, started.elapsed()))
}

fn headline(screen: &mut Screen, question: &str, time: Duration) -> Result<(), Failure> {
    writeln!(screen)?;
    screen.headline(question)?;
    let answered = screen.dim(&format!("   answered in {}", duration(time)));
    Ok(writeln!(screen, "{answered}")?)
}

fn show_needed(
    name: &str,
    needed: &[Distance],
    time: Duration,
    screen: &mut Screen,
) -> Result<(), Failure> {
    headline(screen, &format!("1. What must be there for {name}, and how far away is it?"), time)?;
    writeln!(screen, "        distance     packages   installed  the largest")?;
    for (distance, Distance { packages, kib, largest }) in (1..).zip(needed) {
        let (packages, size) = (count(*packages), bytes(kib * 1024));
        writeln!(screen, "   {distance:>13}  {packages:>11}  {size:>10}  {largest}")?;
    }
    let packages = count(needed.iter().map(|distance| distance.packages).sum());
    let size = bytes(needed.iter().map(|distance| distance.kib).sum::<u64>() * 1024);
    let packages = screen.strong(&format!("{packages:>11}"));
    Ok(writeln!(screen, "          in all  {packages}  {size:>10}")?)
}

fn show_wanted(
    wanted: &[Wanted],
    packages: u64,
    time: Duration,
    screen: &mut Screen,
) -> Result<(), Failure> {
    headline(screen, "2. What do the most packages depend on?", time)?;
    writeln!(screen, "        directly   in the end          hops")?;
    for Wanted { name, direct, all, hops } in wanted {
        let share = format!("{:.0} %", ratio(*all, packages) * 100.0);
        let [direct, all] = [*direct, *all].map(count);
        writeln!(screen, "   {direct:>13}  {all:>11}  {share:>6}  {hops:>4}  {name}")?;
    }
    Ok(())
}

fn show_chain(chain: &Chain, time: Duration, screen: &mut Screen) -> Result<(), Failure> {
    let Some(last) = chain.steps.last() else { return Ok(()) };
    let question = format!("3. Why does {} need {}? The shortest chain:", chain.from, last.to);
    headline(screen, &question, time)?;
    writeln!(screen, "     {}", chain.from)?;
    let width = chain.steps.iter().map(|step| step.to.len()).max().unwrap_or_default();
    for Step { before, clause, to } in &chain.steps {
        let field = if *before { "Pre-Depends" } else { "Depends" };
        writeln!(screen, "     {to:width$}  {}", screen.dim(&format!("{field}: {clause}")))?;
    }
    Ok(())
}

fn show_keepers(keepers: &[Keeper], time: Duration, screen: &mut Screen) -> Result<(), Failure> {
    headline(screen, "4. On whose packages do the most packages of others depend?", time)?;
    writeln!(screen, "      dependents   their own")?;
    for Keeper { name, packages, dependents } in keepers {
        let [dependents, packages] = [*dependents, *packages].map(count);
        writeln!(screen, "   {dependents:>13}  {packages:>10}  {name}")?;
    }
    Ok(())
}

fn show_circles(
    circles: &[Vec<String>],
    time: Duration,
    screen: &mut Screen,
) -> Result<(), Failure> {
    headline(screen, "5. Which packages need one another, round in a circle?", time)?;
    let packages = circles.iter().map(Vec::len).sum::<usize>() as u64;
    let packages = counted(packages, "package", "packages");
    let groups = counted(circles.len() as u64, "group", "groups");
    writeln!(
        screen,
        "   {packages} in {groups}{}",
        if circles.is_empty() { "" } else { "; the largest:" }
    )?;
    for names in circles.iter().take(CIRCLES) {
        writeln!(screen, "   {:>3}  {}", names.len(), wrapped(names, 8))?;
    }
    Ok(writeln!(screen)?)
}
