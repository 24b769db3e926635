use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::engine::Engine;

use super::{SpanKey, StoredIn};
use crate::typed::scratch::with_key;
use crate::typed::{Batch, Error, Read, Stored};
use keyplan_typed::{Key, KeyError, Scan, ScanOf, Value as _};

/// How the families of a [`HistoryMap`] belong together.
///
/// ```text
/// key balance         = 0x50 account: u64             -> amount: u64                    now
/// key balance_log     = 0x51 account: u64 height: u64 -> (none: 0x00 | some: 0x01 …)    what it was before a height
///     scan by account in order
/// key balance_changed = 0x52 height: u64 account: u64 -> ""                             what changed at a height
///     scan all in order
/// key balance_heights = 0x53                          -> floor: u64 tip: u64            which heights are kept
/// ```
pub trait History {
    /// The values as they are now.
    type Current: Key;
    /// What a value was before it was first written at a height.
    type Log: Key;
    /// The log's rows of one key, by height.
    type LogScan: ScanOf<Key = Self::Log>;
    /// Which keys were written at a height.
    type Changed: Key;
    /// Their rows, by height.
    type ChangedScan: ScanOf<Key = Self::Changed>;
    /// The least height that can be read, and the greatest that was written.
    type Heights: SpanKey;

    /// The key of the heights.
    fn heights() -> Self::Heights;

    /// All rows of changes up to a height and at it, the lowest first.
    fn changed_through(height: u64) -> Scan<'static, Self::ChangedScan>;
}

