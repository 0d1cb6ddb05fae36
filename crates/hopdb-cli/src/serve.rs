//! `hop serve`: a database over HTTP, with the page to look at it.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hopdb_server::{Error, Options, Server, Token};

use crate::failure::Failure;
use crate::interrupt::{STOPPING, on_interrupt};
use crate::open;
use crate::said::Said;
use crate::screen::Screen;
use crate::size::ByteSize;

/// The port when none is given.
const PORT: u16 = 7474;

/// How many ports are tried where any will do.
const PORTS_TRIED: u16 = 20;

const EXAMPLES: &str = "\
Examples:
  hop serve friends.hop
  hop serve friends.hop --write --listen 127.0.0.1:8080
  hop serve friends.hop --listen 0.0.0.0:7474 --allow-remote --token-file token --allow-host graph.example";

/// Serve a database over HTTP: a page to look at it, and an API
///
/// Open the address that it prints in a browser; docs/http.md describes the API. Programs of this machine alone can
/// connect, and only to read, unless options say otherwise. Ctrl-C ends it: running requests are finished, the database
/// is closed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The database file
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7474", value_parser = address)]
    listen: SocketAddr,
    /// Let other machines connect, where --listen is an address that they reach; needs --token-file
    #[arg(long, requires = "token_file")]
    allow_remote: bool,
    /// A file with the token that the API asks for: one line, at least 16 characters
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A further name by which browsers and programs may call this server; many times
    #[arg(long, value_name = "NAME[:PORT]")]
    allow_host: Vec<String>,
    /// Let clients change the graph; no other program can open the file meanwhile
    #[arg(long)]
    write: bool,
    /// Memory for pages: 4096, 64KiB, 1GiB
    #[arg(long, value_name = "SIZE")]
    cache_bytes: Option<ByteSize>,
    /// Write no line for each request to standard error
    #[arg(long)]
    quiet: bool,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || "write an address and a port, as in 127.0.0.1:7474 or [::1]:7474".to_owned();
    let mut found = text.to_socket_addrs().map_err(|_| wrong())?;
    found.next().ok_or_else(wrong)
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let said = Said::to_stderr()?;
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let options = Options {
        allow_remote: args.allow_remote,
        token,
        allow_hosts: args.allow_host.clone(),
        writable: args.write,
        log: (!args.quiet).then(|| log(&said)),
        ..options(args.listen, &args.database)
    };
    let open = if args.write { open::for_writing } else { open::read_only };
    let db = open(&args.database, args.cache_bytes)?;
    serve(Server::bind(db, options)?, &said, screen)
}

/// Serves a database for reading, on the first port from the usual one on that is free.
pub(crate) fn serve_somewhere(path: &Path, screen: &mut Screen) -> Result<(), Failure> {
    let db = open::read_only(path, None)?;
    let mut port = PORT;
    let server = loop {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        match Server::bind(db.clone(), options(listen, path)) {
            Err(Error::Listen { .. }) if port < PORT + PORTS_TRIED => port += 1,
            bound => break bound?,
        }
    };
    drop(db);
    serve(server, &Said::to_stderr()?, screen)
}

fn options(listen: SocketAddr, path: &Path) -> Options {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Options { name, ..Options::new(listen) }
}

fn log(said: &Said) -> hopdb_server::Log {
    let said = said.clone();
    Arc::new(move |line: &str| said.say(line))
}

fn serve(server: Server, said: &Said, screen: &mut Screen) -> Result<(), Failure> {
    let (stopper, saying) = (server.stopper(), said.clone());
    on_interrupt(move || {
        // This never waits, and comes before what the end says.
        saying.say(STOPPING);
        stopper.stop();
    })?;
    // Whoever started this waits for the line, and may end it at once.
    writeln!(screen, "listening on http://{}/", name(server.address()))?;
    screen.flush()?;
    let ended = server.run();
    said.end();
    Ok(ended?)
}

/// A name by which this machine's programs reach a server: no address that stands for all.
fn name(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("localhost:{}", address.port()),
        false => address.to_string(),
    }
}

fn read_token(file: &Path) -> Result<Token, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::io(format!("read the token in {}", file.display()), error))?;
    Ok(Token::new(text.trim_end_matches(['\r', '\n']))?)
}
