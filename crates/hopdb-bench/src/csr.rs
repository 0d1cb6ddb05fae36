//! Adjacency as plain arrays in memory: the limit that a walk is measured against.

/// Compressed sparse rows: the pairs of node `n` are `pairs[offsets[n]..offsets[n + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct Csr {
    offsets: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl Csr {
    /// Builds from (start, end) rows; relationships are numbered in the order of start and end.
    #[must_use]
    pub fn new(nodes: u32, mut rows: Vec<(u32, u32)>) -> Self {
        rows.sort_unstable();
        let mut offsets = vec![0; nodes as usize + 1];
        for (start, _) in &rows {
            offsets[*start as usize + 1] += 1;
        }
        for node in 0..nodes as usize {
            offsets[node + 1] += offsets[node];
        }
        let pairs = (0..).zip(&rows).map(|(id, (_, end))| (*end, id)).collect();
        Self { offsets, pairs }
    }

    /// The (neighbour, relationship) pairs of a node.
    #[inline]
    #[must_use]
    pub fn pairs(&self, node: u32) -> &[(u32, u32)] {
        let (start, end) = (self.offsets[node as usize], self.offsets[node as usize + 1]);
        &self.pairs[start as usize..end as usize]
    }

    /// Appends all end pairs of the two-hop walks from a node.
    pub fn two_hops(&self, node: u32, out: &mut Vec<(u32, u32)>) {
        for (neighbour, _) in self.pairs(node) {
            out.extend_from_slice(self.pairs(*neighbour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hops_follow_the_rows() {
        let csr = Csr::new(4, vec![(2, 3), (0, 2), (0, 1), (1, 3), (1, 0)]);
        let mut ends = Vec::new();
        csr.two_hops(0, &mut ends);
        assert_eq!(ends, [(0, 2), (3, 3), (3, 4)]);
        assert!(csr.pairs(3).is_empty());
    }
}
