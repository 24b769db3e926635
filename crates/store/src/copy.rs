//! A store on another engine, or in another place: all rows, and a comparison of both sides.

use crate::engine::{Engine, Error, KeyRange, RowRange as _, RowsDigest, Snapshot as _, SpaceKind};
use crate::error::StoreError;
use crate::meta::Meta;
use crate::page::Direction;
use crate::store::Store;
use keyplan_plan::notation::hex;

/// What was copied of one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The space.
    pub space: String,
    /// How many rows it has.
    pub rows: u64,
    /// The checksum of them all, the same on both sides.
    pub checksum: String,
}

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// One of the two stores could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A space holds several values for a key.
    #[error("`{space}` holds several values for a key, and cannot be copied")]
    Multimap {
        /// The space.
        space: String,
    },
    /// The rows of a space could not be taken over.
    #[error("copying `{space}`")]
    Rows {
        /// The space.
        space: String,
        /// What the engine said.
        source: Error,
    },
    /// The two sides have other rows.
    #[error(
        "the copy of `{space}` has {} rows with checksum {}, and the source {} with {}: the source was written to \
         meanwhile, or something is damaged",
        copy.0, copy.1, original.0, original.1
    )]
    Differs {
        /// The space.
        space: String,
        /// How many rows the copy has, and their checksum.
        copy: (u64, String),
        /// The same of the source.
        original: (u64, String),
    },
}

/// Refuses what cannot be copied, before anything is made for the copy.
pub fn refuse_uncopied(meta: &Meta) -> Result<(), CopyError> {
    match meta.spaces.iter().find(|space| space.kind == SpaceKind::Multimap) {
        Some(space) => Err(CopyError::Multimap { space: space.name.clone() }),
        None => Ok(()),
    }
}

/// Compares a copy with what it was made of, space by space. `told` hears how many rows of a space were read.
pub fn compare_copy<A: Engine, B: Engine>(
    from: &Store<A>,
    to: &Store<B>,
    mut told: impl FnMut(u64),
) -> Result<Vec<Copied>, CopyError> {
    let meta = from.meta().ok_or(StoreError::NoPlan)?;
    let mut rows = Vec::new();
    for space in &meta.spaces {
        let original = summed(from, &space.name, &mut told)?;
        let copy = summed(to, &space.name, &mut told)?;
        if original != copy {
            return Err(CopyError::Differs { space: space.name.clone(), copy, original });
        }
        rows.push(Copied { space: space.name.clone(), rows: copy.0, checksum: copy.1 });
    }
    Ok(rows)
}

/// Copies every row and every name of a store into one that was made for it, on any engine; returns how many rows there
/// were. [`compare_copy`] says whether both have the same.
///
/// ```
/// use keyplan_store::engine::{Durability, Memory};
/// use keyplan_store::{Schema, Store, compare_copy, copy_rows};
///
/// let text = "plan demo; space s { key k = 0x01 id: u8; }";
/// let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
/// let schema = Schema::of(&compiled).expect("sound");
/// let (from, to) = (Store::create(Memory::new(), &schema)?, Store::create(Memory::new(), &schema)?);
/// let mut batch = from.batch()?;
/// batch.put(from.space("s")?, [1, 7].as_slice(), b"seven".as_slice());
/// batch.commit(Durability::SyncAll)?;
///
/// assert_eq!(copy_rows(&from, &to, |_| ())?, 1);
/// assert_eq!(compare_copy(&from, &to, |_| ())?[0].rows, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_rows<A: Engine, B: Engine>(
    from: &Store<A>,
    to: &Store<B>,
    mut told: impl FnMut(u64),
) -> Result<u64, CopyError> {
    let meta = from.meta().ok_or(StoreError::NoPlan)?;
    let snapshot = from.snapshot()?;
    let mut done = 0_u64;
    for space in &meta.spaces {
        let (source, target) = (from.space(&space.name)?, to.space(&space.name)?);
        let mut rows = snapshot.range(source, KeyRange::ALL)?.map(|row| {
            let (key, value) = row?;
            done = done.saturating_add(1);
            told(done);
            Ok::<_, Error>((B::Buffer::from(&key[..]), B::Buffer::from(&value[..])))
        });
        // Compiled once for each engine that is written to, and not for each pair of them.
        let rows: &mut dyn Iterator<Item = Result<(B::Buffer, B::Buffer), Error>> = &mut rows;
        let taken = to.engine().ingest(target, rows);
        taken.map_err(|source| CopyError::Rows { space: space.name.clone(), source })?;
    }
    for ((scope, digest), name) in &meta.names {
        to.record_name(scope, digest, name)?;
    }
    Ok(done)
}

/// How many rows a space has, and the checksum of all of them.
fn summed<E: Engine>(
    store: &Store<E>,
    space: &str,
    told: &mut impl FnMut(u64),
) -> Result<(u64, String), StoreError> {
    let id = store.space(space)?;
    let snapshot = store.engine().snapshot()?;
    // The digest of a piece stands for its rows, so that little is held at a time.
    let (mut count, mut whole) = (0_u64, RowsDigest::new(Direction::Ascending));
    let mut piece = RowsDigest::new(Direction::Ascending);
    let visited = snapshot.range(id, KeyRange::ALL)?.visit(Direction::Ascending, |key, value| {
        count = count.saturating_add(1);
        told(count);
        piece.add(key, value);
        if piece.count() >= 4_096 {
            whole.add(&piece.digest().0, &[]);
            piece = RowsDigest::new(Direction::Ascending);
        }
        std::ops::ControlFlow::<()>::Continue(())
    })?;
    debug_assert!(visited.is_continue(), "nothing breaks it off");
    whole.add(&piece.digest().0, &[]);
    Ok((count, hex(whole.digest().0.get(..16).unwrap_or_default())))
}
