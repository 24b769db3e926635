//! A database of another program as an engine that only reads, so that a migration copies from it as from one of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyplan_plan::model::Plan;
use keyplan_store::Direction;
use keyplan_store::engine::kit::{Ages, Ticket};
use keyplan_store::engine::{
    Batch, Capabilities, Durability, Engine, Error, KeyRange, OwnedKeyRange, RowRange, Setting, SharedBytes,
    Snapshot, Space, SpaceId, SpaceKind, Statistics,
};
use keyplan_store::source::{Source, SourceError, View, Walk};

use crate::error::{Result, bail};
use crate::foreign::Foreign;

/// The rows of a [`Foreign`] under the names that the engines of its plan know its spaces by. Nothing is written.
#[derive(Debug)]
pub struct ForeignEngine {
    source: Box<dyn Source>,
    spaces: BTreeMap<String, SpaceId>,
    ages: Ages,
}

impl Foreign {
    /// What is read, as an engine. Spaces of structures are refused, and those with several values for a key.
    pub fn into_engine(self) -> Result<(ForeignEngine, Plan)> {
        let Self { source, plan, binding } = self;
        let kinds = source.spaces();
        let mut spaces = BTreeMap::new();
        for &(index, id) in &binding.pairs {
            let Some(space) = plan.spaces.get(index) else { continue };
            refuse_structures(space)?;
            let found = kinds.iter().find(|known| source.space(&known.name) == Some(id));
            if found.is_some_and(|known| known.kind == SpaceKind::Multimap) {
                bail!("`{}` holds several values for a key, and cannot be copied", space.name);
            }
            spaces.insert(space.engine_name().to_owned(), id);
        }
        Ok((ForeignEngine { source, spaces, ages: Ages::default() }, plan))
    }
}

/// Refuses a space of structures: what their rows are is known of our own databases only.
pub(crate) fn refuse_structures(space: &keyplan_plan::model::Space) -> Result<()> {
    if keyplan_report::structure::is_structured(space) {
        bail!("`{}` holds structures, which another program's database has no rows of", space.name);
    }
    Ok(())
}

fn failed(error: SourceError) -> Error {
    match error {
        SourceError::Engine(error) => error,
        SourceError::Io { path: _, source } => Error::Io { doing: "reading the source", source },
        error @ SourceError::Damaged { .. } => Error::Corrupt { what: error.to_string(), source: None },
        error => Error::Engine { source: Box::new(error) },
    }
}

impl Engine for ForeignEngine {
    type Buffer = SharedBytes;
    type Snapshot = ForeignSnapshot;

    const NAME: &'static str = "foreign";

    fn capabilities(&self) -> Capabilities {
        Capabilities::PLAIN
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.keys().map(Space::map).collect()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.spaces.get(name).copied()
    }

    /// Finds a space; none is made.
    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        self.space(&space.name).ok_or(Error::Closed)
    }

    fn snapshot(&self) -> Result<ForeignSnapshot, Error> {
        let view = self.source.view().map_err(failed)?;
        Ok(ForeignSnapshot { view: view.into(), ticket: Arc::new(self.ages.open(None)) })
    }

    fn commit(&self, _: Batch<Self>, _: Durability) -> Result<(), Error> {
        Err(Error::Closed)
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        Err(Error::Closed)
    }

    fn shutdown(&self, _: Duration) -> Result<(), Error> {
        Ok(())
    }

    fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        (statistics.open_snapshots, statistics.oldest_snapshot) = self.ages.oldest();
        statistics
    }

    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }
}

/// One moment of a [`ForeignEngine`].
#[derive(Clone, Debug)]
pub struct ForeignSnapshot {
    view: Arc<dyn View>,
    ticket: Arc<Ticket>,
}

