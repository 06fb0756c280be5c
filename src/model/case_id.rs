//! The id of an approved test case, and how a test title carries it.

use serde::Serialize;
use std::fmt;

/// `CHECKOUT-ORDER-001`: two groups of upper-case letters and digits, then exactly three digits, joined by dashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CaseId(String);

impl CaseId {
    /// The id that `text` is, whole.
    pub fn parse(text: &str) -> Option<Self> {
        (id_length(text)? == text.len()).then(|| Self(text.to_owned()))
    }

    /// The id at the very start of a test title, ending at a word boundary: `CHECKOUT-ORDER-001: pays` has one,
    /// `CHECKOUT-ORDER-001_x` and `CHECKOUT-ORDER-0011` have none.
    pub fn at_start_of(title: &str) -> Option<Self> {
        let length = id_length(title)?;
        let next = title[length..].chars().next();
        let boundary = next.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_'));
        boundary.then(|| Self(title[..length].to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes of the id that `text` starts with; the digits are the first three of whatever follows the second dash.
fn id_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let group = |from: usize| {
        let length =
            bytes[from..].iter().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count();
        (length > 0 && bytes.get(from + length) == Some(&b'-')).then_some(from + length + 1)
    };
    let digits = group(group(0)?)?;
    let end = digits + 3;
    (bytes.len() >= end && bytes[digits..end].iter().all(u8::is_ascii_digit)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let id = |title| CaseId::at_start_of(title).map(|id| id.as_str().to_owned());
        for title in
            ["CHECKOUT-ORDER-001", "CHECKOUT-ORDER-001: x", "CHECKOUT-ORDER-001-b", "CHECKOUT-ORDER-001é"]
        {
            assert_eq!(id(title).as_deref(), Some("CHECKOUT-ORDER-001"), "{title}");
        }
        assert_eq!(id("A1-B2-123").as_deref(), Some("A1-B2-123"));
        for title in [
            "CHECKOUT-ORDER-001_x",
            "CHECKOUT-ORDER-001x",
            "CHECKOUT-ORDER-0012",
            "checkout-order-001",
            " CHECKOUT-ORDER-001",
            "[CHECKOUT-ORDER-001]",
            "A-B-C-001",
            "A--001",
            "",
            "-A-001",
            "A-B-01",
            "É-B-001",
        ] {
            assert_eq!(id(title), None, "{title}");
        }
    }

    #[test]
    fn whole() {
        assert!(CaseId::parse("A-B-001").is_some());
        assert!(CaseId::parse("A-B-001 ").is_none());
    }
}
