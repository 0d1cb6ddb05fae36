//! A server in this process, on a port of its own, over a graph made for it.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use hopdb::{Database, NodeId, Transaction, Value};
use hopdb_server::{Error, Options, Server, Stopper};
use tempfile::TempDir;

use crate::client::Client;

pub(crate) struct Served {
    folder: TempDir,
    address: SocketAddr,
    stopper: Stopper,
    running: Option<JoinHandle<Result<(), Error>>>,
}

impl Served {
    /// Serves what `fill` makes.
    pub(crate) fn new(
        fill: impl FnOnce(&mut Transaction),
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::create(folder.path().join("g.hop"), &hopdb::Options::default()).unwrap();
        let mut txn = db.write().unwrap();
        fill(&mut txn);
        txn.commit().unwrap();
        Self::over(folder, db, change)
    }

    /// Serves `g.hop` in a folder.
    pub(crate) fn over(folder: TempDir, db: Database, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options::new("127.0.0.1:0".parse().unwrap());
        options.name = "g.hop".into();
        change(&mut options);
        let server = Server::bind(db, options).unwrap();
        let (address, stopper) = (server.address(), server.stopper());
        let running = std::thread::spawn(move || server.run());
        Self { folder, address, stopper, running: Some(running) }
    }

    /// Serves the people of [`people`] for reading.
    pub(crate) fn people() -> Self {
        Self::new(people, |_| {})
    }

    /// Serves them for writing.
    pub(crate) fn writable() -> Self {
        Self::new(people, |options| options.writable = true)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub(crate) fn stop(&self) {
        self.stopper.stop();
    }

    /// Waits for the server to end; opens its database again.
    pub(crate) fn ended(mut self) -> Database {
        self.running.take().unwrap().join().unwrap().unwrap();
        let options = hopdb::Options { read_only: true, ..hopdb::Options::default() };
        Database::open(self.folder.path().join("g.hop"), &options).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.running.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.unwrap().is_ok()));
    }
}

/// Ada (0) knows Bob (1) twice, Cem (2) and herself; Bob likes Ada; Dee (3) is alone. `Person.name` is indexed.
pub(crate) fn people(txn: &mut Transaction) {
    let names = ["Ada", "Bob", "Cem", "Dee"];
    let person = |name: &&str| [("name", Value::from(*name))];
    let ids: Vec<NodeId> =
        names.iter().map(|name| txn.create_node(&["Person"], &person(name)).unwrap()).collect();
    txn.create_index("Person", "name", true).unwrap();
    let since = [("since", Value::Integer(1999))];
    for (end, properties) in [(1, &since[..]), (1, &[]), (2, &[]), (0, &[])] {
        txn.create_relationship(ids[0], "KNOWS", ids[end], properties).unwrap();
    }
    txn.create_relationship(ids[1], "LIKES", ids[0], &[]).unwrap();
}
