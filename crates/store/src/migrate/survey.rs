//! What a migration would do, found out by reading everything.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::checksum::Checksum;
use super::contents::OldSpace;
use super::sort::Fate;
use super::structured::has_structures;
use super::{Migration, MigrationError};
use crate::engine::{Engine, Error, KeyRange, RowRange, Snapshot as _};
use crate::page::Direction;
use crate::structure::{StructureRead, Structures};

/// How many rows of a problem are shown.
const EXAMPLES: usize = 5;

/// How often progress is told.
const EVERY: u64 = 4096;

/// What a migration would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many rows there are.
    pub rows: u64,
    /// What becomes of the rows of each family, in the order of the mapping.
    pub routes: Vec<RouteFigures>,
    /// Rows that have no new key, by why.
    pub problems: Vec<Problem>,
    /// What must be in each space of the new plan at the end, by the name that the engine knows.
    pub expected: BTreeMap<String, Checksum>,
}

/// What becomes of the rows of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteFigures {
    /// Rows that stay as they are.
    pub kept: u64,
    /// Rows that are rewritten.
    pub moved: Checksum,
    /// Rows that are deleted.
    pub dropped: u64,
    /// Rows that are set aside, or keep the migration from beginning.
    pub aside: u64,
}

/// Rows that have no new key, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Why.
    pub kind: ProblemKind,
    /// The old family, if it is known.
    pub family: Option<String>,
    /// How many rows.
    pub rows: u64,
    /// How many of them the plan says are to be set aside.
    pub ruled: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// Why a row has no new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// No family of the old plan makes it.
    Unreadable,
    /// It has several readings.
    Ambiguous,
    /// The new layout refuses its arguments or its value, or the engine has no room for the new row.
    NoNewKey,
    /// The engine has no room for what is kept of it on the way. It cannot be set aside either.
    NoRoom,
}

impl ProblemKind {
    /// What a person calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Ambiguous => "ambiguous",
            Self::NoNewKey => "no new key",
            Self::NoRoom => "no room",
        }
    }
}

/// A row with a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The space, by the name that the engine knows.
    pub space: String,
    /// The key.
    pub key: Vec<u8>,
    /// What is wrong with it.
    pub why: String,
}

impl Survey {
    /// Rows that keep the migration from beginning unless they are set aside by request.
    pub fn open_rows(&self) -> u64 {
        self.problems.iter().map(|problem| problem.rows - problem.ruled).sum()
    }

    /// Rows that can neither be carried over in place nor be set aside, because the engine has no room for their keys.
    pub fn rows_without_room(&self) -> u64 {
        let stuck = self.problems.iter().filter(|problem| problem.kind == ProblemKind::NoRoom);
        stuck.map(|problem| problem.rows).sum()
    }

    /// Rows that are set aside, or would be.
    pub fn aside(&self) -> u64 {
        self.problems.iter().map(|problem| problem.rows).sum()
    }

    /// Rows that are rewritten.
    pub fn moved(&self) -> u64 {
        self.routes.iter().map(|route| route.moved.rows).sum()
    }

    /// Rows that are deleted.
    pub fn dropped(&self) -> u64 {
        self.routes.iter().map(|route| route.dropped).sum()
    }

    pub(crate) fn add(
        &mut self,
        migration: &Migration<'_>,
        space: usize,
        row: (&[u8], &[u8]),
        fate: &Fate<'_>,
    ) {
        let (key, value) = row;
        self.rows += 1;
        let name = migration.old.spaces.get(space).map_or("", keyplan_plan::model::Space::engine_name);
        match fate {
            Fate::Stays { route } => {
                if let Some(figures) = route.and_then(|route| self.routes.get_mut(route)) {
                    figures.kept += 1;
                }
                self.expect(name, Checksum::of(key, value));
            }
            Fate::Moves { route, key, value, .. } => {
                let passage = migration.carrier.way(*route);
                let to = passage.and_then(|_| migration.target(*route)).unwrap_or_default();
                let sum = Checksum::of(key, value);
                if let Some(figures) = self.routes.get_mut(*route) {
                    figures.moved.join(sum);
                }
                self.expect(to, sum);
            }
            Fate::Dropped { route } => {
                if let Some(figures) = self.routes.get_mut(*route) {
                    figures.dropped += 1;
                }
            }
            Fate::Aside { route, kind, why, ruled } => {
                if let Some(figures) = route.and_then(|route| self.routes.get_mut(route)) {
                    figures.aside += 1;
                }
                let family = route.and_then(|route| migration.mapping.routes.get(route));
                let family = family.map(|route| route.from.path.clone());
                let example = Example { space: name.to_owned(), key: key.to_vec(), why: why.clone() };
                self.problem(*kind, family, *ruled, example);
            }
        }
    }

    /// Changes the figures of a route, if there is one.
    pub(crate) fn count(&mut self, route: Option<usize>, change: impl FnOnce(&mut RouteFigures)) {
        if let Some(figures) = route.and_then(|route| self.routes.get_mut(route)) {
            change(figures);
        }
    }

    /// Adds rows to what must be in a space at the end.
    pub(crate) fn expect(&mut self, space: &str, sum: Checksum) {
        match self.expected.get_mut(space) {
            Some(expected) => expected.join(sum),
            None => {
                self.expected.insert(space.to_owned(), sum);
            }
        }
    }

