//! Tokens: made, read from a request, compared.

use http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

/// A token of 256 random bits, in hexadecimal.
///
/// # Errors
///
/// The operating system has no random numbers to give.
pub fn new_token() -> Result<SecretString, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("the system gives no random numbers: {error}"))?;
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    Ok(SecretString::from(digits.collect::<String>()))
}

/// The token of an `Authorization: Bearer` header; the scheme may be in any case.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked(b"bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii())
}

/// The keys that a client of any dialect shows.
pub(super) fn shown(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let named = ["x-api-key", "x-goog-api-key", "api-key"].into_iter();
    let named = named.filter_map(|name| Some(headers.get(name)?.as_bytes().trim_ascii()));
    bearer(headers).into_iter().chain(named)
}

/// Compares in a time that depends on the lengths alone.
pub(super) fn same(given: &[u8], token: &SecretString) -> bool {
    given.ct_eq(token.expose_secret().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn two_tokens_are_never_the_same() {
        let (one, two) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(one.expose_secret().len(), 64);
        assert_ne!(one.expose_secret(), two.expose_secret());
    }

    #[test]
    fn the_case_of_the_scheme_does_not_matter() {
        let mut headers = HeaderMap::new();
        for (value, token) in [
            ("Bearer abc", Some(&b"abc"[..])),
            ("bearer abc", Some(b"abc")),
            ("BEARER  abc ", Some(b"abc")),
            ("Bearer", None),
            ("Basic abc", None),
            ("abc", None),
            ("", None),
        ] {
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            assert_eq!(bearer(&headers), token, "{value:?}");
        }
    }
}
