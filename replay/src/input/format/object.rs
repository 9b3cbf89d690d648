//! A JSON object, read one level at a time.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object; their values are read when they are asked for.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// An object inside; empty if there is none.
    pub(crate) fn object(&self, name: &str) -> Self {
        self.raw(name)
            .and_then(|raw| Self::parse(raw.get()))
            .unwrap_or_default()
    }

    /// The objects of an array inside.
    pub(crate) fn objects(&self, name: &str) -> Vec<Self> {
        let raw = self.raw(name).map_or("", RawValue::get);
        serde_json::from_str(raw).unwrap_or_default()
    }

    /// A text, a number or a boolean as text; neither `null`, nor `"-"`, nor anything that has parts.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        scalar(self.raw(name)?.get())
    }

    /// As [`text`](Self::text), by a way into objects: `request.host`. A field that has the dots in its name goes first.
    pub(crate) fn at(&self, way: &str) -> Option<Cow<'a, str>> {
        if let Some(text) = self.text(way) {
            return Some(text);
        }
        let (first, rest) = way.split_once('.')?;
        self.object(first).at(rest)
    }

    /// The first of some fields that is there.
    pub(crate) fn first(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.text(name))
    }
}

fn scalar(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes().first()? {
        b'{' | b'[' | b'n' => None,
        b'"' => {
            let inner = &raw[1..raw.len() - 1];
            let text = if inner.contains('\\') {
                Cow::Owned(serde_json::from_str(raw).ok()?)
            } else {
                Cow::Borrowed(inner)
            };
            Some(text).filter(|text| text != "-")
        }
        _ => Some(Cow::Borrowed(raw)),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::with_capacity(16);
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(Object(fields))
            }
        }
        from.deserialize_map(Fields)
    }
}

/// A key that is not copied unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        from.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_way_and_nothing_is_made_of_null_or_a_dash() {
        let text = r#"{"a.b":1,"a":{"b":2,"c":{"d":"x\ny"}},"n":null,"m":"-","l":[1],"t":true}"#;
        let object = Object::parse(text).unwrap();
        assert_eq!(object.at("a.b").as_deref(), Some("1"));
        assert_eq!(object.at("a.c.d").as_deref(), Some("x\ny"));
        assert_eq!(object.at("t").as_deref(), Some("true"));
        for none in ["n", "m", "l", "x", "a", "a.x.y"] {
            assert_eq!(object.at(none), None, "{none}");
        }
    }
}
