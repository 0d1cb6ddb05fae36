//! One field of the header line as a column. Errors are the reason alone.

use std::borrow::Cow;

use super::types::{ColumnType, Scalar, TypeOptions, expect_key};
use super::{Column, IdType, Role};
use crate::load::names::quoted_name;
use crate::value::map;

/// The parts of `name:type(space)[]{options}`.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) type_name: Option<&'a str>,
    space: Option<&'a str>,
    array: bool,
    options: Option<&'a str>,
}

/// What stands behind a type.
pub(super) struct TypeParts<'a> {
    pub(super) rest: &'a str,
    pub(super) array: bool,
    pub(super) options: Option<&'a str>,
}

/// Takes `[]` and `{…}`, in any order, off the end of a text whose rest `is_typed`.
pub(super) fn split_type(text: &str, is_typed: impl Fn(&str) -> bool) -> TypeParts<'_> {
    let mut parts = TypeParts { rest: text, array: false, options: None };
    loop {
        let rest = parts.rest.trim_end();
        let open = rest.rfind('{').filter(|_| rest.ends_with('}'));
        if !parts.array
            && let Some(before) = rest.strip_suffix("[]")
            && is_typed(before)
        {
            parts = TypeParts { rest: before, array: true, ..parts };
        } else if parts.options.is_none()
            && let Some(open) = open
            && is_typed(&rest[..open])
        {
            parts = TypeParts { rest: &rest[..open], options: Some(&rest[open..]), ..parts };
        } else {
            return parts;
        }
    }
}

/// Splits a header field, whose name may stand in backquotes.
pub(super) fn split(text: &str) -> Result<Parts<'_>, String> {
    let Some((name, behind)) = quoted_name(text)? else { return Ok(split_plain(text)) };
    let behind = behind.trim_start();
    if !(behind.is_empty() || behind.starts_with(':')) {
        return Err(format!("behind the name in backquotes stands {behind:?}, not a colon"));
    }
    let parts = split_plain(behind);
    if !parts.name.is_empty() {
        return Err(format!("behind the name in backquotes stands {behind:?}, not one type"));
    }
    Ok(Parts { name: name.into(), ..parts })
}

/// Splits a header field. A colon inside the braces or brackets at the end does not count.
fn split_plain(text: &str) -> Parts<'_> {
    let TypeParts { rest, array, options } = split_type(text, |rest| rest.contains(':'));
    let rest = rest.trim_end();
    let space = rest.strip_suffix(')').and_then(|inner| inner.rsplit_once('('));
    let (before, space) = match space {
        Some((before, space)) if before.contains(':') => (before, Some(space.trim())),
        _ => (rest, None),
    };
    let Some((name, type_name)) = before.rsplit_once(':') else {
        return Parts {
            name: text.into(),
            type_name: None,
            space: None,
            array: false,
            options: None,
        };
    };
    let (name, type_name) = (name.trim(), type_name.trim());
    // `:START_ID:int` is said to be allowed: the type says nothing.
    if space.is_none() && Scalar::of_name(type_name).is_some() && name.contains(':') {
        let inner = split_plain(name);
        if inner.type_name.is_some_and(is_end) {
            return Parts { options: options.or(inner.options), ..inner };
        }
    }
    Parts { name: name.into(), type_name: Some(type_name), space, array, options }
}

fn is_end(type_name: &str) -> bool {
    ["START_ID", "END_ID"].iter().any(|end| end.eq_ignore_ascii_case(type_name))
}

/// Whether the field is of the format of headers: it names a type or something special.
pub(super) fn is_typed(text: &str) -> bool {
    const SPECIAL: [&str; 6] = ["ID", "START_ID", "END_ID", "LABEL", "TYPE", "IGNORE"];
    split(text).ok().and_then(|parts| parts.type_name).is_some_and(|name| {
        Scalar::of_name(name).is_some()
            || SPECIAL.iter().any(|special| special.eq_ignore_ascii_case(name))
    })
}

