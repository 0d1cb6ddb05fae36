//! `hop walk`: from one node, hop by hop.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hopdb::{Database, Direction, Hop, NodeId, Snapshot, Walk};
use serde::Serialize;

use crate::failure::Failure;
use crate::screen::{Screen, count, counted, duration, micros};
use crate::size::ByteSize;
use crate::start::{Start, snapshot_with_nodes};
use crate::{names, open};

const EXAMPLES: &str = "\
Examples:
  hop walk friends.hop --from Person.id=42 --hops 3
  hop walk twitter.hop --from User.handle=user7 --type FOLLOWS --direction in --hops 2 --json

With --json: {\"hops\":[{\"relationships\":…,\"nodes\":…,\"new_nodes\":…},…],\"page_reads\":…,\"micros\":…}";

/// Walk from a node and count what each hop reaches
///
/// Each hop follows all relationships of the distinct nodes that the hop before reached, and tells
/// how many those are, how many distinct nodes lie at their other ends, and how many of these no
/// earlier hop had reached. Time and page reads are those of the hops, without finding the start.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The node to start at; an index on Label.property finds it fast
    #[arg(long, value_name = "LABEL.PROPERTY=VALUE")]
    from: Start,
    /// Follow only relationships of this type
    #[arg(long = "type", value_name = "TYPE")]
    relationship_type: Option<String>,
    /// Follow relationships that start at a node (out), end at it (in), or both
    #[arg(long, value_enum, default_value = "out")]
    direction: Way,
    /// How many hops
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    hops: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Memory for pages, such as 64KiB or 1GiB; 256MiB when not given
    #[arg(long, value_name = "SIZE")]
    cache_bytes: Option<ByteSize>,
}

/// A direction as users write it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Way {
    /// Relationships that start at the node
    Out,
    /// Relationships that end at the node
    In,
    /// Both
    Both,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Out => Self::Outgoing,
            Way::In => Self::Incoming,
            Way::Both => Self::Both,
        }
    }
}

#[derive(Serialize)]
struct Json {
    hops: Vec<JsonHop>,
    page_reads: u64,
    micros: u64,
}

#[derive(Serialize)]
struct JsonHop {
    relationships: u64,
    nodes: u64,
    new_nodes: u64,
}

/// A walk that was made.
pub(crate) struct Walked {
    pub(crate) hops: Vec<Hop>,
    pub(crate) page_reads: u64,
    pub(crate) time: Duration,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, args.cache_bytes)?;
    let snapshot = snapshot_with_nodes(&db, &args.database)?;
    let catalog = snapshot.reader().catalog();
    let type_id = names::relationship_type(catalog, args.relationship_type.as_deref())?;
    let start = args.from.find(&snapshot)?;
    let walk = Walk::new(snapshot.reader(), start, args.direction.into(), type_id);
    let walked = walk_hops(&db, walk, args.hops)?;
    if args.json {
        return screen.json(&walked.json());
    }
    writeln!(screen, "from {}\n", describe(&snapshot, start)?)?;
    walked.table(screen)
}

/// Goes the given number of hops.
pub(crate) fn walk_hops<V: hopdb::kv::View>(
    db: &Database,
    mut walk: Walk<'_, V>,
    hops: u32,
) -> Result<Walked, Failure> {
    let before = db.counts().io.pages_read;
    let started = Instant::now();
    let hops = (0..hops).map(|_| walk.hop()).collect::<Result<_, _>>()?;
    let time = started.elapsed();
    Ok(Walked { hops, page_reads: db.counts().io.pages_read - before, time })
}

/// A node as Cypher would write it, shortened.
pub(crate) fn describe(snapshot: &Snapshot, id: NodeId) -> Result<String, Failure> {
    const PROPERTIES_MAX: usize = 4;
    const VALUE_CHARS_MAX: usize = 40;
    let Some(node) = snapshot.reader().node(id)? else { return Ok(format!("node {id}")) };
    let labels: String = node.labels.iter().map(|label| format!(":{label}")).collect();
    let shown = node.properties.iter().take(PROPERTIES_MAX).map(|(key, value)| {
        let value = value.to_string();
        match value.char_indices().nth(VALUE_CHARS_MAX) {
            Some((cut, _)) => format!("{key}: {}…", &value[..cut]),
            None => format!("{key}: {value}"),
        }
    });
    let shown: Vec<String> = shown.collect();
    let more = if node.properties.len() > PROPERTIES_MAX { ", …" } else { "" };
    Ok(format!("({labels} {{{}{more}}})", shown.join(", ")))
}

impl Walked {
    /// A table of the hops, and what they took.
    pub(crate) fn table(&self, out: &mut impl Write) -> Result<(), Failure> {
        writeln!(out, "  hop  relationships       nodes   new nodes")?;
        for (number, hop) in (1..).zip(&self.hops) {
            let [relationships, nodes, new] =
                [hop.relationships, hop.nodes, hop.new_nodes].map(count);
            writeln!(out, "  {number:>3}  {relationships:>13}  {nodes:>10}  {new:>10}")?;
        }
        let reads = counted(self.page_reads, "page", "pages");
        writeln!(out, "\n  {}, {reads} read", duration(self.time))?;
        Ok(())
    }

    fn json(&self) -> Json {
        let hop = |hop: &Hop| JsonHop {
            relationships: hop.relationships,
            nodes: hop.nodes,
            new_nodes: hop.new_nodes,
        };
        Json {
            hops: self.hops.iter().map(hop).collect(),
            page_reads: self.page_reads,
            micros: micros(self.time),
        }
    }
}
