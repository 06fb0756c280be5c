//! Keeping one record: counts and events always agree, a flood closes the record instead of losing count, and the file is
//! written once, in one step.

use super::format::{
    AttemptInfo, Event, EventAction, GuardInfo, InScope, RequestEvent, VERSION, WritesRecord,
};
use crate::files::{self, FileError};
use crate::model::{Digest, Policy, clock};
use crate::pattern::{Pattern, PatternError};
use std::collections::BTreeSet;
use std::path::Path;

/// The most events a record holds; the last says that the limit was reached.
pub const MAX_EVENTS: usize = 10_000;

/// The record of one interval of an attempt, while it is kept.
#[derive(Debug)]
pub struct Recorder {
    record: WritesRecord,
    documents: u64,
    unclassified: u64,
    dropped: u64,
    unguarded_frames: u64,
    opaque: u64,
    origins: BTreeSet<String>,
    scopes: Vec<Pattern>,
    reported: bool,
}

/// Which event of a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId(usize);

/// A record on disk.
#[derive(Clone, Debug)]
pub struct Written {
    /// Of the bytes of the file.
    pub sha256: Digest,
    /// What the file says.
    pub record: WritesRecord,
}

impl Recorder {
    /// An empty record; `egress_locked` says whether the tests have no way out but the guard.
    pub fn new(
        policy: &Policy,
        write_signatures: usize,
        signatures_sha256: Digest,
        egress_locked: bool,
        attempt: Option<AttemptInfo>,
    ) -> Self {
        Self {
            record: WritesRecord {
                installed: false,
                policy: policy.kind(),
                prefix: policy.prefix().map(str::to_owned),
                scope_urls: Vec::new(),
                write_signatures: write_signatures as u64,
                routed_requests: 0,
                blocked: 0,
                observed: 0,
                events: Vec::new(),
                version: Some(VERSION),
                attempt,
                signatures_sha256: Some(signatures_sha256),
                documents: None,
                origins: None,
                unclassified: None,
                dropped: None,
                unguarded_frames: None,
                opaque: None,
                egress_locked: Some(egress_locked),
                guard: Some(GuardInfo { name: "qa-pilot".into(), version: env!("CARGO_PKG_VERSION").into() }),
            },
            documents: 0,
            unclassified: 0,
            dropped: 0,
            unguarded_frames: 0,
            opaque: 0,
            origins: BTreeSet::new(),
            scopes: Vec::new(),
            reported: false,
        }
    }

    /// Counts a judged request, and whether it navigates.
    pub fn routed(&mut self, navigates: bool) {
        self.record.routed_requests += 1;
        self.documents += u64::from(navigates);
    }

    /// Adds an event and counts it. The last event that fits says that the limit was reached, and from then on nothing is
    /// added: the record [`is_full`](Self::is_full).
    pub fn add(&mut self, event: Event) -> Option<EventId> {
        if self.is_full() {
            return None;
        }
        let last = self.record.events.len() + 1 == MAX_EVENTS;
        let event = if last { limit(&event) } else { event };
        match event.action() {
            EventAction::Block => self.record.blocked += 1,
            EventAction::Observe => self.record.observed += 1,
        }
        self.record.events.push(event);
        (!last).then(|| EventId(self.record.events.len() - 1))
    }

    /// Whether no event fits any more: what comes now is refused.
    pub fn is_full(&self) -> bool {
        self.record.events.len() >= MAX_EVENTS
    }

    /// Says what became known of the scope of an observed request, e.g. while its body passed.
    pub fn prove(&mut self, id: EventId, scope: InScope) {
        if let Some(Event::Request(event)) = self.record.events.get_mut(id.0) {
            event.in_scope = Some(scope);
        }
    }

    /// Counts a request of which no signature spoke though its method usually writes.
    pub fn unclassified(&mut self) {
        self.unclassified += 1;
    }

    /// Counts a request that was answered instead of sent.
    pub fn dropped(&mut self) {
        self.dropped += 1;
    }

    /// Counts a tunnel that was neither TLS nor HTTP.
    pub fn opaque(&mut self) {
        self.opaque += 1;
    }

    /// The page guard reported in from a document of `origin`.
    pub fn installed(&mut self, origin: &str) {
        self.reported = true;
        self.record.installed = true;
        self.origins.insert(origin.to_owned());
    }

    /// A frame in which the page guard could not run.
    pub fn unguarded_frame(&mut self) {
        self.reported = true;
        self.unguarded_frames += 1;
    }

    /// Adds a scope URL; the record lists all that were ever set.
    ///
    /// # Errors
    /// When it does not compile; then nothing is added.
    pub fn scope(&mut self, pattern: &str) -> Result<(), PatternError> {
        // The last one wins: a spec moves its scope on.
        self.scopes = vec![Pattern::new(pattern)?];
        self.record.scope_urls.push(pattern.to_owned());
        Ok(())
    }

