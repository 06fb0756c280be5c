//! The calls of the control API, one function each.

use crate::model::clock;
use crate::proxy::attempts::{Attempt, Begin, FinishError, Interval};
use crate::proxy::body::ResponseBody;
use crate::proxy::{Proxy, listen, respond, tunnel};
use crate::record::{ControlEvent, Event, EventAction};
use http::{Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use tokio::net::TcpListener;

/// The longest label that is kept, in characters.
const MAX_LABEL: usize = 120;

/// Why a call is refused.
pub(super) struct Refused(pub(super) StatusCode, pub(super) String);

type Outcome = Result<Response<ResponseBody>, Refused>;

/// What a page, through its fixture, reports.
#[derive(Deserialize)]
struct PageReport {
    secret: String,
    #[serde(rename = "type")]
    kind: PageReportKind,
    origin: Option<String>,
    reason: Option<String>,
    label: Option<String>,
    at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PageReportKind {
    Installed,
    Control,
    Unguarded,
}

#[derive(Deserialize)]
struct ScopeCall {
    url: String,
}

#[derive(Deserialize)]
struct FinishCall {
    status: Option<String>,
    #[serde(default)]
    keep: bool,
}

pub(super) fn health(proxy: &Proxy) -> Response<ResponseBody> {
    let body = json!({
        "status": "ok",
        "attempts": proxy.attempts.open_count(),
        "requests": proxy.stats.counts().requests,
    });
    respond::json(StatusCode::OK, &body)
}

/// The page script alone, for contexts that are opened while no attempt is.
pub(super) fn page_guard(proxy: &Proxy) -> Response<ResponseBody> {
    respond::json(StatusCode::OK, &json!({ "page_guard": &*proxy.page_guard }))
}

/// `reached` is the address by which the caller reached the guard, and reaches its ports.
pub(super) async fn begin(proxy: &Rc<Proxy>, reached: IpAddr, body: &[u8]) -> Outcome {
    let begin: Begin = parse(body)?;
    let failed = |error: std::io::Error| {
        Refused(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot open a port: {error}"))
    };
    let (listener, number) = listen::bind_any(&proxy.network, proxy.address).await.map_err(failed)?;
    let (interval, port) = proxy
        .attempts
        .begin(&begin, number)
        .map_err(|error| Refused(StatusCode::BAD_REQUEST, error.to_string()))?;
    open(proxy, listener, port);
    let policy = proxy.rules.policy();
    let answer = json!({
        "attempt": interval.attempt().id(),
        "interval": interval.number(),
        "proxy": format!("http://{}", SocketAddr::new(reached, number)),
        "policy": policy.kind(),
        "prefix": policy.prefix(),
        "write_signatures": proxy.rules.config().write_signatures.len(),
        "ca_spki": proxy.leaves.authority().spki(),
        "page_guard": &*proxy.page_guard,
        "secret": interval.secret(),
    });
    Ok(respond::json(StatusCode::CREATED, &answer))
}

/// Serves what arrives on a port.
pub(in crate::proxy) fn open(
    proxy: &Rc<Proxy>,
    listener: TcpListener,
    port: Rc<crate::proxy::attempts::Port>,
) {
    let (serving, closed) = (proxy.clone(), port.closed().clone());
    proxy.spawner.spawn(listen::accept(listener, closed, move |socket| {
        let visit = port.enter();
        serving.spawner.spawn(tunnel::serve(serving.clone(), visit, socket));
    }));
}

pub(super) fn look(proxy: &Proxy, id: &str) -> Outcome {
    let attempt = find(proxy, id)?;
    let ledger = attempt.last_ledger().ok_or_else(|| unknown(id))?;
    let record = ledger.with(|recorder| recorder.snapshot());
    let mut value = serde_json::to_value(record)
        .map_err(|error| Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    if let Some(object) = value.as_object_mut() {
        object.insert("finished".into(), attempt.open().is_none().into());
    }
    Ok(respond::json(StatusCode::OK, &value))
}

/// One report, or a list of them in the order in which they were made. A list is taken up to the first that is refused.
pub(super) fn page(proxy: &Proxy, id: &str, body: &[u8]) -> Outcome {
    let interval = open_interval(proxy, id)?;
    let reports: Vec<PageReport> =
        if body.trim_ascii_start().starts_with(b"[") { parse(body)? } else { vec![parse(body)?] };
    reports.into_iter().try_for_each(|report| take(&interval, report))?;
    Ok(respond::empty(StatusCode::NO_CONTENT))
}

fn take(interval: &Interval, report: PageReport) -> Result<(), Refused> {
    if report.secret != interval.secret() {
        return Err(Refused(StatusCode::FORBIDDEN, "the secret is not this interval's".into()));
    }
    let missing = |what: &str| Refused(StatusCode::BAD_REQUEST, format!("`{what}` is missing"));
    match report.kind {
        PageReportKind::Installed => {
            let origin = report.origin.ok_or_else(|| missing("origin"))?;
            // about:blank and srcdoc documents have the origin `null`, and prove nothing.
            if origin.starts_with("http://") || origin.starts_with("https://") {
                interval.ledger().with(|recorder| recorder.installed(&origin));
            }
        }
        PageReportKind::Control => {
            let label = report.label.ok_or_else(|| missing("label"))?;
            interval.ledger().add(Event::Control(ControlEvent {
                action: EventAction::Block,
                reason: report.reason.ok_or_else(|| missing("reason"))?,
                label: label.chars().take(MAX_LABEL).collect(),
                at: report.at.unwrap_or_else(|| clock::iso(clock::now())),
            }));
        }
        PageReportKind::Unguarded => interval.ledger().with(|recorder| recorder.unguarded_frame()),
    }
    Ok(())
}

pub(super) fn scope(proxy: &Proxy, id: &str, body: &[u8]) -> Outcome {
    let interval = open_interval(proxy, id)?;
    let call: ScopeCall = parse(body)?;
    let set = interval.ledger().with(|recorder| recorder.scope(&call.url));
    set.map_err(|error| Refused(StatusCode::BAD_REQUEST, error.to_string()))?;
    Ok(respond::empty(StatusCode::NO_CONTENT))
}

pub(super) async fn finish(proxy: &Rc<Proxy>, id: &str, body: &[u8]) -> Outcome {
    let attempt = find(proxy, id)?;
    let call: FinishCall = parse(body)?;
    match proxy.attempts.finish(&attempt, call.status, call.keep).await {
        Ok(None) => Ok(respond::empty(StatusCode::NO_CONTENT)),
        Ok(Some(finished)) => {
            let body = json!({
                "path": finished.path,
                "sha256": finished.sha256,
                "record": finished.record,
            });
            Ok(respond::json(StatusCode::OK, &body))
        }
        Err(error @ FinishError::NotOpen(_)) => Err(Refused(StatusCode::CONFLICT, error.to_string())),
        Err(error @ FinishError::Write(_)) => {
            Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        }
    }
}

fn find(proxy: &Proxy, id: &str) -> Result<Rc<Attempt>, Refused> {
    proxy.attempts.find(id).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Refused {
    Refused(StatusCode::NOT_FOUND, format!("no attempt {id}"))
}

fn open_interval(proxy: &Proxy, id: &str) -> Result<Rc<Interval>, Refused> {
    let closed = || Refused(StatusCode::CONFLICT, format!("attempt {id} has no open interval"));
    find(proxy, id)?.open().ok_or_else(closed)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    let mut json = serde_json::Deserializer::from_slice(if body.is_empty() { b"{}" } else { body });
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        Refused(StatusCode::BAD_REQUEST, format!("the body is not as it should be: {error}"))
    })
}
