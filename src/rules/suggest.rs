//! From the requests of a run that no signature named to a first list: each channel is denied as a whole, and what is named as a read
//! is allowed. A person edits it; what is not known to read stays denied.

use crate::files::{self, FileError};
use crate::record::{UNCLASSIFIED, UnclassifiedList, UnclassifiedRequest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The methods that a channel denies; a signature names one of them, or all and GET with them.
pub const DENIED: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];

/// An origin with more first segments than this is one channel.
const MAX_CHANNELS: usize = 8;

/// First words of names that read.
const READS: [&str; 16] = [
    "get", "list", "find", "search", "query", "count", "fetch", "read", "lookup", "describe", "filter",
    "msearch", "mget", "validate", "preview", "batch",
];

/// Words of names that write, wherever they stand.
const WRITES: [&str; 22] = [
    "create", "update", "delete", "remove", "insert", "modify", "save", "set", "add", "write", "reset",
    "clear", "drop", "purge", "mark", "pop", "send", "upsert", "put", "post", "and", "or",
];

/// A first list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// By origin and path.
    pub channels: Vec<Channel>,
    /// How many requests it is made from.
    pub requests: u64,
    /// How many the run saw besides and did not keep.
    pub more: u64,
}

/// An origin, or what lies below a first segment of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// For people.
    pub name: String,
    /// Matches every URL of it.
    pub pattern: String,
    /// What was seen there, by pattern and method.
    pub seen: Vec<Seen>,
}

/// Requests that one allow signature would name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The method on the wire.
    pub method: String,
    /// For people: the path, `*` for segments that look like ids, and the names in the query.
    pub shown: String,
    /// Matches its URL.
    pub pattern: String,
    /// How often it was sent.
    pub count: u64,
    /// What its name says.
    pub guess: Guess,
}

/// What the name of a request says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// A POST that is named as a read.
    Reads,
    /// A POST of which nothing is known.
    Unknown,
    /// By its method.
    Writes,
}

/// Why there is nothing to suggest from.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// No list in the directory.
    #[error(
        "{} has no {UNCLASSIFIED}: it is no run directory, or the guard did not end as it should; give the directory of a run that ended", .0.display()
    )]
    None(PathBuf),
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Makes the list from the run in `run_dir`, or from the shards that were merged into it.
///
/// # Errors
/// When the run left no list of unclassified requests, or it cannot be read.
pub fn suggest(run_dir: &Path) -> Result<Suggestion, SuggestError> {
    let mut lists = Vec::new();
    match UnclassifiedList::read(run_dir) {
        Ok(list) => lists.push(list),
        Err(FileError::Missing(_)) => {
            for number in 1.. {
                let shard = run_dir.join(format!("shard-{number}"));
                if !files::is_folder(&shard) {
                    break;
                }
                lists.push(UnclassifiedList::read(&shard).map_err(|error| missing(error, &shard))?);
            }
        }
        Err(error) => return Err(error.into()),
    }
    if lists.is_empty() {
        return Err(SuggestError::None(run_dir.to_owned()));
    }
    Ok(from_lists(&lists))
}

fn missing(error: FileError, run_dir: &Path) -> SuggestError {
    match error {
        FileError::Missing(_) => SuggestError::None(run_dir.to_owned()),
        other => other.into(),
    }
}

/// Makes the list from what runs saw.
pub fn from_lists(lists: &[UnclassifiedList]) -> Suggestion {
    let mut origins: BTreeMap<&str, Vec<(&str, &UnclassifiedRequest)>> = BTreeMap::new();
    let mut suggestion = Suggestion::default();
    for list in lists {
        suggestion.more += list.more;
        for request in &list.requests {
            let Some((origin, target)) = parted(&request.url) else {
                suggestion.more += request.count;
                continue;
            };
            suggestion.requests += request.count;
            origins.entry(origin).or_default().push((target, request));
        }
    }
    for (origin, requests) in origins {
        let mut by_segment: BTreeMap<Option<&str>, Vec<(&str, &UnclassifiedRequest)>> = BTreeMap::new();
        for (target, request) in requests {
            by_segment.entry(first_segment(target)).or_default().push((target, request));
        }
        if by_segment.contains_key(&None) || by_segment.len() > MAX_CHANNELS {
            let all = std::mem::take(&mut by_segment).into_values().flatten().collect();
            by_segment.insert(None, all);
        }
        suggestion.channels.extend(by_segment.iter().map(|(segment, seen)| channel(origin, *segment, seen)));
    }
    suggestion
}

