//! What the dashboard shows: the breakers' own state, read and not counted again.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use cutout::{Snapshot, Throttle};
use serde::Serialize;

use super::window::Content;
use crate::clock::unix_millis;
use crate::events::{Counts, Transition};
use crate::gateway::Gateway;
use crate::ledger::Standing;
use crate::providers::{Fleet, Route, Target, Upstream};
use crate::replicas::{self, Replicas};
use crate::requests::{Failure, Recent, RouteRecent, Traffic};
use crate::store::{self, Spent};

/// `GET /admin/state`.
pub(super) async fn answer(
    axum::extract::State(gateway): axum::extract::State<Arc<Gateway>>,
) -> Json<State> {
    Json(state(&gateway))
}

/// The whole state at one moment; each breaker's part is one snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct State {
    version: String,
    started_ms: u64,
    now_ms: u64,
    draining: bool,
    needs_restart: Vec<&'static str>,
    warnings: Vec<String>,
    problem: Option<String>,
    store: store::Status,
    fleet: Option<replicas::Status>,
    breakers: Vec<BreakerState>,
    routes: Vec<RouteState>,
    transitions: Vec<Arc<Transition>>,
    keys: Vec<Standing>,
    spent: Vec<Spent>,
}

#[derive(Clone, Debug, Serialize)]
struct BreakerState {
    name: String,
    provider: String,
    model: Option<String>,
    state: String,
    cause: Option<String>,
    since_ms: Option<u64>,
    reason: Option<String>,
    trip: Option<Trip>,
    last_error: Option<Failure>,
    recent: Recent,
    generation: u32,
    remaining_ms: Option<u64>,
    attempt: u32,
    probes: Probes,
    window: Content,
    counts: Counts,
    limits: Limits,
    in_flight: usize,
    max_in_flight: usize,
    totals: store::Totals,
    stale: u64,
    throttle: Option<ThrottleState>,
}

/// What refuses a share of the requests beside a breaker.
#[derive(Clone, Debug, Serialize)]
struct ThrottleState {
    share: f64,
    requests: u32,
    accepts: u32,
    failures: u32,
    refused: u64,
    k: f64,
    length_ms: u64,
}

impl ThrottleState {
    fn of(throttle: &Arc<Throttle>) -> Self {
        let (share, config) = (throttle.share(), throttle.config());
        let totals = throttle.totals();
        Self {
            share: share.refused,
            requests: share.requests,
            accepts: share.accepts,
            failures: share.failures,
            refused: totals.map_or(0, |totals| totals.rejections.closed),
            k: config.k,
            length_ms: millis(config.length),
        }
    }
}

