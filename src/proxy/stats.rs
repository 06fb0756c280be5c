//! Counts that other threads may read while the proxy runs.

use crate::record::{EventAction, Unclassified, UnclassifiedList};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// One attempt that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Begun {
    /// The test's title.
    pub title: String,
    /// The project's name.
    pub project: String,
    /// 0 for the first try.
    pub retry: u64,
}

/// What happened so far in a run.
#[derive(Debug, Default)]
pub struct Stats {
    opened: Mutex<Vec<Begun>>,
    begun: AtomicU64,
    finished: AtomicU64,
    open: AtomicU64,
    requests: AtomicU64,
    blocked: AtomicU64,
    observed: AtomicU64,
    unclassified: AtomicU64,
    unclassified_seen: Mutex<Unclassified>,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Attempts that began (one for each pair of test and retry).
    pub begun: u64,
    /// Intervals of attempts that are open now.
    pub open: u64,
    /// Intervals that were finished as they should.
    pub finished: u64,
    /// Judged requests.
    pub requests: u64,
    /// Events that block.
    pub blocked: u64,
    /// Events that observe.
    pub observed: u64,
    /// Requests whose method usually writes and of which no signature spoke.
    pub unclassified: u64,
}

impl Stats {
    /// The counts now.
    pub fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            begun: read(&self.begun),
            open: read(&self.open),
            finished: read(&self.finished),
            requests: read(&self.requests),
            blocked: read(&self.blocked),
            observed: read(&self.observed),
            unclassified: read(&self.unclassified),
        }
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_unclassified(&self, method: &str, url: &str) {
        self.unclassified.fetch_add(1, Ordering::Relaxed);
        self.unclassified_seen.lock().unwrap_or_else(PoisonError::into_inner).note(method, url);
    }

    pub(super) fn count_event(&self, action: EventAction) {
        let count = match action {
            EventAction::Block => &self.blocked,
            EventAction::Observe => &self.observed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// The requests so far of which no signature spoke.
    pub(super) fn unclassified(&self) -> UnclassifiedList {
        self.unclassified_seen.lock().unwrap_or_else(PoisonError::into_inner).list()
    }

    /// The attempts that were opened so far.
    pub fn opened(&self) -> Vec<Begun> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn attempt_begun(&self, attempt: Begun) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn interval_opened(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn interval_closed(&self, finished: bool) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.finished.fetch_add(u64::from(finished), Ordering::Relaxed);
    }
}
