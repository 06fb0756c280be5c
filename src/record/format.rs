//! The format of writes.json, version 1: what the guard did during one attempt.
//!
//! The first nine fields are those that every guard of this contract writes; ours adds the rest. The reading side takes
//! records without our fields, so that a run of another guard gates as well.

use crate::model::{Digest, PolicyKind};
use serde::{Deserialize, Serialize};

/// The version of the format that is written here, and the only one that is read.
pub const VERSION: u64 = 1;

/// One record. Key order is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritesRecord {
    /// Whether the page guard reported in from a document.
    #[serde(default)]
    pub installed: bool,
    /// What was enforced.
    pub policy: PolicyKind,
    /// The scoped-write prefix; null under another policy.
    pub prefix: Option<String>,
    /// Every scope URL pattern that the spec set, in order.
    #[serde(default)]
    pub scope_urls: Vec<String>,
    /// How many write signatures were compiled.
    #[serde(default)]
    pub write_signatures: u64,
    /// Judged HTTP requests.
    #[serde(default)]
    pub routed_requests: u64,
    /// Events with action block.
    pub blocked: u64,
    /// Events with action observe.
    pub observed: u64,
    /// All that was blocked or observed, in order.
    pub events: Vec<Event>,
    /// 1; absent in records of another guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whose record it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptInfo>,
    /// [`crate::policy::MutationConfig::signatures_sha256`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures_sha256: Option<Digest>,
    /// Navigations that were routed, of main frames and of iframes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
    /// Origins of the http and https documents in which the page guard ran, sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
    /// POST, PUT, PATCH and DELETE requests of which no signature spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclassified: Option<u64>,
    /// Requests that a drop signature kept from being sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// Frames in which the page guard could not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unguarded_frames: Option<u64>,
    /// Tunnels that were neither TLS nor HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<u64>,
    /// Whether the test processes had no way out but the guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress_locked: Option<bool>,
    /// Who wrote the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<GuardInfo>,
}

/// One try of one test in one project, and which of its intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptInfo {
    /// Playwright's `testId`.
    #[serde(default)]
    pub test_id: String,
    /// 0 for the first try.
    pub retry: u64,
    /// 1 for the first interval: hooks have intervals of their own.
    #[serde(default)]
    pub interval: u64,
    /// The project's name.
    #[serde(default)]
    pub project: String,
    /// The test's title.
    #[serde(default)]
    pub title: String,
    /// The spec file, as Playwright reported it.
    #[serde(default)]
    pub file: String,
    /// The test's line in it.
    #[serde(default)]
    pub line: u64,
    /// Playwright's `workerIndex`.
    #[serde(default)]
    pub worker_index: u64,
    /// What Playwright said at the end; null for an attempt that never ended.
    #[serde(default)]
    pub status: Option<String>,
    /// The run it was part of, where the guard was told: a record of another run proves nothing about this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// The writer of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardInfo {
    /// `qa-pilot`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What the guard did about something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventAction {
    /// Stopped it.
    Block,
    /// Let it through and recorded it.
    Observe,
}

/// Something that was blocked or observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Event {
    /// A control in a page.
    Control(ControlEvent),
    /// A request on the wire.
    Request(RequestEvent),
}

impl Event {
    /// What was done.
    pub fn action(&self) -> EventAction {
        match self {
            Self::Control(event) => event.action,
            Self::Request(event) => event.action,
        }
    }
}

/// A control that was about to act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlEvent {
    /// What was done.
    pub action: EventAction,
    /// The word, icon or scope check that decided.
    pub reason: String,
    /// The control's name, 120 characters at most.
    pub label: String,
    /// ISO 8601.
    pub at: String,
}

/// A request that was judged, or refused because it could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEvent {
    /// What was done.
    pub action: EventAction,
    /// The signature or the fault that decided.
    pub reason: String,
    /// The wire method, or `CONNECT` or `?` where there is no better word.
    pub method: String,
    /// Without user and password.
    pub url: String,
    /// ISO 8601.
    pub at: String,
    /// The method that an override claimed, where that one decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_method: Option<String>,
    /// Under scoped-write, what is known of the scope of an observed write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_scope: Option<InScope>,
    /// `websocket` where a WebSocket is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// How a write is known to be in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InScope {
    /// The page's URL matches a scope URL.
    Url,
    /// URL or body carries the prefix.
    Prefix,
    /// Neither.
    Unproven,
}

impl WritesRecord {
    /// How many events have the action `action`.
    pub fn count(&self, action: EventAction) -> u64 {
        self.events.iter().filter(|event| event.action() == action).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_another_guard_reads() {
        let record: WritesRecord = serde_json::from_str(
            r#"{"installed":true,"policy":"scoped-write","prefix":"QA_","scope_urls":[],"write_signatures":2,"routed_requests":3,
                "blocked":1,"observed":1,"events":[
                {"kind":"control","action":"block","reason":"r","label":"Delete","at":"2026-11-30T10:15:00Z"},
                {"kind":"request","action":"observe","reason":"r","method":"POST","url":"https://a.test/","at":"2026-11-30T10:15:00Z"}]}"#,
        )
        .unwrap();
        assert_eq!(record.count(EventAction::Block), record.blocked);
        assert_eq!(record.count(EventAction::Observe), record.observed);
        assert_eq!(record.version, None);
    }

    #[test]
    fn keys_come_in_the_order_of_the_format() {
        let record = WritesRecord {
            installed: true,
            policy: PolicyKind::ReadOnly,
            prefix: None,
            scope_urls: vec![],
            write_signatures: 0,
            routed_requests: 1,
            blocked: 0,
            observed: 0,
            events: vec![],
            version: Some(1),
            attempt: None,
            signatures_sha256: None,
            documents: Some(1),
            origins: Some(vec![]),
            unclassified: Some(0),
            dropped: Some(0),
            unguarded_frames: Some(0),
            opaque: Some(0),
            egress_locked: Some(false),
            guard: None,
        };
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.starts_with(r#"{"installed":true,"policy":"read-only","prefix":null,"scope_urls":[],"write_signatures":0,"routed_requests":1,"blocked":0,"observed":0,"events":[],"version":1,"documents":1,"#), "{text}");
    }
}
