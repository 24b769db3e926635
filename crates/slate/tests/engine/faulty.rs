//! An object store that fails now and then.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt as _};
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
    // Every call is refused from now on, as if the process were cut off.
    cut: AtomicBool,
    // Nothing is told of the list of states until this ends: what others have done is not seen.
    blind: Arc<AtomicBool>,
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
    /// A put is done twice, and the second answer is the one that comes.
    Twice,
    /// A call is never answered, and nothing was done.
    Unanswered,
}

impl Faulty {
    pub(crate) fn new(store: Arc<InMemory>, fault: Fault, every: u64) -> Arc<Self> {
        let (calls, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        let (cut, blind) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
        Arc::new(Self { store, fault, every, calls, failed, cut, blind })
    }

    /// Storage that does as it is told, until it is cut off or made blind.
    pub(crate) fn sound(store: Arc<InMemory>) -> Arc<Self> {
        Self::new(store, Fault::Slow, u64::MAX)
    }

    /// Refuses every call from now on, or none any more.
    pub(crate) fn set_cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Release);
    }

    /// Answers no question about the states of the database, until told otherwise.
    pub(crate) fn set_blind(&self, blind: bool) {
        self.blind.store(blind, Ordering::Release);
    }

    async fn reach(&self, location: Option<&Path>) -> Result<()> {
        while self.blind.load(Ordering::Acquire)
            && location.is_some_and(|location| location.as_ref().contains("manifest"))
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if self.cut.load(Ordering::Acquire) { Err(lost()) } else { Ok(()) }
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
            Fault::Unanswered => {
                tokio::time::sleep(Duration::from_hours(1)).await;
                Err(lost())
            }
            Fault::AnswerLost | Fault::Twice => Ok(true),
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
        self.reach(Some(location)).await?;
        let wrong = self.before().await?;
        let again = (wrong && self.fault == Fault::Twice).then(|| (payload.clone(), options.clone()));
        let done = self.store.put_opts(location, payload, options).await;
        if let Some((payload, options)) = again {
            return self.store.put_opts(location, payload, options).await;
        }
        if wrong && done.is_ok() { Err(lost()) } else { done }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.reach(Some(location)).await?;
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.reach(Some(location)).await?;
        if self.before().await? && self.fault == Fault::Refused {
            return Err(lost());
        }
        self.store.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.reach(Some(location)).await?;
        self.before().await?;
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        if self.cut.load(Ordering::Acquire) {
            return Box::pin(stream::once(async { Err(lost()) }));
        }
        let about_states = prefix.is_some_and(|prefix| prefix.as_ref().contains("manifest"));
        let (blind, found) = (self.blind.clone(), self.store.list(prefix));
        let waits = async move {
            while about_states && blind.load(Ordering::Acquire) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            None
        };
        Box::pin(stream::once(waits).filter_map(std::future::ready).chain(found))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.reach(prefix).await?;
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
