//! A record while traffic still arrives for it, and what is on its way to being judged.

use crate::policy::Standing;
use crate::proxy::stats::Stats;
use crate::record::{Event, EventAction, EventId, Recorder};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::time::Instant;

/// One record that is being kept.
pub struct Ledger {
    recorder: RefCell<Recorder>,
    late: bool,
    unjudged: Cell<usize>,
    last: Cell<Instant>,
    changed: Notify,
    stats: Arc<Stats>,
}

/// A request that arrived and is not judged yet.
pub struct Arrival(Rc<Ledger>);

impl Ledger {
    /// An open ledger; a `late` one is for what arrives after its attempt has ended.
    pub fn new(recorder: Recorder, late: bool, stats: Arc<Stats>) -> Rc<Self> {
        Rc::new(Self {
            recorder: RefCell::new(recorder),
            late,
            unjudged: Cell::new(0),
            last: Cell::new(Instant::now()),
            changed: Notify::new(),
            stats,
        })
    }

    /// How requests that belong here are judged.
    pub fn standing(&self) -> Standing {
        if self.recorder.borrow().is_full() {
            Standing::Full
        } else if self.late {
            Standing::Late
        } else {
            Standing::Open
        }
    }

    /// Notes that a request arrived.
    pub fn arrive(self: &Rc<Self>) -> Arrival {
        self.unjudged.set(self.unjudged.get() + 1);
        self.last.set(Instant::now());
        Arrival(self.clone())
    }

    /// Counts a judged request.
    pub fn routed(&self, navigates: bool) {
        self.recorder.borrow_mut().routed(navigates);
        self.stats.count_request();
    }

    /// Counts a request of which no signature spoke although its method usually writes.
    pub fn unclassified(&self, method: &str, url: &str) {
        self.recorder.borrow_mut().unclassified();
        self.stats.count_unclassified(method, url);
    }

    /// Adds an event.
    pub fn add(&self, event: Event) -> Option<EventId> {
        let mut recorder = self.recorder.borrow_mut();
        let before = (recorder.blocked(), recorder.observed());
        let id = recorder.add(event);
        if recorder.blocked() > before.0 {
            self.stats.count_event(EventAction::Block);
        } else if recorder.observed() > before.1 {
            self.stats.count_event(EventAction::Observe);
        }
        id
    }

    /// Reads or changes the record.
    pub fn with<T>(&self, act: impl FnOnce(&mut Recorder) -> T) -> T {
        act(&mut self.recorder.borrow_mut())
    }

    /// How many requests are not judged yet.
    pub fn unjudged(&self) -> usize {
        self.unjudged.get()
    }

    /// When the last request arrived.
    pub fn last_arrival(&self) -> Instant {
        self.last.get()
    }

    /// Ends when the number of unjudged requests changes.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.0.unjudged.set(self.0.unjudged.get().saturating_sub(1));
        self.0.last.set(Instant::now());
        self.0.changed.notify_waiters();
    }
}
