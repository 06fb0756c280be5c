//! From a request to a decision: which origin it names, what of its body must be seen, and what is recorded about it.

use super::attempts::Ledger;
use super::body::{RequestBody, ResponseBody, Search};
use super::conn::Conn;
use super::head::framing::MAX_HEAD;
use super::hold::{Held, hold};
use super::note::{event, known_url, note, note_fault};
use super::target::{Unjudged, origin_of, own_listener};
use super::upstream::{Trouble, UpstreamError};
use super::web_socket::{self, SocketJudge};
use super::{credentials, forward, respond};
use crate::policy::{Body, Decision, Observation, Permit, Scope, Situation};
use crate::policy::{Examination, Request as Judged};
use crate::record::{Event, EventAction, EventId, InScope};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version, header, request,
};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::rc::Rc;

/// What a browser loads the answer as (W3C Fetch Metadata).
static SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// It was not sent to a proxy; nothing more is read from its connection.
pub(super) struct Closed;

/// Answers one request.
pub(super) async fn handle(
    conn: Rc<Conn>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, Closed> {
    let outcome = answer(&conn, request).await;
    if let Some(gate) = conn.gate() {
        gate.answer_upgrade(
            matches!(&outcome, Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS),
        );
    }
    outcome
}

async fn answer(conn: &Rc<Conn>, request: Request<Incoming>) -> Result<Response<ResponseBody>, Closed> {
    let arrival = conn.ledger().arrive();
    if let Some(fault) = conn.gate().and_then(|gate| gate.fault_of_next()) {
        note_fault(conn, &fault);
        return Ok(respond::malformed(&fault.reason));
    }
    if !conn.may_ask(&request) {
        return Ok(credentials::asked_for());
    }
    let (mut head, body) = request.into_parts();
    if let Some(reason) = too_long(&head) {
        note(&conn.ledger(), &reason, head.method.as_str(), &known_url(conn, &head));
        return Ok(respond::line(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &reason));
    }
    let origin = match origin_of(conn, &head) {
        Ok(origin) => origin,
        Err(Unjudged::NoProxyRequest) => return Err(Closed),
        Err(Unjudged::Names(reason)) => {
            note(&conn.ledger(), &reason, head.method.as_str(), &known_url(conn, &head));
            return Ok(respond::misdirected(&reason));
        }
        Err(Unjudged::Target(reason)) => {
            note(&conn.ledger(), &reason, head.method.as_str(), &known_url(conn, &head));
            return Ok(respond::malformed(&reason));
        }
    };
    if origin.authority.is_loopback_at(|port| conn.proxy().attempts.is_own(port)) {
        return Ok(own_listener(conn, &origin, &head));
    }
    join_cookies(&mut head.headers);
    let upstream = conn.upstream(&origin);
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let has_body = !body.is_end_stream();
    let socket = is_web_socket(&head, has_body);
    let judged = if socket {
        Judged::web_socket(upstream.text(), target, &head.headers)
    } else {
        Judged::new(head.method.as_str(), upstream.text(), target, &head.headers, has_body)
    };
    let unread = if has_body { Body::Unread } else { Body::Absent };
    let rules = conn.proxy().rules.clone();
    let mut examination = rules.examine(judged, &head.headers, unread);
    let body = match body_for(conn, &mut examination, &head, body).await {
        Ok(body) => body,
        Err(response) => return Ok(response),
    };
    let messages = examination.messages();
    // The record may have been closed while the body arrived.
    let ledger = conn.ledger();
    let url = examination.request().url().to_owned();
    let decision = within(&ledger, &head.headers, |situation| examination.decide(situation));
    ledger.routed(navigates(&head));
    let permit = match decision {
        Decision::Permit(permit) => permit,
        Decision::Drop => {
            read_on(conn, body);
            ledger.with(|recorder| recorder.dropped());
            return Ok(respond::dropped());
        }
        Decision::Refuse(refusal) => {
            read_on(conn, body);
            let mut event = event(EventAction::Block, &refusal.reason, head.method.as_str(), &url);
            event.effective_method = refusal.effective_method;
            event.source = socket.then(|| "websocket".into());
            ledger.add(Event::Request(event));
            return Ok(respond::blocked(&refusal.reason, head.method.as_str(), &url));
        }
    };
    if let Some(reason) = messages.as_ref().and_then(|_| web_socket::unreadable(&head.headers)) {
        let reason = format!("its messages cannot be judged: {reason}");
        let mut event = event(EventAction::Block, &reason, head.method.as_str(), &url);
        event.source = Some("websocket".into());
        ledger.add(Event::Request(event));
        return Ok(respond::blocked(&reason, head.method.as_str(), &url));
    }
    let Ok(observed) = note_permitted(&ledger, &permit, head.method.as_str(), &url, socket) else {
        return Ok(respond::blocked("event limit", head.method.as_str(), &url));
    };
    drop(arrival);
    let body = match (observed, conn.proxy().rules.policy().prefix(), body) {
        (Some(id), Some(prefix), RequestBody::Streamed(body)) if is_unproven(&permit) => {
            let ledger = ledger.clone();
            let found = move || ledger.with(|recorder| recorder.prove(id, InScope::Prefix));
            RequestBody::Searched(body, Search::new(prefix, found))
        }
        (_, _, body) => body,
    };
    let method = head.method.clone();
    let outcome = if socket {
        let judge = messages.map(|messages| SocketJudge::new(conn, messages, &url, &head.headers));
        let mut request = Request::from_parts(head, ());
        let client = hyper::upgrade::on(&mut request);
        forward::web_socket(permit, conn, &upstream, request.into_parts().0, client, judge).await
    } else {
        forward::forward(permit, &upstream, head, body).await
    };
    Ok(outcome.unwrap_or_else(|error| failed(conn, &error, method.as_str(), &url)))
}

/// Holds the body when a rule needs it.
async fn body_for(
    conn: &Conn,
    examination: &mut Examination<'_>,
    head: &request::Parts,
    body: Incoming,
) -> Result<RequestBody, Response<ResponseBody>> {
    if body.is_end_stream() {
        return Ok(RequestBody::Empty);
    }
    if !within(&conn.ledger(), &head.headers, |situation| examination.needs_body(situation)) {
        return Ok(RequestBody::Streamed(body));
    }
    let unfinished =
        Unfinished { conn, method: head.method.as_str(), url: examination.request().url().to_owned() };
    let held = hold(body, conn.proxy().max_body).await;
    // From here on it is judged, or refused with an event of its own.
    let (method, url) = unfinished.disarm();
    match held {
        Ok(Held::Whole(bytes, trailers)) => {
            examination.give_body(Body::read(&head.headers, &bytes, conn.proxy().max_body));
            Ok(RequestBody::Held(Some(bytes).filter(|bytes| !bytes.is_empty()), trailers))
        }
        Ok(Held::Over(begin, rest)) => {
            let limit = conn.proxy().max_body;
            examination.give_body(Body::Unjudgeable(format!("it is longer than {limit} bytes")));
            Ok(RequestBody::Begun(Some(begin).filter(|bytes| !bytes.is_empty()), rest))
        }
        Err(error) => {
            let reason = format!("the body cannot be judged: it ended early: {error}");
            note(&conn.ledger(), &reason, method, &url);
            Err(respond::malformed(&reason))
        }
    }
}

/// Reads what a refused request still sends: a browser that cannot send to the end may not look at the answer, and sends the
/// request again when the connection just closes.
fn read_on(conn: &Conn, body: RequestBody) {
    if !body.is_end_stream() {
        conn.spawner().spawn(async move {
            let mut body = body;
            while let Some(Ok(_)) = body.frame().await {}
        });
    }
}

/// A request whose client may go away before its body is there: that is recorded too.
struct Unfinished<'a> {
    conn: &'a Conn,
    method: &'a str,
    url: String,
}