    /// Adds a row of a space of structures that belongs to nothing.
    pub(crate) fn stray(&mut self, space: &str, key: &[u8], why: String) {
        self.rows += 1;
        let example = Example { space: space.to_owned(), key: key.to_vec(), why };
        self.problem(ProblemKind::Unreadable, None, false, example);
    }

    pub(crate) fn problem(
        &mut self,
        kind: ProblemKind,
        family: Option<String>,
        ruled: bool,
        example: Example,
    ) {
        let known = self.problems.iter_mut().find(|known| known.kind == kind && known.family == family);
        let ruled = u64::from(ruled);
        match known {
            Some(known) => {
                known.rows += 1;
                known.ruled += ruled;
                if known.examples.len() < EXAMPLES {
                    known.examples.push(example);
                }
            }
            None => self.problems.push(Problem { kind, family, rows: 1, ruled, examples: vec![example] }),
        }
    }
}

impl Migration<'_> {
    /// The name that the engine knows the new space of a route by.
    pub(crate) fn target(&self, route: usize) -> Option<&str> {
        let route = self.mapping.routes.get(route)?;
        let keyplan_plan::mapping::Course::Moved(passage) = &route.course else { return None };
        self.new.spaces.get(passage.to.space).map(keyplan_plan::model::Space::engine_name)
    }

    /// Reads everything and writes nothing: what the migration would do with every row.
    pub fn survey_of<E: Engine>(
        &self,
        engine: &E,
        progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        self.survey_by(engine, &Sorted(self), progress)
    }

    /// As [`Migration::survey_of`], with what becomes of each row by `sorter`.
    pub(crate) fn survey_by<E: Engine>(
        &self,
        engine: &E,
        sorter: &impl Sorter,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        let snapshot = engine.snapshot()?;
        let mut survey = self.empty_survey();
        let by_contents = self.is_by_contents();
        for (index, space) in self.old.spaces.iter().enumerate() {
            let Some(id) = engine.space(space.engine_name()) else { continue };
            if by_contents && has_structures(space) {
                Self::survey_strays::<E>(&snapshot, id, space.engine_name(), &mut survey)?;
                continue;
            }
            each_row(&mut snapshot.range(id, KeyRange::ALL)?, |key, value| {
                let fate = sorter.fate(index, key, value);
                survey.add(self, index, (key, value), &fate);
                if survey.rows.is_multiple_of(EVERY) {
                    progress(survey.rows);
                }
            })?;
        }
        if by_contents {
            self.survey_views(engine, true, &mut survey, &mut progress)?;
        }
        progress(survey.rows);
        Ok(survey)
    }

    /// As [`Migration::survey_of`], of what a copy on `to` would hold.
    pub fn survey_for<E: Engine>(
        &self,
        engine: &E,
        to: &dyn Structures,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        let mut survey = self.empty_survey();
        let snapshot = engine.snapshot()?;
        for space in self.old.spaces.iter().filter(|space| has_structures(space)) {
            let Some(id) = engine.space(space.engine_name()) else { continue };
            Self::survey_strays::<E>(&snapshot, id, space.engine_name(), &mut survey)?;
        }
        self.survey_views(engine, to.capabilities().exact_scores, &mut survey, &mut progress)?;
        Ok(survey)
    }

    /// Adds rows of a space of structures that belong to nothing.
    fn survey_strays<E: Engine>(
        snapshot: &E::Snapshot,
        id: crate::engine::SpaceId,
        name: &str,
        survey: &mut Survey,
    ) -> Result<(), MigrationError> {
        for row in snapshot.range(id, KeyRange::ALL)? {
            let (key, value) = row?;
            if let Some(why) = Self::stray::<E>(snapshot, id, (&key, &value))? {
                survey.stray(name, &key, why);
            }
        }
        Ok(())
    }

    pub(super) fn survey_views<E: Engine>(
        &self,
        engine: &E,
        exact: bool,
        survey: &mut Survey,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        let views = self.views(engine)?;
        let old: Vec<OldSpace<'_>> =
            views.iter().map(|(index, view)| (*index, view as &dyn StructureRead)).collect();
        self.survey_things(&old, exact, survey, progress)
    }
}

/// Who says what becomes of a row.
pub(crate) trait Sorter {
    /// What becomes of a row of the old space at `space`.
    fn fate<'v>(&self, space: usize, key: &[u8], value: &'v [u8]) -> Fate<'v>;
}

/// The mapping by itself, whatever the engine has room for.
struct Sorted<'m, 'p>(&'m Migration<'p>);

impl Sorter for Sorted<'_, '_> {
    fn fate<'v>(&self, space: usize, key: &[u8], value: &'v [u8]) -> Fate<'v> {
        self.0.sort(space, key, value)
    }
}

/// Goes over the rows of a range where the engine has them: none is copied.
pub(super) fn each_row(rows: &mut impl RowRange, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), Error> {
    let visited = rows.visit(Direction::Ascending, |key, value| {
        each(key, value);
        ControlFlow::<()>::Continue(())
    });
    visited.map(|_| ())
}
