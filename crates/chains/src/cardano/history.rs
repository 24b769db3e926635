use std::collections::{BTreeMap, BTreeSet};

use keyplan::codec::Hash;
use keyplan::typed::List;
use keyplan_store::engine::{Action, Batch, KeyRange, Operation, Snapshot as _, SpaceId, SpaceKind};
use keyplan_store::{BytesOf, StoreError};

use super::error::hex;
use super::layout::Layout;
use super::undo::{SPACE, Undo, UndoValue};
use super::{ChainPoint, Position, Replaced, StateEngine, StateError, StateSnapshot};

/// What is kept for rolling back. It is changed under the lock that commits are made under.
///
/// Each commit that keeps something writes one row: what it replaced, and where the chain stood before and after it.
/// The rows form a chain, `after` of one being `before` of the next, which ends at the cursor. If it does not, another
/// program has moved the cursor, and the rows are of no use. A row that another program changed without moving the
/// cursor is found when its change is to be undone: it is no longer what we left there.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The newest row, if there is any.
    last: Option<Undo>,
    /// No row is older than this block: where looking for rows to prune begins, since going over deleted ones is slow.
    oldest: u64,
    /// The rows do not lead to the cursor, and go with the next commit.
    stale: bool,
}

/// What a rollback did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RolledBack {
    /// How many blocks were taken back.
    pub blocks: u64,
    /// How many rows were given back what they had, or deleted because they had nothing.
    pub rows: usize,
}

impl History {
    /// Whether nothing is kept.
    pub(super) const fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Finds out what is kept in the database.
    pub(super) fn load<E: StateEngine>(
        snapshot: &StateSnapshot<E>,
        layout: &Layout,
    ) -> Result<Self, StateError> {
        let Some(space) = layout.undo else { return Ok(Self::default()) };
        let mut rows = snapshot.engine().range(space, KeyRange::ALL)?;
        let Some(newest) = rows.next_back().transpose()? else { return Ok(Self::default()) };
        let last = number(&newest.0)?;
        let oldest = match rows.next().transpose()? {
            Some((oldest, _)) => number(&oldest)?.block,
            None => last.block,
        };
        let stale = value(&newest.0, &newest.1)?.after != position(snapshot.read_cursor()?);
        Ok(Self { last: Some(last), oldest, stale })
    }

    /// Puts what `operations` replace into `batch`, and takes out what is kept no longer. Returns what the history is
    /// once the batch is committed.
    pub(super) fn extend<E: StateEngine>(
        &self,
        snapshot: &StateSnapshot<E>,
        layout: &Layout,
        keep: u64,
        operations: &[Operation<E::Buffer>],
        cursor: Option<ChainPoint>,
        batch: &mut Batch<E>,
    ) -> Result<Self, StateError> {
        let Some(space) = layout.undo else { return Ok(Self::default()) };
        let kept = self.last.filter(|_| !self.stale && keep > 0);
        if kept.is_none() && self.last.is_some() {
            // With this commit the rows no longer lead to the state.
            prune(snapshot, space, self.oldest, u64::MAX, batch)?;
        }
        if keep == 0 {
            return Ok(Self::default());
        }
        let next = match (kept, cursor) {
            (None, None) => Undo { block: 0, part: 0 },
            (None, Some(_)) => Undo { block: 1, part: 0 },
            (Some(last), None) => Undo { block: last.block, part: last.part.saturating_add(1) },
            (Some(last), Some(_)) => Undo { block: last.block.saturating_add(1), part: 0 },
        };
        let before = snapshot.read_cursor()?;
        let after = position(cursor.or(before));
        let row = record(snapshot, layout, operations, position(before), after)?;
        batch.put(space, next.encode().as_slice(), row);
        let mut oldest = if kept.is_some() { self.oldest } else { next.block };
        let wanted = next.block.saturating_sub(keep).saturating_add(1);
        if oldest < wanted {
            prune(snapshot, space, oldest, wanted, batch)?;
            oldest = wanted;
        }
        Ok(Self { last: Some(next), oldest, stale: false })
    }

