//! Records against `BTreeSet` and `BTreeMap`, and against damage.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::value::Value;

fn content() -> impl Strategy<Value = (BTreeSet<u32>, BTreeMap<u32, Vec<u8>>)> {
    let ids = prop_oneof![0_u32..200, any::<u32>()];
    (btree_set(ids.clone(), 0..6), btree_map(ids, vec(any::<u8>(), 0..300), 0..12))
}

fn record(labels: &BTreeSet<u32>, properties: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
    let mut builder = RecordBuilder::new();
    for &label in labels.iter().rev() {
        builder.add_label(LabelId(label));
    }
    for (&key, value) in properties.iter().rev() {
        builder.set_stored(PropertyKeyId(key), value);
    }
    let mut out = Vec::new();
    builder.write_node(&mut out);
    out
}

#[test]
fn the_layout_is_as_documented() {
    let mut builder = RecordBuilder::new();
    builder.add_label(LabelId(300));
    builder.add_label(LabelId(1));
    builder.set_stored(PropertyKeyId(9), b"xyz");
    builder.set_stored(PropertyKeyId(2), b"");
    let mut out = Vec::new();
    builder.write_node(&mut out);
    assert_eq!(out, [&[2, 1, 0xac, 2, 2, 2, 0, 9, 3][..], b"xyz"].concat());
    out.clear();
    builder.write_properties(&mut out);
    assert_eq!(out, [&[2, 2, 0, 9, 3][..], b"xyz"].concat());
}

#[test]
fn the_last_word_counts() {
    let mut builder = RecordBuilder::new();
    let key = PropertyKeyId(1);
    builder.set(key, &Value::from("long ago")).unwrap();
    builder.set(PropertyKeyId(0), &Value::Integer(1)).unwrap();
    builder.set(key, &Value::Integer(2)).unwrap();
    builder.add_label(LabelId(4));
    builder.add_label(LabelId(4));
    let mut out = Vec::new();
    builder.write_node(&mut out);
    let view = RecordView::parse(&out).unwrap();
    assert_eq!(view.labels().collect::<Vec<_>>(), [LabelId(4)]);
    assert_eq!(Value::decode(view.property(key).unwrap().unwrap()), Ok(Value::Integer(2)));
    assert_eq!(view.properties().len(), 2);

    builder.read_node(view).unwrap();
    builder.set(key, &Value::Null).unwrap();
    assert!(builder.remove_label(LabelId(4)) && !builder.remove_label(LabelId(4)));
    let mut changed = Vec::new();
    builder.write_node(&mut changed);
    let view = RecordView::parse(&changed).unwrap();
    assert_eq!(view.labels().count(), 0);
    assert_eq!(view.property(key), Ok(None));
    assert!(!view.properties().is_empty());
}

#[test]
fn what_put_leaves_behind_on_error_is_cut_off() {
    let mut builder = RecordBuilder::new();
    let key = PropertyKeyId(1);
    builder.set_stored(key, b"kept");
    let failed: Result<bool, &str> = builder.set_with(key, |out| {
        out.extend_from_slice(b"half");
        Err("no")
    });
    assert_eq!(failed, Err("no"));
    assert_eq!(builder.set_with(key, |_| Ok::<_, ()>(false)), Ok(false));
    let mut out = Vec::new();
    builder.write_properties(&mut out);
    assert_eq!(PropertiesView::parse(&out).unwrap().get(key), Ok(Some(&b"kept"[..])));
}

#[test]
fn damage_is_named() {
    assert_eq!(RecordView::parse(&[]).unwrap_err(), DecodeError::Truncated);
    assert_eq!(RecordView::parse(&[2, 5, 5, 0]).unwrap_err(), DecodeError::NotAscending);
    assert_eq!(RecordView::parse(&[0, 9, 0]).unwrap_err(), DecodeError::Truncated);
    let short = PropertiesView::parse(&[1, 7, 3, b'x']).unwrap();
    assert_eq!(short.get(PropertyKeyId(7)), Err(DecodeError::Truncated));
    assert_eq!(short.iter().unwrap_err(), DecodeError::Truncated);
    let long = PropertiesView::parse(&[1, 7, 0, b'x']).unwrap();
    assert_eq!(long.iter().unwrap_err(), DecodeError::TrailingBytes);
    assert!(PropertiesView::EMPTY.iter().unwrap().next().is_none());
}

proptest! {
    #[test]
    fn records_survive((labels, properties) in content(), other: u32) {
        let bytes = record(&labels, &properties);
        let view = RecordView::parse(&bytes).unwrap();
        prop_assert!(view.labels().map(|label| label.0).eq(labels.iter().copied()));
        prop_assert_eq!(view.has_label(LabelId(other)), labels.contains(&other));
        for &label in &labels {
            prop_assert!(view.has_label(LabelId(label)));
        }
        let all: Vec<_> = view.properties().iter().unwrap().collect();
        prop_assert!(
            all.iter().map(|(key, value)| (key.0, *value))
                .eq(properties.iter().map(|(&key, value)| (key, &value[..])))
        );
        for key in properties.keys().copied().chain([other]) {
            let expected = properties.get(&key).map(|value| &value[..]);
            prop_assert_eq!(view.property(PropertyKeyId(key)), Ok(expected));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..80), key in 0_u32..200) {
        if let Ok(view) = RecordView::parse(&bytes) {
            prop_assert!(view.labels().is_sorted());
            let _ = view.property(PropertyKeyId(key));
            let _ = view.properties().iter().map(Iterator::count);
        }
    }

    #[test]
    fn damaged_records_never_panic(
        (labels, properties) in content(), at: prop::sample::Index, byte: u8,
    ) {
        let mut bytes = record(&labels, &properties);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(view) = RecordView::parse(&bytes) {
            for key in properties.keys() {
                let _ = view.property(PropertyKeyId(*key));
            }
            let _ = view.properties().iter().map(Iterator::count);
        }
        bytes.truncate(at);
        let _ = RecordView::parse(&bytes).map(|view| view.properties().iter().map(Iterator::count));
    }
}
