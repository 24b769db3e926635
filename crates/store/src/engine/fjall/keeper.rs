use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fjall::Keyspace;

use super::hidden::{self, Memtable};
use super::journal;

/// A thread that does what the engine would do while commits wait for it.
///
/// Before each flush the engine syncs the journal: for tens of megabytes, some tenths of a second. Here the same bytes
/// are handed to the disk a few at a time, on a descriptor of our own and with no lock held, so that its turn is short.
///
/// And when it has flushed what a keyspace held in memory, it takes that apart, row by row, with the keyspace locked.
/// Whoever lets go last has that to do: here it is this thread, with nothing locked.
pub(super) struct Keeper {
    work: SyncSender<Work>,
    thread: JoinHandle<()>,
}

/// What there is to do for these keyspaces, after the newest journal was synced.
struct Work {
    keyspaces: Arc<Vec<Keyspace>>,
    /// Flush those that hold less than so many bytes.
    flush_below: Option<u64>,
}

impl Keeper {
    /// None where no thread can be started: the engine then does all of it itself.
    pub(super) fn start(path: Arc<Path>) -> Option<Self> {
        // No more than one job waits after the one that is done: those that are not taken are not missed.
        let (work, jobs) = sync_channel(1);
        let run = move || {
            let mut held = Held::default();
            while let Some(job) = held.next(&jobs) {
                // What fails here fails again where it is answered for: in the engine's own sync, or in the next commit.
                let _ = sync(&path);
                held.take(&job.keyspaces);
                for keyspace in job.keyspaces.iter() {
                    let below = job.flush_below.unwrap_or_default();
                    if (1..below).contains(&hidden::in_memory(keyspace)) {
                        let _ = hidden::rotate(keyspace);
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("keyplan:keeper".into()).spawn(run).ok()?;
        Some(Self { work, thread })
    }

    /// Asks for the journal to be synced, and for keyspaces that hold less than `flush_below` to be flushed. False if
    /// that is being done, and has to be asked for again if it matters.
    pub(super) fn ask(&self, keyspaces: Arc<Vec<Keyspace>>, flush_below: Option<u64>) -> bool {
        self.work.try_send(Work { keyspaces, flush_below }).is_ok()
    }

    /// Ends the thread, once it has done what it does.
    pub(super) fn stop(self) {
        drop(self.work);
        // A panic there has said so; nothing depends on the thread.
        let _ = self.thread.join();
    }
}

/// What keyspaces hold in memory, or have held: each with whether it was sealed by the last look.
#[derive(Default)]
struct Held(Vec<(Memtable, bool)>);

/// How long memory that nobody uses may stay when no work comes.
const RELEASE_AFTER: Duration = Duration::from_millis(500);

impl Held {
    /// The next job. Memory that nobody else holds any longer is given back meanwhile.
    fn next(&mut self, jobs: &Receiver<Work>) -> Option<Work> {
        loop {
            self.0.retain(|(memtable, _)| Arc::strong_count(memtable) > 1);
            // What is not sealed stays in use until more is written, which brings work.
            if self.0.iter().all(|(_, sealed)| !sealed) {
                return jobs.recv().ok();
            }
            match jobs.recv_timeout(RELEASE_AFTER) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn take(&mut self, keyspaces: &[Keyspace]) {
        self.0.iter_mut().for_each(|(_, sealed)| *sealed = true);
        for memtable in keyspaces.iter().map(hidden::memtable) {
            match self.0.iter_mut().find(|(held, _)| Arc::ptr_eq(held, &memtable)) {
                Some((_, sealed)) => *sealed = false,
                None => self.0.push((memtable, false)),
            }
        }
    }
}

/// Hands the newest journal to the disk.
fn sync(directory: &Path) -> std::io::Result<()> {
    match journal::newest(directory) {
        Some(path) => File::open(path)?.sync_data(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_else_holds_is_given_back() {
        let (used, left): (Memtable, Memtable) = (Arc::new([7; 100]), Arc::new([9; 100]));
        let gone = Arc::downgrade(&left);
        let mut held = Held(vec![(used.clone(), true), (left, true)]);
        let (work, jobs) = sync_channel(1);
        drop(work);
        assert!(held.next(&jobs).is_none());
        assert!(gone.upgrade().is_none());
        assert_eq!(Arc::strong_count(&used), 2);
    }
}
