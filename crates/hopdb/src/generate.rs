//! Graphs to measure with, made from a seed: the same seed gives the same files on every machine.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::load::{IndexFor, LoadPlan, NodeFiles, RelationshipFiles};

/// The benchmark's friends graph: people with distinct friends each, chosen at random, never themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Friends {
    /// Number of people, at least one more than `friends`.
    pub people: u64,
    /// Friends of each, all different.
    pub friends: u64,
    /// Seed of the choice.
    pub seed: u64,
}

impl Friends {
    /// The people, as CSV with an import header: `id`, `name`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_people(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"id:ID(Person),name:string\n")?;
        (0..self.people).try_for_each(|person| writeln!(out, "{person},person{person}"))
    }

    /// The friendships, as CSV with an import header.
    ///
    /// # Errors
    /// `InvalidInput` when there are too few people; those of `out`.
    pub fn write_friends(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b":START_ID(Person),:END_ID(Person)\n")?;
        self.for_each(|person, friend| writeln!(out, "{person},{friend}"))
    }

    /// How the two files are loaded: `:Person` nodes with a unique index over `id`, `FRIEND` relationships.
    #[must_use]
    pub fn load_plan(people: PathBuf, friends: PathBuf) -> LoadPlan {
        LoadPlan {
            nodes: vec![NodeFiles { labels: vec!["Person".into()], files: vec![people] }],
            relationships: vec![RelationshipFiles {
                relationship_type: Some("FRIEND".into()),
                files: vec![friends],
            }],
            indexes: vec![IndexFor { label: "Person".into(), property: "id".into(), unique: true }],
            ..LoadPlan::default()
        }
    }

    /// Calls `each` with (person, friend), person by person.
    ///
    /// # Errors
    /// `InvalidInput` when there are too few people; those of `each`.
    pub fn for_each(&self, mut each: impl FnMut(u64, u64) -> io::Result<()>) -> io::Result<()> {
        if self.friends >= self.people && self.people > 0 {
            let what = format!("{} people cannot have {} friends each", self.people, self.friends);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut chosen: Vec<u64> = Vec::new();
        for person in 0..self.people {
            chosen.clear();
            while (chosen.len() as u64) < self.friends {
                let friend = random.u64(0..self.people);
                if friend != person && !chosen.contains(&friend) {
                    chosen.push(friend);
                }
            }
            chosen.iter().try_for_each(|friend| each(person, *friend))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_distinct_friends_and_a_seed_fixes_them() {
        let graph = Friends { people: 50, friends: 49, seed: 7 };
        let mut pairs = Vec::new();
        graph
            .for_each(|person, friend| {
                assert_ne!(person, friend);
                pairs.push((person, friend));
                Ok(())
            })
            .unwrap();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 50 * 49);
        let mut first = Vec::new();
        Friends { people: 5, friends: 2, seed: 1 }.write_friends(&mut first).unwrap();
        let mut again = Vec::new();
        Friends { people: 5, friends: 2, seed: 1 }.write_friends(&mut again).unwrap();
        assert_eq!(first, again);
        assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 11);
    }

    #[test]
    fn too_few_people_are_refused() {
        let graph = Friends { people: 3, friends: 3, seed: 1 };
        let error = graph.write_friends(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
