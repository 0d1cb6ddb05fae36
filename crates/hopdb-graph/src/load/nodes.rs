//! Node files into the tables of nodes, labels and indexes.
//!
//! Rows are read on all cores; here they get their numbers, in the order of the files, and go where nodes go: into
//! new tables, of which that of the nodes is written as they come, since ids ascend with them, and the others once
//! all nodes are read; or one by one into a graph that is there.

use hopdb_storage::codec::varint;

use super::bad_rows::{BadRow, BadRows, Fault};
use super::blocks::{Block, Blocks, Part};
use super::header::{Column, FileKind, Header, IdType, Role};
use super::ids::{IdError, Ids};
use super::node_rows::{NodeBatch, NodeColumns, NodeRow, property_columns, shown};
use super::node_tables::NodeTables;
use super::ordered::ordered;
use super::parts::Group;
use super::places;
use super::plan::{GuessedColumn, NodeFiles};
use super::run::Context;
use super::words::NODES_MAX;
use crate::error::{GraphError, LoadError, Result};
use crate::ids::{LabelId, NodeId, PropertyKeyId};
use crate::write::{GraphTxn, check_name};

/// Opens the node files of the plan.
pub(super) fn open(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    ids: &mut Ids,
    guessed: &mut Vec<GuessedColumn>,
) -> Result<Vec<Part<NodeColumns>>> {
    let mut parts = Vec::new();
    for group in &context.plan.nodes {
        let opened = Group::open(context, FileKind::Nodes, &group.files, guessed)?;
        for part in opened.parts {
            let columns = NodeColumns::resolve(context, &part, group, (txn, ids))?;
            let Part { file, width, content, .. } = part;
            parts.push(Part { file, columns: columns.into(), width, content });
        }
    }
    Ok(parts)
}

impl NodeColumns {
    fn resolve(
        context: &Context<'_>,
        part: &Part<Header>,
        group: &NodeFiles,
        (txn, ids): (&mut GraphTxn, &mut Ids),
    ) -> Result<Self> {
        let header = &*part.columns;
        let mut labels = Vec::new();
        for label in &group.labels {
            check_name("label", label)?;
            let label = txn.catalog_mut().label_or_new(label);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let properties = property_columns(header, &part.file, txn)?;
        let id_columns: Vec<Column> = header.ids().cloned().collect();
        let space = match id_columns.first().map(|column| &column.role) {
            Some(Role::Id { space, .. }) => ids.space(space),
            _ => ids.space(""),
        };
        ids.set_types(space, &id_columns);
        if context.plan.id_type == IdType::Actual && id_columns.len() > 1 {
            let reason = "with --id-type actual an id is the number of a node: one column only";
            let column = &id_columns[1];
            let error = LoadError::line(&*part.file, 1, reason);
            return Err(error.at_column(column.index + 1, &column.text).into());
        }
        let mut indexes = Vec::new();
        for (number, index) in context.plan.indexes.iter().enumerate() {
            let key = txn.catalog_mut().property_key_or_new(&index.property);
            if properties.iter().any(|(_, property)| *property == key) {
                indexes.push((number, key));
            }
        }
        let label = header.label().cloned();
        // Numbers of nodes are looked at more closely when they are taken.
        let check_ids = context.plan.id_type != IdType::Actual
            && id_columns.iter().any(|column| {
                column.is_number() && matches!(column.role, Role::Id { property: None, .. })
            });
        Ok(Self { properties, ids: id_columns, check_ids, space, label, labels, indexes })
    }
}

/// Reads all rows of nodes; gives their number.
pub(super) fn read(
    context: &Context<'_>,
    parts: Vec<Part<NodeColumns>>,
    (txn, ids): (&mut GraphTxn, &mut Ids),
    tables: &mut NodeTables,
    bad_rows: &mut BadRows<'_>,
) -> Result<u64> {
    let mut blocks = Blocks::new(context, parts);
    let mut taker = Taker { context, txn, ids, tables, bad_rows, count: 0, record: Vec::new() };
    ordered(
        context.memory.under_way(),
        || blocks.next_weighed(),
        |block| {
            let batch = NodeBatch::read(&block, &context.rules);
            (block, batch)
        },
        |(block, batch)| taker.take(&block, batch),
    )?;
    Ok(taker.count)
}

/// Takes batches in order.
struct Taker<'t, 'p> {
    context: &'t Context<'t>,
    txn: &'t mut GraphTxn,
    ids: &'t mut Ids,
    tables: &'t mut NodeTables,
    bad_rows: &'t mut BadRows<'p>,
    count: u64,
    record: Vec<u8>,
}

/// The labels of some nodes, and how a record begins that has them.
struct Labels {
    ids: Vec<LabelId>,
    head: Vec<u8>,
}

impl Labels {
    fn new(mut ids: Vec<LabelId>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        let mut head = Vec::new();
        varint::put(&mut head, ids.len() as u64);
        for id in &ids {
            varint::put(&mut head, u64::from(id.0));
        }
        Self { ids, head }
    }
}

impl Taker<'_, '_> {
    fn take(&mut self, block: &Block<NodeColumns>, mut batch: NodeBatch) -> Result<()> {
        let columns = &*block.columns;
        let all = Labels::new(columns.labels.clone());
        let sets: Vec<Labels> = batch
            .label_sets
            .iter()
            .map(|names| {
                let ids = names.iter().map(|name| self.txn.catalog_mut().label_or_new(name));
                Labels::new(columns.labels.iter().copied().chain(ids).collect())
            })
            .collect();
        let rows = std::mem::take(&mut batch.rows);
        for (number, row) in rows.into_iter().enumerate() {
            let taken = match row {
                Ok(row) => {
                    let labels = row.label_set.map_or(&all, |set| &sets[set as usize]);
                    self.node(block, (number, &row), &batch, labels)?
                }
                Err(bad) => Err(*bad),
            };
            match taken {
                Ok(()) => self.count += 1,
                Err(bad) => self.bad_rows.take(bad)?,
            }
        }
        self.context.progress.set_nodes(self.count);
        self.context.memory.check_ids(self.ids.memory_bytes())
    }

