//! Attempts: one try of one test, in one or more intervals (hooks begin and end on their own), each with a port.
//!
//! Whatever happens to a worker, no traffic is lost from the records: an interval that never ends is recorded as unfinished,
//! what arrives after an end is late, what belongs to no attempt is outside.

mod ledger;
mod place;
mod port;
mod registry;

pub use ledger::Ledger;
pub use place::PlaceError;
pub use port::{Port, Route, Visit};
pub use registry::{Attempts, FinishError, RunFacts, secret};

use crate::model::{CaseId, FixtureTitle};
use crate::record::AttemptInfo;
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};

/// What a test process says when an interval begins.
#[derive(Clone, Debug, Deserialize)]
pub struct Begin {
    /// Playwright's `testId`.
    pub test_id: String,
    /// 0 for the first try.
    pub retry: u64,
    /// The test's title.
    pub title: String,
    /// The project's name.
    pub project: String,
    /// The spec file; empty when it is not told.
    #[serde(default)]
    pub file: String,
    /// The test's line in it; 0 when it is not told.
    #[serde(default)]
    pub line: u64,
    /// Playwright's `workerIndex`: never used twice in a run.
    pub worker_index: u64,
    /// Playwright's `parallelIndex`: taken over by the next worker when one dies.
    pub parallel_index: u64,
    /// The attempt's own output folder.
    pub output_dir: String,
}

/// One try of one test in one project.
pub struct Attempt {
    id: String,
    /// Its title names a case or a fixture, so that its records belong to the report.
    counts: bool,
    intervals: Cell<u64>,
    /// Intervals that left a record.
    recorded: Cell<u64>,
    /// Intervals that never ended.
    unfinished: Cell<u64>,
    open: RefCell<Option<Rc<Interval>>>,
    /// The record of the last interval that has begun.
    last: RefCell<Option<Rc<Ledger>>>,
    late: RefCell<Option<Rc<Ledger>>>,
    /// Makes the ledger of late traffic when there is some.
    make_late: Box<dyn Fn() -> Rc<Ledger>>,
}

/// From a begin to its finish.
pub struct Interval {
    attempt: Rc<Attempt>,
    number: u64,
    ledger: Rc<Ledger>,
    open: Cell<bool>,
    finishing: Cell<bool>,
    port: RefCell<Weak<Port>>,
    worker: Rc<Worker>,
    output_dir: PathBuf,
    secret: String,
}

/// What runs in one of Playwright's parallel slots.
#[derive(Default)]
pub struct Worker {
    index: Cell<u64>,
    current: RefCell<Option<Rc<Interval>>>,
    last: RefCell<Option<Rc<Interval>>>,
    /// Ports whose contexts outlive the interval that they were opened in.
    kept: RefCell<Vec<Rc<Port>>>,
}

impl Attempt {
    /// Its name in paths and in the control API.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The interval that is open.
    pub fn open(&self) -> Option<Rc<Interval>> {
        self.open.borrow().clone()
    }

    /// The record of the last interval.
    pub fn last_ledger(&self) -> Option<Rc<Ledger>> {
        self.last.borrow().clone()
    }

    fn late_ledger(&self) -> Rc<Ledger> {
        self.late.borrow_mut().get_or_insert_with(&self.make_late).clone()
    }
}

impl Interval {
    /// Its attempt.
    pub fn attempt(&self) -> &Rc<Attempt> {
        &self.attempt
    }

    /// 1 for the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its record.
    pub fn ledger(&self) -> &Rc<Ledger> {
        &self.ledger
    }

    /// What page reports must carry.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    fn ledger_now(&self) -> Rc<Ledger> {
        if self.open.get() { self.ledger.clone() } else { self.attempt.late_ledger() }
    }
}

impl Worker {
    /// Of the interval that is open, else late traffic of the one that ended last.
    fn ledger_now(&self, opener: &Interval) -> Rc<Ledger> {
        if let Some(interval) = self.current.borrow().as_ref() {
            return interval.ledger_now();
        }
        self.last.borrow().as_deref().unwrap_or(opener).attempt.late_ledger()
    }
}

impl Begin {
    fn counts(&self) -> bool {
        CaseId::at_start_of(&self.title).is_some() || FixtureTitle::parse(&self.title).is_some()
    }

    fn info(&self, interval: u64, run_id: Option<String>) -> AttemptInfo {
        AttemptInfo {
            test_id: self.test_id.clone(),
            retry: self.retry,
            interval,
            project: self.project.clone(),
            title: self.title.clone(),
            file: self.file.clone(),
            line: self.line,
            worker_index: self.worker_index,
            status: None,
            run_id,
        }
    }
}
