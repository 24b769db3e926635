use std::cmp::Ordering;
use std::path::Path;
use std::time::Duration;

use crate::engine::{Batch, Durability, Engine, Error, KeyRange, Snapshot as _, Space, SpaceId, SpaceKind};
use crate::error::StoreError;
use crate::meta::{META_SPACE, Meta};
use crate::store::Store;

/// What a backup did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// Rows that are in the backup, the metadata left out. A key with several values is one row.
    pub rows: u64,
    /// Rows that were written, because they were not there or had other values.
    pub written: u64,
    /// Rows that were deleted, because the store has them no longer.
    pub deleted: u64,
}

/// In the metadata of a backup that is not whole yet.
const UNFINISHED: &[u8] = b"backup";
/// The row without which a database has no plan.
const FORMAT_ROW: &[u8] = b"format";

/// Operations, and bytes, of one batch of a backup.
const AT_ONCE: usize = 10_000;
const BYTES_AT_ONCE: u64 = 8 * 1024 * 1024;

impl<E: Engine> Store<E> {
    /// Copies the store as it is now to a database in another directory, which is made if there is none. Others go on
    /// reading and writing meanwhile.
    ///
    /// What is copied is one snapshot, over all spaces. A directory that holds an earlier backup of the same plan is brought
    /// up to date: only rows that differ are written, and all keys with several values. The backup is a database like any other, and is restored by
    /// opening it. It has its plan from the last step on: one that was interrupted has none, and is gone on with.
    ///
    /// Refused by engines without files, and inside of the store's own directory.
    ///
    /// ```
    /// # use keyplan_store::{Schema, Store, engine::{Durability, Fjall, FjallSettings}};
    /// # let directory = tempfile::tempdir().expect("a directory");
    /// # let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    /// # let text = "plan demo; space cl { key tick = 0x01 pool: u64; }";
    /// # let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
    /// # let schema = Schema::of(&compiled).expect("sound");
    /// let store = Store::create(Fjall::open(data, FjallSettings::default())?, &schema)?;
    /// assert_eq!(store.backup(&copy)?.rows, 0);
    /// let restored = Store::open(Fjall::open(copy, FjallSettings::default())?, &schema)?;
    /// # Ok::<(), keyplan_store::StoreError>(())
    /// ```
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Backup, StoreError> {
        refuse_inside(self.engine().directory(), path.as_ref())?;
        let meta = self.meta().ok_or(StoreError::NoPlan)?;
        let meta_space = self.engine().space(META_SPACE).ok_or(StoreError::NoPlan)?;
        let snapshot = self.engine().snapshot()?;
        let mut to = self.engine().beside(path.as_ref())?;
        let known = Meta::read(&to)?;
        match known {
            Some(theirs) if theirs.fingerprint != meta.fingerprint => {
                return Err(StoreError::AlreadyCreated { theirs: theirs.fingerprint });
            }
            None if !is_ours(&to)? => return Err(StoreError::NoPlan),
            _ => {}
        }
        let to_meta = to.create_space(&Space::map(META_SPACE))?;
        let mut begin = Batch::<E>::new();
        begin.put(to_meta, UNFINISHED, b"".as_slice());
        begin.delete(to_meta, FORMAT_ROW);
        to.commit(begin, Durability::SyncAll)?;
        let mut done = Backup::default();
        for space in self.engine().spaces() {
            let Some(from) = self.engine().space(&space.name).filter(|id| *id != meta_space) else {
                continue;
            };
            let into = to.create_space(&space)?;
            match space.kind {
                SpaceKind::Map => copy_rows(&snapshot, from, &to, into, &mut done)?,
                SpaceKind::Multimap => {
                    let rows = self.engine().copy_multimap(&snapshot, from, &to, into)?;
                    done.rows += rows;
                    done.written += rows;
                }
            }
        }
        // The plan goes last, and in one step with the end of the mark.
        let mut end = Batch::<E>::new();
        for row in to.snapshot()?.range(to_meta, KeyRange::ALL)? {
            end.delete(to_meta, &row?.0[..]);
        }
        for row in snapshot.range(meta_space, KeyRange::ALL)? {
            let (key, value) = row?;
            end.put(to_meta, &key[..], &value[..]);
        }
        to.commit(end, Durability::SyncAll)?;
        to.shutdown(Duration::from_mins(10))?;
        Ok(done)
    }
}

/// Refuses a place among the store's own files: the engine would take what is there for a part of it. Its directory itself is
/// refused by the engine, which has it open.
fn refuse_inside(own: Option<&Path>, path: &Path) -> Result<(), StoreError> {
    let path = std::path::absolute(path).map_err(Error::io("looking for the directory"))?;
    let Some(own) = own.and_then(|own| own.canonicalize().ok()) else { return Ok(()) };
    // What does not exist is made in the nearest directory that does.
    let nearest = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match nearest {
        Some((part, real)) if real.starts_with(&own) && (part != path || real != own) => {
            Err(StoreError::InsideStore { directory: own })
        }
        _ => Ok(()),
    }
}

/// Whether a database without a plan is empty, or a backup that was interrupted.
fn is_ours<E: Engine>(to: &E) -> Result<bool, Error> {
    let snapshot = to.snapshot()?;
    if let Some(meta) = to.space(META_SPACE)
        && snapshot.contains(meta, UNFINISHED)?
    {
        return Ok(true);
    }
    for space in &to.spaces() {
        // A backup is marked before it has any, and somebody made this one.
        if space.kind == SpaceKind::Multimap {
            return Ok(false);
        }
        if let Some(id) = to.space(&space.name)
            && snapshot.range(id, KeyRange::ALL)?.next().transpose()?.is_some()
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the rows of a space those of a snapshot.
fn copy_rows<E: Engine>(
    snapshot: &E::Snapshot,
    from: SpaceId,
    to: &E,
    into: SpaceId,
    done: &mut Backup,
) -> Result<(), Error> {
    let there = to.snapshot()?;
    let mut old = there.range(into, KeyRange::ALL)?;
    let mut before = old.next().transpose()?;
    let new = snapshot.range(from, KeyRange::ALL)?;
    if before.is_none() {
        drop((old, there));
        let rows =
            new.map(|row| row.map(|(key, value)| (E::Buffer::from(&key[..]), E::Buffer::from(&value[..]))));
        let rows = to.ingest(into, rows)?;
        done.rows += rows;
        done.written += rows;
        return Ok(());
    }
    let mut batch = Batch::<E>::new();
    for row in new {
        let (key, value) = row?;
        done.rows += 1;
        // What is before it there is no longer here.
        let same = loop {
            let Some((old_key, old_value)) = &before else { break false };
            match old_key[..].cmp(&key[..]) {
                Ordering::Less => {
                    batch.delete(into, &old_key[..]);
                    done.deleted += 1;
                    before = old.next().transpose()?;
                }
                Ordering::Equal => {
                    let same = old_value[..] == value[..];
                    before = old.next().transpose()?;
                    break same;
                }
                Ordering::Greater => break false,
            }
        };
        if !same {
            batch.put(into, &key[..], &value[..]);
            done.written += 1;
        }
        if batch.len() >= AT_ONCE || batch.bytes() >= BYTES_AT_ONCE {
            to.commit(std::mem::take(&mut batch), Durability::Buffer)?;
        }
    }
    while let Some((key, _)) = before {
        batch.delete(into, &key[..]);
        done.deleted += 1;
        before = old.next().transpose()?;
        if batch.len() >= AT_ONCE {
            to.commit(std::mem::take(&mut batch), Durability::Buffer)?;
        }
    }
    to.commit(batch, Durability::Buffer)
}
