//! Keys against a model: random values, written and compared as bytes, must agree with a comparator
//! that knows nothing of the encoding ([`model`]); and fixed bytes that may not drift ([`golden`]).

mod golden;
mod model;

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;

use self::model::{Value, any_composite, any_value, pair_of_numbers};
use super::{Element, KeyError, KeyWriter, describe, read, skip};

fn encode(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut key = KeyWriter::new(&mut out);
    for value in values {
        value.write(&mut key);
    }
    let len = key.finish().len();
    assert_eq!(len, out.len());
    out
}

/// Bytes that look like keys: type bytes and small counts are common.
fn key_like_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![0..0x48_u8, 0x78..0x90_u8, 0xf8..=0xff_u8, any::<u8>()], 0..40)
}

/// Reads all tokens; the bytes up to where reading stopped, written again.
fn rewrite(bytes: &[u8]) -> (usize, Vec<u8>) {
    let (mut at, mut out) = (0, Vec::new());
    while let Ok(element) = read(bytes, &mut at) {
        // List brackets go to the buffer themselves, since a writer refuses unbalanced ones.
        match element {
            Element::ListStart => out.push(super::kind::LIST),
            Element::ListEnd => out.push(super::kind::LIST_END),
            element => Value::from_element(&element).write(&mut KeyWriter::new(&mut out)),
        }
    }
    (at, out)
}

proptest! {
    #[test]
    fn values_sort_as_the_model_says(a in any_value(), b in any_value()) {
        let (left, right) = (encode(std::slice::from_ref(&a)), encode(std::slice::from_ref(&b)));
        prop_assert_eq!(left.cmp(&right), a.order(&b), "{:02x?} {:02x?}", left, right);
        prop_assert!(left == right || !left.starts_with(&right), "{left:02x?} {right:02x?}");
    }

    #[test]
    fn numbers_sort_exactly((a, b) in pair_of_numbers()) {
        let (left, right) = (encode(std::slice::from_ref(&a)), encode(std::slice::from_ref(&b)));
        prop_assert_eq!(left.cmp(&right), a.order(&b), "{:02x?} {:02x?}", left, right);
    }

    #[test]
    fn composites_sort_element_by_element(a in any_composite(), b in any_composite()) {
        let (left, right) = (encode(&a), encode(&b));
        prop_assert_eq!(left.cmp(&right), model::order_lists(&a, &b));
    }

    #[test]
    fn composites_that_begin_alike_sort_by_the_rest(
        head in any_value(),
        a in any_value(),
        b in any_value(),
        ids in any::<(u64, u64)>(),
    ) {
        let left = encode(&[head.clone(), a.clone(), Value::Id(ids.0)]);
        let right = encode(&[head, b.clone(), Value::Id(ids.1)]);
        prop_assert_eq!(left.cmp(&right), a.order(&b).then(ids.0.cmp(&ids.1)));
    }

    #[test]
    fn skip_finds_each_element_and_read_gives_it_back(values in any_composite()) {
        let bytes = encode(&values);
        let mut at = 0;
        for value in &values {
            let start = at;
            prop_assert_eq!(skip(&bytes, &mut at), Ok(()));
            let own = encode(std::slice::from_ref(value));
            prop_assert_eq!(&bytes[start..at], &own[..]);
            let mut read_at = 0;
            let back = Value::read(&own, &mut read_at);
            prop_assert_eq!(back.order(value), Ordering::Equal, "{:?} {:?}", back, value);
            prop_assert_eq!(read_at, own.len());
        }
        prop_assert_eq!(at, bytes.len());
        prop_assert_eq!(skip(&bytes, &mut at), Err(KeyError::Truncated { at }));
        prop_assert!(!describe(&bytes).contains('<') || bytes.contains(&b'<'));
    }

    #[test]
    fn a_truncated_element_is_refused(value in any_value(), keep in any::<prop::sample::Index>()) {
        let bytes = encode(&[value]);
        let kept = &bytes[..keep.index(bytes.len())];
        let mut at = 0;
        prop_assert_eq!(skip(kept, &mut at), Err(KeyError::Truncated { at: kept.len() }));
        prop_assert_eq!(at, 0);
    }

    #[test]
    fn decoders_are_total_and_accept_only_what_is_written(
        bytes in prop_oneof![key_like_bytes(), vec(any::<u8>(), 0..40)],
        start in 0..48_usize,
    ) {
        let mut at = start;
        match skip(&bytes, &mut at) {
            Ok(()) => prop_assert!(at > start && at <= bytes.len()),
            Err(_) => prop_assert_eq!(at, start),
        }
        let (read_to, rewritten) = rewrite(&bytes);
        prop_assert_eq!(&bytes[..read_to], &rewritten[..]);
        prop_assert!(bytes.is_empty() || !describe(&bytes).is_empty());
    }

    #[test]
    fn a_changed_byte_is_refused_or_is_another_key(
        value in any_value(),
        index in any::<prop::sample::Index>(),
        xor in 1..=0xff_u8,
    ) {
        let mut bytes = encode(&[value]);
        let index = index.index(bytes.len());
        bytes[index] ^= xor;
        let (read_to, rewritten) = rewrite(&bytes);
        prop_assert_eq!(&bytes[..read_to], &rewritten[..]);
    }

    #[test]
    fn cut_keys_keep_their_order_with_ids_behind_them(
        a in [any_value(), any_value()],
        b in [any_value(), any_value()],
        shared in "[a-c]{0,6}",
        len_max in 1..12_usize,
        ids in any::<(u64, u64)>(),
    ) {
        let keys = [(a, ids.0), (b, ids.1)].map(|([first, second], id)| {
            let values = [Value::String(shared.clone()), first, second];
            let whole = encode(&values);
            // Bytes that are there already are not the key's, and are not cut.
            let mut out = b"before".to_vec();
            let mut key = KeyWriter::new(&mut out);
            values.iter().for_each(|value| value.write(&mut key));
            let (bytes, is_cut) = key.cut(len_max);
            assert_eq!((bytes, is_cut), (&whole[..whole.len().min(len_max)], whole.len() > len_max));
            let bytes = bytes.to_vec();
            assert_eq!(out.len(), 6 + bytes.len());
            let mut with_id = bytes.clone();
            KeyWriter::new(&mut with_id).id(id);
            (whole, bytes, with_id)
        });
        let [(whole_a, cut_a, id_a), (whole_b, cut_b, id_b)] = keys;
        if cut_a == cut_b {
            prop_assert_eq!(id_a.cmp(&id_b), ids.0.cmp(&ids.1));
        } else {
            prop_assert_eq!(cut_a.cmp(&cut_b), whole_a.cmp(&whole_b));
            prop_assert_eq!(id_a.cmp(&id_b), whole_a.cmp(&whole_b));
        }
    }
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = vec![super::kind::LIST; 1 << 20];
    assert_eq!(skip(&deep, &mut 0), Err(KeyError::Truncated { at: deep.len() }));
    let mut closed = deep.clone();
    closed.extend(vec![super::kind::LIST_END; deep.len()]);
    let mut at = 0;
    assert_eq!(skip(&closed, &mut at), Ok(()));
    assert_eq!(at, closed.len());
}

