//! JSON in which no key stands twice.
//!
//! Two readers of `{"blocked": 2, "blocked": 0}` may see two different numbers. What a run claims and records has one
//! reading, or is refused.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::files::{self, FileError};

/// Parses the bytes of the file at `path`.
///
/// # Errors
/// When they are no JSON, or a key stands twice; the message names the place.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Value, FileError> {
    files::parse_json::<Unique>(path, bytes).map(|unique| unique.0)
}

/// A JSON value without duplicate keys.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(value)) = seq.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} stands twice")));
            }
            let Unique(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_its_place() {
        let parse = |text: &str| parse(Path::new("f.json"), text.as_bytes());
        let error = parse(r#"{"a":[{"b":1,"b":1}]}"#).unwrap_err().to_string();
        assert!(error.starts_with("f.json: a[0]") && error.contains("\"b\" stands twice"), "{error}");
        assert!(parse(r#"{"a":{"b":1},"c":{"b":1}}"#).is_ok());
        assert!(parse(&"[".repeat(100_000)).is_err(), "nesting has an end");
    }

    proptest::proptest! {
        #[test]
        fn reads_what_serde_json_reads(text in r#"[\[\]{}"0-9a-c:,.\-eE \\un]{0,40}"#) {
            let plain = serde_json::from_str::<Value>(&text).ok();
            if let Ok(ours) = parse(Path::new("f"), text.as_bytes()) {
                proptest::prop_assert_eq!(Some(ours), plain);
            }
        }
    }
}
