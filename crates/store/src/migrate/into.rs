//! A copy under the new plan, instead of rows that move.

use keyplan_plan::model::Space as PlanSpace;

use super::checksum::Checksum;
use super::running::Aside;
use super::sort::Fate;
use super::survey::Survey;
use super::{ASIDE_SPACE, Migration, MigrationError, aside_row};
use crate::bulk::{BulkLoad, BulkOptions};
use crate::engine::{Batch, Engine, KeyRange, Snapshot as _, Space};
use crate::store::Store;

/// How often progress is told.
const EVERY: u64 = 4096;

impl Migration<'_> {
    /// Makes an empty database for a copy: the new plan, and a space for rows that are set aside.
    pub fn create_copy<E: Engine>(&self, mut engine: E) -> Result<Store<E>, MigrationError> {
        engine.create_space(&Space::map(ASIDE_SPACE))?;
        Ok(Store::create(engine, &self.schemas.1)?)
    }

    /// Copies every row of a database with the old plan to an empty one with the new plan, and compares counts and
    /// checksums at the end. `survey` is of the database. The database itself is only read.
    ///
    /// A copy that is interrupted is begun anew, in an empty database.
    pub fn copy<S: Engine, T: Engine>(
        &self,
        from: &S,
        to: &Store<T>,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        if let Some((family, why)) = self.structured() {
            return Err(MigrationError::Structures { family, why });
        }
        let aside = to.engine().space(ASIDE_SPACE).ok_or(MigrationError::Record)?;
        let snapshot = from.snapshot()?;
        let mut load = BulkLoad::new(to, BulkOptions::default())?;
        let mut rows = 0_u64;
        for (index, space) in self.old.spaces.iter().enumerate() {
            let Some(id) = from.space(space.engine_name()) else { continue };
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
                        let prefix = [&[Aside::Parked.byte()][..], &self.id].concat();
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
        self.compare_copy(to, survey)
    }

    /// Compares what is in a copy with what must be there.
    fn compare_copy<E: Engine>(&self, to: &Store<E>, survey: &Survey) -> Result<(), MigrationError> {
        let snapshot = to.engine().snapshot()?;
        for name in self.new.spaces.iter().map(PlanSpace::engine_name) {
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
