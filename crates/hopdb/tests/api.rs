//! The public API: kinds of errors, limits, large values, threads, what is read at the opening.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test, with threads and files"
)]

use std::sync::atomic::{AtomicBool, Ordering};

use hopdb::load::{IndexFor, LoadPlan, NodeFiles, Progress};
use hopdb::{Database, Direction, Error, ErrorKind, GraphError, NodeId, Options, Value};
use hopdb_testkit::graph_model::GraphModel;

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join("x.hop"), &Options::default()).unwrap();
    (folder, database)
}

fn kind<T: std::fmt::Debug>(done: Result<T, Error>) -> ErrorKind {
    let error = done.unwrap_err();
    let retry = matches!(error.kind(), ErrorKind::Busy | ErrorKind::OutOfMemory);
    assert_eq!(error.is_retryable(), retry && !error.needs_recovery(), "{error}");
    assert!(!error.to_string().is_empty());
    error.kind()
}

#[test]
fn errors_of_files_say_who_must_act() {
    let (folder, database) = database();
    let path = folder.path().join("x.hop");
    let options = Options::default();
    assert_eq!(kind(Database::open(folder.path().join("no.hop"), &options)), ErrorKind::NotFound);
    assert_eq!(kind(Database::create(&path, &options)), ErrorKind::Conflict);
    assert_eq!(kind(Database::open(&path, &options)), ErrorKind::Busy);
    let mut txn = database.write().unwrap();
    txn.create_node(&["A"], &[]).unwrap();
    txn.commit().unwrap();
    database.close().unwrap();
    let read_only = Options { read_only: true, ..Options::default() };
    let reading = Database::open(&path, &read_only).unwrap();
    let again = Database::open(&path, &read_only).unwrap();
    assert_eq!(kind(reading.write()), ErrorKind::ReadOnly);
    assert_eq!(reading.read().unwrap().reader().catalog().node_count(), 1);
    drop((reading, again));
    let text = folder.path().join("text.hop");
    std::fs::write(&text, "no database ".repeat(2_000)).unwrap();
    assert_eq!(kind(Database::open(&text, &options)), ErrorKind::WrongFormat);
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.hop");
    std::fs::write(&cut, &bytes[..bytes.len() - 4_096]).unwrap();
    assert_eq!(kind(Database::open(&cut, &options)), ErrorKind::Corruption);
    let store = folder.path().join("store.hop");
    hopdb::kv::Store::create(&store, &options).unwrap().close().unwrap();
    assert_eq!(kind(Database::open(&store, &options)), ErrorKind::WrongFormat);
}

#[test]
fn errors_of_changes_say_who_must_act_and_leave_the_transaction_where_they_can() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    let a = txn.create_node(&["A"], &[]).unwrap();
    let loop_ = txn.create_relationship(a, "R", a, &[]).unwrap();
    txn.create_index("A", "k", false).unwrap();
    let (nobody, nothing) = (NodeId(9), hopdb::RelationshipId(9));
    assert_eq!(kind(txn.delete_node(nobody)), ErrorKind::NotFound);
    assert_eq!(kind(txn.detach_delete_node(nobody)), ErrorKind::NotFound);
    assert_eq!(kind(txn.set_property(nobody, "k", &true.into())), ErrorKind::NotFound);
    assert_eq!(kind(txn.add_label(nobody, "A")), ErrorKind::NotFound);
    assert_eq!(kind(txn.remove_label(nobody, "A")), ErrorKind::NotFound);
    assert_eq!(kind(txn.create_relationship(a, "R", nobody, &[])), ErrorKind::NotFound);
    assert_eq!(kind(txn.create_relationship(nobody, "R", a, &[])), ErrorKind::NotFound);
    assert_eq!(kind(txn.delete_relationship(nothing)), ErrorKind::NotFound);
    let done = txn.set_relationship_property(nothing, "k", &true.into());
    assert_eq!(kind(done), ErrorKind::NotFound);
    assert_eq!(kind(txn.drop_index("A", "no")), ErrorKind::NotFound);
    assert_eq!(kind(txn.create_index("A", "k", true)), ErrorKind::Conflict);
    assert_eq!(kind(txn.delete_node(a)), ErrorKind::Conflict);
    assert_eq!(kind(txn.add_label(a, "")), ErrorKind::InvalidInput);
    assert_eq!(kind(txn.set_property(a, &"n".repeat(256), &true.into())), ErrorKind::InvalidInput);
    txn.commit().unwrap();
    let snapshot = database.read().unwrap();
    assert!(snapshot.check().unwrap().is_clean());
    assert_eq!(snapshot.reader().relationship(loop_).unwrap().unwrap().end, a);
    let deep = (0..40).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    assert_eq!(snapshot.find("A", "k", &deep).unwrap(), []);
    let mut txn = database.write().unwrap();
    assert_eq!(kind(txn.set_property(a, "k", &deep)), ErrorKind::InvalidInput);
    let error = txn.commit().unwrap_err();
    assert!(matches!(error.graph_error(), GraphError::TransactionFailed));
}

