//! Questions to the graph of packages, and their answers as numbers and names.
//!
//! Asked through the public API alone: look-ups, expanders, properties. Shows nothing.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use hopdb::{Direction, NodeId, Pair, Relationship, RelationshipId, Snapshot, Value};

use super::circles;
use super::needs::{Need, Needs, dependency_types, place};
use crate::failure::Failure;

/// What must be there for a package, at one distance.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub(super) packages: u64,
    /// Installed size of them all.
    pub(super) kib: u64,
    /// The one with the largest installed size, of several the first in apt's list.
    pub(super) largest: String,
}

/// A package that others depend on, by any alternative of any clause.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    /// How many packages name it.
    pub(super) direct: u64,
    /// How many come to it over others too.
    pub(super) all: u64,
    /// How far away the last of them is.
    pub(super) hops: u64,
}

/// The shortest chain of needs from one package to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) from: String,
    /// Empty where the package needs nothing.
    pub(super) steps: Vec<Step>,
}

/// One step from a package to one that it needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Whether it is needed before the package is unpacked.
    pub(super) before: bool,
    /// The clause as the package has it.
    pub(super) clause: String,
    /// The package that the step leads to.
    pub(super) to: String,
}

/// A maintainer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keeper {
    pub(super) name: String,
    pub(super) packages: u64,
    /// How many packages of others depend on one of these.
    pub(super) dependents: u64,
}

/// Asks.
pub(super) struct Questions<'s> {
    snapshot: &'s Snapshot,
    packages: Vec<NodeId>,
    needs: Needs<'s>,
}