    fn node(
        &mut self,
        block: &Block<NodeColumns>,
        (number, row): (usize, &NodeRow),
        batch: &NodeBatch,
        labels: &Labels,
    ) -> Result<std::result::Result<(), BadRow>> {
        if self.ids.end() >= NODES_MAX {
            return Err(GraphError::TooMany { what: "nodes", most: NODES_MAX });
        }
        let id = batch.bytes(&row.id);
        let record = &mut self.record;
        record.clear();
        record.extend_from_slice(&labels.head);
        record.extend_from_slice(batch.bytes(&row.properties));
        // Before it gets a number: an id must not lead to a node that is not there.
        if let Some(refused) = self.tables.refused_property(self.txn, record)?
            && !self.ids.is_taken(block.columns.space, id)
        {
            return Ok(Err(self.refused(block, number, refused)));
        }
        let node = if id.is_empty() {
            self.ids.insert_nameless()
        } else {
            match self.ids.insert(block.columns.space, id) {
                Ok(node) => node,
                Err(error) => return Ok(Err(self.no_id(block, number, id, error)?)),
            }
        };
        let keys = &batch.keys[row.keys.start as usize..row.keys.end as usize];
        let entries = keys.iter().map(|key| (key.index, batch.bytes(&key.bytes), key.cut));
        self.tables.add(self.txn, (node, &self.record), &labels.ids, entries)?;
        Ok(Ok(()))
    }

    /// A node that the graph does not take, because one that was there before has its id or another unique value.
    #[cold]
    fn refused(
        &self,
        block: &Block<NodeColumns>,
        number: usize,
        (property, error): (PropertyKeyId, GraphError),
    ) -> BadRow {
        let bad = bad_row(block, &self.context.rules, number, error.to_string());
        let found = block.columns.properties.iter().find(|(_, key)| *key == property);
        let Some((column, _)) = found else { return bad };
        let is_id = matches!(column.role, Role::Id { .. });
        let fault = if is_id { Fault::Duplicate } else { Fault::Wrong };
        BadRow { error: bad.error.at_column(column.index + 1, &column.text), fault, ..bad }
    }

    #[cold]
    fn no_id(
        &self,
        block: &Block<NodeColumns>,
        number: usize,
        id: &[u8],
        error: IdError,
    ) -> Result<BadRow> {
        let space = match self.ids.space_name(block.columns.space) {
            "" => String::new(),
            name => format!(" in the id space {name}"),
        };
        let shown = shown(id);
        let (fault, reason) = match error {
            IdError::Taken(first) => (
                Fault::Duplicate,
                format!("the id {shown} is taken{space}: {}", self.owner(first)?),
            ),
            IdError::NoNumber => (
                Fault::Wrong,
                format!("{shown} is no number of a node; --id-type actual wants numbers from 0"),
            ),
            IdError::NotAscending { least } => (
                Fault::Wrong,
                format!(
                    "{shown} does not ascend: with --id-type actual {least} or more must come here; \
                     sort the rows, or use --id-type integer"
                ),
            ),
        };
        let bad = bad_row(block, &self.context.rules, number, reason);
        let error = match block.columns.ids.first() {
            Some(column) => bad.error.at_column(column.index + 1, &column.text),
            None => bad.error,
        };
        Ok(BadRow { error, fault, ..bad })
    }

    /// Where a node came from, for people. Looked up only where it stops the load: it reads the files again.
    fn owner(&self, first: NodeId) -> Result<String> {
        let rules = &self.context.plan.bad_rows;
        let is_last = rules.tolerance == 0 && !rules.skip_duplicate_nodes;
        let place = if is_last { places::of(self.context, first)? } else { None };
        Ok(match place {
            Some(place) => format!("{}:{} has it", place.file.display(), place.line),
            None => "an earlier row has it".into(),
        })
    }
}

/// A row of a block, from its number there.
#[cold]
fn bad_row(
    block: &Block<NodeColumns>,
    rules: &super::blocks::RowRules,
    number: usize,
    reason: String,
) -> BadRow {
    let mut at = 0;
    let mut found = None;
    block.for_each(rules, |row| {
        if at == number
            && let Ok(row) = row
        {
            found = Some(row.bad(Fault::Wrong, None, reason.clone()));
        }
        at += 1;
    });
    found.expect("the row was read before")
}