#[test]
fn errors_say_where_and_what() {
    let cases: [(&[u8], &str); 6] = [
        (&[], "the key ends at byte 0, inside an element"),
        (&[0x1e, b'a'], "the key ends at byte 2, inside an element"),
        (&[0x02], "byte 0 of the key, 0x02, starts no element known to this version"),
        (&[0x14, 0x00], "byte 1 of the key: a signed number is expected"),
        (&[0x2e, 0x00, 0x01, 0x01], "the key ends at byte 4, inside an element"),
        (&[0x0c, 0x09], "byte 1 of the key: a point has an unknown coordinate system"),
    ];
    for (bytes, message) in cases {
        assert_eq!(skip(bytes, &mut 0).map_err(|error| error.to_string()), Err(message.to_owned()));
    }
}

#[test]
fn bytes_that_are_not_canonical_are_refused() {
    let cases: [(&str, &[u8]); 12] = [
        ("zero written as a group that follows", &[0x2e, 0x7c, 0x03, 0x00]),
        ("more fraction than an integer or a float has", &[0x2e, 0x7b, 3, 3, 3, 3, 3, 3, 3, 3, 2]),
        ("exponent above that of floats", &[0x2e, 0xff, 0x80, 0x00]),
        ("short exponent in long form", &[0x2e, 0x03, 0xba, 0x00]),
        ("fraction below the least float", &[0x2e, 0x00, 0x00, 0x02]),
        ("ten groups", &[0x2e, 0x7c, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]),
        ("unknown escape", &[0x1e, 0x01, 0x03, 0x00]),
        ("half an escape", &[0x1c, 0x01, 0x00]),
        ("not UTF-8", &[0x1e, 0xff, 0x00]),
        ("signed number with a needless byte", &[0x14, 0x82, 0x00, 0x01]),
        ("too many nanoseconds", &[0x12, 0x80, 0xf8, 0x3b, 0x9a, 0xca, 0x00]),
        (
            "negative zero",
            &[0x0c, 0x03, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ),
    ];
    for (what, bytes) in cases {
        let mut at = 0;
        assert!(read(bytes, &mut at).is_err(), "{what}");
        assert_eq!(at, 0, "{what}");
    }
}

#[test]
#[should_panic(expected = "a key is finished inside a list")]
fn an_open_list_is_a_bug() {
    let mut out = Vec::new();
    let mut key = KeyWriter::new(&mut out);
    key.list_start();
    let _ = key.finish();
}
