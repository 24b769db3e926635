//! A copy under the new plan, instead of rows that move.

use std::sync::Arc;

use keyplan_plan::model::Space as PlanSpace;

use super::checksum::Checksum;
use super::contents::{NewSpaces, OldSpace};
use super::mark::{MARK, MigrationMark, Phase};
use super::running::Aside;
use super::sort::Fate;
use super::structured::has_structures;
use super::survey::Survey;
use super::{ASIDE_SPACE, Migration, MigrationError, aside_row};
use crate::bulk::{BulkLoad, BulkOptions};
use crate::engine::{Batch, Durability, Engine, KeyRange, Snapshot as _, Space};
use crate::meta::{META_SPACE, Meta};
use crate::store::Store;
use crate::structure::{Embedded, StructureRead, Structures};

/// How often progress is told.
const EVERY: u64 = 4096;

impl Migration<'_> {
    /// Makes an empty database for a copy: the new plan, and a space for rows that are set aside.
    ///
    /// It cannot be opened again before the copy is finished.
    pub fn create_copy<E: Engine>(&self, mut engine: E) -> Result<Arc<Store<E>>, MigrationError> {
        engine.create_space(&Space::map(ASIDE_SPACE))?;
        let store = Store::create(engine, &self.schemas.1)?;
        let (from, to) = (self.schemas.0.fingerprint, self.schemas.1.fingerprint);
        let mark = MigrationMark { phase: Phase::Copy, id: self.id, from, to, space: 0, done: 0, last: None };
        let meta = store.engine().space(META_SPACE).ok_or(MigrationError::Record)?;
        let mut batch = Batch::new();
        batch.put(meta, MARK, mark.encode());
        store.engine().commit(batch, Durability::SyncAll)?;
        Ok(Arc::new(store))
    }

    /// Whether a database is a copy of this migration that was not finished, and may be made again.
    pub fn is_unfinished_copy<E: Engine>(&self, engine: &E) -> Result<bool, MigrationError> {
        let mark = Meta::read(engine)?.and_then(|meta| meta.migration);
        Ok(mark.is_some_and(|mark| mark.phase == Phase::Copy && mark.id == self.id))
    }

    /// The copy is finished, and can be opened.
    fn finish_copy<E: Engine>(to: &Store<E>) -> Result<(), MigrationError> {
        let meta = to.engine().space(META_SPACE).ok_or(MigrationError::Record)?;
        let mut batch = Batch::new();
        batch.delete(meta, MARK);
        to.engine().commit(batch, Durability::SyncAll)?;
        Ok(())
    }

    /// Copies what the keys of a server hold, in the old plan's only space of structures, to an empty database.
    ///
    /// `survey` is of the server. A copy that is interrupted is begun anew, in an empty database.
    pub fn copy_from_server<T: Engine>(
        &self,
        from: &dyn StructureRead,
        to: &Arc<Store<T>>,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        self.copy_things(&[(self.server_space()?, from)], to, survey, &mut progress)?;
        Self::finish_copy(to)
    }

    /// Copies what structures hold, thing by thing, and compares.
    fn copy_things<T: Engine>(
        &self,
        from: &[OldSpace<'_>],
        to: &Arc<Store<T>>,
        survey: &Survey,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        let mut opened = Vec::new();
        for space in self.new.spaces.iter().filter(|space| has_structures(space)) {
            let name = space.engine_name();
            opened.push((name.to_owned(), Embedded::open(to.clone(), name)?));
        }
        let spaces: NewSpaces<'_> =
            opened.iter().map(|(name, space)| (name.clone(), space as &dyn Structures)).collect();
        let parked = to.engine().space(ASIDE_SPACE).ok_or(MigrationError::Record)?;
        let prefix = [&[Aside::Parked.byte()][..], &self.id].concat();
        let mut aside = |space: &str, (key, value, why): (Vec<u8>, Vec<u8>, &str)| {
            let (place, row) = aside_row(&prefix, space, &key, why, &value);
            let mut batch = Batch::new();
            batch.put(parked, place, row);
            to.engine().commit(batch, Durability::Buffer)?;
            Ok(())
        };
        self.write_things(from, &spaces, &mut aside, progress)?;
        Self::compare_things(&spaces, survey)
    }

    /// Copies every row of a database with the old plan to an empty one with the new plan, and compares counts and
    /// checksums at the end. `survey` is of the database. The database itself is only read.
    ///
    /// A copy that is interrupted is begun anew, in an empty database.
    pub fn copy<S: Engine, T: Engine>(
        &self,
        from: &S,
        to: &Arc<Store<T>>,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        let by_contents = self.is_by_contents();
        let aside = to.engine().space(ASIDE_SPACE).ok_or(MigrationError::Record)?;
        let snapshot = from.snapshot()?;
        let mut load = BulkLoad::new(to, BulkOptions::default())?;
        let mut rows = 0_u64;
        for (index, space) in self.old.spaces.iter().enumerate() {
            let Some(id) = from.space(space.engine_name()) else { continue };
            let prefix = [&[Aside::Parked.byte()][..], &self.id].concat();
            if by_contents && has_structures(space) {
                for row in snapshot.range(id, KeyRange::ALL)? {
                    let (key, value) = row?;
                    if let Some(why) = Self::stray::<S>(&snapshot, id, (&key, &value))? {
                        let (place, row) = aside_row(&prefix, space.engine_name(), &key, &why, &value);
                        load.push(aside, &place, &row)?;
                    }
                }
                continue;
            }
            for row in snapshot.range(id, KeyRange::ALL)? {
                let (key, value) = row?;
                match self.sort(index, &key, &value) {
                    Fate::Stays { .. } => load.push(to.space(space.engine_name())?, &key, &value)?,
                    Fate::Moves { route, key, value, .. } => {
                        let target = self.target(route).ok_or(MigrationError::Record)?;
                        load.push(to.space(target)?, &key, &value)?;
                    }
                    Fate::Dropped { .. } => {}
                    Fate::Aside { why, .. } => {
                        let (place, row) = aside_row(&prefix, space.engine_name(), &key, &why, &value);
                        load.push(aside, &place, &row)?;
                    }
                }
                rows += 1;
                if rows.is_multiple_of(EVERY) {
                    progress(rows);
                }
            }
        }
        load.finish(Batch::new(), |_| ())?;
        self.compare_copy(to, survey)?;
        if by_contents {
            let views = self.views(from)?;
            let old: Vec<OldSpace<'_>> =
                views.iter().map(|(index, view)| (*index, view as &dyn StructureRead)).collect();
            self.copy_things(&old, to, survey, &mut |things| progress(rows + things))?;
        }
        Self::finish_copy(to)
    }

    /// Compares what is in a copy with what must be there.
    fn compare_copy<E: Engine>(&self, to: &Store<E>, survey: &Survey) -> Result<(), MigrationError> {
        let snapshot = to.engine().snapshot()?;
        let by_contents = self.is_by_contents();
        let spaces = self.new.spaces.iter().filter(|space| !(by_contents && has_structures(space)));
        for name in spaces.map(PlanSpace::engine_name) {
            let expected = survey.expected.get(name).copied().unwrap_or_default();
            let mut found = Checksum::default();
            for row in snapshot.range(to.space(name)?, KeyRange::ALL)? {
                let (key, value) = row?;
                found.add(&key, &value);
            }
            if found != expected {
                return Err(MigrationError::Checksum {
                    space: name.to_owned(),
                    rows: expected.rows,
                    sum: expected.sum,
                    found_rows: found.rows,
                    found_sum: found.sum,
                });
            }
        }
        Ok(())
    }
}
