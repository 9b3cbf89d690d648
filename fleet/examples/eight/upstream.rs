//! An upstream that answers a line with a line, while it lives, and closes the connection while it does not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

pub(crate) struct Upstream {
    address: SocketAddr,
    // Relaxed: a call a moment earlier or later is one or the other.
    is_alive: Arc<AtomicBool>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let is_alive = Arc::new(AtomicBool::new(true));
        let alive = Arc::clone(&is_alive);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let alive = Arc::clone(&alive);
                thread::spawn(move || serve(stream, &alive));
            }
        });
        Self { address, is_alive }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set_alive(&self, is_alive: bool) {
        self.is_alive.store(is_alive, Relaxed);
    }
}

/// `+` for a good answer, `-` for a bad one: a connection of its own for each would measure the system's sockets.
fn serve(mut stream: TcpStream, alive: &AtomicBool) {
    let mut byte = [0];
    while stream.read_exact(&mut byte).is_ok() {
        let answer = if alive.load(Relaxed) { b"+" } else { b"-" };
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}
