//! `hop stat`: what a database holds and where its bytes are.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use hopdb::{Catalog, FORMAT_VERSION, PageKind};
use serde::Serialize;

use crate::failure::Failure;
use crate::open;
use crate::screen::{Rows, Screen, bytes, count, counted, tell};

const EXAMPLES: &str = "\
Examples:
  hop stat friends.hop
  hop stat friends.hop --json";

/// Count nodes and relationships by label and type; show indexes and pages
///
/// Counts of nodes and relationships are kept by the database and cost nothing; the pages are
/// counted by walking them all, which reads the whole file.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Stat {
    nodes: u64,
    relationships: u64,
    labels: BTreeMap<String, u64>,
    relationship_types: BTreeMap<String, u64>,
    indexes: Vec<Index>,
    file_bytes: u64,
    page_size: usize,
    pages: u64,
    pages_by_kind: BTreeMap<&'static str, u64>,
    format_version: u64,
}

#[derive(Serialize)]
struct Index {
    label: String,
    property: String,
    unique: bool,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, None)?;
    let snapshot = db.read()?;
    let catalog = snapshot.reader().catalog();
    let pages = snapshot.check_pages()?;
    let mut by_kind: BTreeMap<&str, u64> =
        pages.pages_by_kind.iter().map(|(kind, pages)| (kind_name(*kind), *pages)).collect();
    by_kind.insert("free", pages.free_pages);
    // What no tree reaches and is not free: the copies of the header.
    let others = by_kind.values().sum::<u64>();
    by_kind.insert("header", pages.pages.saturating_sub(others));
    let named = |(name, count): (&std::sync::Arc<str>, u64)| (name.to_string(), count);
    let stat = Stat {
        nodes: catalog.node_count(),
        relationships: catalog.relationship_count(),
        labels: catalog.labels().map(named).collect(),
        relationship_types: catalog.relationship_types().map(named).collect(),
        indexes: indexes(catalog),
        file_bytes: db.file_bytes()?,
        page_size: db.page_size(),
        pages: pages.pages,
        pages_by_kind: by_kind,
        format_version: u64::from(FORMAT_VERSION),
    };
    if args.json {
        screen.json(&stat)?;
    } else {
        writeln!(screen, "{}\n", args.database.display())?;
        write!(screen, "{}", stat.graph())?;
        writeln!(screen)?;
        write!(screen, "{}", stat.file())?;
    }
    if !pages.problems.is_empty() {
        let problems = counted(pages.problems.len() as u64, "page is", "pages are");
        tell(format_args!("hint: {problems} not as they should be; `hop check` names them"));
    }
    Ok(())
}

fn kind_name(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Free => "free",
        PageKind::AllocationMap => "allocation_map",
        PageKind::Leaf => "leaf",
        PageKind::Branch => "branch",
        PageKind::Extent => "extent",
    }
}

fn indexes(catalog: &Catalog) -> Vec<Index> {
    let name = |name: Option<&std::sync::Arc<str>>| name.map_or("?".into(), ToString::to_string);
    let index = |index: &hopdb::IndexDefinition| Index {
        label: name(catalog.label_name(index.label)),
        property: name(catalog.property_key_name(index.property)),
        unique: index.unique,
    };
    catalog.indexes().iter().map(index).collect()
}

impl Stat {
    fn graph(&self) -> Rows {
        let mut rows = Rows::default();
        rows.add("nodes", count(self.nodes), "");
        for (name, nodes) in &self.labels {
            rows.add(format!("  :{name}"), count(*nodes), "");
        }
        rows.add("relationships", count(self.relationships), "");
        for (name, relationships) in &self.relationship_types {
            rows.add(format!("  :{name}"), count(*relationships), "");
        }
        rows.add("indexes", count(self.indexes.len() as u64), "");
        for index in &self.indexes {
            let unique = if index.unique { "unique" } else { "" };
            rows.add(format!("  {}.{}", index.label, index.property), unique, "");
        }
        rows
    }

    fn file(&self) -> Rows {
        let mut rows = Rows::default();
        rows.add("file", bytes(self.file_bytes), "");
        let size = format!("of {}", bytes(self.page_size as u64));
        rows.add("pages", count(self.pages), size);
        for (kind, pages) in self.pages_by_kind.iter().filter(|(_, pages)| **pages > 0) {
            rows.add(format!("  {}", kind.replace('_', " ")), count(*pages), "");
        }
        rows.add("format version", self.format_version.to_string(), "");
        rows
    }
}
