//! The property graph of HopDB over sorted bytes.
//!
//! Modules, low to high:
//! - [`ids`]: the newtypes everything else speaks in.
//! - [`error`]: what can go wrong here.
//! - [`value`]: property values and their stored form.
//! - [`record`]: a node's labels and properties as bytes.
//! - [`block`]: packed neighbours and packed relationships as bytes.
//! - [`load`]: CSV files as rows, values and node numbers.

pub mod block;
pub mod error;
pub mod ids;
pub mod load;
pub mod record;
pub mod value;

pub use error::GraphError;
