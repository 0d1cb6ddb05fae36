//! Connections: taken, limited, and ended in order.
//!
//! Each connection is a task that speaks HTTP/1.1. What a client may hold up is its own connection only: headers,
//! bodies and answers each have their time, memory of a connection has a limit, and connections are counted.
//!
//! The end: no new connections, idle ones are closed, running requests have some seconds, the database is closed.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use hopdb::Database;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::answers::Answers;
use crate::api::{self, Peer, Service};
use crate::error::{Error, Result};
use crate::failure::JSON;
use crate::gate::{Gate, Token};
use crate::limits::Limits;
use crate::log::Log;
use crate::paced::Paced;
use crate::watch::{Watch, Watcher};
use crate::work::Workers;

/// How long no connection is taken after one could not be, as when there are no file handles left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Threads beyond those that may wait for the disk.
const SPARE_THREADS: usize = 2;

/// How a server is to be.
#[derive(Clone)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether `listen` may be an address that other machines reach. Needs a token as well.
    pub allow_remote: bool,
    /// What the API asks of its clients.
    pub token: Option<Token>,
    /// Names, perhaps with ports, by which clients may call the server beside its address and loopback names.
    pub allow_hosts: Vec<String>,
    /// Whether clients may change the graph.
    pub writable: bool,
    /// Name of the database, for people.
    pub name: String,
    /// Where a line for each request goes.
    pub log: Option<Log>,
    /// What a client may cost.
    pub limits: Limits,
}

impl Options {
    /// A server on an address that only reads, without a token and without a log.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            allow_remote: false,
            token: None,
            allow_hosts: Vec::new(),
            writable: false,
            name: String::new(),
            log: None,
            limits: Limits::default(),
        }
    }

    fn check(&self) -> Result<()> {
        let address = self.listen;
        match (address.ip().is_loopback(), self.allow_remote, &self.token) {
            (true, ..) | (false, true, Some(_)) => Ok(()),
            (false, false, _) => Err(Error::Remote { address }),
            (false, true, None) => Err(Error::NoToken { address }),
        }
    }
}

/// A server that listens, and answers once it runs.
pub struct Server {
    listener: StdListener,
    address: SocketAddr,
    service: Arc<Service>,
    watch: Arc<Watch>,
    stop: Arc<Notify>,
}

/// Ends a server.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Asks the server to end; returns at once. Once is enough.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Takes the address. Connections wait until [`Server::run`].
    ///
    /// # Errors
    /// The address is taken, or beyond this machine without leave and token.
    pub fn bind(db: Database, options: Options) -> Result<Self> {
        options.check()?;
        let address = options.listen;
        let failed = |source| Error::Listen { address, source };
        let listener = StdListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let Options { token, allow_hosts, writable, name, log, limits, .. } = options;
        let watch = Arc::<Watch>::default();
        let service = Arc::new(Service {
            db,
            name,
            writable,
            gate: Gate::new(address, &allow_hosts, token),
            limits,
            answers: Answers::new(limits.answer_bytes, limits.answers_bytes),
            workers: Workers::new(limits.requests, limits.request_wait, Arc::clone(&watch)),
            log: log.map(|log| watched(log, Arc::clone(&watch))),
            opened: Instant::now(),
            identity: identity(),
            requests: AtomicU64::new(0),
            requests_now: AtomicUsize::new(0),
        });
        Ok(Self { listener, address, service, watch, stop: Arc::new(Notify::new()) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Answers until it is stopped, then closes the database.
    ///
    /// # Errors
    /// Threads cannot be started; the database cannot be closed.
    pub fn run(self) -> Result<()> {
        let Self { listener, service, watch, stop, .. } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(service.limits.requests + SPARE_THREADS)
            .max_blocking_threads(service.limits.requests)
            .thread_name("hopdb-server")
            .enable_all()
            .build()
            .map_err(Error::Threads)?;
        let watcher = Watcher::start(&watch, runtime.handle().clone()).map_err(Error::Threads)?;
        let ended = runtime.block_on(accept(listener, Arc::clone(&service), &stop));
        drop(watcher);
        runtime.shutdown_background();
        ended.map_err(Error::Threads)?;
        Ok(service.db.clone().close()?)
    }
}

/// A number that nobody else has, in hexadecimal. The keys of a hasher are random.
fn identity() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// The log, which may keep a thread as work does.
fn watched(log: Log, watch: Arc<Watch>) -> Log {
    Arc::new(move |line: &str| watch.during(|| log(line)))
}

/// Takes connections until it is told to stop; then waits for those that work.
async fn accept(
    listener: StdListener,
    service: Arc<Service>,
    stop: &Notify,
) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(service.limits.connections));
    let connections = GracefulShutdown::new();
    let router = TowerToHyperService::new(api::router(Arc::clone(&service)));
    let full = full();
    loop {
        let accepted = tokio::select! {
            () = stop.notified() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            Ok((stream, peer)) => match Arc::clone(&places).try_acquire_owned() {
                // Whether it is told does not matter: it is closed.
                Err(_) => drop(stream.try_write(full.as_bytes())),
                Ok(place) => {
                    let router = router.clone();
                    let routed = service_fn(move |mut request: hyper::Request<_>| {
                        request.extensions_mut().insert(Peer(peer));
                        router.call(request)
                    });
                    let http = http(&service.limits);
                    let connection =
                        http.serve_connection(guarded(stream, &service.limits), routed);
                    let connection = connections.watch(connection);
                    tokio::spawn(keep(connection, place));
                }
            },
        }
    }
    drop(listener);
    // Those that are not done by then are cut off.
    drop(tokio::time::timeout(service.limits.stop_wait, connections.shutdown()).await);
    Ok(())
}

/// What a connection too many is told.
fn full() -> String {
    let body = r#"{"error":{"code":"busy","message":"as many connections are open as may be","hint":"try again later"}}"#;
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {JSON}\r\nRetry-After: 1\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn keep(
    connection: impl Future<Output = std::result::Result<(), hyper::Error>>,
    place: OwnedSemaphorePermit,
) {
    // However it ended: the client knows as much.
    drop(connection.await);
    drop(place);
}

fn http(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.headers_wait)
        .max_buf_size(limits.header_bytes);
    http
}

/// The stream, which fails when its client is too slow.
fn guarded(stream: TcpStream, limits: &Limits) -> TokioIo<Paced> {
    // Answers are written whole: waiting for more would only delay them.
    drop(stream.set_nodelay(true));
    TokioIo::new(Paced::new(stream, limits))
}
