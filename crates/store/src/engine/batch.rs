use std::collections::BTreeMap;
use std::fmt;

use super::capabilities::within;
use super::{
    Buffer as _, Capabilities, Engine, Error, Expectation, Expected, KeyRange, MultimapEngine, OwnedKeyRange,
    RowsDigest, Snapshot, SpaceId, TooLarge, ValueDigest,
};

/// Changes to several spaces that are applied as one step.
///
/// The last operation on a key wins. The batch can be asked what it holds; until the first such question it is a plain
/// list, and keeps no index.
pub struct Batch<E: Engine> {
    operations: Vec<Operation<E::Buffer>>,
    bytes: u64,
    index: Option<Index<E::Buffer>>,
    expectations: Vec<Expectation>,
}

/// For each space the keys of the batch, each with its last operation.
type Index<B> = BTreeMap<SpaceId, BTreeMap<B, usize>>;

/// One change of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<B> {
    /// The space.
    pub space: SpaceId,
    /// The key.
    pub key: B,
    /// What happens to it.
    pub action: Action<B>,
}

/// What happens to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<B> {
    /// It gets this value, in place of any it has.
    Put(B),
    /// It goes, with its value or values.
    Delete,
    /// It gets this value besides those it has.
    AddValue(B),
    /// It loses this value.
    RemoveValue(B),
}

impl<B: AsRef<[u8]>> Action<B> {
    fn len(&self) -> usize {
        match self {
            Self::Put(value) | Self::AddValue(value) | Self::RemoveValue(value) => value.as_ref().len(),
            Self::Delete => 0,
        }
    }
}

/// Where an operation belongs: its space, the beginning of its key, and its number in the batch.
struct Place {
    space: SpaceId,
    beginning: u64,
    at: usize,
}

impl Place {
    fn new<B: AsRef<[u8]>>(at: usize, operation: &Operation<B>) -> Self {
        let mut beginning = [0; 8];
        beginning.iter_mut().zip(operation.key.as_ref()).for_each(|(byte, key)| *byte = *key);
        Self { space: operation.space, beginning: u64::from_be_bytes(beginning), at }
    }

    fn key<'o, B>(&self, operations: &'o [Operation<B>]) -> Option<&'o B> {
        operations.get(self.at).map(|operation| &operation.key)
    }

    fn action<'o, B>(&self, operations: &'o [Operation<B>]) -> Option<&'o Action<B>> {
        operations.get(self.at).map(|operation| &operation.action)
    }
}

impl<E: Engine> Batch<E> {
    /// An empty batch.
    pub const fn new() -> Self {
        Self { operations: Vec::new(), bytes: 0, index: None, expectations: Vec::new() }
    }

    /// An empty batch with room for this many operations.
    pub fn with_capacity(operations: usize) -> Self {
        Self { operations: Vec::with_capacity(operations), ..Self::new() }
    }

    /// Gives a key a value.
    pub fn put(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.push(space, key.into(), Action::Put(value.into()));
    }

    /// Gives a key a value, and copies both.
    ///
    /// The same as [`put`](Self::put) with bytes that are borrowed, and cheaper where the engine keeps a row in one piece.
    pub fn put_row(&mut self, space: SpaceId, key: &[u8], value: &[u8]) {
        let (key, value) = E::Buffer::row(key, value);
        self.push(space, key, Action::Put(value));
    }

    /// Deletes a key, and all of its values in a space where it may have several.
    pub fn delete(&mut self, space: SpaceId, key: impl Into<E::Buffer>) {
        self.push(space, key.into(), Action::Delete);
    }

    /// Has the commit refused as a conflict unless a key has this value, or none.
    ///
    /// An engine that cannot check it as one step with the changes refuses the batch by name; see [`Capabilities::checks`].
    pub fn expect(&mut self, space: SpaceId, key: &[u8], value: Option<&[u8]>) {
        let expected = Expected::Value { key: key.to_vec(), digest: value.map(ValueDigest::of) };
        self.expectations.push(Expectation { space, expected });
    }

    /// Has the commit refused as a conflict unless a range holds these rows and no other.
    pub fn expect_rows(&mut self, space: SpaceId, range: OwnedKeyRange, rows: RowsDigest) {
        self.expectations.push(Expectation { space, expected: Expected::Rows { range, rows } });
    }

    /// What must be so for the batch to be committed.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// Refuses the batch as a conflict if anything that it expects is otherwise in a snapshot.
    ///
    /// For engines that can keep everybody else from committing between this and their own commit.
    pub fn check_expectations<S: Snapshot>(&self, snapshot: &S) -> Result<(), Error> {
        check_expectations(&self.expectations, snapshot)
    }

    /// Takes out what must be so for the batch to be committed, for whoever checks it.
    pub fn take_expectations(&mut self) -> Vec<Expectation> {
        std::mem::take(&mut self.expectations)
    }

