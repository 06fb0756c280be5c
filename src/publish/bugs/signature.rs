//! By what a failure is known again: its text without what differs from run to run.

use crate::model::{CaseId, Digest};

/// As much of the text as counts, in UTF-16 units as ledgers have always counted them.
const COUNTED: usize = 200;
/// Characters of the hash that are kept.
const KEPT: usize = 16;

/// The signature of a failure of a case: lower case, digits as `#`, blanks as one, hashed with the case's id.
pub fn signature(id: &CaseId, failure: &str) -> String {
    let mut text = String::new();
    let (mut in_digits, mut in_blanks) = (false, false);
    for c in failure.to_lowercase().chars() {
        // What ECMAScript takes as digits and blanks: a byte order mark is a blank there, a next-line character is none.
        let is_blank = (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}';
        let is_digit = c.is_ascii_digit();
        match (is_digit, is_blank) {
            (true, _) if !in_digits => text.push('#'),
            (_, true) if !in_blanks => text.push(' '),
            (false, false) => text.push(c),
            _ => {}
        }
        (in_digits, in_blanks) = (is_digit, is_blank);
    }
    let units: Vec<u16> = text.trim_matches(' ').encode_utf16().take(COUNTED).collect();
    Digest::of(format!("{id}\n{}", String::from_utf16_lossy(&units)).as_bytes()).short(KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_does_not_count() {
        let id = CaseId::parse("CHECKOUT-ORDER-001").unwrap();
        let known = "Error: order 4711 of jane.doe@client.test shows 12 EUR, wanted 10 EUR";
        assert_eq!(signature(&id, known), "0ddb826a7e7b0b5f");
        assert_eq!(signature(&id, &known.replace("4711", "9").replace(": ", ":\n\t ")), "0ddb826a7e7b0b5f");
        assert_eq!(signature(&id, &format!("  {} ", known.to_uppercase())), "0ddb826a7e7b0b5f");
        assert_ne!(signature(&id, "Error: another"), "0ddb826a7e7b0b5f");
        let other = CaseId::parse("CHECKOUT-ORDER-002").unwrap();
        assert_ne!(signature(&other, known), "0ddb826a7e7b0b5f");
        assert_eq!(
            signature(&id, &known.replace("order 4711", "order\u{feff}\u{a0}0")),
            "0ddb826a7e7b0b5f",
            "blanks as ECMAScript has them"
        );
        assert_ne!(signature(&id, &known.replace("order 4711", "order\u{85}0")), "0ddb826a7e7b0b5f");
        let long = "x".repeat(199) + "😀";
        assert_eq!(
            signature(&id, &long),
            signature(&id, &(long.clone() + "tail")),
            "what is cut in two does not panic"
        );
    }
}
