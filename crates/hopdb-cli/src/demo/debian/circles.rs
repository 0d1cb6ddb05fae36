//! Groups of nodes that all reach one another: strongly connected components, by one search in depth.
//!
//! Gabow, "Path-based depth-first search for strong and biconnected components", 2000. Keeps its path in a list, not
//! on the stack, so that no graph is too deep.

use std::collections::{HashMap, HashSet};

use hopdb::NodeId;

use crate::failure::Failure;

/// All groups of two nodes or more, the order of the search; `next` gives the nodes that a node leads to.
pub(super) fn circles(
    nodes: &[NodeId],
    mut next: impl FnMut(NodeId) -> Result<Vec<NodeId>, Failure>,
) -> Result<Vec<Vec<NodeId>>, Failure> {
    let mut search = Search::default();
    for start in nodes {
        if search.order.contains_key(start) {
            continue;
        }
        search.enter(*start);
        let mut path = vec![(*start, next(*start)?.into_iter())];
        while let Some((node, rest)) = path.last_mut() {
            match rest.next() {
                Some(found) if search.order.contains_key(&found) => search.meet(found),
                Some(found) => {
                    search.enter(found);
                    path.push((found, next(found)?.into_iter()));
                }
                None => {
                    search.leave(*node);
                    path.pop();
                }
            }
        }
    }
    Ok(search.groups)
}

#[derive(Default)]
struct Search {
    /// When each node was entered.
    order: HashMap<NodeId, usize>,
    /// Nodes whose group is known.
    done: HashSet<NodeId>,
    /// The others, as they were entered.
    open: Vec<NodeId>,
    /// Those of them that are the first of their group, as far as is known.
    firsts: Vec<NodeId>,
    groups: Vec<Vec<NodeId>>,
}

impl Search {
    fn enter(&mut self, node: NodeId) {
        self.order.insert(node, self.order.len());
        self.open.push(node);
        self.firsts.push(node);
    }

    /// A node was reached again: while it is open, all on the path behind it are of its group.
    fn meet(&mut self, node: NodeId) {
        if !self.done.contains(&node) {
            let at = self.order[&node];
            while self.firsts.last().is_some_and(|first| self.order[first] > at) {
                self.firsts.pop();
            }
        }
    }

    /// All that a node leads to was seen.
    fn leave(&mut self, node: NodeId) {
        if self.firsts.last() == Some(&node) {
            self.firsts.pop();
            let start = self.open.iter().rposition(|open| *open == node).unwrap_or_default();
            let group = self.open.split_off(start);
            self.done.extend(&group);
            if group.len() > 1 {
                self.groups.push(group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(relationships: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let nodes: Vec<NodeId> = (0..10).map(NodeId).collect();
        let next = |node| {
            let from = relationships.iter().filter(|(from, _)| NodeId(*from) == node);
            Ok(from.map(|(_, to)| NodeId(*to)).collect())
        };
        let mut found: Vec<Vec<u64>> = circles(&nodes, next)
            .unwrap()
            .into_iter()
            .map(|group| group.into_iter().map(|node| node.0).collect())
            .collect();
        found.iter_mut().for_each(|group| group.sort_unstable());
        found.sort_unstable();
        found
    }

    #[test]
    fn only_nodes_that_reach_one_another_are_a_group() {
        assert!(groups(&[(0, 1), (1, 2), (0, 2), (3, 3)]).is_empty());
        assert_eq!(groups(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]), [[0, 1, 2]]);
        // Two circles that share a node are one group; two with a one-way relationship are two.
        assert_eq!(groups(&[(0, 1), (1, 0), (1, 2), (2, 1)]), [[0, 1, 2]]);
        assert_eq!(groups(&[(4, 5), (5, 4), (5, 6), (6, 7), (7, 6)]), [[4, 5], [6, 7]]);
    }

    #[test]
    fn groups_are_those_of_plain_reachability() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let many = random.usize(0..25);
            let mut pair = || (random.u64(0..10), random.u64(0..10));
            let relationships: Vec<_> = (0..many).map(|_| pair()).collect();
            let mut reach = [[false; 10]; 10];
            let at = |node: u64| usize::try_from(node).unwrap();
            relationships.iter().for_each(|(from, to)| reach[at(*from)][at(*to)] = true);
            for by in 0..10 {
                for from in 0..10 {
                    for to in 0..10 {
                        reach[from][to] |= reach[from][by] && reach[by][to];
                    }
                }
            }
            let both = |a: u64, b: u64| a == b || reach[at(a)][at(b)] && reach[at(b)][at(a)];
            let all = (0..10).map(|a| (0..10).filter(|b| both(a, *b)).collect::<Vec<u64>>());
            let mut wanted: Vec<_> = all.filter(|group| group.len() > 1).collect();
            wanted.sort_unstable();
            wanted.dedup();
            assert_eq!(groups(&relationships), wanted, "{relationships:?}");
        }
    }
}
