//! Tasks of the proxy's own thread. A task that panics is noted: a guard that lost a task must never look like a clean run.

use hyper::rt::Executor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts tasks on the current thread.
#[derive(Clone, Debug)]
pub(super) struct Spawner {
    panicked: Arc<AtomicBool>,
}

/// Notes a panic that unwinds through it.
struct Watch(Arc<AtomicBool>);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Spawner {
    /// A spawner that sets `panicked` once a task panicked.
    pub(super) fn new(panicked: Arc<AtomicBool>) -> Self {
        Self { panicked }
    }

    /// Starts a task; it must be called within the proxy's runtime.
    pub(super) fn spawn<F: Future<Output = ()> + 'static>(&self, task: F) {
        let watch = Watch(self.panicked.clone());
        tokio::task::spawn_local(async move {
            let _watch = watch;
            task.await;
        });
    }
}

impl<F: Future + 'static> Executor<F> for Spawner {
    fn execute(&self, task: F) {
        self.spawn(async move {
            task.await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_noted() {
        let runtime = tokio::runtime::Builder::new_current_thread().build_local(Default::default()).unwrap();
        let noted = Arc::new(AtomicBool::new(false));
        let spawner = Spawner::new(noted.clone());
        runtime.block_on(async {
            spawner.spawn(async {});
            tokio::task::yield_now().await;
            assert!(!noted.load(Ordering::Relaxed));
            spawner.spawn(async { panic!("on purpose") });
            tokio::task::yield_now().await;
        });
        assert!(noted.load(Ordering::Relaxed));
    }
}
