//! One field changed at a time, the rest of the text left as it is, comments included.
//!
//! What an operator's browser may not change: where providers are and where keys come from. That is the file's alone.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use super::place::{Step, steps};

/// What only the file itself may say: who may use the gateway, where providers are, where keys come from.
const FILE_ONLY: [&str; 16] = [
    "base_url",
    "api_key",
    "admin_token",
    "client_keys",
    "allow_without_key",
    "allowed_hosts",
    "allowed_origins",
    "pass_headers",
    "listen",
    "url",
    "token",
    "user",
    "password",
    "env",
    "file",
    "path",
];

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The field is for the file alone.
    FileOnly(String),
    /// There is no such place.
    NoSuchField(String),
    /// The value is of no kind that the file can have.
    BadValue(String),
}

/// The text with another value in one field; with `null` the field is taken out.
///
/// A field is named as in error messages: `provider[1].breaker.failure_ratio`.
///
/// # Errors
///
/// A [`Refused`]. Whether the value is legal is for [`File::parse`](super::File::parse) to say.
pub fn set(text: &str, field: &str, value: &Json) -> Result<String, Refused> {
    let mut document = parse(text)?;
    let path: Vec<_> = steps(field).collect();
    let forbidden = path
        .iter()
        .any(|step| matches!(step, Step::Key(key) if FILE_ONLY.contains(key)));
    let nowhere = || Refused::NoSuchField(field.to_owned());
    let [parents @ .., Step::Key(last)] = path.as_slice() else {
        return Err(nowhere());
    };
    // A whole table would take what is in it along.
    if forbidden || names_forbidden(value) || parents.is_empty() {
        return Err(Refused::FileOnly(field.to_owned()));
    }
    let mut item = document.as_item_mut();
    for step in parents {
        item = match step {
            Step::Key(key) => {
                let table = item.as_table_like_mut().ok_or_else(nowhere)?;
                table
                    .entry(key)
                    .or_insert_with(|| Item::Value(InlineTable::new().into()))
            }
            Step::Index(index) => item.get_mut(*index).ok_or_else(nowhere)?,
        };
    }
    put(item.as_table_like_mut().ok_or_else(nowhere)?, last, value)?;
    Ok(document.to_string())
}

fn put(table: &mut dyn TableLike, key: &str, value: &Json) -> Result<(), Refused> {
    if value.is_null() {
        table.remove(key);
        return Ok(());
    }
    let mut value = to_toml(value)?;
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            // What stands around it, such as a comment.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => {
            table.insert(key, Item::Value(value));
        }
    }
    Ok(())
}

/// The text with one entry of a route's queue at another position, counted without it.
///
/// # Errors
///
/// [`Refused::NoSuchField`] if there is no such route, entry or position.
pub fn move_entry(text: &str, route: usize, from: usize, to: usize) -> Result<String, Refused> {
    let mut document = parse(text)?;
    let nowhere = || Refused::NoSuchField(format!("route[{route}].queue[{to}]"));
    let queue = document
        .as_item_mut()
        .get_mut("route")
        .and_then(|routes| routes.get_mut(route))
        .and_then(|route| route.get_mut("queue"))
        .ok_or_else(nowhere)?;
    if let Some(queue) = queue.as_array_mut() {
        if from >= queue.len() || to >= queue.len() {
            return Err(nowhere());
        }
        let entry = queue.remove(from);
        queue.insert_formatted(to, entry);
    } else {
        let queue = queue.as_array_of_tables_mut().ok_or_else(nowhere)?;
        if from >= queue.len() || to >= queue.len() {
            return Err(nowhere());
        }
        // Tables are written where they stood in the text: their contents change places, one by one.
        let mut tables: Vec<_> = queue.iter().cloned().collect();
        let entry = tables.remove(from);
        tables.insert(to, entry);
        let places: Vec<_> = queue.iter().map(toml_edit::Table::position).collect();
        for ((old, mut new), place) in queue.iter_mut().zip(tables).zip(places) {
            new.set_position(place);
            *old = new;
        }
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, Refused> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| Refused::BadValue(error.message().to_owned()))
}

