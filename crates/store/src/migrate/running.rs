//! A migration of one database, step by step.

use std::collections::BTreeSet;
use std::ops::Bound;

use keyplan_plan::mapping::Course;

use super::checksum::Checksum;
use super::contents::{kept_name, sum_of};
use super::mark::{EXPECTED, FILES, MARK, MigrationMark, Phase, expected_row, read_expected};
use super::sort::Fate;
use super::structured::has_structures;
use super::survey::{ProblemKind, Sorter, Survey, each_row};
use super::{ASIDE_SPACE, Migration, MigrationError, undo};
use crate::engine::{
    Batch, Capabilities, Durability, Engine, KeyRange, OwnedKeyRange, Snapshot as _, Space, SpaceId,
    SpaceKind,
};
use crate::error::StoreError;
use crate::meta::{META_SPACE, Meta};
use crate::structure::View;

/// A step ends when its batch holds this many bytes, however few its rows are.
const STEP_BYTES: u64 = 8 * 1024 * 1024;

/// Rows of fewer bytes fit into every engine, with what is written beside them while they are aside.
const ROOMY: usize = 128;

/// How many rows are deleted at once that an earlier migration has left.
const PURGE: usize = 10_000;

/// What a row that is aside is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    /// It is on the way.
    Staged,
    /// It has no new key.
    Parked,
    /// It is deleted when the migration has ended.
    Dropped,
    /// It is what a row was that does not tell it any more; deleted when the migration has ended.
    Former,
}

impl Aside {
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Staged => 0,
            Self::Parked => 1,
            Self::Dropped => 2,
            Self::Former => 3,
        }
    }
}

/// A database as a migration finds it.
#[derive(Debug)]
pub enum Attached<'m, 'p, E: Engine> {
    /// It has the old plan, or is on the way.
    Ready(Box<Running<'m, 'p, E>>),
    /// It has the new plan already. Rows of dropped families may still wait for [`Running::purge`].
    Done(Box<Running<'m, 'p, E>>),
}

/// A migration on one database.
#[derive(Debug)]
pub struct Running<'m, 'p, E: Engine> {
    pub(crate) migration: &'m Migration<'p>,
    pub(crate) engine: E,
    pub(crate) mark: Option<MigrationMark>,
    /// The routes whose new rows do not tell the old ones.
    pub(crate) untold: Vec<bool>,
    /// Whether structures are carried thing by thing.
    pub(crate) by_contents: bool,
    meta_space: SpaceId,
    limits: Capabilities,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more to do.
    More {
        /// The phase that the step was of.
        phase: Phase,
        /// How many rows the phase has gone over.
        done: u64,
    },
    /// The database has the new plan.
    Finished,
    /// The database is as it was before.
    Undone,
}

impl<'p> Migration<'p> {
    /// Takes a database. It must have the old plan, be in the middle of this migration, or have the new plan.
    pub fn attach<E: Engine>(&self, engine: E) -> Result<Attached<'_, 'p, E>, MigrationError> {
        let meta = Meta::read(&engine)?.ok_or(StoreError::NoPlan)?;
        let (from, to) = (self.schemas.0.fingerprint, self.schemas.1.fingerprint);
        if meta.engine != engine.name() {
            return Err(StoreError::Engines { expected: engine.name(), found: meta.engine }.into());
        }
        let meta_space = engine.space(META_SPACE).ok_or(StoreError::NoPlan)?;
        let limits = engine.capabilities();
        match &meta.migration {
            Some(mark) if mark.phase == Phase::Copy => return Err(MigrationError::Unfinished),
            Some(mark) if mark.id != self.id => {
                return Err(MigrationError::OtherMigration { from: mark.from, to: mark.to });
            }
            None if meta.fingerprint == to && from != to => {
                let untold = Vec::new();
                return Ok(Attached::Done(Box::new(Running {
                    migration: self,
                    engine,
                    mark: None,
                    untold,
                    by_contents: false,
                    meta_space,
                    limits,
                })));
            }
            None if meta.fingerprint != from => {
                return Err(MigrationError::OtherPlan { found: meta.fingerprint, from, to });
            }
            _ => {}
        }
        for space in &meta.spaces {
            if space.kind == SpaceKind::Multimap {
                return Err(MigrationError::Multimap { space: space.name.clone() });
            }
        }
        let untold =
            (0..self.mapping.routes.len()).map(|route| undo::untold(self, route).is_some()).collect();
        let mark = meta.migration;
        let by_contents = self.is_by_contents();
        Ok(Attached::Ready(Box::new(Running {
            migration: self,
            engine,
            mark,
            untold,
            by_contents,
            meta_space,
            limits,
        })))
    }
}

