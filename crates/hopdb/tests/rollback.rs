//! Going back allocates nothing, whatever was changed: to a savepoint, and all the way.
#![expect(clippy::unwrap_used, reason = "a test")]

use allocation_counter::measure;
use hopdb::{Database, Options, Transaction, Value};

fn grow(txn: &mut Transaction, from: i64) {
    for n in from..from + 1500 {
        let large = Value::from(vec![7_u8; if n % 100 == 0 { 20_000 } else { 60 }]);
        let properties = [("n", n.into()), ("bytes", large)];
        let node = txn.create_node(&["Person"], &properties).unwrap();
        txn.create_relationship(node, "KNOWS", node, &[]).unwrap();
        if n % 3 == 0 {
            txn.detach_delete_node(node).unwrap();
        }
    }
}

#[test]
fn a_rollback_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { cache_bytes: 2 << 20, ..Options::default() };
    let database = Database::create(folder.path().join("x.hop"), &options).unwrap();
    let mut txn = database.write().unwrap();
    txn.create_index("Person", "n", true).unwrap();
    grow(&mut txn, 0);
    txn.commit().unwrap();

    let mut txn = database.write().unwrap();
    grow(&mut txn, 10_000);
    let outer = txn.savepoint().unwrap();
    grow(&mut txn, 20_000);
    let inner = txn.savepoint().unwrap();
    txn.create_index("Person", "bytes", false).unwrap();
    grow(&mut txn, 30_000);
    txn.create_node(&["Person"], &[("n", 1_i64.into())]).unwrap_err();
    assert_eq!(measure(|| txn.rollback_to(inner).unwrap()).count_total, 0);
    grow(&mut txn, 40_000);
    txn.release(inner).unwrap();
    grow(&mut txn, 50_000);
    assert_eq!(measure(|| txn.rollback_to(outer).unwrap()).count_total, 0);
    grow(&mut txn, 60_000);
    assert!(measure(|| grow(&mut txn, 70_000)).count_total > 0, "the counter counts");
    assert_eq!(measure(|| drop(txn)).count_total, 0);
    assert!(database.read().unwrap().check().unwrap().is_clean());
}
