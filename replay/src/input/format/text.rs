//! How the fields of a text line are parted.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Words parted by spaces, and what is left behind them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self(text)
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start_matches(' ');
        let end = memchr::memchr(b' ', text.as_bytes()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The word after so many.
    pub(super) fn nth_word(mut self, skipped: usize) -> Option<&'a str> {
        for _ in 0..skipped {
            self.next()?;
        }
        self.next()
    }

    /// Words that a comma or a lone colon joins: `a:80, b:80 : c:80`.
    pub(super) fn list(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start_matches(' ');
        let mut end = 0;
        loop {
            let word = Words(&text[end..]).next()?;
            end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
            let colon = text[end..].starts_with(" : ");
            if colon {
                end += 2;
            } else if !word.ends_with(',') {
                break;
            }
        }
        self.0 = &text[end..];
        Some(&text[..end])
    }

    pub(super) const fn rest(self) -> &'a str {
        self.0
    }
}

/// What stands in the quotes that the text begins with, and what follows. A backslash takes what is behind it along.
pub(super) fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &bytes[from..])?;
        if bytes[at] == b'"' {
            return Some((&inner[..at], &inner[at + 1..]));
        }
        from = at + 2;
        if from > bytes.len() {
            return None;
        }
    }
}

/// The path of `GET /x?y HTTP/1.1` or of a URL, without its query: it may hold what is secret.
pub(super) fn path_of(request: &str) -> &str {
    let mut words = Words::new(request);
    let first = words.next().unwrap_or("");
    bare_path(words.next().unwrap_or(first))
}

/// The path of a target or a URL, without its query.
pub(super) fn bare_path(target: &str) -> &str {
    let end = target.find(['?', '#', ';']).unwrap_or(target.len());
    let path = &target[..end];
    match path.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => path,
    }
}

/// The host of a URL, without who asks.
pub(super) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// What both ends of a call have in common.
pub(super) fn hash(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_holds_no_query_and_a_host_no_user() {
        assert_eq!(path_of("GET /x?token=secret HTTP/1.1"), "/x");
        assert_eq!(path_of("GET http://u:p@h:80/a/b?c HTTP/1.1"), "/a/b");
        assert_eq!(path_of("-"), "-");
        assert_eq!(host_of("https://u:p@h:80/a?b"), "h:80");
    }

    #[test]
    fn a_quote_behind_a_backslash_ends_nothing() {
        assert_eq!(quoted(r#""a\"b\\" c"#), Some((r#"a\"b\\"#, " c")));
        assert_eq!(quoted(r#""a\"#), None);
        assert_eq!(quoted("a"), None);
    }

    #[test]
    fn a_list_goes_on_behind_a_comma_and_a_lone_colon() {
        let mut words = Words::new("a:80, b:80 : c:80 87, 1 x");
        assert_eq!(words.list(), Some("a:80, b:80 : c:80"));
        assert_eq!(words.list(), Some("87, 1"));
        assert_eq!(words.list(), Some("x"));
        assert_eq!(words.list(), None);
    }
}