/// The field as text, without what a person does not see.
pub(super) fn text_of(index: usize, field: &[u8]) -> Result<&str, String> {
    let field = if index == 0 { without_bom(field) } else { field };
    let text = std::str::from_utf8(field)
        .map_err(|_| "the header is not UTF-8; convert the file, for example with iconv")?
        .trim();
    if text.contains('\r') {
        return Err("the lines end with a lone carriage return; convert them to newlines".into());
    }
    Ok(text)
}

pub(super) fn without_bom(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)
}

pub(super) const NAMELESS: &str =
    "the column has no name; name it, or write :IGNORE to leave it out";

/// One header field as a column.
pub(super) fn read(index: usize, field: &[u8], id_type: IdType) -> Result<Column, String> {
    let text = text_of(index, field)?;
    let parts = split(text)?;
    let upper = parts.type_name.map(str::to_ascii_uppercase);
    let column = |role, column_type| {
        Ok(Column { index, text: text.to_owned(), role, column_type, untyped: false })
    };
    let special = upper.as_deref().unwrap_or_default();
    match special {
        "ID" | "START_ID" | "END_ID" => {
            let (role, column_type) = id(special, &parts, id_type)?;
            return column(role, column_type);
        }
        "IGNORE" => return column(Role::Ignore, ColumnType::STRING),
        _ => {}
    }
    if parts.space.is_some() {
        return Err(format!(
            "an id space in parentheses goes with ID, START_ID and END_ID, not with {special}"
        ));
    }
    let role = match special {
        "LABEL" => Role::Label,
        "TYPE" => Role::Type,
        _ if parts.name.is_empty() => return Err(NAMELESS.into()),
        _ => Role::Property(parts.name.clone().into_owned()),
    };
    let column_type = match role {
        Role::Property(_) => {
            ColumnType::new(parts.type_name.unwrap_or("string"), parts.array, parts.options)?
        }
        _ => {
            refuse_options(special, parts.options)?;
            if role == Role::Label {
                ColumnType::array_of(Scalar::String)
            } else {
                refuse_array(special, parts.array)?;
                ColumnType::STRING
            }
        }
    };
    column(role, column_type)
}

fn refuse_options(special: &str, options: Option<&str>) -> Result<(), String> {
    match options {
        Some(options) => Err(format!("{special} takes no options; leave out {options}")),
        None => Ok(()),
    }
}

fn refuse_array(special: &str, array: bool) -> Result<(), String> {
    if array { Err(format!("{special} is one value; leave out the []")) } else { Ok(()) }
}

/// A column of ids, with what its braces say.
fn id(special: &str, parts: &Parts<'_>, id_type: IdType) -> Result<(Role, ColumnType), String> {
    refuse_array(special, parts.array)?;
    let mut label = None;
    let mut column_type = id_type.column_type();
    map::for_each_entry(parts.options.unwrap_or("{}"), |key, value| {
        match expect_key(key, &["label", "id-type"])? {
            0 => label = Some(value.to_owned()),
            _ => column_type = type_of_ids(value, id_type)?,
        }
        Ok(())
    })
    .map_err(|error| format!("{special}: {error}"))?;
    let space = parts.space.unwrap_or_default().to_owned();
    let property = (!parts.name.is_empty()).then(|| parts.name.clone().into_owned());
    let role = match special {
        "ID" => Role::Id { space, property, label },
        "START_ID" => Role::StartId { space, property, label },
        _ => Role::EndId { space, property, label },
    };
    Ok((role, column_type))
}

/// The type that `id-type` names.
fn type_of_ids(text: &str, id_type: IdType) -> Result<ColumnType, crate::value::TextError> {
    if text.eq_ignore_ascii_case("actual") {
        if id_type == IdType::Actual {
            return Ok(id_type.column_type());
        }
        let reason = "ids are numbers of nodes in all files or in none; say so by --id-type actual";
        return Err(crate::value::TextError::new(reason));
    }
    match Scalar::of_name(text) {
        Some(scalar @ (Scalar::String | Scalar::Integer { .. })) => {
            Ok(ColumnType { scalar, array: false, options: TypeOptions::None })
        }
        _ => Err(crate::value::TextError::new(format!(
            "{text:?} is no type of ids; use string, int, long or actual"
        ))),
    }
}
