//! How long an answer asks to wait.

use core::time::Duration;
use std::time::SystemTime;

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// How long these headers ask to wait: `retry-after-ms`, which some providers send beside
/// the standard header and which is finer, or else [`Retry-After`](parse_retry_after).
///
/// What cannot be read asks for nothing. Of a field that is given several times the longest
/// wait holds.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use cutout::adapters::http::retry_after;
/// use http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "120".parse().unwrap());
/// assert_eq!(retry_after(&headers, SystemTime::now()), Some(Duration::from_secs(120)));
/// ```
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = headers.get_all("retry-after-ms").iter();
    let millis = millis
        .filter_map(|value| whole(value.as_bytes()))
        .map(Duration::from_millis);
    millis.max().or_else(|| {
        let values = headers.get_all(RETRY_AFTER).iter();
        values
            .filter_map(|value| parse_retry_after(value.as_bytes(), now))
            .max()
    })
}

/// The wait that a value of `Retry-After` asks for at the wall-clock time `now`; `None` if it
/// is not of the standard.
///
/// It is a number of seconds without sign or fraction, or a date in one of the three forms of
/// RFC 9110, section 5.6.7. A date that is past asks for no wait; seconds that do not fit are
/// `u64::MAX`. Any bytes may be given.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use cutout::adapters::http::parse_retry_after;
///
/// let now = UNIX_EPOCH + Duration::from_secs(784_111_777); // 06 Nov 1994 08:49:37
/// let wait = |value: &str| parse_retry_after(value.as_bytes(), now);
/// assert_eq!(wait("7"), Some(Duration::from_secs(7)));
/// assert_eq!(wait("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
/// assert_eq!(wait("0.5"), None);
/// ```
pub fn parse_retry_after(value: &[u8], now: SystemTime) -> Option<Duration> {
    if let Some(seconds) = whole(value) {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(core::str::from_utf8(value).ok()?).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// A number of digits alone; `u64::MAX` if it does not fit.
pub(super) fn whole(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    let are_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    are_digits.then(|| {
        digits.iter().fold(0, |number: u64, digit| {
            number
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        })
    })
}
