//! One described request, judged as the proxy judges what arrives: the same rules, and a body only where a rule asks for it.

use super::described::{Described, Payload};
use crate::policy::{
    Body, Decision, Explanation, Message, Request, Rules, Scope, SignatureMethod, Situation, Standing,
};
use crate::proxy::MAX_BODY;
use http::{HeaderMap, Method, header};
use serde::Serialize;

/// What the guard does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A write, refused.
    Block,
    /// A write, let through and recorded.
    Observe,
    /// Answered by the guard, not sent.
    Drop,
    /// Let through, although the method usually writes: no signature spoke.
    Unclassified,
    /// A read, or cleared by an allow signature.
    Pass,
}

/// How one request was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The method on the wire.
    pub method: String,
    /// As a browser would report it.
    pub url: String,
    /// What is done.
    pub verdict: Verdict,
    /// The signature or the fault that made it a write.
    pub reason: Option<String>,
    /// The claimed method that made it one, when that is not the wire method.
    pub effective_method: Option<String>,
    /// What is known of the scope of a write under scoped-write: `url`, `prefix` or `unproven`.
    pub in_scope: Option<&'static str>,
    /// Where the write signature that fired stands.
    pub fired: Option<String>,
    /// Where the allow signature that holds stands.
    pub cleared: Option<String>,
    /// Where the drop signature that holds stands.
    pub dropped: Option<String>,
}

impl Verdict {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::Block, Self::Observe, Self::Drop, Self::Unclassified, Self::Pass];

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Observe => "observe",
            Self::Drop => "drop",
            Self::Unclassified => "unclassified",
            Self::Pass => "pass",
        }
    }
}

/// The method of a client message, in signatures and here.
const MESSAGE: &str = SignatureMethod::WebSocket.as_str();

/// Judges `request`. It belongs to an open record, and the page that sent it is the one that `Referer` names.
pub fn judge(rules: &Rules, request: &Described) -> Judgement {
    let Described { method, origin, target, headers, payload, web_socket } = request;
    let origin = origin.to_string();
    if *web_socket && method.as_str() == MESSAGE {
        return message(rules, &origin, request);
    }
    let has_body = *payload != Payload::Absent;
    let described = if is_web_socket(request) {
        Request::web_socket(&origin, target, headers)
    } else {
        Request::new(method.as_str(), &origin, target, headers, has_body)
    };
    let unread = if has_body { Body::Unread } else { Body::Absent };
    let mut examination = rules.examine(described, headers, unread);
    let situation = situation(headers);
    if examination.needs_body(&situation) {
        examination.give_body(body(payload, headers));
    }
    let explanation = examination.explain();
    let url = examination.request().url().to_owned();
    let decision = examination.decide(&situation);
    told(rules, method, url, explanation, Some(decision))
}

/// Judges a client message of a WebSocket that was opened by a handshake with the same URL and headers.
fn message(rules: &Rules, origin: &str, request: &Described) -> Judgement {
    let Described { method, target, headers, payload, .. } = request;
    let handshake = Request::web_socket(origin, target, headers);
    let url = handshake.url().to_owned();
    let messages = rules.examine(handshake, headers, Body::Absent).messages();
    let sent = match payload {
        Payload::Absent => Message::Text(b""),
        Payload::Bytes(bytes) if bytes.len() > MAX_BODY => {
            Message::Unjudgeable("it is longer than can be held")
        }
        Payload::Bytes(bytes) => Message::Text(bytes),
        Payload::Unknown(why) => Message::Unjudgeable(why),
    };
    let decision = messages.map(|messages| messages.decide(&sent, &situation(headers)));
    told(rules, method, url, Explanation::default(), decision)
}

fn situation(headers: &HeaderMap) -> Situation<'_> {
    let page = headers.get(header::REFERER).and_then(|page| page.to_str().ok());
    Situation { standing: Standing::Open, scopes: &[], page }
}