    /// How many operations it holds.
    pub const fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// How many bytes of keys and values it holds.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the batch does to a key: `None` if nothing, `Some(None)` if it deletes it.
    ///
    /// The first call builds an index of the batch, which later operations then keep up.
    pub fn pending(&mut self, space: SpaceId, key: &[u8]) -> Option<Option<&E::Buffer>> {
        if self.operations.is_empty() {
            return None;
        }
        let found = *self.index().get(&space)?.get(key)?;
        match &self.operations.get(found)?.action {
            Action::Put(value) => Some(Some(value)),
            _ => Some(None),
        }
    }

    /// What the batch does to the keys of a range, in their order.
    pub fn pending_range(
        &mut self,
        space: SpaceId,
        range: KeyRange<'_>,
    ) -> impl DoubleEndedIterator<Item = (&E::Buffer, Option<&E::Buffer>)> {
        if !self.operations.is_empty() {
            self.index();
        }
        let operations = &self.operations;
        // A range that is empty may also be inverted, which a BTreeMap does not take.
        let rows = self.index.as_ref().and_then(|index| index.get(&space)).filter(|_| !range.is_empty());
        rows.into_iter().flat_map(move |rows| rows.range::<[u8], _>(range)).filter_map(|(key, &at)| {
            match &operations.get(at)?.action {
                Action::Put(value) => Some((key, Some(value))),
                _ => Some((key, None)),
            }
        })
    }

    /// The operations by space and key. Of those on one key only the last is left; in a space where a key may have
    /// several values, those on its values keep their order.
    pub fn into_sorted(self) -> impl Iterator<Item = Operation<E::Buffer>> {
        let operations = self.operations;
        let mut places: Vec<Place> =
            (0..).zip(&operations).map(|(at, operation)| Place::new(at, operation)).collect();
        places.sort_unstable_by(|a, b| {
            // Most keys differ at their beginnings, which are at hand.
            let order = (a.space, a.beginning).cmp(&(b.space, b.beginning));
            order.then_with(|| a.key(&operations).cmp(&b.key(&operations))).then(a.at.cmp(&b.at))
        });
        // `dedup_by` drops its first argument, the later one: exchange them first.
        places.dedup_by(|later, earlier| {
            let replaced = (later.space, later.beginning) == (earlier.space, earlier.beginning)
                && matches!(later.action(&operations), Some(Action::Put(_) | Action::Delete))
                && later.key(&operations) == earlier.key(&operations);
            if replaced {
                std::mem::swap(later, earlier);
            }
            replaced
        });
        let mut operations: Vec<_> = operations.into_iter().map(Some).collect();
        places.into_iter().filter_map(move |place| operations.get_mut(place.at)?.take())
    }

    /// The operations in the order that they came in.
    pub fn operations(&self) -> &[Operation<E::Buffer>] {
        &self.operations
    }

    /// The same batch for another engine that takes the same bytes.
    pub fn on<F: Engine<Buffer = E::Buffer>>(self) -> Batch<F> {
        let Self { operations, bytes, index, expectations } = self;
        Batch { operations, bytes, index, expectations }
    }

    /// Refuses the batch if any part of it is over a limit of the engine.
    pub fn check(&self, capabilities: &Capabilities) -> Result<(), Error> {
        if !capabilities.checks && !self.expectations.is_empty() {
            return Err(Error::Unsupported { engine: E::NAME, what: "checks of what a batch was made from" });
        }
        within(TooLarge::BatchOperations, capabilities.batch_operations, self.len())?;
        within(
            TooLarge::BatchBytes,
            capabilities.batch_bytes,
            usize::try_from(self.bytes).unwrap_or(usize::MAX),
        )?;
        self.operations
            .iter()
            .try_for_each(|operation| capabilities.admit::<E>(operation.key.len(), operation.action.len()))
    }

    fn push(&mut self, space: SpaceId, key: E::Buffer, action: Action<E::Buffer>) {
        let bytes = u64::try_from(key.len().saturating_add(action.len())).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(index) = &mut self.index {
            index.entry(space).or_default().insert(key.clone(), self.operations.len());
        }
        self.operations.push(Operation { space, key, action });
    }

    fn index(&mut self) -> &Index<E::Buffer> {
        self.index.get_or_insert_with(|| {
            let mut index = Index::new();
            for (at, operation) in self.operations.iter().enumerate() {
                index.entry(operation.space).or_default().insert(operation.key.clone(), at);
            }
            index
        })
    }
}

/// Refuses as a conflict what is otherwise in a snapshot.
pub(super) fn check_expectations<S: Snapshot>(
    expectations: &[Expectation],
    snapshot: &S,
) -> Result<(), Error> {
    for expectation in expectations {
        if !expectation.holds(snapshot)? {
            return Err(Error::Conflict);
        }
    }
    Ok(())
}

impl<E: MultimapEngine> Batch<E> {
    /// Gives a key one more value, in a space where it may have several.
    pub fn put_multi(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.push(space, key.into(), Action::AddValue(value.into()));
    }

    /// Takes one of its values from a key, in a space where it may have several.
    pub fn remove_multi(&mut self, space: SpaceId, key: impl Into<E::Buffer>, value: impl Into<E::Buffer>) {
        self.push(space, key.into(), Action::RemoveValue(value.into()));
    }
}

impl<E: Engine> Default for Batch<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Engine> fmt::Debug for Batch<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("operations", &self.len())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
