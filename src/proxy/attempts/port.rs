//! A port of the guard and whose traffic arrives on it. Chromium sends no credentials unasked, so that a port of its own is
//! what tells one attempt's requests from another's.

use super::ledger::Ledger;
use super::{Interval, Worker};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// One port.
pub struct Port {
    number: u16,
    route: RefCell<Route>,
    connections: Cell<usize>,
    changed: Notify,
    closed: CancellationToken,
}

/// Whose traffic it is.
pub enum Route {
    /// What runs outside any attempt.
    Run(Rc<Ledger>),
    /// One interval's; once that has ended, late traffic of its attempt.
    Interval(Rc<Interval>),
    /// A context that outlives the interval it was opened in: the attempt's that is open on the worker.
    Worker(Rc<Worker>, Rc<Interval>),
}

/// A client connection on a port.
pub struct Visit(Rc<Port>);

impl Port {
    /// The port `number`.
    pub fn new(number: u16, route: Route) -> Rc<Self> {
        Rc::new(Self {
            number,
            route: RefCell::new(route),
            connections: Cell::new(0),
            changed: Notify::new(),
            closed: CancellationToken::new(),
        })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Sends what arrives from now on elsewhere.
    pub fn reroute(&self, route: Route) {
        *self.route.borrow_mut() = route;
    }

    /// Where a request that arrives now is recorded.
    pub fn ledger(&self) -> Rc<Ledger> {
        match &*self.route.borrow() {
            Route::Run(ledger) => ledger.clone(),
            Route::Interval(interval) => interval.ledger_now(),
            Route::Worker(worker, opener) => worker.ledger_now(opener),
        }
    }

    /// What the probe says of it: `attempt` or `run`.
    pub fn kind(&self) -> &'static str {
        match &*self.route.borrow() {
            Route::Run(_) => "run",
            Route::Interval(_) | Route::Worker(..) => "attempt",
        }
    }

    /// Counts a connection for as long as the visit lives.
    pub fn enter(self: &Rc<Self>) -> Visit {
        self.connections.set(self.connections.get() + 1);
        Visit(self.clone())
    }

    /// How many client connections are open.
    pub fn connections(&self) -> usize {
        self.connections.get()
    }

    /// Ends when the number of connections changes.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Stops listening and ends every connection.
    pub fn close(&self) {
        self.closed.cancel();
    }

    /// Cancelled by [`close`](Self::close).
    pub fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Closes at once when no client is left, else when the last one has left, and after `drain` in any case.
    pub async fn close_when_idle(&self, drain: Duration) {
        let idle = async {
            while self.connections() > 0 {
                self.changed().await;
            }
        };
        // Whether it became idle or the time was up, it closes now.
        let _ = tokio::time::timeout(drain, idle).await;
        self.close();
    }
}

impl Visit {
    /// The port.
    pub fn port(&self) -> &Rc<Port> {
        &self.0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.connections.set(self.0.connections.get().saturating_sub(1));
        self.0.changed.notify_waiters();
    }
}
