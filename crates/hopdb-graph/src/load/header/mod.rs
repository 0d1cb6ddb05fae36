//! The first line of a CSV group: what each column means.
//!
//! A header field is `name`, `name:type`, `name:type[]`, or one of the special columns below; the
//! part after the last colon is the type, upper or lower case, and options in braces behind it.
//! Specials and types are those of `neo4j-admin database import`:
//!
//! | column | in | meaning |
//! |---|---|---|
//! | `:ID`, `:ID(space)`, `name:ID(space)` | nodes | the id that relationships name; kept as the property `name` if there is one |
//! | `:LABEL` | nodes | labels, separated like an array |
//! | `:START_ID(space)`, `:END_ID(space)` | relationships | ids of the two nodes |
//! | `:TYPE` | relationships | the relationship type |
//! | `:IGNORE`, `name:IGNORE` | both | not read |
//! | `name:int`, … | both | a property; see [`Scalar`] for the types, string when none is said |
//!
//! | options | of | meaning |
//! |---|---|---|
//! | `{id-type:int, label:Person}` | `ID`, `START_ID`, `END_ID` | how ids are kept; the label of nodes that exist already, which the named property finds |
//! | `{timezone:+01:00}` | `time`, `datetime` | the zone of values that name none; `datetime` also `Europe/London` |
//! | `{crs:WGS-84}` | `point` | what a point does not say itself |
//! | `{coordinateType:float, dimensions:3}` | `vector` | what all of them are, always said |
//!
//! Several columns of ids make one id together. A property may come twice, with different types: a
//! row then fills one of the columns at most, which whoever reads rows checks. Our own: `bytes` (hex
//! with `0x`), `any` (a Cypher literal), and names in backquotes (`names`). Files without such headers: [`PlainColumns`]. Pure: the caller reads the line and
//! gives its fields.

mod checks;
mod column;
mod plain;
mod types;

use std::path::Path;
use std::str::FromStr;

pub use plain::{PlainColumns, is_plain};
pub use types::{ColumnType, Scalar, TypeOptions};

use crate::error::LoadError;

/// Which kind of file a header belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One node per row.
    Nodes,
    /// One relationship per row.
    Relationships,
}

/// What the ids of files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdType {
    /// Any text.
    #[default]
    String,
    /// Integers of 64 bits.
    Integer,
    /// The ids that nodes have in the graph.
    Actual,
}

impl IdType {
    /// The type of a column of ids.
    #[must_use]
    pub fn column_type(self) -> ColumnType {
        match self {
            Self::String => ColumnType::STRING,
            Self::Integer | Self::Actual => ColumnType::of(Scalar::Integer { bytes: 8 }),
        }
    }
}

impl FromStr for IdType {
    type Err = String;

    /// Reads `string`, `integer` or `actual`, in any case.
    fn from_str(text: &str) -> Result<Self, String> {
        let known =
            [("string", Self::String), ("integer", Self::Integer), ("actual", Self::Actual)];
        let found = known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found
            .map(|(_, id_type)| id_type)
            .ok_or_else(|| format!("{text:?} is no type of ids; use string, integer or actual"))
    }
}

/// What a column means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The id of the node, unique in its space (`""` when none is named).
    Id {
        /// The id space.
        space: String,
        /// The property under which the id is kept as well.
        property: Option<String>,
        /// The label by which nodes that exist already are found, by that property.
        label: Option<String>,
    },
    /// The labels of the node.
    Label,
    /// The id of the node at which the relationship starts.
    StartId {
        /// The id space.
        space: String,
        /// The name before the colon: with a label, the property that finds nodes which exist already.
        property: Option<String>,
        /// The label of those nodes.
        label: Option<String>,
    },
    /// The id of the node at which the relationship ends.
    EndId {
        /// The id space.
        space: String,
        /// The name before the colon: with a label, the property that finds nodes which exist already.
        property: Option<String>,
        /// The label of those nodes.
        label: Option<String>,
    },
    /// The type of the relationship.
    Type,
    /// Not read.
    Ignore,
    /// A property of this name.
    Property(String),
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Position in the row, from 0.
    pub index: usize,
    /// The header's text, for messages.
    pub text: String,
    /// What it means.
    pub role: Role,
    /// What its fields hold: of ids how they are kept; strings where it is no property.
    pub column_type: ColumnType,
    /// Whether no type was said, and one may be guessed from the fields: never in headers of the
    /// format, in which that means string.
    pub untyped: bool,
}

impl Column {
    /// Whether its fields are integers.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self.column_type.scalar, Scalar::Integer { .. })
    }
}

/// All columns of a file group.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// In the order of the file; as many as a row has fields.
    pub columns: Vec<Column>,
}

impl Header {
    /// Reads the fields of the first line of `file`; columns of ids are of `id_type` unless they say
    /// so themselves.
    ///
    /// # Errors
    /// On line 1 of `file`: a column that makes no sense, comes twice, is missing or is of the
    /// other kind of file.
    pub fn parse<'a>(
        kind: FileKind,
        file: &Path,
        fields: impl IntoIterator<Item = &'a [u8]>,
        id_type: IdType,
    ) -> Result<Self, LoadError> {
        let mut columns = Vec::new();
        for (index, field) in fields.into_iter().enumerate() {
            let column = column::read(index, field, id_type).map_err(|reason| {
                let shown = if index == 0 { column::without_bom(field) } else { field };
                LoadError::line(file, 1, reason)
                    .at_column(index + 1, String::from_utf8_lossy(shown).trim())
            })?;
            columns.push(column);
        }
        let header = Self { columns };
        header.check_roles(kind, file)?;
        header.check_names(file)?;
        Ok(header)
    }

    /// The columns that make the node's id.
    pub fn ids(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| matches!(column.role, Role::Id { .. }))
    }

    /// The column with the node's labels.
    #[must_use]
    pub fn label(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::Label))
    }

    /// The columns that make the id of the relationship's start; for relationships there is one.
    pub fn start_ids(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| matches!(column.role, Role::StartId { .. }))
    }

    /// The columns that make the id of the relationship's end; for relationships there is one.
    pub fn end_ids(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| matches!(column.role, Role::EndId { .. }))
    }

    /// The column with the relationship type.
    #[must_use]
    pub fn type_column(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::Type))
    }

    /// The columns stored as properties, with the property's name: also an id that has a name. A name
    /// may come twice, with different types.
    pub fn properties(&self) -> impl Iterator<Item = (&Column, &str)> {
        self.columns.iter().filter_map(|column| match &column.role {
            Role::Property(name) | Role::Id { property: Some(name), .. } => {
                Some((column, name.as_str()))
            }
            _ => None,
        })
    }

    fn find(&self, wanted: impl Fn(&Role) -> bool) -> Option<&Column> {
        self.columns.iter().find(|column| wanted(&column.role))
    }
}

#[cfg(test)]
mod tests;
