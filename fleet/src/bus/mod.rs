//! What carries news between members: [`Bus`], which any broker can be put behind.

mod in_process;
#[cfg(feature = "redis")]
mod redis;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::mpsc;

pub use in_process::InProcess;
#[cfg(feature = "redis")]
pub use redis::Redis;

pub use crate::member::Lease;
use crate::statement::Ignored;

/// What carries news between members of a fleet, keeps the right to probe, and keeps orders.
///
/// It promises little: what is told may be lost, late, doubled and out of order. Only a lease must be had by one at a time.
/// All methods may fail, and are given up by the caller when they take too long; none is called on the way of a call.
/// Cancelling any of them must leave the bus usable. Clones are the same bus.
pub trait Bus: Clone + Send + Sync + 'static {
    /// Keeps the connection, connecting anew as often as is needed, and passes on what is heard. It ends only with the bus.
    fn run(self, heard: Heard) -> impl Future<Output = ()> + Send;

    /// Tells all members, the teller too.
    fn tell(&self, statement: Vec<u8>) -> impl Future<Output = Result<(), BusError>> + Send;

    /// Asks for the right to probe for this name, for so long: whoever asks first has it.
    fn lease(
        &self,
        name: &str,
        token: &str,
        length: Duration,
    ) -> impl Future<Output = Result<Lease, BusError>> + Send;

    /// Has a lease last for so long from now. False if it is not this token's any more.
    fn renew(
        &self,
        name: &str,
        token: &str,
        length: Duration,
    ) -> impl Future<Output = Result<bool, BusError>> + Send;

    /// Gives a lease back, if it is still this token's.
    fn release(&self, name: &str, token: &str)
    -> impl Future<Output = Result<(), BusError>> + Send;

    /// Keeps an order in place of the one of the same key, for so long or for good.
    fn keep(
        &self,
        key: &str,
        order: Vec<u8>,
        length: Option<Duration>,
    ) -> impl Future<Output = Result<(), BusError>> + Send;

    /// All orders that are kept, at most so many.
    fn kept(&self, most: usize) -> impl Future<Output = Result<Vec<Kept>, BusError>> + Send;
}

/// An order that a bus keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// As it was given to [`Bus::keep`].
    pub order: Vec<u8>,
    /// How long it is kept from now on; none: for good.
    pub left: Option<Duration>,
}

/// Where a bus passes on what it hears. It never waits: what the member does not take in in time is dropped, and counted.
#[derive(Clone, Debug)]
pub struct Heard {
    pub(crate) to: mpsc::Sender<FromBus>,
    pub(crate) lost: Arc<AtomicU64>,
}

#[derive(Debug)]
pub(crate) enum FromBus {
    Up,
    Down(String),
    Said(Vec<u8>),
    Ignored(Ignored),
}

impl Heard {
    /// The connection is there.
    pub fn up(&self) {
        let _ = self.to.try_send(FromBus::Up);
    }

    /// The connection is not there, or not any more, and why.
    pub fn down(&self, why: impl fmt::Display) {
        let _ = self.to.try_send(FromBus::Down(why.to_string()));
    }

    /// A member has told this. False if it was dropped.
    pub fn said(&self, statement: Vec<u8>) -> bool {
        let has_room = self.to.try_send(FromBus::Said(statement)).is_ok();
        if !has_room {
            // Relaxed: a count orders nothing.
            self.lost.fetch_add(1, Relaxed);
        }
        has_room
    }

    /// Something came that is not listened to.
    pub fn ignored(&self, why: Ignored) {
        let _ = self.to.try_send(FromBus::Ignored(why));
    }
}

/// Why a bus did not do what it was asked to. The member goes on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusError {
    /// There is no connection at the moment.
    Down,
    /// It took too long.
    TooLong,
    /// It was refused: by the server's own words.
    Refused(String),
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down => f.write_str("the bus is not connected: it is tried again by itself"),
            Self::TooLong => f.write_str("the bus took too long to answer"),
            Self::Refused(why) => write!(f, "the bus refused: {why}"),
        }
    }
}

impl std::error::Error for BusError {}
