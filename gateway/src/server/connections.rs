//! How many connections may be open, and who goes when there are too many.
//!
//! A connection on which no request is in flight costs a place and does nothing. When all places are taken the one that has been
//! silent longest makes room. When none is silent, a few connections beyond the limit are taken still: they are answered
//! on all paths but the models', so that health and operators get through whatever clients do.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How many connections are taken beyond the limit.
const SPARE: usize = 16;

/// How long a connection may be silent, from its first moment on, before it has to make room.
const SILENT: Duration = Duration::from_secs(1);

/// Marks the requests of a connection beyond the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spare;

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Connections {
    limit: usize,
    open: Mutex<Open>,
    /// Told when a place has become free.
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    /// The last key that was given.
    last: u64,
    /// Those without a request in flight, the longest silent first.
    silent: BTreeMap<u64, (Instant, Arc<Connection>)>,
}

/// What one connection and its requests share.
#[derive(Debug)]
struct Connection {
    /// Its key among the silent ones; 0 while a request is in flight. Written and read under the lock of [`Open`].
    silent: AtomicU64,
    /// Its requests in flight: one at a time, but for HTTP/2. Written and read under that lock too.
    requests: AtomicUsize,
    /// Told when one has ended.
    ended: Notify,
    /// It was told to make room, or is gone already: no request of it is begun any more. Written and read under that lock too.
    leaves: AtomicBool,
    told: Notify,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            open: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// A place for a connection that has been accepted, once there is one.
    ///
    /// # Cancel safety
    ///
    /// A dropped future takes no place; it may have made one free.
    pub(super) async fn place(self: &Arc<Self>) -> Place {
        loop {
            let freed = self.freed.notified();
            match self.try_place() {
                Ok(place) => return place,
                Err(Some(next)) => {
                    tokio::select! { () = freed => {} () = sleep_until(next) => {} }
                }
                Err(None) => freed.await,
            }
        }
    }

    /// A place, or the time at which a connection will have been silent for long enough.
    fn try_place(self: &Arc<Self>) -> Result<Place, Option<Instant>> {
        let mut open = self.lock();
        if open.count < self.limit {
            return Ok(self.take(&mut open, false));
        }
        let oldest = open.silent.first_entry();
        let next = oldest.as_ref().map(|oldest| oldest.get().0 + SILENT);
        if let Some(oldest) = oldest
            && next.is_some_and(|next| next <= Instant::now())
        {
            let (_, connection) = oldest.remove();
            connection.leaves.store(true, Relaxed);
            connection.told.notify_one();
            // Its place comes free in a moment.
            return Err(None);
        }
        if open.count < self.limit.saturating_add(SPARE) {
            return Ok(self.take(&mut open, true));
        }
        Err(next)
    }

    fn take(self: &Arc<Self>, open: &mut Open, is_spare: bool) -> Place {
        open.count += 1;
        let connection = Arc::new(Connection {
            silent: AtomicU64::new(0),
            requests: AtomicUsize::new(0),
            ended: Notify::new(),
            leaves: AtomicBool::new(false),
            told: Notify::new(),
        });
        open.falls_silent(&connection);
        Place {
            connections: Arc::clone(self),
            connection,
            is_spare,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn falls_silent(&mut self, connection: &Arc<Connection>) {
        if connection.leaves.load(Relaxed) {
            return;
        }
        self.last += 1;
        connection.silent.store(self.last, Relaxed);
        let since = (Instant::now(), Arc::clone(connection));
        self.silent.insert(self.last, since);
    }

    fn speaks(&mut self, connection: &Connection) {
        self.silent.remove(&connection.silent.swap(0, Relaxed));
    }
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
    /// Whether it is beyond the limit.
    pub(super) is_spare: bool,
}

impl Place {
    /// Ends when the connection has to make room.
    pub(super) async fn leaves(&self) {
        self.connection.told.notified().await;
    }

    /// Ends when the connection has done what it was taken for: beyond the limit that is one request.
    pub(super) async fn is_done(&self) {
        if !self.is_spare {
            std::future::pending::<()>().await;
        }
        self.connection.ended.notified().await;
    }

    /// Ends when no request has been in flight for so long.
    pub(super) async fn is_unused_for(&self, limit: Duration) {
        loop {
            let key = self.connection.silent.load(Relaxed);
            let since = self
                .connections
                .lock()
                .silent
                .get(&key)
                .map(|silent| silent.0);
            let until = since.unwrap_or_else(Instant::now) + limit;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// What counts the requests of this connection.
    pub(super) fn requests(&self) -> Requests {
        Requests {
            connections: Arc::clone(&self.connections),
            connection: Arc::clone(&self.connection),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.count -= 1;
        open.speaks(&self.connection);
        self.connection.leaves.store(true, Relaxed);
        drop(open);
        self.connections.freed.notify_one();
    }
}

/// Counts the requests of one connection.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
}

impl Requests {
    /// A request that has come; it is in flight until the returned value is dropped. None if the connection is already
    /// making room, and then nothing may be done for it.
    pub(super) fn begin(&self) -> Option<InFlight> {
        let mut open = self.connections.lock();
        open.speaks(&self.connection);
        self.connection.requests.fetch_add(1, Relaxed);
        let leaves = self.connection.leaves.load(Relaxed);
        drop(open);
        let in_flight = InFlight(self.clone());
        (!leaves).then_some(in_flight)
    }
}

/// A request in flight, to the end of its answer.
#[derive(Debug)]
pub(super) struct InFlight(Requests);

impl InFlight {
    /// An answer's body that holds it.
    pub(super) fn hold(self, body: Body) -> Body {
        Body::new(Held {
            body,
            _request: self,
        })
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Requests {
            connections,
            connection,
        } = &self.0;
        let mut open = connections.lock();
        if connection.requests.fetch_sub(1, Relaxed) == 1 {
            open.falls_silent(connection);
        }
        drop(open);
        connection.ended.notify_one();
    }
}

struct Held {
    body: Body,
    _request: InFlight,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
