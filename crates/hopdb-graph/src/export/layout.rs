//! The files of an export: their names, their columns, and which column a value goes to.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::format::{FileColumn, RowFormat};
use super::kinds::Kind;
use super::shapes::{Found, Properties, Shapes};
use crate::catalog::Catalog;
use crate::ids::{LabelId, PropertyKeyId, TypeId};
use crate::load::names::write_name;
use crate::value::Value;
use crate::value::field_text::Separators;

/// Between the names in a column of labels.
pub(super) const LABEL_DELIMITER: char = ';';
/// What a name in a header without backquotes must not hold.
const HEADER_SPECIAL: [char; 1] = [':'];
/// File names take no more of the names in them.
const NAME_CHARS_MAX: usize = 40;

/// All files.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) nodes: Vec<NodeFile>,
    pub(super) relationships: Vec<RelationshipFile>,
    node_of: FxHashMap<Vec<LabelId>, usize>,
    relationship_of: FxHashMap<TypeId, usize>,
    /// Where nodes go whose labels have no file of their own.
    node_rest: usize,
}

/// A file of nodes.
#[derive(Debug)]
pub(super) struct NodeFile {
    /// The labels of all of them; `None` when a column has them.
    pub(super) labels: Option<Vec<LabelId>>,
    pub(super) columns: Columns,
}

/// A file of relationships.
#[derive(Debug)]
pub(super) struct RelationshipFile {
    /// The type of all of them; `None` when a column has it.
    pub(super) type_id: Option<TypeId>,
    pub(super) columns: Columns,
}

/// A file's name and columns.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) file_name: String,
    pub(super) columns: Vec<FileColumn>,
    /// The kinds of each key with their columns, ascending by key.
    places: Vec<(PropertyKeyId, Vec<(Kind, usize)>)>,
}

impl Layout {
    /// Files for what there is: one at least, and one for each label that has an index but no nodes.
    pub(super) fn of(catalog: &Catalog, shapes: Shapes, format: &dyn RowFormat) -> Self {
        let mut names = FileNames { extension: format.extension(), taken: BTreeSet::new() };
        let mut label_sets: Vec<(Option<Vec<LabelId>>, Properties)> =
            shapes.nodes.into_iter().map(|shape| (shape.labels, shape.properties)).collect();
        let node_rest = label_sets.len().saturating_sub(1);
        for index in catalog.indexes() {
            let set = Some(vec![index.label]);
            let is_there = label_sets.iter().any(|(labels, _)| *labels == set);
            if catalog.nodes_with_label(index.label) == 0 && !is_there {
                label_sets.push((set, Properties::new()));
            }
        }
        if label_sets.is_empty() {
            label_sets.push((Some(Vec::new()), Properties::new()));
        }
        let nodes = label_sets.into_iter().map(|(labels, properties)| {
            let name = |label: &LabelId| catalog.label_name(*label).map_or("", |name| name);
            let file_name = match &labels {
                Some(labels) => names.name("nodes", labels.iter().map(name)),
                None => names.name("nodes", ["other"].into_iter()),
            };
            let first: &[_] = match &labels {
                Some(_) => &[(":ID", "long")],
                None => &[(":ID", "long"), (":LABEL", "string")],
            };
            NodeFile { labels, columns: Columns::new(file_name, first, properties, catalog) }
        });
        let nodes = nodes.collect();
        let relationships = shapes.relationships.into_iter().map(|shape| {
            let ends = [(":START_ID", "long"), (":END_ID", "long"), (":TYPE", "string")];
            let type_id = shape.type_id;
            let name = match type_id {
                Some(type_id) => catalog.type_name(type_id).map_or("", |name| name),
                None => "other",
            };
            let file_name = names.name("relationships", [name].into_iter());
            let first = &ends[..if type_id.is_some() { 2 } else { 3 }];
            let columns = Columns::new(file_name, first, shape.properties, catalog);
            RelationshipFile { type_id, columns }
        });
        let relationships = relationships.collect();
        let (node_of, relationship_of) = (shapes.node_of, shapes.relationship_of);
        Self { nodes, relationships, node_of, relationship_of, node_rest }
    }