    /// Fills a batch with what takes the state back to the last at which the chain stood at `point`.
    ///
    /// Returns what the history is once the batch is committed.
    pub(super) fn undo<E: StateEngine>(
        &self,
        snapshot: &StateSnapshot<E>,
        layout: &Layout,
        point: &ChainPoint,
        batch: &mut Batch<E>,
    ) -> Result<(Self, RolledBack), StateError> {
        let mut standing = position(snapshot.read_cursor()?);
        let mut done = RolledBack { blocks: 0, rows: 0 };
        let mut was: BTreeMap<(SpaceId, Vec<u8>), Was> = BTreeMap::new();
        let mut rows = match layout.undo.filter(|_| !self.stale) {
            Some(space) => Some((space, snapshot.engine().range(space, KeyRange::ALL)?)),
            None => None,
        };
        while !is_at(standing, point) {
            let Some((space, rows)) = &mut rows else { return Err(outside(point, standing, done.blocks)) };
            let row = rows.next_back().transpose()?;
            let Some((row_key, row_value)) = row else { return Err(outside(point, standing, done.blocks)) };
            let Undo { block, part } = number(&row_key)?;
            let row = value(&row_key, &row_value)?;
            if row.after != standing {
                return Err(outside(point, standing, done.blocks));
            }
            for replaced in &row.replaced {
                // What is older replaces what is newer.
                let (space, key, left, value) = restored(layout, &row_key, &replaced)?;
                if was.insert((space, key.clone()), value).is_none() {
                    // The newest commit of ours that wrote the row: what it left must still be there.
                    check_left(snapshot, layout, space, &key, left)?;
                }
            }
            batch.delete(*space, &row_key[..]);
            done.blocks += u64::from(part == 0 && block > 0);
            standing = row.before;
        }
        // The next row, which is not undone, is the newest from now on.
        let last = match &mut rows {
            Some((_, rows)) => rows.next_back().transpose()?.map(|(key, _)| number(&key)).transpose()?,
            None => self.last,
        };
        let kept = Self { last, ..*self };
        done.rows = was.len();
        for ((space, key), value) in was {
            value.put(space, key, batch)?;
        }
        match standing {
            Position::Unset => batch.delete(layout.cursor, layout.cursor_key()),
            Position::At { point } => super::store::put_cursor(layout, point, batch)?,
        }
        Ok((kept, done))
    }
}

/// What a key had.
enum Was {
    Nothing,
    Value(Vec<u8>),
    Values(Vec<Vec<u8>>),
}

impl Was {
    fn put<E: StateEngine>(
        self,
        space: SpaceId,
        key: Vec<u8>,
        batch: &mut Batch<E>,
    ) -> Result<(), StateError> {
        match self {
            Self::Nothing => batch.delete(space, key),
            Self::Value(value) => batch.put(space, key, value),
            Self::Values(values) => {
                let key = E::Buffer::from(key);
                batch.delete(space, key.clone());
                for value in values {
                    E::add_value(batch, space, key.clone(), value.into())?;
                }
            }
        }
        Ok(())
    }
}

/// The value of the row that undoes `operations`, which are sorted.
fn record<E: StateEngine>(
    snapshot: &StateSnapshot<E>,
    layout: &Layout,
    operations: &[Operation<E::Buffer>],
    before: Position,
    after: Position,
) -> Result<Vec<u8>, StateError> {
    let mut found: Vec<(u16, &[u8], Left, Found<E>)> = Vec::with_capacity(operations.len());
    for changes in operations.chunk_by(|a, b| a.space == b.space && a.key[..] == b.key[..]) {
        let Some(operation) = changes.last() else { continue };
        let (space, key) = (operation.space, &operation.key[..]);
        // A change that is not written down could not be undone.
        let number = layout
            .number(space)
            .ok_or_else(|| StateError::Store(StoreError::NoSpace { name: format!("{space:?}") }))?;
        if layout.kind(space) == SpaceKind::Multimap {
            // Of several values each change is an operation of its own; all that the key had is kept once.
            let was = values_of::<E>(snapshot, space, key)?;
            let left = values_left(was.iter().map(|value| &value[..]).collect(), changes);
            found.push((number, key, left, Found::Values(was)));
            continue;
        }
        let was = match (snapshot.engine().get(space, key)?, &operation.action) {
            (None, Action::Delete) => continue,
            (Some(was), Action::Put(value)) if was[..] == value[..] => continue,
            (None, _) => Found::Nothing,
            (Some(was), _) => Found::Value(was),
        };
        let left = match &operation.action {
            Action::Put(value) => digest(value),
            _ => NOTHING_LEFT,
        };
        found.push((number, key, left, was));
    }
    let values: Vec<Vec<&[u8]>> = found
        .iter()
        .map(|(.., was)| match was {
            Found::Values(values) => values.iter().map(|value| &value[..]).collect(),
            Found::Nothing | Found::Value(_) => Vec::new(),
        })
        .collect();
    let replaced: Vec<Replaced<'_>> = found
        .iter()
        .zip(&values)
        .map(|(&(space, key, left, ref was), values)| match was {
            Found::Nothing => Replaced::Nothing { space, left, key },
            Found::Value(value) => Replaced::Value { space, left, key, value },
            Found::Values(_) => Replaced::Values { space, left, key, values: List::new(values) },
        })
        .collect();
    let value = UndoValue { before, after, replaced: List::new(&replaced) };
    value.to_vec().map_err(StateError::unwritable)
}

/// What a commit found under a key, still the engine's own bytes.
enum Found<E: StateEngine> {
    Nothing,
    Value(BytesOf<E>),
    Values(Vec<BytesOf<E>>),
}

/// The digest of what is under a key.
type Left = [u8; 8];

/// That there is nothing.
const NOTHING_LEFT: Left = [0; 8];

