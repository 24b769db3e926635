use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::{Decoded, Decoder, Miss};
use keyplan_plan::model::Plan;

use crate::engine::{Engine, KeyRange, SpaceId};
use crate::error::StoreError;
use crate::snapshot::{BytesOf, RangeOf, StoreSnapshot};

/// Rows of a store with each key read under the plan: for tools that know the plan only at run time.
///
/// It reads a snapshot and cannot write.
#[derive(Debug)]
pub struct Reader<'p, E: Engine> {
    decoder: Decoder<'p>,
    snapshot: StoreSnapshot<E>,
}

/// A row as a tool sees it.
#[derive(Debug)]
pub struct Row<'p, E: Engine> {
    /// The key.
    pub key: BytesOf<E>,
    /// The value.
    pub value: BytesOf<E>,
    /// Its family and arguments, or why no family makes the key.
    pub decoded: Result<Decoded<'p>, Miss<'p>>,
}

/// How much of a space each family takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpaceFigures {
    /// Each family that has rows, by its path.
    pub families: BTreeMap<String, Figures>,
    /// The rows whose keys no family makes.
    pub unknown: Figures,
    /// The first of these keys.
    pub unknown_keys: Vec<Vec<u8>>,
}

/// How many rows, and how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Rows.
    pub rows: u64,
    /// Bytes of their keys.
    pub key_bytes: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
}

impl Figures {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.rows += 1;
        self.key_bytes = self.key_bytes.saturating_add(size(key));
        self.value_bytes = self.value_bytes.saturating_add(size(value));
    }
}

impl SpaceFigures {
    /// How many keys of no family are kept as examples.
    pub const EXAMPLES: usize = 16;

    /// All rows together.
    pub fn total(&self) -> Figures {
        self.families.values().fold(self.unknown, |sum, figures| Figures {
            rows: sum.rows + figures.rows,
            key_bytes: sum.key_bytes.saturating_add(figures.key_bytes),
            value_bytes: sum.value_bytes.saturating_add(figures.value_bytes),
        })
    }
}

/// How many rows are counted between two calls of a progress callback.
const REPORT_EVERY: u64 = 10_000;

impl<'p, E: Engine> Reader<'p, E> {
    /// Reads a snapshot under a plan.
    pub fn new(plan: &'p Plan, snapshot: StoreSnapshot<E>) -> Self {
        Self { decoder: Decoder::new(plan), snapshot }
    }

    /// The plan that keys are read under.
    pub fn plan(&self) -> &'p Plan {
        self.decoder.plan()
    }

    /// The snapshot that is read.
    pub const fn snapshot(&self) -> &StoreSnapshot<E> {
        &self.snapshot
    }

    /// The engine's number of the space at `index` in the plan.
    pub fn space(&self, index: usize) -> Result<SpaceId, StoreError> {
        let space = self.plan().spaces.get(index);
        let space = space.ok_or_else(|| StoreError::NoSpace { name: format!("#{index}") })?;
        self.snapshot.space(space.engine_name())
    }

    /// Reads one row of the space at `index` in the plan.
    pub fn get(&self, index: usize, key: &[u8]) -> Result<Option<BytesOf<E>>, StoreError> {
        self.snapshot.get(self.space(index)?, key)
    }

    /// Iterates over the rows of a range of the space at `index` in the plan, from either end.
    pub fn rows(&self, index: usize, range: KeyRange<'_>) -> Result<Rows<'_, 'p, E>, StoreError> {
        let inner = self.snapshot.range(self.space(index)?, range)?;
        Ok(Rows { decoder: &self.decoder, index, inner })
    }

    /// Counts the rows and bytes of each family of the space at `index` in the plan.
    ///
    /// `progress` is told now and then how many rows have been counted, and may stop the rest.
    pub fn figures(
        &self,
        index: usize,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<SpaceFigures, StoreError> {
        let space = self.space(index)?;
        let mut figures = SpaceFigures::default();
        let mut counted: BTreeMap<&str, Figures> = BTreeMap::new();
        let mut done = 0_u64;
        for row in self.snapshot.range(space, KeyRange::ALL)? {
            let (key, value) = row?;
            if let Ok(decoded) = self.decoder.decode(index, &key) {
                counted.entry(&decoded.family.path).or_default().add(&key, &value);
            } else {
                figures.unknown.add(&key, &value);
                if figures.unknown_keys.len() < SpaceFigures::EXAMPLES {
                    figures.unknown_keys.push(key.to_vec());
                }
            }
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) && progress(done).is_break() {
                return Err(StoreError::Stopped { done });
            }
        }
        figures.families = counted.into_iter().map(|(path, figures)| (path.to_owned(), figures)).collect();
        Ok(figures)
    }
}

/// Rows of a [`Reader`].
#[derive(Debug)]
pub struct Rows<'r, 'p, E: Engine> {
    decoder: &'r Decoder<'p>,
    index: usize,
    inner: RangeOf<E>,
}

impl<'p, E: Engine> Rows<'_, 'p, E> {
    fn read(
        &self,
        row: Result<(BytesOf<E>, BytesOf<E>), crate::engine::Error>,
    ) -> Result<Row<'p, E>, StoreError> {
        let (key, value) = row?;
        let decoded = self.decoder.decode(self.index, &key);
        Ok(Row { key, value, decoded })
    }
}

impl<'p, E: Engine> Iterator for Rows<'_, 'p, E> {
    type Item = Result<Row<'p, E>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.inner.next()?;
        Some(self.read(row))
    }
}

impl<E: Engine> DoubleEndedIterator for Rows<'_, '_, E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let row = self.inner.next_back()?;
        Some(self.read(row))
    }
}
