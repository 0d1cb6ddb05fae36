//! Relationship files into rows sorted by their start: read on all cores, gathered in the order of the files.

use std::path::Path;

use super::bad_rows::BadRows;
use super::blocks::{Blocks, Part};
use super::byte_sort::{ByteSorter, SortedEntries};
use super::header::{Column, FileKind, Header, Role};
use super::ids::{Ids, Lookup};
use super::node_rows::property_columns;
use super::ordered::ordered;
use super::parts::Group;
use super::plan::{GuessedColumn, RelationshipFiles};
use super::relationship_rows::{End, RelationshipBatch, RelationshipColumns, TypeName};
use super::run::Context;
use super::words::{Fields, NUMBERS_MAX, Piece, Sorted, TYPES_MAX, Widths, WordSorter};
use crate::catalog::{Catalog, IndexDefinition};
use crate::error::{GraphError, LoadError, Result};
use crate::ids::TypeId;
use crate::write::{GraphTxn, check_name};

/// All relationships of a load.
#[derive(Debug)]
pub(super) struct LoadedRelationships {
    /// Sorted by start; [`has_properties`] tells from the number whether a row has some.
    pub(super) words: Sorted,
    pub(super) count: u64,
    /// Property blocks under the words that have some.
    pub(super) properties: SortedEntries,
}

/// Most relationships of a load: their numbers have a bit to spare.
const ROWS_MAX: u64 = NUMBERS_MAX / 2;

/// Where the ids of nodes that were there before are kept: label and property, by id space.
pub(super) type IdProperties = Vec<(String, String, String)>;

/// Opens the relationship files of the plan.
pub(super) fn open(
    context: &Context<'_>,
    txn: &mut GraphTxn,
    (ids, kept): (&mut Ids, &IdProperties),
    guessed: &mut Vec<GuessedColumn>,
) -> Result<Vec<Part<RelationshipColumns>>> {
    let mut parts = Vec::new();
    for group in &context.plan.relationships {
        let opened = Group::open(context, FileKind::Relationships, &group.files, guessed)?;
        for part in opened.parts {
            let columns = RelationshipColumns::resolve(context, &part, group, (txn, ids, kept))?;
            let Part { file, width, content, .. } = part;
            parts.push(Part { file, columns: columns.into(), width, content });
        }
    }
    Ok(parts)
}

impl RelationshipColumns {
    fn resolve(
        context: &Context<'_>,
        part: &Part<Header>,
        group: &RelationshipFiles,
        (txn, ids, kept): (&mut GraphTxn, &mut Ids, &IdProperties),
    ) -> Result<Self> {
        let (plan, header) = (context.plan, &*part.columns);
        let mut end = |mut columns: Vec<Column>, named: &Option<(String, String)>| {
            let column = columns.first().expect("a header without ends is refused");
            let (space, said) = end_role(&column.role);
            let lookup = Lookup {
                index: index_for(context, txn, (&space, said.or(named.clone())), kept).map_err(
                    |reason| {
                        LoadError::line(&*part.file, 1, reason)
                            .at_column(column.index + 1, &column.text)
                    },
                )?,
                space: ids.space(&space),
            };
            // Nodes that were there before may be found by less.
            if let Err(count) = ids.give_types(lookup.space, &mut columns)
                && lookup.index.is_none()
            {
                return Err(other_count(&part.file, &columns, count).into());
            }
            let is_plain = !plan.fields.trim_strings
                && matches!(&columns[..], [column] if !column.is_number());
            Ok::<_, GraphError>(End { columns, lookup, is_plain })
        };
        let start = end(header.start_ids().cloned().collect(), &plan.start_nodes)?;
        let end = end(header.end_ids().cloned().collect(), &plan.end_nodes)?;
        let type_id = match &group.relationship_type {
            Some(name) => {
                check_name("relationship type", name)?;
                Some(txn.catalog_mut().type_or_new(name))
            }
            None => None,
        };
        let properties = property_columns(header, &part.file, txn)?;
        let type_column = header.type_column().cloned();
        if type_column.is_none() && type_id.is_none() {
            let reason = "no relationship type: give the header a :TYPE column, or name the type: \
                          --relationships=TYPE=file";
            return Err(LoadError::line(&*part.file, 1, reason).into());
        }
        Ok(Self { start, end, type_column, type_id, properties })
    }
}

fn other_count(file: &Path, columns: &[Column], wanted: usize) -> LoadError {
    let (column, found) = (&columns[0], columns.len());
    let reason = format!(
        "the ids of these nodes are made of {wanted} columns, those of this end of {found}; give it as many"
    );
    LoadError::line(file, 1, reason).at_column(column.index + 1, &column.text)
}

/// The id space of an end, and label and property where its header names them.
fn end_role(role: &Role) -> (String, Option<(String, String)>) {
    let (Role::StartId { space, property, label } | Role::EndId { space, property, label }) = role
    else {
        unreachable!("it is the column of an end")
    };
    (space.clone(), label.clone().zip(property.clone()))
}