#[test]
fn a_failed_transaction_leaves_no_names() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    txn.create_node(&["New", ""], &[("new", 1_i64.into())]).unwrap_err();
    assert_eq!(kind(txn.commit()), ErrorKind::InvalidInput);
    let mut txn = database.write().unwrap();
    txn.create_node(&["Rolled"], &[("back", 1_i64.into())]).unwrap();
    drop(txn);
    let snapshot = database.read().unwrap();
    let catalog = snapshot.reader().catalog();
    assert_eq!((catalog.labels().count(), catalog.property_keys().count()), (0, 0));
    assert_eq!(catalog.node_count(), 0);
    let mut txn = database.write().unwrap();
    assert_eq!(txn.create_node(&[], &[]).unwrap(), NodeId(0));
}

#[test]
fn names_of_255_bytes_labels_and_keys_given_twice_and_megabytes_are_taken() {
    let (folder, database) = database();
    let name = "ü".repeat(127) + "x";
    let big = Value::Bytes((0..3_000_000_u32).map(|at| at.to_le_bytes()[0]).collect());
    let mut model = GraphModel::default();
    let properties = [
        ("k", Value::from(1_i64)),
        (&*name, big.clone()),
        ("gone", 1_i64.into()),
        ("k", 2_i64.into()),
        ("gone", Value::Null),
    ];
    let mut txn = database.write().unwrap();
    let node = txn.create_node(&["A", &name, "A"], &properties).unwrap();
    assert_eq!(model.create_node(&["A", &name, "A"], &properties), Ok(node));
    let row = txn.create_relationship(node, &name, node, &properties).unwrap();
    assert_eq!(model.create_relationship(node, &name, node, &properties), Ok(row));
    txn.add_label(node, "A").unwrap();
    txn.remove_label(node, "B").unwrap();
    txn.create_index("A", &name, true).unwrap();
    model.create_index("A", &name, true).unwrap();
    // Many properties: a record longer than a quarter of a page, of small values.
    let many = txn.create_node(&["A"], &[]).unwrap();
    assert_eq!(model.create_node(&["A"], &[]), Ok(many));
    for key in 0..300 {
        let (key, value) = (format!("key {key}"), Value::from(key));
        txn.set_property(many, &key, &value).unwrap();
        model.set_property(many, &key, &value).unwrap();
    }
    txn.commit().unwrap();
    model.assert_like(database.read().unwrap().reader());
    database.close().unwrap();
    let database = Database::open(folder.path().join("x.hop"), &Options::default()).unwrap();
    let snapshot = database.read().unwrap();
    model.assert_like(snapshot.reader());
    assert_eq!(snapshot.find("A", &name, &big).unwrap(), [node]);
    assert!(snapshot.check().unwrap().is_clean());
}