fn digest(bytes: &[u8]) -> Left {
    let mut left = NOTHING_LEFT;
    let digest = Hash::Xxh3_64.digest(bytes);
    for (to, from) in left.iter_mut().zip(digest.as_ref()) {
        *to = *from;
    }
    left
}

/// The digest of what `changes` leave of several values.
fn values_left<B: AsRef<[u8]>>(was: BTreeSet<&[u8]>, changes: &[Operation<B>]) -> Left {
    let mut values = was;
    for change in changes {
        match &change.action {
            Action::Put(_) | Action::Delete => values.clear(),
            Action::AddValue(value) => _ = values.insert(value.as_ref()),
            Action::RemoveValue(value) => _ = values.remove(value.as_ref()),
        }
    }
    values_digest(&values)
}

fn values_digest(values: &BTreeSet<&[u8]>) -> Left {
    if values.is_empty() {
        return NOTHING_LEFT;
    }
    // A digest of digests: each value's end is told.
    let digests: Vec<u8> = values.iter().flat_map(|value| digest(value)).collect();
    digest(&digests)
}

fn values_of<E: StateEngine>(
    snapshot: &StateSnapshot<E>,
    space: SpaceId,
    key: &[u8],
) -> Result<Vec<BytesOf<E>>, StateError> {
    Ok(E::iter_values(snapshot.engine(), space, key)?.collect::<Result<_, _>>()?)
}

/// Refuses to undo the change of a row which is no longer as that change left it.
fn check_left<E: StateEngine>(
    snapshot: &StateSnapshot<E>,
    layout: &Layout,
    space: SpaceId,
    key: &[u8],
    left: Left,
) -> Result<(), StateError> {
    let now = if layout.kind(space) == SpaceKind::Multimap {
        let values = values_of::<E>(snapshot, space, key)?;
        values_digest(&values.iter().map(|value| &value[..]).collect())
    } else {
        snapshot.engine().get(space, key)?.map_or(NOTHING_LEFT, |value| digest(&value))
    };
    if now == left {
        Ok(())
    } else {
        Err(StateError::ChangedByAnother { space: layout.name(space).to_owned(), key: hex(key) })
    }
}

/// Takes out the rows of the blocks from `oldest` on, up to but without `wanted`.
fn prune<E: StateEngine>(
    snapshot: &StateSnapshot<E>,
    space: SpaceId,
    oldest: u64,
    wanted: u64,
    batch: &mut Batch<E>,
) -> Result<(), StateError> {
    let scan = Undo::all().from(oldest);
    let scan = if wanted == u64::MAX { scan } else { scan.to(wanted) };
    let (start, end) = scan.range();
    for row in snapshot.engine().range(space, KeyRange { start, end })? {
        batch.delete(space, &row?.0[..]);
    }
    Ok(())
}

fn restored(
    layout: &Layout,
    row: &[u8],
    replaced: &Replaced<'_>,
) -> Result<(SpaceId, Vec<u8>, Left, Was), StateError> {
    let (number, key, left, was) = match *replaced {
        Replaced::Nothing { space, left, key } => (space, key, left, Was::Nothing),
        Replaced::Value { space, left, key, value } => (space, key, left, Was::Value(value.to_vec())),
        Replaced::Values { space, left, key, values } => {
            (space, key, left, Was::Values(values.iter().map(<[u8]>::to_vec).collect()))
        }
    };
    let space = layout.numbered(number).ok_or_else(|| {
        let fault = keyplan::codec::DecodeError::new(0, keyplan::codec::Fault::OutOfRange);
        let fault = keyplan::typed::KeyFault::Bytes(fault);
        let error = keyplan::typed::KeyError { family: Undo::FAMILY, segment: "space", fault };
        StateError::malformed(SPACE, row, error)
    })?;
    Ok((space, key.to_vec(), left, was))
}

fn number(key: &[u8]) -> Result<Undo, StateError> {
    Undo::decode(key).map_err(|error| StateError::malformed(SPACE, key, error))
}

fn value<'v>(key: &[u8], value: &'v [u8]) -> Result<UndoValue<'v>, StateError> {
    UndoValue::decode(value).map_err(|error| StateError::malformed(SPACE, key, error))
}

const fn position(cursor: Option<ChainPoint>) -> Position {
    match cursor {
        None => Position::Unset,
        Some(point) => Position::At { point },
    }
}

/// Whether the chain is at a point. One that is nowhere yet is at the origin.
fn is_at(standing: Position, point: &ChainPoint) -> bool {
    match standing {
        Position::Unset => *point == ChainPoint::Origin,
        Position::At { point: standing } => standing == *point,
    }
}

#[cold]
fn outside(point: &ChainPoint, standing: Position, blocks: u64) -> StateError {
    let oldest = match standing {
        Position::Unset => None,
        Position::At { point } => Some(Box::new(point)),
    };
    StateError::OutsideHistory { point: Box::new(*point), oldest, blocks }
}
