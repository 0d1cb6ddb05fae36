//! The real graph of the demo: HopDB's own crate dependencies, from the `Cargo.lock` this program was built with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use hopdb::load::{IndexFor, LoadPlan, NodeFiles, Progress, RelationshipFiles};
use hopdb::{Database, Direction, NodeId, Options, Snapshot, Value, Walk};

use super::wrapped;
use crate::failure::Failure;
use crate::load::load;
use crate::screen::{Screen, count, counted, duration};

const LOCK: &str = include_str!("../../../../Cargo.lock");
/// How many crates the list of the most wanted names.
const MOST_WANTED: usize = 5;

/// Loads the graph and asks it two questions; the path of the database.
pub(super) fn show(folder: &Path, screen: &mut Screen) -> Result<PathBuf, Failure> {
    screen.headline("1. A real graph: which crates HopDB is built from")?;
    let plan = write_csv(folder)?;
    let path = folder.join("packages.hop");
    let report = load(&path, &plan, &Progress::default())?;
    let packages = counted(report.nodes, "package", "packages");
    let relationships = counted(report.relationships, "dependency", "dependencies");
    writeln!(screen, "   {packages}, {relationships}, loaded in {}\n", duration(report.time))?;

    let db = Database::open(&path, &Options { read_only: true, ..Options::default() })?;
    let snapshot = db.read()?;
    let deepest = deepest(&snapshot)?;
    let name = describe(&snapshot, deepest.node)?;
    writeln!(screen, "   What pulls in {}, and how far away is it?", screen.strong(&name))?;
    for (distance, nodes) in (1..).zip(&deepest.reached) {
        let names = nodes.iter().map(|node| describe(&snapshot, *node));
        let mut names = names.collect::<Result<Vec<_>, _>>()?;
        names.sort_unstable();
        writeln!(screen, "   {distance:>3}  {}", wrapped(&names, 8))?;
    }
    most_wanted(&snapshot, screen)?;
    Ok(path)
}

/// Everything that needs a node, by its distance.
struct Pulled {
    node: NodeId,
    reached: Vec<Vec<NodeId>>,
}

/// The node that something needs from furthest away; of several the one that most need.
fn deepest(snapshot: &Snapshot) -> Result<Pulled, Failure> {
    let mut best: Option<(usize, usize, Pulled)> = None;
    for node in crate::bench::nodes(snapshot, None)? {
        let pulled = Pulled { node, reached: pulled_by(snapshot, node)? };
        let (far, many) = (pulled.reached.len(), pulled.reached.iter().map(Vec::len).sum());
        if best.as_ref().is_none_or(|best| (best.0, best.1) < (far, many)) {
            best = Some((far, many, pulled));
        }
    }
    let nothing = || Failure::NothingFound { message: "there are no packages".into(), hint: None };
    best.map(|(_, _, pulled)| pulled).ok_or_else(nothing)
}

fn pulled_by(snapshot: &Snapshot, node: NodeId) -> Result<Vec<Vec<NodeId>>, Failure> {
    let mut walk = Walk::new(snapshot.reader(), node, Direction::Incoming, None);
    let mut seen = vec![node];
    let mut reached = Vec::new();
    while walk.hop()?.new_nodes > 0 {
        let new: Vec<NodeId> =
            walk.frontier().iter().copied().filter(|node| !seen.contains(node)).collect();
        seen.extend(&new);
        reached.push(new);
    }
    Ok(reached)
}

fn most_wanted(snapshot: &Snapshot, screen: &mut Screen) -> Result<(), Failure> {
    let mut expander = snapshot.reader().expander(Direction::Incoming, None);
    let mut degrees = Vec::new();
    for node in crate::bench::nodes(snapshot, None)? {
        degrees.push((expander.degree(node)?, node));
    }
    degrees.sort_unstable_by_key(|(degree, node)| (std::cmp::Reverse(*degree), *node));
    writeln!(screen, "\n   Which crates do the most others depend on?")?;
    for (degree, node) in degrees.iter().take(MOST_WANTED) {
        writeln!(screen, "   {:>3}  {}", count(*degree), describe(snapshot, *node)?)?;
    }
    Ok(writeln!(screen)?)
}

/// A package's name, and its version where several have that name.
fn describe(snapshot: &Snapshot, node: NodeId) -> Result<String, Failure> {
    let name = text(snapshot, node, "name")?;
    let named_alike = snapshot.find("Package", "name", &Value::String(name.clone()))?;
    match named_alike.len() {
        0 | 1 => Ok(name),
        _ => Ok(format!("{name} {}", text(snapshot, node, "version")?)),
    }
}

