use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use fjall::Keyspace;

use super::hidden;

/// The memtables of a database that are in memory: written, waiting to be flushed, or flushed and still held by somebody.
#[derive(Default)]
pub(super) struct Memtables {
    seen: Mutex<Vec<Seen>>,
    /// What was still in memory when it was last waited for in vain.
    held: AtomicU64,
}

/// A memtable, with its bytes when it was last the one that is written.
struct Seen {
    memtable: Weak<dyn Any + Send + Sync>,
    bytes: u64,
}

impl Memtables {
    /// The bytes of all memtables that are in memory. What was never the one that is written at a look is not known.
    pub(super) fn bytes(&self, keyspaces: &[Keyspace]) -> u64 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for keyspace in keyspaces {
            let (memtable, bytes) = (hidden::memtable(keyspace), hidden::in_memory(keyspace));
            match seen.iter_mut().find(|seen| seen.is(&memtable)) {
                Some(seen) => seen.bytes = bytes,
                None => seen.push(Seen { memtable: Arc::downgrade(&memtable), bytes }),
            }
        }
        seen.retain(|seen| seen.memtable.strong_count() > 0);
        seen.iter().map(|seen| seen.bytes).sum()
    }

    /// Whether they have more bytes than `most`, and more than when they were last waited for: those that a reader keeps for long
    /// do not hold up every commit.
    pub(super) fn exceed(&self, most: u64, keyspaces: &[Keyspace]) -> bool {
        let bytes = self.bytes(keyspaces);
        if bytes <= most {
            self.held.store(0, Ordering::Relaxed);
        }
        bytes > most && bytes > self.held.load(Ordering::Relaxed)
    }

    /// Remembers what was waited for in vain, if it was.
    pub(super) fn waited(&self, most: u64, keyspaces: &[Keyspace]) {
        let bytes = self.bytes(keyspaces);
        let held = if bytes > most { bytes.saturating_add(most / 16) } else { 0 };
        self.held.store(held, Ordering::Relaxed);
    }
}

impl Seen {
    fn is(&self, memtable: &hidden::Memtable) -> bool {
        std::ptr::addr_eq(self.memtable.as_ptr(), Arc::as_ptr(memtable))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::engine::{
        Batch, Durability, Engine as _, Fjall, FjallSettings, KeyRange, Snapshot as _, Space,
    };

    const MOST: u64 = 2 << 20;

    fn bounded() -> FjallSettings {
        let mut settings = FjallSettings::rewriting();
        settings.memtable_bytes = 1 << 20;
        settings.memtables_bytes = Some(MOST);
        settings
    }

    /// Writes so many batches of 1,000 rows, each with a value of its own round, and returns what memtables had at most.
    fn write(engine: &Fjall, rounds: std::ops::Range<u8>) -> u64 {
        let space = engine.space("rows").unwrap();
        let mut most = 0;
        for round in rounds {
            for chunk in 0..20_u64 {
                let mut batch = Batch::<Fjall>::new();
                for row in chunk * 1_000..chunk * 1_000 + 1_000 {
                    batch.put(space, row.to_be_bytes().as_slice(), vec![round; 50]);
                }
                engine.commit(batch, Durability::Buffer).unwrap();
                most = most.max(engine.memtables.bytes(&engine.keyspaces));
            }
        }
        most
    }

    fn values(snapshot: &impl crate::engine::Snapshot, engine: &Fjall) -> Vec<(u8, usize)> {
        let space = engine.space("rows").unwrap();
        let mut found: Vec<(u8, usize)> = Vec::new();
        for row in snapshot.range(space, KeyRange::ALL).unwrap() {
            let value = row.unwrap().1[0];
            match found.last_mut() {
                Some((last, rows)) if *last == value => *rows += 1,
                _ => found.push((value, 1)),
            }
        }
        found
    }

    #[test]
    fn commits_wait_until_memtables_are_within_their_bound() {
        let directory = tempfile::tempdir().unwrap();
        let mut engine = Fjall::open(directory.path(), bounded()).unwrap();
        engine.create_space(&Space::map("rows")).unwrap();
        // A batch comes on top of what it waited for.
        let most = write(&engine, 0..20);
        assert!(most <= MOST + (512 << 10), "{most}");
        assert_eq!(values(&engine.snapshot().unwrap(), &engine), [(19, 20_000)]);
        drop(engine);
        let engine = Fjall::open(directory.path(), bounded()).unwrap();
        assert_eq!(values(&engine.snapshot().unwrap(), &engine), [(19, 20_000)]);
    }

    #[test]
    fn memtables_of_many_spaces_are_within_their_bound_together() {
        let directory = tempfile::tempdir().unwrap();
        let mut engine = Fjall::open(directory.path(), bounded()).unwrap();
        let names: Vec<String> = (0..12).map(|number| format!("rows{number}")).collect();
        let spaces: Vec<_> =
            names.iter().map(|name| engine.create_space(&Space::map(name.as_str())).unwrap()).collect();
        let mut most = 0;
        for round in 0..40_u64 {
            // No memtable becomes large by itself.
            for space in &spaces {
                let mut batch = Batch::<Fjall>::new();
                for row in round * 400..round * 400 + 400 {
                    batch.put(*space, row.to_be_bytes().as_slice(), vec![7; 150]);
                }
                engine.commit(batch, Durability::Buffer).unwrap();
                most = most.max(engine.memtables.bytes(&engine.keyspaces));
            }
        }
        assert!(most <= MOST + (512 << 10), "{most}");
        for space in &spaces {
            let rows = engine.snapshot().unwrap().range(*space, KeyRange::ALL).unwrap().count();
            assert_eq!(rows, 40 * 400);
        }
    }

    #[test]
    fn a_reader_that_keeps_memtables_for_long_holds_up_few_commits() {
        let directory = tempfile::tempdir().unwrap();
        let mut engine = Fjall::open(directory.path(), bounded()).unwrap();
        engine.create_space(&Space::map("rows")).unwrap();
        write(&engine, 0..1);
        let reader = engine.snapshot().unwrap();
        write(&engine, 1..2);
        let before = engine.pace.commits.load(Ordering::Relaxed);
        write(&engine, 2..12);
        // 200 batches of 80 KiB; each step of the bound is waited for once.
        let waited = engine.pace.commits.load(Ordering::Relaxed) - before;
        assert!(waited < 170, "{waited}");
        assert_eq!(values(&reader, &engine), [(0, 20_000)]);
    }

    #[test]
    fn snapshots_see_what_they_saw_when_memory_was_given_back() {
        let directory = tempfile::tempdir().unwrap();
        let mut engine = Fjall::open(directory.path(), bounded()).unwrap();
        engine.create_space(&Space::map("rows")).unwrap();
        let mut kept = Vec::new();
        for round in 0..6 {
            write(&engine, round..round + 1);
            kept.push((round, engine.snapshot().unwrap()));
        }
        write(&engine, 6..9);
        for (round, snapshot) in &kept {
            assert_eq!(values(snapshot, &engine), [(*round, 20_000)]);
        }
        kept.drain(..3);
        write(&engine, 9..12);
        for (round, snapshot) in &kept {
            assert_eq!(values(snapshot, &engine), [(*round, 20_000)]);
        }
    }
}
