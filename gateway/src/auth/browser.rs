//! Browsers, which send what any page tells them to.

use http::request::Parts;
use http::{Method, StatusCode, Uri, header};

use super::Door;
use super::local::forbidden;
use crate::config::Server;
use crate::dialect::ApiError;

/// Refuses requests that a page of another origin makes, unless the configuration allows that origin; and bodies that are
/// not JSON, which pages may send anywhere without asking first.
///
/// # Errors
///
/// 403 or 415, with what to set or to send.
pub fn check_browser(door: Door, head: &Parts, server: &Server) -> Result<(), ApiError> {
    check_origin(door, head, server)?;
    let is_read = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let kind = head.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    if is_read || kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::invalid(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_content_type",
        "send 'Content-Type: application/json'",
    ))
}

fn check_origin(door: Door, head: &Parts, server: &Server) -> Result<(), ApiError> {
    let text = |name: &str| head.headers.get(name)?.to_str().ok();
    // A browser says one thing; of several nobody knows which one counts.
    for name in ["origin", "sec-fetch-site"] {
        if head.headers.get_all(name).iter().count() > 1 {
            return Err(other_origin(door, None));
        }
    }
    let origin = text("origin");
    let allowed = |origin| door == Door::Clients && allows_origin(server, origin);
    match (text("sec-fetch-site"), origin) {
        // The browser's own word: this gateway's page, or a person who typed the address.
        (Some("same-origin" | "none"), _) => Ok(()),
        (_, Some(origin)) if allowed(origin) => Ok(()),
        // Somebody follows a link to the page, which says nothing yet and can be in no frame.
        (Some("cross-site" | "same-site"), None)
            if door == Door::Page
                && head.method == Method::GET
                && text("sec-fetch-mode") == Some("navigate")
                && text("sec-fetch-dest") == Some("document") =>
        {
            Ok(())
        }
        (Some("cross-site" | "same-site"), origin) => Err(other_origin(door, origin)),
        // A browser of before 2020 to 2023, or one that reached us without TLS; or a program.
        (_, Some(origin)) if !is_own(origin, text("host")) => Err(other_origin(door, Some(origin))),
        _ => Ok(()),
    }
}

/// Whether pages of this origin may call `/v1`.
pub fn allows_origin(server: &Server, origin: &str) -> bool {
    let mut allowed = server.allowed_origins.iter();
    allowed.any(|allowed| allowed.eq_ignore_ascii_case(origin))
}

/// Whether an origin is that of the name under which the request reached us.
fn is_own(origin: &str, host: Option<&str>) -> bool {
    let origin = Uri::try_from(origin).ok();
    let authority = origin.as_ref().and_then(Uri::authority);
    authority
        .zip(host)
        .is_some_and(|(authority, host)| authority.as_str().eq_ignore_ascii_case(host))
}

fn other_origin(door: Door, origin: Option<&str>) -> ApiError {
    let shown = origin.map_or("another origin".to_owned(), |origin| format!("{origin:?}"));
    let remedy = match door {
        Door::Clients => "; to allow it, add it to server.allowed_origins",
        Door::Metrics | Door::Page | Door::Operators => "",
    };
    forbidden(
        "other_origin",
        format!("pages of {shown} may not use this{remedy}"),
    )
}
