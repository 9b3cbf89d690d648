//! The command line.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use cutout_gateway::config::{File, warnings};
use cutout_gateway::gateway::Gateway;
use cutout_gateway::{demo, server};

/// An OpenAI-compatible gateway over several providers, with a circuit breaker before each.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The configuration file.
    #[arg(required_unless_present = "demo")]
    config: Option<PathBuf>,
    /// Check the configuration as the start would, keys included, and stop.
    #[arg(long)]
    check: bool,
    /// Run with three fake providers and a light load; needs no configuration.
    #[arg(long, conflicts_with = "config")]
    demo: bool,
    /// End the demo after so many seconds, with a summary.
    #[arg(long, requires = "demo")]
    seconds: Option<u64>,
    /// Where the demo listens.
    #[arg(long, requires = "demo", default_value = "127.0.0.1:8080")]
    listen: std::net::SocketAddr,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                // The demo tells of itself.
                .unwrap_or_else(|_| {
                    (if arguments.demo {
                        "warn"
                    } else {
                        "cutout_gateway=info,cutout_fleet=info"
                    })
                    .into()
                }),
        )
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cutout-gateway: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    if arguments.demo {
        let length = arguments.seconds.map(Duration::from_secs);
        return Ok(runtime.block_on(demo::run(arguments.listen, length))?);
    }
    let path = arguments.config.ok_or("no configuration file was given")?;
    let file = File::read(&path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    if arguments.check {
        let (version, config) = (file.version, file.config.clone());
        Gateway::check(file).map_err(|problem| format!("{}: {problem}", path.display()))?;
        for warning in warnings(&config) {
            println!("warning: {warning}");
        }
        println!("{} is in order, version {version}", path.display());
        return Ok(());
    }
    let listen = file.config.server.listen;
    let gateway = Gateway::new(file, Some(path.clone()))
        .map_err(|problem| format!("{}: {problem}", path.display()))?;
    Ok(runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen).await?;
        // Who reads the next line may send signals.
        #[cfg(unix)]
        let _hangups = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?;
        let stop = server::stop_signal()?;
        let address = listener.local_addr()?;
        let dashboard = gateway.dashboard_url(address);
        let scheme = gateway.scheme();
        let text = format!("listening on {scheme}://{address}\ndashboard    {dashboard}\n");
        // Nobody may be reading, which is no reason not to serve.
        let _ = std::io::stdout().write_all(text.as_bytes());
        server::serve(gateway, listener, stop).await;
        std::io::Result::Ok(())
    })?)
}
