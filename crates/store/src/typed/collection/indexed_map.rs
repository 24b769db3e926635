use std::fmt;
use std::marker::PhantomData;

use crate::engine::Engine;

use super::{KeyOf, RowIn, StoredIn, ValueOf};
use crate::typed::collection::Map;
use crate::typed::error::hex;
use crate::typed::scratch::with_key;
use crate::typed::{Batch, Error, Read, Row, Rows};
use keyplan_typed::{Key, Scan, ScanOf, Value as _};

/// How rows are found in other ways than by their key.
pub trait Indexed {
    /// The family of the rows.
    type Row: Key;

    /// Names the index rows of a row: a pure function of it.
    fn index(
        key: &<Self::Row as Key>::Decoded<'_>,
        value: &<Self::Row as Key>::Value<'_>,
        rows: &mut IndexRows,
    ) -> Result<(), Error>;
}

/// A family of index rows: from one of them the row that it stands for is known.
pub trait IndexOf<'a, I: Indexed>: Key {
    /// The key of the row that an index row stands for.
    fn row(key: Self::Decoded<'a>, value: Self::Value<'a>) -> <I::Row as Key>::Decoded<'a>;
}

/// The index rows of one row.
#[derive(Debug, Default)]
pub struct IndexRows(Vec<IndexRow>);

#[derive(Debug, PartialEq, Eq)]
struct IndexRow {
    family: &'static str,
    space: &'static str,
    key: Vec<u8>,
    value: Vec<u8>,
    unique: bool,
}

impl IndexRows {
    /// An index in which several rows may share the arguments in front: the row's own key is part of it.
    pub fn multi<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<(), Error> {
        self.push(key, value, false)
    }

    /// An index in which no two rows may have the same key; the value says which row it is.
    pub fn unique<K: Key>(&mut self, key: &K, value: &K::Value<'_>) -> Result<(), Error> {
        self.push(key, value, true)
    }

    fn push<K: Key>(&mut self, key: &K, value: &K::Value<'_>, unique: bool) -> Result<(), Error> {
        let (key, value) = (key.to_vec()?, value.to_vec()?);
        let row = IndexRow { family: K::FAMILY, space: K::SPACE, key, value, unique };
        // One row may name an index row twice, but not two different ones under one key.
        match self.0.iter().find(|own| own.space == row.space && own.key == row.key) {
            None => self.0.push(row),
            Some(own) if *own == row => {}
            Some(_) => return Err(Error::NotUnique { index: row.family, key: hex(&row.key) }),
        }
        Ok(())
    }

    fn has_key_of(&self, row: &IndexRow) -> bool {
        self.0.iter().any(|own| own.space == row.space && own.key == row.key)
    }
}

/// Values by key that are also found by their indexes, which are changed in the same batch as the rows.
///
/// A row that a unique index refuses leaves nothing behind, in the batch or in the store.
///
/// ```
/// keyplan::plan! {
///     plan names;
///     space state {
///         key pool = 0x01 id: u64 -> owner: u32 name: text(1..=8) scan all in order;
///         key pool_of_owner = 0x02 owner: u32 id: u64 -> "" scan by owner in order;
///         key pool_of_name = 0x03 name: text(1..=8) -> id: u64;
///     }
/// }
/// use keyplan::store::collection::{IndexOf, IndexRows, Indexed, IndexedMap};
/// use keyplan::store::{Error, Store, engine::Memory};
/// use names::state::{
///     Pool, PoolOfName, PoolOfNameValue, PoolOfOwner, PoolOfOwnerValue, PoolValue,
/// };
///
/// struct Pools;
///
/// impl Indexed for Pools {
///     type Row = Pool;
///
///     fn index(key: &Pool, value: &PoolValue<'_>, rows: &mut IndexRows) -> Result<(), Error> {
///         rows.multi(&PoolOfOwner { owner: value.owner, id: key.id }, &PoolOfOwnerValue)?;
///         rows.unique(&PoolOfName { name: value.name }, &PoolOfNameValue { id: key.id })
///     }
/// }
///
/// impl IndexOf<'_, Pools> for PoolOfOwner {
///     fn row(key: PoolOfOwner, _: PoolOfOwnerValue) -> Pool {
///         Pool { id: key.id }
///     }
/// }
///
/// impl<'a> IndexOf<'a, Pools> for PoolOfName<'_> {
///     fn row(_: PoolOfName<'a>, value: PoolOfNameValue) -> Pool {
///         Pool { id: value.id }
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &names::PLAN)?;
/// let pools = IndexedMap::<Pools, _>::new(Pool::all());
/// let mut batch = store.batch()?;
/// pools.put(&mut batch, &Pool { id: 1 }, &PoolValue { owner: 5, name: "atom" })?;
/// pools.put(&mut batch, &Pool { id: 2 }, &PoolValue { owner: 5, name: "osmo" })?;
/// let taken = pools.put(&mut batch, &Pool { id: 3 }, &PoolValue { owner: 5, name: "osmo" });
/// assert!(matches!(taken, Err(Error::NotUnique { index: "state.pool_of_name", .. })));
///
/// let found = pools.find(&batch, &PoolOfName { name: "osmo" })?.expect("there");
/// assert_eq!(found.key()?.id, 2);
/// assert_eq!(pools.select(&batch, PoolOfOwner::by_owner(5)).count(), 2);
/// assert_eq!(pools.clear(&mut batch)?, 2);
/// assert_eq!(pools.select(&batch, PoolOfOwner::by_owner(5)).count(), 0);
/// # Ok::<(), Error>(())
/// ```
pub struct IndexedMap<I, S: ScanOf> {
    map: Map<S>,
    indexes: PhantomData<fn() -> I>,
}

