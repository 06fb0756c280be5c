//! All attempts of a run: how they begin and end, and which records they leave.

use super::place::{self, OUTSIDE, WRITES};
use super::{Attempt, Begin, Interval, Ledger, PlaceError, Port, Route, Worker};
use crate::files::FileError;
use crate::model::{Digest, PolicyKind};
use crate::policy::Rules;
use crate::proxy::stats::{Begun, Stats};
use crate::proxy::task::Spawner;
use crate::record::{AttemptInfo, Recorder, WritesRecord, Written};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long it must have been quiet before a record is closed while clients are still connected: what pages send as they
/// close arrives within some milliseconds.
const QUIET: Duration = Duration::from_millis(50);

/// The run that attempts belong to.
pub struct RunFacts {
    /// Where records go, a real path.
    pub dir: PathBuf,
    /// What records call it.
    pub id: Option<String>,
    /// Whether its tests have no way out but the guard.
    pub egress_locked: bool,
}

/// The attempts of one run.
pub struct Attempts {
    run: RunFacts,
    drain: Duration,
    rules: Rc<Rules>,
    digest: Digest,
    stats: Arc<Stats>,
    spawner: Spawner,
    by_id: RefCell<BTreeMap<String, Rc<Attempt>>>,
    workers: RefCell<HashMap<u64, Rc<Worker>>>,
    ports: RefCell<HashMap<u16, Weak<Port>>>,
    main_port: u16,
    outside: Rc<Ledger>,
}

/// Why an attempt does not begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Its folder is not to be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// No secret could be made.
    #[error("no randomness for a secret")]
    Random,
}

/// Why an attempt does not finish.
#[derive(Debug, thiserror::Error)]
pub enum FinishError {
    /// It did already, or its worker died.
    #[error("attempt {0} has no open interval: it was finished already, or its worker was taken for dead")]
    NotOpen(String),
    /// The record cannot be written.
    #[error("cannot write the record: {0}")]
    Write(FileError),
}

/// The record that a finish left.
#[derive(Debug)]
pub struct Finished {
    /// The file.
    pub path: PathBuf,
    /// Of its bytes.
    pub sha256: Digest,
    /// What it says.
    pub record: WritesRecord,
}

impl Attempts {
    /// No attempt yet.
    pub fn new(
        run: RunFacts,
        drain: Duration,
        rules: Rc<Rules>,
        stats: Arc<Stats>,
        spawner: Spawner,
        main_port: u16,
    ) -> Self {
        let digest = rules.config().signatures_sha256();
        let recorder = recorder(&rules, digest, run.egress_locked, None);
        Self {
            run,
            drain,
            rules,
            digest,
            outside: Ledger::new(recorder, false, stats.clone()),
            stats,
            spawner,
            by_id: RefCell::default(),
            workers: RefCell::default(),
            ports: RefCell::default(),
            main_port,
        }
    }

    /// Where what belongs to no attempt is recorded.
    pub fn outside(&self) -> &Rc<Ledger> {
        &self.outside
    }

    /// Whether `port` is a listener of the guard.
    pub fn is_own(&self, port: u16) -> bool {
        port == self.main_port || self.ports.borrow().get(&port).is_some_and(listens)
    }

    /// How many attempts have an open interval.
    pub fn open_count(&self) -> usize {
        self.by_id.borrow().values().filter(|attempt| attempt.open().is_some()).count()
    }

    /// The attempt that is called `id`.
    pub fn find(&self, id: &str) -> Option<Rc<Attempt>> {
        self.by_id.borrow().get(id).cloned()
    }