#[test]
fn ids_are_never_given_again() {
    let (folder, database) = database();
    let path = folder.path().join("x.hop");
    let mut txn = database.write().unwrap();
    let a = txn.create_node(&[], &[]).unwrap();
    let rows: Vec<_> = (0..200).map(|_| txn.create_relationship(a, "R", a, &[]).unwrap()).collect();
    for _ in 0..9 {
        txn.create_node(&[], &[]).unwrap();
    }
    txn.commit().unwrap();
    // From the end: within the last block, then a whole block and more.
    let mut database = database;
    for (next, gone) in (200..).zip([199..200, 190..199, 60..190]) {
        let mut txn = database.write().unwrap();
        gone.clone().for_each(|at| txn.delete_relationship(rows[at]).unwrap());
        txn.commit().unwrap();
        database.close().unwrap();
        database = Database::open(&path, &Options::default()).unwrap();
        let mut txn = database.write().unwrap();
        let made = txn.create_relationship(a, "S", a, &[]).unwrap();
        assert_eq!(made.0, next);
        txn.commit().unwrap();
        let snapshot = database.read().unwrap();
        let reader = snapshot.reader();
        assert_eq!(&*reader.relationship(made).unwrap().unwrap().relationship_type, "S");
        assert!(gone.map(|at| reader.relationship(rows[at])).all(|found| found.unwrap().is_none()));
        assert!(snapshot.check().unwrap().is_clean());
    }
    let mut txn = database.write().unwrap();
    (1..10).for_each(|id| txn.delete_node(NodeId(id)).unwrap());
    txn.commit().unwrap();
    database.close().unwrap();
    let database = Database::open(&path, &Options::default()).unwrap();
    assert_eq!(database.write().unwrap().create_node(&[], &[]).unwrap(), NodeId(10));
}

#[test]
fn what_comes_and_goes_in_one_transaction_leaves_a_file_that_opens() {
    let (folder, database) = database();
    let mut txn = database.write().unwrap();
    let node = txn.create_node(&[], &[("k", vec![1_u8; 100_000].into())]).unwrap();
    txn.delete_node(node).unwrap();
    txn.create_node(&[], &[]).unwrap();
    txn.commit().unwrap();
    database.close().unwrap();
    let database = Database::open(folder.path().join("x.hop"), &Options::default()).unwrap();
    assert!(database.read().unwrap().check().unwrap().is_clean());
}

#[test]
fn readers_beside_a_writer_see_one_commit_whole() {
    let (_folder, database) = database();
    let mut txn = database.write().unwrap();
    let ids: Vec<NodeId> =
        (0..50).map(|_| txn.create_node(&["A"], &[("round", 0_i64.into())]).unwrap()).collect();
    txn.create_index("A", "round", false).unwrap();
    txn.commit().unwrap();
    let over = AtomicBool::new(false);
    let read = || {
        let mut last = 0;
        while !over.load(Ordering::Acquire) || last < 60 {
            let snapshot = database.read().unwrap();
            let reader = snapshot.reader();
            // The round is the number of relationships; every node has it, and a label named after it.
            let round = reader.catalog().relationship_count();
            assert!(round >= last, "a later snapshot is no older");
            last = round;
            let value = Value::from(i64::try_from(round).unwrap());
            assert_eq!(snapshot.find("A", "round", &value).unwrap(), ids);
            assert_eq!(reader.catalog().labels().count() as u64, round + 1);
            let degree = reader.expander(Direction::Outgoing, None).degree(ids[0]).unwrap();
            assert_eq!(degree, round);
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        for round in 1..=60_i64 {
            let mut txn = database.write().unwrap();
            for id in &ids {
                txn.set_property(*id, "round", &round.into()).unwrap();
            }
            txn.create_relationship(ids[0], "R", ids[1], &[]).unwrap();
            txn.add_label(ids[2], &format!("Round {round}")).unwrap();
            txn.commit().unwrap();
        }
        over.store(true, Ordering::Release);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn opening_reads_as_much_of_a_large_graph_as_of_a_small_one() {
    let reads = |nodes: u64| {
        let folder = tempfile::tempdir().unwrap();
        let (path, csv) = (folder.path().join("x.hop"), folder.path().join("n.csv"));
        let rows: String = (0..nodes).map(|id| format!("{id}\n")).collect();
        std::fs::write(&csv, format!("id:long\n{rows}")).unwrap();
        let plan = LoadPlan {
            nodes: vec![NodeFiles { labels: vec!["A".into()], files: vec![csv] }],
            indexes: vec![IndexFor { label: "A".into(), property: "id".into(), unique: true }],
            ..LoadPlan::default()
        };
        Database::load(&path, &Options::default(), &plan, &Progress::default()).unwrap();
        let database = Database::open(&path, &Options::default()).unwrap();
        assert_eq!(database.read().unwrap().reader().catalog().node_count(), nodes);
        database.counts().io.pages_read
    };
    let small = reads(1_000);
    assert_eq!(small, reads(50_000));
    assert!((1..20).contains(&small), "{small} pages");
}
