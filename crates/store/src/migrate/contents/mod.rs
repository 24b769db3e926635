//! What keys of structures hold, carried over thing by thing: into other layouts of members, scores and fields, from a
//! server and to one.
//!
//! Keys of free text often have several readings. What a key holds tells some of them apart, and the caller others, with
//! [`Migration::prefer`]; what is left is never guessed.

mod fate;
mod fit;
mod place;
mod server;
mod thing;

use std::collections::BTreeMap;
use std::sync::Arc;

use keyplan_plan::model::{DottedPath, MisfitRule};

use self::fate::KeyFate;
use self::fit::{NO_PLACES, is_place, waiting};
pub(crate) use self::place::kept_name;
use self::thing::{Thing, checksum, keys, visit};
use super::checksum::Checksum;
use super::structured::has_structures;
use super::survey::{Example, RouteFigures, Survey};
use super::{Migration, MigrationError, ProblemKind};
use crate::engine::{Durability, Engine};
use crate::structure::{Command, StructureError, StructureRead, Structures, View, thing_row};

/// How many things are written at once.
const BATCH: usize = 1000;

/// How many bytes are written at once.
const BATCH_BYTES: usize = 4 << 20;

/// How often progress is told.
const EVERY: u64 = 4096;

/// Where a new thing goes.
struct Arrival<'a> {
    space: &'a str,
    key: &'a Arc<[u8]>,
    thing: Thing,
}

/// A thing that is set aside.
struct Leaving<'a> {
    space: usize,
    key: &'a [u8],
    thing: &'a Thing,
    why: &'a str,
}

/// A thing with the key that it is under.
type Placed = (Arc<[u8]>, Thing);

/// Takes what is set aside: the name of the old space, and the row that it would be there with why.
pub(crate) type SetAside<'f> =
    &'f mut dyn FnMut(&str, (Vec<u8>, Vec<u8>, &str)) -> Result<(), MigrationError>;

/// Structures of an old space.
pub(crate) type OldSpace<'s> = (usize, &'s dyn StructureRead);

/// Structures of a new space, by the name that an engine knows.
pub(crate) type NewSpaces<'s> = BTreeMap<String, &'s dyn Structures>;

