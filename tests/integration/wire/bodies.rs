//! Bodies that decide: whatever they are coded in is undone to judge them, and what is forwarded stays as it was sent.

use super::client::Client;
use super::guard::{Start, events};
use super::origin::Origin;
use flate2::Compression;
use serde_json::{Value, json};
use std::io::Write;

const READ: &str = r#"{"query":"query { orders { id } }"}"#;
const WRITE: &str = r#"{"query":"mutation { pay(id: 1) { id } }"}"#;

fn signatures() -> Value {
    json!([{ "method": "POST", "url": "/graphql$", "body": "\"query\"\\s*:\\s*\"\\s*mutation" }])
}

fn encode(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let params = brotli::enc::BrotliEncoderParams { quality: 4, ..Default::default() };
            brotli::BrotliCompress(&mut &bytes[..], &mut out, &params).unwrap();
            out
        }
        _ => ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest),
    }
}

#[tokio::test]
async fn coded_bodies_are_judged_and_forwarded_as_they_were_sent() {
    let (clear, tls) = (Origin::clear().await, Origin::tls().await);
    let guard = Start::policy("read-only").signatures(signatures()).trusting(&tls.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let mut one = Client::clear(&attempt.proxy, &clear.authority()).await;
    let mut two = Client::two(&attempt.proxy, &tls.authority(), &ca).await;
    let url = format!("https://{}/graphql", tls.authority());
    let mut blocked = 0;
    for (stated, applied) in [
        ("gzip", &["gzip"][..]),
        ("X-GZIP", &["gzip"]),
        ("deflate", &["deflate"]),
        ("br", &["br"]),
        ("zstd", &["zstd"]),
        ("gzip, br", &["gzip", "br"]),
        ("gzip, gzip", &["gzip", "gzip"]),
    ] {
        let coded = |text: &str| {
            applied.iter().fold(text.as_bytes().to_vec(), |bytes, coding| encode(coding, &bytes))
        };
        let headers = [("content-encoding", stated)];
        for (client, target) in [(&mut one, "/graphql"), (&mut two, url.as_str())] {
            let passed = client.send("POST", target, &headers, &coded(READ)).await;
            assert_eq!(passed.status, 200, "{stated}");
            assert_eq!(passed.json()["body"], *String::from_utf8_lossy(&coded(READ)), "{stated}");
            assert_eq!(client.send("POST", target, &headers, &coded(WRITE)).await.status, 403, "{stated}");
            blocked += 1;
        }
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["blocked"], blocked);
    let reason = &record["events"][0]["reason"];
    assert!(!reason.as_str().unwrap().contains("cannot be judged"), "it was read: {reason}");
    for origin in [&clear, &tls] {
        assert_eq!(origin.lines(), ["POST /graphql"; 7]);
        assert_eq!(origin.seen()[1].headers["content-encoding"], "X-GZIP");
    }
}

#[tokio::test]
async fn what_cannot_be_decoded_counts_as_a_match_where_a_rule_could_apply() {
    let origin = Origin::clear().await;
    let mut start = Start::policy("read-only").signatures(signatures());
    start.arguments.extend(["--max-body".into(), "4000".into()]);
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let gzip = encode("gzip", READ.as_bytes());
    let bomb = encode("gzip", &vec![b' '; 100_000]);
    assert!(bomb.len() < 4000);
    let cases: [(&str, &[u8], &str); 6] = [
        ("gzip", READ.as_bytes(), "cannot be undone"),
        ("gzip", &gzip[..gzip.len() / 2], "cannot be undone"),
        ("gzip", &bomb, "gives more than 4000 bytes"),
        ("gzip, gzip", &encode("gzip", &bomb), "gives more than 4000 bytes"),
        ("compress", READ.as_bytes(), "is not known"),
        ("gzip, gzip, gzip, gzip, gzip", &gzip, "more than 4 content codings"),
    ];
    for (stated, bytes, _) in &cases {
        let headers = [("content-encoding", *stated)];
        assert_eq!(client.send("POST", "/graphql", &headers, bytes).await.status, 403, "{stated}");
        assert_eq!(client.send("POST", "/other", &headers, bytes).await.status, 200, "no rule needs it");
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record).len(), cases.len());
    for (event, (_, _, why)) in record["events"].as_array().unwrap().iter().zip(&cases) {
        let reason = event["reason"].as_str().unwrap();
        assert!(reason.contains("the body cannot be judged: ") && reason.contains(why), "{reason}");
    }
    assert_eq!(origin.lines(), ["POST /other"; 6]);
}

