//! A suggested list as YAML for the profile, with comments for the person who edits it.

use super::one_line;
use crate::rules::{Channel, DENIED, Guess, Seen, Suggestion};
use std::fmt::Write;

/// The block to paste; comments alone when there is nothing to name.
pub fn suggestion(suggestion: &Suggestion) -> String {
    let Suggestion { channels, requests, more } = suggestion;
    let mut out = format!(
        "# A first list, from {} that no signature named. Each channel is denied as a whole; what is named as a read\n\
         # is allowed. Look at every line: a name proves nothing. Merge the lists into those that the profile has.\n",
        requests_of(*requests)
    );
    if *more > 0 {
        let _ = writeln!(out, "# {} more could not be kept and are not in it.", requests_of(*more));
    }
    if channels.is_empty() {
        return out;
    }
    out.push_str("mutation:\n  write_signatures:\n");
    for channel in channels {
        let count = channel.seen.iter().map(|seen| seen.count).sum();
        let _ = writeln!(out, "    # {}: {}", one_line(&channel.name), requests_of(count));
        for method in DENIED {
            let _ = writeln!(out, "    - {{ method: {method}, url: {} }}", quoted(&channel.pattern));
        }
    }
    let reads = |channel: &Channel| channel.seen.iter().any(|seen| seen.guess == Guess::Reads);
    out.push_str(if channels.iter().any(reads) {
        "  allow_signatures:\n"
    } else {
        "  allow_signatures: []\n"
    });
    for channel in channels {
        let _ = writeln!(out, "    # {}", one_line(&channel.name));
        channel.seen.iter().for_each(|seen| out.push_str(&line(seen)));
    }
    out
}

fn line(seen: &Seen) -> String {
    let entry = format!("- {{ method: {}, url: {} }}", seen.method, quoted(&seen.pattern));
    let what = one_line(&format!("{} {}", seen.method, seen.shown));
    match seen.guess {
        Guess::Reads => format!("    {entry}  # {} seen; reads, by its name\n", seen.count),
        Guess::Unknown => {
            format!("    # {}  # {} seen; allow it if it only reads\n", one_line(&entry), seen.count)
        }
        Guess::Writes => format!("    # {what}: {} seen; stays a write\n", seen.count),
    }
}

fn requests_of(count: u64) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

