//! The text of a failure: Playwright's own words, on one line, without colours, short.

use crate::playwright::results::Attempt;

/// The most that is kept, the mark of a cut included, in UTF-16 units as trackers count them.
const LONGEST: usize = 500;
const CUT: char = '…';

/// The words of the last attempt that has any. An attempt that passed has none, so that the failure of an earlier try is
/// found; an attempt whose message is empty has nothing to say either.
pub fn summary<'a>(attempts: impl DoubleEndedIterator<Item = &'a Attempt<'a>>) -> Option<String> {
    attempts.rev().filter_map(words).map(tidy).find(|text| !text.is_empty())
}

fn words<'a>(attempt: &'a Attempt<'a>) -> Option<&'a str> {
    let own = attempt.error.as_ref().and_then(|error| error.text());
    own.or_else(|| attempt.errors.first().and_then(|error| error.text()))
}

/// One line without colours: lines trimmed, blank ones dropped, the rest joined by a space and cut.
pub fn tidy(text: &str) -> String {
    let plain = strip_escapes(text);
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    cut(&lines.join(" "))
}

fn cut(text: &str) -> String {
    if text.chars().map(char::len_utf16).sum::<usize>() <= LONGEST {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut units = CUT.len_utf16();
    for c in text.chars() {
        units += c.len_utf16();
        if units > LONGEST {
            break;
        }
        kept.push(c);
    }
    kept.push(CUT);
    kept
}

/// The text without terminal control sequences (ECMA-48): CSI as for colours, OSC as for links, and lone escapes.
fn strip_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = after_escape(&rest[at + 1..]);
    }
    out.push_str(rest);
    out
}

/// What follows an escape sequence whose escape character has been taken.
fn after_escape(rest: &str) -> &str {
    if let Some(csi) = rest.strip_prefix('[') {
        // Parameters and intermediates, then one final character.
        let end = csi.find(|c: char| !matches!(c, ' '..='?')).unwrap_or(csi.len());
        let tail = &csi[end..];
        return tail.strip_prefix(|c: char| matches!(c, '@'..='~')).unwrap_or(tail);
    }
    if let Some(osc) = rest.strip_prefix(']') {
        // Up to a bell or to ESC \; one that never ends is taken for its mark alone.
        let bell = osc.find('\u{7}').map(|at| at + 1);
        let string_end = osc.find("\u{1b}\\").map(|at| at + 2);
        return match (bell, string_end) {
            (Some(a), Some(b)) => &osc[a.min(b)..],
            (Some(a), None) | (None, Some(a)) => &osc[a..],
            (None, None) => osc,
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playwright::results::TestError;

    fn attempt<'a>(message: Option<&'a str>, value: Option<&'a str>, first: Option<&'a str>) -> Attempt<'a> {
        let error = |message: Option<&'a str>, value: Option<&'a str>| TestError {
            message: message.map(Into::into),
            value: value.map(Into::into),
        };
        Attempt {
            error: (message.is_some() || value.is_some()).then(|| error(message, value)),
            errors: first.map(|first| error(Some(first), None)).into_iter().collect(),
            ..Attempt::default()
        }
    }

    #[test]
    fn the_last_attempt_with_words_speaks() {
        let attempts = [
            attempt(Some("first"), None, None),
            attempt(Some("second"), None, None),
            attempt(None, None, None),
        ];
        assert_eq!(summary(attempts.iter()).as_deref(), Some("second"));
        let attempts = [attempt(Some("first"), None, None), attempt(Some(""), None, Some("not this"))];
        assert_eq!(
            summary(attempts.iter()).as_deref(),
            Some("first"),
            "an empty message goes to an earlier attempt"
        );
        assert_eq!(
            summary([attempt(None, None, Some("of the list"))].iter()).as_deref(),
            Some("of the list")
        );
        assert_eq!(summary([attempt(None, Some("'thrown'"), None)].iter()).as_deref(), Some("'thrown'"));
        assert_eq!(summary([].iter()), None);
    }

    #[test]
    fn one_plain_line() {
        assert_eq!(tidy("\u{1b}[31mEx\u{1b}[39mpected\u{1b}[0m\n\n   received  \r\n"), "Expected received");
        assert_eq!(tidy("\u{1b}[?25la\u{1b}]8;;https://x\u{7}link\u{1b}]8;;\u{1b}\\ b\u{1b}"), "alink b");
        assert_eq!(tidy("\u{1b}]never ends"), "never ends");
    }

    #[test]
    fn a_cut_never_halves_a_character() {
        let long = "😀".repeat(400);
        let cut = tidy(&long);
        assert!(cut.ends_with(CUT) && cut.encode_utf16().count() <= LONGEST);
        assert_eq!(tidy(&"a".repeat(500)).len(), 500);
        assert_eq!(tidy(&"a".repeat(501)).encode_utf16().count(), 500);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[\u{1b}\u{7}\\[\\]0-9;a-z\n😀…\\\\]{0,600}") {
            let tidied = tidy(&text);
            proptest::prop_assert!(tidied.encode_utf16().count() <= LONGEST);
            let is_plain = !tidied.contains(['\u{1b}', '\n']);
            proptest::prop_assert!(is_plain);
        }
    }
}
