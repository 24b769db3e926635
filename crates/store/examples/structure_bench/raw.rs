use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, Readable as _, Snapshot};
use keyplan_store::engine::FjallSettings;

use crate::Result;
use crate::data::{HASH, Operation, SET, Side, ZSET, member, score};

/// The obvious layout: the length of a key, the key, and a member or field; of a sorted set also the score and the
/// member. How many there are is kept in memory, and written as a row of the same batch.
pub(crate) struct Raw {
    database: Database,
    rows: Keyspace,
    // Of the hash, the set and the sorted set.
    counts: [u64; 3],
    // The last row that was taken from the front: what is before it is gone, and must not be walked again.
    last: Option<Vec<u8>>,
}

const FIELD: u8 = 1;
const MEMBER: u8 = 2;
const SCORE: u8 = 3;
const ORDER: u8 = 4;
const COUNT: u8 = 5;

fn row(tag: u8, key: &[u8], rest: &[u8]) -> Vec<u8> {
    let length = u8::try_from(key.len()).unwrap_or(u8::MAX);
    [&[tag, length], key, rest].concat()
}

fn ordered(score: f64) -> [u8; 8] {
    // Scores are positive here.
    (score.to_bits() | 1 << 63).to_be_bytes()
}

impl Raw {
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let ours = FjallSettings::default();
        let database = Database::builder(directory)
            .cache_size(ours.cache_bytes)
            .max_journaling_size(ours.journal_bytes)
            .worker_threads(ours.workers)
            .open()?;
        let rows = database.keyspace("things", KeyspaceCreateOptions::default)?;
        Ok(Self { database, rows, counts: [0; 3], last: None })
    }

    /// Puts a row without a look at what is there.
    pub(crate) fn blind(&self, number: usize) -> Result<()> {
        Ok(self.rows.insert(row(FIELD, HASH, &member(number)), [0; 8])?)
    }

    /// Adds a member, and says whether it is new. The snapshot is of before the batch, whose members differ.
    fn add(
        &mut self,
        batch: &mut OwnedWriteBatch,
        before: &Snapshot,
        operation: Operation,
        number: usize,
        member: &[u8],
    ) -> Result<bool> {
        let (count, new) = match operation {
            Operation::HashSet | Operation::HashGet => {
                let field = row(FIELD, HASH, member);
                let new = !before.contains_key(&self.rows, &field)?;
                batch.insert(&self.rows, field, [0; 8]);
                (0, new)
            }
            Operation::SetAdd | Operation::SetContains => {
                let row = row(MEMBER, SET, member);
                let new = !before.contains_key(&self.rows, &row)?;
                if new {
                    batch.insert(&self.rows, row, []);
                }
                (1, new)
            }
            Operation::ZsetAdd => {
                let by_member = row(SCORE, ZSET, member);
                let old = before.get(&self.rows, &by_member)?;
                if let Some(old) = &old {
                    batch.remove(&self.rows, row(ORDER, ZSET, &[&old[..], member].concat()));
                }
                let score = ordered(score(number));
                batch.insert(&self.rows, by_member, score);
                batch.insert(&self.rows, row(ORDER, ZSET, &[&score[..], member].concat()), []);
                (2, old.is_none())
            }
        };
        if let Some(count) = self.counts.get_mut(count) {
            *count += u64::from(new);
        }
        Ok(new)
    }

    fn count(&self, batch: &mut OwnedWriteBatch, operation: Operation) {
        let [hash, set, zset] = self.counts;
        let (key, count) = match operation {
            Operation::HashSet | Operation::HashGet => (HASH, hash),
            Operation::SetAdd | Operation::SetContains => (SET, set),
            Operation::ZsetAdd => (ZSET, zset),
        };
        batch.insert(&self.rows, row(COUNT, key, &[]), count.to_be_bytes());
    }
}

impl Side for Raw {
    fn one(&mut self, operation: Operation, number: usize) -> Result<()> {
        let member = operation.member(number);
        // Every read goes through a snapshot: without one it may see half of a batch.
        let snapshot = self.database.snapshot();
        match operation {
            Operation::HashGet => {
                let found = snapshot.get(&self.rows, row(FIELD, HASH, &member))?;
                black_box(found.map(|value| value.to_vec()));
            }
            Operation::SetContains => {
                black_box(snapshot.contains_key(&self.rows, row(MEMBER, SET, &member))?);
            }
            write => {
                let mut batch = self.database.batch();
                if black_box(self.add(&mut batch, &snapshot, write, number, &member)?) {
                    self.count(&mut batch, write);
                }
                batch.commit()?;
            }
        }
        Ok(())
    }

    fn batch(&mut self, operation: Operation, first: usize) -> Result<()> {
        let snapshot = self.database.snapshot();
        let mut batch = self.database.batch();
        for n in first..first + 100 {
            black_box(self.add(&mut batch, &snapshot, operation, n, &member(n))?);
        }
        self.count(&mut batch, operation);
        Ok(batch.commit()?)
    }

    fn range(&mut self, number: usize) -> Result<()> {
        let prefix = row(ORDER, ZSET, &[]);
        let start = [&prefix[..], &ordered(score(number))].concat();
        let end = [&prefix[..], &[0xff]].concat();
        let mut found = Vec::new();
        for item in self.database.snapshot().range(&self.rows, start..end).take(100) {
            let key = item.key()?;
            let (score, member) =
                key.get(prefix.len()..).and_then(|rest| rest.split_at_checked(8)).ok_or("a short row")?;
            let bits = u64::from_be_bytes(score.try_into()?) & !(1 << 63);
            found.push((f64::from_bits(bits), member.to_vec()));
        }
        black_box(found);
        Ok(())
    }

    fn pop(&mut self) -> Result<()> {
        let prefix = row(ORDER, ZSET, &[]);
        let start = self.last.as_ref().map_or(Bound::Included(&prefix), Bound::Excluded);
        let mut end = prefix.clone();
        end.push(0xff);
        let first = self
            .database
            .snapshot()
            .range::<&[u8], _>(&self.rows, (start.map(Vec::as_slice), Bound::Excluded(end.as_slice())))
            .next();
        let Some(first) = first else { return Err("nothing is left".into()) };
        let found = first.key()?;
        let member = found.get(prefix.len() + 8..).ok_or("a short row")?;
        let mut batch = self.database.batch();
        batch.remove(&self.rows, row(SCORE, ZSET, member));
        batch.remove(&self.rows, found.clone());
        let [_, _, count] = &mut self.counts;
        *count = count.saturating_sub(1);
        self.count(&mut batch, Operation::ZsetAdd);
        batch.commit()?;
        self.last = Some(found.to_vec());
        Ok(())
    }
}
