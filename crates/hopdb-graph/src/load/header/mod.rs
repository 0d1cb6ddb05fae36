//! The first line of a CSV group: what each column means.
//!
//! A header field is `name`, `name:type`, `name:type[]`, or one of the special columns below; the
//! part after the last colon is the type, upper or lower case. Specials and types are those of
//! `neo4j-admin database import`:
//!
//! | column | in | meaning |
//! |---|---|---|
//! | `:ID`, `:ID(space)`, `name:ID(space)` | nodes | the id that relationships name; kept as the string property `name` if there is one |
//! | `:LABEL` | nodes | labels, separated like an array |
//! | `:START_ID(space)`, `:END_ID(space)` | relationships | ids of the two nodes |
//! | `:TYPE` | relationships | the relationship type |
//! | `:IGNORE`, `name:IGNORE` | both | not read |
//! | `name:int`, … | both | a property; see [`Scalar`] for the types, string when none is said |
//!
//! Our own: `bytes` (hex with `0x`). Not supported yet, and an error that says so: the other types of
//! that tool, and options in braces. Pure: the caller reads the line and gives its fields.

mod types;

use std::path::Path;

pub use types::{ColumnType, Scalar};

use crate::error::LoadError;

/// Which kind of file a header belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One node per row.
    Nodes,
    /// One relationship per row.
    Relationships,
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
    },
    /// The labels of the node.
    Label,
    /// The id of the node at which the relationship starts.
    StartId {
        /// The id space.
        space: String,
    },
    /// The id of the node at which the relationship ends.
    EndId {
        /// The id space.
        space: String,
    },
    /// The type of the relationship.
    Type,
    /// Not read.
    Ignore,
    /// A property of this name.
    Property(String),
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Position in the row, from 0.
    pub index: usize,
    /// The header's text, for messages.
    pub text: String,
    /// What it means.
    pub role: Role,
    /// What its fields hold: string for the columns that are no property.
    pub column_type: ColumnType,
}

/// All columns of a file group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// In the order of the file; as many as a row has fields.
    pub columns: Vec<Column>,
}

impl Header {
    /// Reads the fields of the first line of `file`; `array_delimiter` is noted in the columns that
    /// hold several values.
    ///
    /// # Errors
    /// On line 1 of `file`: a column that makes no sense, comes twice, is missing or is of the
    /// other kind of file.
    pub fn parse<'a>(
        kind: FileKind,
        file: &Path,
        fields: impl IntoIterator<Item = &'a [u8]>,
        array_delimiter: u8,
    ) -> Result<Self, LoadError> {
        let mut columns = Vec::new();
        for (index, field) in fields.into_iter().enumerate() {
            let field = if index == 0 { without_bom(field) } else { field };
            let column = column(index, field, array_delimiter).map_err(|reason| {
                LoadError::line(file, 1, reason)
                    .at_column(index + 1, String::from_utf8_lossy(field).trim())
            })?;
            columns.push(column);
        }
        let header = Self { columns };
        header.check_roles(kind, file)?;
        header.check_names(file)?;
        Ok(header)
    }

    /// The column with the node's id.
    #[must_use]
    pub fn id(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::Id { .. }))
    }

    /// The column with the node's labels.
    #[must_use]
    pub fn label(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::Label))
    }

    /// The column with the start of the relationship; there always is one for relationships.
    #[must_use]
    pub fn start_id(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::StartId { .. }))
    }

    /// The column with the end of the relationship; there always is one for relationships.
    #[must_use]
    pub fn end_id(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::EndId { .. }))
    }

    /// The column with the relationship type.
    #[must_use]
    pub fn type_column(&self) -> Option<&Column> {
        self.find(|role| matches!(role, Role::Type))
    }

    /// The columns stored as properties, with the property's name: also an id that has a name.
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

    /// Every special column belongs to one kind of file, and comes once; ends must be there.
    fn check_roles(&self, kind: FileKind, file: &Path) -> Result<(), LoadError> {
        let mut seen: Vec<(&'static str, usize)> = Vec::new();
        for column in &self.columns {
            let Some((special, home)) = special(&column.role) else { continue };
            let wrong = |reason: String| {
                Err(LoadError::line(file, 1, reason).at_column(column.index + 1, &column.text))
            };
            if home != kind {
                return wrong(match kind {
                    FileKind::Nodes => format!(
                        "{special} belongs to relationships; load this file with --relationships"
                    ),
                    FileKind::Relationships => {
                        format!("{special} belongs to nodes; load this file with --nodes")
                    }
                });
            }
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == special) {
                return wrong(format!(
                    "{special} is column {} already; make one of them :IGNORE",
                    first + 1
                ));
            }
            seen.push((special, column.index));
        }
        let ends = [(":START_ID", self.start_id()), (":END_ID", self.end_id())];
        for (special, column) in ends {
            if kind == FileKind::Relationships && column.is_none() {
                let reason = format!(
                    "the header has no {special} column; relationships need :START_ID and :END_ID, \
                     and the first line of a group's first file must be its header"
                );
                return Err(LoadError::line(file, 1, reason));
            }
        }
        Ok(())
    }

    fn check_names(&self, file: &Path) -> Result<(), LoadError> {
        let properties: Vec<_> = self.properties().collect();
        for (position, (column, name)) in properties.iter().enumerate() {
            if let Some((first, _)) = properties[..position].iter().find(|(_, other)| other == name)
            {
                let reason = format!(
                    "the property {name} is column {} already; rename one of them or make it \
                     :IGNORE",
                    first.index + 1
                );
                return Err(
                    LoadError::line(file, 1, reason).at_column(column.index + 1, &column.text)
                );
            }
        }
        Ok(())
    }
}

