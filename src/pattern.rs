//! ECMAScript patterns: a pattern in a profile means what `new RegExp(pattern)`, without flags, means.
//!
//! The linear-time `regex` crate runs it where both mean the same; look-around, backreferences and the odd corners run on
//! `regress`, an ECMAScript engine. Without the `u` flag ECMAScript sees UTF-16 units, so that a character beyond the Basic
//! Multilingual Plane counts as two.

mod translate;

use std::fmt;

/// The longest pattern in bytes. Both engines take time and stack that grow faster than the pattern.
const LONGEST: usize = 4 << 10;

/// A compiled pattern.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    /// The same pattern for the `regex` crate, where there is one.
    linear: Option<regex::Regex>,
    exact: regress::Regex,
}

/// A pattern that does not compile.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{pattern:?} is no ECMAScript pattern: {message}")]
pub struct PatternError {
    pattern: String,
    message: String,
}

impl Pattern {
    /// Compiles `source`.
    ///
    /// # Errors
    /// When ECMAScript would refuse it, or it is longer than any that people write.
    pub fn new(source: &str) -> Result<Self, PatternError> {
        if source.len() > LONGEST {
            let pattern = source.chars().take(40).collect::<String>() + "…";
            let message = format!("it is longer than {LONGEST} bytes, the most that is compiled");
            return Err(PatternError { pattern, message });
        }
        let exact = regress::Regex::new(source)
            .map_err(|error| PatternError { pattern: source.to_owned(), message: error.to_string() })?;
        let linear = translate::to_linear(source).and_then(|text| regex::Regex::new(&text).ok());
        Ok(Self { source: source.to_owned(), linear, exact })
    }

    /// Whether the pattern matches anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        match (&self.linear, beyond_bmp(text)) {
            (Some(linear), false) => linear.is_match(text),
            (Some(linear), true) => linear.is_match(&in_units(text)),
            (None, false) => self.exact.find(text).is_some(),
            (None, true) => {
                let units: Vec<u16> = text.encode_utf16().collect();
                self.exact.find_from_ucs2(&units, 0).next().is_some()
            }
        }
    }

    /// What the first capture group matched, when the pattern matches and the group took part.
    pub fn first_group(&self, text: &str) -> Option<String> {
        let found = self.exact.find(text)?;
        found.group(1).map(|range| text[range].to_owned())
    }

    /// Whether the pattern has a capture group.
    pub fn has_group(&self) -> bool {
        translate::capture_groups(&self.source) > 0
    }

    /// The pattern as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The pattern in the syntax of the `regex` crate, where it means the same for text within the BMP: for sets that
    /// try many patterns at once.
    pub fn linear_source(&self) -> Option<&str> {
        self.linear.as_ref().map(regex::Regex::as_str)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

/// `text` with each character beyond the BMP as two that a translated pattern treats as it treats surrogates.
fn in_units(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c > '\u{ffff}' {
            out.extend([translate::SURROGATE; 2]);
        } else {
            out.push(c);
        }
    }
    out
}

