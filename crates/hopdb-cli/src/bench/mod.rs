//! `hop bench`: measures a database, on the user's machine and data.

mod commit;
mod walk;

use clap::Subcommand;
use hopdb::{NodeId, Snapshot};

use crate::failure::Failure;
use crate::names;
use crate::screen::Screen;

pub(crate) use walk::{Measured, Walks, measure};

/// Measure a database: walks, or commits
///
/// Measures the file that is given, with its own data; run the release build, on a quiet machine.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Walk(walk::Args),
    Commit(commit::Args),
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    match &args.what {
        What::Walk(args) => walk::run(args, screen),
        What::Commit(args) => commit::run(args, screen),
    }
}

/// The nodes with a label, or all.
pub(crate) fn nodes(snapshot: &Snapshot, label: Option<&str>) -> Result<Vec<NodeId>, Failure> {
    let reader = snapshot.reader();
    let mut nodes = Vec::new();
    let push = |node| {
        nodes.push(node);
        Ok(())
    };
    match label {
        Some(label) => {
            let label = names::label(reader.catalog(), label)?;
            reader.for_each_node_with_label(label, push)?;
        }
        None => reader.for_each_node(push)?,
    }
    if nodes.is_empty() {
        let message = match label {
            Some(label) => format!("there are no nodes :{label}"),
            None => "the database has no nodes".into(),
        };
        return Err(Failure::NothingFound { message, hint: None });
    }
    Ok(nodes)
}

/// The value below which a part of the sorted values lies; zero of none.
fn quantile(sorted: &[u64], part: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a position in a list, from a part between 0 and 1"
    )]
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_list() {
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!([0.5, 0.99, 1.0, 0.0].map(|part| quantile(&sorted, part)), [50, 99, 100, 1]);
        assert_eq!(quantile(&[7], 0.5), 7);
        assert_eq!(quantile(&[], 0.5), 0);
    }
}
