//! The gateway: what all requests share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use crate::clock::unix_millis;
use crate::config::{File, Problem};
use crate::events::Events;
use crate::limits::Places;
use crate::metrics;
use crate::providers::{Fleet, Next};
use crate::store::{Options, Saved, Store};

/// The shared state of a running gateway.
#[derive(Debug)]
pub struct Gateway {
    /// The configuration in force; a request keeps the one that it began with.
    pub fleet: ArcSwap<Fleet>,
    /// The transitions of all breakers.
    pub events: Arc<Events>,
    /// What survives a restart.
    pub store: Arc<Store>,
    /// The configuration file; none in the demo.
    pub path: Option<PathBuf>,
    /// When it was started, in milliseconds since the Unix epoch.
    pub started_ms: u64,
    pub(crate) places: Places,
    draining: AtomicBool,
    changing: Mutex<()>,
    problem: Mutex<Option<Problem>>,
}

impl Gateway {
    /// A gateway for a checked configuration.
    ///
    /// # Errors
    ///
    /// A [`Problem`] if a key cannot be read.
    pub fn new(file: File, path: Option<PathBuf>) -> Result<Arc<Self>, Problem> {
        let events = Arc::new(Events::default());
        let (store, saved) = open_store(&file, path.as_deref());
        events.preload(saved.transitions);
        let fleet = Fleet::prepare(file, None, saved.snapshots, &events, &store)?.put_in_force();
        let places = Places::new(&fleet.config.server);
        metrics::handle();
        Ok(Arc::new(Self {
            places,
            fleet: ArcSwap::from_pointee(fleet),
            events,
            store,
            path,
            started_ms: unix_millis(),
            draining: AtomicBool::new(false),
            changing: Mutex::new(()),
            problem: Mutex::new(None),
        }))
    }

    /// Builds what a checked text says, and changes nothing yet.
    pub(crate) fn prepare(&self, file: File) -> Result<Next, Problem> {
        let before = self.fleet.load_full();
        Fleet::prepare(
            file,
            Some(&before),
            Default::default(),
            &self.events,
            &self.store,
        )
    }

    /// Puts another configuration in force: one step for requests, which see the old one or the new one.
    pub(crate) fn put_in_force(&self, next: Next) {
        self.fleet.store(Arc::new(next.put_in_force()));
    }

    /// Held while the configuration changes.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the file as it is now is not in force, if so.
    pub fn problem(&self) -> Option<Problem> {
        self.problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_problem(&self, problem: Option<Problem>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Whether the gateway was told to stop and lets what is in flight end.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Says that the gateway will stop.
    pub fn drain(&self) {
        self.draining.store(true, Relaxed);
    }
}

/// Opens the database, or says why there is none and goes on without.
fn open_store(file: &File, path: Option<&Path>) -> (Arc<Store>, Saved) {
    let Some(settings) = &file.config.store else {
        return (Arc::new(Store::absent(None)), Saved::default());
    };
    let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
    let options = Options {
        keep: settings.keep.get(),
        max_rows: settings.max_rows,
        ..Options::default()
    };
    match Store::open(&folder.join(&settings.path), options) {
        Ok((store, saved)) => {
            for (breaker, why) in &saved.unreadable {
                tracing::warn!(
                    breaker,
                    why,
                    "starts closed: its snapshot could not be read"
                );
            }
            (Arc::new(store), saved)
        }
        Err(problem) => {
            tracing::error!(%problem, "serving without the database");
            (Arc::new(Store::absent(Some(problem))), Saved::default())
        }
    }
}
