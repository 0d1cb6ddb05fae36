//! Where a node of a load came from, for messages: its files are read again.

use super::blocks::Blocks;
use super::header::{FileKind, IdType};
use super::parts::Group;
use super::run::Context;
use crate::error::{LoadError, Result};
use crate::ids::NodeId;

/// The row of a node, the load being one in which all rows before it were good; `None` when numbers do not count
/// the rows of the files, or one can be read only once.
pub(super) fn of(context: &Context<'_>, node: NodeId) -> Result<Option<LoadError>> {
    let mut files = context.plan.nodes.iter().flat_map(|group| &group.files);
    let plan = context.plan;
    let counts = context.first_node == 0 && plan.id_type != IdType::Actual && plan.again.is_none();
    if !counts || files.any(|file| context.source.len(file).is_none()) {
        return Ok(None);
    }
    let mut number = 0;
    for group in &context.plan.nodes {
        let parts = Group::open(context, FileKind::Nodes, &group.files, &mut Vec::new())?.parts;
        let mut blocks = Blocks::new(context, parts);
        while let Some(block) = blocks.next()? {
            let mut found = None;
            block.for_each(&context.rules, |row| {
                if let Ok(row) = row {
                    if number == node.0 {
                        found = Some(LoadError::line(&*block.file, row.line(), ""));
                    }
                    number += 1;
                }
            });
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}
