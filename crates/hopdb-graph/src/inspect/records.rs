//! Records, property blocks and values, taken apart. Layout: `docs/file-format.md`, "Records".
//!
//! Where a record lies outside its leaf, only its beginning is here: what is cut is shown as far as it goes.

use hopdb_storage::codec::tag::ValueTag;
use hopdb_storage::inspect::Fields;

use super::meaning::GraphMeaning;
use crate::error::DecodeError;
use crate::record::{PropertiesView, RecordView};
use crate::value::{LIST_DEPTH_MAX, Value};

/// Most items of a list that are shown one by one.
const ITEMS_MAX: usize = 64;
/// Most bytes of a text whose end is not there.
const TEXT_BYTES_MAX: usize = 120;
/// Most characters of a value in a line that has several.
const VALUE_CHARS_MAX: usize = 40;

/// Takes a node record apart.
pub(super) fn node_record(meaning: &GraphMeaning<'_>, fields: &mut Fields<'_>) {
    let Some(labels) = fields.varint("labels", |count| count.to_string()) else { return };
    for _ in 0..labels {
        let mut label = None;
        fields.deeper(|fields| label = fields.varint("label", |id| meaning.label_name(id)));
        if label.is_none() {
            return;
        }
    }
    properties(meaning, fields);
}

/// Takes a property block apart.
pub(super) fn properties(meaning: &GraphMeaning<'_>, fields: &mut Fields<'_>) {
    let Some(count) = fields.varint("properties", |count| count.to_string()) else { return };
    let mut directory = Vec::new();
    for _ in 0..count {
        let mut entry = None;
        fields.deeper(|fields| {
            let name = |id| meaning.property_key_name(id);
            let key = fields.varint("property key", name);
            let bytes = |len| format!("{len} {}", if len == 1 { "byte" } else { "bytes" });
            entry = key.and_then(|key| Some((key, fields.varint("value length", bytes)?)));
        });
        let Some((key, len)) = entry else { return };
        directory.push((meaning.property_key_name(key), len));
    }
    for (name, len) in directory {
        fields.within(len, |fields| value(fields, &name, LIST_DEPTH_MAX));
    }
}

/// Takes a value apart that fills the bytes; lists may nest so deep in it.
fn value(fields: &mut Fields<'_>, name: &str, depth_left: usize) {
    let bytes = fields.rest();
    let Some((&byte, body)) = bytes.split_first() else { return fields.give_up("no tag") };
    let Ok(tag) = ValueTag::try_from(byte) else {
        return fields.give_up(format!("no value has the tag {byte:02x}"));
    };
    if tag == ValueTag::List {
        return list(fields, name, depth_left);
    }
    let text = match Value::decode(bytes) {
        Ok(value) => value.to_string(),
        Err(_) if fields.goes_on() => cut_text(tag, body),
        Err(why) => {
            fields.take(1, format!("{name}: type"), type_text(tag));
            return fields.give_up(why.to_string());
        }
    };
    if body.is_empty() {
        fields.take_rest(name, text);
        return;
    }
    fields.take(1, format!("{name}: type"), type_text(tag));
    fields.deeper(|fields| fields.take_rest(name, text));
}

fn list(fields: &mut Fields<'_>, name: &str, depth_left: usize) {
    fields.take(1, format!("{name}: type"), type_text(ValueTag::List));
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return fields.give_up(DecodeError::TooDeep.to_string());
    };
    fields.deeper(|fields| {
        let Some(count) = fields.varint("items", |count| count.to_string()) else { return };
        for index in 0..count {
            if index >= ITEMS_MAX as u64 {
                let text = format!("{} of {count}, not taken apart here", count - index);
                return fields.take_rest("further items", text);
            }
            let bytes = |len| format!("{len} bytes");
            let Some(len) = fields.varint("item length", bytes) else { return };
            fields.within(len, |fields| value(fields, &format!("{name}[{index}]"), depth_left));
        }
    });
}

/// What there is of a value whose end is not here.
fn cut_text(tag: ValueTag, body: &[u8]) -> String {
    let shown = &body[..body.len().min(TEXT_BYTES_MAX)];
    match tag {
        ValueTag::String => {
            let text = String::from_utf8_lossy(shown);
            format!("'{}…", text.trim_end_matches(char::REPLACEMENT_CHARACTER))
        }
        _ => format!("{}…", hopdb_storage::inspect::Hex(shown.to_vec())),
    }
}

fn type_text(tag: ValueTag) -> &'static str {
    match tag {
        ValueTag::Null => "null",
        ValueTag::False | ValueTag::True => "boolean",
        ValueTag::Integer => "integer",
        ValueTag::Float => "float",
        ValueTag::String => "string",
        ValueTag::Bytes => "bytes",
        ValueTag::List => "list",
        ValueTag::Map => "map",
        ValueTag::Date => "date",
        ValueTag::LocalTime => "local time",
        ValueTag::ZonedTime => "zoned time",
        ValueTag::LocalDateTime => "local date-time",
        ValueTag::OffsetDateTime => "zoned date-time with an offset",
        ValueTag::NamedZoneDateTime => "zoned date-time with a named zone",
        ValueTag::Duration => "duration",
        ValueTag::PointCartesian2d => "point, Cartesian 2D",
        ValueTag::PointCartesian3d => "point, Cartesian 3D",
        ValueTag::PointWgs84 => "point, WGS 84",
        ValueTag::PointWgs84Height => "point, WGS 84 with height",
        ValueTag::Vector => "vector",
    }
}

/// A node record in a line: `:Person {name: 'Ada'}`.
pub(super) fn node_text(meaning: &GraphMeaning<'_>, record: &[u8]) -> String {
    let text = || {
        let record = RecordView::parse(record)?;
        let mut text = String::new();
        for label in record.labels() {
            text += &format!(":{} ", meaning.label_name(label.0.into()));
        }
        Ok(text + &block_text(meaning, &record.properties())?)
    };
    text().unwrap_or_else(damaged)
}

/// A property block in a line.
pub(super) fn properties_text(meaning: &GraphMeaning<'_>, block: &[u8]) -> String {
    let text = PropertiesView::parse(block).and_then(|block| block_text(meaning, &block));
    text.unwrap_or_else(damaged)
}

fn damaged(why: DecodeError) -> String {
    format!("damaged: {why}")
}

fn block_text(
    meaning: &GraphMeaning<'_>,
    block: &PropertiesView<'_>,
) -> Result<String, DecodeError> {
    let mut parts = Vec::new();
    for (key, stored) in block.iter()? {
        let mut value = Value::decode(stored)?.to_string();
        if let Some((end, _)) = value.char_indices().nth(VALUE_CHARS_MAX) {
            value.truncate(end);
            value.push('…');
        }
        parts.push(format!("{}: {value}", meaning.property_key_name(key.0.into())));
    }
    Ok(format!("{{{}}}", parts.join(", ")))
}
