//! The ids of the graph, as newtypes, so that a label can never stand where a node is meant.
//!
//! Node and relationship ids are 64 bits, given out in order and never used twice; a relationship
//! keeps its id for life. Names (labels, relationship types, property keys) have 32-bit ids from
//! the catalog. `Display` is the plain decimal number, which is also Cypher's `elementId`.
//! This file holds no behaviour: what an id leads to is the business of the tables.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($raw:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $raw);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl From<$raw> for $name {
            fn from(raw: $raw) -> Self {
                Self(raw)
            }
        }
    };
}

id! {
    /// A node of the graph.
    NodeId(u64)
}
id! {
    /// A relationship of the graph.
    RelationshipId(u64)
}
id! {
    /// A label, as numbered by the catalog.
    LabelId(u32)
}
id! {
    /// A relationship type, as numbered by the catalog.
    TypeId(u32)
}
id! {
    /// A property key, as numbered by the catalog.
    PropertyKeyId(u32)
}

/// Which of a node's relationships are meant, seen from that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The relationships that start at the node.
    Outgoing,
    /// The relationships that end at the node.
    Incoming,
    /// Both; a relationship from a node to itself is seen once.
    Both,
}

impl Direction {
    /// The same relationships, seen from the other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Outgoing => Self::Incoming,
            Self::Incoming => Self::Outgoing,
            Self::Both => Self::Both,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_decimal_and_honour_width() {
        assert_eq!(NodeId(18_446_744_073_709_551_615).to_string(), "18446744073709551615");
        assert_eq!(format!("{:>4}", LabelId(7)), "   7");
    }

    #[test]
    fn reversing_twice_changes_nothing() {
        for direction in [Direction::Outgoing, Direction::Incoming, Direction::Both] {
            assert_eq!(direction.reversed().reversed(), direction);
        }
        assert_eq!(Direction::Outgoing.reversed(), Direction::Incoming);
    }
}
