//! `hot-rows-reader`: updates of 1,000 rows, alone and beside a reader that holds a snapshot and does nothing.
//!
//! Updates are commits of one row that do not wait for the disk, by one thread, so that nothing but versions is
//! measured. The reader costs something when the rate falls, or when the files grow by more than it can see: growth
//! stands beside the number of pages that the rows lie on. Files without a name count too. Afterwards the reader must
//! still see what it saw.

use std::path::Path;
use std::time::Instant;

use ::hopdb::Durability;
use hopdb_bench::Report;
use hopdb_bench::record::Better;

use super::engines::Store;
use super::hopdb::HopDb;
use super::rows::{Row, Stream};
use super::{Settings, Told, disk, float};
use crate::Outcome;

const WORKLOAD: &str = "hot-rows-reader";
const LOADED: u64 = 150_000;
const HOT: u64 = 1_000;

/// One round.
struct Measured {
    alone: f64,
    beside: f64,
    growth_bytes: u64,
}

/// Runs the workload.
pub(super) fn measure(settings: &Settings, folder: &Path, report: &mut Report) -> Outcome<()> {
    if !settings.measures(WORKLOAD) {
        return Ok(());
    }
    let folder = tempfile::tempdir_in(folder)?;
    let store = HopDb::create(&folder.path().join("hot"), None)?;
    store.load(&mut (0..LOADED).map(|number| Stream::LOADED.row(number)))?;
    // Their keys are random: they lie all over the table.
    let mut hot: Vec<Row> = (0..HOT).map(|number| Stream::LOADED.row(number)).collect();
    let touched = touched_pages(&store, &mut hot)?;
    let seconds = if settings.quick { 2.0 } else { 10.0 };
    let mut rounds = Vec::new();
    for round in 0..settings.rounds() {
        eprintln!("{WORKLOAD}, round {}", round + 1);
        let alone = update_for(&store, &mut hot, seconds)?;
        let (before, seen) = (disk::open_file_bytes(folder.path())?, hot.clone());
        let reader = store.store().read();
        let beside = update_for(&store, &mut hot, seconds)?;
        let growth_bytes = disk::open_file_bytes(folder.path())?.saturating_sub(before);
        for (key, value) in &seen {
            if store.get_in(&reader, key)?.as_ref() != Some(value) {
                return Err("the reader's snapshot has changed".into());
            }
        }
        super::check_rows(&store, &hot)?;
        rounds.push(Measured { alone, beside, growth_bytes });
    }
    let page_size = store.store().page_size() as u64;
    tell(report, (touched, page_size, seconds), &rounds);
    Ok(())
}

/// Pages that change when each row does, by what a flush has to write.
fn touched_pages(store: &HopDb, hot: &mut [Row]) -> Outcome<u64> {
    store.checkpoint()?;
    let before = store.store().counts().io.pages_written;
    hot.iter_mut().for_each(|(_, value)| value[0] ^= 1);
    let rows = hot.iter().map(|(key, value)| (key, value));
    store.put(rows, Durability::Sync)?;
    store.store().flush()?;
    Ok(store.store().counts().io.pages_written - before)
}

/// Updates the rows in turn, each in a commit of its own; commits a second.
fn update_for(store: &HopDb, hot: &mut [Row], seconds: f64) -> Outcome<f64> {
    let began = Instant::now();
    let mut commits = 0_u64;
    while began.elapsed().as_secs_f64() < seconds {
        for (key, value) in &mut *hot {
            value[..8].copy_from_slice(&commits.to_le_bytes());
            store.put([(key, value)].into_iter(), Durability::None)?;
            commits += 1;
        }
    }
    Ok(float(commits) / began.elapsed().as_secs_f64())
}

fn tell(report: &mut Report, (touched, page_size, seconds): (u64, u64, f64), rounds: &[Measured]) {
    let run = format!(
        "{LOADED} rows, {HOT} of them updated one a commit, durability none; rounds: {}, {seconds} s \
         alone and {seconds} s beside the reader each",
        rounds.len()
    );
    let mut told = Told::new(report, WORKLOAD, HopDb::described(), &run);
    let each = |value: &dyn Fn(&Measured) -> f64| rounds.iter().map(value).collect::<Vec<_>>();
    let growth = |one: &Measured| float(one.growth_bytes / page_size);
    told.add(("ops_per_second", "commits/s"), Better::Higher, &each(&|one| one.alone));
    told.add(("reader_ops_per_second", "commits/s"), Better::Higher, &each(&|one| one.beside));
    told.add(("ratio", "beside / alone"), Better::Higher, &each(&|one| one.beside / one.alone));
    told.add(("touched_pages", "pages"), Better::Lower, &[float(touched)]);
    told.add(("growth_pages", "pages"), Better::Lower, &each(&growth));
    let per_touched = each(&|one| growth(one) / float(touched));
    told.add(("growth", "of touched pages"), Better::Lower, &per_touched);
}
