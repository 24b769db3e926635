use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, Readable as _};
use keyplan_store::engine::FjallSettings;

use crate::data::{member, score, timed};
use crate::{Figures, Result};

/// The obvious layout: the length of a key, the key, and a member or field; of a sorted set also the score and the
/// member. Nothing is counted.
struct Raw {
    database: Database,
    rows: Keyspace,
}

fn open(directory: &Path) -> Result<Raw> {
    let ours = FjallSettings::default();
    let database = Database::builder(directory)
        .cache_size(ours.cache_bytes)
        .max_journaling_size(ours.journal_bytes)
        .worker_threads(ours.workers)
        .open()?;
    let rows = database.keyspace("things", KeyspaceCreateOptions::default)?;
    Ok(Raw { database, rows })
}

fn row(tag: u8, key: &[u8], rest: &[u8]) -> Vec<u8> {
    let length = u8::try_from(key.len()).unwrap_or(u8::MAX);
    [&[tag, length], key, rest].concat()
}

fn ordered(score: f64) -> [u8; 8] {
    // Scores are positive here.
    (score.to_bits() | 1 << 63).to_be_bytes()
}

impl Raw {
    fn put(&self, tag: u8, key: &[u8], member: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.rows.insert(row(tag, key, member), value)?)
    }

    fn zset_add(
        &self,
        batch: &mut fjall::OwnedWriteBatch,
        key: &[u8],
        member: &[u8],
        score: f64,
    ) -> Result<()> {
        let by_member = row(3, key, member);
        // A batch may be half applied to a read without a snapshot.
        if let Some(old) = self.database.snapshot().get(&self.rows, &by_member)? {
            batch.remove(&self.rows, row(4, key, &[&old[..], member].concat()));
        }
        let score = ordered(score);
        batch.insert(&self.rows, by_member, score);
        batch.insert(&self.rows, row(4, key, &[&score[..], member].concat()), []);
        Ok(())
    }

    /// Takes the first member behind the last that was taken.
    fn pop(&self, key: &[u8], last: &mut Option<Vec<u8>>) -> Result<()> {
        let prefix = row(4, key, &[]);
        let start = last.as_ref().map_or(Bound::Included(&prefix), Bound::Excluded);
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
        batch.remove(&self.rows, row(3, key, member));
        batch.remove(&self.rows, found.clone());
        batch.commit()?;
        *last = Some(found.to_vec());
        Ok(())
    }
}

pub(crate) fn run(directory: &Path, members: usize) -> Result<Figures> {
    let mut figures = Figures::new();
    let raw = open(directory)?;
    let half = members / 2;
    timed(&mut figures, "hash_set", half, || {
        (0..half).try_for_each(|n| raw.put(1, b"h:sats", &member(n), &n.to_be_bytes()))
    })?;
    let get = |tag: u8, key: &[u8], n: usize| -> Result<()> {
        let found = raw.database.snapshot().get(&raw.rows, row(tag, key, &member(n)))?;
        black_box(found.map(|value| value.to_vec()));
        Ok(())
    };
    timed(&mut figures, "hash_get", half, || {
        (0..half).try_for_each(|n| get(1, b"h:sats", n.wrapping_mul(7919) % half))
    })?;
    timed(&mut figures, "set_add", half, || {
        (0..half).try_for_each(|n| raw.put(2, b"s:list", &member(n), &[]))
    })?;
    timed(&mut figures, "set_contains", half, || {
        (0..half).try_for_each(|n| get(2, b"s:list", n.wrapping_mul(7919) % half))
    })?;
    timed(&mut figures, "zset_add", half, || {
        (0..half).try_for_each(|n| {
            let mut batch = raw.database.batch();
            raw.zset_add(&mut batch, b"z:own", &member(n), score(n))?;
            Ok(batch.commit()?)
        })
    })?;
    let rest = || (half..members - 99).step_by(100);
    let batched = rest().count() * 100;
    let put_100 = |tag: u8, key: &[u8], first: usize, value: &[u8]| -> Result<()> {
        let mut batch = raw.database.batch();
        for n in first..first + 100 {
            batch.insert(&raw.rows, row(tag, key, &member(n)), value);
        }
        Ok(batch.commit()?)
    };
    timed(&mut figures, "hash_set_100", batched, || {
        rest().try_for_each(|first| put_100(1, b"h:sats", first, &[0; 8]))
    })?;
    timed(&mut figures, "set_add_100", batched, || {
        rest().try_for_each(|first| put_100(2, b"s:list", first, &[]))
    })?;
    timed(&mut figures, "zset_add_100", batched, || {
        rest().try_for_each(|first| {
            let mut batch = raw.database.batch();
            for n in first..first + 100 {
                raw.zset_add(&mut batch, b"z:own", &member(n), score(n))?;
            }
            Ok(batch.commit()?)
        })
    })?;
    timed(&mut figures, "range_100", 1_000, || {
        (0..1_000_usize).try_for_each(|n| {
            let prefix = row(4, b"z:own", &[]);
            let start = [&prefix[..], &ordered(score(n))].concat();
            let end = [&prefix[..], &[0xff]].concat();
            let mut found = Vec::new();
            for item in raw.database.snapshot().range(&raw.rows, start..end).take(100) {
                let key = item.key()?;
                let (score, member) =
                    key.get(prefix.len()..).and_then(|rest| rest.split_at_checked(8)).ok_or("a short row")?;
                let bits = u64::from_be_bytes(score.try_into()?) & !(1 << 63);
                found.push((f64::from_bits(bits), member.to_vec()));
            }
            black_box(found);
            Ok(())
        })
    })?;
    let mut last = None;
    timed(&mut figures, "pop_min_first", 1_000, || {
        (0..1_000).try_for_each(|_| raw.pop(b"z:own", &mut last))
    })?;
    (0..99_000).try_for_each(|_| raw.pop(b"z:own", &mut last))?;
    timed(&mut figures, "pop_min_after_100k", 1_000, || {
        (0..1_000).try_for_each(|_| raw.pop(b"z:own", &mut last))
    })?;
    timed(&mut figures, "pop_min_naive_after_100k", 100, || {
        (0..100).try_for_each(|_| raw.pop(b"z:own", &mut None))
    })?;
    Ok(figures)
}
