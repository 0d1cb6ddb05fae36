//! What the tests of several crates need: models, simulations, oracles. No code of the product.

pub mod crash;
#[cfg(feature = "graph")]
pub mod graph_model;
