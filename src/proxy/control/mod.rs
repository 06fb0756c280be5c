//! The control API on the main port: how test processes open and close their attempts and report what pages say.
//!
//! Origin-form HTTP/1.1 with a bearer token. Nothing that carries an `Origin` header is heard: a page must never reach it.

mod calls;

use super::Proxy;
use super::body::ResponseBody;
use super::head::{Gate, HeadStream};
use super::respond::{self, error};
use calls::Refused;

pub(super) use calls::open;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::convert::Infallible;
use std::net::IpAddr;
use std::rc::Rc;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// Where the API begins.
pub(super) const BASE: &str = "/__qa_pilot__/v1";

/// What a test process asks through a port, to see that the guard is in the path.
pub(super) const PROBE: &str = "/__qa_pilot__/v1/probe";

/// The largest body of a call in bytes.
const MAX_CALL: usize = 1 << 20;

/// Serves one connection to the main port.
pub(super) async fn serve(proxy: Rc<Proxy>, socket: TcpStream, closed: CancellationToken) {
    let reached = socket.local_addr().map_or(proxy.address, |address| address.ip());
    let (stream, gate) = HeadStream::new(socket, Vec::new());
    let service = service_fn(move |request| {
        let (proxy, gate) = (proxy.clone(), gate.clone());
        async move {
            let response = answer(&proxy, reached, &gate, request).await;
            gate.answer_upgrade(false);
            Ok::<_, Infallible>(response)
        }
    });
    let connection =
        http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        () = closed.cancelled() => {}
    }
    // Calls that are being answered are answered to the end.
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// What the probe answers, asked through a port of this `kind`.
pub(super) fn probe(kind: &str) -> Response<ResponseBody> {
    respond::json(
        StatusCode::OK,
        &json!({ "guard": "qa-pilot", "version": env!("CARGO_PKG_VERSION"), "port": kind }),
    )
}

async fn answer(
    proxy: &Rc<Proxy>,
    reached: IpAddr,
    gate: &Gate,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let no_proxy =
        "the main port is for the control api; proxy requests go to an attempt's port or to the run's";
    if let Some(fault) = gate.fault_of_next() {
        let connect = fault.method.as_deref() == Some("CONNECT");
        return if connect {
            closing(respond::line(StatusCode::FORBIDDEN, no_proxy))
        } else {
            respond::malformed(&fault.reason)
        };
    }
    if request.uri().authority().is_some() {
        return respond::line(StatusCode::FORBIDDEN, no_proxy);
    }
    if request.headers().contains_key(header::ORIGIN) {
        return error(StatusCode::FORBIDDEN, "pages have no access");
    }
    let Some(path) = request.uri().path().strip_prefix(BASE).map(str::to_owned) else {
        return error(StatusCode::NOT_FOUND, "no such call");
    };
    if path == "/probe" {
        return error(StatusCode::NOT_FOUND, "asked directly, not through the guard");
    }
    if !is_authorized(&request, &proxy.token) {
        return error(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong");
    }
    let method = request.method().clone();
    let body = match Limited::new(request.into_body(), MAX_CALL).collect().await {
        Ok(body) => body.to_bytes(),
        Err(cause) => return error(StatusCode::BAD_REQUEST, &format!("the body cannot be read: {cause}")),
    };
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let outcome = match (&method, segments.as_slice()) {
        (&Method::GET, ["health"]) => Ok(calls::health(proxy)),
        (&Method::GET, ["page-guard"]) => Ok(calls::page_guard(proxy)),
        (&Method::POST, ["attempts"]) => calls::begin(proxy, reached, &body).await,
        (&Method::GET, ["attempts", id]) => calls::look(proxy, id),
        (&Method::POST, ["attempts", id, "page"]) => calls::page(proxy, id, &body),
        (&Method::POST, ["attempts", id, "scope"]) => calls::scope(proxy, id, &body),
        (&Method::POST, ["attempts", id, "finish"]) => calls::finish(proxy, id, &body).await,
        (
            _,
            ["health"]
            | ["page-guard"]
            | ["attempts"]
            | ["attempts", _]
            | ["attempts", _, "page" | "scope" | "finish"],
        ) => Err(Refused(StatusCode::METHOD_NOT_ALLOWED, format!("{method} is not how this is called"))),
        _ => Err(Refused(StatusCode::NOT_FOUND, "no such call".into())),
    };
    outcome.unwrap_or_else(|Refused(status, message)| error(status, &message))
}

fn closing(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    response
}

fn is_authorized(request: &Request<Incoming>, token: &str) -> bool {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    // Every byte is looked at, whichever differs.
    given.is_some_and(|(_, given)| {
        let given = given.trim();
        given.len() == token.len()
            && given.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    })
}
