//! How a verdict is written: by its name, or as a table.

use core::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::contract::outcome::Outcome;
use crate::contract::verdict::Verdict;

/// A verdict in parts. Those that are left out are as the outcome says by itself.
struct Parts {
    outcome: Outcome,
    retry: Option<bool>,
    waits: Option<bool>,
}

record!(Parts, like "{ outcome = \"timeout\", retry = true }" {
    outcome: Outcome,
    retry: Option<bool> = None,
    waits: Option<bool> = None,
});

impl From<Verdict> for Parts {
    fn from(verdict: Verdict) -> Self {
        Self {
            outcome: verdict.outcome,
            retry: Some(verdict.retry),
            waits: Some(verdict.waits),
        }
    }
}

impl From<Parts> for Verdict {
    fn from(parts: Parts) -> Self {
        let usual = Self::from(parts.outcome);
        Self {
            outcome: parts.outcome,
            retry: parts.retry.unwrap_or(usual.retry),
            waits: parts.waits.unwrap_or(usual.waits),
        }
    }
}

/// For people its name, if it has one.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) if to.is_human_readable() => to.serialize_str(name),
            _ => Parts::from(*self).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Word;

        impl<'de> Visitor<'de> for Word {
            type Value = Verdict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a verdict such as \"failure\", or a table such as { outcome = \"timeout\", retry = true }",
                )
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Verdict, E> {
                let verdict = name.parse();
                verdict.map_err(|error| E::custom(format_args!("`{name}`: {error}")))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Verdict, A::Error> {
                Parts::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
            }
        }

        if from.is_human_readable() {
            from.deserialize_any(Word)
        } else {
            Parts::deserialize(from).map(Into::into)
        }
    }
}
