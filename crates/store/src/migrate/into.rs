//! A copy under the new plan, instead of rows that move.

use std::sync::Arc;

use keyplan_plan::model::Space as PlanSpace;

use super::checksum::Checksum;
use super::contents::{NewSpaces, OldSpace};
use super::mark::{MARK, MigrationMark, Phase};
use super::running::Aside;
use super::sort::Fate;
use super::structured::has_structures;
use super::survey::{Survey, each_row};
use super::{ASIDE_SPACE, Migration, MigrationError, aside_row};
use crate::bulk::{BulkLoad, BulkOptions};
use crate::engine::{Batch, Durability, Engine, KeyRange, Snapshot as _, Space, SpaceId};
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
    /// `survey` is of the server. A copy that is interrupted is started again, in an empty database.
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

    /// Copies every row of a database with the old plan to an empty one with the new plan, and gives what a
    /// [survey](Self::survey_of) would: it is made on the way, so that every row is read once. At the end the copy is read,
    /// and counts and checksums of both sides are compared. The database itself is only read.
    ///
    /// A row without a new key that is not to be set aside ends it with [`MigrationError::Unfit`] before the first row is
    /// written. A copy that is interrupted is started again, in an empty database.
    pub fn copy<S: Engine, T: Engine>(
        &self,
        from: &S,
        to: &Arc<Store<T>>,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        let by_contents = self.is_by_contents();
        let snapshot = from.snapshot()?;
        let mut load = BulkLoad::new(to, BulkOptions::default())?;
        let mut survey = self.empty_survey();
        let places = CopyPlaces::new(self, to)?;
        for (index, space) in self.old.spaces.iter().enumerate() {
            let Some(id) = from.space(space.engine_name()) else { continue };
            if by_contents && has_structures(space) {
                for row in snapshot.range(id, KeyRange::ALL)? {
                    let (key, value) = row?;
                    if let Some(why) = Self::stray::<S>(&snapshot, id, (&key, &value))? {
                        let (place, row) = aside_row(&places.prefix, space.engine_name(), &key, &why, &value);
                        load.push(places.aside, &place, &row)?;
                        survey.stray(space.engine_name(), &key, why);
                    }
                }
                continue;
            }
            let mut told = 0;
            for row in snapshot.range(id, KeyRange::ALL)? {
                let (key, value) = row?;
                let fate = self.sort(index, &key, &value);
                survey.add(self, index, (&key, &value), &fate);
                if park || survey.open_rows() == 0 {
                    places.push(&mut load, index, (&key, &value), &fate)?;
                }
                told += 1;
                if told == EVERY {
                    told = 0;
                    progress(survey.rows);
                }
            }
        }
        let rows = survey.rows;
        if by_contents {
            self.survey_views(from, true, &mut survey, &mut progress)?;
        }
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        load.finish(Batch::new(), |_| ())?;
        self.compare_copy(to, &survey)?;
        if by_contents {
            let views = self.views(from)?;
            let old: Vec<OldSpace<'_>> =
                views.iter().map(|(index, view)| (*index, view as &dyn StructureRead)).collect();
            self.copy_things(&old, to, &survey, &mut |things| progress(rows + things))?;
        }
        Self::finish_copy(to)?;
        Ok(survey)
    }

    /// Compares what is in a copy with what must be there.
    fn compare_copy<E: Engine>(&self, to: &Store<E>, survey: &Survey) -> Result<(), MigrationError> {
        let snapshot = to.engine().snapshot()?;
        let by_contents = self.is_by_contents();
        let spaces = self.new.spaces.iter().filter(|space| !(by_contents && has_structures(space)));
        for name in spaces.map(PlanSpace::engine_name) {
            let expected = survey.expected.get(name).copied().unwrap_or_default();
            let mut found = Checksum::default();
            each_row(&mut snapshot.range(to.space(name)?, KeyRange::ALL)?, |key, value| {
                found.add(key, value);
            })?;
            expected.require(name, found)?;
        }
        Ok(())
    }
}

/// Where the rows of a copy go.
struct CopyPlaces {
    // By the old space, for rows that stay as they are.
    stay: Vec<Option<SpaceId>>,
    // By the route.
    move_to: Vec<Option<SpaceId>>,
    // The names of the old spaces.
    names: Vec<String>,
    aside: SpaceId,
    prefix: Vec<u8>,
}

impl CopyPlaces {
    fn new<E: Engine>(migration: &Migration<'_>, to: &Store<E>) -> Result<Self, MigrationError> {
        let engine = to.engine();
        let names = migration.old.spaces.iter().map(PlanSpace::engine_name);
        let routes = 0..migration.mapping.routes.len();
        Ok(Self {
            stay: names.clone().map(|name| engine.space(name)).collect(),
            move_to: routes.map(|route| engine.space(migration.target(route)?)).collect(),
            names: names.map(str::to_owned).collect(),
            aside: engine.space(ASIDE_SPACE).ok_or(MigrationError::Record)?,
            prefix: [&[Aside::Parked.byte()][..], &migration.id].concat(),
        })
    }

    /// Gives a row of an old space to the load, as what becomes of it.
    fn push<E: Engine>(
        &self,
        load: &mut BulkLoad<'_, E>,
        index: usize,
        (key, value): (&[u8], &[u8]),
        fate: &Fate<'_>,
    ) -> Result<(), MigrationError> {
        let place = |places: &[Option<SpaceId>], at: usize| {
            places.get(at).copied().flatten().ok_or(MigrationError::Record)
        };
        match fate {
            Fate::Stays { .. } => load.push(place(&self.stay, index)?, key, value)?,
            Fate::Moves { route, key, value, .. } => {
                load.push(place(&self.move_to, *route)?, key, value)?;
            }
            Fate::Dropped { .. } => {}
            Fate::Aside { why, .. } => {
                let name = self.names.get(index).map_or("", String::as_str);
                let (place, row) = aside_row(&self.prefix, name, key, why, value);
                load.push(self.aside, &place, &row)?;
            }
        }
        Ok(())
    }
}
