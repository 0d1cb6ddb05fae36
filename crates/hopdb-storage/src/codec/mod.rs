//! Order-preserving keys, value tags and varints.