#[tokio::test]
async fn every_charset_that_a_server_may_read_is_judged() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").signatures(signatures()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let utf_32 =
        |text: &str| text.chars().flat_map(|char| u32::from(char).to_le_bytes()).collect::<Vec<u8>>();
    for (content_type, read, write) in [
        ("application/json; charset=utf-16", wide(READ), wide(WRITE)),
        ("application/json", wide(READ), wide(WRITE)),
        ("application/json", utf_32(READ), utf_32(WRITE)),
        ("application/json; charset=utf-16", READ.into(), WRITE.into()),
        ("application/json; charset=shift_jis", READ.into(), WRITE.into()),
    ] {
        let headers = [("content-type", content_type)];
        assert_eq!(client.send("POST", "/graphql", &headers, &read).await.status, 200, "{content_type}");
        assert_eq!(client.send("POST", "/graphql", &headers, &write).await.status, 403, "{content_type}");
    }
    let unknown = [("content-type", "application/json; charset=utf-7")];
    assert_eq!(client.send("POST", "/graphql", &unknown, READ.as_bytes()).await.status, 403);
    assert_eq!(guard.record_of(&attempt).await["blocked"], 6);
    assert_eq!(origin.lines(), ["POST /graphql"; 5]);
}

/// Method, target, headers, body and the status that answers them.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], Vec<u8>, u16);

