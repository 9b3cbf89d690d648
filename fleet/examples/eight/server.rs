//! A server of one's own, for as long as it is needed.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// A `redis-server` or `valkey-server` that keeps nothing on disk; none if neither is installed.
    pub(crate) fn start() -> Option<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let start = |program: &str| {
            Command::new(program)
                .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
                .args(["--save", "", "--appendonly", "no"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        };
        let process = ["redis-server", "valkey-server"]
            .into_iter()
            .find_map(start)?;
        let server = Self { process, port };
        for _ in 0..100 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Some(server);
            }
            thread::sleep(Duration::from_millis(50));
        }
        None
    }

    pub(crate) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
