//! The rows of a database beside the keys that are explained.

use std::path::Path;

use anyhow::Result;
use keyplan_plan::model::Plan;
use keyplan_store::engine::{OwnedKeyRange, SpaceId};
use keyplan_store::source::Source;
use keyplan_store::{Access, Direction};

use super::super::db::{Database, Foreign, is_structured, on_engine};
use crate::args::Explain;
use crate::args::db::{Source as Named, Target};

/// How many rows that begin with some bytes are counted.
const COUNTED: u64 = 10_000;

/// A database and the plan that its keys are read under.
pub(super) enum Rows {
    /// One that has its plan in it.
    Own(Database, Plan),
    /// One that has none.
    Foreign(Foreign),
}

/// How many rows begin with some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// How many were counted.
    pub(crate) rows: u64,
    /// Whether there are more.
    pub(crate) more: bool,
}

impl Rows {
    /// Opens the database that was named; `None` if a plan was.
    pub(super) fn open(args: &Explain) -> Result<Option<Self>> {
        let typed = args.plan.as_deref().unwrap_or_default();
        if args.under.is_none() && !Path::new(typed).is_dir() {
            return Ok(None);
        }
        let named = Named {
            directory: Some(typed.to_owned()),
            plan: args.under.clone(),
            bind: args.bind.clone(),
            engine: None,
            url: None,
        };
        if let Some(foreign) = Foreign::open(&named)? {
            return Ok(Some(Self::Foreign(foreign)));
        }
        let target = Target { directory: typed.into(), plan: args.under.clone() };
        let (database, plan) = Database::open(&target, Access::ReadOnly)?;
        Ok(Some(Self::Own(database, plan)))
    }

    pub(super) const fn plan(&self) -> &Plan {
        match self {
            Self::Own(_, plan) => plan,
            Self::Foreign(foreign) => &foreign.plan,
        }
    }

    /// Whether the rows of a space are what its keys say: those of structures have a layout of their own, and a space that
    /// the source lacks has none.
    pub(super) fn has(&self, index: usize) -> bool {
        let plain = self.plan().spaces.get(index).is_some_and(|space| !is_structured(space));
        plain && !matches!(self, Self::Foreign(foreign) if foreign.space(index).is_err())
    }

    /// The value of a key.
    pub(super) fn get(&self, index: usize, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Foreign(foreign) => foreign.get(index, key),
            Self::Own(database, plan) => {
                let Some(space) = plan.spaces.get(index) else { return Ok(None) };
                on_engine!(database, store => {
                    let id = store.space(space.engine_name())?;
                    Ok(store.snapshot()?.get(id, key)?.map(|value| value.to_vec()))
                })
            }
        }
    }

    /// Counts the rows whose keys begin with `front`.
    pub(super) fn begun(&self, index: usize, front: &[u8]) -> Result<Begun> {
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