fn quoted(pattern: &str) -> String {
    format!("'{}'", pattern.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Policy;
    use crate::pattern::Pattern;
    use crate::policy::{MutationConfig, Rules};
    use crate::record::{Unclassified, UnclassifiedList, UnclassifiedRequest};
    use crate::rules::{Described, Verdict, from_lists, judge};
    use crate::yaml;
    use proptest::prelude::*;
    use std::path::Path;

    fn list(requests: &[(&str, &str)]) -> UnclassifiedList {
        let request = |(method, url): &(&str, &str)| UnclassifiedRequest {
            method: (*method).into(),
            url: (*url).into(),
            count: 2,
        };
        UnclassifiedList { version: 1, requests: requests.iter().map(request).collect(), more: 0 }
    }

    /// The rules of a profile that takes the suggestion as it is.
    fn taken(suggestion: &Suggestion) -> Rules {
        let text = super::suggestion(suggestion);
        let document =
            yaml::parse(Path::new("s.yaml"), &text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        Rules::new(Policy::read_only(), MutationConfig::parse(&document["mutation"]).unwrap())
    }

    fn verdict(rules: &Rules, method: &str, url: &str) -> Verdict {
        judge(rules, &Described::new(method, url).unwrap()).verdict
    }

    #[test]
    fn channels_are_denied_and_reads_allowed() {
        let suggestion = from_lists(&[list(&[
            ("POST", "https://api.shop.test/v1/orders/search"),
            ("POST", "https://api.shop.test/v1/orders/7/notes"),
            ("DELETE", "https://api.shop.test/v1/orders/7"),
            ("POST", "https://api.shop.test/graphql"),
        ])]);
        let rules = taken(&suggestion);
        for (method, url, want) in [
            ("POST", "https://api.shop.test/v1/orders/search?page=2", Verdict::Pass),
            ("POST", "https://api.shop.test/v1/orders/search/../7/notes", Verdict::Block),
            ("POST", "https://api.shop.test/v1/orders/search/7", Verdict::Block),
            ("POST", "https://api.shop.test/v1/orders/9/notes", Verdict::Block),
            ("PATCH", "https://api.shop.test/v1/never-seen", Verdict::Block),
            ("POST", "https://api.shop.test/graphql", Verdict::Block),
            ("POST", "https://api.shop.test/graphqlx", Verdict::Unclassified),
            ("GET", "https://api.shop.test/v1/orders/7", Verdict::Pass),
            ("POST", "https://apixshop.test/v1/orders/7", Verdict::Unclassified),
        ] {
            assert_eq!(verdict(&rules, method, url), want, "{method} {url}");
        }
    }

    #[test]
    fn a_person_can_read_it() {
        let mut list = list(&[
            ("POST", "https://a.test/v1/find?q"),
            ("POST", "https://a.test/v1/it's/x\u{7}"),
            ("PUT", "https://a.test/v1/7"),
        ]);
        list.more = 1;
        assert_eq!(
            super::suggestion(&from_lists(&[list])),
            "# A first list, from 6 requests that no signature named. Each channel is denied as a whole; what is named as a read
# is allowed. Look at every line: a name proves nothing. Merge the lists into those that the profile has.
# 1 request more could not be kept and are not in it.
mutation:
  write_signatures:
    # https://a.test/v1: 6 requests
    - { method: POST, url: '^https://a\\.test/v1(/|\\?|$)' }
    - { method: PUT, url: '^https://a\\.test/v1(/|\\?|$)' }
    - { method: PATCH, url: '^https://a\\.test/v1(/|\\?|$)' }
    - { method: DELETE, url: '^https://a\\.test/v1(/|\\?|$)' }
  allow_signatures:
    # https://a.test/v1
    # PUT /v1/*: 2 seen; stays a write
    - { method: POST, url: '^https://a\\.test/v1/find(\\?|$)' }  # 2 seen; reads, by its name
    # - { method: POST, url: '^https://a\\.test/v1/it''s/x (\\?|$)' }  # 2 seen; allow it if it only reads
"
        );
        assert!(!super::suggestion(&from_lists(&[])).contains("mutation"));
    }

    proptest! {
        #[test]
        fn what_was_seen_is_never_unclassified_again(
            urls in proptest::collection::vec(("(POST|PUT|PATCH|DELETE)", "https?://(a|b\\.c)(:81)?/(search|getX|x|7|é|'|#|\\*|%61|;|\\.\\.|/|\\$q|\\(1\\)|\\{x\\}|:runQuery|[ -~]){0,5}(\\?(a|action)=1)?"), 1..6),
        ) {
            let mut seen = Unclassified::default();
            // As the guard notes them: in the spelling of the wire.
            let sent: Vec<_> = urls.iter().map(|(method, url)| {
                let judged = judge(&Rules::new(Policy::read_only(), MutationConfig::default()), &Described::new(method, url).unwrap());
                seen.note(method, &judged.url);
                (method, judged.url)
            }).collect();
            let suggestion = from_lists(&[seen.list()]);
            let rules = taken(&suggestion);
            for (method, url) in sent {
                let allowed = suggestion.channels.iter().flat_map(|channel| &channel.seen).any(|seen| {
                    seen.guess == Guess::Reads && seen.method == *method && Pattern::new(&seen.pattern).unwrap().is_match(&url)
                });
                let want = if allowed { Verdict::Pass } else { Verdict::Block };
                prop_assert_eq!(verdict(&rules, method, &url), want, "{} {}", method, url);
            }
        }
    }
}
