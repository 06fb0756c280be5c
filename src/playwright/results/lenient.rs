//! Field readers for what older reports leave out or write as null.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};

/// A value, or its default where the file says null.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Whether a field holds anything but null. What it holds is skipped without being kept: attachment bodies are large.
pub(super) fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Presence;

    impl<'de> Visitor<'de> for Presence {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }

        fn visit_none<E>(self) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_unit<E>(self) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
            IgnoredAny::deserialize(deserializer)?;
            Ok(true)
        }
    }

    deserializer.deserialize_option(Presence)
}
