//! JSON with every occurrence of each key, of which parsers keep the first or the last. Only the keys that GraphQL over HTTP and
//! WebSocket knows are kept, in any case, since some servers match keys so; the rest is passed over.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// How many values are kept.
const MAX_VALUES: usize = 20_000;

const KEPT: [&str; 11] = [
    "query",
    "operationName",
    "extensions",
    "persistedQuery",
    "sha256Hash",
    "documentId",
    "doc_id",
    "queryId",
    "payload",
    "type",
    "_method",
];

/// A value, as far as it is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::policy) enum Json {
    Null,
    Text(String),
    List(Vec<Json>),
    /// The kept keys, in the spelling of [`KEPT`], and their values.
    Map(Vec<(&'static str, Json)>),
    /// Numbers and truth values.
    Other,
}

/// Reads a text that is one JSON value.
///
/// # Errors
/// When it is none, nests deeper than 128 levels or holds too many values.
pub(in crate::policy) fn parse(text: &str) -> Result<Json, serde_json::Error> {
    let left = Cell::new(MAX_VALUES);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Value(&left).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

impl Json {
    /// Every value of `key` in a map.
    pub(in crate::policy) fn values_of(&self, key: &'static str) -> impl Iterator<Item = &Json> {
        let pairs = match self {
            Self::Map(pairs) => pairs.as_slice(),
            _ => &[],
        };
        pairs.iter().filter(move |(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Every text that `key` has in a map.
    pub(in crate::policy) fn texts_of(&self, key: &'static str) -> impl Iterator<Item = &str> {
        self.values_of(key).filter_map(|value| match value {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

struct Value<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Value(self.0))? {
            spend(self.0)?;
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            match KEPT.iter().find(|kept| kept.eq_ignore_ascii_case(&key)) {
                Some(kept) => {
                    spend(self.0)?;
                    pairs.push((*kept, entries.next_value_seed(Value(self.0))?));
                }
                None => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Json::Map(pairs))
    }
}

fn spend<E: serde::de::Error>(left: &Cell<usize>) -> Result<(), E> {
    match left.get().checked_sub(1) {
        Some(rest) => {
            left.set(rest);
            Ok(())
        }
        None => Err(E::custom("too many values")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_occurrence_of_a_key_is_kept() {
        let json =
            parse(r#"{"query":"a","x":{"query":"no"},"Query":"b","\u0071uery":null,"variables":[1,2]}"#)
                .unwrap();
        assert_eq!(json.texts_of("query").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(json.values_of("query").count(), 3);
        assert!(
            matches!(parse("[1, {}]"), Ok(Json::List(items)) if items == [Json::Other, Json::Map(vec![])])
        );
    }

    #[test]
    fn what_is_no_json_or_too_much_is_refused() {
        for text in ["", "{", "{} {}", "{'a':1}", "[1,]", r#""\ud800""#] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(10_000)).is_err());
        assert!(parse(&format!("[{}1]", "1,".repeat(MAX_VALUES))).is_err());
        assert!(
            parse(&format!("{{\"variables\":[{}1]}}", "1,".repeat(MAX_VALUES))).is_ok(),
            "it is passed over"
        );
    }

    proptest! {
        #[test]
        fn takes_what_serde_json_takes(text in "(\\{|\\}|\\[|\\]|,|:|\"query\"|\"a\"|1|null|true| |-|\\\\u0041){0,20}") {
            prop_assert_eq!(parse(&text).is_ok(), serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        }
    }
}
