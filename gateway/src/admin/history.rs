//! What the database remembers: transitions and probe results of long ago.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clock::unix_time;
use crate::dialect::ApiError;
use crate::gateway::Gateway;
use crate::store::{Store, StoreError};

/// Which part to show.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    #[serde(default = "Page::usual")]
    limit: u32,
    before: Option<u64>,
}

impl Page {
    const LONGEST: u32 = 500;

    fn usual() -> u32 {
        100
    }
}

type Asked = Result<Query<Page>, QueryRejection>;

/// `GET /admin/transitions`.
pub(super) async fn transitions(
    State(gateway): State<Arc<Gateway>>,
    page: Asked,
) -> Result<Json<Value>, ApiError> {
    let page = legal(page)?;
    let rows = ask(&gateway, move |store| {
        store.transitions(page.limit, page.before)
    })
    .await?;
    Ok(Json(json!({ "transitions": rows })))
}

/// `GET /admin/probes`.
pub(super) async fn probes(
    State(gateway): State<Arc<Gateway>>,
    page: Asked,
) -> Result<Json<Value>, ApiError> {
    let page = legal(page)?;
    let rows = ask(&gateway, move |store| store.probes(page.limit)).await?;
    Ok(Json(json!({ "probes": rows })))
}

/// How many days back to look.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Days {
    #[serde(default = "Days::usual")]
    days: u64,
}

impl Days {
    const MOST: u64 = 400;

    fn usual() -> u64 {
        30
    }
}

/// `GET /admin/spent`.
pub(super) async fn spent(
    State(gateway): State<Arc<Gateway>>,
    days: Result<Query<Days>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let legal = days
        .ok()
        .filter(|days| (1..=Days::MOST).contains(&days.days));
    let Some(Query(Days { days })) = legal else {
        let message = "days is a number from 1 to 400";
        let refusal = ApiError::invalid(StatusCode::BAD_REQUEST, "bad_query", message);
        return Err(refusal.param("days"));
    };
    let today = unix_time().as_secs() / (24 * 3600);
    let since = today.saturating_sub(days - 1);
    let rows = ask(&gateway, move |store| store.spent_since(since)).await?;
    Ok(Json(json!({ "spent": rows })))
}

fn legal(page: Asked) -> Result<Page, ApiError> {
    let message = "limit is a number from 1 to 500, before the id of a transition";
    let refusal = || ApiError::invalid(StatusCode::BAD_REQUEST, "bad_query", message);
    let Query(page) = page.map_err(|_| refusal())?;
    if (1..=Page::LONGEST).contains(&page.limit) {
        Ok(page)
    } else {
        Err(refusal().param("limit"))
    }
}

/// Asks on a thread that may wait.
async fn ask<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    question: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    if gateway.store.status().path.is_none() {
        let message = "the configuration names no database: set store.path";
        return Err(ApiError::invalid(
            StatusCode::NOT_FOUND,
            "no_database",
            message,
        ));
    }
    let store = Arc::clone(&gateway.store);
    let unavailable = |why: String| {
        ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "database_unavailable", why)
    };
    tokio::task::spawn_blocking(move || question(&store))
        .await
        .map_err(|error| unavailable(error.to_string()))?
        .map_err(|error| unavailable(error.to_string()))
}
