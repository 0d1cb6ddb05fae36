//! Random changes against the model: after every commit the whole graph is compared and checked.
//!
//! A seed fixes a run; a failure prints it.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::PathBuf;

use hopdb::{
    Coordinates, Crs, Database, Date, DateTime, Duration, LocalTime, NodeId, Options, Point,
    RelationshipId, Savepoint, Snapshot, Time, Transaction, Value, Vector,
};
use hopdb_testkit::graph_model::{GraphModel, Refusal};

const LABELS: [&str; 4] = ["A", "B", "C", "D"];
const TYPES: [&str; 3] = ["R", "S", "T"];
const KEYS: [&str; 4] = ["k", "l", "m", "n"];

/// A scalar or a list of every kind; few different ones, so that they meet in indexes.
fn value(random: &mut fastrand::Rng) -> Value {
    match random.u8(0..21) {
        0 => Value::Null,
        1 => random.bool().into(),
        2..=4 => random.i64(-3..30).into(),
        5 => i64::MAX.into(),
        6 => f64::from(random.i32(-3..30)).into(),
        7 => random.choice([0.5, -0.0, f64::NAN, f64::INFINITY, 9.3e18]).unwrap().into(),
        8 => format!("text {}", random.u8(0..9)).into(),
        9 => vec![random.u8(..); random.usize(0..4)].into(),
        10 => Date::from_days(random.i64(-2..3)).unwrap().into(),
        11 => DateTime::new(random.i64(0..3), 5, random.i32(-1..2) * 60).unwrap().into(),
        12 => Value::List((0..random.u8(0..3)).map(|_| value(random)).collect()),
        // Longer than a key may be: equal in the first bytes, different or equal behind.
        13 => format!("{}{}", "long ".repeat(300), random.u8(0..4)).into(),
        14 => {
            let last = random.choice([Value::from(1_i64), Value::from(1.0)]).unwrap();
            Value::List(vec!["list ".repeat(300).into(), last])
        }
        15 => {
            let instant = DateTime::new(random.i64(0..2), 5, 0).unwrap();
            let zone = random.choice(["Etc/UTC", "Europe/London"]).unwrap();
            instant.with_zone(zone).unwrap().into()
        }
        16 => Duration::new(random.i64(-1..2), random.i64(-1..2), 0, 5).unwrap().into(),
        17 => {
            let coordinates = [random.choice([0.0, -0.0, 1.5]).unwrap(), 2.0];
            let crs = random.choice([Crs::Cartesian2d, Crs::Wgs84]).unwrap();
            Point::new(crs, &coordinates).unwrap().into()
        }
        18 => {
            let coordinates = vec![random.choice([0.0, -0.0, 1.5]).unwrap(), 2.0];
            Vector::new(Coordinates::Float32(coordinates)).unwrap().into()
        }
        19 => {
            let time = LocalTime::from_nanos(random.u64(0..2)).unwrap();
            match random.bool() {
                true => time.into(),
                false => Time::new(time, random.i32(-1..2)).unwrap().into(),
            }
        }
        // Longer than a page.
        _ => vec![random.u8(0..3); random.usize(3_000..9_000)].into(),
    }
}

struct World {
    folder: tempfile::TempDir,
    options: Options,
    database: Option<Database>,
    model: GraphModel,
    /// Snapshots held across commits, with what they must go on giving.
    held: Vec<(Snapshot, GraphModel)>,
    random: fastrand::Rng,
}

impl World {
    fn new(seed: u64, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::create(folder.path().join("x.hop"), &options).unwrap();
        let random = fastrand::Rng::with_seed(seed);
        let (model, held) = (GraphModel::default(), Vec::new());
        Self { folder, options, database: Some(database), model, held, random }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("x.hop")
    }

    fn database(&self) -> &Database {
        self.database.as_ref().unwrap()
    }