impl<E: Engine> Running<'_, '_, E> {
    /// Where the migration is; `None` if it has not begun.
    pub const fn mark(&self) -> Option<&MigrationMark> {
        self.mark.as_ref()
    }

    /// How many rows there will be at the end, as was found out before it began; `None` if it has not begun.
    pub fn rows(&self) -> Result<Option<u64>, MigrationError> {
        if self.mark.is_none() {
            return Ok(None);
        }
        let snapshot = self.engine.snapshot()?;
        let mut rows = 0;
        for row in snapshot.range(self.meta_space, OwnedKeyRange::prefix(EXPECTED).borrow())? {
            rows += read_expected(&row?.1).ok_or(MigrationError::Record)?.rows;
        }
        Ok(Some(rows))
    }

    /// The engine below, given back.
    pub fn into_engine(self) -> E {
        self.engine
    }

    /// Reads everything and writes nothing: what the migration would do. `progress` is told how many rows were read.
    pub fn survey(&self, progress: impl FnMut(u64)) -> Result<Survey, MigrationError> {
        self.migration.survey_by(&self.engine, self, progress)
    }

    /// Begins: makes the spaces of the new plan, and marks the database. Rows without a new key are set aside if `park`.
    ///
    /// From here on the database cannot be opened as a store before the migration has ended or was undone.
    pub fn begin(&mut self, survey: &Survey, park: bool) -> Result<(), MigrationError> {
        if self.mark.is_some() {
            return Ok(());
        }
        let stuck = survey.rows_without_room();
        if stuck > 0 {
            return Err(MigrationError::NoRoom { rows: stuck });
        }
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        for space in &self.migration.schemas.1.spaces {
            if space.name == META_SPACE || super::is_own(&space.name) {
                return Err(StoreError::ReservedSpace { name: space.name.clone() }.into());
            }
            self.engine.create_space(space)?;
        }
        self.engine.create_space(&Space::map(ASIDE_SPACE))?;
        // What an earlier migration has left that was killed after its last step.
        while self.purge(PURGE)? > 0 {}
        self.part_from_earlier()?;
        if self.by_contents {
            let spaces = self.migration.old.spaces.iter().enumerate();
            for (index, _) in spaces.filter(|(_, space)| has_structures(space)) {
                self.engine.create_space(&Space::map(kept_name(index)))?;
            }
        }
        let mut batch = Batch::<E>::new();
        for (name, sum) in &survey.expected {
            let (key, value) = expected_row(name, *sum);
            batch.put(self.meta_space, key, value);
        }
        for (index, file) in (0_u32..).zip(&self.migration.schemas.1.files) {
            let length = u16::try_from(file.name.len()).map_err(|_| MigrationError::Record)?;
            let value = [&length.to_be_bytes(), file.name.as_bytes(), file.text.as_bytes()].concat();
            batch.put(self.meta_space, [FILES, &index.to_be_bytes()].concat(), value);
        }
        let phase = if survey.aside() > 0 { Phase::Park } else { Phase::Move };
        let (from, to) = (self.migration.schemas.0.fingerprint, self.migration.schemas.1.fingerprint);
        let mark = MigrationMark { phase, id: self.migration.id, from, to, space: 0, done: 0, last: None };
        self.commit(batch, mark, Durability::SyncAll)
    }

