//! A `route` table.

use serde::Deserialize;

use super::Span;

/// One model that clients may ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The model's name as clients give it, unique.
    pub model: String,
    /// The providers in the order in which they are tried, unless the policy has another; at least one.
    pub queue: Vec<Target>,
    /// In which order they are asked.
    #[serde(default)]
    pub policy: Policy,
    /// Where requests go that this route cannot answer, by cause.
    #[serde(default)]
    pub fallback: Fallback,
    /// A share of the traffic that tries a new provider or model first.
    pub canary: Option<Canary>,
    /// The request header by which a conversation stays with the provider that served it last.
    pub sticky_header: Option<String>,
    /// How long a recovered provider takes to get its full share of traffic back.
    #[serde(default)]
    pub ramp: Option<Span>,
    /// How long a request may take in all, whomever it asks, to the end of its answer.
    #[serde(default = "Route::default_deadline")]
    pub deadline: Span,
    /// How many upstream calls a request may make in all, 1 to 100.
    #[serde(default = "Route::default_calls")]
    pub max_calls: usize,
    /// What may be answered when nothing in the queue is left.
    #[serde(default)]
    pub degraded: Degraded,
}

impl Route {
    fn default_deadline() -> Span {
        Span::seconds(600)
    }

    fn default_calls() -> usize {
        6
    }

    /// All providers that it may ask, canary and older models included, with the model to ask them for.
    pub fn targets(&self) -> impl Iterator<Item = (&String, &str)> {
        let queue = self.queue.iter().chain(&self.degraded.models);
        let queue = queue.map(|target| (&target.provider, &target.model));
        let canary = self
            .canary
            .iter()
            .map(|canary| (&canary.provider, &canary.model));
        queue
            .chain(canary)
            .map(|(provider, model)| (provider, model.as_deref().unwrap_or(&self.model)))
    }
}

/// A provider, and the model to ask it for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The provider's name.
    pub provider: String,
    /// The model's name there; the route's own by default.
    pub model: Option<String>,
    /// How much it can carry in comparison, 1 to 10 000.
    #[serde(default = "Target::default_weight")]
    pub weight: u32,
}

impl Target {
    fn default_weight() -> u32 {
        1
    }
}

/// In which order targets are asked. What fails moves on in the same order.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// As they stand in the queue.
    #[default]
    Priority,
    /// Each in its turn, as often as its weight says.
    Weighted,
    /// Each in its turn, equally often.
    RoundRobin,
    /// The one with the fewest of the route's requests in flight, for its weight.
    LeastLoaded,
    /// Of two drawn at random the one that is likely to answer sooner.
    Fastest,
}

/// Other routes for requests that this one cannot answer. They have the same dialect, and each leads on as it says itself.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Fallback {
    /// For a request that is too long for the model.
    pub context_too_long: Option<String>,
    /// For a request that the provider refuses for its content.
    pub content_refused: Option<String>,
    /// When nothing of the queue is left, before lesser answers are given.
    pub all_down: Option<String>,
}

impl Fallback {
    /// All that are named, with the fields that name them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let fields = [
            ("context_too_long", &self.context_too_long),
            ("content_refused", &self.content_refused),
            ("all_down", &self.all_down),
        ];
        fields
            .into_iter()
            .filter_map(|(field, route)| Some((field, route.as_ref()?)))
    }
}

/// A target on trial.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// The provider's name.
    pub provider: String,
    /// The model's name there; the route's own by default.
    pub model: Option<String>,
    /// The share of requests that try it first, above 0 and at most 1.
    pub share: f64,
}

/// Lesser answers, each only if it is asked for, each marked by the header `x-cutout-degraded`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Degraded {
    /// How many good answers are kept, to answer the very same request with; 0 for none.
    pub cached_answers: usize,
    /// Older models, tried in order.
    pub models: Vec<Target>,
}
