//! The face: starting a member, and giving it breakers.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cutout::registry::Registry;
use cutout::{Breaker, Builder, Clock, ConfigError, Event};
use tokio::sync::{mpsc, oneshot};

use crate::agent::{Agent, Input, Missed};
use crate::breakers::Guarded;
use crate::bus::Bus;
use crate::health::Health;
use crate::member::Member;
use crate::settings::{Settings, SettingsError};
use crate::statement::{Action, MAX_NAME, MAX_REASON, cut};

/// A member of a fleet: the breakers of this process, and what runs beside them. Clones are the same member.
///
/// It has one thread, with a runtime of its own, so that programs without one can use it. Calls never wait for it: what a breaker does
/// is put in a queue, and what others have found is done to the breaker from that thread. When the last clone is dropped, the thread
/// ends, and the breakers go on by themselves.
///
/// # Examples
///
/// ```
/// use cutout::Breaker;
/// use cutout_fleet::{Fleet, InProcess};
///
/// let fleet = Fleet::builder().member("pod-7").start(InProcess::new())?;
/// let breaker = fleet.guard(Breaker::builder().name("search"))?;
/// breaker.allow()?.success();
/// println!("{}", fleet.health());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Fleet(Arc<Inner>);

struct Inner {
    inputs: Inputs,
    health: Arc<Mutex<Health>>,
    // Dropped with the last clone, which the thread sees.
    _stop: oneshot::Sender<()>,
}

#[derive(Clone)]
struct Inputs {
    to: mpsc::Sender<Input>,
    missed: Arc<Missed>,
}

impl Inputs {
    fn hear(&self, name: &str, event: &Event) {
        let input = Input::Event(name.into(), event.clone());
        if self.to.try_send(input).is_err() {
            self.missed.count();
        }
    }
}

/// Starts a member: [`Fleet::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start` or `connect`"]
pub struct FleetBuilder {
    member: Option<Arc<str>>,
    incarnation: Option<u64>,
    settings: Settings,
    #[cfg(feature = "redis")]
    prefix: Arc<str>,
}

impl FleetBuilder {
    /// Names the member, unlike any other of the fleet: by the pod or the host, if there is one process on it.
    ///
    /// A process that starts again under its name takes the place of what it was before at once. Without a name each
    /// process is a new member, and one that was restarted counts as two for three heartbeats.
    pub fn member(mut self, name: impl Into<Arc<str>>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// Numbers this start of the member: larger than the one before. The default is the wall-clock time in milliseconds,
    /// which is compared with that of no other member.
    pub fn incarnation(mut self, number: u64) -> Self {
        self.incarnation = Some(number);
        self
    }

    /// Replaces the settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// What keys and channel of a shared server begin with: `cutout` by default. Members of one prefix are one fleet.
    #[cfg(feature = "redis")]
    pub fn prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Starts the member on a Redis or Valkey server: see [`Redis::new`](crate::Redis::new) for the address.
    ///
    /// It returns at once: the server need not be there yet.
    ///
    /// # Errors
    ///
    /// A [`StartError`].
    #[cfg(feature = "redis")]
    pub fn connect(self, address: &str) -> Result<Fleet, StartError> {
        let bus = crate::Redis::new(address, &self.prefix)?;
        self.start(bus)
    }

    /// Starts the member on this bus.
    ///
    /// # Errors
    ///
    /// A [`StartError`] for illegal settings, a name that is empty or longer than 256 bytes, or a thread that could not be started.
    pub fn start(self, bus: impl Bus) -> Result<Fleet, StartError> {
        self.settings.validate().map_err(StartError::Settings)?;
        let member = self.member.unwrap_or_else(|| {
            let random = fastrand::u64(..);
            format!("{}-{random:016x}", std::process::id()).into()
        });
        if !is_name(&member) {
            return Err(StartError::Name(Refused::of(&member)));
        }
        let incarnation = self.incarnation.unwrap_or_else(|| {
            let time = SystemTime::now().duration_since(UNIX_EPOCH);
            time.map_or(0, crate::statement::millis)
        });
        let (to, inputs) = mpsc::channel(4096);
        let missed = Arc::new(Missed::default());
        let health = Arc::new(Mutex::new(Health {
            member: Arc::clone(&member),
            ..Health::default()
        }));
        let (stop, stopped) = oneshot::channel();
        let seed = fastrand::u64(..);
        let agent = Agent {
            bus,
            member: Member::new(self.settings, member, incarnation, seed),
            settings: self.settings,
            inputs,
            missed: Arc::clone(&missed),
            health: Arc::clone(&health),
            stop: stopped,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StartError::Thread(error.to_string()))?;
        std::thread::Builder::new()
            .name("cutout-fleet".to_owned())
            .spawn(move || runtime.block_on(agent.run()))
            .map_err(|error| StartError::Thread(error.to_string()))?;
        Ok(Fleet(Arc::new(Inner {
            inputs: Inputs { to, missed },
            health,
            _stop: stop,
        })))
    }
}

impl Fleet {
    /// A builder with the default settings.
    pub fn builder() -> FleetBuilder {
        FleetBuilder {
            member: None,
            incarnation: None,
            settings: Settings::default(),
            #[cfg(feature = "redis")]
            prefix: "cutout".into(),
        }
    }