/// What the rows of a [`History`] say of one another.
pub trait HistoryRows<'a>: History {
    /// The log's row of a key at a height.
    fn log(key: &CurrentKey<'a, Self>, height: u64) -> <Self::Log as Key>::Decoded<'a>;

    /// The log's rows of a key from a height on, the lowest first.
    fn log_from(key: &CurrentKey<'a, Self>, height: u64) -> Result<Scan<'static, Self::LogScan>, KeyError>;

    /// The row that says that a key was written at a height.
    fn changed(key: &CurrentKey<'a, Self>, height: u64) -> <Self::Changed as Key>::Decoded<'a>;

    /// The height and the key that such a row names.
    fn of_changed(changed: <Self::Changed as Key>::Decoded<'a>) -> (u64, CurrentKey<'a, Self>);

    /// The log's value for what there was, or for nothing.
    fn logged(old: Option<CurrentValue<'a, Self>>) -> <Self::Log as Key>::Value<'a>;

    /// What a value of the log says that there was.
    fn of_logged(logged: <Self::Log as Key>::Value<'a>) -> Option<CurrentValue<'a, Self>>;
}

/// A key of a map with history.
pub type CurrentKey<'k, H> = <<H as History>::Current as Key>::Decoded<'k>;
/// A value of a map with history.
pub type CurrentValue<'v, H> = <<H as History>::Current as Key>::Value<'v>;

/// Values by key, and what they were at earlier heights.
///
/// Heights never go down. A height is read as it was once everything at it was written. What was first written at a
/// height keeps what was there before; later writes at the same height keep nothing more.
///
/// ```
/// keyplan::plan! {
///     plan scores;
///     space history {
///         key score = 0x01 player: u64 -> points: u64;
///         key score_log = 0x02 player: u64 height: u64 -> old: (none: 0x00 | some: 0x01 points: u64)
///             scan by player in order;
///         key score_changed = 0x03 height: u64 player: u64 -> "" scan all in order;
///         key score_heights = 0x04 -> floor: u64 tip: u64;
///     }
/// }
/// use keyplan::store::collection::{History, HistoryMap, HistoryRows, SpanKey};
/// use keyplan::store::{Error, Store, engine::Memory};
/// use keyplan::typed::{KeyError, Scan};
/// use scores::history::{
///     Score, ScoreChanged, ScoreChangedAll, ScoreHeights, ScoreHeightsValue, ScoreLog, ScoreLogByPlayer,
///     ScoreLogValue, ScoreLogValueOld, ScoreValue,
/// };
///
/// struct Scores;
///
/// impl History for Scores {
///     type Current = Score;
///     type Log = ScoreLog;
///     type LogScan = ScoreLogByPlayer;
///     type Changed = ScoreChanged;
///     type ChangedScan = ScoreChangedAll;
///     type Heights = ScoreHeights;
///
///     fn heights() -> ScoreHeights {
///         ScoreHeights
///     }
///     fn changed_through(height: u64) -> Scan<'static, ScoreChangedAll> {
///         ScoreChanged::all().through(height)
///     }
/// }
///
/// impl HistoryRows<'_> for Scores {
///     fn log(key: &Score, height: u64) -> ScoreLog {
///         ScoreLog { player: key.player, height }
///     }
///     fn log_from(key: &Score, height: u64) -> Result<Scan<'static, ScoreLogByPlayer>, KeyError> {
///         Ok(ScoreLog::by_player(key.player).from(height))
///     }
///     fn changed(key: &Score, height: u64) -> ScoreChanged {
///         ScoreChanged { height, player: key.player }
///     }
///     fn of_changed(changed: ScoreChanged) -> (u64, Score) {
///         (changed.height, Score { player: changed.player })
///     }
///     fn logged(old: Option<ScoreValue>) -> ScoreLogValue {
///         let some = |value: ScoreValue| ScoreLogValueOld::Some { points: value.points };
///         ScoreLogValue { old: old.map_or(ScoreLogValueOld::None, some) }
///     }
///     fn of_logged(logged: ScoreLogValue) -> Option<ScoreValue> {
///         match logged.old {
///             ScoreLogValueOld::None => None,
///             ScoreLogValueOld::Some { points } => Some(ScoreValue { points }),
///         }
///     }
/// }
///
/// impl SpanKey for ScoreHeights {
///     fn value_of(floor: u64, tip: u64) -> ScoreHeightsValue {
///         ScoreHeightsValue { floor, tip }
///     }
///     fn span_of(value: ScoreHeightsValue) -> (u64, u64) {
///         (value.floor, value.tip)
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &scores::PLAN)?;
/// let map = HistoryMap::<Scores>::new();
/// let mut batch = store.batch()?;
/// map.put(&mut batch, &Score { player: 1 }, &ScoreValue { points: 10 }, 5)?;
/// map.put(&mut batch, &Score { player: 1 }, &ScoreValue { points: 30 }, 9)?;
///
/// let before = map.get_at(&batch, &Score { player: 1 }, 8)?.expect("there");
/// assert_eq!(before.value()?, Some(ScoreValue { points: 10 }));
/// assert!(map.get_at(&batch, &Score { player: 1 }, 4)?.is_none());
/// map.prune(&mut batch, 9, 1_000)?;
/// assert!(matches!(map.get_at(&batch, &Score { player: 1 }, 8), Err(Error::Pruned { floor: 9, .. })));
/// # Ok::<(), Error>(())
/// ```
pub struct HistoryMap<H>(PhantomData<fn() -> H>);

/// A value at an earlier height.
pub enum Past<H: History, B> {
    /// It has not changed since.
    Current(Stored<H::Current, B>),
    /// It has, and was kept.
    Logged(Stored<H::Log, B>),
}

impl<H: for<'a> HistoryRows<'a>, B: Deref<Target = [u8]>> Past<H, B> {
    /// The value; `None` if there was none.
    pub fn value(&self) -> Result<Option<CurrentValue<'_, H>>, Error> {
        match self {
            Self::Current(found) => found.value().map(Some),
            Self::Logged(found) => found.value().map(H::of_logged),
        }
    }
}

impl<H: History, B: Deref<Target = [u8]>> fmt::Debug for Past<H, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current(found) => f.debug_tuple("Current").field(found).finish(),
            Self::Logged(found) => f.debug_tuple("Logged").field(found).finish(),
        }
    }
}

/// What came of pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// How many changes were forgotten.
    pub changes: u64,
    /// Whether there are more to forget.
    pub more: bool,
}

