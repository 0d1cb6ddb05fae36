//! One run of a script on one simulated disk, beside its model.

use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use hopdb_storage::io::FileSystem;
use hopdb_storage::io::sim::{Operation, SimFs};
use hopdb_storage::{Durability, Error, Options, ReadTxn, Store};

use super::Trouble;
use super::model::{Tables, apply, difference};
use super::workload::{Action, Change, Script, Taste, transaction};

/// Name of the database on the simulated disk.
pub(super) const NAME: &str = "data/x.hop";

/// A run on its way.
pub(super) struct Run {
    pub(super) fs: SimFs,
    options: Options,
    /// `None` only while it is being opened, and after that failed.
    pub(super) store: Option<Store>,
    /// What was acknowledged; `None` before the store was.
    pub(super) acknowledged: Option<Tables>,
    /// What was acknowledged before, from the last state on that is sure to be durable.
    pub(super) earlier: Vec<Tables>,
    /// What the commit would make of it that is running or failed.
    pub(super) attempted: Option<Tables>,
    held: Vec<(ReadTxn, Tables)>,
}

/// An empty disk; one in four has no durable writes.
pub(super) fn disk(seed: u64) -> SimFs {
    let fs = SimFs::new(seed);
    // Whatever kind of simulation the seed is.
    fs.set_durable_writes(seed / 4 % 4 != 1);
    fs
}

/// What a run without a crash looked like.
pub(super) struct Whole {
    /// Every step.
    pub(super) trace: Vec<Operation>,
    pub(super) steps: u64,
    /// Bytes of the file and the log at their largest.
    pub(super) bytes: u64,
}

/// Runs the script to its end and closes the store.
pub(super) fn whole(seed: u64, script: &Script) -> Result<Whole, Trouble> {
    let fs = disk(seed);
    fs.set_trace(true);
    let mut run = Run::new(seed, fs.clone(), script);
    run.start(script)?;
    let disk_bytes = || fs.paths().iter().map(|path| file_len(&fs, path)).sum();
    let mut bytes: u64 = disk_bytes();
    for action in &script.actions {
        run.act(action)?;
        bytes = bytes.max(disk_bytes());
    }
    run.finish()?;
    let trace = fs.trace();
    Ok(Whole { steps: fs.steps(), trace, bytes })
}

fn file_len(fs: &SimFs, path: &Path) -> u64 {
    fs.file_bytes(path).map_or(0, |bytes| bytes.len() as u64)
}

/// Opens the database of a disk.
pub(super) fn open(fs: &SimFs, options: &Options) -> Result<Store, Error> {
    Store::open_with(Arc::new(fs.clone()), Path::new(NAME), options)
}

/// Makes the database on a disk.
pub(super) fn create(fs: &SimFs, options: &Options) -> Result<Store, Error> {
    Store::create_with(Arc::new(fs.clone()), Path::new(NAME), options)
}

impl Run {
    /// A run that has not begun.
    pub(super) fn new(seed: u64, fs: SimFs, script: &Script) -> Self {
        // The file's id is drawn from it.
        fastrand::seed(seed);
        Self {
            fs,
            options: script.options.clone(),
            store: None,
            acknowledged: None,
            earlier: Vec::new(),
            attempted: None,
            held: Vec::new(),
        }
    }

    /// Goes on with a store that was opened by another way.
    pub(super) fn resume(fs: SimFs, options: &Options, store: Store, state: Tables) -> Self {
        Self {
            fs,
            options: options.clone(),
            store: Some(store),
            acknowledged: Some(state),
            earlier: Vec::new(),
            attempted: None,
            held: Vec::new(),
        }
    }

    /// Makes the store, as the script says.
    pub(super) fn start(&mut self, script: &Script) -> Result<(), Trouble> {
        let path = Path::new(NAME);
        let mut state = Tables::new();
        if let Some(loads) = &script.loads {
            let fs: Arc<dyn FileSystem> = Arc::new(self.fs.clone());
            let folder = path.parent().unwrap_or(Path::new(""));
            let store = Store::create_unnamed(fs, folder, &self.options)?;
            for changes in loads {
                let mut txn = store.write()?;
                apply(&mut txn, &mut state, changes)?;
                txn.commit()?;
            }
            self.attempted = Some(state.clone());
            store.persist(path)?;
            self.store = Some(open(&self.fs, &self.options)?);
        } else {
            self.attempted = Some(state.clone());
            self.store = Some(create(&self.fs, &self.options)?);
        }
        self.acknowledged = Some(state);
        self.attempted = None;
        Ok(())
    }