impl Migration<'_> {
    /// Takes keys with several readings for those of the old family at `path`, or fields of a hash for those of the old
    /// field at `path`, unless another of their readings is preferred, too.
    ///
    /// What a key holds is looked at first: a reading under which it cannot hold that does not count.
    pub fn prefer(&mut self, path: &str) -> Result<(), MigrationError> {
        let families = || self.old.spaces.iter().flat_map(|space| &space.families);
        let whole = |name: &str| DottedPath(name).ends_with(DottedPath(path));
        let mut found: Vec<String> = Vec::new();
        for family in families() {
            if whole(&family.path) {
                found.push(family.path.clone());
            }
            let fields = family.fields.iter().map(|field| family.path_of(&field.name));
            found.extend(fields.filter(|name| whole(name)));
        }
        let [only] = found.as_slice() else {
            return Err(MigrationError::NoFamily { path: path.to_owned(), found: found.len() });
        };
        self.preferred.insert(only.clone());
        self.id = super::id(&self.schemas.0, &self.schemas.1, &self.mapping, &self.preferred);
        Ok(())
    }

    /// The old spaces of structures of an engine.
    pub(crate) fn views<E: Engine>(&self, engine: &E) -> Result<Vec<(usize, View<E>)>, MigrationError> {
        let mut views = Vec::new();
        for (index, space) in self.old.spaces.iter().enumerate() {
            let id = engine.space(space.engine_name()).filter(|_| has_structures(space));
            if let Some(id) = id {
                views.push((index, View::new(engine.snapshot()?, id, space.engine_name().into())));
            }
        }
        Ok(views)
    }

    pub(crate) fn empty_survey(&self) -> Survey {
        Survey { routes: vec![RouteFigures::default(); self.mapping.routes.len()], ..Survey::default() }
    }

    /// Adds everything that structures hold to a survey. `exact` says whether the scores of the copy may be places, which they
    /// may everywhere but on a server.
    pub(crate) fn survey_things(
        &self,
        from: &[OldSpace<'_>],
        exact: bool,
        survey: &mut Survey,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        self.carry(from, exact, survey, &mut |_| Ok(()), &mut |_| Ok(()), progress)
    }
    /// Writes everything that structures hold to new ones. `aside` is given each thing that is set aside, as a row of the
    /// old space.
    pub(crate) fn write_things(
        &self,
        from: &[OldSpace<'_>],
        to: &NewSpaces<'_>,
        aside: SetAside<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        let exact = to.values().all(|to| to.capabilities().exact_scores);
        let mut waiting: BTreeMap<String, (Vec<Placed>, usize)> = BTreeMap::new();
        let write = |space: &str, things: &[Placed]| -> Result<(), MigrationError> {
            let to = to.get(space).ok_or(MigrationError::Record)?;
            let commands: Vec<Command<'_>> = things.iter().map(|(key, thing)| thing.command(key)).collect();
            to.apply(&commands, Durability::Buffer)?;
            Ok(())
        };
        let mut arrive = |arrival: Arrival<'_>| -> Result<(), MigrationError> {
            if !waiting.contains_key(arrival.space) {
                waiting.insert(arrival.space.to_owned(), (Vec::new(), 0));
            }
            let Some((things, bytes)) = waiting.get_mut(arrival.space) else { return Ok(()) };
            *bytes += arrival.key.len() + arrival.thing.name().len() + arrival.thing.content().len();
            things.push((arrival.key.clone(), arrival.thing));
            if things.len() >= BATCH || *bytes >= BATCH_BYTES {
                write(arrival.space, things)?;
                things.clear();
                *bytes = 0;
            }
            Ok(())
        };
        let mut leave = |leaving: Leaving<'_>| -> Result<(), MigrationError> {
            let name = self.old.spaces.get(leaving.space).map_or("", keyplan_plan::model::Space::engine_name);
            let (kind, part) = (leaving.thing.kind(), leaving.thing.name());
            let row = thing_row(kind, leaving.key, part).ok_or(MigrationError::Record)?;
            aside(name, (row, leaving.thing.content(), leaving.why))
        };
        let mut survey = self.empty_survey();
        self.carry(from, exact, &mut survey, &mut arrive, &mut leave, progress)?;
        for (space, (things, _)) in &waiting {
            write(space, things)?;
        }
        Ok(())
    }

    /// Compares what new structures hold with what they must.
    pub(crate) fn compare_things(to: &NewSpaces<'_>, survey: &Survey) -> Result<(), MigrationError> {
        for (name, to) in to {
            let found = sum_of(*to, &mut |_| ())?;
            let expected = survey.expected.get(name).copied().unwrap_or_default();
            expected.require(name, found)?;
        }
        Ok(())
    }

    /// Goes over everything once: counts it, and hands it on.
    fn carry(
        &self,
        from: &[OldSpace<'_>],
        exact: bool,
        survey: &mut Survey,
        arrive: &mut dyn FnMut(Arrival<'_>) -> Result<(), MigrationError>,
        leave: &mut dyn FnMut(Leaving<'_>) -> Result<(), MigrationError>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        for &(space, read) in from {
            let old_name = self.old.spaces.get(space).map_or("", keyplan_plan::model::Space::engine_name);
            keys(read, |kind, key| {
                let fate = self.fate_of_key(space, kind, &key, read)?;
                let new_key: Arc<[u8]> = match &fate {
                    KeyFate::Moves { key, .. } => key.as_slice().into(),
                    _ => key.as_slice().into(),
                };
                visit(read, kind, &key, &mut |thing| {
                    survey.rows += 1;
                    if survey.rows.is_multiple_of(EVERY) {
                        progress(survey.rows);
                    }
                    let problem = match &fate {
                        KeyFate::Dropped { route } => {
                            survey.count(Some(*route), |figures| figures.dropped += 1);
                            return Ok(true);
                        }
                        KeyFate::Aside { route, kind, why, ruled } => (*route, *kind, why.clone(), *ruled),
                        KeyFate::Stays { route, queue } => {
                            if exact || !is_place(&thing) {
                                let thing = if *queue && exact { waiting(thing) } else { thing };
                                survey.count(*route, |figures| figures.kept += 1);
                                survey.expect(old_name, checksum(&key, &thing));
                                arrive(Arrival { space: old_name, key: &new_key, thing })?;
                                return Ok(true);
                            }
                            (*route, ProblemKind::NoNewKey, NO_PLACES.to_owned(), false)
                        }
                        KeyFate::Moves { route, .. } => match self.thing(*route, &thing, exact) {
                            Ok(new) => {
                                let to = self.target(*route).ok_or(MigrationError::Record)?;
                                let sum = checksum(&new_key, &new);
                                survey.count(Some(*route), |figures| figures.moved.join(sum));
                                survey.expect(to, sum);
                                arrive(Arrival { space: to, key: &new_key, thing: new })?;
                                return Ok(true);
                            }
                            Err((kind, why)) => {
                                let rule = self.passage(*route).map(|passage| passage.rule);
                                if rule == Some(MisfitRule::Drop) && kind == ProblemKind::NoNewKey {
                                    survey.count(Some(*route), |figures| figures.dropped += 1);
                                    return Ok(true);
                                }
                                (Some(*route), kind, why, rule == Some(MisfitRule::Park))
                            }
                        },
                    };
                    let (route, problem, why, ruled) = problem;
                    let row = thing_row(kind, &key, thing.name()).ok_or(MigrationError::Record)?;
                    let example = Example { space: old_name.to_owned(), key: row, why };
                    leave(Leaving { space, key: &key, thing: &thing, why: &example.why })?;
                    survey.count(route, |figures| figures.aside += 1);
                    let family = route.and_then(|route| self.mapping.routes.get(route));
                    survey.problem(problem, family.map(|route| route.from.path.clone()), ruled, example);
                    Ok(true)
                })
            })?;
        }
        progress(survey.rows);
        Ok(())
    }
}

/// How many things structures hold, and a sum over them. `progress` is told how many were read.
pub(crate) fn sum_of(
    read: &dyn StructureRead,
    progress: &mut dyn FnMut(u64),
) -> Result<Checksum, MigrationError> {
    let mut found = Checksum::default();
    keys(read, |kind, key| {
        visit(read, kind, &key, &mut |thing| {
            found.join(checksum(&key, &thing));
            if found.rows.is_multiple_of(EVERY) {
                progress(found.rows);
            }
            Ok(true)
        })
    })?;
    Ok(found)
}

impl From<StructureError> for MigrationError {
    fn from(error: StructureError) -> Self {
        Self::Structure(Box::new(error))
    }
}
