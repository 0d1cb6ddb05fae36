//! `hop generate`: graphs to try things with, made from a seed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hopdb::generate::Friends;
use serde::Serialize;

use crate::failure::Failure;
use crate::screen::{Screen, count};

const EXAMPLES: &str = "\
Examples:
  hop generate friends graph
  hop generate friends --people 1000000 --friends 20 --seed 7 big
  hop load friends.hop --nodes=Person=graph/people.csv --relationships=FRIEND=graph/friends.csv \\
      --unique Person.id";

/// Make a graph to try things with, as CSV files
///
/// The same numbers and seed give the same files on every machine.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    graph: Graph,
}

#[derive(Subcommand)]
enum Graph {
    Friends(FriendsArgs),
}

/// People with distinct friends each, chosen at random, never themselves
///
/// Writes people.csv (id, name) and friends.csv with the headers that `hop load` reads.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct FriendsArgs {
    /// How many people
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    people: u64,
    /// How many friends each has
    #[arg(long, value_name = "K", default_value_t = 10)]
    friends: u64,
    /// Seed of the choice
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Replace people.csv and friends.csv where they exist
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The folder to write to; made where it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(Serialize)]
struct Json {
    people: PathBuf,
    friends: PathBuf,
    nodes: u64,
    relationships: u64,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let Graph::Friends(args) = &args.graph;
    let graph = Friends { people: args.people, friends: args.friends, seed: args.seed };
    let files = write_friends(&graph, &args.folder, args.force)?;
    let relationships = graph.people.saturating_mul(graph.friends);
    let Files { people, friends } = files;
    if args.json {
        return screen.json(&Json { people, friends, nodes: graph.people, relationships });
    }
    writeln!(screen, "{}  {} people", people.display(), count(graph.people))?;
    writeln!(screen, "{}  {} relationships", friends.display(), count(relationships))?;
    Ok(())
}

/// The two files of a friends graph.
pub(crate) struct Files {
    pub(crate) people: PathBuf,
    pub(crate) friends: PathBuf,
}

/// Writes both files; neither stays when one cannot be written.
pub(crate) fn write_friends(
    graph: &Friends,
    folder: &Path,
    replace: bool,
) -> Result<Files, Failure> {
    if graph.friends >= graph.people && graph.friends > 0 {
        let Friends { people, friends, .. } = graph;
        let message = format!("{people} people cannot have {friends} friends each");
        return Err(Failure::input(message, "take more people, or fewer friends"));
    }
    let files = Files { people: folder.join("people.csv"), friends: folder.join("friends.csv") };
    if !replace {
        refuse_existing(&files)?;
    }
    fs::create_dir_all(folder)
        .map_err(|error| Failure::io(format!("make the folder {}", folder.display()), error))?;
    let written = write(&files.people, replace, |out| graph.write_people(out)).and_then(|()| {
        write(&files.friends, replace, |out| graph.write_friends(out)).inspect_err(|_| {
            let _gone = fs::remove_file(&files.people);
        })
    });
    written.map(|()| files)
}

fn refuse_existing(files: &Files) -> Result<(), Failure> {
    match [&files.people, &files.friends].into_iter().find(|path| path.exists()) {
        Some(path) => Err(Failure::input(
            format!("{} exists already", path.display()),
            "choose another folder, or replace the files with --force",
        )),
        None => Ok(()),
    }
}

/// Writes one file; it does not stay half-written.
fn write(
    path: &Path,
    replace: bool,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |error| Failure::io(format!("write {}", path.display()), error);
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).create(replace).create_new(!replace);
    let mut out = BufWriter::with_capacity(1 << 18, options.open(path).map_err(failed)?);
    fill(&mut out).and_then(|()| out.flush()).map_err(|error| {
        let _gone = fs::remove_file(path);
        failed(error)
    })
}