fn body(payload: &Payload, headers: &HeaderMap) -> Body {
    match payload {
        Payload::Absent => Body::Absent,
        Payload::Bytes(bytes) if bytes.len() > MAX_BODY => {
            Body::Unjudgeable(format!("it is longer than {MAX_BODY} bytes"))
        }
        Payload::Bytes(bytes) => Body::read(headers, bytes, MAX_BODY),
        Payload::Unknown(why) => Body::Unjudgeable(why.clone()),
    }
}

/// `decision` is absent where no signature speaks about what was sent, so that it passes.
fn told(
    rules: &Rules,
    method: &Method,
    url: String,
    explanation: Explanation,
    decision: Option<Decision>,
) -> Judgement {
    let place = |key: &str, index: Option<usize>| index.map(|index| rules.config().place(key, index));
    let mut judgement = Judgement {
        method: method.to_string(),
        url,
        verdict: Verdict::Pass,
        reason: None,
        effective_method: None,
        in_scope: None,
        fired: place("write_signatures", explanation.fired),
        cleared: place("allow_signatures", explanation.cleared),
        dropped: None,
    };
    match decision {
        None => {}
        Some(Decision::Drop) => {
            judgement.verdict = Verdict::Drop;
            judgement.dropped = place("drop_signatures", explanation.dropped);
        }
        Some(Decision::Refuse(refusal)) => {
            judgement.verdict = Verdict::Block;
            judgement.reason = Some(refusal.reason);
            judgement.effective_method = refusal.effective_method;
        }
        Some(Decision::Permit(permit)) => {
            if permit.is_unclassified() {
                judgement.verdict = Verdict::Unclassified;
            }
            if let Some(observed) = permit.observed() {
                judgement.verdict = Verdict::Observe;
                judgement.reason = Some(observed.reason.clone());
                judgement.effective_method.clone_from(&observed.effective_method);
                judgement.in_scope = observed.scope.map(|scope| match scope {
                    Scope::Url => "url",
                    Scope::Prefix => "prefix",
                    Scope::Unproven => "unproven",
                });
            }
        }
    }
    judgement
}