fn beyond_bmp(text: &str) -> bool {
    // Such characters are exactly those whose UTF-8 starts with 0xF0 or more.
    !text.is_ascii() && text.bytes().any(|byte| byte >= 0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().is_match(text)
    }

    #[test]
    fn a_pattern_without_end_is_refused_and_the_longest_fits_the_stack() {
        for part in ["a|", "(a)|", "[^a]?", "a*?", "\\b"] {
            let longest = part.repeat(LONGEST / part.len());
            assert!(Pattern::new(&longest).is_ok(), "{part}");
            let error = Pattern::new(&(longest + part)).unwrap_err().to_string();
            assert!(error.len() < 200 && error.contains("longer than 4096 bytes"), "{error}");
        }
        assert!(Pattern::new(&"(".repeat(LONGEST)).is_err());
    }

    #[test]
    fn means_what_ecmascript_means() {
        assert!(!matches(r"^\d$", "٣"), "digits are ASCII");
        assert!(!matches(r"^\w$", "é"));
        assert!(matches(r"^\s$", "\u{feff}"));
        assert!(!matches(r"^\s$", "\u{85}"));
        assert!(!matches("^a.b$", "a\u{2028}b"));
        assert!(matches("^a.b$", "a\u{85}b"));
        assert!(!matches("a$", "a\n"));
        assert!(matches(r"é\b", "éa"), "a word boundary is ASCII");
        assert!(matches(r"^(?!.*/_search$)/orders", "/orders/1"));
        assert!(!matches(r"^(?!.*/_search$)/orders", "/orders/_search"));
        assert!(matches(r"(a)\1", "aa"));
        assert!(matches(r"a\/b\-c", "a/b-c"));
        assert!(matches("[^]", "\n"));
        assert!(!matches("[]", "a"));
        assert!(matches("^..$", "😀"), "two UTF-16 units");
        assert!(!matches("^.$", "😀"));
        assert!(matches("[[&&b]", "["));
        assert!(matches("{", "{"), "a lone brace is itself");
        assert!(matches(r"\p", "p"));
        assert!(matches("(?<n>x)", "x"));
    }

    #[test]
    fn usual_patterns_run_in_linear_time() {
        for source in [
            r"^https://api\.shop\.test/orders(/\d+)?(\?|$)",
            r#""query"\s*:\s*"\s*mutation\b"#,
            "/graphql$",
            "[a-zA-Z0-9_.-]+",
            r"(?:a|b){2,3}?",
            r"[^/?#]*",
            r"\x41\u0042",
        ] {
            assert!(Pattern::new(source).unwrap().linear_source().is_some(), "{source}");
        }
        for source in ["(?=a)", r"(a)\1", r"\B", "[]", "a{,2}", "(?i:a)"] {
            assert!(Pattern::new(source).is_ok_and(|p| p.linear_source().is_none()), "{source}");
        }
    }

    #[test]
    fn refusals() {
        for source in ["(", "[", "a**", "(?<n", r"\", "*", "(?<!", "a{2,1}"] {
            assert!(Pattern::new(source).is_err(), "{source}");
        }
    }

    #[test]
    fn groups() {
        let pattern = Pattern::new(r"build-(\w+)").unwrap();
        assert!(pattern.has_group());
        assert_eq!(pattern.first_group("x build-ab12 y").as_deref(), Some("ab12"));
        for (source, has) in [
            ("(?:a)", false),
            (r"\(a", false),
            ("[(]", false),
            ("(?<n>a)", true),
            ("(?=a)", false),
            ("(?<=a)b", false),
        ] {
            assert_eq!(Pattern::new(source).unwrap().has_group(), has, "{source}");
        }
    }

    /// Small patterns over a small alphabet, so that matches are common.
    fn a_pattern() -> impl Strategy<Value = String> {
        let atom = prop::sample::select(vec![
            "a", "b", ".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\b", "^", "$", "[ab]", "[^a]",
            r"[\d-]", r"[\w]", r"\.", "é", "-", "/", r"\n", "[a-c]",
        ])
        .prop_map(str::to_owned);
        atom.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                inner.clone().prop_map(|a| format!("(?:{a})*")),
                inner.clone().prop_map(|a| format!("(?:{a})+?")),
                inner.clone().prop_map(|a| format!("({a})?")),
                inner.prop_map(|a| format!("(?:{a}){{1,2}}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn both_engines_agree(source in a_pattern(), text in r"[ab1_é./\-\n \u{2028}\u{feff}]{0,8}") {
            let pattern = Pattern::new(&source).unwrap();
            if let Some(linear) = &pattern.linear {
                prop_assert_eq!(linear.is_match(&text), pattern.exact.find(&text).is_some(), "{} on {:?}", source, text);
            }
        }

        #[test]
        fn characters_beyond_the_bmp_are_two_units(source in a_pattern(), text in r"[ab1_ 😀\u{e000}\n]{0,6}") {
            let pattern = Pattern::new(&source).unwrap();
            let units: Vec<u16> = text.encode_utf16().collect();
            let exact = pattern.exact.find_from_ucs2(&units, 0).next().is_some();
            prop_assert_eq!(pattern.is_match(&text), exact, "{} on {:?}", source, text);
        }

        #[test]
        fn never_panics(source in r"[\\\[\](){}?*+^$|.,:=!<>a-c0-9ux😀-]{0,14}", text in ".{0,12}") {
            if let Ok(pattern) = Pattern::new(&source) {
                pattern.is_match(&text);
                pattern.has_group();
                pattern.first_group(&text);
            }
        }
    }
}