    /// Position of the file for nodes with these labels.
    pub(super) fn node_file(&self, labels: &[LabelId]) -> usize {
        self.node_of.get(labels).copied().unwrap_or(self.node_rest)
    }

    /// Position of the file for relationships of a type.
    pub(super) fn relationship_file(&self, type_id: TypeId) -> usize {
        let last = self.relationships.len() - 1;
        self.relationship_of.get(&type_id).copied().unwrap_or(last)
    }
}

impl Columns {
    fn new(
        file_name: String,
        first: &[(&str, &str)],
        properties: Properties,
        catalog: &Catalog,
    ) -> Self {
        let special = |(field, type_text): &(&str, &str)| FileColumn {
            field: (*field).into(),
            plain_name: None,
            type_text: (*type_text).into(),
            as_text: false,
        };
        let columns = first.iter().map(special).collect();
        let mut all = Self { file_name, columns, places: Vec::new() };
        for (key, found) in properties {
            let name = catalog.property_key_name(key).map_or("", |name| name);
            let places = all.add(name, &found);
            all.places.push((key, places));
        }
        all
    }

    /// Columns for the kinds of a key.
    fn add(&mut self, name: &str, found: &[Found]) -> Vec<(Kind, usize)> {
        let mut quoted = String::new();
        write_name(name, &HEADER_SPECIAL, &mut quoted);
        let has_lists = found.iter().any(|found| matches!(found.kind, Kind::List(_)));
        let own = |found: &&Found| found.kind != Kind::EmptyList || !has_lists;
        let count = found.iter().filter(own).count();
        let mut places = Vec::new();
        for Found { kind, type_text, fits } in found.iter().filter(own) {
            places.push((*kind, self.columns.len()));
            let is_plain = count == 1 && quoted == name;
            self.columns.push(FileColumn {
                field: format!("{quoted}:{type_text}"),
                plain_name: is_plain.then(|| name.to_owned()),
                type_text: type_text.clone(),
                as_text: !fits || *kind == Kind::Any,
            });
        }
        if has_lists {
            let list = places.iter().find(|(kind, _)| matches!(kind, Kind::List(_)));
            let list = list.map(|(_, column)| (Kind::EmptyList, *column));
            places.extend(list);
        }
        places
    }

    /// The column for a value of a key, and the value as that column has it.
    ///
    /// # Panics
    /// When no such value was seen.
    pub(super) fn place(&self, key: PropertyKeyId, value: Value) -> (usize, Value) {
        let position = self.places.binary_search_by_key(&key, |(key, _)| *key);
        let (_, places) = &self.places[position.expect("the key was seen")];
        let column = |wanted| places.iter().find(|(kind, _)| *kind == wanted).map(|(_, at)| *at);
        let own = column(Kind::of(&value));
        let column = own.or_else(|| column(Kind::Any)).expect("the kind was seen");
        let FileColumn { as_text, type_text, .. } = &self.columns[column];
        let value = match as_text {
            false => value,
            true if type_text == "any" => Value::String(value.to_string()),
            true => Value::String(field_text(&value)),
        };
        (column, value)
    }
}

fn field_text(value: &Value) -> String {
    let mut text = String::new();
    let written = value.write_field(&Separators::default(), &mut text);
    written.expect("such lists are of the kind any");
    text
}

/// Gives names of files, each once, also where upper and lower case are one.
struct FileNames {
    extension: &'static str,
    taken: BTreeSet<String>,
}

impl FileNames {
    fn name<'n>(&mut self, first: &str, names: impl Iterator<Item = &'n str>) -> String {
        let mut stem = first.to_owned();
        for name in names {
            stem.push('-');
            let safe = |char: char| if char.is_alphanumeric() || char == '_' { char } else { '_' };
            stem.extend(name.chars().map(safe));
        }
        let stem: String = stem.chars().take(first.len() + 1 + NAME_CHARS_MAX).collect();
        let mut name = stem.clone();
        for number in 2.. {
            if self.taken.insert(name.to_lowercase()) {
                break;
            }
            name = format!("{stem}-{number}");
        }
        format!("{name}.{}", self.extension)
    }
}