    /// Builds a breaker that listens to the fleet, under its name: breakers of one name, in all members, are before the same upstream.
    ///
    /// The fleet does not keep it alive. If two breakers of a member have one name, the later takes the place of the earlier.
    ///
    /// # Errors
    ///
    /// A [`GuardError`] if the config is not legal, or if the name is empty or longer than 256 bytes.
    pub fn guard<C>(&self, builder: Builder<C>) -> Result<Arc<Breaker<C>>, GuardError>
    where
        C: Clock + Send + Sync + 'static,
    {
        let listener = self.listener();
        let breaker = builder
            .named_listener(listener)
            .build()
            .map_err(GuardError::Config)?;
        if !is_name(breaker.name()) {
            return Err(GuardError::Name(Refused::of(breaker.name())));
        }
        let breaker = Arc::new(breaker);
        let guarded = Arc::clone(&breaker) as Arc<dyn Guarded>;
        if self.0.inputs.to.try_send(Input::Guard(guarded)).is_err() {
            return Err(GuardError::Busy);
        }
        Ok(breaker)
    }

    /// What a registry's breakers are to be listened to with, for [`watch`](Self::watch).
    pub fn listener(&self) -> impl Fn(&str, &Event) + Clone + Send + Sync + 'static {
        let inputs = self.0.inputs.clone();
        move |name: &str, event: &Event| inputs.hear(name, event)
    }

    /// Has the breakers of a registry listen to the fleet, by their names. The registry must have been built with
    /// [`listener`](Self::listener). Names that are empty or longer than 256 bytes stay by themselves.
    ///
    /// # Errors
    ///
    /// [`GuardError::Busy`] if the member has too much to do.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cutout::registry::Registry;
    /// use cutout_fleet::{Fleet, InProcess};
    ///
    /// let fleet = Fleet::builder().start(InProcess::new())?;
    /// let registry = Registry::builder(|host: &String| host.clone())
    ///     .listener(fleet.listener())
    ///     .build()?;
    /// let registry = Arc::new(registry);
    /// fleet.watch(&registry)?;
    /// registry.get_or_create("api.example")?.allow()?.success();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch<K, C, S>(&self, registry: &Arc<Registry<K, C, S>>) -> Result<(), GuardError>
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
        C: Clock + Clone + Send + Sync + 'static,
        S: BuildHasher + Send + Sync + 'static,
    {
        let source = Box::new(Arc::downgrade(registry));
        let sent = self.0.inputs.to.try_send(Input::Watch(source));
        sent.map_err(|_| GuardError::Busy)
    }

    /// Orders something of one name, or of all, in all members and those that join later, for so long or until it is ended by
    /// [`Action::Resume`].
    ///
    /// Of a name the newest order holds. Breakers have it as an operator's action, whose reason is `reason (author)`; both are cut to 199
    /// bytes. The name may be one that no breaker has: [`Health::orders`](crate::Health::orders) shows it to all members, so that
    /// something else can follow it. An order to close has no time. It returns at once. While the bus is not connected, only this member does it, and tells the others when it is.
    ///
    /// # Errors
    ///
    /// [`GuardError::Name`] for an illegal name, [`GuardError::Busy`] if the member has too much to do: nothing was ordered.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use cutout_fleet::{Action, Fleet, InProcess};
    ///
    /// let fleet = Fleet::builder().start(InProcess::new())?;
    /// let hour = Some(Duration::from_secs(3600));
    /// fleet.order(Some("search"), Action::ForceOpen, hour, "index is rebuilt", "ada")?;
    /// fleet.order(Some("search"), Action::Resume, None, "done", "ada")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn order(
        &self,
        name: Option<&str>,
        what: Action,
        how_long: Option<Duration>,
        reason: &str,
        author: &str,
    ) -> Result<(), GuardError> {
        if let Some(name) = name.filter(|name| !is_name(name)) {
            return Err(GuardError::Name(Refused::of(name)));
        }
        let order = Input::Order {
            name: name.map(Arc::from),
            what,
            left: how_long,
            reason: cut(reason, MAX_REASON).into(),
            author: cut(author, MAX_REASON).into(),
        };
        self.0
            .inputs
            .to
            .try_send(order)
            .map_err(|_| GuardError::Busy)
    }

    /// How the fleet is, as this member sees it; at most 20 ms old while the member has something to do, and a heartbeat else.
    pub fn health(&self) -> Health {
        let health = self.0.health.lock();
        health.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME
}

/// The begin of a name that was refused, and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    begin: Box<str>,
    length: usize,
}

impl Refused {
    fn of(name: &str) -> Self {
        Self {
            begin: cut(name, 32).into(),
            length: name.len(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { begin, length } = self;
        write!(f, "{begin:?} of {length} bytes: a name has 1 to {MAX_NAME}")
    }
}

/// Why a member was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// Illegal settings.
    Settings(SettingsError),
    /// The member's name is empty or too long.
    Name(Refused),
    /// The address of the server is none.
    Address(String),
    /// The system gave no thread.
    Thread(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Name(name) => write!(f, "the member's name is {name}"),
            Self::Address(why) => write!(
                f,
                "not an address of a server: {why}; it is to be like redis://user:password@host:6379"
            ),
            Self::Thread(why) => write!(f, "no thread for the fleet: {why}"),
        }
    }
}

impl std::error::Error for StartError {}

/// Why a breaker does not listen to the fleet, or an order was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardError {
    /// The breaker's config is not legal.
    Config(ConfigError),
    /// The name is empty or too long.
    Name(Refused),
    /// The member has 4096 things to do already: try again.
    Busy,
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Name(name) => write!(f, "the name is {name}"),
            Self::Busy => f.write_str("the fleet has too much to do: try again"),
        }
    }
}

impl std::error::Error for GuardError {}
