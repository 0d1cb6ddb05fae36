//! Whether the columns of a header make sense together.

use std::path::Path;

use super::{Column, FileKind, Header, Role, TypeOptions};
use crate::error::LoadError;

impl Header {
    /// Every special column belongs to one kind of file; there is one of labels and one of types,
    /// and those of one id agree; ends must be there.
    pub(super) fn check_roles(&self, kind: FileKind, file: &Path) -> Result<(), LoadError> {
        let mut seen: Vec<(&'static str, &Column)> = Vec::new();
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
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == special)
                && let Some(reason) = not_together(special, first, column)
            {
                return wrong(reason);
            }
            seen.push((special, column));
        }
        for special in [":START_ID", ":END_ID"] {
            let found = seen.iter().any(|(other, _)| *other == special);
            if kind == FileKind::Relationships && !found {
                let reason = format!(
                    "the header has no {special} column; relationships need :START_ID and :END_ID, \
                     and the first line of a group's first file must be its header; of headers that \
                     are names alone say the columns: --from-column NAME --to-column NAME"
                );
                return Err(LoadError::line(file, 1, reason));
            }
        }
        Ok(())
    }

    /// A property comes once, or with different types; that of an id comes once.
    pub(super) fn check_names(&self, file: &Path) -> Result<(), LoadError> {
        let properties: Vec<_> = self.properties().collect();
        for (position, (column, name)) in properties.iter().enumerate() {
            let clash = |(first, other): &&(&Column, &str)| {
                // Vectors of another type or length are another type, as none is read as the other.
                let kind = |of: &Column| match of.column_type.options {
                    TypeOptions::Vector { coordinate_type, dimensions } => (
                        of.column_type.scalar,
                        of.column_type.array,
                        Some((coordinate_type, dimensions)),
                    ),
                    _ => (of.column_type.scalar, of.column_type.array, None),
                };
                let is_id = |of: &Column| matches!(of.role, Role::Id { .. });
                other == name && (is_id(first) || is_id(column) || kind(first) == kind(column))
            };
            if let Some((first, _)) = properties[..position].iter().find(clash) {
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

/// Why two columns of one special cannot be in one header.
fn not_together(special: &str, first: &Column, second: &Column) -> Option<String> {
    let place = first.index + 1;
    let (Some((space, label)), Some((other_space, other_label))) =
        (id_of(&first.role), id_of(&second.role))
    else {
        return Some(format!("{special} is column {place} already; make one of them :IGNORE"));
    };
    let named = |name: &str| if name.is_empty() { "none".to_owned() } else { format!("{name:?}") };
    let differ = |what: &str, first: &str, second: &str| {
        let (first, second) = (named(first), named(second));
        Some(format!(
            "the {what} is {second}, that of column {place} is {first}; several {special} columns \
             make one id together, so give them the same"
        ))
    };
    if space != other_space {
        return differ("id space", space, other_space);
    }
    match (label, other_label) {
        (Some(label), Some(other)) if label != other => differ("label", label, other),
        _ => None,
    }
}

/// The space and the label of a column of ids.
fn id_of(role: &Role) -> Option<(&str, Option<&str>)> {
    match role {
        Role::Id { space, label, .. }
        | Role::StartId { space, label, .. }
        | Role::EndId { space, label, .. } => Some((space, label.as_deref())),
        _ => None,
    }
}
