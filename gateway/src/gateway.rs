//! The gateway: what all requests share.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use secrecy::SecretString;

use crate::auth::new_token;
use crate::clock::unix_millis;
use crate::config::{Config, File, Problem, RequestLog, needing_restart};
use crate::events::Events;
use crate::hop::Hop;
use crate::ledger::Ledger;
use crate::limits::Places;
use crate::metrics;
use crate::providers::{Fleet, Next};
use crate::replicas::Replicas;
use crate::requests::{self, Log, Requests};
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
    /// What the configuration said then.
    pub started_with: Config,
    /// Its name among the gateways that a request passes.
    pub(crate) hop: Hop,
    pub(crate) places: Places,
    pub(crate) requests: Arc<Requests>,
    /// The other replicas, if it has any.
    pub(crate) replicas: Option<Replicas>,
    draining: AtomicBool,
    changing: Mutex<()>,
    problem: Mutex<Option<Problem>>,
    /// The admin token, where the configuration names none.
    made: SecretString,
}

impl Gateway {
    /// A gateway for a checked configuration.
    ///
    /// # Errors
    ///
    /// A [`Problem`] if a key cannot be read, or if `[fleet]` names no server. It does not wait for that server.
    pub fn new(file: File, path: Option<PathBuf>) -> Result<Arc<Self>, Problem> {
        let replicas = Replicas::start(&file)?;
        Self::start(file, path, replicas)
    }

    /// A gateway for a checked configuration, as a replica among those of this fleet, whatever its `[fleet]` says.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    #[cfg(feature = "fleet")]
    pub fn among(
        file: File,
        path: Option<PathBuf>,
        fleet: cutout_fleet::Fleet,
    ) -> Result<Arc<Self>, Problem> {
        Self::start(file, path, Some(fleet.into()))
    }

    fn start(
        file: File,
        path: Option<PathBuf>,
        replicas: Option<Replicas>,
    ) -> Result<Arc<Self>, Problem> {
        let made = new_token().map_err(|why| file.problem("server.admin_token", &why))?;
        let events = Arc::new(Events::default());
        let (store, saved) = open_store(&file, path.as_deref());
        events.preload(saved.transitions);
        let ledger = Arc::new(Ledger::resume(&saved.spending));
        let kept = Arc::clone(&ledger);
        store.keep_spending(move || kept.spending());
        let log = log_place(&file, path.as_deref())?;
        let next = Fleet::prepare(
            file,
            None,
            saved.snapshots,
            &events,
            &store,
            &made,
            replicas.as_ref(),
        )?;
        let fleet = next.put_in_force();
        let places = Places::new(&fleet.config.server);
        metrics::handle();
        let gateway = Arc::new(Self {
            hop: Hop::default(),
            places,
            requests: Requests::new(Log::new(log), ledger),
            replicas,
            events,
            store,
            path,
            started_ms: unix_millis(),
            started_with: fleet.config.clone(),
            fleet: ArcSwap::from_pointee(fleet),
            draining: AtomicBool::new(false),
            changing: Mutex::new(()),
            problem: Mutex::new(None),
            made,
        });
        gateway.say_what_to_look_at();
        Ok(gateway)
    }

    /// Checks a configuration as [`new`](Self::new) does, keys included, and starts nothing.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn check(file: File) -> Result<(), Problem> {
        let (events, store) = (Arc::default(), Arc::new(Store::absent(None)));
        let made = SecretString::default();
        Replicas::check(&file)?;
        Fleet::prepare(file, None, BTreeMap::new(), &events, &store, &made, None).map(drop)
    }

    /// How it is reached: `http`, or `https` with a certificate.
    pub fn scheme(&self) -> &'static str {
        if self.fleet.load().tls.is_some() {
            "https"
        } else {
            "http"
        }
    }

    /// The dashboard's address, with the token in it if that was made at the start. The part behind the `#` is never sent to
    /// anyone. For a terminal, not for a log.
    pub fn dashboard_url(&self, listen: SocketAddr) -> String {
        let host = match listen.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let url = format!(
            "{}://{}/",
            self.scheme(),
            SocketAddr::new(host, listen.port())
        );
        match self.fleet.load().keys.made() {
            Some(token) => format!("{url}#token={token}"),
            None => url,
        }
    }

    /// The fields that have been changed since the start and that only a restart puts in force.
    pub fn needing_restart(&self) -> Vec<&'static str> {
        needing_restart(&self.started_with, &self.fleet.load().config)
    }

    /// Builds what a checked text says, and changes nothing yet. What asks less of clients or operators than the
    /// configuration in force is refused.
    pub(crate) fn prepare(&self, file: File) -> Result<Next, Problem> {
        log_place(&file, self.path.as_deref())?;
        Replicas::check(&file)?;
        let before = self.fleet.load_full();
        let (resumed, text) = (BTreeMap::new(), file.clone());
        let next = Fleet::prepare(
            file,
            Some(&before),
            resumed,
            &self.events,
            &self.store,
            &self.made,
            self.replicas.as_ref(),
        )?;
        let (keys, server) = (&next.fleet.keys, &next.fleet.config.server);
        match before.keys.lowered_by(keys, server) {
            Some((field, why)) => Err(text.problem(field, why)),
            None => Ok(next),
        }
    }

    /// Puts another configuration in force: one step for requests, which see the old one or the new one.
    pub(crate) fn put_in_force(&self, next: Next) {
        let fleet = next.put_in_force();
        let place = fleet
            .config
            .log
            .requests
            .within(folder(self.path.as_deref()));
        self.requests.log.set(place);
        self.fleet.store(Arc::new(fleet));
        self.say_what_to_look_at();
    }

    fn say_what_to_look_at(&self) {
        for warning in &self.fleet.load().warnings {
            tracing::warn!("{warning}");
        }
        let fields = self.needing_restart();
        if !fields.is_empty() {
            let fields = fields.join(", ");
            tracing::warn!(
                fields,
                "these were changed and need a restart to come into force"
            );
        }
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

/// Where lines of requests go.
fn log_place(file: &File, path: Option<&Path>) -> Result<RequestLog, Problem> {
    let place = file.config.log.requests.within(folder(path));
    match requests::check(&place) {
        Ok(()) => Ok(place),
        Err(message) => Err(file.problem("log.requests", &message)),
    }
}

/// The folder that paths of the configuration start from.
fn folder(path: Option<&Path>) -> &Path {
    path.and_then(Path::parent).unwrap_or(Path::new(""))
}

/// Opens the database, or says why there is none and goes on without.
fn open_store(file: &File, path: Option<&Path>) -> (Arc<Store>, Saved) {
    let Some(settings) = &file.config.store else {
        return (Arc::new(Store::absent(None)), Saved::default());
    };
    let options = Options {
        keep: settings.keep.get(),
        max_rows: settings.max_rows,
        ..Options::default()
    };
    match Store::open(&folder(path).join(&settings.path), options) {
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
