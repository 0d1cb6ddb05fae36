//! What the columns of an Arrow schema hold, in the words of a CSV header.
//!
//! Invariant: a type that gets a text here is one that `cells` reads.

use std::path::Path;

use arrow_schema::{DataType, Schema};
use hopdb::load::{LoadError, TableColumn};

/// Longer names of types are cut in messages.
const SHOWN_CHARS: usize = 60;

/// The columns of a file that are read.
pub(crate) struct Columns {
    /// Their positions in the file's schema, from 0, ascending.
    pub(crate) positions: Vec<usize>,
    /// Each of them.
    pub(crate) columns: Vec<TableColumn>,
}

impl Columns {
    /// All columns of the schema of `path` but those to be ignored.
    ///
    /// # Errors
    /// A column's type has no counterpart.
    pub(crate) fn of(path: &Path, schema: &Schema) -> Result<Self, LoadError> {
        let mut read = Self { positions: Vec::new(), columns: Vec::new() };
        for (position, field) in schema.fields().iter().enumerate() {
            let name = field.name();
            if TableColumn::is_ignored(name) {
                continue;
            }
            let type_text = type_text(field.data_type()).map_err(|what| {
                let reason = format!(
                    "its type is {}, and no property holds {what}; rename the column to \
                     {name}:IGNORE to leave it out",
                    shown(field.data_type())
                );
                LoadError::file(path, reason).at_column(position + 1, name)
            })?;
            read.positions.push(position);
            read.columns.push(TableColumn { name: name.clone(), type_text });
        }
        Ok(read)
    }
}

/// The type as a header writes it, none for nulls alone; or what it is that cannot be stored.
fn type_text(data_type: &DataType) -> Result<Option<String>, &'static str> {
    match data_type {
        DataType::Null => Ok(None),
        DataType::Dictionary(_, values) => type_text(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let item = item.data_type();
            if matches!(item, DataType::Null) {
                return Ok(None);
            }
            scalar_text(values_of(item)).map(|text| Some(format!("{text}[]")))
        }
        scalar => scalar_text(scalar).map(|text| Some(text.into())),
    }
}

/// The type of the values behind dictionaries.
fn values_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values_of(values),
        other => other,
    }
}

fn scalar_text(data_type: &DataType) -> Result<&'static str, &'static str> {
    Ok(match data_type {
        DataType::Boolean => "boolean",
        integer if integer.is_integer() => "long",
        float if float.is_floating() => "double",
        decimal if decimal.is_decimal() => match scale(decimal) {
            ..=0 => "long",
            1.. => "string",
        },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "string",
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "bytes",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Timestamp(_, Some(_)) => "datetime",
        DataType::Timestamp(_, None) => "localdatetime",
        DataType::Time32(_) | DataType::Time64(_) => "localtime",
        DataType::Duration(_) | DataType::Interval(_) => "duration",
        DataType::Struct(_) => return Err("a struct; write its fields as columns of their own"),
        DataType::Map(..) => return Err("a map; write its entries as columns of their own"),
        DataType::Union(..) => return Err("a union; cast it to one type"),
        DataType::Dictionary(..)
        | DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..) => return Err("a list in a list; write it flat"),
        DataType::ListView(_) | DataType::LargeListView(_) => {
            return Err("a list view; cast it to a list");
        }
        _ => return Err("values so encoded; cast it to its plain type"),
    })
}

/// Digits behind the point of a decimal; negative for whole tens.
pub(crate) fn scale(data_type: &DataType) -> i8 {
    match data_type {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    }
}

fn shown(data_type: &DataType) -> String {
    let text = data_type.to_string();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Fields, IntervalUnit, TimeUnit};

    use super::*;

    fn list(item: DataType) -> DataType {
        DataType::List(Arc::new(Field::new("item", item, true)))
    }

    fn text(data_type: &DataType) -> Option<String> {
        type_text(data_type).unwrap()
    }

    #[test]
    fn types_have_the_names_of_a_header() {
        for (data_type, name) in [
            (DataType::UInt64, "long"),
            (DataType::Float16, "double"),
            (DataType::Decimal128(38, 0), "long"),
            (DataType::Decimal32(5, -2), "long"),
            (DataType::Decimal256(40, 2), "string"),
            (DataType::Utf8View, "string"),
            (DataType::FixedSizeBinary(3), "bytes"),
            (DataType::Date64, "date"),
            (DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), "datetime"),
            (DataType::Timestamp(TimeUnit::Second, None), "localdatetime"),
            (DataType::Time64(TimeUnit::Nanosecond), "localtime"),
            (DataType::Duration(TimeUnit::Second), "duration"),
            (DataType::Interval(IntervalUnit::DayTime), "duration"),
            (DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)), "string"),
            (list(DataType::Int16), "long[]"),
            (
                DataType::FixedSizeList(Arc::new(Field::new("x", DataType::Float32, true)), 3),
                "double[]",
            ),
            (
                list(DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))),
                "string[]",
            ),
        ] {
            assert_eq!(text(&data_type).as_deref(), Some(name), "{data_type}");
        }
        assert_eq!(text(&DataType::Null), None);
        assert_eq!(text(&list(DataType::Null)), None);
    }

    #[test]
    fn nested_columns_are_refused_unless_ignored() {
        let fields: Fields = vec![Field::new("city", DataType::Utf8, true)].into();
        let schema = |name: &str, data_type| {
            Schema::new(vec![
                Field::new("a", DataType::Int8, true),
                Field::new(name, data_type, true),
            ])
        };
        let refused = |data_type: DataType| {
            Columns::of(Path::new("a.parquet"), &schema("home", data_type))
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(DataType::Struct(fields.clone())),
            "a.parquet: column 2 (home): its type is Struct(\"city\": Utf8), and no property holds \
             a struct; write its fields as columns of their own; rename the column to home:IGNORE \
             to leave it out"
        );
        assert!(refused(list(list(DataType::Int8))).contains("a list in a list"));
        assert!(refused(list(DataType::Struct(fields.clone()))).contains("holds a struct"));
        let columns = Columns::of(Path::new("a"), &schema("home:ignore", DataType::Struct(fields)));
        assert_eq!(columns.unwrap().positions, [0]);
    }
}