fn channel(origin: &str, segment: Option<&str>, requests: &[(&str, &UnclassifiedRequest)]) -> Channel {
    let (name, pattern) = match segment {
        Some(segment) => {
            (format!("{origin}/{segment}"), format!("^{}/{}(/|\\?|$)", escaped(origin), escaped(segment)))
        }
        None => (format!("{origin}/"), format!("^{}/", escaped(origin))),
    };
    let mut seen: BTreeMap<(String, &str), Seen> = BTreeMap::new();
    for (target, request) in requests {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (shown, pattern) = path_pattern(path);
        let entry = seen.entry((pattern.clone(), &request.method)).or_insert_with(|| Seen {
            method: request.method.clone(),
            shown: if query.is_empty() { shown } else { format!("{shown}?{query}") },
            pattern: format!("^{}{pattern}(\\?|$)", escaped(origin)),
            count: 0,
            guess: guess(&request.method, path, query),
        });
        entry.count += request.count;
        // The same path with a query that may name a call is not known to read any more.
        if guess(&request.method, path, query) == Guess::Unknown {
            entry.guess = Guess::Unknown;
        }
    }
    Channel { name, pattern, seen: seen.into_values().collect() }
}

/// Origin and target of a URL.
fn parted(url: &str) -> Option<(&str, &str)> {
    let host = url.find("://")? + 3;
    let path = host + url.get(host..)?.find('/')?;
    Some(url.split_at(path))
}

/// The first segment of a path, where it can be the name of a channel.
fn first_segment(target: &str) -> Option<&str> {
    let path = target.split('?').next().unwrap_or(target);
    let segment = path.strip_prefix('/')?.split('/').next()?;
    (!segment.is_empty() && !is_id(segment) && !is_odd(segment)).then_some(segment)
}

/// A path that is read in other spellings as well, so that what names one of them need not name the others.
fn is_odd(path: &str) -> bool {
    path.contains(['%', ';', '\\'])
        || path.contains("//")
        || path.split('/').any(|part| part == "." || part == "..")
}

/// The path for people and as a pattern, with what looks like an id left open.
fn path_pattern(path: &str) -> (String, String) {
    let open = |segment: &str, text: &str, own: String| if is_id(segment) { text.to_owned() } else { own };
    let shown: Vec<String> = path.split('/').map(|segment| open(segment, "*", segment.to_owned())).collect();
    let pattern: Vec<String> =
        path.split('/').map(|segment| open(segment, "[^/?]+", escaped(segment))).collect();
    (shown.join("/"), pattern.join("/"))
}

/// Numbers, UUIDs, hashes and long tokens.
fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let hex = segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    digits > 0 && (digits == segment.len() || (hex && segment.len() >= 8) || segment.len() >= 20)
}

fn guess(method: &str, path: &str, query: &str) -> Guess {
    if method != "POST" {
        return Guess::Writes;
    }
    let names_a_call = query.split('&').any(|name| {
        let name = name.to_ascii_lowercase();
        ["action", "do", "cmd", "op", "operation", "method", "batch"].contains(&name.as_str())
            || name.contains('%')
    });
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = last.rsplit([':', '.']).next().unwrap_or(last);
    let words = words(name);
    let reads = words.first().is_some_and(|word| READS.contains(&word.as_str()))
        && !words.iter().any(|word| WRITES.contains(&word.as_str()))
        // `batch` alone says nothing; `batchGet` does.
        && (words[0] != "batch" || words.get(1).is_some_and(|word| READS.contains(&word.as_str())));
    if reads && !names_a_call && !is_odd(path) && !is_id(last) { Guess::Reads } else { Guess::Unknown }
}

/// The words of a name, in lower case, by what is no letter or digit and by capitals.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    for char in name.chars() {
        if !char.is_ascii_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || char.is_ascii_uppercase() {
            words.push(String::new());
        }
        fresh = false;
        if let Some(word) = words.last_mut() {
            word.push(char.to_ascii_lowercase());
        }
    }
    words
}