fn names_forbidden(value: &Json) -> bool {
    match value {
        Json::Object(fields) => fields
            .iter()
            .any(|(key, value)| FILE_ONLY.contains(&key.as_str()) || names_forbidden(value)),
        Json::Array(values) => values.iter().any(names_forbidden),
        _ => false,
    }
}

fn to_toml(value: &Json) -> Result<Value, Refused> {
    let bad = |value: &Json| Refused::BadValue(value.to_string());
    Ok(match value {
        Json::Bool(bool) => Value::from(*bool),
        Json::String(text) => Value::from(text),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64().ok_or_else(|| bad(value))?),
        },
        Json::Array(values) => {
            let values: Result<Array, _> = values.iter().map(to_toml).collect();
            Value::from(values?)
        }
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                table.insert(key, to_toml(value)?);
            }
            Value::from(table)
        }
        Json::Null => return Err(bad(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = r#"# kept
[[provider]]
name = "a" # also kept
base_url = "http://a/v1"
breaker = { failure_ratio = 0.5, min_calls = 3 } # too
[provider.limits]
idle = "1s"

[[route]]
model = "m"
queue = [
  { provider = "a" }, # first
  { provider = "b" },
]
"#;

    #[test]
    fn one_value_changes_and_nothing_else() {
        let changed = set(TEXT, "provider[0].breaker.failure_ratio", &json!(0.3)).unwrap();
        assert_eq!(changed, TEXT.replace("0.5", "0.3"));
        let changed = set(TEXT, "provider[0].limits.idle", &json!("2s")).unwrap();
        assert_eq!(changed, TEXT.replace("1s", "2s"));
        let changed = set(TEXT, "provider[0].breaker.min_calls", &Json::Null).unwrap();
        assert_eq!(changed, TEXT.replace(", min_calls = 3 ", ""));
    }

    #[test]
    fn a_field_that_is_not_there_yet_is_added() {
        let changed = set(TEXT, "provider[0].retry.attempts", &json!(2)).unwrap();
        assert!(changed.contains("retry = { attempts = 2 }"), "{changed}");
    }

    #[test]
    fn addresses_and_keys_are_the_files_alone() {
        for (field, value) in [
            ("provider[0].base_url", json!("http://evil/v1")),
            ("provider[0].api_key", json!({"env": "HOME"})),
            ("provider[0].api_key.env", json!("HOME")),
            ("provider[0].check", json!({"file": "/etc/passwd"})),
            ("server.admin_token", Json::Null),
            ("server.allow_without_key", json!(true)),
            ("server.allowed_origins", json!(["https://evil.example"])),
            ("webhook.url", json!("http://evil")),
            ("server", Json::Null),
            ("provider", Json::Null),
        ] {
            assert_eq!(
                set(TEXT, field, &value),
                Err(Refused::FileOnly(field.into())),
                "{field}"
            );
        }
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        for field in ["provider[7].name", "provider[0]", "provider[0].name.x"] {
            assert_eq!(
                set(TEXT, field, &json!(1)),
                Err(Refused::NoSuchField(field.into())),
                "{field}"
            );
        }
    }

    #[test]
    fn entries_change_places_in_both_ways_of_writing_a_queue() {
        let order = |text: &str| {
            let document: DocumentMut = text.parse().unwrap();
            let queue = document["route"].get(0).unwrap()["queue"].clone();
            let name = |index| {
                queue
                    .get(index)?
                    .get("provider")?
                    .as_str()
                    .map(str::to_owned)
            };
            (0..).map_while(name).collect::<Vec<_>>()
        };
        let moved = move_entry(TEXT, 0, 1, 0).unwrap();
        assert_eq!(order(&moved), ["b", "a"], "{moved}");
        let tables = "[[route]]\n[[route.queue]]\nprovider = \"a\"\n[[route.queue]]\nprovider = \"b\"\n\
                      [[route.queue]]\nprovider = \"c\"\n";
        let moved = move_entry(tables, 0, 0, 2).unwrap();
        assert_eq!(order(&moved), ["b", "c", "a"], "{moved}");
        assert!(move_entry(TEXT, 0, 0, 2).is_err());
        assert!(move_entry(TEXT, 1, 0, 0).is_err());
    }
}
