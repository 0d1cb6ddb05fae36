//! How a node and a page lie in the file, as the library takes them apart.

use hopdb::{GraphError, NodeId, inspect};
use serde::Serialize;

use super::{Answer, Call};
use crate::failure::{Code, Failure};
use crate::query::digits;
use crate::shapes::{WholeNode, whole_node};

#[derive(Serialize)]
struct InspectedNode {
    node: WholeNode,
    #[serde(flatten)]
    cells: inspect::Node,
}

pub(super) fn node(call: &Call<'_>) -> Result<Answer, Failure> {
    let id = NodeId(call.id()?);
    let snapshot = call.service.db.read()?;
    let cells = snapshot.inspect_node(id)?.ok_or(GraphError::NodeMissing(id))?;
    call.found(&InspectedNode { node: whole_node(snapshot.reader(), id)?, cells })
}

pub(super) fn page(call: &Call<'_>) -> Result<Answer, Failure> {
    let bad = || Failure::parameter("the page in the path", &call.id, "a number up to 4294967295");
    let page: u32 = digits(&call.id).ok_or_else(bad)?;
    let snapshot = call.service.db.read()?;
    match snapshot.inspect_page(page.into())? {
        Some(page) => call.found(&page),
        None => {
            let last = snapshot.page_count().saturating_sub(1);
            let message = format!("there is no page {page}");
            Err(Failure::new(Code::NotFound, message).hint(format!("the last one is {last}")))
        }
    }
}