/// Text as a pattern that matches it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\^$.*+?()[]{}|".contains(char) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(requests: &[(&str, &str)]) -> UnclassifiedList {
        let request = |(method, url): &(&str, &str)| UnclassifiedRequest {
            method: (*method).into(),
            url: (*url).into(),
            count: 2,
        };
        UnclassifiedList { version: 1, requests: requests.iter().map(request).collect(), more: 0 }
    }

    #[test]
    fn channels_are_denied_and_reads_allowed() {
        let suggestion = from_lists(&[list(&[
            ("POST", "https://api.shop.test/v1/orders/search"),
            ("POST", "https://api.shop.test/v1/orders/7/notes"),
            ("POST", "https://api.shop.test/v1/orders/8/notes"),
            ("DELETE", "https://api.shop.test/v1/orders/7"),
            ("POST", "https://api.shop.test/graphql"),
            ("POST", "http://127.0.0.1:8080/7/x"),
        ])]);
        let names: Vec<_> = suggestion.channels.iter().map(|channel| channel.name.as_str()).collect();
        assert_eq!(
            names,
            ["http://127.0.0.1:8080/", "https://api.shop.test/graphql", "https://api.shop.test/v1"]
        );
        assert_eq!((suggestion.requests, suggestion.more), (12, 0));
        let notes =
            suggestion.channels[2].seen.iter().find(|seen| seen.shown == "/v1/orders/*/notes").unwrap();
        assert_eq!((notes.count, notes.guess), (4, Guess::Unknown));
    }

    #[test]
    fn names_that_read() {
        for (path, query, want) in [
            ("/orders/_search", "", Guess::Reads),
            ("/shop.v1.Orders/GetOrder", "", Guess::Reads),
            ("/documents:runQuery", "", Guess::Unknown),
            ("/documents:batchGet", "", Guess::Reads),
            ("/orders/search/", "page&size", Guess::Reads),
            ("/trpc/order.list", "batch", Guess::Unknown),
            ("/orders/batch", "", Guess::Unknown),
            ("/getOrCreate", "", Guess::Unknown),
            ("/get_and_delete", "", Guess::Unknown),
            ("/getaway", "", Guess::Unknown),
            ("/search", "action", Guess::Unknown),
            ("/search", "acti%6fn", Guess::Unknown),
            ("/s%65arch", "", Guess::Unknown),
            ("/search;x", "", Guess::Unknown),
            ("/", "", Guess::Unknown),
        ] {
            assert_eq!(guess("POST", path, query), want, "{path}?{query}");
        }
        assert_eq!(guess("DELETE", "/search", ""), Guess::Writes);
    }

    #[test]
    fn the_same_path_in_two_ways_is_not_known_to_read() {
        for order in [["/x/search?q", "/x/search?action"], ["/x/search?action", "/x/search?q"]] {
            let urls = order.map(|target| format!("https://a.test{target}"));
            let suggestion = from_lists(&[list(&[("POST", &urls[0]), ("POST", &urls[1])])]);
            assert_eq!(suggestion.channels[0].seen.len(), 1);
            assert_eq!(suggestion.channels[0].seen[0].guess, Guess::Unknown, "{order:?}");
        }
    }

    #[test]
    fn many_first_segments_are_one_channel() {
        let urls: Vec<String> = ('a'..='j').map(|char| format!("https://a.test/{char}")).collect();
        let requests: Vec<_> = urls.iter().map(|url| ("POST", url.as_str())).collect();
        let suggestion = from_lists(&[list(&requests)]);
        assert_eq!(suggestion.channels.len(), 1);
        assert_eq!(suggestion.channels[0].pattern, "^https://a\\.test/");
        assert_eq!(from_lists(&[list(&[("POST", "?")])]).more, 2, "what is no URL is left out, and counted");
    }

    #[test]
    fn runs_and_merged_shards() {
        let folder = tempfile::tempdir().unwrap();
        let none = suggest(folder.path()).unwrap_err().to_string();
        assert!(none.contains("has no unclassified.json: it is no run directory"), "{none}");
        for shard in ["shard-1", "shard-2"] {
            list(&[("POST", "https://a.test/x/y")]).write(&folder.path().join(shard)).unwrap();
        }
        assert_eq!(suggest(folder.path()).unwrap().channels[0].seen[0].count, 4);
        files::create_folder(&folder.path().join("shard-3")).unwrap();
        assert!(suggest(folder.path()).unwrap_err().to_string().contains("shard-3 has no unclassified.json"));
        files::write_atomic(&folder.path().join(UNCLASSIFIED), b"[]").unwrap();
        assert!(matches!(suggest(folder.path()), Err(SuggestError::File(FileError::Json { .. }))));
    }
}
