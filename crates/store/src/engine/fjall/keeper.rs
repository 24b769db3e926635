use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use fjall::Keyspace;

use super::{hidden, journal};

/// A thread that keeps the journal short of work for the engine's own.
///
/// Before each flush the engine syncs the journal, and commits wait for as long as that takes: for tens of megabytes,
/// some tenths of a second. Here the same bytes are handed to the disk a few at a time, on a descriptor of our own and
/// with no lock held, so that the engine's turn is short.
pub(super) struct Keeper {
    work: SyncSender<Work>,
    thread: JoinHandle<()>,
}

enum Work {
    /// Syncs the newest journal.
    Sync,
    /// The same, and then flushes the spaces that hold less than so many bytes.
    FlushSmall(Arc<Vec<Keyspace>>, u64),
}

impl Keeper {
    /// None where there is no thread to be had: the engine's own syncs are then as long as they are.
    pub(super) fn start(path: Arc<Path>) -> Option<Self> {
        // No more than one job waits behind the one that is done: those that are not taken are not missed.
        let (work, jobs) = sync_channel(1);
        let run = move || {
            for job in jobs {
                // What fails here fails again where it is answered for: in the engine's own sync, or in the next commit.
                let _ = sync(&path);
                if let Work::FlushSmall(keyspaces, less) = job {
                    for keyspace in keyspaces.iter() {
                        if (1..less).contains(&hidden::in_memory(keyspace)) {
                            let _ = hidden::rotate(keyspace);
                        }
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("keyplan:journal".into()).spawn(run).ok()?;
        Some(Self { work, thread })
    }

    /// Asks for the journal to be synced, unless that is being done.
    pub(super) fn sync(&self) {
        let _ = self.work.try_send(Work::Sync);
    }

    /// Asks for small spaces to be flushed; false if it has to be asked for again.
    pub(super) fn flush_small(&self, keyspaces: Arc<Vec<Keyspace>>, less: u64) -> bool {
        self.work.try_send(Work::FlushSmall(keyspaces, less)).is_ok()
    }

    /// Ends the thread, once it has done what it does.
    pub(super) fn stop(self) {
        drop(self.work);
        // A panic there has said so; nothing depends on the thread.
        let _ = self.thread.join();
    }
}

/// Hands the newest journal to the disk.
fn sync(directory: &Path) -> std::io::Result<()> {
    match journal::newest(directory) {
        Some(path) => File::open(path)?.sync_data(),
        None => Ok(()),
    }
}
