//! A `reqwest` client whose upstream is behind a breaker: `cargo run -p cutout-stack-tests --example reqwest`.

use std::time::Duration;

use cutout::adapters::http::HttpStatus;
use cutout::classify::Classify;
use cutout::{Breaker, CallError, Outcome, Report};
use reqwest::{Client, Error, Response};

/// A status speaks by the table of `HttpStatus`, an error by its kind.
fn judge(result: &Result<Response, Error>) -> Report {
    match result {
        Ok(response) => {
            let mut head = http::Response::new(());
            *head.status_mut() = response.status();
            *head.headers_mut() = response.headers().clone();
            HttpStatus::new().classify(Ok::<_, &Error>(&head))
        }
        Err(error) if error.is_timeout() => Outcome::Timeout.into(),
        Err(_) => Outcome::Failure.into(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let breaker = Breaker::builder()
        .name("api")
        .consecutive_failures(3)
        .build()?;
    let client = Client::builder().timeout(Duration::from_secs(2)).build()?;
    // Nobody listens there.
    let url = "http://127.0.0.1:9/";
    for call in 1..=5 {
        let result = breaker
            .call_async_with(|| client.get(url).send(), judge)
            .await;
        match result {
            Ok(response) => println!("call {call}: {}", response.status()),
            Err(CallError::Inner(error)) => println!("call {call}: {error}"),
            Err(CallError::Rejected(rejected)) => println!("call {call}: not made: {rejected}"),
        }
    }
    assert!(breaker.allow().is_err(), "it is open");
    Ok(())
}