    /// Opens an interval on the listener `number`.
    ///
    /// # Errors
    /// When `output_dir` is not to be used.
    pub fn begin(&self, begin: &Begin, number: u16) -> Result<(Rc<Interval>, Rc<Port>), BeginError> {
        let output_dir = place::output_dir(&self.run.dir, &begin.output_dir)?;
        let secret = secret()?;
        let worker = self.worker(begin);
        let attempt = self.attempt(begin);
        // A second begin without a finish: what was open will never be finished.
        if let Some(open) = attempt.open() {
            self.abandon(&open);
        }
        let interval_number = attempt.intervals.get() + 1;
        attempt.intervals.set(interval_number);
        let ledger = Ledger::new(self.recorder(begin, interval_number), false, self.stats.clone());
        let interval = Rc::new(Interval {
            number: interval_number,
            ledger: ledger.clone(),
            open: Cell::new(true),
            finishing: Cell::new(false),
            port: RefCell::default(),
            worker: worker.clone(),
            output_dir,
            secret,
            attempt: attempt.clone(),
        });
        let port = Port::new(number, Route::Interval(interval.clone()));
        *interval.port.borrow_mut() = Rc::downgrade(&port);
        *attempt.open.borrow_mut() = Some(interval.clone());
        *attempt.last.borrow_mut() = Some(ledger);
        *worker.current.borrow_mut() = Some(interval.clone());
        self.stats.interval_opened();
        self.register(&port);
        Ok((interval, port))
    }

    /// Ends the open interval of `attempt` and writes its record. `None` when it leaves none that counts.
    ///
    /// # Errors
    /// When no interval is open, or the record cannot be written.
    pub async fn finish(
        &self,
        attempt: &Rc<Attempt>,
        status: Option<String>,
        keep: bool,
    ) -> Result<Option<Finished>, FinishError> {
        let not_open = || FinishError::NotOpen(attempt.id.clone());
        let interval = attempt.open().ok_or_else(not_open)?;
        if interval.finishing.replace(true) {
            return Err(not_open());
        }
        self.settle(&interval).await;
        if !interval.open.get() {
            return Err(not_open());
        }
        interval.ledger.with(|recorder| recorder.status(status));
        self.close(&interval, true);
        self.retire_ports(&interval, keep);
        if interval.ledger.with(|recorder| recorder.is_empty()) {
            return Ok(None);
        }
        self.record(&interval).inspect_err(|error| {
            tracing::error!("{}: {error}", attempt.id);
            self.record_unfinished(&interval);
        })
    }

    /// Ends everything: what is still open is unfinished, and what came late or outside is written.
    ///
    /// # Errors
    /// Each record that could not be written.
    pub fn stop(&self) -> Vec<FileError> {
        let mut errors = Vec::new();
        let attempts: Vec<_> = self.by_id.borrow().values().cloned().collect();
        for attempt in &attempts {
            if let Some(open) = attempt.open() {
                self.close(&open, false);
                errors.extend(self.record_unfinished(&open));
            }
        }
        for attempt in &attempts {
            if let Some(late) = attempt.late.borrow().as_ref()
                && late.with(|recorder| recorder.blocked() + recorder.observed() > 0)
            {
                let path = self.run.dir.join("late").join(&attempt.id).join(WRITES);
                errors.extend(late.with(|recorder| self.write(recorder, &path)).err());
            }
        }
        if !self.outside.with(|recorder| recorder.is_empty()) {
            let path = self.run.dir.join("outside").join(self.outside_name(&self.outside));
            errors.extend(self.outside.with(|recorder| self.write(recorder, &path)).err());
        }
        errors.extend(self.stats.unclassified().write(&self.run.dir).err());
        for port in self.ports.borrow().values().filter_map(Weak::upgrade) {
            port.close();
        }
        errors
    }

    /// Every port that listens.
    pub fn ports(&self) -> Vec<Rc<Port>> {
        self.ports.borrow().values().filter_map(Weak::upgrade).collect()
    }

    /// Notes a port, so that it is closed at the end and never dialled.
    pub fn register(&self, port: &Rc<Port>) {
        let mut ports = self.ports.borrow_mut();
        ports.retain(|_, port| listens(port));
        ports.insert(port.number(), Rc::downgrade(port));
    }