    /// One transaction, committed or not; then now and again a reopening, or a snapshot let go.
    fn round(&mut self) {
        let mut txn = self.database().write().unwrap();
        let mut model = self.model.clone();
        let mut usable = true;
        let mut savepoints: Vec<(Savepoint, GraphModel)> = Vec::new();
        for _ in 0..self.random.u8(1..40) {
            let random = &mut self.random;
            match random.u8(0..10) {
                0 | 1 if usable => savepoints.push((txn.savepoint().unwrap(), model.clone())),
                2 if !savepoints.is_empty() => {
                    savepoints.truncate(random.usize(1..=savepoints.len()));
                    let (savepoint, then) = &savepoints[savepoints.len() - 1];
                    txn.rollback_to(*savepoint).unwrap();
                    (model, usable) = (then.clone(), true);
                }
                3 if !savepoints.is_empty() => {
                    savepoints.truncate(random.usize(0..savepoints.len()) + 1);
                    txn.release(savepoints.pop().unwrap().0).unwrap();
                }
                _ if usable => usable = change(random, &mut txn, &mut model),
                _ if savepoints.is_empty() => break,
                _ => {}
            }
        }
        if self.random.u8(0..4) == 0 && usable {
            model.assert_like(txn.reader());
        }
        if !usable {
            let error = txn.commit().unwrap_err();
            assert!(matches!(error.graph_error(), hopdb::GraphError::TransactionFailed));
        } else if self.random.u8(0..4) > 0 {
            txn.commit().unwrap();
            self.model = model;
        } else {
            drop(txn);
        }
        self.compare();
        match self.random.u8(0..8) {
            0 => self.reopen(),
            1 | 2 => self.held.push((self.database().read().unwrap(), self.model.clone())),
            3 | 4 if !self.held.is_empty() => {
                let at = self.random.usize(0..self.held.len());
                let (snapshot, model) = self.held.swap_remove(at);
                model.assert_like(snapshot.reader());
            }
            _ => {}
        }
    }

    fn compare(&self) {
        let snapshot = self.database().read().unwrap();
        self.model.assert_like(snapshot.reader());
        let report = snapshot.check().unwrap();
        assert!(report.is_clean(), "{:?} {:?}", report.problems, report.store.problems);
        assert_eq!(report.nodes, self.model.nodes().len() as u64);
        assert_eq!(report.relationships, self.model.relationships().len() as u64);
    }

    fn reopen(&mut self) {
        for (snapshot, model) in self.held.drain(..) {
            model.assert_like(snapshot.reader());
        }
        let database = self.database.take().unwrap();
        if self.random.bool() {
            database.close().unwrap();
        } else {
            drop(database);
        }
        self.database = Some(Database::open(self.path(), &self.options).unwrap());
        self.compare();
    }
}

/// A node that is there, or (rarely) none.
fn any_node(random: &mut fastrand::Rng, model: &GraphModel) -> NodeId {
    let ids: Vec<NodeId> = model.nodes().keys().copied().collect();
    match random.u8(0..100) {
        0 => NodeId(random.u64(0..500)),
        _ => random.choice(ids).unwrap_or(NodeId(0)),
    }
}

fn any_relationship(random: &mut fastrand::Rng, model: &GraphModel) -> RelationshipId {
    let ids: Vec<RelationshipId> = model.relationships().keys().copied().collect();
    match random.u8(0..50) {
        0 => RelationshipId(random.u64(0..500)),
        _ => random.choice(ids).unwrap_or(RelationshipId(0)),
    }
}

fn properties(random: &mut fastrand::Rng) -> Vec<(&'static str, Value)> {
    (0..random.u8(0..4)).map(|_| (random.choice(KEYS).unwrap(), value(random))).collect()
}

