//! The map against `BTreeMap`, and the line between the two tables.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn ids_that_only_look_alike_stay_apart() {
    let mut map = IdMap::new();
    let space = map.space("");
    let ids = [
        &b"1"[..],
        b"01",
        b"+1",
        b"1.0",
        b" 1",
        b"",
        b"0",
        b"00",
        b"-0",
        b"9223372036854775807",
        b"9223372036854775808",
        b"18446744073709551617",
        b"\xff",
    ];
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(map.insert(space, id), Ok(number as u64), "{id:?}");
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(map.get(space, id), Some(number as u64), "{id:?}");
        assert_eq!(map.insert(space, id), Err(DuplicateId { first: number as u64 }));
    }
    assert_eq!(map.node_count(), ids.len() as u64);
    assert_eq!(map.get(space, b"2"), None);
    assert_eq!(map.get(space, b"x"), None);
}

#[test]
fn plain_integers_are_told_from_other_ids() {
    assert_eq!(integers::plain_integer(b"0"), Some(0));
    assert_eq!(integers::plain_integer(b"9223372036854775807"), Some(i64::MAX as u64));
    for id in ["", "00", "9223372036854775808", "99999999999999999999", "1 ", "1e3", "-1"] {
        assert_eq!(integers::plain_integer(id.as_bytes()), None, "{id}");
    }
}

#[test]
fn spaces_are_apart_and_numbers_run_through() {
    let mut map = IdMap::new();
    let (people, places) = (map.space("Person"), map.space("Place"));
    assert_eq!(map.space("Person"), people);
    assert_eq!(map.find_space("Thing"), None);
    assert_eq!(map.space_name(places), "Place");
    assert_eq!(map.insert(people, b"7"), Ok(0));
    assert_eq!(map.insert_nameless(), 1);
    assert_eq!(map.insert(places, b"7"), Ok(2));
    assert_eq!((map.get(people, b"7"), map.get(places, b"7")), (Some(0), Some(2)));
}

#[test]
fn numbers_past_32_bits_are_kept_in_the_other_table() {
    let mut map = IdMap { next: u64::from(u32::MAX) - 1, ..IdMap::new() };
    let space = map.space("");
    let first = map.node_count();
    for offset in 0..5 {
        let id = (offset * 1_000_000).to_string();
        assert_eq!(map.insert(space, id.as_bytes()), Ok(first + offset));
        assert_eq!(map.insert(space, id.as_bytes()), Err(DuplicateId { first: first + offset }));
        assert_eq!(map.get(space, id.as_bytes()), Some(first + offset));
    }
}

#[test]
fn many_ids_are_found_and_take_the_memory_documented() {
    let taken = |id: fn(u64) -> String| {
        let mut map = IdMap::new();
        let space = map.space("");
        for number in 0..100_000 {
            map.insert(space, id(number).as_bytes()).unwrap();
        }
        for number in 0..100_000 {
            assert_eq!(map.get(space, id(number).as_bytes()), Some(number));
        }
        map.memory_bytes() / 100_000
    };
    assert!(taken(|number| number.to_string()) <= 16);
    assert!(taken(|number| (number * 1_000_003).to_string()) <= 36);
    assert!(taken(|number| format!("person-{number:010}")) <= 17 + 28);
}

#[derive(Clone, Debug)]
enum Step {
    Insert(usize, Vec<u8>),
    Get(usize, Vec<u8>),
}

fn id() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0_u64..3_000).prop_map(|id| id.to_string().into_bytes()),
        2 => any::<u64>().prop_map(|id| id.to_string().into_bytes()),
        2 => (0_u64..200).prop_map(|id| (id << 40).to_string().into_bytes()),
        2 => "[0-9]{0,3}".prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 0..3),
        1 => vec(any::<u8>(), 100..300),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_usize..2, id()).prop_map(|(space, id)| Step::Insert(space, id)),
        1 => (0_usize..2, id()).prop_map(|(space, id)| Step::Get(space, id)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_map_is_a_map(steps in vec(step(), 0..4_000)) {
        let mut map = IdMap::new();
        let spaces = [map.space("a"), map.space("b")];
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(space, id) => {
                    let next = model.len() as u64;
                    let expected = match model.get(&(space, id.clone())) {
                        Some(&first) => Err(DuplicateId { first }),
                        None => Ok(next),
                    };
                    prop_assert_eq!(map.insert(spaces[space], &id), expected);
                    model.entry((space, id)).or_insert(next);
                }
                Step::Get(space, id) => {
                    let found = map.get(spaces[space], &id);
                    prop_assert_eq!(found, model.get(&(space, id)).copied());
                }
            }
        }
        for ((space, id), number) in &model {
            prop_assert_eq!(map.get(spaces[*space], id), Some(*number));
        }
    }
}
