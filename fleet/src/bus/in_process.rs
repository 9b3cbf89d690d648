//! A bus between members of one process.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Bus, BusError, Heard, Kept, Lease};

/// A bus between members of one process: for tests, and for an example without a server. Clones are the same bus.
///
/// # Examples
///
/// ```
/// use cutout_fleet::{Fleet, InProcess};
///
/// let bus = InProcess::new();
/// let members = ["a", "b"].map(|name| Fleet::builder().member(name).start(bus.clone()).unwrap());
/// # drop(members);
/// ```
#[derive(Clone, Debug, Default)]
pub struct InProcess(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    listeners: Vec<Heard>,
    leases: HashMap<String, (String, Instant)>,
    orders: HashMap<String, (Vec<u8>, Option<Instant>)>,
}

impl InProcess {
    /// A bus without members.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bus for InProcess {
    async fn run(self, heard: Heard) {
        heard.up();
        self.state().listeners.push(heard);
        pending().await
    }

    async fn tell(&self, statement: Vec<u8>) -> Result<(), BusError> {
        let listeners = &mut self.state().listeners;
        listeners.retain(|listener| !listener.to.is_closed());
        for listener in listeners {
            listener.said(statement.clone());
        }
        Ok(())
    }

    async fn lease(&self, name: &str, token: &str, length: Duration) -> Result<Lease, BusError> {
        let (leases, now) = (&mut self.state().leases, Instant::now());
        if let Some((_, until)) = leases.get(name).filter(|(_, until)| *until > now) {
            return Ok(Lease::Taken(*until - now));
        }
        leases.insert(name.to_owned(), (token.to_owned(), now + length));
        Ok(Lease::Granted)
    }

    async fn renew(&self, name: &str, token: &str, length: Duration) -> Result<bool, BusError> {
        let (leases, now) = (&mut self.state().leases, Instant::now());
        let held = leases.get_mut(name);
        let held = held.filter(|(holder, until)| holder == token && *until > now);
        Ok(held.map(|(_, until)| *until = now + length).is_some())
    }

    async fn release(&self, name: &str, token: &str) -> Result<(), BusError> {
        let leases = &mut self.state().leases;
        if leases.get(name).is_some_and(|(holder, _)| holder == token) {
            leases.remove(name);
        }
        Ok(())
    }

    async fn keep(
        &self,
        key: &str,
        order: Vec<u8>,
        length: Option<Duration>,
    ) -> Result<(), BusError> {
        let until = length.map(|length| Instant::now() + length);
        self.state().orders.insert(key.to_owned(), (order, until));
        Ok(())
    }

    async fn kept(&self, most: usize) -> Result<Vec<Kept>, BusError> {
        let (orders, now) = (&mut self.state().orders, Instant::now());
        orders.retain(|_, (_, until)| until.is_none_or(|until| until > now));
        let left = |until: &Option<Instant>| until.map(|until| until - now);
        let kept = orders.values().take(most).map(|(order, until)| Kept {
            order: order.clone(),
            left: left(until),
        });
        Ok(kept.collect())
    }
}
