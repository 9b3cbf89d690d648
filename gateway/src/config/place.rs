//! Where in the text a field is, and which field is at a place.

use std::ops::Range;

use toml_edit::Item;

/// The place of a field, or of the innermost table around it that is written down.
pub(super) fn span_of(root: &Item, path: &str) -> Option<Range<usize>> {
    let mut item = root;
    let mut span = None;
    for step in steps(path) {
        let next = match step {
            Step::Key(key) => item.get(key),
            Step::Index(index) => item.get(index),
        };
        let Some(next) = next else { break };
        span = next.span().or(span);
        item = next;
    }
    span
}

/// The path of the innermost field around a place, empty if there is none.
pub(super) fn path_at(root: &Item, place: usize) -> String {
    let mut innermost = (usize::MAX, String::new());
    visit(root, "", &mut |path, span| {
        if span.contains(&place) && span.len() < innermost.0 {
            innermost = (span.len(), path.to_owned());
        }
    });
    innermost.1
}

fn visit(item: &Item, path: &str, found: &mut impl FnMut(&str, Range<usize>)) {
    if let Some(span) = item.span() {
        found(path, span);
    }
    if let Some(table) = item.as_table_like() {
        for (key, value) in table.iter() {
            let inner = if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            };
            if let Some(span) = table.key(key).and_then(|key| key.span()) {
                found(&inner, span);
            }
            visit(value, &inner, found);
        }
    }
    let mut index = 0;
    while let Some(element) = item.get(index) {
        visit(element, &format!("{path}[{index}]"), found);
        index += 1;
    }
}

pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The steps of a path like `provider[1].breaker.failure_ratio`.
pub(super) fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split(['.', '[']).map(|step| {
        match step.strip_suffix(']').and_then(|index| index.parse().ok()) {
            Some(index) => Step::Index(index),
            None => Step::Key(step),
        }
    })
}
