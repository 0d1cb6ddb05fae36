//! What a package needs: of each clause of Depends and Pre-Depends the first alternative that is there.
//!
//! A virtual package is there when a package provides it; the first one in apt's list then stands for it. So this is
//! what apt takes when nothing is installed and nothing conflicts; versions are not compared.

use std::collections::{HashMap, HashSet};

use hopdb::kv::ReadTxn;
use hopdb::{
    Direction, Expander, NodeId, Pair, Reader, Relationship, RelationshipId, Snapshot, TypeId,
    Value,
};

use crate::failure::Failure;

/// A package that another needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Need {
    /// The package.
    pub(super) package: NodeId,
    /// The relationship that says so.
    pub(super) by: RelationshipId,
    /// Whether `by` leads to a virtual package that this one provides.
    pub(super) provided: bool,
}

/// All that a package needs, and what that needs, and so on.
pub(super) struct Closure {
    /// By distance; the package itself is at 0.
    pub(super) by_distance: Vec<Vec<NodeId>>,
    /// For each but the first, the nearer package that needs it.
    needed_by: HashMap<NodeId, (NodeId, Need)>,
}

impl Closure {
    /// The shortest chain of needs that leads to a package; empty for the first, and for one that is not needed.
    pub(super) fn chain(&self, to: NodeId) -> Vec<Need> {
        let mut chain = Vec::new();
        let mut at = to;
        while let Some((nearer, need)) = self.needed_by.get(&at) {
            chain.push(*need);
            at = *nearer;
        }
        chain.reverse();
        chain
    }
}

/// Looks needs up.
pub(super) struct Needs<'s> {
    reader: Reader<'s, ReadTxn>,
    /// Along `DEPENDS` and `PRE_DEPENDS`, as far as there are any.
    depends: Vec<Expander<'s, ReadTxn>>,
    /// From virtual packages to what provides them.
    providers: Option<Expander<'s, ReadTxn>>,
    packages: HashSet<NodeId>,
}

/// A package that a clause names: number of the clause, number of the alternative, node, relationship.
type Named = (i64, i64, NodeId, RelationshipId);

impl<'s> Needs<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, packages: &[NodeId]) -> Self {
        let reader = snapshot.reader();
        let types = dependency_types(snapshot).into_iter();
        let depends = types.map(|type_id| reader.expander(Direction::Outgoing, Some(type_id)));
        let provides = reader.catalog().relationship_type("PROVIDES");
        let providers =
            provides.map(|provides| reader.expander(Direction::Incoming, Some(provides)));
        let packages = packages.iter().copied().collect();
        Self { reader, depends: depends.collect(), providers, packages }
    }

    /// What one package needs, each package once, ascending.
    pub(super) fn of(&mut self, package: NodeId) -> Result<Vec<Need>, Failure> {
        let mut needs = Vec::new();
        let mut pairs: Vec<Pair> = Vec::new();
        for index in 0..self.depends.len() {
            pairs.clear();
            self.depends[index].expand(package, &mut pairs)?;
            let mut named = Vec::with_capacity(pairs.len());
            for (node, by) in &pairs {
                let Some(found) = self.reader.relationship(*by)? else { continue };
                let [clause, alternative] = place(&found);
                named.push((clause, alternative, *node, *by));
            }
            named.sort_unstable();
            for clause in named.chunk_by(|a, b| a.0 == b.0) {
                needs.extend(self.first(clause)?);
            }
        }
        needs.sort_unstable();
        needs.dedup_by_key(|need| need.package);
        Ok(needs)
    }

    /// All that a package needs in the end.
    pub(super) fn closure(&mut self, package: NodeId) -> Result<Closure, Failure> {
        let mut by_distance = vec![vec![package]];
        let mut needed_by = HashMap::new();
        while let Some(nearer) = by_distance.last().filter(|nodes| !nodes.is_empty()) {
            let mut new = Vec::new();
            for node in nearer {
                for need in self.of(*node)? {
                    if need.package != package && !needed_by.contains_key(&need.package) {
                        needed_by.insert(need.package, (*node, need));
                        new.push(need.package);
                    }
                }
            }
            by_distance.push(new);
        }
        by_distance.pop();
        Ok(Closure { by_distance, needed_by })
    }

    /// The first alternative that is there.
    fn first(&mut self, clause: &[Named]) -> Result<Option<Need>, Failure> {
        for (_, _, node, by) in clause {
            if self.packages.contains(node) {
                return Ok(Some(Need { package: *node, by: *by, provided: false }));
            }
            let mut providers = Vec::new();
            if let Some(expander) = &mut self.providers {
                expander.expand(*node, &mut providers)?;
            }
            // The packages were numbered in the order of apt's list.
            if let Some((provider, _)) = providers.iter().min() {
                return Ok(Some(Need { package: *provider, by: *by, provided: true }));
            }
        }
        Ok(None)
    }
}

/// Which clause of its field a relationship stands for, and which alternative of the clause.
pub(super) fn place(relationship: &Relationship) -> [i64; 2] {
    ["clause", "alternative"].map(|key| {
        let mut properties = relationship.properties.iter();
        match properties.find(|(name, _)| &**name == key) {
            Some((_, Value::Integer(number))) => *number,
            _ => 0,
        }
    })
}

/// The types `DEPENDS` and `PRE_DEPENDS`, as far as the database has them.
pub(super) fn dependency_types(snapshot: &Snapshot) -> Vec<TypeId> {
    let catalog = snapshot.reader().catalog();
    let types = ["DEPENDS", "PRE_DEPENDS"];
    types.iter().filter_map(|name| catalog.relationship_type(name)).collect()
}