impl<H: for<'a> HistoryRows<'a>> HistoryMap<H> {
    /// The rows of these families.
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Reads a value as it is now.
    pub fn get<R: Read>(
        &self,
        read: &R,
        key: &CurrentKey<'_, H>,
    ) -> Result<Option<StoredIn<H::Current, R>>, Error> {
        with_key(key, |bytes| Ok(read.get_bytes(H::Current::SPACE, bytes)?.map(Stored::new)))
    }

    /// Reads a value as it was at a height, once everything at it was written; `None` if there was none.
    ///
    /// Refused below the height that was pruned to.
    pub fn get_at<R: Read>(
        &self,
        read: &R,
        key: &CurrentKey<'_, H>,
        height: u64,
    ) -> Result<Option<Past<H, R::Bytes>>, Error> {
        let (floor, _) = self.heights(read)?;
        if height < floor {
            return Err(Error::Pruned { height, floor });
        }
        // What was there before the next write is what was there at this height.
        let next = match height.checked_add(1) {
            Some(after) => read.scan(H::log_from(key, after)?).next().transpose()?,
            None => None,
        };
        let Some(row) = next else { return Ok(self.get(read, key)?.map(Past::Current)) };
        let logged = Past::Logged(Stored::new(row.into_value()));
        Ok(if logged.value()?.is_some() { Some(logged) } else { None })
    }

    /// The least height that can be read, and the greatest that was written.
    pub fn heights<R: Read>(&self, read: &R) -> Result<(u64, u64), Error> {
        Ok(read.get_with(&H::heights(), H::Heights::span_of)?.unwrap_or_default())
    }

    /// Writes a value at a height. Refused below a height that was written before.
    pub fn put<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &CurrentKey<'_, H>,
        value: &CurrentValue<'_, H>,
        height: u64,
    ) -> Result<(), Error> {
        // Encoded before anything is kept, so that a value that is refused leaves nothing behind.
        let value = value.to_vec()?;
        self.keep(batch, key, height)?;
        with_key(key, |key| batch.put_bytes(H::Current::SPACE, key, &value))
    }

    /// Deletes a value at a height; whether it was there. Refused below a height that was written before.
    pub fn remove<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &CurrentKey<'_, H>,
        height: u64,
    ) -> Result<bool, Error> {
        if self.get(batch, key)?.is_none() {
            return Ok(false);
        }
        self.keep(batch, key, height)?;
        batch.delete(key)?;
        Ok(true)
    }

    /// Forgets what there was before `floor`, at most `limit` changes in this batch. Heights from `floor` on can be
    /// read as before; those below it no longer, even if there are more changes to forget.
    pub fn prune<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        floor: u64,
        limit: u64,
    ) -> Result<Pruning, Error> {
        let (before, tip) = self.heights(batch)?;
        let floor = floor.clamp(before, tip.max(before));
        batch.put(&H::heights(), &H::Heights::value_of(floor, tip))?;
        let mut changes = 0;
        for row in batch.scan(H::changed_through(floor)) {
            let row = row?;
            if changes == limit {
                return Ok(Pruning { changes, more: true });
            }
            let (height, key) = H::of_changed(row.key()?);
            batch.delete(&H::log(&key, height))?;
            batch.delete_bytes(H::Changed::SPACE, row.key_bytes())?;
            changes += 1;
        }
        Ok(Pruning { changes, more: false })
    }

    /// Keeps what is there before it is changed at a height, unless that was done.
    fn keep<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &CurrentKey<'_, H>,
        height: u64,
    ) -> Result<(), Error> {
        let (floor, tip) = self.heights(batch)?;
        if height < tip {
            return Err(Error::HeightPassed { height, tip });
        }
        let log = H::log(key, height);
        if !batch.contains(&log)? {
            let old = self.get(batch, key)?;
            let old = old.as_ref().map(Stored::value).transpose()?;
            batch.put_row(&log, &H::logged(old))?;
            batch.put_bytes_of(&H::changed(key, height))?;
        }
        if height > tip {
            batch.put(&H::heights(), &H::Heights::value_of(floor, height))?;
        }
        Ok(())
    }
}

impl<H: for<'a> HistoryRows<'a>> Default for HistoryMap<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: History> fmt::Debug for HistoryMap<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HistoryMap").field(&H::Current::FAMILY).finish()
    }
}
