//! A server behind TLS. Skipped, and said so, where there is no server that speaks it or no `openssl` to make its certificate.
#![cfg(feature = "tls")]

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cutout_fleet::Fleet;

/// A process that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A certificate for localhost that signs itself, and its key.
fn certificate(folder: &Path) -> Option<[String; 2]> {
    let [certificate, key] =
        ["certificate.pem", "key.pem"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]);
    openssl.args([
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    openssl.args(["-keyout", &key, "-out", &certificate]);
    let made = openssl.stderr(Stdio::null()).status().ok()?;
    made.success().then_some([certificate, key])
}

/// Not a test by itself: the system's certificates are chosen by the environment, which is a process's.
#[test]
#[ignore = "a process of another test"]
fn a_member() {
    let Ok(address) = std::env::var("CUTOUT_FLEET_ADDRESS") else {
        return;
    };
    let fleet = Fleet::builder().connect(&address).unwrap();
    let start = Instant::now();
    while !fleet.health().is_connected {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{}",
            fleet.health()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_member_speaks_tls() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some([certificate, key]) = certificate(folder) else {
        println!("skipped: there is no openssl");
        return;
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    let server = Command::new("redis-server")
        .args([
            "--port",
            "0",
            "--tls-port",
            &port,
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ])
        .args(["--tls-cert-file", &certificate, "--tls-key-file", &key])
        .args([
            "--tls-ca-cert-file",
            &certificate,
            "--tls-auth-clients",
            "no",
        ])
        .stdout(Stdio::null())
        .spawn();
    let Ok(server) = server else {
        println!("skipped: no redis-server is installed");
        return;
    };
    let mut server = Ends(server);
    let member = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_member", "--ignored", "--nocapture"])
        .env("CUTOUT_FLEET_ADDRESS", format!("rediss://localhost:{port}"))
        .env("SSL_CERT_FILE", &certificate)
        .output()
        .unwrap();
    if let Ok(Some(_)) = server.0.try_wait() {
        println!("skipped: this redis-server speaks no TLS");
        return;
    }
    let told = String::from_utf8_lossy(&member.stdout).into_owned();
    assert!(
        member.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&member.stderr)
    );
}
