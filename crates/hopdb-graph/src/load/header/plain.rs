//! Headers that are names alone, as other programs write them: the user says what the columns mean.

use std::path::Path;

use super::column;
use super::types::{ColumnType, Scalar};
use super::{Column, FileKind, Header, IdType, Role};
use crate::error::LoadError;

/// What the columns of a file mean whose header says names alone. Columns that nothing is said of
/// are properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainColumns {
    /// Nodes: the columns whose values together are the id; each is kept as a property as well.
    pub id: Vec<String>,
    /// Nodes: the space of the ids.
    pub id_space: String,
    /// Nodes: columns with labels, separated like an array.
    pub labels: Option<String>,
    /// Relationships: the columns whose values are the id of the start.
    pub from: Vec<String>,
    /// Relationships: the space of the start's ids.
    pub from_space: String,
    /// Relationships: the columns whose values are the id of the end.
    pub to: Vec<String>,
    /// Relationships: the space of the end's ids.
    pub to_space: String,
    /// Relationships: the column with the relationship type.
    pub relationship_type: Option<String>,
    /// Types of columns, as a header has them behind the colon.
    pub types: Vec<(String, String)>,
    /// Columns that are not read.
    pub ignored: Vec<String>,
}

/// Whether no field of a header names a type or something special: its columns are names alone.
///
/// A text that is not UTF-8 is none of both, and refused by whatever reads the header.
pub fn is_plain<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let typed = |(index, field)| column::text_of(index, field).is_ok_and(column::is_typed);
    !fields.into_iter().enumerate().any(typed)
}

impl Header {
    /// Reads the fields of the first line of `file` as names, to the letter.
    ///
    /// Columns without a type in `plain` are strings, and marked as [`Column::untyped`].
    ///
    /// # Errors
    /// On line 1 of `file`: a name that `plain` has and the file has not, or twice; a name for two
    /// things; a wrong type; ends that are not named.
    pub fn from_names<'a>(
        kind: FileKind,
        file: &Path,
        names: impl IntoIterator<Item = &'a [u8]>,
        plain: &PlainColumns,
        id_type: IdType,
    ) -> Result<Self, LoadError> {
        let mut columns = Vec::new();
        for (index, field) in names.into_iter().enumerate() {
            let read = column::text_of(index, field).and_then(|name| match name {
                "" => Err("the column has no name; give it one in the file".to_owned()),
                name => Ok(name.to_owned()),
            });
            let name = read.map_err(|reason| {
                LoadError::line(file, 1, reason)
                    .at_column(index + 1, String::from_utf8_lossy(field).trim())
            })?;
            let role = Role::Property(name.clone());
            columns.push(Column {
                index,
                text: name,
                role,
                column_type: ColumnType::STRING,
                untyped: true,
            });
        }
        let mut header = Self { columns };
        header.check_names(file)?;
        header.give_roles(kind, file, plain, id_type)?;
        for (name, type_text) in &plain.types {
            header.give_type(file, name, type_text)?;
        }
        header.check_roles(kind, file)?;
        Ok(header)
    }

    /// The columns that no type was said of.
    pub fn untyped(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.untyped)
    }

    /// Gives an [untyped](Self::untyped) column the type that its fields were found to have.
    ///
    /// # Panics
    /// When there is no such column, or its type was said.
    pub fn set_type(&mut self, index: usize, scalar: Scalar) {
        let column = &mut self.columns[index];
        assert!(column.untyped, "column {index} has a type already");
        column.column_type = ColumnType::of(scalar);
        column.untyped = false;
    }

    fn give_roles(
        &mut self,
        kind: FileKind,
        file: &Path,
        plain: &PlainColumns,
        id_type: IdType,
    ) -> Result<(), LoadError> {
        for (columns, end, option) in
            [(&plain.from, "start", "--from-column"), (&plain.to, "end", "--to-column")]
        {
            if kind == FileKind::Relationships && columns.is_empty() {
                let reason = format!(
                    "the header has no types; say which columns hold the {end} of relationships: \
                     {option} NAME"
                );
                return Err(LoadError::line(file, 1, reason));
            }
        }
        let ids = id_type.column_type();
        match kind {
            FileKind::Nodes => {
                for name in &plain.id {
                    let (space, property) = (plain.id_space.clone(), Some(name.clone()));
                    let role = Role::Id { space, property, label: None };
                    self.give_role(file, name, role, &ids)?;
                }
                if let Some(name) = &plain.labels {
                    let labels = ColumnType::array_of(Scalar::String);
                    self.give_role(file, name, Role::Label, &labels)?;
                }
            }
            FileKind::Relationships => {
                let end = |space: &String| (space.clone(), None, None);
                for name in &plain.from {
                    let (space, property, label) = end(&plain.from_space);
                    let role = Role::StartId { space, property, label };
                    self.give_role(file, name, role, &ids)?;
                }
                for name in &plain.to {
                    let (space, property, label) = end(&plain.to_space);
                    self.give_role(file, name, Role::EndId { space, property, label }, &ids)?;
                }
                if let Some(name) = &plain.relationship_type {
                    self.give_role(file, name, Role::Type, &ColumnType::STRING)?;
                }
            }
        }
        for name in &plain.ignored {
            self.give_role(file, name, Role::Ignore, &ColumnType::STRING)?;
        }
        Ok(())
    }

    fn give_role(
        &mut self,
        file: &Path,
        name: &str,
        role: Role,
        column_type: &ColumnType,
    ) -> Result<(), LoadError> {
        let column = self.named(file, name)?;
        if !matches!(column.role, Role::Property(_)) {
            let reason = format!("the column {name} is to be two things at once; name it once");
            return Err(LoadError::line(file, 1, reason).at_column(column.index + 1, name));
        }
        column.role = role;
        column.column_type = column_type.clone();
        column.untyped = false;
        Ok(())
    }

    fn give_type(&mut self, file: &Path, name: &str, text: &str) -> Result<(), LoadError> {
        let column = self.named(file, name)?;
        let place = column.index + 1;
        let wrong = |reason| LoadError::line(file, 1, reason).at_column(place, name);
        let column_type: ColumnType = text.parse().map_err(wrong)?;
        let fits = match column.role {
            Role::Property(_) => true,
            Role::Id { .. } => {
                !column_type.array
                    && matches!(column_type.scalar, Scalar::String | Scalar::Integer { .. })
            }
            _ => false,
        };
        if !fits {
            let reason = match column.role {
                Role::Id { .. } => "an id is a string or an integer",
                _ => "only a property and an id have a type",
            };
            return Err(wrong(format!("{reason}; leave out the type {text}")));
        }
        column.column_type = column_type;
        column.untyped = false;
        Ok(())
    }

    fn named(&mut self, file: &Path, name: &str) -> Result<&mut Column, LoadError> {
        match self.columns.iter().position(|column| column.text == name) {
            Some(index) => Ok(&mut self.columns[index]),
            None => {
                let names: Vec<_> = self.columns.iter().map(|column| &*column.text).collect();
                let reason = format!("there is no column {name:?}; there are {}", names.join(", "));
                Err(LoadError::line(file, 1, reason))
            }
        }
    }
}
