//! The limit: a responder that reads a request to its empty line and writes an answer made before.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A responder, with a thread for each connection; they end with the process.
pub(super) struct Bare {
    address: SocketAddr,
}

impl Bare {
    /// Answers every request with these bytes.
    pub(super) fn start(answer: Vec<u8>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let answer: Arc<[u8]> = answer.into();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let answer = Arc::clone(&answer);
                thread::spawn(move || connection.and_then(|stream| serve(stream, &answer)));
            }
        });
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Until the other side closes. Requests have no body and come one at a time.
fn serve(mut stream: TcpStream, answer: &[u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    let mut some = [0; 4096];
    loop {
        let got = stream.read(&mut some)?;
        if got == 0 {
            return Ok(());
        }
        request.extend_from_slice(&some[..got]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            stream.write_all(answer)?;
        }
    }
}
