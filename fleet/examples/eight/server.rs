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
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        let port = listener.local_addr().ok()?.port();
        drop(listener);
        let process = spawn(port)?;
        Some(Self { process, port })
    }

    pub(crate) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

fn spawn(port: u16) -> Option<Child> {
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
    for _ in 0..200 {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    Some(process)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the tests do to it.
#[cfg(test)]
mod hostile {
    use std::io::{Read, Write};

    use super::*;

    impl Server {
        pub(crate) fn port(&self) -> u16 {
            self.port
        }

        pub(crate) fn kill(&mut self) {
            self.process.kill().unwrap();
            self.process.wait().unwrap();
        }

        /// The same port, and nothing in it.
        pub(crate) fn restart(&mut self) {
            self.process = spawn(self.port).unwrap();
        }

        pub(crate) fn signal(&self, signal: &str) {
            let process = self.process.id().to_string();
            let sent = Command::new("kill").args(["-s", signal, &process]).status();
            assert!(sent.unwrap().success());
        }

        /// The begin of the answer to a command.
        pub(crate) fn command(&self, words: &[&str]) -> String {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
            let mut command = format!("*{}\r\n", words.len());
            for word in words {
                command += &format!("${}\r\n{word}\r\n", word.len());
            }
            stream.write_all(command.as_bytes()).unwrap();
            let mut answer = vec![0; 4096];
            let length = stream.read(&mut answer).unwrap();
            String::from_utf8_lossy(&answer[..length]).into_owned()
        }
    }
}