fn special(role: &Role) -> Option<(&'static str, FileKind)> {
    match role {
        Role::Id { .. } => Some((":ID", FileKind::Nodes)),
        Role::Label => Some((":LABEL", FileKind::Nodes)),
        Role::StartId { .. } => Some((":START_ID", FileKind::Relationships)),
        Role::EndId { .. } => Some((":END_ID", FileKind::Relationships)),
        Role::Type => Some((":TYPE", FileKind::Relationships)),
        Role::Ignore | Role::Property(_) => None,
    }
}

fn without_bom(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)
}

/// One header field as a column; the error is the reason alone.
fn column(index: usize, field: &[u8], array_delimiter: u8) -> Result<Column, String> {
    let text = std::str::from_utf8(field)
        .map_err(|_| "the header is not UTF-8; convert the file, for example with iconv")?
        .trim();
    if text.contains('\r') {
        return Err("the lines end with a lone carriage return; convert them to newlines".into());
    }
    let Parts { name, type_name, space } = split(text)?;
    let (role, column_type) = meaning(name, type_name, space, array_delimiter)?;
    Ok(Column { index, text: text.to_owned(), role, column_type })
}

struct Parts<'a> {
    name: &'a str,
    type_name: Option<&'a str>,
    space: Option<&'a str>,
}

/// Splits `name:type(space)`. A colon inside the braces or brackets at the end does not count.
fn split(text: &str) -> Result<Parts<'_>, String> {
    if text.ends_with('}')
        && let Some(open) = text.rfind('{')
        && text[..open].contains(':')
    {
        let (rest, options) = text.split_at(open);
        return Err(format!(
            "options in braces are not supported yet; write {rest} without {options}"
        ));
    }
    if let Some(inner) = text.strip_suffix(')')
        && let Some((before, space)) = inner.rsplit_once('(')
        && let Some((name, type_name)) = before.rsplit_once(':')
    {
        let parts =
            Parts { name: name.trim(), type_name: Some(type_name.trim()), space: Some(space) };
        return Ok(parts);
    }
    Ok(match text.rsplit_once(':') {
        Some((name, type_name)) => {
            Parts { name: name.trim(), type_name: Some(type_name.trim()), space: None }
        }
        None => Parts { name: text, type_name: None, space: None },
    })
}

fn meaning(
    name: &str,
    type_name: Option<&str>,
    space: Option<&str>,
    array_delimiter: u8,
) -> Result<(Role, ColumnType), String> {
    let upper = type_name.map(str::to_ascii_uppercase);
    let id_space = space.unwrap_or_default().trim().to_owned();
    let role = match upper.as_deref() {
        Some("ID") => {
            let property = (!name.is_empty()).then(|| name.to_owned());
            Role::Id { space: id_space, property }
        }
        Some("START_ID") => Role::StartId { space: id_space },
        Some("END_ID") => Role::EndId { space: id_space },
        Some(other) if space.is_some() => {
            return Err(format!(
                "an id space in parentheses goes with ID, START_ID and END_ID, not with {other}"
            ));
        }
        Some("LABEL") => Role::Label,
        Some("TYPE") => Role::Type,
        Some("IGNORE") => Role::Ignore,
        _ if name.is_empty() => {
            return Err("the column has no name; name it, or write :IGNORE to leave it out".into());
        }
        _ => Role::Property(name.to_owned()),
    };
    let column_type = match &role {
        Role::Property(_) => types::parse(type_name.unwrap_or("string"), array_delimiter)?,
        Role::Label => {
            ColumnType { scalar: Scalar::String, array_delimiter: Some(array_delimiter) }
        }
        _ => ColumnType::STRING,
    };
    Ok((role, column_type))
}

#[cfg(test)]
mod tests;
