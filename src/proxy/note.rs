//! Events about requests: what was refused before it could be judged, and how a URL is told in a record.

use super::attempts::Ledger;
use super::conn::{Conn, Place};
use super::head::Fault;
use crate::model::clock;
use crate::record::{Event, EventAction, RequestEvent};
use http::request;

/// Records what was refused before it could be judged.
pub(super) fn note(ledger: &Ledger, reason: &str, method: &str, url: &str) {
    ledger.add(Event::Request(event(EventAction::Block, reason, method, url)));
}

/// Records a head or body that is not passed on.
pub(super) fn note_fault(conn: &Conn, fault: &Fault) {
    let method = fault.method.as_deref().unwrap_or("?");
    let url = match (&fault.target, conn.place()) {
        (Some(target), Place::Tunnel { origin, .. }) if target.starts_with('/') => {
            format!("{origin}{target}")
        }
        (Some(target), _) => without_user(target),
        (None, Place::Tunnel { origin, .. }) => origin.to_string(),
        (None, Place::Open) => "?".into(),
    };
    note(&conn.ledger(), &fault.reason, method, &url);
}

pub(super) fn event(action: EventAction, reason: &str, method: &str, url: &str) -> RequestEvent {
    RequestEvent {
        action,
        reason: reason.into(),
        method: method.into(),
        url: url.into(),
        at: clock::iso(clock::now()),
        effective_method: None,
        in_scope: None,
        source: None,
    }
}

/// What is known of the URL of a request whose names do not agree.
pub(super) fn known_url(conn: &Conn, head: &request::Parts) -> String {
    match conn.place() {
        Place::Tunnel { origin, .. } if head.uri.authority().is_none() => format!("{origin}{}", head.uri),
        _ => without_user(&head.uri.to_string()),
    }
}

/// User and password never land in a record.
fn without_user(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at(start);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_dropped_from_urls() {
        for (url, want) in [
            ("http://u:p@a.test/x@y", "http://a.test/x@y"),
            ("http://a.test/?q=@", "http://a.test/?q=@"),
            ("u:p@a:1", "a:1"),
            ("/a@b", "/a@b"),
            ("http://u:p@b@a.test", "http://a.test"),
        ] {
            assert_eq!(without_user(url), want);
        }
    }
}
