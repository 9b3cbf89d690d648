//! The dashboard: a page and its few files, all part of the binary.
//!
//! The files hold nothing secret. What the page shows it fetches from `/admin`, under the rules that hold there.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{StatusCode, header};

use crate::dialect::ApiError;
use crate::path::Named;

const PAGE: &str = include_str!("../../assets/dashboard.html");

/// Nothing from elsewhere, nothing inline, and in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page's files: name, type, text.
const FILES: &[(&str, &str, &str)] = &[
    (
        "dashboard.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/dashboard.css"),
    ),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../../assets/icon.svg"),
    ),
    (
        "evidence.js",
        SCRIPT,
        include_str!("../../assets/evidence.js"),
    ),
    ("fleet.js", SCRIPT, include_str!("../../assets/fleet.js")),
    ("health.js", SCRIPT, include_str!("../../assets/health.js")),
    ("rules.js", SCRIPT, include_str!("../../assets/rules.js")),
    ("text.js", SCRIPT, include_str!("../../assets/text.js")),
    ("main.js", SCRIPT, include_str!("../../assets/main.js")),
    ("api.js", SCRIPT, include_str!("../../assets/api.js")),
    (
        "breaker.js",
        SCRIPT,
        include_str!("../../assets/breaker.js"),
    ),
    ("dom.js", SCRIPT, include_str!("../../assets/dom.js")),
    (
        "operate.js",
        SCRIPT,
        include_str!("../../assets/operate.js"),
    ),
    ("spent.js", SCRIPT, include_str!("../../assets/spent.js")),
    ("queue.js", SCRIPT, include_str!("../../assets/queue.js")),
    (
        "timeline.js",
        SCRIPT,
        include_str!("../../assets/timeline.js"),
    ),
    ("window.js", SCRIPT, include_str!("../../assets/window.js")),
];

/// `/` and `/assets/*`, for whoever has been let in.
pub(super) fn router() -> Router {
    Router::new()
        .route("/", get(async || answer("text/html; charset=utf-8", PAGE)))
        .route("/assets/{file}", get(file))
        .method_not_allowed_fallback(async || ApiError::wrong_method())
}

async fn file(Named(name): Named<String>) -> Response {
    match FILES.iter().find(|(file, _, _)| *file == name) {
        Some((_, kind, text)) => answer(kind, text),
        None => {
            let message = "the dashboard has no such file";
            ApiError::invalid(StatusCode::NOT_FOUND, "no_such_path", message).into_response()
        }
    }
}

fn answer(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Another version of the binary has other files under the same names.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
