//! The rows of a database beside the keys that are explained.

use std::path::Path;

use keyplan_plan::explain::Explanation;
use keyplan_plan::model::{Family, Plan, Space};
use keyplan_report::row::{Begun, Stored};
use keyplan_report::structure::is_structured;
use keyplan_store::engine::{OwnedKeyRange, SpaceId};
use keyplan_store::source::Source;
use keyplan_store::{Access, Direction};

use crate::any::{AnyStore, expect_plan};
use crate::error::{Error, Result};
use crate::foreign::Foreign;

/// How many rows that begin with some bytes are counted.
const COUNTED: u64 = 10_000;

/// What a space has under a key.
pub struct StoredIn<'p> {
    /// The space.
    pub space: &'p Space,
    /// The family that the key is of, if it is of one.
    pub family: Option<&'p Family>,
    /// The row, or the rows that begin with the key.
    pub stored: Stored,
}

/// A database and the plan that its keys are read under.
pub enum ExplainedRows {
    /// One that has its plan in it.
    Own(AnyStore, Plan),
    /// One that has none.
    Foreign(Foreign),
}

impl ExplainedRows {
    /// Opens a database with the plan that is in it, or under the plan that `named` reads.
    pub fn open<E: From<Error>>(
        typed: &str,
        named: Option<impl Fn() -> Result<Plan, E>>,
        bound: &[String],
    ) -> Result<Self, E> {
        if let Some(foreign) = Foreign::open(typed, named.as_ref(), bound)? {
            return Ok(Self::Foreign(foreign));
        }
        let place = Path::new(typed);
        let (database, plan) = AnyStore::open(place, Access::ReadOnly)?;
        if let Some(named) = named {
            expect_plan(place, &plan, &named()?)?;
        }
        Ok(Self::Own(database, plan))
    }

    /// The plan that keys are read under.
    pub const fn plan(&self) -> &Plan {
        match self {
            Self::Own(_, plan) => plan,
            Self::Foreign(foreign) => &foreign.plan,
        }
    }

    /// What the database has under an explained key, in each of these spaces that the key may be of: the row, or how many rows
    /// begin with the key.
    pub fn stored<'p>(
        &self,
        plan: &'p Plan,
        spaces: &[usize],
        key: &[u8],
        explanation: &Explanation<'p>,
    ) -> Result<Vec<StoredIn<'p>>> {
        let mut all = Vec::new();
        for &index in spaces.iter().filter(|&&index| self.has(index)) {
            let Some(space) = plan.spaces.get(index) else { continue };
            let reading =
                explanation.readings.iter().find(|reading| std::ptr::eq(reading.decoded.space, space));
            if reading.is_none() && !explanation.readings.is_empty() {
                continue;
            }
            let stored = match self.get(index, key)? {
                Some(value) => Stored::Value(value),
                None => Stored::Front(self.begun(index, key)?),
            };
            all.push(StoredIn { space, family: reading.map(|reading| reading.decoded.family), stored });
        }
        Ok(all)
    }

    /// Whether the rows of a space are what its keys say: those of structures have a layout of their own, and a space that
    /// the source lacks has none.
    pub fn has(&self, index: usize) -> bool {
        let plain = self.plan().spaces.get(index).is_some_and(|space| !is_structured(space));
        plain && !matches!(self, Self::Foreign(foreign) if foreign.space(index).is_err())
    }

    /// The value of a key.
    pub fn get(&self, index: usize, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Foreign(foreign) => foreign.get(index, key),
            Self::Own(database, plan) => {
                let Some(space) = plan.spaces.get(index) else { return Ok(None) };
                database.get(space.engine_name(), key)
            }
        }
    }

    /// Counts the rows whose keys begin with `front`.
    pub fn begun(&self, index: usize, front: &[u8]) -> Result<Begun> {
        let range = OwnedKeyRange::prefix(front);
        let mut begun = Begun { rows: 0, more: false };
        match self {
            Self::Foreign(foreign) => {
                let space: SpaceId = foreign.space(index)?;
                let source: &dyn Source = &*foreign.source;
                let mut walk = source.view()?.walk(space, range.borrow(), Direction::Ascending)?;
                while begun.rows < COUNTED && walk.next()?.is_some() {
                    begun.rows += 1;
                }
                begun.more = begun.rows == COUNTED && walk.next()?.is_some();
            }
            Self::Own(database, plan) => {
                let Some(space) = plan.spaces.get(index) else { return Ok(begun) };
                on_engine!(database, store => {
                    let snapshot = store.snapshot()?;
                    for row in snapshot.range(store.space(space.engine_name())?, range.borrow())? {
                        row?;
                        if begun.rows == COUNTED {
                            begun.more = true;
                            break;
                        }
                        begun.rows += 1;
                    }
                });
            }
        }
        Ok(begun)
    }
}
