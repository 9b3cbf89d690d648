//! A stream whose permit settles when it ends: `cargo run -p cutout-stack-tests --example streams`.
//!
//! A call whose answer arrives bit by bit has not succeeded when it begins. The first item and the pauses have limits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::stream::{GuardedStream, Limits};
use cutout::{Breaker, State};
use futures_util::stream::{self, Stream, StreamExt};

/// An answer that breaks off after two items.
fn answer() -> impl Stream<Item = io::Result<&'static str>> {
    let broken = Err(io::Error::from(io::ErrorKind::ConnectionReset));
    stream::iter([Ok("one"), Ok("two"), broken])
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let breaker = Arc::new(
        Breaker::builder()
            .name("model")
            .consecutive_failures(1)
            .build()?,
    );
    let limits = Limits::new()
        .first(Duration::from_secs(20))
        .idle(Duration::from_secs(5));
    let permit = breaker.allow_owned()?;
    let items = GuardedStream::new(answer(), permit).limits(limits, tokio::time::sleep);
    let mut items = std::pin::pin!(items);
    while let Some(item) = items.next().await {
        match item {
            Ok(Ok(item)) => println!("{item}: the breaker is {}", breaker.state()),
            Ok(Err(error)) => println!("{error}: the breaker is {}", breaker.state()),
            Err(late) => println!("{late}"),
        }
    }
    assert_eq!(breaker.state(), State::Open);
    Ok(())
}