    pub(super) fn act(&mut self, action: &Action) -> Result<(), Trouble> {
        match action {
            Action::Commit(changes) => self.transact(changes, Some(Durability::Sync)),
            Action::CommitLater(changes) => self.transact(changes, Some(Durability::None)),
            Action::Rollback(changes) => self.transact(changes, None),
            Action::Hold => {
                self.held.push((self.store()?.read(), self.state()));
                Ok(())
            }
            Action::Look => match self.held.last() {
                Some((snapshot, state)) => verify(snapshot, state),
                None => Ok(()),
            },
            Action::Release => self.release(),
            Action::Flush => {
                self.store()?.flush()?;
                self.all_durable()
            }
            Action::ClearCache => {
                self.store()?.clear_cache()?;
                self.all_durable()
            }
            Action::Checkpoint => {
                self.store()?.checkpoint()?;
                self.all_durable()
            }
            Action::Reopen => {
                self.close()?;
                self.reopen()
            }
        }
    }

    fn store(&self) -> Result<&Store, Trouble> {
        self.store.as_ref().ok_or_else(|| Trouble::Wrong("the store is not open".into()))
    }

    /// The newest acknowledged state.
    pub(super) fn state(&self) -> Tables {
        self.acknowledged.clone().unwrap_or_default()
    }

    fn all_durable(&mut self) -> Result<(), Trouble> {
        self.earlier.clear();
        Ok(())
    }

    /// A transaction that commits so, or is dropped.
    fn transact(&mut self, changes: &[Change], commit: Option<Durability>) -> Result<(), Trouble> {
        let mut state = self.state();
        let mut txn = self.store()?.write()?;
        apply(&mut txn, &mut state, changes)?;
        if let Some(what) = difference(&txn, &state)? {
            return Err(Trouble::Wrong(format!("the transaction sees {what}")));
        }
        if let Some(durability) = commit {
            self.attempted = Some(state.clone());
            txn.set_durability(durability);
            txn.commit()?;
            self.attempted = None;
            let before = self.acknowledged.replace(state);
            match durability {
                Durability::Sync => self.earlier.clear(),
                _ => self.earlier.extend(before),
            }
        }
        Ok(())
    }

    fn release(&mut self) -> Result<(), Trouble> {
        if self.held.is_empty() {
            return Ok(());
        }
        let (snapshot, state) = self.held.remove(0);
        verify(&snapshot, &state)
    }

    /// Ends all snapshots and closes the store; a database that was closed has no log.
    pub(super) fn close(&mut self) -> Result<(), Trouble> {
        while !self.held.is_empty() {
            self.release()?;
        }
        if let Some(store) = self.store.take() {
            store.close()?;
            self.earlier.clear();
            if self.fs.paths() != [Path::new(NAME)] {
                return Err(Trouble::Wrong(format!("closed, and left {:?}", self.fs.paths())));
            }
        }
        Ok(())
    }

    /// Opens the store again and holds it against the model: a close that failed may have lost commits that had not
    /// waited for the disk, the newest first.
    pub(super) fn reopen(&mut self) -> Result<(), Trouble> {
        let store = self.store.insert(open(&self.fs, &self.options)?);
        let snapshot = store.read();
        while let Some(earlier) = self.earlier.pop() {
            if self.acknowledged.as_ref().is_some_and(|state| is(&snapshot, state)) {
                break;
            }
            self.acknowledged = Some(earlier);
        }
        self.earlier.clear();
        drop(snapshot);
        self.verify()
    }

    /// Holds the newest commit against the model.
    pub(super) fn verify(&self) -> Result<(), Trouble> {
        verify(&self.store()?.read(), &self.state())
    }

    /// Ends the snapshots without a look at them.
    pub(super) fn forget_snapshots(&mut self) {
        self.held.clear();
    }

    /// A few more transactions, a reopening, and a close.
    pub(super) fn go_on(&mut self, random: &mut Rng) -> Result<(), Trouble> {
        for _ in 0..2 {
            let durability = if random.bool() { Durability::Sync } else { Durability::None };
            let changes = transaction(random, Taste { large_in: 20, keys: 100 });
            self.transact(&changes, Some(durability))?;
        }
        self.finish()
    }

    /// Verifies, reopens, verifies again, and closes.
    pub(super) fn finish(&mut self) -> Result<(), Trouble> {
        self.verify()?;
        self.close()?;
        self.reopen()?;
        self.close()
    }
}

fn is(snapshot: &ReadTxn, state: &Tables) -> bool {
    matches!(difference(snapshot, state), Ok(None))
}

/// Holds a snapshot against a state of the model, and checks the file as of it.
pub(super) fn verify(snapshot: &ReadTxn, state: &Tables) -> Result<(), Trouble> {
    if let Some(what) = difference(snapshot, state)? {
        return Err(Trouble::Wrong(format!("the snapshot sees {what}")));
    }
    let report = snapshot.check()?;
    match report.problems.first() {
        None => Ok(()),
        Some(problem) => {
            let count = report.problems.len();
            Err(Trouble::Wrong(format!("the check found {count} problems: {problem}, …")))
        }
    }
}