impl Snapshot for ForeignSnapshot {
    type Bytes = SharedBytes;
    type Range = ForeignRange;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<SharedBytes>, Error> {
        Ok(self.view.get(space, key).map_err(failed)?.map(SharedBytes::from))
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<ForeignRange, Error> {
        let view = Arc::clone(&self.view);
        Ok(ForeignRange { view, space, range: range.to_owned(), front: End::default(), back: End::default() })
    }

    fn age(&self) -> Duration {
        self.ticket.age()
    }
}

/// Rows of a [`ForeignSnapshot`]: a walk from each end, each up to where the other has come.
pub struct ForeignRange {
    view: Arc<dyn View>,
    space: SpaceId,
    range: OwnedKeyRange,
    front: End,
    back: End,
}

/// One end of a range.
#[derive(Default)]
struct End {
    walk: Option<Box<dyn Walk>>,
    // The last key that it has given.
    last: Option<Vec<u8>>,
    over: bool,
}

impl ForeignRange {
    fn step(&mut self, direction: Direction) -> Result<Option<(SharedBytes, SharedBytes)>, Error> {
        let (end, other) = match direction {
            Direction::Ascending => (&mut self.front, &self.back),
            Direction::Descending => (&mut self.back, &self.front),
        };
        if end.over {
            return Ok(None);
        }
        // An error ends it, and so does the last row.
        end.over = true;
        let mut walk = match end.walk.take() {
            Some(walk) => walk,
            None => self.view.walk(self.space, self.range.borrow(), direction).map_err(failed)?,
        };
        let Some(row) = walk.next().map_err(failed)? else { return Ok(None) };
        let met = other.last.as_ref().is_some_and(|met| match direction {
            Direction::Ascending => row.key >= met.as_slice(),
            Direction::Descending => row.key <= met.as_slice(),
        });
        if met {
            return Ok(None);
        }
        let last = end.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(row.key);
        let row = (row.key.into(), row.value.into());
        end.walk = Some(walk);
        end.over = false;
        Ok(Some(row))
    }
}

impl Iterator for ForeignRange {
    type Item = Result<(SharedBytes, SharedBytes), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Direction::Ascending).transpose()
    }
}

impl DoubleEndedIterator for ForeignRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(Direction::Descending).transpose()
    }
}

impl RowRange for ForeignRange {
    type Bytes = SharedBytes;
}

impl fmt::Debug for ForeignRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignRange").field("space", &self.space).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use keyplan_store::engine::Memory;
    use keyplan_store::source::EngineSource;

    use super::*;

    #[test]
    fn rows_are_read_from_both_ends_until_they_meet() {
        let mut memory = Memory::new();
        let space = memory.create_space(&Space::map("theirs")).unwrap();
        let mut batch = Batch::new();
        for key in 1_u8..=5 {
            batch.put(space, vec![key], vec![key, key]);
        }
        memory.commit(batch, Durability::Buffer).unwrap();
        let text = "plan p; space ours { key k = n: u8 -> raw; } space absent { key k = n: u8; }";
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let source: Box<dyn Source> = Box::new(EngineSource::new(memory));
        let given = [("ours".to_owned(), "theirs".to_owned())];
        let binding = keyplan_report::binding::bind(&plan, &*source, &given).unwrap();
        let (mut engine, _) = Foreign { source, plan, binding }.into_engine().unwrap();
        assert_eq!(engine.space("absent"), None);
        let id = engine.space("ours").unwrap();
        let snapshot = engine.snapshot().unwrap();
        assert_eq!(snapshot.get(id, &[3]).unwrap().as_deref(), Some(&[3, 3][..]));
        let mut range = snapshot.range(id, KeyRange::ALL).unwrap();
        let mut met = Vec::new();
        for forth in [true, false, true, false, true, false, true, false] {
            let row = if forth { range.next() } else { range.next_back() };
            met.extend(row.map(|row| row.unwrap().0[0]));
        }
        assert_eq!(met, [1, 5, 2, 4, 3]);
        // It is only read.
        assert!(matches!(engine.commit(Batch::new(), Durability::Buffer), Err(Error::Closed)));
        assert!(matches!(engine.create_space(&Space::map("new")), Err(Error::Closed)));
    }
}
