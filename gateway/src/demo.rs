//! The demo: fake providers, a light load, and what the breakers make of it.

use std::net::SocketAddr;
use std::time::Duration;

use cutout::Outcome;

use crate::config::File;
use crate::gateway::Gateway;
use crate::server;

const CONFIG: &str = r#"
[[provider]]
name = "flaky"
base_url = "http://127.0.0.1:1/v1"
breaker = { open_wait = "4s", window = { count = 20 }, min_calls = 10 }

[[provider]]
name = "hanging"
base_url = "http://127.0.0.1:1/v1"
breaker = { open_wait = "4s", consecutive_failures = 3 }

[[provider]]
name = "cutting"
base_url = "http://127.0.0.1:1/v1"
breaker = { open_wait = "4s" }

[[route]]
model = "demo"
queue = [{ provider = "flaky" }, { provider = "hanging" }, { provider = "cutting" }]
"#;

/// Runs it at `listen`, until it is told to stop or for so long.
///
/// # Errors
///
/// The address is taken.
pub async fn run(listen: SocketAddr, length: Option<Duration>) -> std::io::Result<()> {
    let file = File::parse(CONFIG.to_owned()).map_err(std::io::Error::other)?;
    let gateway = Gateway::new(file, None).map_err(std::io::Error::other)?;
    let listener = tokio::net::TcpListener::bind(listen).await?;
    println!("dashboard: http://{}/", listener.local_addr()?);
    let fleet = gateway.fleet.load_full();
    let load = tokio::spawn(async move {
        let mut n = 0_u64;
        loop {
            for (index, upstream) in fleet.upstreams.values().enumerate() {
                let sick = (n / 100 + index as u64).is_multiple_of(3) && !n.is_multiple_of(4);
                match upstream.breaker.allow() {
                    Ok(permit) => {
                        let _in_flight = upstream.enter();
                        let outcome = if sick {
                            Outcome::Failure
                        } else {
                            Outcome::Success
                        };
                        upstream.count(outcome);
                        permit.done(outcome);
                    }
                    Err(_) => upstream.count_rejected(),
                }
            }
            n += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let mut transitions = gateway.events.subscribe();
    let printer = tokio::spawn(async move {
        while let Ok(t) = transitions.recv().await {
            println!("{}: {} -> {}: {}", t.breaker, t.from, t.to, t.cause);
        }
    });
    let stop = async {
        match length {
            Some(length) => tokio::time::sleep(length).await,
            None => server::stop_signal().await,
        }
    };
    server::serve(gateway, listener, stop).await;
    load.abort();
    printer.abort();
    Ok(())
}
