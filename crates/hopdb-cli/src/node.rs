//! `hop node`: one node, its relationships, and the bytes that it is made of.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use hopdb::inspect::{Adjacency, Node as Inspected, Side};
use hopdb::{Adjacent, Direction, Node, NodeId, Part, Snapshot};
use serde::Serialize;

use crate::failure::Failure;
use crate::screen::{Rows, Screen, count, counted};
use crate::start::{NodeName, snapshot_with_nodes};
use crate::walk::describe;
use crate::{dump, open};

const EXAMPLES: &str = "\
Examples:
  hop node friends.hop 41
  hop node friends.hop Person.id=42
  hop node friends.hop Person.id=42 --bytes";

/// Relationships of a side and type that are named.
const NAMED_MAX: usize = 5;
/// Most characters of a property's value that are shown.
const VALUE_CHARS_MAX: usize = 400;

/// Show a node, its relationships, and how both lie in the file
///
/// Names the node's labels, properties and relationships: of each type and direction how many there
/// are, and the first of them. With --bytes, it goes from the roots of the trees to the cells that
/// make up the node (record, relationships, index entries) and shows what each of their bytes says.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The node, by its id or by a property: 41, or Person.id=42
    #[arg(value_name = "ID|LABEL.PROPERTY=VALUE")]
    node: NodeName,
    /// Show the pages and bytes that it lies in
    #[arg(long)]
    bytes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'n> {
    id: String,
    labels: Vec<&'n str>,
    /// As Cypher writes them.
    properties: BTreeMap<&'n str, String>,
    relationships: Vec<JsonGroup<'n>>,
    #[serde(flatten)]
    bytes: Option<&'n Inspected>,
}

#[derive(Serialize)]
struct JsonGroup<'n> {
    direction: Side,
    #[serde(rename = "type")]
    relationship_type: &'n str,
    count: u64,
    first: Vec<JsonRelationship>,
}

#[derive(Serialize)]
struct JsonRelationship {
    id: String,
    neighbour: String,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(&args.database, None)?;
    let snapshot = snapshot_with_nodes(&db, &args.database)?;
    let id = args.node.find(&snapshot)?;
    let found = snapshot.reader().node(id)?.zip(snapshot.inspect_node(id)?);
    let Some((node, inspected)) = found else { return Err(missing(&snapshot, id)) };
    if args.json {
        return json(args, screen, &snapshot, (&node, &inspected));
    }
    let labels: String = node.labels.iter().map(|label| format!(" :{label}")).collect();
    screen.headline(&format!("node {id}{labels}"))?;
    properties(screen, &node)?;
    for group in &inspected.adjacency {
        relationships(screen, &snapshot, (id, group))?;
    }
    if inspected.adjacency.is_empty() {
        writeln!(screen, "\nno relationships")?;
    }
    if args.bytes { cells(screen, &inspected) } else { Ok(()) }
}

fn missing(snapshot: &Snapshot, id: NodeId) -> Failure {
    let nodes = snapshot.reader().catalog().node_count();
    let nodes = counted(nodes, "node", "nodes");
    Failure::NothingFound {
        message: format!("there is no node {id}"),
        hint: Some(format!(
            "the database has {nodes}; a property finds them too, as in Person.id=42"
        )),
    }
}

fn properties(screen: &mut Screen, node: &Node) -> Result<(), Failure> {
    if node.properties.is_empty() {
        return Ok(writeln!(screen, "\nno properties")?);
    }
    writeln!(screen)?;
    let names = node.properties.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in &node.properties {
        let value = dump::cut(&value.to_string(), VALUE_CHARS_MAX);
        let lines = dump::wrapped(&value, dump::COLUMNS.saturating_sub(names + 4).max(20));
        for (line, value) in lines.iter().enumerate() {
            let name = if line == 0 { name } else { "" };
            writeln!(screen, "  {name:names$}  {value}")?;
        }
    }
    Ok(())
}

/// The first relationships of a side and type.
fn first(snapshot: &Snapshot, (id, group): (NodeId, &Adjacency)) -> Result<Vec<Adjacent>, Failure> {
    let reader = snapshot.reader();
    let direction = match group.direction {
        Side::Out => Direction::Outgoing,
        Side::In => Direction::Incoming,
    };
    let type_id = reader.catalog().relationship_type(&group.relationship_type);
    let part = Part { after: None, limit: NAMED_MAX };
    Ok(reader.adjacent_part(id, (direction, type_id), part)?)
}

fn relationships(
    screen: &mut Screen,
    snapshot: &Snapshot,
    (id, group): (NodeId, &Adjacency),
) -> Result<(), Failure> {
    let (side, arrow) = match group.direction {
        Side::Out => ("out", "→"),
        Side::In => ("in", "←"),
    };
    let relationships = counted(group.relationships, "relationship", "relationships");
    writeln!(screen, "\n{relationships} {side} :{}", group.relationship_type)?;
    let mut rows = Rows::default();
    let pairs = first(snapshot, (id, group))?;
    for Adjacent { neighbour, relationship, .. } in &pairs {
        let who = format!("{}  relationship {relationship}", describe(snapshot, *neighbour)?);
        rows.add(format!("{arrow} node"), neighbour.to_string(), who);
    }
    write!(screen, "{rows}")?;
    let left = group.relationships.saturating_sub(pairs.len() as u64);
    if left > 0 {
        writeln!(screen, "  and {} more", count(left))?;
    }
    Ok(())
}

fn cells(screen: &mut Screen, node: &Inspected) -> Result<(), Failure> {
    writeln!(screen)?;
    screen.headline("record: table nodes")?;
    dump::cell(screen, &node.record)?;
    for group in &node.adjacency {
        let side = if group.direction == Side::Out { "out" } else { "in" };
        let relationships = counted(group.relationships, "relationship", "relationships");
        let blocks = match group.blocks {
            1 => "1 block".into(),
            blocks => format!("the first of {} blocks", count(blocks)),
        };
        let of = &group.relationship_type;
        writeln!(screen)?;
        screen.headline(&format!("{relationships} {side} :{of}, {blocks}: table adjacency"))?;
        dump::cell(screen, &group.first)?;
    }
    for entry in &node.indexes {
        let unique = if entry.unique { "unique index" } else { "index" };
        writeln!(screen)?;
        screen.headline(&format!("{unique} {}: table {}", entry.index, entry.cell.table))?;
        dump::cell(screen, &entry.cell)?;
    }
    Ok(())
}

fn json(
    args: &Args,
    screen: &mut Screen,
    snapshot: &Snapshot,
    (node, inspected): (&Node, &Inspected),
) -> Result<(), Failure> {
    let group = |group| {
        let pairs = first(snapshot, (node.id, group))?;
        let relationship = |adjacent: Adjacent| JsonRelationship {
            id: adjacent.relationship.to_string(),
            neighbour: adjacent.neighbour.to_string(),
        };
        Ok(JsonGroup {
            direction: group.direction,
            relationship_type: &group.relationship_type,
            count: group.relationships,
            first: pairs.into_iter().map(relationship).collect(),
        })
    };
    let relationships =
        inspected.adjacency.iter().map(group).collect::<Result<Vec<_>, Failure>>()?;
    let properties = node.properties.iter().map(|(name, value)| (&**name, value.to_string()));
    screen.json(&Json {
        id: node.id.to_string(),
        labels: node.labels.iter().map(AsRef::as_ref).collect(),
        properties: properties.collect(),
        relationships,
        bytes: args.bytes.then_some(inspected),
    })
}
