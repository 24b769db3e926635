//! The runtime that a database lives in, and waiting for it.

use std::future::Future;
use std::time::Duration;

use keyplan_store::engine::Error;
use keyplan_store::engine::kit::park_on;
use tokio::runtime::{Builder, Handle, Runtime};

/// A small runtime.
#[derive(Debug)]
pub(crate) struct Link {
    // Taken out on drop only.
    runtime: Option<Runtime>,
    handle: Handle,
    pub(crate) limit: Duration,
}

impl Link {
    pub(crate) fn new(limit: Duration) -> Result<Self, Error> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("keyplan-slate").enable_all();
        let runtime =
            builder.build().map_err(|source| Error::Io { doing: "starting the runtime", source })?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime), limit })
    }

    /// Waits for something, as long as one call may take; `None` if it takes longer.
    pub(crate) fn wait<T>(&self, asked: impl Future<Output = T>) -> Option<T> {
        self.wait_for(self.limit, asked)
    }

    /// Waits for something, and no longer than `limit`.
    pub(crate) fn wait_for<T>(&self, limit: Duration, asked: impl Future<Output = T>) -> Option<T> {
        self.block_on(async move { tokio::time::timeout(limit, asked).await.ok() })
    }

    pub(crate) const fn late(&self) -> Error {
        Error::Deadline { limit: self.limit }
    }

    /// Waits for something that takes as long as it takes.
    ///
    /// The thread is parked, and not lent to a runtime: it may be that of a task of another one.
    pub(crate) fn block_on<T>(&self, asked: impl Future<Output = T>) -> T {
        let _entered = self.handle.enter();
        park_on(asked)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
