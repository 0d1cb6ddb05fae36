//! Packed blocks: many small facts under one key, delta-coded.
//!
//! - [`adjacency`]: the neighbours of one node, in one direction, by one relationship type.
//! - [`relationships`]: start, end and type of relationships with neighbouring ids.
//!
//! Both are pure: the tables that hold them, and when a block is split, are decided above.

pub mod adjacency;
pub mod relationships;
