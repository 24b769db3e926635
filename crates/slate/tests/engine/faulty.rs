//! An object store that fails now and then.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::stream::BoxStream;
use keyplan_slate::object_store::memory::InMemory;
use keyplan_slate::object_store::path::Path;
use keyplan_slate::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// Every n-th call of a kind goes wrong.
#[derive(Debug)]
pub(crate) struct Faulty {
    store: Arc<InMemory>,
    fault: Fault,
    every: u64,
    calls: AtomicU64,
    pub(crate) failed: AtomicU64,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A call fails, and nothing was done.
    Refused,
    /// A put is done, and its answer is lost.
    AnswerLost,
    /// A call takes a while.
    Slow,
}

impl Faulty {
    pub(crate) fn new(store: Arc<InMemory>, fault: Fault, every: u64) -> Arc<Self> {
        let (calls, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { store, fault, every, calls, failed })
    }

    /// Whether this call is one that goes wrong.
    fn turn(&self) -> bool {
        let turn = self.calls.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1;
        if turn {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        turn
    }

    async fn before(&self) -> Result<bool> {
        if !self.turn() {
            return Ok(false);
        }
        match self.fault {
            Fault::Refused => Err(lost()),
            Fault::Slow => {
                tokio::time::sleep(Duration::from_millis(30)).await;
                Ok(false)
            }
            Fault::AnswerLost => Ok(true),
        }
    }
}

fn lost() -> Error {
    Error::Generic { store: "faulty", source: "the connection was reset".into() }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let answer_lost = self.before().await?;
        let done = self.store.put_opts(location, payload, options).await;
        if answer_lost && done.is_ok() { Err(lost()) } else { done }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if self.before().await? && self.fault == Fault::Refused {
            return Err(lost());
        }
        self.store.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.before().await?;
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.before().await?;
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.store.rename_opts(from, to, options).await
    }
}