#[tokio::test]
async fn graphql_operations_are_told_apart() {
    let origin = Origin::clear().await;
    let mut start = Start::policy("read-only");
    start.config = Some(json!({
        "write_signatures": [
            { "method": "POST", "url": "/graphql", "graphql": ["mutation", "unknown"] },
            { "method": "GET", "url": "/graphql", "graphql": ["mutation", "unknown"] },
            { "method": "POST", "url": "/strict" },
        ],
        "allow_signatures": [{ "method": "POST", "url": "/strict$", "graphql": ["query"] }],
    }));
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let json = [("content-type", "application/json")];
    let gzip = [json[0], ("content-encoding", "gzip")];
    let two = r#"{"query":"query A { a } mutation B { b }","operationName":"#;
    let upload = [("content-type", "multipart/form-data; boundary=x")];
    let part = |query: &str| {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{{\"query\":\"{query}\"}}\r\n--x--\r\n"
        )
    };
    let deep = format!(r#"{{"query":"{}"}}"#, "{a".repeat(100_000));
    let cases: [Case<'_>; 18] = [
        ("POST", "/graphql", &json, br#"{"query":"{ a(b: \"mutation { c }\") } # mutation"}"#.to_vec(), 200),
        ("POST", "/graphql", &json, WRITE.into(), 403),
        ("POST", "/graphql", &gzip, encode("gzip", READ.as_bytes()), 200),
        ("POST", "/graphql", &gzip, encode("gzip", WRITE.as_bytes()), 403),
        ("POST", "/graphql", &json, format!("[{READ},{READ}]").into(), 200),
        ("POST", "/graphql", &json, format!("[{READ},{WRITE}]").into(), 403),
        ("POST", "/graphql", &json, format!("{two}\"A\"}}").into(), 200),
        ("POST", "/graphql", &json, format!("{two}\"B\"}}").into(), 403),
        (
            "POST",
            "/graphql",
            &json,
            br#"{"extensions":{"persistedQuery":{"sha256Hash":"ab"}}}"#.to_vec(),
            403,
        ),
        ("POST", "/graphql", &json, deep.into(), 403),
        ("POST", "/graphql", &upload, part("{ a }").into(), 200),
        ("POST", "/graphql", &upload, part("mutation { a }").into(), 403),
        ("GET", "/graphql?query=%7Ba%7D", &[], Vec::new(), 200),
        ("GET", "/graphql?query=mutation%7Ba%7D", &[], Vec::new(), 403),
        ("GET", "/graphql?extensions=%7B%22persistedQuery%22%3A1%7D", &[], Vec::new(), 403),
        ("GET", "/graphql", &[], Vec::new(), 200),
        ("POST", "/strict", &json, READ.into(), 200),
        ("POST", "/strict", &json, WRITE.into(), 403),
    ];
    let mut blocked = 0;
    for (method, target, headers, body, status) in &cases {
        let shown = String::from_utf8_lossy(body.get(..body.len().min(80)).unwrap());
        assert_eq!(
            client.send(method, target, headers, body).await.status,
            *status,
            "{method} {target} {shown}"
        );
        blocked += u64::from(*status == 403);
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["blocked"], blocked);
    assert_eq!(record["events"][0]["reason"], "write signature 0: POST /graphql");
    let deep = record["events"][5]["reason"].as_str().unwrap();
    assert!(
        deep.contains("its GraphQL operations cannot be judged: the GraphQL document does not parse"),
        "{deep}"
    );
    assert_eq!(origin.lines().len() as u64, cases.len() as u64 - blocked);
}

#[tokio::test]
async fn every_way_to_claim_a_method_is_judged_through_codings_too() {
    let origin = Origin::tls().await;
    let signatures = json!([{ "method": "DELETE", "url": "/orders/\\d+$" }]);
    let guard = Start::policy("read-only").signatures(signatures).trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let mut client = Client::two(&attempt.proxy, &origin.authority(), &ca).await;
    let form = ("content-type", "application/x-www-form-urlencoded");
    let multipart = ("content-type", "multipart/form-data; boundary=x");
    let gzip = ("content-encoding", "gzip");
    let part = |method: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\n{method}\r\n--x--\r\n")
            .into_bytes()
    };
    let cases: [Case<'_>; 13] = [
        ("POST", "/orders/7", &[("x-http-method-override", "delete")], Vec::new(), 403),
        ("POST", "/orders/7", &[("x-http-method", "Delete")], Vec::new(), 403),
        ("GET", "/orders/7", &[("x-method-override", "put, DELETE")], Vec::new(), 403),
        ("POST", "/orders/7", &[("x-http-method-override", "put")], Vec::new(), 200),
        ("POST", "/orders/7?_method=delete", &[], Vec::new(), 200),
        ("POST", "/orders/7", &[form], b"a=1&_method=DELETE".to_vec(), 403),
        ("POST", "/orders/7", &[form], b"a=1&%5fmethod=del%65te".to_vec(), 403),
        ("POST", "/orders/7", &[form, gzip], encode("gzip", b"_method=delete"), 403),
        ("POST", "/orders/7", &[form, gzip], encode("gzip", b"_method=put"), 200),
        ("POST", "/orders/7", &[multipart], part("DELETE"), 403),
        ("POST", "/orders/7", &[multipart, gzip], encode("gzip", &part("DELETE")), 403),
        ("POST", "/orders/7", &[multipart, gzip], encode("gzip", &part("PUT")), 200),
        ("POST", "/orders/7", &[multipart], b"--x\r\nno end".to_vec(), 403),
    ];
    let host = origin.authority();
    let mut blocked = 0;
    for (method, target, headers, body, status) in &cases {
        let url = format!("https://{host}{target}");
        let answer = client.send(method, &url, headers, body).await;
        assert_eq!(answer.status, *status, "{method} {target} {headers:?}");
        blocked += u64::from(*status == 403);
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["blocked"], blocked);
    assert_eq!(record["events"][0]["effective_method"], "DELETE");
    assert_eq!(origin.lines().len() as u64, cases.len() as u64 - blocked);
}
