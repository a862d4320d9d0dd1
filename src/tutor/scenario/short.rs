//! Short forms: where the full form is an object, a plain text or number often says enough.
//!
//! It keeps the position in the file in error messages, which untagged enums would lose.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// A type that can be written in a short form. What is not overridden is not accepted.
pub(crate) trait Short: Sized {
    /// All the forms, for error messages.
    const FORMS: &'static str;

    /// From `"text"`.
    fn from_text(_text: &str) -> Option<Self> {
        None
    }

    /// From `12`.
    fn from_number(_number: u64) -> Option<Self> {
        None
    }

    /// From `true`.
    fn from_true() -> Option<Self> {
        None
    }

    /// From `[…]`.
    fn from_list<'de, A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &Self::FORMS))
    }
}

/// The full form of a type that has short ones. Made by [`short_form!`].
pub(crate) trait Full: Sized {
    /// Reads the object.
    fn full<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

/// Gives a type with `#[serde(remote = "Self")]` its `Deserialize`.
macro_rules! short_form {
    ($type:ty) => {
        impl $crate::tutor::scenario::short::Full for $type {
            fn full<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                // The inherent function that `remote` makes, not the trait's.
                <$type>::deserialize(from)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_any($crate::tutor::scenario::short::ShortVisitor::new())
            }
        }
    };
}
pub(crate) use short_form;

/// Tells the forms apart.
pub(crate) struct ShortVisitor<T>(PhantomData<T>);

impl<T> ShortVisitor<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Short + Full> Visitor<'de> for ShortVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(T::FORMS)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::from_number(number).ok_or_else(|| E::invalid_type(Unexpected::Unsigned(number), &self))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
        let made = if flag { T::from_true() } else { None };
        made.ok_or_else(|| E::invalid_type(Unexpected::Bool(flag), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::full(MapAccessDeserializer::new(map))
    }
}
