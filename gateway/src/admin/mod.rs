//! The JSON API of operators and the dashboard.
//!
//! Every call needs `Authorization: Bearer <token>`: the `admin_token`, or where none is configured the token that was
//! printed at the start, which this machine alone may use. A `POST` or `PATCH` needs `Content-Type: application/json`. Errors have the OpenAI shape: `{"error":{"message":…,"code":…}}`.
//!
//! # `GET /admin/state`
//!
//! ```json
//! {
//!   "version": "9e3779b97f4a7c15",      // of the configuration; send it back with changes
//!   "started_ms": 1790000000000,        // Unix time in milliseconds, as all `_ms` points in time
//!   "now_ms": 1790000012345,
//!   "draining": false,
//!   "needs_restart": [],                // fields changed since the start that only a restart puts in force: "server.listen", …
//!   "warnings": [],                     // what is legal and hardly meant, in words
//!   "problem": null,                    // why the file as it is now is not in force: "line 3: provider[0].name: …"
//!   "store": {"path": "health.sqlite", "problem": null, "commits": 9,   // no path: nothing is kept
//!             "transitions": 4, "lost_transitions": 0, "lost_probes": 0},
//!   "fleet": {                          // the replicas, or null
//!     "member": "pod-1:8080", "connected": true, "trouble": null,   // why it is not, or was not last
//!     "members": [{"name": "pod-2:8080", "heard_ms": 410,           // the others that live
//!                  "breakers": [{"name": "deepseek", "state": "open", "tripped": true}]}],   // by what it has seen itself
//!     "probing": ["deepseek"],          // for which this one probes
//!     "orders": [{"breaker": "deepseek", "order": "force open", "remaining_ms": null, "reason": "…", "author": "ada",
//!                 "member": "pod-2:8080"}],   // that hold; of null: of all breakers
//!     "takeovers": 1, "sent": 90, "not_sent": 0, "heard": 88, "last_heard_ms": 410, "ignored": 0, "dropped": 0
//!   },
//!   "breakers": [{
//!     "name": "deepseek",               // or "deepseek/model": the key for the actions below
//!     "provider": "deepseek", "model": null,
//!     "state": "closed",                // closed, open, half-open, forced open, disabled, observe-only
//!     "cause": null,                    // what made it what it is, in words
//!     "since_ms": null,                 // when it tripped, or an operator set it; null when it is closed
//!     "reason": null,                   // the operator's, while what was set holds
//!     "trip": null,                     // what opened it, until it closes: {"cause": "failure ratio reached", "at_ms": …,
//!                                       // "counts": {…}, "threshold": "a share of 0.5", "label": "status 503"}
//!     "last_error": null,               // of its last call that failed: {"at_ms": …, "what": "status 503"}
//!     "recent": {"calls": 52, "failed": 1},   // that ended in the last minute
//!     "generation": 3,
//!     "remaining_ms": null,             // until the next probe, when open
//!     "attempt": 0,                     // re-openings since it tripped
//!     "probes": {"out": 0, "passed": 0, "inconclusive": 0, "max": 1, "to_close": 1},
//!     "window": {"size": 20, "outcomes": "ssfsstS"},   // oldest first; s, f, t: success, failure, timeout; capital: slow
//!     // or, of a time window, oldest first and without empty ones:
//!     // "window": {"length_ms": 10000, "bucket_ms": 1000,
//!     //            "buckets": [{"age_ms": 2500, "samples": 7, "failures": 2, "timeouts": 1, "slow": 1}]},
//!     "counts": {"samples": 7, "failures": 2, "timeouts": 1, "slow": 1},
//!     "limits": {"min_calls": 10, "failure_ratio": 0.5, "timeout_ratio": null, "slow_ratio": null,
//!                "slow_call_ms": null, "consecutive_failures": null, "open_wait_ms": 30000, "open_wait_max_ms": 300000},
//!     "in_flight": 2, "max_in_flight": 256,
//!     "totals": {"calls": 10, "successes": 7, "answered": 0, "failures": 2, "timeouts": 1, "ignored": 0, "rejected": 4,
//!                "retries": 3},
//!     "stale": 0,
//!     "throttle": null                  // or, if it has one: {"share": 0.4, "requests": 500, "accepts": 120, "failures": 130,
//!                                       // "refused": 9000, "k": 2.0, "length_ms": 10000}: the share that it refuses now, what its
//!                                       // window holds, and what it has refused since it has this config
//!   }],
//!   "routes": [{
//!     "model": "chat",
//!     "queue": [{"provider": "deepseek", "model": "deepseek-chat", "breaker": "deepseek",
//!                "answered": 48,           // requests of this route in the last minute
//!                // null, or why the target is left out; or "credit spent". What may be a key is masked.
//!                "suspended": {"cause": "key refused", "status": 401, "text": "Incorrect API key provided: [masked]",
//!                              "since_ms": 1790000010000, "remaining_ms": 540000}}],
//!     "canary": {"provider": "new", "model": "chat", "breaker": "new", "answered": 3, "suspended": null,
//!                "share": 0.05},   // or null
//!     "recent": {"requests": 52, "failed": 1}   // that ended in the last minute; those with an error not the client's, or half an answer
//!   }],
//!   "transitions": [{                   // the last 64, oldest first
//!     "id": 1, "breaker": "deepseek", "generation": 3, "from": "closed", "to": "open",
//!     "cause": "failure ratio reached", "reason": null, "threshold": "a share of 0.5", "label": "status 503", "at_ms": 1790000011000,
//!     "counts": {"samples": 10, "failures": 5, "timeouts": 0, "slow": 0}
//!   }],
//!   "keys": [{                          // the client keys, and what was spent with each
//!     "name": "team-a", "requests_this_minute": 7, "tokens_this_minute": 900, "tokens_today": 120000,
//!     "requests_per_minute": 60, "tokens_per_minute": null, "tokens_per_day": 1000000   // its limits
//!   }],
//!   "spent": [{                         // today, by key ("" if none is asked for), route and target
//!     "day": "2026-12-01", "key": "team-a", "route": "chat", "target": "deepseek/deepseek-chat",
//!     "requests": 48, "untold": 2, "tokens_in": 90000, "tokens_out": 30000   // untold: answers that did not tell their tokens
//!   }]
//! }
//! ```
//!
//! # `GET /admin/events`
//!
//! Server-sent events: `event: state` with the value above, at once, then each second and soon after a transition; `event: transition` with one
//! entry of `transitions`, as it happens.
//!
//! # `GET /admin/transitions` and `GET /admin/probes`
//!
//! What the database has, newest first: `{"transitions": […]}` with entries as above, and `{"probes": [{"breaker": "deepseek",
//! "at_ms": 1790000011000, "took_ms": 12, "error": null, "counted": true}]}`. `?limit=` is 1 to 500, 100 by default; `?before=`
//! is the id of a transition, for those before it. 404 when no database is configured, 503 when it does not work.
//!
//! `GET /admin/spent?days=30` has what was spent on each of the last days, 1 to 400, as `{"spent": […]}` with entries as above.
//!
//! # Actions
//!
//! | call | body | does |
//! | --- | --- | --- |
//! | `POST /admin/breakers/{name}/force_open` | `{"reason": "…", "seconds": 60}` | rejects all calls; without `seconds` until told otherwise |
//! | `POST /admin/breakers/{name}/close` | `{"reason": "…"}` | closes with an empty window, ends any override |
//! | `POST /admin/breakers/{name}/disable` | `{"reason": "…"}` | admits all, records nothing |
//! | `POST /admin/breakers/{name}/observe_only` | `{"reason": "…"}` | admits all, records, reports what would have opened it |
//! | `POST /admin/breakers/{name}/resume` | `{"reason": "…"}` | ends what an operator set, and goes back to what was before it; 409 if nothing was set |
//! | `POST /admin/breakers/{name}/probe` | `{}` | sends one tiny request now; answers `{"ok": true, "took_ms": 12, "counted": true, "error": null}` |
//! | `POST /admin/routes/{model}/move` | `{"version": "…", "breaker": "deepseek", "model": "deepseek-chat", "to": 0}` | moves an entry of the queue to a position |
//! | `PATCH /admin/config` | `{"version": "…", "field": "provider[0].breaker.failure_ratio", "value": 0.3}` | sets one field of the configuration; `null` takes it out |
//! | `GET /admin/config` | | `{"version": "…", "text": "…"}`: the file, which holds no keys |
//!
//! The breaker actions take an `"author"` too, of up to 100 bytes, who is named with the reason. With a `[fleet]` they hold in all replicas, and in those that
//! join later, until they are ended: they are done within milliseconds after the answer, here and there. `close` closes the replicas that are there.
//!
//! Names in paths are percent-encoded (a `/` is `%2F`). The breaker actions answer `{"ok": true}`, a move answers `{"version": "…"}`. and so does a `PATCH`. A change for an old version
//! is refused with 409, one that is not legal with 422 and the line and field that are wrong; neither changes anything. Addresses and
//! keys of providers can be changed in the file alone (403).

mod actions;
mod body;
mod history;
mod live;
mod state;
mod window;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

pub use state::{State, state};

use crate::dialect::ApiError;
use crate::gateway::Gateway;

/// The routes under `/admin`, for whoever has been let in.
pub(crate) fn router(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/admin/state", get(state::answer))
        .route("/admin/events", get(live::answer))
        .route("/admin/transitions", get(history::transitions))
        .route("/admin/probes", get(history::probes))
        .route("/admin/spent", get(history::spent))
        .route("/admin/breakers/{name}/probe", post(actions::probe))
        .route("/admin/breakers/{name}/{action}", post(actions::operate))
        .route("/admin/routes/{model}/move", post(actions::move_entry))
        .route(
            "/admin/config",
            get(actions::read_config).patch(actions::set_field),
        )
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .with_state(gateway)
}