impl<'a> Unfinished<'a> {
    fn disarm(mut self) -> (&'a str, String) {
        let url = std::mem::take(&mut self.url);
        (self.method, url)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.url.is_empty() {
            let reason = "the client went away before the body that decides was there";
            note(&self.conn.ledger(), reason, self.method, &self.url);
        }
    }
}

fn within<T>(ledger: &Ledger, headers: &HeaderMap, decide: impl FnOnce(&Situation<'_>) -> T) -> T {
    let standing = ledger.standing();
    let page = headers.get(header::REFERER).and_then(|page| page.to_str().ok());
    ledger.with(|recorder| decide(&Situation { standing, scopes: recorder.scopes(), page }))
}

/// Records what passes with a permit; an error when that filled the record.
pub(super) fn note_permitted(
    ledger: &Ledger,
    permit: &Permit,
    method: &str,
    url: &str,
    socket: bool,
) -> Result<Option<EventId>, ()> {
    if permit.is_unclassified() {
        ledger.unclassified(method, url);
    }
    let Some(Observation { reason, effective_method, scope }) = permit.observed() else { return Ok(None) };
    let mut event = event(EventAction::Observe, reason, method, url);
    event.effective_method.clone_from(effective_method);
    event.in_scope = scope.map(|scope| match scope {
        Scope::Url => InScope::Url,
        Scope::Prefix => InScope::Prefix,
        Scope::Unproven => InScope::Unproven,
    });
    event.source = socket.then(|| "websocket".into());
    match ledger.add(Event::Request(event)) {
        Some(id) => Ok(Some(id)),
        None => Err(()),
    }
}

fn is_unproven(permit: &Permit) -> bool {
    permit.observed().is_some_and(|observed| observed.scope == Some(Scope::Unproven))
}

fn failed(conn: &Conn, error: &UpstreamError, method: &str, url: &str) -> Response<ResponseBody> {
    tracing::debug!("{method} {url}: {error}");
    if error.trouble == Trouble::Own {
        note(&conn.ledger(), "a listener of the guard itself", method, url);
    }
    respond::upstream(error)
}

/// Why a head is longer than any may be. On HTTP/1 the check of heads has seen to that.
fn too_long(head: &request::Parts) -> Option<String> {
    let measure =
        || head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    let over = head.version == Version::HTTP_2 && measure() > MAX_HEAD;
    over.then(|| format!("the request head is longer than {MAX_HEAD} bytes"))
}

/// HTTP/2 may part a cookie header into crumbs; HTTP/1 origins read one (RFC 9113, section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(header::COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(joined) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(header::COOKIE, joined);
    }
}

