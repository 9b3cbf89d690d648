//! The replicas as a fleet of `cutout-fleet`.

use std::sync::Arc;
use std::time::Duration;

use cutout::{Breaker, Builder};
use cutout_fleet::{Action, Fleet, FleetBuilder, OrderHealth, Phase, Redis, StartError};
use secrecy::ExposeSecret;

use super::refused::{is_key, told};
use super::status::{Member, Ordered, Told};
use super::{Order, RefusedKey, Status};
use crate::config::{self, File, Problem};
use crate::dialect::in_path;
use crate::suspension::Suspension;

/// The longest name that replicas listen to, in bytes.
const LONGEST: usize = 256;

/// The other replicas, by way of a server. Clones are the same.
#[derive(Clone, Debug)]
pub struct Replicas(Fleet);

impl From<Fleet> for Replicas {
    fn from(fleet: Fleet) -> Self {
        Self(fleet)
    }
}

impl Replicas {
    /// Whether [`start`](Self::start) could do what the file says.
    pub(crate) fn check(file: &File) -> Result<(), Problem> {
        bus(file).map(drop)
    }

    /// Joins the fleet that the file names, if it names one. It does not wait for the server.
    pub(crate) fn start(file: &File) -> Result<Option<Self>, Problem> {
        let (Some(settings), Some(bus)) = (&file.config.fleet, bus(file)?) else {
            return Ok(None);
        };
        let fleet = member(settings, file.config.server.listen.port()).start(bus);
        let problem = |error: StartError| file.problem("fleet", &error.to_string());
        fleet.map(|fleet| Some(Self(fleet))).map_err(problem)
    }

    /// Builds a breaker that listens to the others, under its name. One whose name is too long for them stays by itself.
    pub(crate) fn build(&self, name: &str, builder: Builder) -> Result<Arc<Breaker>, String> {
        if name.len() <= LONGEST {
            return self.0.guard(builder).map_err(|error| error.to_string());
        }
        tracing::warn!(name, "a breaker with so long a name shares nothing");
        let breaker = builder.build().map_err(|error| error.to_string())?;
        Ok(Arc::new(breaker))
    }

    /// Orders something of a breaker in all replicas, and in those that join later.
    ///
    /// # Errors
    ///
    /// Why it was not ordered.
    pub(crate) fn order(
        &self,
        breaker: &str,
        order: Order,
        reason: &str,
        author: Option<&str>,
    ) -> Result<(), String> {
        let (what, how_long) = match order {
            Order::ForceOpen(how_long) => (Action::ForceOpen, how_long),
            Order::Close => (Action::Close, None),
            Order::Disable => (Action::Disable, None),
            Order::ObserveOnly => (Action::ObserveOnly, None),
            Order::Resume => (Action::Resume, None),
        };
        let member = self.0.health().member;
        let author = author.unwrap_or(&member);
        let ordered = self.0.order(Some(breaker), what, how_long, reason, author);
        ordered.map_err(|error| error.to_string())
    }

    /// Tells of a target that is left out for its key.
    pub(crate) fn suspend(&self, name: &str, suspension: &Suspension) {
        let (reason, lasts) = (told(suspension), suspension.remaining());
        self.tell_of_key(name, Action::ForceOpen, lasts, &reason);
    }

    /// Tells that it is taken in again.
    pub(crate) fn resume(&self, name: &str) {
        // It is remembered for longer than what it ends, and not for ever.
        let day = Duration::from_secs(24 * 3600);
        self.tell_of_key(name, Action::Resume, day, "a check succeeded");
    }

    fn tell_of_key(&self, name: &str, what: Action, lasts: Duration, reason: &str) {
        let told = self
            .0
            .order(Some(name), what, Some(lasts), reason, "cutout-gateway");
        if let Err(error) = told {
            tracing::warn!(%error, "the other replicas are not told of a key");
        }
    }

