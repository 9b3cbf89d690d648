//! A provider on a raw socket, that says exactly what a test has written for it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Dropping it closes its socket and its connections.
pub(crate) struct Raw {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// One for each request; the last stays.
    scripts: Mutex<VecDeque<Script>>,
    heads: Mutex<Vec<String>>,
    calls: AtomicU64,
    open: AtomicUsize,
}

/// What it does with a request. In the end the connection is closed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Say(Vec<u8>),
    Wait(Duration),
    /// Nothing more, for as long as the other end is there.
    Hang,
}

impl Raw {
    pub(crate) async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        shared.scripts.lock().unwrap().push_back(script);
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let shared = Arc::clone(&serving);
                connections.spawn(async move { shared.serve(socket).await });
                while connections.try_join_next().is_some() {}
            }
        });
        Self {
            address,
            shared,
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// From the next request on.
    pub(crate) fn set(&self, script: Script) {
        self.play([script]);
    }

    /// One script for each of the next requests, and the last for all further ones.
    pub(crate) fn play(&self, scripts: impl IntoIterator<Item = Script>) {
        *self.shared.scripts.lock().unwrap() = scripts.into_iter().collect();
    }

    pub(crate) fn calls(&self) -> u64 {
        self.shared.calls.load(Relaxed)
    }

    /// Answers that are being given.
    pub(crate) fn open(&self) -> usize {
        self.shared.open.load(Relaxed)
    }

    /// The heads of the requests that it got.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().unwrap().clone()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn serve(&self, mut socket: TcpStream) -> Option<()> {
        let head = read_request(&mut socket).await?;
        self.heads.lock().unwrap().push(head);
        let script = {
            let mut scripts = self.scripts.lock().unwrap();
            if scripts.len() > 1 {
                scripts.pop_front()?
            } else {
                scripts.front()?.clone()
            }
        };
        self.open.fetch_add(1, Relaxed);
        self.calls.fetch_add(1, Relaxed);
        let (mut reader, mut writer) = socket.split();
        let mut byte = [0];
        tokio::select! {
            // The other end has gone.
            _ = reader.read(&mut byte) => {}
            () = play(script, &mut writer) => {}
        }
        self.open.fetch_sub(1, Relaxed);
        Some(())
    }
}

async fn play(script: Script, writer: &mut (impl AsyncWriteExt + Unpin)) {
    for step in script.0 {
        match step {
            Step::Say(bytes) => {
                if writer.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Hang => std::future::pending().await,
        }
    }
    let _ = writer.shutdown().await;
}

/// A request's head, once its body has come too.
async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let end = loop {
        let ends = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = ends {
            break at + 4;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    while bytes.len() < end + length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

impl Script {
    /// Accepts the request and says nothing.
    pub(crate) fn hang() -> Self {
        Self(vec![Step::Hang])
    }

    /// Closes the connection without a word.
    pub(crate) fn close() -> Self {
        Self(Vec::new())
    }

    /// JSON, whole.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::whole(status, "content-type: application/json\r\n", body)
    }

    /// An answer with these header lines, whole.
    pub(crate) fn whole(status: u16, headers: &str, body: &str) -> Self {
        Self::close().say(&format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    /// A refusal that asks to wait so many seconds.
    pub(crate) fn busy(status: u16, wait: u64) -> Self {
        let headers = format!("content-type: application/json\r\nretry-after: {wait}\r\n");
        Self::whole(status, &headers, r#"{"error":{"message":"busy"}}"#)
    }

    /// A good answer, whole.
    pub(crate) fn well() -> Self {
        Self::json(200, WELL)
    }

    /// The beginning of a stream, up to and with these events.
    pub(crate) fn stream(events: &[&str]) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
        let script = Self::close().say(head);
        events
            .iter()
            .fold(script, |script, event| script.event(event))
    }

    /// A stream that comes in these pieces, and ends.
    pub(crate) fn pieces(pieces: &[&[u8]]) -> Self {
        let mut script = Self::stream(&[]);
        for piece in pieces {
            let mut said = format!("{:x}\r\n", piece.len()).into_bytes();
            said.extend_from_slice(piece);
            said.extend_from_slice(b"\r\n");
            script.0.push(Step::Say(said));
        }
        script.end()
    }

    /// A good stream.
    pub(crate) fn streaming() -> Self {
        Self::stream(&[ROLE, HELLO, STOP, DONE]).end()
    }

    /// Then these bytes.
    pub(crate) fn say(mut self, bytes: &str) -> Self {
        self.0.push(Step::Say(bytes.as_bytes().to_vec()));
        self
    }

    /// Then an event.
    pub(crate) fn event(self, event: &str) -> Self {
        self.say(&format!("{:x}\r\n{event}\r\n", event.len()))
    }

    /// Then the proper end of the body of a stream; without it the connection breaks.
    pub(crate) fn end(self) -> Self {
        self.say("0\r\n\r\n")
    }

    /// Then nothing for a time.
    pub(crate) fn wait(mut self, time: Duration) -> Self {
        self.0.push(Step::Wait(time));
        self
    }

    /// Then nothing any more.
    pub(crate) fn then_hang(mut self) -> Self {
        self.0.push(Step::Hang);
        self
    }

    /// This script after a time.
    pub(crate) fn after(mut self, time: Duration) -> Self {
        self.0.insert(0, Step::Wait(time));
        self
    }
}

/// A good answer.
pub(crate) const WELL: &str = r#"{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
/// A head without content.
pub(crate) const ROLE: &str = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n";
/// Content.
pub(crate) const HELLO: &str = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";
/// A finish reason.
pub(crate) const STOP: &str = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
/// The proper end.
pub(crate) const DONE: &str = "data: [DONE]\n\n";
