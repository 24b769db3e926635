//! How much there is of each family.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Plan, Space};
use keyplan_store::cache::FamilyStatistics;
use keyplan_store::engine::{Engine, KeyRange};
use keyplan_store::source::{Source, SourceError};
use keyplan_store::structure::{Embedded, Kind, ScoreRange, StructureError, StructureRead};
use keyplan_store::{Direction, Figures, PlanFingerprint, SpaceFigures, Store, StoreError};

use crate::binding::Binding;
use crate::structure::{KINDS, is_structured, kind, size};

/// How many things are counted between two looks at the progress.
const REPORT_EVERY: u64 = 10_000;

/// What is in a database, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// The plan's name.
    pub plan: String,
    /// The fingerprint of its layout.
    pub fingerprint: PlanFingerprint,
    /// What was read, in one word: `fjall`, `redis`, `leveldb`.
    pub engine: String,
    /// Bytes on disk, if the engine can tell.
    pub disk_bytes: Option<u64>,
    /// Each family that has rows, by its path; the largest first.
    pub families: Vec<(String, Figures)>,
    /// How many fields, members or items there are of each family whose keys hold such.
    pub members: BTreeMap<String, u64>,
    /// The ends and the sizes of each family's rows, by its path; none of keys that hold structures.
    pub details: BTreeMap<String, Detail>,
    /// Rows whose keys no family makes.
    pub unknown: Figures,
    /// All rows.
    pub total: Figures,
    /// The reads of each family through the row cache, in the run that ended last.
    pub reads: Vec<FamilyStatistics>,
}

/// The ends of a family's rows, and how long their keys and values are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The first key.
    pub first: Vec<u8>,
    /// The last key.
    pub last: Vec<u8>,
    /// The lengths of keys.
    pub keys: Sizes,
    /// The lengths of values.
    pub values: Sizes,
}

impl Detail {
    fn note(&mut self, key: &[u8], value: &[u8]) {
        if self.keys.is_empty() {
            self.first = key.to_vec();
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.keys.note(key.len());
        self.values.note(value.len());
    }
}

/// How many byte strings there are of each size: no bytes, 1, 2 to 3, 4 to 7 and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(BTreeMap<u32, u64>);

impl Sizes {
    fn note(&mut self, length: usize) {
        *self.0.entry(usize::BITS - length.leading_zeros()).or_default() += 1;
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The shortest and the longest of each size, and how many there are.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.0.iter().map(|(&bits, &count)| {
            let end = 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
            (if bits == 0 { 0 } else { end / 2 }, end - 1, count)
        })
    }
}

/// Why a database could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CensusError {
    /// A row could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A structure could not be read.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A foreign database could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Whoever watched the progress asked for an end.
    #[error("stopped after {done} rows")]
    Stopped {
        /// How many rows had been counted.
        done: u64,
    },
}

impl Census {
    fn new(plan: &Plan, engine: &str, disk_bytes: Option<u64>) -> Self {
        Self {
            plan: plan.name.clone(),
            fingerprint: plan.fingerprint().into(),
            engine: engine.to_owned(),
            disk_bytes,
            families: Vec::new(),
            members: BTreeMap::new(),
            details: BTreeMap::new(),
            unknown: Figures::default(),
            total: Figures::default(),
            reads: Vec::new(),
        }
    }

    fn add(&mut self, figures: SpaceFigures) {
        add_to(&mut self.unknown, figures.unknown);
        add_to(&mut self.total, figures.total());
        self.families.extend(figures.families);
    }

    /// The largest family first.
    fn sorted(mut self) -> Self {
        let bytes = |figures: &Figures| figures.key_bytes.saturating_add(figures.value_bytes);
        self.families.sort_by(|(a, one), (b, other)| bytes(other).cmp(&bytes(one)).then_with(|| a.cmp(b)));
        self
    }

