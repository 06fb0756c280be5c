//! How long judging a request takes, from its head to the decision: `cargo bench --bench judge`.
//!
//! The median of many rounds, with 40 and with 200 signatures of which none, or one, is about the request.

use http::{HeaderMap, HeaderValue};
use qa_pilot::model::Policy;
use qa_pilot::policy::{Body, MutationConfig, Request, Rules, Situation, Standing};
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;
const REQUESTS: u32 = 500;

fn rules(signatures: usize) -> Option<Rules> {
    let one = |n: usize| json!({ "method": if n.is_multiple_of(2) { "POST" } else { "DELETE" }, "url": format!("^https://api{n}\\.shop\\.test/api/v[0-9]+/(orders|carts)/[0-9]+") });
    let list: Vec<Value> = (0..signatures).map(one).collect();
    let config = MutationConfig::parse(&json!({ "write_signatures": list })).ok()?;
    Some(Rules::new(Policy::read_only(), config))
}

fn judge(rules: &Rules, method: &str, origin: &str, target: &str, headers: &HeaderMap) {
    let situation = Situation { standing: Standing::Open, scopes: &[], page: None };
    let request = Request::new(black_box(method), origin, black_box(target), headers, false);
    let examination = rules.examine(request, headers, Body::Absent);
    black_box(examination.needs_body(&situation));
    black_box(examination.decide(&situation));
}

fn median(mut measure: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            (0..REQUESTS).for_each(|_| measure());
            began.elapsed() / REQUESTS
        })
        .collect();
    times.sort_unstable();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}

fn main() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("accept", "*/*"),
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)"),
        ("referer", "https://shop.test/orders"),
        ("cookie", "session=abcdef; theme=dark"),
        ("accept-encoding", "gzip, deflate, br, zstd"),
        ("sec-fetch-dest", "empty"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let mut out = std::io::stdout().lock();
    for signatures in [40, 200] {
        let Some(rules) = rules(signatures) else { continue };
        for (what, method, origin, target) in [
            ("a plain GET", "GET", "https://shop.test", "/static/app.3f2a1b.js?v=12"),
            (
                "a long query",
                "GET",
                "https://shop.test",
                "/api/search?q=a&page=2&filter=open&sort=asc&columns=id,name,total,state&locale=en-GB",
            ),
            (
                "an encoded path",
                "GET",
                "https://shop.test",
                "/files/a%20b/../c;v=1//d%2Fe?x=%7B%22a%22%3A1%7D",
            ),
            ("a listed write", "POST", "https://api2.shop.test", "/api/v1/orders/1234"),
        ] {
            let time = median(|| judge(&rules, method, origin, target, &headers));
            // A reader that went away is no fault.
            let _ = writeln!(out, "{signatures:>4} signatures, {what:<16} {time:>10.2?}");
        }
    }
}