    /// The targets that some replica has left out for their keys.
    pub(crate) fn refused(&self) -> Vec<RefusedKey> {
        let orders = self.0.health().orders.into_iter();
        let refused = |order: OrderHealth| {
            let name = order.name.filter(|name| is_key(name))?;
            Some(RefusedKey {
                name: name.to_string(),
                rank: (order.number, order.member),
                said: order.reason.to_string(),
                left: order.left.unwrap_or(Duration::MAX),
            })
        };
        orders.filter_map(refused).collect()
    }

    /// How they are.
    pub(crate) fn status(&self) -> Status {
        let health = self.0.health();
        let text = |name: &Arc<str>| name.to_string();
        let members = health.members.iter().map(|member| Member {
            name: text(&member.name),
            heard_ms: millis(member.heard),
            breakers: member.names.iter().map(heard).collect(),
        });
        let orders = health.orders.iter();
        let orders = orders.filter(|order| !order.name.as_deref().is_some_and(is_key));
        Status {
            member: text(&health.member),
            connected: health.is_connected,
            trouble: health.trouble.as_ref().map(text),
            members: members.collect(),
            probing: health.probes.iter().map(text).collect(),
            orders: orders.map(ordered).collect(),
            takeovers: health.takeovers,
            sent: health.sent,
            not_sent: health.not_sent,
            heard: health.heard,
            last_heard_ms: health.last_heard.map(millis),
            ignored: health.ignored.iter().map(|(_, times)| times).sum(),
            dropped: health.dropped,
        }
    }

    /// Writes how they are to the recorder.
    pub(crate) fn record_metrics(&self) {
        self.0.record_metrics();
    }
}

fn heard((name, phase, tripped): &(Arc<str>, Phase, bool)) -> Told {
    Told {
        name: name.to_string(),
        state: match phase {
            Phase::Unused => "unused",
            Phase::Closed => "closed",
            Phase::Open => "open",
            Phase::Probing => "probing",
            Phase::Operated => "set by an operator",
        },
        tripped: *tripped,
    }
}

fn ordered(order: &OrderHealth) -> Ordered {
    Ordered {
        breaker: order.name.as_ref().map(|name| name.to_string()),
        order: match order.what {
            Action::ForceOpen => "force open",
            Action::Disable => "disable",
            Action::ObserveOnly => "observe only",
            _ => "other",
        },
        remaining_ms: order.left.map(millis),
        reason: order.reason.to_string(),
        author: order.author.to_string(),
        member: order.member.to_string(),
    }
}

/// The server that the file names.
fn bus(file: &File) -> Result<Option<Redis>, Problem> {
    let Some(settings) = &file.config.fleet else {
        return Ok(None);
    };
    let password = settings.password.as_ref().map(|source| source.read());
    let password = password.transpose();
    let password = password.map_err(|message| file.problem("fleet.password", &message))?;
    let user = settings.user.as_deref().unwrap_or_default();
    let url = &settings.url;
    let address = match (&password, url.split_once("://")) {
        (None, _) | (_, None) => url.clone(),
        (Some(password), Some((scheme, rest))) => {
            let (user, password) = (in_path(user), in_path(password.expose_secret()));
            match scheme {
                "unix" if user.is_empty() => format!("{url}?pass={password}"),
                "unix" => format!("{url}?user={user}&pass={password}"),
                _ => format!("{scheme}://{user}:{password}@{rest}"),
            }
        }
    };
    let bus = Redis::new(&address, &settings.name);
    bus.map(Some)
        .map_err(|error| file.problem("fleet.url", &error.to_string()))
}

/// A member by the name that the file gives it, or by that of the host and the port, which no other process has.
fn member(settings: &config::Fleet, port: u16) -> FleetBuilder {
    let host = std::env::var("HOSTNAME").ok();
    let host = host.filter(|host| (1..=200).contains(&host.len()) && port != 0);
    let name = settings.member.clone();
    match name.or_else(|| host.map(|host| format!("{host}:{port}"))) {
        Some(name) => Fleet::builder().member(name),
        None => Fleet::builder(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