/// A handshake by its URL or by its headers (RFC 6455, section 4.1).
fn is_web_socket(request: &Described) -> bool {
    let lists = |name, token: &str| {
        request.headers.get_all(name).iter().any(|value| {
            let mut parts = value.as_bytes().split(|byte| *byte == b',');
            parts.any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        })
    };
    request.method == Method::GET
        && request.payload == Payload::Absent
        && (request.web_socket
            || (lists(header::UPGRADE, "websocket") && lists(header::CONNECTION, "upgrade")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Policy, PolicyKind};
    use crate::policy::MutationConfig;
    use serde_json::json;

    fn rules(policy: Policy) -> Rules {
        let block = json!({
            "write_signatures": [
                { "method": "POST", "url": "/orders" }, { "method": "POST", "url": "/rpc", "body": "save" },
                { "method": "GET", "url": "^wss://" },
            ],
            "allow_signatures": [{ "method": "POST", "url": "/orders/search$" }],
            "drop_signatures": [{ "method": "POST", "url": "/collect" }],
            "packs": ["nextjs"],
        });
        Rules::new(policy, MutationConfig::parse(&block).unwrap())
    }

    fn judged(rules: &Rules, request: &str, header: Option<&str>, payload: Payload) -> Judgement {
        let mut described = Described::parse(request).unwrap();
        header.into_iter().for_each(|line| described.header_line(line).unwrap());
        described.body(payload);
        judge(rules, &described)
    }

    #[test]
    fn verdicts_name_the_entries_that_spoke() {
        let rules = rules(Policy::read_only());
        let judge = |request, header, payload| judged(&rules, request, header, payload);
        let bytes = |text: &str| Payload::Bytes(text.as_bytes().to_vec());
        let blocked = judge("POST https://a.test/orders", None, Payload::Absent);
        assert_eq!(blocked.verdict, Verdict::Block);
        assert_eq!(blocked.fired.as_deref(), Some("mutation.write_signatures[0]"));
        let cleared = judge("POST https://a.test/orders/search", None, Payload::Absent);
        assert_eq!(cleared.verdict, Verdict::Pass);
        assert_eq!(cleared.cleared.as_deref(), Some("mutation.allow_signatures[0]"));
        let dropped = judge("POST https://a.test/collect", None, bytes("x"));
        assert_eq!(dropped.verdict, Verdict::Drop);
        assert_eq!(dropped.dropped.as_deref(), Some("mutation.drop_signatures[0]"));
        let packed = judge("POST https://a.test/", Some("next-action: 1"), bytes("[]"));
        assert_eq!(packed.fired.as_deref(), Some("pack nextjs: write_signatures[0]"));
        assert_eq!(judge("PUT https://a.test/x", None, bytes("x")).verdict, Verdict::Unclassified);
        assert_eq!(judge("POST https://a.test/rpc", None, bytes("load")).verdict, Verdict::Unclassified);
        assert_eq!(judge("POST https://a.test/rpc", None, bytes("save")).verdict, Verdict::Block);
        let unknown = judge("POST https://a.test/rpc", None, Payload::Unknown("it is gone".into()));
        assert!(unknown.reason.unwrap().ends_with("the body cannot be judged: it is gone"));
        let long = judge("POST https://a.test/rpc", None, Payload::Bytes(vec![b'x'; MAX_BODY + 1]));
        assert!(long.reason.unwrap().contains("longer than"));
        let override_header =
            judge("GET https://a.test/orders", Some("X-HTTP-Method: post"), Payload::Absent);
        assert_eq!(override_header.effective_method.as_deref(), Some("POST"));
    }

    #[test]
    fn messages_are_judged_by_themselves() {
        let block = json!({ "write_signatures": [{ "method": "WS", "url": "/live", "body": "save" }] });
        let rules = Rules::new(Policy::read_only(), MutationConfig::parse(&block).unwrap());
        let bytes = |text: &str| Payload::Bytes(text.as_bytes().to_vec());
        for (request, payload, want) in [
            ("WS wss://a.test/live", bytes("save 1"), Verdict::Block),
            ("WS wss://a.test/liv%65", bytes("save 1"), Verdict::Block),
            ("WS ws://a.test/live", bytes("load 1"), Verdict::Pass),
            ("WS wss://a.test/other", bytes("save 1"), Verdict::Pass),
            ("WS wss://a.test/live", Payload::Absent, Verdict::Pass),
            ("WS wss://a.test/live", Payload::Unknown("it is gone".into()), Verdict::Block),
            ("WS wss://a.test/live", Payload::Bytes(vec![b'x'; MAX_BODY + 1]), Verdict::Block),
            ("GET wss://a.test/live", Payload::Absent, Verdict::Pass),
        ] {
            assert_eq!(judged(&rules, request, None, payload).verdict, want, "{request}");
        }
    }

    #[test]
    fn handshakes() {
        let rules = rules(Policy::read_only());
        for (request, header, want) in [
            ("GET wss://a.test/ws", None, Verdict::Block),
            ("GET https://a.test/ws", None, Verdict::Pass),
            ("GET https://a.test/ws", Some("upgrade: WebSocket"), Verdict::Pass),
        ] {
            let mut described = Described::parse(request).unwrap();
            header.into_iter().for_each(|line| described.header_line(line).unwrap());
            assert_eq!(judge(&rules, &described).verdict, want, "{request} {header:?}");
            if header.is_some() {
                described.header_line("connection: keep-alive, Upgrade").unwrap();
                assert_eq!(judge(&rules, &described).verdict, Verdict::Block, "{request} is a handshake");
            }
        }
    }

    #[test]
    fn under_scoped_write_the_scope_is_told() {
        let rules = rules(Policy::new(PolicyKind::ScopedWrite, Some("QA_TEST_".into())).unwrap());
        let scope = |request| judged(&rules, request, None, Payload::Absent).in_scope;
        assert_eq!(scope("POST https://a.test/orders"), Some("unproven"));
        assert_eq!(scope("POST https://a.test/orders?name=QA_TEST_1"), Some("prefix"));
        assert_eq!(scope("GET https://a.test/orders"), None);
    }
}