/// Makes one change in both; whether the transaction can go on.
fn change(random: &mut fastrand::Rng, txn: &mut Transaction, model: &mut GraphModel) -> bool {
    let label = random.choice(LABELS).unwrap();
    let key = random.choice(KEYS).unwrap();
    let node = any_node(random, model);
    let relationship = any_relationship(random, model);
    let (done, expected) = match random.u8(0..100) {
        0..22 => {
            let labels: Vec<&str> =
                (0..random.u8(0..3)).map(|_| random.choice(LABELS).unwrap()).collect();
            let properties = properties(random);
            let made = txn.create_node(&labels, &properties);
            alike(made, model.create_node(&labels, &properties))
        }
        22..52 => {
            let end = if random.u8(0..8) == 0 { node } else { any_node(random, model) };
            let (name, properties) = (random.choice(TYPES).unwrap(), properties(random));
            let made = txn.create_relationship(node, name, end, &properties);
            alike(made, model.create_relationship(node, name, end, &properties))
        }
        52..66 => {
            let value = value(random);
            let done = txn.set_property(node, key, &value);
            alike(done, model.set_property(node, key, &value))
        }
        66..72 => alike(txn.add_label(node, label), model.add_label(node, label)),
        72..76 => alike(txn.remove_label(node, label), model.remove_label(node, label)),
        76..82 => {
            let value = value(random);
            let done = txn.set_relationship_property(relationship, key, &value);
            alike(done, model.set_relationship_property(relationship, key, &value))
        }
        82..90 => {
            let done = txn.delete_relationship(relationship);
            alike(done, model.delete_relationship(relationship))
        }
        90..92 => alike(txn.delete_node(node), model.delete_node(node)),
        92..96 => alike(txn.detach_delete_node(node), model.detach_delete_node(node)),
        96..98 => {
            let unique = random.bool();
            let done = txn.create_index(label, key, unique);
            alike(done, model.create_index(label, key, unique))
        }
        _ => alike(txn.drop_index(label, key), model.drop_index(label, key)),
    };
    assert_eq!(done, expected);
    // What is refused before anything was changed leaves the transaction as it was.
    done.is_none_or(|refusal| refusal != Refusal::NotUnique)
}

fn alike<T: PartialEq + std::fmt::Debug>(
    done: hopdb::Result<T>,
    expected: Result<T, Refusal>,
) -> (Option<Refusal>, Option<Refusal>) {
    let expected = match (&done, expected) {
        (Ok(done), Ok(expected)) => {
            assert_eq!(done, &expected);
            None
        }
        (_, expected) => expected.err(),
    };
    let refused = done.err().map(|error| {
        Refusal::of(error.graph_error()).unwrap_or_else(|| panic!("no refusal: {error:?}"))
    });
    (refused, expected)
}

/// Says which seed it was when a run panics.
struct Seed(u64);

impl Drop for Seed {
    #[expect(clippy::print_stderr, reason = "the seed of a failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed was {}", self.0);
        }
    }
}

fn run(seeds: std::ops::Range<u64>, rounds: usize, options: &Options) {
    for seed in seeds {
        let _said = Seed(seed);
        let mut world = World::new(seed, options.clone());
        (0..rounds).for_each(|_| world.round());
        world.reopen();
        assert!(world.model.nodes().len() > 10, "too little happened");
    }
}

/// A failed change is undone by going back; names, ids and counts of the graph are as before then.
#[test]
fn a_savepoint_heals_a_failed_change() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join("x.hop"), &Options::default()).unwrap();
    let mut txn = database.write().unwrap();
    txn.create_index("A", "k", true).unwrap();
    txn.create_node(&["A"], &[("k", 1_i64.into())]).unwrap();
    let savepoint = txn.savepoint().unwrap();
    let inside = txn.create_node(&["New"], &[("new", 1_i64.into())]).unwrap();
    txn.create_index("New", "new", false).unwrap();
    txn.create_node(&["A"], &[("k", 1_i64.into())]).unwrap_err();
    txn.savepoint().unwrap_err();
    txn.rollback_to(savepoint).unwrap();
    assert_eq!(txn.reader().catalog().label("New"), None);
    assert_eq!(txn.reader().catalog().property_key("new"), None);
    assert_eq!(txn.create_node(&[], &[]).unwrap(), inside, "ids are given out again");
    txn.create_index("New", "new", true).unwrap();
    txn.release(savepoint).unwrap();
    txn.rollback_to(savepoint).unwrap_err();
    txn.commit().unwrap();
    let snapshot = database.read().unwrap();
    assert_eq!(snapshot.reader().catalog().node_count(), 2);
    assert!(snapshot.check().unwrap().is_clean());
}

#[test]
fn random_changes_come_to_what_the_model_says() {
    run(0..6, 25, &Options::default());
}

#[test]
fn so_they_do_with_few_frames() {
    run(100..103, 25, &Options { cache_bytes: 32 << 12, ..Options::default() });
}

#[test]
fn so_they_do_with_large_pages() {
    run(200..202, 25, &Options { page_size: 16_384, ..Options::default() });
}
