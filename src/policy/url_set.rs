//! Many URL patterns tried at once: those that run in linear time share one automaton, the others are tried one by one.

use crate::pattern::Pattern;
use regex::RegexSet;

/// Patterns, addressed by their place in the list they were made from.
#[derive(Debug)]
pub(super) struct UrlSet {
    patterns: Vec<Pattern>,
    set: RegexSet,
    /// Which pattern each member of `set` is.
    members: Vec<usize>,
    /// Patterns outside the set.
    others: Vec<usize>,
}

impl UrlSet {
    pub(super) fn new(patterns: Vec<Pattern>) -> Self {
        let (mut members, mut others) = (Vec::new(), Vec::new());
        for (index, pattern) in patterns.iter().enumerate() {
            if pattern.linear_source().is_some() { members.push(index) } else { others.push(index) }
        }
        let sources = patterns.iter().filter_map(Pattern::linear_source);
        let set = RegexSet::new(sources).unwrap_or_else(|_| {
            // Too large for one automaton; each is within its limits alone.
            others = (0..patterns.len()).collect();
            members.clear();
            RegexSet::empty()
        });
        Self { patterns, set, members, others }
    }

    /// Calls `found` with the place of each pattern that matches `text`.
    pub(super) fn matching(&self, text: &str, mut found: impl FnMut(usize)) {
        // The linear form means the same for text within the Basic Multilingual Plane only.
        if text.bytes().any(|byte| byte >= 0xf0) {
            let matching = self.patterns.iter().enumerate().filter(|(_, pattern)| pattern.is_match(text));
            return matching.for_each(|(index, _)| found(index));
        }
        if !self.members.is_empty() {
            for member in &self.set.matches(text) {
                if let Some(index) = self.members.get(member) {
                    found(*index);
                }
            }
        }
        for index in &self.others {
            if self.patterns.get(*index).is_some_and(|pattern| pattern.is_match(text)) {
                found(*index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_each_pattern_finds(text in "(https://a\\.test)?[/a-c;%.é😀]{0,12}") {
            let sources = ["/a", "^https://a\\.test/", "(?!x)b$", "(b)\\1", "[^/]c", "é", "^.$", "a|b;", "\\w{2}"];
            let patterns: Vec<_> = sources.iter().map(|source| Pattern::new(source).unwrap()).collect();
            let mut found = Vec::new();
            UrlSet::new(patterns.clone()).matching(&text, |index| found.push(index));
            found.sort_unstable();
            let want: Vec<_> = (0..patterns.len()).filter(|index| patterns[*index].is_match(&text)).collect();
            prop_assert_eq!(found, want);
        }
    }
}
