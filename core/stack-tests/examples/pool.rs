//! A pool of connections behind a breaker: `cargo run -p cutout-stack-tests --example pool`.
//!
//! The breaker stands before the pool, so an open one leaves it alone and nobody queues for a connection that cannot be made.
//! A pool that is busy says nothing about the database: that wait is ignored.

use std::io;
use std::time::Duration;

use cutout::{Breaker, CallError, Outcome};
use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleResult};
use tokio::net::TcpStream;

struct Connections;

impl Manager for Connections {
    type Type = TcpStream;
    type Error = io::Error;

    async fn create(&self) -> Result<TcpStream, io::Error> {
        // Nobody listens there.
        TcpStream::connect("127.0.0.1:9").await
    }

    async fn recycle(&self, _: &mut TcpStream, _: &Metrics) -> RecycleResult<io::Error> {
        Ok(())
    }
}

/// What is done with a connection; its errors are the database's.
async fn query(_: &mut Object<Connections>) -> Result<u32, io::Error> {
    Ok(42)
}

async fn count(
    breaker: &Breaker,
    pool: &Pool<Connections>,
) -> Result<u32, CallError<PoolError<io::Error>>> {
    let call = async || {
        let mut connection = pool.get().await?;
        query(&mut connection).await.map_err(PoolError::Backend)
    };
    breaker
        .call_async_with(call, |result| match result {
            Ok(_) => Outcome::Success,
            Err(PoolError::Timeout(deadpool::managed::TimeoutType::Wait)) => Outcome::Ignored,
            Err(PoolError::Timeout(_)) => Outcome::Timeout,
            Err(_) => Outcome::Failure,
        })
        .await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let breaker = Breaker::builder()
        .name("database")
        .consecutive_failures(3)
        .build()?;
    let pool = Pool::builder(Connections)
        .max_size(4)
        .wait_timeout(Some(Duration::from_secs(1)))
        .create_timeout(Some(Duration::from_secs(1)))
        .runtime(Runtime::Tokio1)
        .build()?;
    for call in 1..=5 {
        match count(&breaker, &pool).await {
            Ok(rows) => println!("call {call}: {rows} rows"),
            Err(error) => println!("call {call}: {error}"),
        }
    }
    assert!(breaker.allow().is_err(), "it is open");
    Ok(())
}