impl<'s> Questions<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Result<Self, Failure> {
        let packages = crate::bench::nodes(snapshot, Some("Package"))?;
        let needs = Needs::new(snapshot, &packages);
        Ok(Self { snapshot, packages, needs })
    }

    /// How many packages there are, virtual ones not counted.
    pub(super) fn packages(&self) -> u64 {
        self.packages.len() as u64
    }

    /// The first of these names that the lists have, else the package with the most dependencies.
    pub(super) fn subject(&self, known: &[&str]) -> Result<NodeId, Failure> {
        for name in known {
            if let Some(node) = self.package(name)? {
                return Ok(node);
            }
        }
        let mut degrees = Vec::new();
        for node in &self.packages {
            degrees.push((Reverse(self.dependencies(*node, Direction::Outgoing)?.len()), *node));
        }
        // There is one: a load without packages is refused.
        Ok(degrees.iter().min().map_or(NodeId(0), |(_, node)| *node))
    }

    /// What must be there for a package, by distance from 1 on.
    pub(super) fn needed(&mut self, subject: NodeId) -> Result<Vec<Distance>, Failure> {
        let closure = self.needs.closure(subject)?;
        closure.by_distance[1..].iter().map(|nodes| self.distance(nodes)).collect()
    }

    /// The packages that the most others depend on.
    pub(super) fn most_wanted(&self, top: usize) -> Result<Vec<Wanted>, Failure> {
        let mut direct = Vec::new();
        for node in &self.packages {
            let dependents = self.dependencies(*node, Direction::Incoming)?.len();
            direct.push((Reverse(dependents), *node));
        }
        direct.sort_unstable();
        let top = direct.iter().filter(|(Reverse(dependents), _)| *dependents > 0).take(top);
        top.map(|(Reverse(dependents), node)| {
            let (all, hops) = self.reached_from(*node)?;
            let name = self.text(*node, "name")?;
            Ok(Wanted { name, direct: *dependents as u64, all, hops })
        })
        .collect()
    }

    /// The shortest chain of needs between the first pair of packages that have one, else from the subject to
    /// what it needs from furthest away, of several the first in apt's list.
    pub(super) fn chain(
        &mut self,
        pairs: &[(&str, &str)],
        subject: NodeId,
    ) -> Result<Chain, Failure> {
        for (from, to) in pairs {
            let Some((from, to)) = self.package(from)?.zip(self.package(to)?) else { continue };
            let chain = self.needs.closure(from)?.chain(to);
            if !chain.is_empty() {
                return self.steps(from, &chain);
            }
        }
        let closure = self.needs.closure(subject)?;
        let furthest = closure.by_distance.last().and_then(|nodes| nodes.iter().min());
        self.steps(subject, &furthest.map_or_else(Vec::new, |furthest| closure.chain(*furthest)))
    }

    /// The maintainers on whose packages the most of others depend.
    pub(super) fn keepers(&self, top: usize) -> Result<Vec<Keeper>, Failure> {
        let reader = self.snapshot.reader();
        let maintained = reader.catalog().relationship_type("MAINTAINED_BY");
        let mut expander = reader.expander(Direction::Incoming, maintained);
        let mut nodes = Vec::new();
        if let Some(label) = reader.catalog().label("Maintainer") {
            reader.for_each_node_with_label(label, |node| {
                nodes.push(node);
                Ok(())
            })?;
        }
        let mut keepers = Vec::new();
        for node in nodes {
            let mut pairs = Vec::new();
            expander.expand(node, &mut pairs)?;
            let packages: HashSet<NodeId> = pairs.iter().map(|pair| pair.0).collect();
            let mut dependents = HashSet::new();
            for (package, _) in &pairs {
                dependents.extend(self.dependencies(*package, Direction::Incoming)?);
            }
            let others = dependents.difference(&packages).count();
            keepers.push((Reverse(others), node, packages.len()));
        }
        keepers.sort_unstable();
        let named = keepers.iter().take(top).map(|(Reverse(dependents), node, packages)| {
            let name = self.text(*node, "name")?;
            Ok(Keeper { name, packages: *packages as u64, dependents: *dependents as u64 })
        });
        named.collect()
    }

    /// Groups of packages that all need one another, the largest first, names in order.
    pub(super) fn circles(&mut self) -> Result<Vec<Vec<String>>, Failure> {
        let Self { packages, needs, .. } = self;
        let found = circles::circles(packages, |node| {
            Ok(needs.of(node)?.into_iter().map(|need| need.package).collect())
        })?;
        let mut groups = Vec::new();
        for nodes in found {
            let names = nodes.iter().map(|node| self.text(*node, "name"));
            let names: BTreeSet<String> = names.collect::<Result<_, _>>()?;
            groups.push(Vec::from_iter(names));
        }
        groups.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Ok(groups)
    }

    /// A text of a node; `?` where it has none.
    pub(super) fn text(&self, node: NodeId, key: &str) -> Result<String, Failure> {
        Ok(match self.property(node, key)? {
            Some(Value::String(text)) => text,
            other => other.map_or("?".into(), |value| value.to_string()),
        })
    }

    fn property(&self, node: NodeId, key: &str) -> Result<Option<Value>, Failure> {
        let reader = self.snapshot.reader();
        let key = reader.catalog().property_key(key);
        Ok(key.map_or(Ok(None), |key| reader.property(node, key))?)
    }

    fn package(&self, name: &str) -> Result<Option<NodeId>, Failure> {
        Ok(self.snapshot.find("Package", "name", &Value::from(name))?.first().copied())
    }

    fn distance(&self, nodes: &[NodeId]) -> Result<Distance, Failure> {
        let mut sizes = Vec::new();
        for node in nodes {
            let size = match self.property(*node, "installed_size")? {
                Some(Value::Integer(kib)) => u64::try_from(kib).unwrap_or_default(),
                _ => 0,
            };
            sizes.push((Reverse(size), *node));
        }
        let largest = sizes.iter().min().map(|(_, node)| self.text(*node, "name"));
        Ok(Distance {
            packages: nodes.len() as u64,
            kib: sizes.iter().map(|(size, _)| size.0).sum(),
            largest: largest.unwrap_or_else(|| Ok(String::new()))?,
        })
    }

    /// The distinct nodes that a node depends on, or that depend on it, itself not counted.
    fn dependencies(&self, node: NodeId, way: Direction) -> Result<Vec<NodeId>, Failure> {
        let mut pairs: Vec<Pair> = Vec::new();
        for type_id in dependency_types(self.snapshot) {
            self.snapshot.reader().expander(way, Some(type_id)).expand(node, &mut pairs)?;
        }
        let mut nodes: Vec<NodeId> = pairs.into_iter().map(|pair| pair.0).collect();
        nodes.retain(|found| *found != node);
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// How many packages depend on a node over any others, and how far away the last of them is.
    fn reached_from(&self, node: NodeId) -> Result<(u64, u64), Failure> {
        let types = dependency_types(self.snapshot);
        let expander =
            |type_id| self.snapshot.reader().expander(Direction::Incoming, Some(type_id));
        let mut expanders: Vec<_> = types.into_iter().map(expander).collect();
        let mut seen = HashSet::from([node]);
        let mut frontier = vec![node];
        let mut hops = 0;
        loop {
            let mut pairs: Vec<Pair> = Vec::new();
            for expander in &mut expanders {
                expander.expand_all(&frontier, &mut pairs)?;
            }
            frontier.clear();
            frontier.extend(pairs.iter().map(|pair| pair.0).filter(|node| seen.insert(*node)));
            if frontier.is_empty() {
                return Ok((seen.len() as u64 - 1, hops));
            }
            frontier.sort_unstable();
            hops += 1;
        }
    }

    fn steps(&self, from: NodeId, chain: &[Need]) -> Result<Chain, Failure> {
        let steps = chain.iter().map(|need| self.step(need)).collect::<Result<_, _>>()?;
        Ok(Chain { from: self.text(from, "name")?, steps })
    }

    fn step(&self, need: &Need) -> Result<Step, Failure> {
        let reader = self.snapshot.reader();
        let relationship = self.relationship(need.by)?;
        let [clause, _] = place(&relationship);
        let type_id = reader.catalog().relationship_type(&relationship.relationship_type);
        let mut alternatives = Vec::new();
        for other in reader.adjacent(relationship.start, Direction::Outgoing, type_id)? {
            let other = self.relationship(other.relationship)?;
            let [of, alternative] = place(&other);
            if of == clause {
                alternatives.push((alternative, self.named(&other)?));
            }
        }
        alternatives.sort_unstable();
        let texts: Vec<String> = alternatives.into_iter().map(|(_, text)| text).collect();
        Ok(Step {
            before: &*relationship.relationship_type == "PRE_DEPENDS",
            clause: texts.join(" | "),
            to: self.text(need.package, "name")?,
        })
    }

    fn relationship(&self, id: RelationshipId) -> Result<Relationship, Failure> {
        let gone =
            || Failure::NothingFound { message: format!("no relationship {id}"), hint: None };
        self.snapshot.reader().relationship(id)?.ok_or_else(gone)
    }

    /// What a relationship leads to, as control files write it: `name:architecture (version)`.
    fn named(&self, relationship: &Relationship) -> Result<String, Failure> {
        let mut text = self.text(relationship.end, "name")?;
        for (key, before, behind) in [("architecture", ":", ""), ("version", " (", ")")] {
            let mut properties = relationship.properties.iter();
            if let Some((_, Value::String(value))) = properties.find(|(name, _)| &**name == key) {
                text += &format!("{before}{value}{behind}");
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use hopdb::load::Progress;
    use hopdb::{Database, Options};

    use super::super::files;
    use super::*;

    const TEXT: &str = include_str!("../../../tests/cli/debian.txt");

    /// Asks about the small text.
    fn asked(ask: impl FnOnce(&mut Questions<'_>)) {
        let folder = tempfile::tempdir().unwrap();
        let plan = files::write(&mut TEXT.as_bytes(), folder.path()).unwrap();
        let path = folder.path().join("debian.hop");
        crate::load::load(&path, &plan, &Progress::default()).unwrap();
        let db = Database::open(&path, &Options { read_only: true, ..Options::default() }).unwrap();
        let snapshot = db.read().unwrap();
        ask(&mut Questions::new(&snapshot).unwrap());
    }

    fn chain(from: &str, steps: &[(bool, &str, &str)]) -> Chain {
        let step = |(before, clause, to): &(bool, &str, &str)| Step {
            before: *before,
            clause: (*clause).into(),
            to: (*to).into(),
        };
        Chain { from: from.into(), steps: steps.iter().map(step).collect() }
    }

    #[test]
    fn the_subject_is_well_known_or_has_the_most_dependencies() {
        asked(|questions| {
            let name =
                |known: &[&str]| questions.text(questions.subject(known).unwrap(), "name").unwrap();
            assert_eq!(name(&["nothing", "font", "base"]), "font");
            // Virtual packages are none.
            assert_eq!(name(&["transport-agent"]), "desktop");
        });
    }

    #[test]
    fn needed_is_the_first_alternative_that_is_there() {
        asked(|questions| {
            let desktop = questions.subject(&["desktop"]).unwrap();
            let distance =
                |packages, kib, largest: &str| Distance { packages, kib, largest: largest.into() };
            // base, mailer, office; then libbase, postman for the virtual transport-agent, libfoo, and font where
            // gone is gone. Not courier, which provides transport-agent too, but later in the list.
            let wanted = [distance(3, 321, "office"), distance(4, 97, "font")];
            assert_eq!(questions.needed(desktop).unwrap(), wanted);
            let libbase = questions.subject(&["libbase"]).unwrap();
            assert_eq!(questions.needed(libbase).unwrap(), [distance(1, 1, "base")]);
        });
    }

    #[test]
    fn dependents_are_counted_once_and_to_the_end() {
        asked(|questions| {
            let wanted =
                |name: &str, direct, all, hops| Wanted { name: name.into(), direct, all, hops };
            let most = [
                wanted("base", 5, 6, 2),
                wanted("office", 2, 2, 1),
                wanted("mailer", 2, 2, 1),
                wanted("libfoo", 2, 4, 2),
            ];
            assert_eq!(questions.most_wanted(4).unwrap(), most);
            // desktop, postman, courier and loop-c are not depended on by their names.
            assert_eq!(questions.most_wanted(100).unwrap().len(), 8);
        });
    }

    #[test]
    fn a_chain_has_the_clauses_as_they_were_written() {
        asked(|questions| {
            let desktop = questions.subject(&["desktop"]).unwrap();
            let to_libfoo = chain(
                "desktop",
                &[(false, "office (>= 2) | gone", "office"), (false, "libfoo (>= 1)", "libfoo")],
            );
            let pairs = [("nothing", "base"), ("base", "desktop"), ("desktop", "libfoo")];
            assert_eq!(questions.chain(&pairs, desktop).unwrap(), to_libfoo);
            let to_postman = chain(
                "desktop",
                &[(false, "mailer", "mailer"), (false, "transport-agent", "postman")],
            );
            assert_eq!(questions.chain(&[("desktop", "postman")], desktop).unwrap(), to_postman);
            let to_libbase =
                chain("desktop", &[(true, "base", "base"), (false, "libbase", "libbase")]);
            assert_eq!(questions.chain(&[("desktop", "libbase")], desktop).unwrap(), to_libbase);
            let to_base = chain("postman", &[(false, "base:any", "base")]);
            assert_eq!(questions.chain(&[("postman", "base")], desktop).unwrap(), to_base);
            // Without such a pair, to the furthest: postman stands before libfoo, font and libbase.
            assert_eq!(questions.chain(&[], desktop).unwrap(), to_postman);
        });
    }

    #[test]
    fn keepers_do_not_count_their_own() {
        asked(|questions| {
            let keeper = |name: &str, packages, dependents| Keeper {
                name: name.into(),
                packages,
                dependents,
            };
            let keepers = [
                keeper("Base Team", 2, 4),
                keeper("Foo", 1, 2),
                keeper("Mail Team", 4, 2),
                keeper("Desktop Team", 2, 1),
            ];
            assert_eq!(questions.keepers(9).unwrap(), keepers);
            assert_eq!(questions.keepers(1).unwrap(), keepers[..1]);
        });
    }

    #[test]
    fn circles_need_one_another_by_first_choices() {
        asked(|questions| {
            // Not office and font, which has office as its second choice only.
            let circles = [vec!["loop-a", "loop-b", "loop-c"], vec!["base", "libbase"]];
            assert_eq!(questions.circles().unwrap(), circles);
        });
    }
}