/// The index by which nodes that were there before are found; the error is the reason alone.
fn index_for(
    context: &Context<'_>,
    txn: &GraphTxn,
    (space, said): (&str, Option<(String, String)>),
    kept: &IdProperties,
) -> std::result::Result<Option<IndexDefinition>, String> {
    let catalog = &txn.catalog;
    let find = |label: &str, property: &str| {
        let (label, property) = (catalog.label(label)?, catalog.property_key(property)?);
        catalog.index(label, property).copied()
    };
    if let Some((label, property)) = said {
        return match find(&label, &property) {
            _ if !context.into_existing => Ok(None),
            Some(index) if index.unique => Ok(Some(index)),
            Some(_) => Err(format!(
                "the index on {label}.{property} is not unique: a value could mean several nodes; \
                 name one that is unique"
            )),
            None => Err(format!(
                "the graph has no unique index on {label}.{property} to find the nodes by; \
                 make it by a load before this one, with --unique {label}.{property}"
            )),
        };
    }
    let in_space = kept.iter().filter(|(other, ..)| other == space);
    let mut found = in_space.filter_map(|(_, label, property)| find(label, property));
    Ok(found.find(|index| index.unique && context.into_existing))
}

/// Reads all rows of relationships; names of types that are new are added to `names`.
pub(super) fn read(
    context: &Context<'_>,
    parts: Vec<Part<RelationshipColumns>>,
    (names, ids): (&mut Catalog, &Ids),
    bad_rows: &mut BadRows<'_>,
) -> Result<LoadedRelationships> {
    let has_properties = parts.iter().any(|part| !part.columns.properties.is_empty());
    let share = context.memory.sort_bytes(ids.memory_bytes()) / 2;
    let (words, properties) = if has_properties { (share / 2, share / 2) } else { (share, 0) };
    let has_types = parts.iter().any(|part| part.columns.type_column.is_some());
    let types =
        if has_types { TYPES_MAX.into() } else { names.relationship_types().count() as u64 };
    let numbers = if has_properties { NUMBERS_MAX } else { 1 };
    let widths = Widths::new(ids.end(), types, numbers);
    let mut gathered = Gathered {
        words: WordSorter::new(&context.scratch, words, widths),
        properties: ByteSorter::new(&context.scratch, properties),
        are_numbered: has_properties,
    };
    let final_widths = (!has_properties).then_some(widths);
    let mut blocks = Blocks::new(context, parts);
    ordered(
        context.memory.under_way(),
        || blocks.next_weighed(),
        |block| RelationshipBatch::read(&block, &context.rules, ids, final_widths),
        |batch: Result<RelationshipBatch>| {
            let mut batch = batch?;
            for bad in std::mem::take(&mut batch.bad) {
                bad_rows.take(bad)?;
            }
            gathered.take(batch, names)?;
            context.progress.set_relationships(gathered.words.count());
            Ok(())
        },
    )?;
    let count = gathered.words.count();
    Ok(LoadedRelationships {
        words: gathered.words.finish()?,
        count,
        properties: gathered.properties.finish()?,
    })
}

struct Gathered {
    words: WordSorter,
    properties: ByteSorter,
    /// Whether rows are numbered: then those alike stay in the order of the files, properties or not.
    are_numbered: bool,
}

/// Whether the row of a word with this number has properties.
pub(super) fn has_properties(number: u64) -> bool {
    number & 1 != 0
}

impl Gathered {
    fn take(&mut self, batch: RelationshipBatch, names: &mut Catalog) -> Result<()> {
        let RelationshipBatch { mut words, piece, types, properties, with_properties, .. } = batch;
        let first = self.words.count();
        let rows = piece.as_ref().map_or(words.len(), Piece::len);
        if first + rows as u64 > ROWS_MAX {
            return Err(GraphError::TooMany { what: "relationships", most: ROWS_MAX });
        }
        if let Some(piece) = piece {
            return self.words.push(piece);
        }
        if !types.is_empty() {
            name_types(&mut words, &types, names)?;
        }
        if self.are_numbered {
            for (row, word) in (first..).zip(&mut words) {
                *word |= u128::from(row << 1);
            }
        }
        for (at, block) in with_properties {
            let word = &mut words[at as usize];
            *word |= 1;
            let block = &properties[block.start as usize..block.end as usize];
            self.properties.push(&word.to_be_bytes(), block)?;
        }
        self.words.push(self.words.widths().piece(&words))
    }
}

/// Puts the ids of types for their positions among the names.
fn name_types(words: &mut [u128], types: &[TypeName], names: &mut Catalog) -> Result<()> {
    let ids: Vec<TypeId> = types
        .iter()
        .map(|name| match name {
            TypeName::Known(type_id) => *type_id,
            TypeName::Named(name) => names.type_or_new(name),
        })
        .collect();
    if ids.iter().any(|type_id| type_id.0 >= TYPES_MAX) {
        let most = u64::from(TYPES_MAX);
        return Err(GraphError::TooMany { what: "relationship types", most });
    }
    for word in words {
        let fields = Fields::unpack(*word);
        *word = Fields { type_id: ids[fields.type_id as usize].0, ..fields }.pack();
    }
    Ok(())
}