    /// Counts every row of a store. `progress` is told now and then how many rows have been counted, and may stop the rest.
    pub fn take<E: Engine>(
        store: &Arc<Store<E>>,
        plan: &Plan,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, CensusError> {
        let (decoder, snapshot) = (Decoder::new(plan), store.snapshot()?);
        let mut census = Self::new(plan, store.engine().name(), store.engine().statistics().disk_bytes);
        census.reads = store.meta().map(|meta| meta.reads.clone()).unwrap_or_default();
        for (index, space) in plan.spaces.iter().enumerate() {
            let before = census.total.rows;
            let told = |done| progress(before + done);
            if is_structured(space) {
                let read = structures(store, space)?;
                let (figures, members) = structure_figures(&*read, plan, index, told)?;
                census.members.extend(members);
                census.add(figures);
            } else {
                let mut counting = Counting::new(&decoder, index, told);
                for row in snapshot.range(store.space(space.engine_name())?, KeyRange::ALL)? {
                    let (key, value) = row.map_err(StoreError::from)?;
                    counting.row(&key, &value)?;
                }
                counting.end(&mut census);
            }
        }
        Ok(census.sorted())
    }

    /// Counts every row of the spaces of a source that are bound to those of a plan; rows of structures are unknown to it.
    pub fn of_source(
        source: &dyn Source,
        plan: &Plan,
        binding: &Binding,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, CensusError> {
        let decoder = Decoder::new(plan);
        let view = source.view()?;
        let mut census = Self::new(plan, source.kind(), None);
        for &(index, id) in &binding.pairs {
            let before = census.total.rows;
            let mut counting = Counting::new(&decoder, index, |done| progress(before + done));
            let mut rows = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
            while let Some(row) = rows.next()? {
                counting.row(row.key, row.value)?;
            }
            counting.end(&mut census);
        }
        Ok(census.sorted())
    }

    /// Counts what the structures of one space hold, such as those of a server.
    pub fn of_structures(
        read: &dyn StructureRead,
        plan: &Plan,
        space: usize,
        engine: &str,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, CensusError> {
        let mut census = Self::new(plan, engine, None);
        let (figures, members) = structure_figures(read, plan, space, progress)?;
        census.members = members;
        census.add(figures);
        Ok(census.sorted())
    }
}

/// Counts the rows of a space.
struct Counting<'d, 'p, F> {
    decoder: &'d Decoder<'p>,
    index: usize,
    families: BTreeMap<&'p str, (Figures, Detail)>,
    unknown: Figures,
    done: u64,
    progress: F,
}

impl<'d, 'p, F: FnMut(u64) -> ControlFlow<()>> Counting<'d, 'p, F> {
    const fn new(decoder: &'d Decoder<'p>, index: usize, progress: F) -> Self {
        Self { decoder, index, families: BTreeMap::new(), unknown: NONE, done: 0, progress }
    }

    fn row(&mut self, key: &[u8], value: &[u8]) -> Result<(), CensusError> {
        let counted = Figures { rows: 1, key_bytes: key.len() as u64, value_bytes: value.len() as u64 };
        match self.decoder.decode(self.index, key) {
            Ok(read) => {
                let (figures, detail) = self.families.entry(&read.family.path).or_default();
                add_to(figures, counted);
                detail.note(key, value);
            }
            Err(_) => add_to(&mut self.unknown, counted),
        }
        self.done += 1;
        if self.done.is_multiple_of(REPORT_EVERY) && (self.progress)(self.done).is_break() {
            return Err(CensusError::Stopped { done: self.done });
        }
        Ok(())
    }

    fn end(self, census: &mut Census) {
        let mut figures = SpaceFigures { unknown: self.unknown, ..SpaceFigures::default() };
        for (path, (counted, detail)) in self.families {
            figures.families.insert(path.to_owned(), counted);
            census.details.insert(path.to_owned(), detail);
        }
        census.add(figures);
    }
}

const NONE: Figures = Figures { rows: 0, key_bytes: 0, value_bytes: 0 };

/// The structures of a space of a store as they are now.
pub fn structures<E: Engine>(
    store: &Arc<Store<E>>,
    space: &Space,
) -> Result<Box<dyn StructureRead>, StructureError> {
    Ok(Box::new(Embedded::open(Arc::clone(store), space.engine_name())?.view()?))
}

/// What a space holds: keys, their members and bytes by family. Scores are not counted as bytes; items that workers hold
/// are counted, and their bytes are not.
fn structure_figures(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(SpaceFigures, BTreeMap<String, u64>), CensusError> {
    let families = Decoder::new(plan);
    let mut figures = SpaceFigures::default();
    let mut members: BTreeMap<String, u64> = BTreeMap::new();
    let mut done = 0_u64;
    for held in KINDS {
        for key in read.keys(held, &[])? {
            let key = key?;
            let decoded = families.decode(index, &key).ok().filter(|read| kind(read.family.kind) == held);
            let mut counted = Figures { rows: 1, key_bytes: key.len() as u64, value_bytes: 0 };
            let mut inside = 0_u64;
            let mut add = |key: usize, value: usize| {
                inside += 1;
                counted.key_bytes += key as u64;
                counted.value_bytes += value as u64;
                done += 1;
                if done.is_multiple_of(REPORT_EVERY) { progress(done) } else { ControlFlow::Continue(()) }
            };
            if walk(read, held, &key, &mut add)?.is_break() {
                return Err(CensusError::Stopped { done });
            }
            if held == Kind::Queue {
                inside = size(read, held, &key)?;
            }
            let Some(decoded) = decoded else {
                add_to(&mut figures.unknown, counted);
                if figures.unknown_keys.len() < SpaceFigures::EXAMPLES {
                    figures.unknown_keys.push(key);
                }
                continue;
            };
            let path = &decoded.family.path;
            add_to(figures.families.entry(path.clone()).or_default(), counted);
            if held != Kind::Value {
                *members.entry(path.clone()).or_default() += inside;
            }
        }
    }
    Ok((figures, members))
}

/// Calls `each` with the lengths of everything under a key: a field and its value, or a member.
fn walk(
    read: &dyn StructureRead,
    kind: Kind,
    key: &[u8],
    each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StructureError> {
    let lengths: Box<dyn Iterator<Item = Result<(usize, usize), StructureError>>> = match kind {
        Kind::Value => {
            let value = read.get(key)?.unwrap_or_default();
            Box::new(std::iter::once(Ok((0, value.len()))))
        }
        Kind::Hash => {
            Box::new(read.hash_all(key)?.map(|pair| pair.map(|(field, value)| (field.len(), value.len()))))
        }
        Kind::Set => Box::new(read.set_members(key)?.map(|member| member.map(|member| (member.len(), 0)))),
        Kind::Zset => {
            let rows = read.zset_rows(key, &ScoreRange::default(), Direction::Ascending, None)?;
            Box::new(rows.map(|scored| scored.map(|scored| (scored.member.len(), 0))))
        }
        Kind::Queue => {
            let waiting = usize::try_from(read.queue_size(key)?.waiting).unwrap_or(usize::MAX);
            let peeked =
                read.queue_peek(key, waiting)?.into_iter().map(|scored| Ok((scored.member.len(), 0)));
            let dead = read.queue_dead(key)?.map(|item| item.map(|item| (item.member.len(), 0)));
            Box::new(peeked.chain(dead))
        }
    };
    for length in lengths {
        let (key, value) = length?;
        if each(key, value).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn add_to(sum: &mut Figures, more: Figures) {
    sum.rows += more.rows;
    sum.key_bytes = sum.key_bytes.saturating_add(more.key_bytes);
    sum.value_bytes = sum.value_bytes.saturating_add(more.value_bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_by_powers_of_two() {
        let mut detail = Detail::default();
        for (key, value) in [("a", ""), ("bb", "x"), ("ccc", "yyyyyyy"), ("dddd", "z")] {
            detail.note(key.as_bytes(), value.as_bytes());
        }
        assert_eq!((detail.first.as_slice(), detail.last.as_slice()), (&b"a"[..], &b"dddd"[..]));
        assert_eq!(detail.keys.iter().collect::<Vec<_>>(), [(1, 1, 1), (2, 3, 2), (4, 7, 1)]);
        assert_eq!(detail.values.iter().collect::<Vec<_>>(), [(0, 0, 1), (1, 1, 2), (4, 7, 1)]);
    }
}