/// What opened a breaker, until it closes.
#[derive(Clone, Debug, Serialize)]
struct Trip {
    cause: String,
    at_ms: u64,
    counts: Counts,
    threshold: Option<String>,
    label: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Probes {
    out: u32,
    passed: u32,
    inconclusive: u32,
    max: u32,
    to_close: u32,
}

#[derive(Clone, Debug, Serialize)]
struct Limits {
    min_calls: u32,
    failure_ratio: Option<f64>,
    timeout_ratio: Option<f64>,
    slow_ratio: Option<f64>,
    slow_call_ms: Option<u64>,
    consecutive_failures: Option<u32>,
    open_wait_ms: u64,
    open_wait_max_ms: u64,
}

#[derive(Clone, Debug, Serialize)]
struct RouteState {
    model: String,
    queue: Vec<Entry>,
    canary: Option<Trial>,
    recent: RouteRecent,
}

#[derive(Clone, Debug, Serialize)]
struct Entry {
    provider: String,
    model: String,
    breaker: String,
    /// Requests of the route that it answered in the last minute.
    answered: u64,
    suspended: Option<Suspended>,
}

/// A target that is left out for its key.
#[derive(Clone, Debug, Serialize)]
struct Suspended {
    cause: String,
    status: u16,
    text: String,
    since_ms: u64,
    remaining_ms: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Trial {
    #[serde(flatten)]
    entry: Entry,
    share: f64,
}

/// How many transitions a state shows.
const SHOWN: usize = 64;

/// Reads the whole state.
pub fn state(gateway: &Gateway) -> State {
    let fleet = gateway.fleet.load();
    let mut transitions = gateway.events.recent();
    let breakers = fleet
        .upstreams
        .values()
        .map(|upstream| of_breaker(gateway, &fleet, upstream, &transitions))
        .collect();
    transitions.drain(..transitions.len().saturating_sub(SHOWN));
    let traffic = &gateway.requests.traffic;
    let routes = fleet.routes.values();
    let mut routes: Vec<_> = routes.map(|route| of_route(route, traffic)).collect();
    routes.sort_by(|a, b| a.model.cmp(&b.model));
    State {
        version: fleet.version.to_string(),
        started_ms: gateway.started_ms,
        now_ms: unix_millis(),
        draining: gateway.is_draining(),
        needs_restart: gateway.needing_restart(),
        warnings: fleet.warnings.clone(),
        problem: gateway.problem().map(|problem| problem.to_string()),
        store: gateway.store.status(),
        fleet: gateway.replicas.as_ref().map(Replicas::status),
        breakers,
        routes,
        transitions,
        keys: fleet
            .config
            .server
            .client_keys
            .iter()
            .map(|key| gateway.requests.ledger.standing(&key.name, &key.limits))
            .collect(),
        spent: gateway.requests.ledger.today(),
    }
}

fn of_breaker(
    gateway: &Gateway,
    fleet: &Fleet,
    upstream: &Upstream,
    transitions: &[Arc<Transition>],
) -> BreakerState {
    let (recent, last_error) = gateway.requests.traffic.of_breaker(&upstream.name);
    let config = upstream.breaker.config();
    let snapshot = upstream.breaker.snapshot();
    let why = Why::of(&upstream.name, &snapshot, transitions);
    let provider = fleet.providers.get(&upstream.provider);
    BreakerState {
        name: upstream.name.clone(),
        provider: upstream.provider.clone(),
        model: upstream.model.clone(),
        state: snapshot.state.to_string(),
        cause: snapshot.cause.map(|cause| cause.to_string()),
        since_ms: why.since_ms,
        reason: why.reason,
        trip: why.trip,
        last_error,
        recent,
        generation: snapshot.generation,
        remaining_ms: snapshot.remaining.map(millis),
        attempt: snapshot.attempt,
        probes: Probes {
            out: snapshot.probes_out,
            passed: snapshot.probes_passed,
            inconclusive: snapshot.probes_inconclusive,
            max: config.max_probes,
            to_close: config.successes_to_close,
        },
        window: Content::of(&snapshot),
        counts: snapshot.counts().into(),
        limits: Limits {
            min_calls: config.min_calls(),
            failure_ratio: config.failure_ratio,
            timeout_ratio: config.timeout_ratio,
            slow_ratio: config.slow.map(|rule| rule.ratio),
            slow_call_ms: slow_limit(&config).map(millis),
            consecutive_failures: config.consecutive_failures,
            open_wait_ms: millis(config.open_wait.base),
            open_wait_max_ms: millis(config.open_wait.max),
        },
        in_flight: upstream.in_flight(),
        max_in_flight: provider.map_or(0, |provider| provider.settings.max_in_flight),
        totals: upstream.totals(),
        stale: upstream.breaker.stale(),
        throttle: fleet.throttles.get(&upstream.name).map(ThrottleState::of),
    }
}

/// From how long on a call is slow, to a ratio or to a score.
fn slow_limit(config: &cutout::Config) -> Option<Duration> {
    match config.window {
        cutout::Window::Cusum(cusum) => cusum.slow.map(|slow| slow.limit),
        _ => config.slow.map(|rule| rule.limit),
    }
}

/// Why a breaker is not closed. What it does not keep itself, an order to observe, the transitions tell.
#[derive(Default)]
struct Why {
    since_ms: Option<u64>,
    reason: Option<String>,
    trip: Option<Trip>,
}

impl Why {
    fn of(breaker: &str, snapshot: &Snapshot, transitions: &[Arc<Transition>]) -> Self {
        let state = snapshot.state.to_string();
        if snapshot.state == cutout::State::ObserveOnly {
            let mut newest = transitions.iter().rev();
            let order = newest
                .find(|one| one.breaker == breaker && one.to == state && one.reason.is_some());
            return Self {
                since_ms: order.map(|order| order.at_ms),
                reason: order.and_then(|order| order.reason.clone()),
                trip: None,
            };
        }
        let now = unix_millis();
        let at = |age| now.saturating_sub(millis(age));
        let cutout::Evidence { trip, operator, .. } = &snapshot.evidence;
        let trip = trip.as_ref().map(|trip| Trip {
            cause: trip.cause.to_string(),
            at_ms: at(trip.age),
            counts: trip.counts.into(),
            threshold: trip.threshold.map(|threshold| threshold.to_string()),
            label: trip.label.as_deref().map(str::to_owned),
        });
        let ordered = operator.as_ref().map(|operator| at(operator.age));
        Self {
            since_ms: ordered.or(trip.as_ref().map(|trip| trip.at_ms)),
            reason: operator
                .as_ref()
                .map(|operator| operator.reason.to_string()),
            trip,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn of_route(route: &Route, traffic: &Traffic) -> RouteState {
    let recent = traffic.of_route(&route.settings.model);
    let canary = route.settings.canary.as_ref();
    let members = route.queue.members();
    let mut entries: Vec<_> = members
        .iter()
        .map(|member| entry(member.payload(), &recent))
        .collect();
    // The canary stands last.
    let canary = canary.and_then(|canary| {
        let (entry, share) = (entries.pop()?, canary.share);
        Some(Trial { entry, share })
    });
    RouteState {
        model: route.settings.model.clone(),
        queue: entries,
        canary,
        recent,
    }
}

fn entry(target: &Target, recent: &RouteRecent) -> Entry {
    let suspension = target.provider.suspended(&target.model);
    Entry {
        provider: target.provider.settings.name.clone(),
        model: target.model.clone(),
        breaker: target.upstream.name.clone(),
        answered: recent.answered.get(&target.name()).copied().unwrap_or(0),
        suspended: suspension.map(|suspension| Suspended {
            cause: suspension.cause.to_string(),
            status: suspension.status,
            remaining_ms: millis(suspension.remaining()),
            since_ms: suspension.since_ms,
            text: suspension.text,
        }),
    }
}
