//! The demo: three fake providers that fall ill in turn, a light load, and what the breakers make of it.

pub mod fake;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::{BodyExt, Full};
use tokio::time::{Instant, interval, sleep};

use self::fake::{Fake, Mood};
use crate::client::Client;
use crate::config::File;
use crate::dialect::Endpoint;
use crate::dialect::sse::{Said, read};
use crate::gateway::Gateway;
use crate::server;

/// Requests per second.
const LOAD: u64 = 20;

/// Runs it at `listen`, until it is told to stop or for so long, and prints a summary.
///
/// # Errors
///
/// The address is taken.
pub async fn run(listen: SocketAddr, length: Option<Duration>) -> std::io::Result<()> {
    let fakes = [
        Fake::start(Mood::Well).await?,
        Fake::start(Mood::Well).await?,
        Fake::start(Mood::Well).await?,
    ];
    let file = File::parse(config(&fakes)).map_err(std::io::Error::other)?;
    let gateway = Gateway::new(file, None).map_err(std::io::Error::other)?;
    let listener = tokio::net::TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    println!("dashboard  {}", gateway.dashboard_url(address));
    println!("API        http://{address}/v1 (the model is called \"demo\")\n");
    let asked = Arc::new(Asked::default());
    let started = Instant::now();
    let fakes = Arc::new(fakes);
    let tasks = [
        tokio::spawn(print_transitions(Arc::clone(&gateway))),
        tokio::spawn(fall_ill(Arc::clone(&fakes))),
        tokio::spawn(load(address, Arc::clone(&asked))),
    ];
    let told = server::stop_signal()?;
    let stop = async {
        match length {
            Some(length) => tokio::select! {
                () = sleep(length) => {}
                () = told => {}
            },
            None => told.await,
        }
        // The load stops first, so that what was asked is answered.
        tasks[2].abort();
        while !asked.is_settled() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    server::serve(Arc::clone(&gateway), listener, stop).await;
    for task in &tasks {
        task.abort();
    }
    print!("{}", summary(&gateway, &asked, started.elapsed()));
    Ok(())
}

/// Short waits, so that there is something to see.
fn config(fakes: &[Fake; 3]) -> String {
    let providers = ["flaky", "hanging", "cutting"].iter().zip(fakes).map(|(name, fake)| {
        format!(
            r#"
[[provider]]
name = "{name}"
base_url = "{}"
limits = {{ first_byte = "1s", whole = "1s", idle = "1s" }}
retry = {{ attempts = 2, base = "50ms" }}
breaker = {{ min_calls = 6, timeout_ratio = 0.3, open_wait = {{ base = "2s", factor = 2.0, max = "10s" }} }}
check = {{ every = "5s", model = "demo" }}
"#,
            fake.url()
        )
    });
    let routes = r#"
[log]
requests = "off"

[[route]]
model = "demo"
queue = [{ provider = "flaky" }, { provider = "hanging" }, { provider = "cutting" }]
ramp = "2s"
"#;
    providers.chain([routes.to_owned()]).collect()
}

/// Each is well for a time and then ill in its own way; their illnesses overlap in part.
async fn fall_ill(fakes: Arc<[Fake; 3]>) {
    let moods = [
        (Mood::Refusing(500, None), 4, 6),
        (Mood::Hanging, 7, 6),
        (Mood::Cutting, 5, 5),
    ];
    let mut ticks = interval(Duration::from_secs(1));
    for second in 0_u64.. {
        ticks.tick().await;
        for (fake, (mood, well, ill)) in fakes.iter().zip(&moods) {
            let is_ill = second % (well + ill) >= *well;
            fake.set(if is_ill { mood.clone() } else { Mood::Well });
        }
    }
}

async fn print_transitions(gateway: Arc<Gateway>) {
    let since = Instant::now();
    let mut transitions = gateway.events.subscribe();
    while let Ok(transition) = transitions.recv().await {
        println!(
            "{:6.2} s  {:<8} {:>9} -> {:<9} {}",
            since.elapsed().as_secs_f64(),
            transition.breaker,
            transition.from,
            transition.to,
            transition.cause
        );
    }
}

/// What the demo's client saw.
#[derive(Debug, Default)]
struct Asked {
    asked: AtomicU64,
    answered: AtomicU64,
    failed_over: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
}

impl Asked {
    /// Whether everything that was asked has come to an end.
    fn is_settled(&self) -> bool {
        let ends = [&self.answered, &self.refused, &self.broken];
        let ended: u64 = ends.iter().map(|count| count.load(Relaxed)).sum();
        ended == self.asked.load(Relaxed)
    }
}

async fn load(address: SocketAddr, asked: Arc<Asked>) {
    let client = Client::new(Duration::from_secs(1));
    let mut ticks = interval(Duration::from_secs(1) / LOAD as u32);
    for turn in 0_u64.. {
        ticks.tick().await;
        let (client, asked) = (client.clone(), Arc::clone(&asked));
        // Every second one is a stream.
        let stream = turn.is_multiple_of(2);
        tokio::spawn(async move { ask(&client, address, stream, &asked).await });
    }
}

async fn ask(client: &Client, address: SocketAddr, stream: bool, asked: &Asked) {
    let body = format!(
        r#"{{"model":"demo","stream":{stream},"messages":[{{"role":"user","content":"Hello"}}]}}"#
    );
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = http::Method::POST;
    let Ok(uri) = format!("http://{address}/v1/chat/completions").parse() else {
        return;
    };
    *request.uri_mut() = uri;
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(header::CONTENT_TYPE, json);
    asked.asked.fetch_add(1, Relaxed);
    let Ok(response) = client.send(request).await else {
        asked.broken.fetch_add(1, Relaxed);
        return;
    };
    if !response.status().is_success() {
        asked.refused.fetch_add(1, Relaxed);
        return;
    }
    let failed_over = response.headers().contains_key(crate::dialect::TRIED);
    let Ok(body) = response.into_body().collect().await else {
        asked.broken.fetch_add(1, Relaxed);
        return;
    };
    let body = body.to_bytes();
    if stream && !body.ends_with(b"[DONE]\n\n") {
        let last = body
            .split(|&byte| byte == b'\n')
            .rev()
            .find(|line| !line.is_empty());
        debug_assert!(
            last.is_some_and(|line| matches!(read(Endpoint::Chat, line), Said::Error(_)))
        );
        asked.broken.fetch_add(1, Relaxed);
        return;
    }
    asked.answered.fetch_add(1, Relaxed);
    asked.failed_over.fetch_add(u64::from(failed_over), Relaxed);
}

fn summary(gateway: &Gateway, asked: &Asked, took: Duration) -> String {
    let get = |count: &AtomicU64| count.load(Relaxed);
    let mut text = format!(
        "\nin {:.0} s: {} asked, {} answered ({} of them after failing over), {} got an error that lists what was tried, \
         {} broken off in the middle\n",
        took.as_secs_f64(),
        get(&asked.asked),
        get(&asked.answered),
        get(&asked.failed_over),
        get(&asked.refused),
        get(&asked.broken),
    );
    let fleet = gateway.fleet.load();
    for upstream in fleet.upstreams.values() {
        let totals = upstream.totals();
        text += &format!(
            "{:<8} {} calls, {} failed, {} timed out; its breaker saved it {} calls\n",
            upstream.name, totals.calls, totals.failures, totals.timeouts, totals.rejected
        );
    }
    let hung = fleet
        .upstreams
        .get("hanging")
        .map_or(0, |upstream| upstream.totals().rejected);
    text += &format!(
        "without breakers, the clients would have waited about {hung} s longer for the one that hangs\n"
    );
    text
}
