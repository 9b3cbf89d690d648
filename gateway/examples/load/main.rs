//! Load on a gateway in a process of its own: what it adds to a call, and a minute in which a provider dies, hangs and
//! returns.
//!
//! `gateway/load` builds both programs and runs this one. Requests are sent at a fixed rate, whether answers come or not, and
//! their times are counted from when they were due.

mod figures;
mod process;
mod sender;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use cutout_gateway::demo::fake::{Fake, Mood};
use tokio::time::sleep;

use figures::Figures;
use process::Process;
use sender::{Ask, send};

/// Load on a gateway.
#[derive(Debug, Parser)]
struct Arguments {
    /// The gateway's program.
    #[arg(long, default_value = "target/release/cutout-gateway")]
    gateway: std::path::PathBuf,
    /// Requests per second.
    #[arg(long, default_value_t = 5000)]
    rate: u32,
    /// How long the comparison with direct calls takes each way; 0 for none.
    #[arg(long, default_value_t = 10)]
    compare: u64,
    /// How long the run with faults takes; 0 for none.
    #[arg(long, default_value_t = 60)]
    faults: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    tokio::runtime::Runtime::new()?.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let (first, second) = (
        Fake::start(Mood::Well).await?,
        Fake::start(Mood::Well).await?,
    );
    let gateway = Process::start(&arguments.gateway, &config(&first, &second)).await?;
    let length = Duration::from_secs(arguments.compare);
    if arguments.compare > 0 {
        // Both warm up before they count.
        let warm = Duration::from_secs(2);
        let direct = Ask::new(&format!("http://{}", first.address()), 0);
        let through = Ask::new(&gateway.url(), 0);
        for ask in [&direct, &through] {
            send(ask, arguments.rate, warm, &Arc::default()).await;
        }
        let direct = measured(&direct, arguments.rate, length).await;
        let through = measured(&through, arguments.rate, length).await;
        println!("direct          {}", direct.line());
        println!("gateway         {}", through.line());
        let added = |share| through.micros(share).saturating_sub(direct.micros(share));
        println!(
            "added           p50 {} us, p99 {} us",
            added(0.5),
            added(0.99)
        );
    }
    if arguments.faults > 0 {
        faults(&arguments, &gateway, first).await?;
    }
    let state = gateway.state().await?;
    let in_flight: u64 = state["breakers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|breaker| breaker["in_flight"].as_u64())
        .sum();
    println!("at the end      {in_flight} in flight");
    gateway.stop().await
}

async fn measured(ask: &Ask, rate: u32, length: Duration) -> Figures {
    let figures = Arc::default();
    send(ask, rate, length, &figures).await;
    Figures::take(&figures)
}

/// One of two providers is well, dies, hangs, and returns, for a quarter of the time each. A tenth of the requests are
/// streams.
async fn faults(
    arguments: &Arguments,
    gateway: &Process,
    first: Fake,
) -> Result<(), Box<dyn Error>> {
    let quarter = Duration::from_secs(arguments.faults) / 4;
    let address = first.address();
    let troubles = tokio::spawn(async move {
        sleep(quarter).await;
        drop(first);
        sleep(quarter).await;
        let again = Fake::start_at(address, Mood::Hanging).await?;
        sleep(quarter).await;
        again.set(Mood::Well);
        sleep(quarter).await;
        std::io::Result::Ok(again)
    });
    let ask = Ask::new(&gateway.url(), 10);
    let mut memory = Vec::new();
    for part in ["well", "dead", "hanging", "back"] {
        let figures = measured(&ask, arguments.rate, quarter).await;
        memory.push(gateway.memory()?);
        println!(
            "{part:<15} {}, memory {} MiB",
            figures.line(),
            memory[memory.len() - 1] >> 10
        );
    }
    let _again = troubles.await??;
    for transition in gateway.state().await?["transitions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let text = |field: &str| transition[field].as_str().unwrap_or_default().to_owned();
        println!(
            "  {} {} -> {}: {}",
            text("breaker"),
            text("from"),
            text("to"),
            text("cause")
        );
    }
    Ok(())
}

fn config(first: &Fake, second: &Fake) -> String {
    let provider = |name: &str, fake: &Fake| {
        format!(
            r#"
[[provider]]
name = "{name}"
base_url = "{}"
max_in_flight = 512
limits = {{ first_byte = "500ms", whole = "500ms" }}
retry = {{ attempts = 1 }}
breaker = {{ window = {{ count = 100 }}, timeout_ratio = 0.2, open_wait = {{ base = "500ms", factor = 2.0, max = "2s" }} }}
"#,
            fake.url()
        )
    };
    let route = r#"
[[route]]
model = "m"
queue = [{ provider = "first" }, { provider = "second" }]
"#;
    format!(
        "{}{}{route}",
        provider("first", first),
        provider("second", second)
    )
}