fn is_web_socket(head: &request::Parts, has_body: bool) -> bool {
    let lists = |name, token: &str| {
        head.headers.get_all(name).iter().any(|value| {
            value
                .as_bytes()
                .split(|byte| *byte == b',')
                .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        })
    };
    head.method == Method::GET
        && head.version == Version::HTTP_11
        && !has_body
        && lists(header::UPGRADE, "websocket")
        && lists(header::CONNECTION, "upgrade")
}

/// Whether a document or a frame is loaded. Browsers say so over TLS and to loopback; elsewhere what they accept tells.
fn navigates(head: &request::Parts) -> bool {
    let text = |name: &HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    match text(&SEC_FETCH_DEST) {
        Some(dest) => matches!(dest, "document" | "iframe" | "frame" | "embed" | "object"),
        None => {
            text(&header::UPGRADE_INSECURE_REQUESTS) == Some("1")
                && text(&header::ACCEPT).is_some_and(|accept| accept.starts_with("text/html"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crumbs_become_one_cookie() {
        let mut headers = HeaderMap::new();
        for crumb in ["a=1", "b=2"] {
            headers.append(header::COOKIE, HeaderValue::from_static(crumb));
        }
        join_cookies(&mut headers);
        assert_eq!(headers.get_all(header::COOKIE).iter().collect::<Vec<_>>(), ["a=1; b=2"]);
    }
}
