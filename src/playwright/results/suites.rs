//! Suites nest as deep as the author of a file likes; the stack does not.
//!
//! The first levels are parsed as they come. Below them a suite is kept as raw text (skipped over without recursion) and
//! parsed later from a list of our own, so that ten thousand levels cost time and no stack.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

use super::model::Spec;

/// Levels that are parsed in one go: serde_json refuses recursion past 128 values, a suite takes two, a spec's insides eight.
const LEVELS: usize = 24;

/// One suite: its own specs, then those nested in it.
#[derive(Default)]
struct Suite<'a> {
    specs: Vec<Spec<'a>>,
    nested: Vec<Nested<'a>>,
}

enum Nested<'a> {
    Parsed(Suite<'a>),
    Raw(&'a RawValue),
}

/// The suites of a whole file, not yet flattened.
#[derive(Default)]
pub(super) struct Suites<'a>(Vec<Nested<'a>>);

impl<'a> Suites<'a> {
    /// All specs, depth first: a suite's own before those of the suites in it.
    ///
    /// # Errors
    /// When a suite deep down has the wrong shape.
    pub(super) fn into_specs(self) -> Result<Vec<Spec<'a>>, serde_json::Error> {
        let mut specs = Vec::new();
        let mut open: Vec<Nested<'a>> = self.0;
        open.reverse();
        while let Some(next) = open.pop() {
            let suite = match next {
                Nested::Parsed(suite) => suite,
                Nested::Raw(raw) => {
                    let mut json = serde_json::Deserializer::from_str(raw.get());
                    SuiteSeed { level: 0 }.deserialize(&mut json)?
                }
            };
            specs.extend(suite.specs);
            open.extend(suite.nested.into_iter().rev());
        }
        Ok(specs)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Suites<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(NestedSeed { level: 0 }.deserialize(deserializer)?))
    }
}

/// Reads a list of suites (null counts as none).
struct NestedSeed {
    level: usize,
}

impl<'de> DeserializeSeed<'de> for NestedSeed {
    type Value = Vec<Nested<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NestedSeed {
    type Value = Vec<Nested<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of suites")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut suites = Vec::new();
        if self.level < LEVELS {
            while let Some(suite) = seq.next_element_seed(SuiteSeed { level: self.level })? {
                suites.push(Nested::Parsed(suite));
            }
        } else {
            while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                suites.push(Nested::Raw(raw));
            }
        }
        Ok(suites)
    }
}

/// Reads one suite whose nested suites stand one level deeper.
struct SuiteSeed {
    level: usize,
}

impl<'de> DeserializeSeed<'de> for SuiteSeed {
    type Value = Suite<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SuiteSeed {
    type Value = Suite<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a suite")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut specs = None;
        let mut nested = None;
        while let Some(key) = map.next_key::<super::Text<'de>>()? {
            match &*key {
                "specs" if specs.is_some() => return Err(A::Error::duplicate_field("specs")),
                "suites" if nested.is_some() => return Err(A::Error::duplicate_field("suites")),
                "specs" => specs = Some(map.next_value::<Option<Vec<Spec<'de>>>>()?.unwrap_or_default()),
                "suites" => nested = Some(map.next_value_seed(NestedSeed { level: self.level + 1 })?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Suite { specs: specs.unwrap_or_default(), nested: nested.unwrap_or_default() })
    }
}