fn text(snapshot: &Snapshot, node: NodeId, key: &str) -> Result<String, Failure> {
    let reader = snapshot.reader();
    let found = match reader.catalog().property_key(key) {
        Some(key) => reader.property(node, key)?,
        None => None,
    };
    Ok(match found {
        Some(Value::String(text)) => text,
        other => other.map_or("?".into(), |value| value.to_string()),
    })
}

/// Writes both CSV files and says how to load them.
fn write_csv(folder: &Path) -> Result<LoadPlan, Failure> {
    let lock = Lock::parse(LOCK).map_err(|message| Failure::Input { message, hint: None })?;
    let packages = folder.join("packages.csv");
    let dependencies = folder.join("dependencies.csv");
    for (path, text) in [(&packages, lock.packages_csv()), (&dependencies, lock.dependencies_csv())]
    {
        fs::write(path, text)
            .map_err(|error| Failure::io(format!("write {}", path.display()), error))?;
    }
    let index = |property: &str, unique| IndexFor {
        label: "Package".into(),
        property: property.into(),
        unique,
    };
    Ok(LoadPlan {
        nodes: vec![NodeFiles { labels: vec!["Package".into()], files: vec![packages] }],
        relationships: vec![RelationshipFiles {
            relationship_type: Some("DEPENDS_ON".into()),
            files: vec![dependencies],
        }],
        indexes: vec![index("id", true), index("name", false)],
        ..LoadPlan::default()
    })
}

/// What of a `Cargo.lock` matters here: packages by their id, which is name and version.
struct Lock {
    packages: BTreeMap<String, Package>,
}

struct Package {
    name: String,
    version: String,
    dependencies: Vec<String>,
}

impl Lock {
    fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
        let entries = table.get("package").and_then(toml::Value::as_array);
        let mut packages = BTreeMap::new();
        for entry in entries.ok_or("Cargo.lock has no packages")? {
            let text = |key| entry.get(key).and_then(toml::Value::as_str).map(str::to_owned);
            let (Some(name), Some(version)) = (text("name"), text("version")) else {
                return Err("Cargo.lock has a package without name or version".into());
            };
            let dependencies = entry.get("dependencies").and_then(toml::Value::as_array);
            let dependencies = dependencies.into_iter().flatten();
            let dependencies =
                dependencies.filter_map(toml::Value::as_str).map(str::to_owned).collect();
            packages.insert(format!("{name} {version}"), Package { name, version, dependencies });
        }
        Ok(Self { packages })
    }

    fn packages_csv(&self) -> String {
        let mut csv = String::from("id:ID(Package),name:string,version:string\n");
        for (id, package) in &self.packages {
            let Package { name, version, .. } = package;
            let _never_fails = writeln!(csv, "{id},{name},{version}");
        }
        csv
    }

    fn dependencies_csv(&self) -> String {
        let mut csv = String::from(":START_ID(Package),:END_ID(Package)\n");
        for (id, package) in &self.packages {
            for dependency in package.dependencies.iter().filter_map(|text| self.resolve(text)) {
                let _never_fails = writeln!(csv, "{id},{dependency}");
            }
        }
        csv
    }

    /// The id of a dependency, which is written `name`, `name version` or `name version (source)`.
    fn resolve(&self, dependency: &str) -> Option<&str> {
        let mut words = dependency.split(' ');
        let (name, version) = (words.next()?, words.next());
        let found = self.packages.iter().find(|(_, package)| {
            package.name == name && version.is_none_or(|version| package.version == version)
        });
        found.map(|(id, _)| id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_resolved_in_every_form() {
        let lock = Lock::parse(
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\
             dependencies = [\"b 2.0.0\", \"c\", \"b 1.0.0 (registry)\"]\n\
             [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\
             [[package]]\nname = \"b\"\nversion = \"2.0.0\"\n\
             [[package]]\nname = \"c\"\nversion = \"0.1.0\"\n",
        )
        .unwrap();
        let rows = lock.dependencies_csv();
        let rows: Vec<&str> = rows.lines().skip(1).collect();
        assert_eq!(rows, ["a 1.0.0,b 2.0.0", "a 1.0.0,c 0.1.0", "a 1.0.0,b 1.0.0"]);
        assert!(Lock::parse("x = 1").is_err());
    }

    #[test]
    fn the_embedded_lock_has_every_end() {
        let lock = Lock::parse(LOCK).unwrap();
        let dependencies = lock.packages.values().map(|package| package.dependencies.len());
        let wanted: usize = dependencies.sum();
        assert_eq!(lock.dependencies_csv().lines().count(), wanted + 1);
        assert!(wanted > 50);
    }
}