    /// The slot that the attempt runs in; whoever was there before without an end is gone.
    fn worker(&self, begin: &Begin) -> Rc<Worker> {
        let worker = self.workers.borrow_mut().entry(begin.parallel_index).or_default().clone();
        let dead = worker.current.borrow().clone();
        if let Some(interval) = dead {
            self.abandon(&interval);
        }
        if begin.worker_index > worker.index.get() {
            release(&worker);
        }
        worker.index.set(begin.worker_index.max(worker.index.get()));
        worker
    }

    fn attempt(&self, begin: &Begin) -> Rc<Attempt> {
        let id = attempt_id(&begin.test_id, begin.retry);
        let mut by_id = self.by_id.borrow_mut();
        if let Some(found) = by_id.get(&id) {
            return found.clone();
        }
        let (rules, digest, stats, info) =
            (self.rules.clone(), self.digest, self.stats.clone(), begin.info(0, self.run.id.clone()));
        let locked = self.run.egress_locked;
        let attempt = Rc::new(Attempt {
            id: id.clone(),
            counts: begin.counts(),
            intervals: Cell::new(0),
            recorded: Cell::new(0),
            unfinished: Cell::new(0),
            open: RefCell::default(),
            last: RefCell::default(),
            late: RefCell::default(),
            make_late: Box::new(move || {
                Ledger::new(recorder(&rules, digest, locked, Some(info.clone())), true, stats.clone())
            }),
        });
        by_id.insert(id, attempt.clone());
        self.stats.attempt_begun(Begun {
            title: begin.title.clone(),
            project: begin.project.clone(),
            retry: begin.retry,
        });
        attempt
    }

    fn recorder(&self, begin: &Begin, interval: u64) -> Recorder {
        let info = begin.info(interval, self.run.id.clone());
        recorder(&self.rules, self.digest, self.run.egress_locked, Some(info))
    }

    /// Waits until what was sent before the end has been judged.
    async fn settle(&self, interval: &Interval) {
        let began = Instant::now();
        let deadline = began + self.drain;
        loop {
            let quiet_at = interval.ledger.last_arrival().max(began) + QUIET;
            let now = Instant::now();
            let judged = interval.ledger.unjudged() == 0;
            if now >= deadline || (judged && (self.clients(interval) == 0 || now >= quiet_at)) {
                return;
            }
            let wake = if judged { quiet_at.min(deadline) } else { deadline };
            let port = interval.port.borrow().upgrade();
            tokio::select! {
                () = tokio::time::sleep_until(wake) => {}
                () = interval.ledger.changed() => {}
                () = async { match &port { Some(port) => port.changed().await, None => std::future::pending().await } } => {}
            }
        }
    }

    /// Client connections whose traffic belongs to this interval.
    fn clients(&self, interval: &Interval) -> usize {
        let own = interval.port.borrow().upgrade().map_or(0, |port| port.connections());
        own + interval.worker.kept.borrow().iter().map(|port| port.connections()).sum::<usize>()
    }

    fn close(&self, interval: &Rc<Interval>, finished: bool) {
        interval.open.set(false);
        interval.attempt.open.borrow_mut().take();
        let worker = &interval.worker;
        worker.current.borrow_mut().take_if(|current| Rc::ptr_eq(current, interval));
        *worker.last.borrow_mut() = Some(interval.clone());
        self.stats.interval_closed(finished);
    }

    /// Its worker is gone: the record is written at once, as unfinished, and its ports close.
    fn abandon(&self, interval: &Rc<Interval>) {
        self.close(interval, false);
        if let Some(port) = interval.port.borrow().upgrade() {
            port.close();
        }
        release(&interval.worker);
        self.record_unfinished(interval);
    }

    fn retire_ports(&self, interval: &Rc<Interval>, keep: bool) {
        let Some(port) = interval.port.borrow().upgrade() else { return };
        if keep {
            port.reroute(Route::Worker(interval.worker.clone(), interval.clone()));
            interval.worker.kept.borrow_mut().push(port);
            return;
        }
        let kept = interval.worker.kept.take();
        for port in kept.into_iter().chain([port]) {
            port.reroute(Route::Interval(interval.clone()));
            if port.connections() == 0 {
                port.close();
            } else {
                let drain = self.drain;
                self.spawner.spawn(async move { port.close_when_idle(drain).await });
            }
        }
    }