    /// Gives rows that an earlier run of the same migration has set aside another number: those of this run must neither overwrite
    /// them nor take them along on the way back.
    fn part_from_earlier(&self) -> Result<(), MigrationError> {
        let aside = self.aside_space()?;
        let own = self.aside_prefix(Aside::Parked);
        let mut number = u64::from_be_bytes(self.migration.id);
        let snapshot = self.engine.snapshot()?;
        let other = loop {
            number = number.wrapping_add(1);
            let free = [&[Aside::Parked.byte()][..], &number.to_be_bytes()].concat();
            if snapshot.prefix(aside, &free)?.next().transpose()?.is_none() {
                break free;
            }
        };
        drop(snapshot);
        loop {
            let snapshot = self.engine.snapshot()?;
            let mut batch = Batch::<E>::new();
            for row in snapshot.prefix(aside, &own)?.take(PURGE) {
                let (place, stored) = row?;
                let rest = place.strip_prefix(own.as_slice()).ok_or(MigrationError::Record)?;
                batch.put(aside, [other.as_slice(), rest].concat(), &stored[..]);
                batch.delete(aside, &place[..]);
                if batch.bytes() >= STEP_BYTES {
                    break;
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            drop(snapshot);
            self.engine.commit(batch, Durability::SyncData)?;
        }
    }

    /// Takes a step of up to `rows` rows.
    pub fn step(&mut self, rows: usize) -> Result<Step, MigrationError> {
        let mark = self.mark.clone().ok_or(MigrationError::NotBegun)?;
        match mark.phase {
            Phase::Park | Phase::Move => self.forward(mark, rows.max(1)),
            Phase::Settle => self.settle(mark, rows.max(1)),
            Phase::Build => self.build(mark, rows.max(1)),
            Phase::Check => self.check(|_| ()),
            Phase::Unbuild => self.unbuild(mark, rows.max(1)),
            Phase::Unsettle | Phase::Unmove => self.back(mark, rows.max(1)),
            Phase::Restore => self.restore(mark, rows.max(1)),
            Phase::Copy => Err(MigrationError::Unfinished),
        }
    }

    /// Turns a migration around: the steps that follow bring every row back.
    pub fn turn_back(&mut self) -> Result<(), MigrationError> {
        let mark = self.mark.clone().ok_or(MigrationError::NotBegun)?;
        let phase = match mark.phase {
            Phase::Park => Phase::Restore,
            Phase::Move => Phase::Unmove,
            Phase::Build => Phase::Unbuild,
            Phase::Check if self.by_contents => Phase::Unbuild,
            Phase::Settle | Phase::Check => Phase::Unsettle,
            Phase::Unbuild | Phase::Unsettle | Phase::Unmove | Phase::Restore => return Ok(()),
            Phase::Copy => return Err(MigrationError::Unfinished),
        };
        let mark = MigrationMark { phase, space: 0, done: 0, last: None, ..mark };
        self.commit(Batch::new(), mark, Durability::SyncAll)
    }

    /// A step of setting rows aside or of moving them.
    fn forward(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let phase = mark.phase;
        let Some((index, id)) = self.space_at(mark.space)? else {
            let phase = if phase == Phase::Park { Phase::Move } else { Phase::Settle };
            let mark = MigrationMark { phase, space: 0, done: 0, last: None, ..mark };
            return self.turn_to(Batch::new(), mark);
        };
        let contents = self.by_contents && self.migration.old.spaces.get(index).is_some_and(has_structures);
        if contents && phase == Phase::Move {
            return self.take_out(mark, index, rows);
        }
        let aside = self.aside_space()?;
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        let mut read = 0;
        let mut last = None;
        let mut made = BTreeSet::new();
        'step: for range in self.walked(phase, index) {
            let range = match &mark.last {
                Some(last) if ends_before(&range, last) => continue,
                Some(last) => range.after(last),
                None => range,
            };
            for row in snapshot.range(id, range.borrow())? {
                let (key, value) = row?;
                if contents {
                    if let Some(why) = Migration::stray::<E>(&snapshot, id, (&key, &value))? {
                        let (place, row) = self.aside_row(Aside::Parked, index, &key, &why, &value);
                        batch.put(aside, place, row);
                        batch.delete(id, &key[..]);
                    }
                } else {
                    self.forward_row(phase, (index, id, aside), (&key, &value), &mut batch, &mut made)?;
                }
                read += 1;
                last = Some(key);
                if read >= rows || batch.bytes() >= STEP_BYTES {
                    break 'step;
                }
            }
        }
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        mark.last = last.map(|last| last.to_vec());
        if mark.last.is_none() {
            mark.space += 1;
        }
        let done = mark.done;
        drop(snapshot);
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase, done })
    }

    /// The keys of an old space that a phase goes over, in order. Rows move where families are that do not stay: the others need not
    /// be looked at again, nor the new ones that are under prefixes of their own.
    fn walked(&self, phase: Phase, index: usize) -> Vec<OwnedKeyRange> {
        let all = || vec![KeyRange::ALL.to_owned()];
        let Some(space) = self.migration.old.spaces.get(index) else { return all() };
        if phase != Phase::Move || has_structures(space) {
            return all();
        }
        let routes = self.migration.mapping.routes.iter().filter(|route| route.from.space == index);
        let leave =
            routes.filter(|route| !matches!(route.course, Course::Kept { .. } | Course::Retired { .. }));
        let families = leave.filter_map(|route| space.families.get(route.from.family));
        let mut prefixes: Vec<Vec<u8>> = families.map(|family| family.key.literal_prefix()).collect();
        prefixes.sort_unstable();
        // What begins with one before it lies in the same range.
        prefixes.dedup_by(|prefix, before| prefix.starts_with(before));
        prefixes.iter().map(|prefix| OwnedKeyRange::prefix(prefix)).collect()
    }

    fn forward_row(
        &self,
        phase: Phase,
        (index, id, aside): (usize, SpaceId, SpaceId),
        (key, value): (&[u8], &[u8]),
        batch: &mut Batch<E>,
        made: &mut BTreeSet<Vec<u8>>,
    ) -> Result<(), MigrationError> {
        let old = value;
        let fate = self.fate(index, key, value);
        match (phase, fate) {
            (Phase::Park, Fate::Aside { why, .. }) => {
                let (place, row) = self.aside_row(Aside::Parked, index, key, &why, value);
                batch.put(aside, place, row);
                batch.delete(id, key);
            }
            (Phase::Park, _) | (_, Fate::Stays { .. }) => {}
            (_, Fate::Moves { staged: true, .. }) => {
                let (place, row) = self.aside_row(Aside::Staged, index, key, "", value);
                batch.put(aside, place, row);
                batch.delete(id, key);
            }
            (_, Fate::Moves { route, key: new, value, .. }) => {
                let to = self.target(route)?;
                self.refuse_merged(route, to, &new, made)?;
                self.keep_former(route, aside, (index, key, old), batch);
                batch.put_row(to, &new, &value);
                batch.delete(id, key);
            }
            (_, Fate::Dropped { .. }) => {
                let (place, row) = self.aside_row(Aside::Dropped, index, key, "", value);
                batch.put(aside, place, row);
                batch.delete(id, key);
            }
            (_, Fate::Aside { why, .. }) => {
                // All such rows are aside by now: this one is new, and was written before the place was reached.
                if !self.is_new(id, key, value) {
                    let space = self.migration.old.spaces.get(index).map_or("", |space| &space.name);
                    return Err(MigrationError::Unexpected { space: space.to_owned(), why });
                }
            }
        }
        Ok(())
    }

    /// Keeps what a row was until the end, if the new one does not tell it.
    fn keep_former(
        &self,
        route: usize,
        aside: SpaceId,
        (index, key, value): (usize, &[u8], &[u8]),
        batch: &mut Batch<E>,
    ) {
        if self.is_untold(route) {
            let (place, row) = self.aside_row(Aside::Former, index, key, "", value);
            batch.put(aside, place, row);
        }
    }

    /// Whether the new rows of a route do not tell the old ones, which are kept then. Where nothing is known of it they do not.
    fn is_untold(&self, route: usize) -> bool {
        self.untold.get(route).is_none_or(|untold| *untold)
    }

    /// Refuses a key that a function of the program has made before: nothing proves that its keys differ.
    fn refuse_merged(
        &self,
        route: usize,
        to: SpaceId,
        new: &[u8],
        made: &mut BTreeSet<Vec<u8>>,
    ) -> Result<(), MigrationError> {
        if !self.migration.maps.get(route).is_some_and(Option::is_some) {
            return Ok(());
        }
        if self.engine.snapshot()?.get(to, new)?.is_some() || !made.insert(new.to_vec()) {
            let family = self.migration.mapping.routes.get(route).map(|route| route.from.path.clone());
            return Err(MigrationError::Merged { family: family.unwrap_or_default(), key: new.to_vec() });
        }
        Ok(())
    }

    /// Whether a key is one that the migration itself has written to a space.
    fn is_new(&self, space: SpaceId, key: &[u8], value: &[u8]) -> bool {
        let found = self
            .migration
            .new
            .spaces
            .iter()
            .position(|other| self.engine.space(other.engine_name()) == Some(space));
        let Some(read) = found.and_then(|index| self.migration.read_new(index, key, value)) else {
            return false;
        };
        self.migration.mapping.routes.iter().any(
            |route| matches!(&route.course, Course::Moved(passage) if passage.to.path == read.family.path),
        )
    }

    /// A step that writes rows from the migration's own space to their new place.
    fn settle(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let aside = self.aside_space()?;
        let prefix = self.aside_prefix(Aside::Staged);
        let mut range = OwnedKeyRange::prefix(&prefix);
        if let Some(last) = &mark.last {
            range = range.after(last);
        }
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        let mut last = None;
        let mut read = 0;
        for row in snapshot.range(aside, range.borrow())? {
            let (place, stored) = row?;
            let (index, key, value) = self.read_aside(&place, &stored).ok_or(MigrationError::Record)?;
            let Fate::Moves { route, key: new, value, .. } = self.migration.sort(index, key, value) else {
                return Err(MigrationError::Record);
            };
            let old = super::read_aside(&place, &stored).map_or(&[][..], |parked| parked.value);
            self.keep_former(route, aside, (index, key, old), &mut batch);
            batch.put_row(self.target(route)?, &new, &value);
            batch.delete(aside, &place[..]);
            read += 1;
            last = Some(place);
            if read >= rows || batch.bytes() >= STEP_BYTES {
                break;
            }
        }
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        let Some(last) = last else {
            let phase = if self.by_contents { Phase::Build } else { Phase::Check };
            let mark = MigrationMark { phase, space: 0, done: 0, last: None, ..mark };
            return self.turn_to(batch, mark);
        };
        mark.last = Some(last.to_vec());
        let done = mark.done;
        drop(snapshot);
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase: Phase::Settle, done })
    }

    /// Reads every row, compares counts and checksums with the survey's, and replaces the plan in the last batch.
    ///
    /// A step of this phase does the same without telling how far it is.
    pub fn check(&mut self, mut progress: impl FnMut(u64)) -> Result<Step, MigrationError> {
        let mark = self.mark.clone().ok_or(MigrationError::NotBegun)?;
        if mark.phase != Phase::Check {
            return Err(MigrationError::NotBegun);
        }
        let snapshot = self.engine.snapshot()?;
        let mut rows = 0_u64;
        let plans = [self.migration.old, self.migration.new];
        let mut names: Vec<&str> = plans
            .into_iter()
            .flat_map(|plan| &plan.spaces)
            .map(keyplan_plan::model::Space::engine_name)
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let expected = snapshot.get(self.meta_space, &[EXPECTED, name.as_bytes()].concat())?;
            let expected = match expected {
                Some(value) => read_expected(&value).ok_or(MigrationError::Record)?,
                None => Checksum::default(),
            };
            let Some(id) = self.engine.space(name) else {
                // What must be in a space that is not there is lost.
                expected.require(name, Checksum::default())?;
                continue;
            };
            let mut found = Checksum::default();
            let structures = plans.into_iter().flat_map(|plan| &plan.spaces);
            let mut structures = structures.filter(|space| self.by_contents && has_structures(space));
            if structures.any(|space| space.engine_name() == name) {
                let view = View::<E>::new(snapshot.clone(), id, name.into());
                found = sum_of(&view, &mut |things| progress(rows + things))?;
                rows += found.rows;
            } else {
                each_row(&mut snapshot.range(id, KeyRange::ALL)?, |key, value| {
                    found.add(key, value);
                    rows += 1;
                    if rows.is_multiple_of(4096) {
                        progress(rows);
                    }
                })?;
            }
            expected.require(name, found)?;
        }
        drop(snapshot);
        self.replace_plan()?;
        Ok(Step::Finished)
    }

    /// The last batch: the new plan in place of the old one, and no mark.
    fn replace_plan(&mut self) -> Result<(), MigrationError> {
        let mut batch = Batch::<E>::new();
        let rows = Meta::new(&self.engine, &self.migration.schemas.1).plan_rows()?;
        for prefix in [b"file".as_slice(), b"space", MARK] {
            for row in self.engine.snapshot()?.prefix(self.meta_space, prefix)? {
                let (key, _) = row?;
                if !rows.iter().any(|(kept, _)| kept[..] == key[..]) {
                    batch.delete(self.meta_space, &key[..]);
                }
            }
        }
        for (key, value) in rows {
            batch.put(self.meta_space, key, value);
        }
        self.engine.commit(batch, Durability::SyncAll)?;
        self.mark = None;
        Ok(())
    }

    /// Deletes the rows of dropped families, and those that were kept to go back with, up to `rows` of them; gives how many
    /// there were.
    ///
    /// While a migration is on its way they are kept, to go back with. Those of an earlier one go, too, that was killed
    /// before they did.
    pub fn purge(&mut self, rows: usize) -> Result<u64, MigrationError> {
        if self.mark.is_some() {
            return Ok(0);
        }
        let Some(aside) = self.engine.space(ASIDE_SPACE) else { return Ok(0) };
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        for kind in [Aside::Dropped, Aside::Former] {
            let range = OwnedKeyRange::prefix(&[kind.byte()]);
            for row in snapshot.range(aside, range.borrow())?.take(rows.max(1).saturating_sub(batch.len())) {
                batch.delete(aside, &row?.0[..]);
            }
        }
        let kept = self.engine.spaces().into_iter().filter(|space| super::is_own(&space.name));
        for space in kept.filter(|space| space.name != ASIDE_SPACE) {
            let Some(id) = self.engine.space(&space.name) else { continue };
            let left = rows.max(1).saturating_sub(batch.len());
            for row in snapshot.range(id, KeyRange::ALL)?.take(left) {
                batch.delete(id, &row?.0[..]);
            }
        }
        let gone = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        drop(snapshot);
        self.engine.commit(batch, Durability::SyncData)?;
        Ok(gone)
    }

    /// Commits a step and the place that it has reached. The step's snapshot is closed by then: the engine may wait for memory that
    /// it keeps.
    pub(crate) fn commit(
        &mut self,
        mut batch: Batch<E>,
        mark: MigrationMark,
        durability: Durability,
    ) -> Result<(), MigrationError> {
        batch.put(self.meta_space, MARK, mark.encode());
        self.engine.commit(batch, durability)?;
        self.mark = Some(mark);
        Ok(())
    }

    pub(crate) fn turn_to(&mut self, batch: Batch<E>, mark: MigrationMark) -> Result<Step, MigrationError> {
        let step = Step::More { phase: mark.phase, done: mark.done };
        self.commit(batch, mark, Durability::SyncAll)?;
        Ok(step)
    }

    pub(crate) fn unmark(&mut self, mut batch: Batch<E>) -> Result<(), MigrationError> {
        for row in self.engine.snapshot()?.prefix(self.meta_space, MARK)? {
            batch.delete(self.meta_space, &row?.0[..]);
        }
        self.engine.commit(batch, Durability::SyncAll)?;
        self.mark = None;
        Ok(())
    }

    /// The old space with this number among those that have rows of the plan.
    fn space_at(&self, number: u32) -> Result<Option<(usize, SpaceId)>, MigrationError> {
        let number = usize::try_from(number).map_err(|_| MigrationError::Record)?;
        let spaces = self.migration.old.spaces.iter().enumerate();
        let mut found =
            spaces.filter_map(|(index, space)| Some((index, self.engine.space(space.engine_name())?)));
        Ok(found.nth(number))
    }

    pub(crate) fn aside_space(&self) -> Result<SpaceId, MigrationError> {
        self.engine.space(ASIDE_SPACE).ok_or(MigrationError::Record)
    }

    pub(crate) fn target(&self, route: usize) -> Result<SpaceId, MigrationError> {
        let name = self.migration.target(route).ok_or(MigrationError::Record)?;
        self.engine.space(name).ok_or(MigrationError::Record)
    }

    pub(crate) fn aside_prefix(&self, aside: Aside) -> Vec<u8> {
        [&[aside.byte()][..], &self.migration.id].concat()
    }

    pub(crate) fn aside_row(
        &self,
        aside: Aside,
        space: usize,
        key: &[u8],
        why: &str,
        value: &[u8],
    ) -> (Vec<u8>, Vec<u8>) {
        let name = self.migration.old.spaces.get(space).map_or("", keyplan_plan::model::Space::engine_name);
        super::aside_row(&self.aside_prefix(aside), name, key, why, value)
    }

    /// The old space, key and value of a row that is aside.
    pub(crate) fn read_aside<'a>(
        &self,
        place: &'a [u8],
        row: &'a [u8],
    ) -> Option<(usize, &'a [u8], &'a [u8])> {
        let parked = super::read_aside(place, row)?;
        let mut spaces = self.migration.old.spaces.iter();
        let index = spaces.position(|space| space.engine_name() == parked.space)?;
        Some((index, parked.key, parked.value))
    }
}

