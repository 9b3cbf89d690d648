//! How a struct is read and written as a record of named fields, and an enum as a name.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Implements `Serialize` and `Deserialize` for a struct. Each field has the type it is
/// written as (a [`Wire`](super::wire::Wire) of its own type) and, if it may be left out, what
/// it is then. A field that is not listed does not compile.
///
/// A field that is not known is refused, for it may be misspelt. With `[grows]` it is passed over: a later
/// release may have written it. With `, version 1` there is that number too, before all fields.
/// With `, like "…"` errors show this example.
macro_rules! record {
    (
        $type:ident $([$grows:ident])? $(, version $version:literal)? $(, like $example:literal)?
        { $($field:ident: $wire:ty $(= $absent:expr)?,)+ }
    ) => {
        const _: () = {
            const NAME: &str = stringify!($type);
            const FIELDS: &[&str] = &[$(record!(@version $version),)? $(stringify!($field)),+];

            impl serde::Serialize for $type {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeStruct as _;
                    let $type { $($field),+ } = self;
                    let mut record = to.serialize_struct(NAME, FIELDS.len())?;
                    $(
                        let version: u32 = $version;
                        record.serialize_field(record!(@version $version), &version)?;
                    )?
                    $(
                        let wire: $wire = $crate::adapters::serde::wire::Wire::of($field);
                        record.serialize_field(stringify!($field), &wire)?;
                    )+
                    record.end()
                }
            }

            impl<'de> serde::Deserialize<'de> for $type {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    from.deserialize_struct(NAME, FIELDS, Record)
                }
            }

            struct Record;

            impl<'de> serde::de::Visitor<'de> for Record {
                type Value = $type;

                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    $(return f.write_str(concat!("a table such as ", $example));)?
                    #[allow(unreachable_code, reason = "there may be no example")]
                    {
                        write!(f, "a table of the fields of a {NAME}")
                    }
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<$type, A::Error> {
                    $(let mut $field: Option<$wire> = None;)+
                    while let Some($crate::adapters::serde::record::Key(key)) = map.next_key()? {
                        match key.as_str() {
                            $(
                                stringify!($field) => $crate::adapters::serde::record::read_value(
                                    &mut map,
                                    stringify!($field),
                                    &mut $field,
                                )?,
                            )+
                            $(
                                record!(@version $version) => {
                                    $crate::adapters::serde::record::check(
                                        NAME,
                                        map.next_value()?,
                                        $version,
                                    )?;
                                }
                            )?
                            _ => record!(@unknown $($grows)? map A key FIELDS),
                        }
                    }
                    Ok($type {
                        $(
                            $field: match $field {
                                Some(wire) => $crate::adapters::serde::wire::Wire::value(wire),
                                None => record!(@absent A $field $(, $absent)?),
                            },
                        )+
                    })
                }

                fn visit_seq<A: serde::de::SeqAccess<'de>>(
                    self,
                    mut seq: A,
                ) -> Result<$type, A::Error> {
                    $(
                        let version = $crate::adapters::serde::record::read_next(
                            &mut seq,
                            record!(@version $version),
                        )?;
                        $crate::adapters::serde::record::check(NAME, version, $version)?;
                    )?
                    Ok($type {
                        $(
                            $field: $crate::adapters::serde::wire::Wire::<_>::value(
                                $crate::adapters::serde::record::read_next::<$wire, A>(
                                    &mut seq,
                                    stringify!($field),
                                )?,
                            ),
                        )+
                    })
                }
            }
        };
    };
    (@absent $access:ident $field:ident) => {
        return Err(<$access::Error as serde::de::Error>::missing_field(stringify!($field)))
    };
    (@absent $access:ident $field:ident, $absent:expr) => { $absent };
    (@unknown grows $map:ident $access:ident $key:ident $fields:ident) => {{
        $map.next_value::<serde::de::IgnoredAny>()?;
    }};
    (@unknown $map:ident $access:ident $key:ident $fields:ident) => {
        return Err(<$access::Error as serde::de::Error>::unknown_field(&$key, $fields))
    };
    (@version $version:literal) => { "version" };
}

/// Implements `Serialize` and `Deserialize` for an enum without data: each variant is its name.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal,)+ }) => {
        const _: () = {
            const NAMES: &[&str] = &[$($name),+];
            const VALUES: &[$type] = &[$($type::$variant),+];

            impl serde::Serialize for $type {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    let name = match self {
                        $(Self::$variant => $name,)+
                    };
                    let index = NAMES.iter().take_while(|other| **other != name).count();
                    to.serialize_unit_variant(stringify!($type), index as u32, name)
                }
            }

            impl<'de> serde::Deserialize<'de> for $type {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    from.deserialize_enum(stringify!($type), NAMES, Named)
                }
            }

            struct Named;

            impl<'de> serde::de::Visitor<'de> for Named {
                type Value = $type;

                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    write!(f, "one of {NAMES:?}")
                }

                fn visit_enum<A: serde::de::EnumAccess<'de>>(
                    self,
                    of: A,
                ) -> Result<$type, A::Error> {
                    use serde::de::VariantAccess as _;
                    let (index, variant) =
                        of.variant_seed($crate::adapters::serde::record::Names(NAMES))?;
                    variant.unit_variant()?;
                    Ok(VALUES[index])
                }
            }
        };
    };
}

/// Refuses what a later release says must not be read by one that knows only `known`.
pub(super) fn check<E: Error>(name: &str, version: u32, known: u32) -> Result<(), E> {
    if version <= known {
        return Ok(());
    }
    Err(E::custom(format_args!(
        "version: {version} is not legal: this release reads a {name} of version {known} at most; \
         let the release read it that wrote it, or do without it",
    )))
}

/// Reads a field's value; an error names the field.
pub(super) fn read_value<'de, W: Deserialize<'de>, A: MapAccess<'de>>(
    map: &mut A,
    field: &'static str,
    value: &mut Option<W>,
) -> Result<(), A::Error> {
    if value.is_some() {
        return Err(A::Error::duplicate_field(field));
    }
    *value = Some(map.next_value().map_err(|error| named(field, &error))?);
    Ok(())
}

/// Reads the next value of a format that keeps no names; an error names the field.
pub(super) fn read_next<'de, W: Deserialize<'de>, A: SeqAccess<'de>>(
    seq: &mut A,
    field: &'static str,
) -> Result<W, A::Error> {
    seq.next_element()
        .map_err(|error| named(field, &error))?
        .ok_or_else(|| A::Error::missing_field(field))
}

fn named<E: Error>(field: &str, error: &E) -> E {
    E::custom(format_args!("{field}: {error}"))
}

/// The name of a field.
pub(super) struct Key(pub(super) String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
                Ok(Key(name.to_owned()))
            }
        }

        from.deserialize_identifier(Text)
    }
}

/// Reads a variant, by its name or its number, as its place in this list.
pub(super) struct Names(pub(super) &'static [&'static str]);

impl<'de> serde::de::DeserializeSeed<'de> for Names {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Names {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {:?}", self.0)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let index = self.0.iter().position(|known| *known == name);
        index.ok_or_else(|| E::unknown_variant(name, self.0))
    }

    fn visit_u64<E: Error>(self, index: u64) -> Result<usize, E> {
        let known = usize::try_from(index)
            .ok()
            .filter(|&index| index < self.0.len());
        known.ok_or_else(|| E::custom(format_args!("{index} is not the number of a variant")))
    }
}