    /// The scope URLs that hold now.
    pub fn scopes(&self) -> &[Pattern] {
        &self.scopes
    }

    /// Whether nothing arrived: no judged request, no page report, no event.
    pub fn is_empty(&self) -> bool {
        !self.reported
            && self.record.routed_requests == 0
            && self.record.events.is_empty()
            && self.dropped == 0
            && self.opaque == 0
    }

    /// How many events block.
    pub fn blocked(&self) -> u64 {
        self.record.blocked
    }

    /// How many events observe.
    pub fn observed(&self) -> u64 {
        self.record.observed
    }

    /// Keeps what Playwright said at the end.
    pub fn status(&mut self, status: Option<String>) {
        if let Some(attempt) = &mut self.record.attempt {
            attempt.status = status;
        }
    }

    /// The record so far.
    pub fn snapshot(&self) -> WritesRecord {
        WritesRecord {
            documents: Some(self.documents),
            origins: Some(self.origins.iter().cloned().collect()),
            unclassified: Some(self.unclassified),
            dropped: Some(self.dropped),
            unguarded_frames: Some(self.unguarded_frames),
            opaque: Some(self.opaque),
            ..self.record.clone()
        }
    }

    /// Writes the record to a file that must not exist yet.
    ///
    /// # Errors
    /// When there is one, or it cannot be written.
    pub fn write(&self, path: &Path) -> Result<Written, FileError> {
        let record = self.snapshot();
        let bytes = files::json_bytes(&record)?;
        files::write_once(path, &bytes)?;
        Ok(Written { sha256: Digest::of(&bytes), record })
    }
}

/// The event that closes a record, in the place of one that was due.
fn limit(event: &Event) -> Event {
    let (method, url) = match event {
        Event::Request(event) => (event.method.clone(), event.url.clone()),
        Event::Control(_) => ("?".to_owned(), String::new()),
    };
    Event::Request(RequestEvent {
        action: EventAction::Block,
        reason: "event limit".into(),
        method,
        url,
        at: clock::iso(clock::now()),
        effective_method: None,
        in_scope: None,
        source: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorder() -> Recorder {
        Recorder::new(&Policy::read_only(), 3, Digest::of(b""), false, None)
    }

    fn event(action: EventAction) -> Event {
        Event::Request(RequestEvent {
            action,
            reason: "r".into(),
            method: "POST".into(),
            url: "https://a.test/".into(),
            at: clock::iso(clock::now()),
            effective_method: None,
            in_scope: None,
            source: None,
        })
    }

    #[test]
    fn a_flood_closes_the_record() {
        let mut recorder = recorder();
        for _ in 0..MAX_EVENTS + 50 {
            recorder.add(event(EventAction::Observe));
        }
        let record = recorder.snapshot();
        assert!(recorder.is_full());
        assert_eq!(
            (record.events.len(), record.blocked, record.observed),
            (MAX_EVENTS, 1, MAX_EVENTS as u64 - 1)
        );
        let Some(Event::Request(last)) = record.events.last() else { panic!() };
        assert_eq!((last.action, last.reason.as_str()), (EventAction::Block, "event limit"));
    }

    #[test]
    fn written_once_with_the_seeds_keys_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/writes.json");
        let mut recorder = recorder();
        assert!(recorder.is_empty());
        recorder.installed("https://b.test");
        recorder.installed("https://a.test");
        assert!(recorder.scope("(").is_err());
        recorder.scope("/a").unwrap();
        recorder.scope("/b").unwrap();
        assert!(!recorder.is_empty());
        assert!(!recorder.scopes()[0].is_match("/a"), "the last scope wins");
        let written = recorder.write(&path).unwrap();
        assert!(recorder.write(&path).is_err());
        let bytes = files::read_capped(&path, 1 << 20).unwrap();
        assert_eq!(Digest::of(&bytes), written.sha256);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys[..9],
            [
                "installed",
                "policy",
                "prefix",
                "scope_urls",
                "write_signatures",
                "routed_requests",
                "blocked",
                "observed",
                "events"
            ]
        );
        assert_eq!(value["scope_urls"], serde_json::json!(["/a", "/b"]));
        assert_eq!(value["origins"], serde_json::json!(["https://a.test", "https://b.test"]));
    }

    proptest! {
        #[test]
        fn counts_and_events_agree(blocks in proptest::collection::vec(any::<bool>(), 0..60)) {
            let mut recorder = recorder();
            for block in &blocks {
                recorder.add(event(if *block { EventAction::Block } else { EventAction::Observe }));
                let record = recorder.snapshot();
                prop_assert_eq!(record.blocked, record.count(EventAction::Block));
                prop_assert_eq!(record.observed, record.count(EventAction::Observe));
            }
            prop_assert_eq!(recorder.snapshot().events.len(), blocks.len());
        }
    }
}