    fn record(&self, interval: &Interval) -> Result<Option<Finished>, FinishError> {
        let attempt = &interval.attempt;
        let n = attempt.recorded.get() + 1;
        let path = if attempt.counts {
            place::numbered(&interval.output_dir, n, WRITES)
        } else {
            let folder = self.run.dir.join("outside").join(&attempt.id);
            place::numbered(&folder, n, self.outside_name(&interval.ledger))
        };
        let written =
            interval.ledger.with(|recorder| self.write(recorder, &path)).map_err(FinishError::Write)?;
        attempt.recorded.set(n);
        let finished = Finished { path, sha256: written.sha256, record: written.record };
        Ok(attempt.counts.then_some(finished))
    }

    fn record_unfinished(&self, interval: &Interval) -> Option<FileError> {
        let attempt = &interval.attempt;
        let n = attempt.unfinished.get() + 1;
        attempt.unfinished.set(n);
        let folder = self.run.dir.join("unfinished").join(&attempt.id);
        let written =
            interval.ledger.with(|recorder| self.write(recorder, &place::numbered(&folder, n, WRITES)));
        written.err().inspect(|error| tracing::error!("{}: {error}", attempt.id))
    }

    /// Tests may move folders about while they run: a record goes where it was to go, or nowhere.
    fn write(&self, recorder: &Recorder, path: &Path) -> Result<Written, FileError> {
        place::still_inside(&self.run.dir, path)?;
        recorder.write(path)
    }

    /// Outside of attempts only what wrote, or tried to, counts against the run.
    fn outside_name(&self, ledger: &Ledger) -> &'static str {
        let scoped = self.rules.policy().kind() == PolicyKind::ScopedWrite;
        let counts = ledger.with(|recorder| recorder.blocked() > 0 || (scoped && recorder.observed() > 0));
        if counts { WRITES } else { OUTSIDE }
    }
}

/// An empty record of this run.
fn recorder(rules: &Rules, digest: Digest, egress_locked: bool, attempt: Option<AttemptInfo>) -> Recorder {
    Recorder::new(rules.policy(), rules.config().write_signatures.len(), digest, egress_locked, attempt)
}

fn listens(port: &Weak<Port>) -> bool {
    port.upgrade().is_some_and(|port| !port.closed().is_cancelled())
}

/// Closes the ports that contexts of a worker were left open on; what still arrives is late for the attempt that ended last.
fn release(worker: &Worker) {
    let kept = worker.kept.take();
    let last = worker.last.borrow().clone();
    for port in kept {
        if let Some(last) = &last {
            port.reroute(Route::Interval(last.clone()));
        }
        port.close();
    }
}

/// A name that is fit for paths: the test's id when it is, else a digest of it.
fn attempt_id(test_id: &str, retry: u64) -> String {
    let fit = (1..=120).contains(&test_id.len())
        && test_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fit {
        format!("{test_id}-r{retry}")
    } else {
        format!("t{}-r{retry}", Digest::of(test_id.as_bytes()).short(32))
    }
}

/// 128 random bits in hexadecimal.
pub fn secret() -> Result<String, BeginError> {
    let mut bytes = [0; 16];
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut bytes).map_err(|_| BeginError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_fit_for_paths() {
        assert_eq!(attempt_id("d748ac400d08b85935ef-1c2f", 2), "d748ac400d08b85935ef-1c2f-r2");
        for id in ["../x", "", "a b", "ü", &"a".repeat(121)] {
            let fit = attempt_id(id, 0);
            assert!(fit.starts_with('t') && fit.len() == 36 && !fit.contains(['/', '.', ' ']), "{fit}");
        }
    }
}