impl<E: Engine> Running<'_, '_, E> {
    /// Whether the engine has room for a row while it is aside.
    fn has_room_aside(&self, space: usize, key: &[u8], why: &str, value: &[u8]) -> bool {
        let (place, row) = self.aside_row(Aside::Parked, space, key, why, value);
        self.limits.admit::<E>(place.len(), row.len()).is_ok()
    }
}

/// What becomes of a row in place, where the engine needs room for it on the way and at the end.
impl<E: Engine> Sorter for Running<'_, '_, E> {
    fn fate<'v>(&self, space: usize, key: &[u8], value: &'v [u8]) -> Fate<'v> {
        let mut fate = self.migration.sort(space, key, value);
        if let Fate::Moves { route, key: new, value: anew, .. } = &fate
            && let Err(error) = self.limits.admit::<E>(new.len(), anew.len())
        {
            fate = self.migration.without_new_key(*route, error.to_string());
        }
        let (kept, why) = match &fate {
            Fate::Stays { .. } => (false, ""),
            Fate::Moves { route, staged, .. } => (*staged || self.is_untold(*route), ""),
            Fate::Dropped { .. } => (true, ""),
            Fate::Aside { why, .. } => (true, why.as_str()),
        };
        // Most keys are far from any limit, and need not be put together to know it.
        if !kept || key.len() + value.len() < ROOMY || self.has_room_aside(space, key, why, value) {
            return fate;
        }
        let route = match fate {
            Fate::Stays { route } | Fate::Aside { route, .. } => route,
            Fate::Moves { route, .. } | Fate::Dropped { route } => Some(route),
        };
        let why = "its key is too long to be kept aside with the name of its space".to_owned();
        Fate::Aside { route, kind: ProblemKind::NoRoom, why, ruled: false }
    }
}

/// Whether every key of a range comes before a key, or is it.
fn ends_before(range: &OwnedKeyRange, key: &[u8]) -> bool {
    matches!(&range.end, Bound::Excluded(end) if end.as_slice() <= key)
}

/// Every key after a key, or every key.
pub(crate) fn behind(last: Option<&[u8]>) -> OwnedKeyRange {
    let all = KeyRange::ALL.to_owned();
    match last {
        Some(last) => all.after(last),
        None => all,
    }
}
