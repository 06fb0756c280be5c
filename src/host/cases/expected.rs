//! An expectation states something that a person, or an assertion, can observe.

use std::sync::LazyLock;

use regex::Regex;

use super::super::values::Faults;

/// Shorter than this says nothing.
const SHORTEST: usize = 10;

/// Elements and values that an assertion can hold on to.
const ANCHORS: &str = "button|link|field|input|dialog|modal|toast|banner|panel|section|form|row|column|table|list|badge|chip|icon|\
menu|tab|card|header|label|message|error|tooltip|checkbox|dropdown|url|route|title|heading|count|total|number|value|text|item|\
entry|summary";

/// Wordings that any outcome satisfies.
const VAGUE: &[&str] = &[
    r"\bwork(s|ing) (fine|correctly|properly|as expected)\b",
    r"\bas expected\b",
    r"\blooks? (ok|okay|fine|right|correct|good)\b",
    r"\bis (ok|okay|fine|correct)\b",
    r"\b(is|was|are|were) successful\b",
    r"\bsuccessfully\b",
    r"\bno (issue|error|problem)s?\b",
    r"\bbehaves? (properly|correctly)\b",
    r"\bdisplayed correctly\b",
];

/// Wordings about the network instead of the screen.
const WIRE: &[&str] = &[
    r"\bapi (call|request|response)s?\b",
    r"\bnetwork (request|response|call|activity|tab)s?\b",
    r"\bhttp (request|response|call|status)(e?s)?\b",
    r"\bpayloads?\b",
    r"\bendpoints?\b",
    r"\bxhr\b",
    r"\bstatus( code)?( of)? [1-5]\d\d\b",
    r"\b[1-5]xx\b",
    r"\b(waits? for|intercepts?|mocks?|stubs?) (the )?(request|response|fetch|call)s?\b",
    r"\b(request|response)s? ((is|was) )?(sent|returned|received|made)\b",
];

static ANCHOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r#"(?i)"[^"]+"|'[^']+'|“[^”]+”|‘[^’]+’|\d|\b({ANCHORS})s?\b"#)).ok()
});
static VAGUE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(VAGUE));
static WIRE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(WIRE));
static WORKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\bworks\b(\s+(out|with|like|around)\b)?").ok());

fn any_of(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&format!("(?i){}", patterns.join("|").replace(' ', r"\s+"))).ok()
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

pub(super) fn check(
    list: &[&str],
    at: &str,
    network_forbidden: bool,
    faults: &mut Faults,
    warnings: &mut Faults,
) {
    let mut survivors = 0;
    for (index, text) in list.iter().enumerate() {
        let place = format!("{at}.expected[{index}]");
        if !matches(&ANCHOR, text) {
            warnings.add(&place, "names no element, quoted text or number to hold on to");
        }
        if text.trim().chars().count() < SHORTEST || is_vague(text) {
            faults.add(&place, format!("{text:?} is vague: say what is seen, and where"));
        } else if network_forbidden && matches(&WIRE_WORDS, text) {
            faults.add(
                &place,
                format!("{text:?} speaks of the network, which the profile forbids: say what is seen"),
            );
        } else {
            survivors += 1;
        }
    }
    if survivors == 0 {
        faults.add(at, "has no expectation that can be asserted");
    }
}

fn is_vague(text: &str) -> bool {
    matches(&VAGUE_WORDS, text) || says_only_that_it_works(text)
}

/// `works` on its own, unless it goes on with out, with, like or around.
fn says_only_that_it_works(text: &str) -> bool {
    WORKS.as_ref().is_some_and(|works| works.captures_iter(text).any(|found| found.get(1).is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&ANCHOR, &VAGUE_WORDS, &WIRE_WORDS, &WORKS] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn vague() {
        for text in [
            "The cart panel works fine",
            "The list appears  as expected",
            "The header looks good",
            "The total is okay",
            "Both were successful",
            "Saved successfully",
            "shows no errors in the list",
            "The modal behaves properly",
            "The table is displayed correctly",
            "The Pay button works",
        ] {
            assert!(is_vague(text), "{text}");
        }
        for text in [
            "The button works with a saved card",
            "The total works out to 10",
            "The menu works around the banner",
            "A successful payment shows the receipt number",
            "The workspace tab is open",
            "The error message names the field",
        ] {
            assert!(!is_vague(text), "{text}");
        }
    }

    #[test]
    fn wire() {
        for text in [
            "The API call returns the list",
            "A network request carries it",
            "The HTTP status is shown",
            "The payload holds 7",
            "The list has status 200 in it",
            "A 5xx never reaches the table",
            "The test waits for the response of the list",
            "It mocks fetch of the table",
            "The request was sent by the form",
            "The response is received",
        ] {
            assert!(matches(&WIRE_WORDS, text), "{text}");
        }
        for text in [
            "The request form is open",
            "The response panel shows 3 rows",
            "They fetch the parcel",
            "status 2000 points",
        ] {
            assert!(!matches(&WIRE_WORDS, text), "{text}");
        }
    }

    #[test]
    fn anchors() {
        for text in ["Shows “Paid”", "It says 'Paid'", "3 of them", "Two rows", "The ERROR goes away"] {
            assert!(matches(&ANCHOR, text), "{text}");
        }
        for text in ["It is gone", "Everything is blue", "The rowing club"] {
            assert!(!matches(&ANCHOR, text), "{text}");
        }
    }
}
