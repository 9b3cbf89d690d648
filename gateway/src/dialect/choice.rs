//! The parts of an answer, and OpenAI's choices of such: whether there is anything in them.
//!
//! What an answer is made of has many names (`content`, `tool_calls`, `reasoning_content`, `images`, …), and new ones come. So a
//! part is looked at by what it is not: a label of its place or its role, and empty.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Refusal;

/// One choice of an answer, or of a piece of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice<'a> {
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    /// Some providers say here that the choice failed.
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    delta: Part,
    message: Part,
    text: Part,
}

impl Choice<'_> {
    /// Whether it adds something.
    pub(crate) fn has_content(&self) -> bool {
        [&self.delta, &self.message, &self.text]
            .iter()
            .any(|part| part.0)
    }

    /// Whether it says why it ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish_reason.is_some_and(|reason| !is_nothing(reason))
    }

    /// The error that it is instead of an answer, in the shape that an answer would have it.
    pub(crate) fn failure(&self) -> Option<Value> {
        let reason = self.finish_reason.map_or("", RawValue::get);
        let failed = reason.eq_ignore_ascii_case("\"error\"");
        match self.error.filter(|error| !is_nothing(error)) {
            Some(error) => Some(json!({ "error": error })),
            None => {
                failed.then(|| json!({ "error": "the answer ended with the reason \"error\"" }))
            }
        }
    }
}

/// The error that a choice is.
pub(crate) fn failure(choice: &Choice<'_>) -> Option<Refusal> {
    Refusal::inside(choice.failure()?, false)
}

/// The choices of an answer or of an event, as far as they are there.
pub(crate) type Choices<'a> = Option<Vec<Option<Choice<'a>>>>;

/// A part of an answer in any dialect; true if there is something in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part(pub(crate) bool);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of an answer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let mut is_some = false;
        while let Some((name, value)) = map.next_entry::<Name, &RawValue>()? {
            is_some |= !name.is_label && !is_nothing(value);
        }
        Ok(Part(is_some))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Part, A::Error> {
        let mut is_some = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            is_some = true;
        }
        Ok(Part(is_some))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Part, E> {
        Ok(Part(!text.is_empty()))
    }

    fn visit_unit<E: Error>(self) -> Result<Part, E> {
        Ok(Part(false))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Part, E> {
        Ok(Part(true))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Part, E> {
        Ok(Part(true))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Part, E> {
        Ok(Part(true))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Part, E> {
        Ok(Part(true))
    }
}

/// A field's name: whether it only says what or where the part is.
struct Name {
    is_label: bool,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                let is_label = matches!(name, "role" | "index" | "object" | "type");
                Ok(Name { is_label })
            }
        }
        deserializer.deserialize_str(Read)
    }
}

fn is_nothing(value: &RawValue) -> bool {
    matches!(value.get(), "null" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_an_answer_if_anything_is_in_it_or_it_says_why_it_ended() {
        for (text, has_content, is_finished) in [
            (r#"{}"#, false, false),
            (
                r#"{"index":0,"delta":{"role":"assistant","content":""}}"#,
                false,
                false,
            ),
            (r#"{"message":null,"finish_reason":null}"#, false, false),
            (
                r#"{"delta":{"content":"x"},"finish_reason":""}"#,
                true,
                false,
            ),
            (
                r#"{"message":{"content":null,"tool_calls":[{}]}}"#,
                true,
                false,
            ),
            (
                r#"{"message":{"content":null,"reasoning_content":"x"}}"#,
                true,
                false,
            ),
            (r#"{"message":{"content":"","images":[{}]}}"#, true, false),
            (r#"{"delta":{"of_tomorrow":7}}"#, true, false),
            (r#"{"delta":"x"}"#, true, false),
            (r#"{"message":[]}"#, false, false),
            (r#"{"text":"x"}"#, true, false),
            (r#"{"text":5,"finish_reason":"stop"}"#, true, true),
            (
                r#"{"message":{"content":null},"finish_reason":"content_filter"}"#,
                false,
                true,
            ),
        ] {
            let choice: Choice<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(
                (choice.has_content(), choice.is_finished()),
                (has_content, is_finished),
                "{text}"
            );
            assert_eq!(choice.failure(), None, "{text}");
        }
    }

    #[test]
    fn a_choice_can_be_an_error() {
        for text in [
            r#"{"finish_reason":"error","error":{"code":502}}"#,
            r#"{"error":{"code":502},"message":{"content":""}}"#,
        ] {
            let choice: Choice<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(
                choice.failure(),
                Some(json!({"error": {"code": 502}})),
                "{text}"
            );
        }
        let choice: Choice<'_> = serde_json::from_str(r#"{"finish_reason":"ERROR"}"#).unwrap();
        assert!(choice.failure().is_some());
    }
}
