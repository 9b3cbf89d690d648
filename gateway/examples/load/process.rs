//! The gateway in a process of its own.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use cutout_gateway::client::Client;
use http::{HeaderValue, Request, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

const TOKEN: &str = "of-the-load";

pub(crate) struct Process {
    child: Child,
    url: String,
    config: PathBuf,
}

impl Process {
    /// Starts it on a free port with this configuration, and waits until it listens.
    pub(crate) async fn start(program: &Path, config: &str) -> Result<Self, Box<dyn Error>> {
        let free = TcpListener::bind("127.0.0.1:0").await?;
        let address = free.local_addr()?;
        drop(free);
        let path = std::env::temp_dir().join(format!("cutout-load-{}.toml", std::process::id()));
        std::fs::write(
            &path,
            format!(
                "[server]\nlisten = \"{address}\"\nadmin_token = {{ env = \"LOAD_TOKEN\" }}\n{config}"
            ),
        )?;
        let child = Command::new(program)
            .arg(&path)
            .env("RUST_LOG", "warn")
            .env("LOAD_TOKEN", TOKEN)
            .stdout(Stdio::null())
            .spawn();
        let child = child.map_err(|error| format!("{}: {error}", program.display()))?;
        let process = Self {
            child,
            url: format!("http://{address}"),
            config: path,
        };
        for _ in 0..200 {
            if TcpStream::connect(address).await.is_ok() {
                return Ok(process);
            }
            sleep(Duration::from_millis(20)).await;
        }
        Err("the gateway does not listen".into())
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// What it has in memory, in KiB.
    pub(crate) fn memory(&self) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.and_then(|number| number.parse().ok()).unwrap_or(0))
    }

    /// `GET /admin/state`.
    pub(crate) async fn state(&self) -> Result<Value, Box<dyn Error>> {
        let mut request = Request::new(Full::<Bytes>::default());
        *request.uri_mut() = format!("{}/admin/state", self.url).parse()?;
        let token = HeaderValue::try_from(format!("Bearer {TOKEN}"))?;
        request.headers_mut().insert(header::AUTHORIZATION, token);
        let answer = Client::new(Duration::from_secs(5)).send(request).await?;
        Ok(serde_json::from_slice(
            &answer.into_body().collect().await?.to_bytes(),
        )?)
    }

    /// Ends it.
    pub(crate) async fn stop(mut self) -> Result<(), Box<dyn Error>> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = std::fs::remove_file(&self.config);
    }
}
