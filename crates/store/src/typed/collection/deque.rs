use std::fmt;
use std::ops::Range;

use crate::Found;
use crate::engine::Engine;

use super::{SpanKey, StoredIn};
use crate::typed::{Batch, Error, Read, Stored};
use keyplan_typed::Key;

/// A queue at both ends: elements by place, and a row that says where they start and end.
///
/// The plan declares `key job = 0x40 place: u64 -> …` and `key job_ends = 0x41 -> start: u64 end: u64`. Both ends are
/// known, so that taking an element walks over none of those that were taken before. When the places of one end are
/// used up, adding there is refused; a queue that was emptied begins in the middle again.
///
/// ```
/// keyplan::plan! {
///     plan work;
///     space state {
///         key job = 0x40 place: u64 -> text;
///         key job_ends = 0x41 -> start: u64 end: u64;
///     }
/// }
/// use keyplan::store::collection::{Deque, SpanKey};
/// use keyplan::store::{Store, engine::Memory};
/// use work::state::{Job, JobEnds, JobEndsValue, JobValue};
///
/// impl SpanKey for JobEnds {
///     fn value_of(start: u64, end: u64) -> JobEndsValue {
///         JobEndsValue { start, end }
///     }
///     fn span_of(value: JobEndsValue) -> (u64, u64) {
///         (value.start, value.end)
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &work::PLAN)?;
/// let jobs = Deque::new(|place| Job { place }, JobEnds);
/// let mut batch = store.batch()?;
/// jobs.push_back(&mut batch, &JobValue { value: "second" })?;
/// jobs.push_front(&mut batch, &JobValue { value: "first" })?;
/// let taken = jobs.pop_front(&mut batch)?.expect("there");
/// assert_eq!((taken.value()?.value, jobs.len(&batch)?), ("first", 1));
/// # Ok::<(), keyplan::store::Error>(())
/// ```
pub struct Deque<F, C> {
    element: F,
    ends: C,
}

/// Where the first element goes: there is as much room before it as after.
const MIDDLE: u64 = 1 << 63;

impl<K, F, C> Deque<F, C>
where
    K: Key,
    F: Fn(u64) -> K,
    C: SpanKey,
{
    /// A queue whose elements have keys that `element` makes of their place.
    pub const fn new(element: F, ends: C) -> Self {
        Self { element, ends }
    }

    /// How many elements there are.
    pub fn len<R: Read>(&self, read: &R) -> Result<u64, Error> {
        let places = self.places(read)?;
        Ok(places.end.saturating_sub(places.start))
    }

    /// Whether there are none.
    pub fn is_empty<R: Read>(&self, read: &R) -> Result<bool, Error> {
        Ok(self.len(read)? == 0)
    }

    /// The element at an index, counted from the front as it is now.
    pub fn get<R: Read>(&self, read: &R, index: u64) -> Result<Option<StoredIn<K, R>>, Error> {
        match place(&self.places(read)?, index) {
            Some(place) => read.get(&(self.element)(place)),
            None => Ok(None),
        }
    }

    /// Replaces the element at an index, counted from the front as it is now.
    pub fn set<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        index: u64,
        value: &K::Value<'_>,
    ) -> Result<(), Error> {
        let places = self.places(batch)?;
        let length = places.end.saturating_sub(places.start);
        let place = place(&places, index).ok_or(Error::NoElement { index, length })?;
        batch.put(&(self.element)(place), value)
    }

    /// Adds an element at the back.
    pub fn push_back<E: Engine>(&self, batch: &mut Batch<'_, E>, value: &K::Value<'_>) -> Result<(), Error> {
        let Range { start, end } = self.places(batch)?;
        let behind = end.checked_add(1).ok_or(Error::Exhausted { family: C::FAMILY })?;
        batch.put(&(self.element)(end), value)?;
        batch.put(&self.ends, &C::value_of(start, behind))
    }

    /// Adds an element at the front.
    pub fn push_front<E: Engine>(&self, batch: &mut Batch<'_, E>, value: &K::Value<'_>) -> Result<(), Error> {
        let Range { start, end } = self.places(batch)?;
        let before = start.checked_sub(1).ok_or(Error::Exhausted { family: C::FAMILY })?;
        batch.put(&(self.element)(before), value)?;
        batch.put(&self.ends, &C::value_of(before, end))
    }

    /// Takes the element at the back.
    pub fn pop_back<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
    ) -> Result<Option<Stored<K, Found<E>>>, Error> {
        self.take(batch, Range::next_back)
    }

    /// Takes the element at the front.
    pub fn pop_front<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
    ) -> Result<Option<Stored<K, Found<E>>>, Error> {
        self.take(batch, Range::next)
    }

    /// The elements from front to back, from either end.
    pub fn elements<'r, R: Read>(
        &'r self,
        read: &'r R,
    ) -> Result<impl DoubleEndedIterator<Item = Result<StoredIn<K, R>, Error>> + use<'r, K, F, C, R>, Error>
    {
        let all = self.places(read)?;
        Ok(all.map(move |place| {
            let key = (self.element)(place);
            read.get(&key)?.ok_or_else(|| missing(&key, C::FAMILY))
        }))
    }

    /// Takes all elements in this batch.
    pub fn clear<E: Engine>(&self, batch: &mut Batch<'_, E>) -> Result<(), Error> {
        for place in self.places(batch)? {
            batch.delete(&(self.element)(place))?;
        }
        batch.delete(&self.ends)
    }

    fn places<R: Read>(&self, read: &R) -> Result<Range<u64>, Error> {
        let (start, end) = read.get_with(&self.ends, C::span_of)?.unwrap_or((MIDDLE, MIDDLE));
        Ok(start..end)
    }

    /// Takes the element at the end that `next` takes a place from.
    fn take<E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        next: impl FnOnce(&mut Range<u64>) -> Option<u64>,
    ) -> Result<Option<Stored<K, Found<E>>>, Error> {
        let mut left = self.places(batch)?;
        let Some(place) = next(&mut left) else { return Ok(None) };
        let key = (self.element)(place);
        let taken = batch.get(&key)?.ok_or_else(|| missing(&key, C::FAMILY))?;
        batch.delete(&key)?;
        if left.is_empty() {
            batch.delete(&self.ends)?;
        } else {
            batch.put(&self.ends, &C::value_of(left.start, left.end))?;
        }
        Ok(Some(taken))
    }
}

impl<F, C: fmt::Debug> fmt::Debug for Deque<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deque").field("ends", &self.ends).finish_non_exhaustive()
    }
}

fn place(places: &Range<u64>, index: u64) -> Option<u64> {
    places.start.checked_add(index).filter(|place| places.contains(place))
}

/// The row that says where the elements end names one that is not there.
#[cold]
fn missing<K: Key>(key: &K, ends: &'static str) -> Error {
    match key.to_vec() {
        Ok(bytes) => Error::Dangling { index: ends, key: crate::typed::error::hex(&bytes) },
        Err(error) => error.into(),
    }
}
