//! What values are written as.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, Unexpected, Visitor,
};
use serde::{Serialize, Serializer, forward_to_deserialize_any};

use super::duration;
use crate::contract::config::{Config, OpenWait, Overdue, SlowRule, Window};
use crate::contract::cusum::{Cusum, SlowScore};
use crate::contract::evidence::{Evidence, OperatorAction, Threshold, Trip};
use crate::contract::outcome::{Counts, Outcome, Sample};
use crate::contract::score::Score;
use crate::contract::snapshot::{Bucket, HeldScore, Interrupted, Scores};
use crate::contract::stages::Stages;
use crate::contract::state::{Cause, State};
use crate::contract::throttle::ThrottleConfig;

/// The form in which a `T` is written.
pub(super) trait Wire<T> {
    fn of(value: &T) -> Self;
    fn value(self) -> T;
}

/// These are written as they are.
macro_rules! plain {
    ($($type:ty),+) => {
        $(
            impl Wire<$type> for $type {
                fn of(value: &$type) -> Self {
                    value.clone()
                }

                fn value(self) -> $type {
                    self
                }
            }
        )+
    };
}

plain!(
    bool,
    u16,
    u32,
    usize,
    f64,
    Config,
    Window,
    Cusum,
    Score,
    SlowScore,
    HeldScore,
    Scores,
    SlowRule,
    ThrottleConfig,
    Stages,
    Overdue,
    Outcome,
    State,
    Cause,
    Counts,
    Evidence,
    Trip,
    OperatorAction,
    Threshold,
    Interrupted,
    Vec<Sample>,
    Vec<Bucket>
);

impl<T, W: Wire<T>> Wire<Option<T>> for Option<W> {
    fn of(value: &Option<T>) -> Self {
        value.as_ref().map(W::of)
    }

    fn value(self) -> Option<T> {
        self.map(W::value)
    }
}

impl Wire<Arc<str>> for String {
    fn of(value: &Arc<str>) -> Self {
        (&**value).into()
    }

    fn value(self) -> Arc<str> {
        self.into()
    }
}

/// A duration: text with units for people, seconds and nanoseconds for machines.
pub(super) struct Span(Duration);

impl Wire<Duration> for Span {
    fn of(value: &Duration) -> Self {
        Self(*value)
    }

    fn value(self) -> Duration {
        self.0
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.collect_str(&duration::Text(self.0))
        } else {
            self.0.serialize(to)
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration with its unit, such as \"30s\" or \"1m 30s\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
                duration::parse(text).map(Span).map_err(E::custom)
            }
        }

        if from.is_human_readable() {
            from.deserialize_str(Text)
        } else {
            Duration::deserialize(from).map(Span)
        }
    }
}

/// An option that is switched off by the text `none`, since not every format has a null, and
/// leaving a field out means its default.
pub(super) struct OrNone<W>(Option<W>);

impl<T, W: Wire<T>> Wire<Option<T>> for OrNone<W> {
    fn of(value: &Option<T>) -> Self {
        Self(value.as_ref().map(W::of))
    }

    fn value(self) -> Option<T> {
        self.0.map(W::value)
    }
}

impl<W: Serialize> Serialize for OrNone<W> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None if to.is_human_readable() => to.serialize_str("none"),
            Some(wire) if to.is_human_readable() => wire.serialize(to),
            option => option.serialize(to),
        }
    }
}

impl<'de, W: Deserialize<'de>> Deserialize<'de> for OrNone<W> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return Option::deserialize(from).map(Self);
        }
        from.deserialize_any(TextOr {
            read_text: |text| Ok((text == "none").then_some(Self(None))),
            wrap: |wire| Self(Some(wire)),
            no_number_but: None,
        })
    }
}

/// An open wait: its fields, or one duration for a fixed one.
pub(super) struct Wait(OpenWait);

impl Wire<OpenWait> for Wait {
    fn of(value: &OpenWait) -> Self {
        Self(*value)
    }

    fn value(self) -> OpenWait {
        self.0
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return OpenWait::deserialize(from).map(Self);
        }
        from.deserialize_any(TextOr {
            read_text: |text| {
                let wait = duration::parse(text)?;
                Ok(Some(Self(OpenWait::fixed(wait))))
            },
            wrap: Self,
            no_number_but: Some(
                "a duration with its unit, such as \"30s\", \
                 or a table such as { base = \"30s\", factor = 2.0, max = \"5m\" }",
            ),
        })
    }
}

/// Reads a `T`: from a text that is one, or else from a `W`.
struct TextOr<T, W> {
    read_text: fn(&str) -> Result<Option<T>, duration::Error>,
    wrap: fn(W) -> T,
    /// What may be written, if no number is a `W`.
    no_number_but: Option<&'static str>,
}

impl<T, W> TextOr<T, W> {
    fn number<'de, E: Error, N>(self, number: N, shown: Unexpected<'_>) -> Result<T, E>
    where
        N: IntoDeserializer<'de, E>,
        W: Deserialize<'de>,
    {
        match self.no_number_but {
            Some(expected) => Err(E::invalid_type(shown, &expected)),
            None => W::deserialize(number.into_deserializer()).map(self.wrap),
        }
    }
}

impl<'de, T, W: Deserialize<'de>> Visitor<'de> for TextOr<T, W> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.no_number_but.unwrap_or("a value or a text"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        match (self.read_text)(text).map_err(E::custom)? {
            Some(value) => Ok(value),
            None => W::deserialize(Text(text, PhantomData)).map(self.wrap),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        self.visit_str("none")
    }

    fn visit_none<E: Error>(self) -> Result<T, E> {
        self.visit_str("none")
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        W::deserialize(from).map(self.wrap)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        W::deserialize(value.into_deserializer()).map(self.wrap)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.number(value, Unexpected::Signed(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.number(value, Unexpected::Unsigned(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        self.number(value, Unexpected::Float(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        W::deserialize(MapAccessDeserializer::new(map)).map(self.wrap)
    }
}

/// A text, read as a number where one is asked for: the environment has nothing but texts.
struct Text<'a, E>(&'a str, PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for Text<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.0)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.0.trim().parse() {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => visitor.visit_str(self.0),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.0.trim().parse() {
            Ok(number) => visitor.visit_f64(number),
            Err(_) => visitor.visit_str(self.0),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
