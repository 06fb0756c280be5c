//! Strings of results.json.
//!
//! A JSON string that is borrowed from the file where it holds no escapes.
//!
//! serde borrows for a bare `Cow` field only, not inside an `Option` or a `Vec`; results.json has most of its strings there.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A string of results.json.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path of results.json, and how it stands there.
#[derive(Clone, Debug, Default)]
pub struct PathText<'a> {
    text: Text<'a>,
    raw: &'a str,
}

impl<'a> PathText<'a> {
    /// The JSON string as it stands in the file, quotes included: whoever rewrites the file replaces this part of it.
    pub fn raw(&self) -> &'a str {
        self.raw
    }
}

impl Deref for PathText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Two paths are one when they read the same.
impl PartialEq for PathText<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A path that stands nowhere.
impl From<String> for PathText<'_> {
    fn from(text: String) -> Self {
        Self { text: text.into(), raw: "" }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PathText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        let text = serde_json::from_str(raw).map_err(|_| D::Error::custom("a path that is no string"))?;
        Ok(Self { text, raw })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Strings;

        impl<'de> Visitor<'de> for Strings {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Strings)
    }
}
