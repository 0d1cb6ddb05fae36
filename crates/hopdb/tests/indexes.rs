//! Indexes: keys too long to be whole, uniqueness by any way, values that meet in one place.
#![expect(clippy::unwrap_used, reason = "a test")]

use hopdb::{Database, Error, ErrorKind, GraphError, NodeId, Options, Part, Value, Wanted};

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join("x.hop"), &Options::default()).unwrap();
    (folder, database)
}

/// Equal in the first 2,000 bytes.
fn long(end: &str) -> Value {
    format!("{}{end}", "x".repeat(2_000)).into()
}

fn assert_not_unique<T: std::fmt::Debug>(done: Result<T, Error>, other: NodeId) {
    let error = done.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    match error.graph_error() {
        GraphError::NotUnique { node, .. } => assert_eq!(*node, other),
        error => panic!("{error}"),
    }
}

#[test]
fn a_value_with_a_cut_key_cannot_become_that_of_another_node() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    let a = txn.create_node(&["A"], &[("k", long("a"))]).unwrap();
    let b = txn.create_node(&["A"], &[("k", long("b"))]).unwrap();
    txn.commit().unwrap();
    let mut txn = database.write().unwrap();
    txn.set_property(a, "k", &long("a")).unwrap();
    assert_not_unique(txn.set_property(b, "k", &long("a")), a);
    drop(txn);
    let mut txn = database.write().unwrap();
    txn.set_property(b, "k", &long("c")).unwrap();
    txn.set_property(a, "k", &long("b")).unwrap();
    txn.commit().unwrap();
    let snapshot = database.read().unwrap();
    assert_eq!(snapshot.find("A", "k", &long("a")).unwrap(), []);
    assert_eq!(snapshot.find("A", "k", &long("b")).unwrap(), [a]);
    assert_eq!(snapshot.find("A", "k", &long("c")).unwrap(), [b]);
    assert!(snapshot.check().unwrap().is_clean());
}

#[test]
fn a_unique_value_is_refused_whatever_brings_it() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    let one = txn.create_node(&["A"], &[("k", 1_i64.into())]).unwrap();
    let other = txn.create_node(&[], &[("k", 1.0.into())]).unwrap();
    let long_one = txn.create_node(&["A"], &[("k", long("a"))]).unwrap();
    txn.commit().unwrap();
    let attempt = |change: &dyn Fn(&mut hopdb::Transaction) -> Result<(), Error>| {
        let mut txn = database.write().unwrap();
        let done = change(&mut txn);
        let commit = txn.commit().unwrap_err();
        assert!(matches!(commit.graph_error(), GraphError::TransactionFailed));
        done
    };
    // Integers and floats of one number are one value here.
    assert_not_unique(attempt(&|txn| txn.add_label(other, "A")), one);
    let create = |value: Value| {
        move |txn: &mut hopdb::Transaction| {
            txn.create_node(&["A"], &[("k", value.clone())]).map(drop)
        }
    };
    assert_not_unique(attempt(&create(1.0.into())), one);
    assert_not_unique(attempt(&create(long("a"))), long_one);
    assert_not_unique(attempt(&|txn| txn.set_property(long_one, "k", &1_i64.into())), one);
    // An index that comes later finds what is there already.
    let mut txn = database.write().unwrap();
    txn.drop_index("A", "k").unwrap();
    create(long("a"))(&mut txn).unwrap();
    txn.commit().unwrap();
    assert_not_unique(attempt(&|txn| txn.create_index("A", "k", true)), long_one);
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", false).unwrap();
    txn.commit().unwrap();
    assert_eq!(database.read().unwrap().find("A", "k", &long("a")).unwrap().len(), 2);
}

#[test]
fn keys_at_the_length_where_they_are_cut_are_found() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    let value = |len| Value::from("y".repeat(len));
    let mut made = Vec::new();
    for len in 990..1_040 {
        made.push((len, txn.create_node(&["A"], &[("k", value(len))]).unwrap()));
    }
    // A list whose key goes on behind the cut with what looks like an id.
    let list = |last: &str| Value::List(vec![value(1_000), last.into()]);
    let lists = ["@", "@@", "@@@@@@@@@@@@@@@@"]
        .map(|last| (last, txn.create_node(&["A"], &[("k", list(last))]).unwrap()));
    txn.commit().unwrap();
    let snapshot = database.read().unwrap();
    for (len, node) in made {
        assert_eq!(snapshot.find("A", "k", &value(len)).unwrap(), [node], "{len}");
    }
    for (last, node) in lists {
        assert_eq!(snapshot.find("A", "k", &list(last)).unwrap(), [node], "{last}");
    }
    assert!(snapshot.check().unwrap().is_clean());
}

#[test]
fn a_message_does_not_carry_megabytes() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    let value = Value::from("z".repeat(3 << 20));
    txn.create_node(&["A"], &[("k", value.clone())]).unwrap();
    let error = txn.create_node(&["A"], &[("k", value)]).unwrap_err().to_string();
    assert!(error.len() < 400, "{} bytes", error.len());
    assert!(error.starts_with("node 0 with label A has k = 'zzzz"), "{error}");
}

#[test]
fn strings_are_found_by_beginnings_on_both_sides_of_the_cut() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", false).unwrap();
    let mut create = |value: Value| txn.create_node(&["A"], &[("k", value)]).unwrap();
    let [a, b, c] = ["a", "b", "ba"].map(|end| create(long(end)));
    let short = create("xx".into());
    let zeros = create("\0\u{1}\0".into());
    let bytes = create(Value::Bytes(b"xx".to_vec()));
    txn.commit().unwrap();
    let snapshot = database.read().unwrap();
    let reader = snapshot.reader();
    let index = reader.catalog().indexes()[0];
    let all = |wanted: Wanted<'_>| {
        let part = Part { after: None, limit: 100 };
        let found = reader.index_part(&index, wanted, part, usize::MAX).unwrap();
        assert_eq!(found.next, None);
        found.hits.iter().map(|hit| hit.node).collect::<Vec<_>>()
    };
    assert_eq!(all(Wanted::Prefix("x")), [short, a, b, c]);
    assert_eq!(all(Wanted::Prefix(&"x".repeat(2_000))), [a, b, c]);
    assert_eq!(all(Wanted::Prefix(&format!("{}b", "x".repeat(2_000)))), [b, c]);
    assert_eq!(all(Wanted::Prefix("xy")), []);
    assert_eq!(all(Wanted::Prefix("\0")), [zeros]);
    assert_eq!(all(Wanted::Prefix("\0\u{1}")), [zeros]);
    assert_eq!(all(Wanted::Prefix("\u{1}")), []);
    assert_eq!(all(Wanted::Equal(&long("b"))), [b]);
    assert_eq!(all(Wanted::Equal(&Value::Bytes(b"xx".to_vec()))), [bytes]);
    // Three keys are the same up to the cut: who looks at two entries goes on behind them.
    let c_alone = format!("{}ba", "x".repeat(2_000));
    let look = |after: Option<&[u8]>| {
        reader.index_part(&index, Wanted::Prefix(&c_alone), Part { after, limit: 1 }, 2).unwrap()
    };
    let first = look(None);
    assert_eq!((first.hits.len(), first.entries), (0, 2));
    let second = look(Some(&first.next.unwrap()));
    assert_eq!((second.hits[0].node, second.entries, second.next), (c, 1, None));
}