impl<I, S> IndexedMap<I, S>
where
    I: Indexed<Row = S::Key>,
    S: ScanOf,
{
    /// The rows of a scan.
    pub const fn new(scan: Scan<'static, S>) -> Self {
        Self { map: Map::new(scan), indexes: PhantomData }
    }

    /// Reads a value.
    pub fn get<R: Read>(&self, read: &R, key: &KeyOf<'_, S>) -> Result<Option<StoredIn<S::Key, R>>, Error> {
        self.map.get(read, key)
    }

    /// Goes through the rows, from either end.
    pub fn rows<R: Read>(&self, read: &R) -> Rows<S::Key, R::Range> {
        self.map.rows(read)
    }

    /// The row that a unique index has under a key.
    pub fn find<R: Read, K: for<'a> IndexOf<'a, I>>(
        &self,
        read: &R,
        key: &K,
    ) -> Result<Option<RowIn<S::Key, R>>, Error> {
        with_key(key, |bytes| {
            let Some(found) = read.get_bytes(K::SPACE, bytes)? else { return Ok(None) };
            let index = Row::<K, &[u8], R::Bytes>::new(bytes, found);
            row::<I, K, R>(read, index.key()?, index.value()?).map(Some)
        })
    }

    /// The rows that a scan of an index names, in the order of the index.
    pub fn select<'r, R, T>(
        &'r self,
        read: &'r R,
        scan: Scan<'_, T>,
    ) -> impl DoubleEndedIterator<Item = Result<RowIn<S::Key, R>, Error>> + use<'r, R, T, I, S>
    where
        R: Read,
        T: ScanOf<Key: for<'a> IndexOf<'a, I>>,
    {
        read.scan(scan).map(move |found| {
            let found = found?;
            let (key, value) = found.read()?;
            row::<I, T::Key, R>(read, key, value)
        })
    }

    /// Writes a row and its index rows; whether it is new. Refused, with nothing changed, if another row has one of its
    /// keys in a unique index.
    pub fn put<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &KeyOf<'_, S>,
        value: &ValueOf<'_, S>,
    ) -> Result<bool, Error> {
        let old = self.index_rows(batch, key)?;
        let mut new = IndexRows::default();
        I::index(key, value, &mut new)?;
        let before = old.as_ref();
        for row in new.0.iter().filter(|row| row.unique && !before.is_some_and(|old| old.has_key_of(row))) {
            if batch.contains_bytes(row.space, &row.key)? {
                return Err(Error::NotUnique { index: row.family, key: hex(&row.key) });
            }
        }
        // Encoded before anything is changed, so that a value that is refused changes nothing.
        batch.put_row(key, value)?;
        for row in before.into_iter().flat_map(|old| &old.0).filter(|row| !new.has_key_of(row)) {
            batch.delete_bytes(row.space, &row.key)?;
        }
        for row in new.0.iter().filter(|row| !before.is_some_and(|old| old.0.contains(row))) {
            batch.put_bytes(row.space, &row.key, &row.value)?;
        }
        Ok(old.is_none())
    }

    /// Deletes a row and its index rows; whether it was there.
    pub fn remove<E: Engine>(&self, batch: &mut Batch<'_, E>, key: &KeyOf<'_, S>) -> Result<bool, Error> {
        let Some(old) = self.index_rows(batch, key)? else { return Ok(false) };
        for row in old.0 {
            batch.delete_bytes(row.space, &row.key)?;
        }
        batch.delete(key)?;
        Ok(true)
    }

    /// Deletes all rows and their index rows in this batch; how many rows there were.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<u64, Error> {
        let mut gone = 0;
        for found in self.map.rows(batch) {
            let found = found?;
            let (key, value) = found.read()?;
            let mut rows = IndexRows::default();
            I::index(&key, &value, &mut rows)?;
            for row in rows.0 {
                batch.delete_bytes(row.space, &row.key)?;
            }
            batch.delete_bytes(S::Key::SPACE, found.key_bytes())?;
            gone += 1;
        }
        Ok(gone)
    }

    /// The index rows of the row under a key, if there is one.
    fn index_rows<E: Engine>(
        &self,
        batch: &Batch<'_, E>,
        key: &KeyOf<'_, S>,
    ) -> Result<Option<IndexRows>, Error> {
        let Some(found) = self.map.get(batch, key)? else { return Ok(None) };
        let mut rows = IndexRows::default();
        I::index(key, &found.value()?, &mut rows)?;
        Ok(Some(rows))
    }
}

/// The row that an index row stands for.
fn row<'a, I: Indexed, K: IndexOf<'a, I>, R: Read>(
    read: &R,
    key: K::Decoded<'a>,
    value: K::Value<'a>,
) -> Result<RowIn<I::Row, R>, Error> {
    let key = K::row(key, value).to_vec()?;
    match read.get_bytes(I::Row::SPACE, &key)? {
        Some(value) => Ok(Row::new(key, value)),
        None => Err(Error::Dangling { index: K::FAMILY, key: hex(&key) }),
    }
}

impl<I, S: ScanOf> fmt::Debug for IndexedMap<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedMap").field("scan", &self.map.scan()).finish_non_exhaustive()
    }
}
