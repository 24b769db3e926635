//! What keys of structures hold, carried over thing by thing: into other layouts of members, scores and fields, from a
//! server and to one.
//!
//! Keys of free text often have several readings. What a key holds tells some of them apart, and the caller others, with
//! [`Migration::prefer`]; what is left is never guessed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use keyplan_codec::Hash;
use keyplan_plan::dynamic::{Decoded, Value, readings};
use keyplan_plan::mapping::{Course, Passage, Way};
use keyplan_plan::model::{Family, FamilyKind, MisfitRule, Sequence, Shape};

use super::checksum::Checksum;
use super::sort::READINGS;
use super::structured::has_structures;
use super::survey::{Example, RouteFigures, Survey};
use super::{Migration, MigrationError, ProblemKind};
use crate::engine::{Durability, Engine, Snapshot as _};
use crate::page::Direction;
use crate::structure::{
    Command, Kind, QueueItem, QueueState, ScoreRange, SetScore, StructureError, StructureRead, Structures,
    View, put_score, thing_row,
};

/// Every kind that a key can hold.
const KINDS: [Kind; 5] = [Kind::Value, Kind::Set, Kind::Hash, Kind::Zset, Kind::Queue];

/// How many things are written at once.
const BATCH: usize = 1000;

/// How many bytes are written at once.
const BATCH_BYTES: usize = 4 << 20;

/// How often progress is told.
const EVERY: u64 = 4096;

/// The key on a server that says which copy it is in the middle of.
pub(crate) const SERVER_MARK: &[u8] = b"keyplan:migration";

/// One thing that a key holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Thing {
    Value(Vec<u8>),
    Member(Vec<u8>),
    Field(Vec<u8>, Vec<u8>),
    Scored(Vec<u8>, SetScore),
    Item(QueueItem),
}

impl Thing {
    /// A member, a field or an item; nothing for a plain value.
    pub(crate) fn name(&self) -> &[u8] {
        match self {
            Self::Value(_) => &[],
            Self::Member(name) | Self::Field(name, _) | Self::Scored(name, _) => name,
            Self::Item(item) => &item.member,
        }
    }

    /// What is stored of it.
    pub(crate) fn content(&self) -> Vec<u8> {
        let ranked = |score: SetScore| {
            let mut out = Vec::new();
            // A score that was read can be written.
            let _ = put_score(score, &mut out);
            out
        };
        match self {
            Self::Value(value) | Self::Field(_, value) => value.clone(),
            Self::Member(_) => Vec::new(),
            Self::Scored(_, score) => ranked(*score),
            Self::Item(item) => {
                let mut out = ranked(item.score);
                out.extend(item.attempts.to_be_bytes());
                match item.state {
                    QueueState::Waiting => out.push(0),
                    QueueState::Claimed { until } => {
                        out.push(1);
                        out.extend(until.to_be_bytes());
                        // No receipt, and not pushed again.
                        out.extend([0; 9]);
                    }
                    QueueState::Dead => out.push(2),
                }
                out
            }
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Value(_) => Kind::Value,
            Self::Member(_) => Kind::Set,
            Self::Field(..) => Kind::Hash,
            Self::Scored(..) => Kind::Zset,
            Self::Item(_) => Kind::Queue,
        }
    }

    fn command<'a>(&'a self, key: &'a [u8]) -> Command<'a> {
        match self {
            Self::Value(value) => Command::Put { key, value },
            Self::Member(member) => Command::SetAdd { key, member },
            Self::Field(field, value) => Command::HashSet { key, field, value },
            Self::Scored(member, score) => Command::ZsetAdd { key, member, score: *score },
            Self::Item(QueueItem { member, score, attempts, state }) => {
                Command::QueueRestore { key, member, score: *score, attempts: *attempts, state: *state }
            }
        }
    }
}

/// Adds a thing to a checksum.
fn add(sum: &mut Checksum, key: &[u8], thing: &Thing) {
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX).to_be_bytes();
    let kind = KINDS.iter().position(|kind| *kind == thing.kind()).and_then(|kind| u8::try_from(kind).ok());
    let place = [&[kind.unwrap_or_default()], &length[..], key, thing.name()].concat();
    sum.add(&place, &thing.content());
}

/// Keys and members that were met: a server may give one twice while it changes the size of its tables.
struct Met(Option<HashSet<[u8; 16]>>);

impl Met {
    fn of(read: &dyn StructureRead) -> Self {
        Self(read.space_name().is_none().then(HashSet::new))
    }

    fn is_new(&mut self, bytes: &[u8]) -> bool {
        let Some(met) = &mut self.0 else { return true };
        let digest = Hash::Blake2b128.digest(bytes);
        digest.first_chunk::<16>().is_none_or(|digest| met.insert(*digest))
    }
}

/// Goes over everything that a key holds, until `visit` says that it was enough.
fn visit(
    read: &dyn StructureRead,
    kind: Kind,
    key: &[u8],
    visit: &mut dyn FnMut(Thing) -> Result<bool, MigrationError>,
) -> Result<(), MigrationError> {
    let mut met = Met::of(read);
    let mut each = |thing: Thing| -> Result<bool, MigrationError> {
        let new = matches!(thing, Thing::Value(_)) || met.is_new(thing.name());
        if new { visit(thing) } else { Ok(true) }
    };
    match kind {
        Kind::Value => {
            if let Some(value) = read.get(key)? {
                each(Thing::Value(value))?;
            }
        }
        Kind::Set => {
            for member in read.set_members(key)? {
                if !each(Thing::Member(member?))? {
                    break;
                }
            }
        }
        Kind::Hash => {
            for field in read.hash_all(key)? {
                let (field, value) = field?;
                if !each(Thing::Field(field, value))? {
                    break;
                }
            }
        }
        Kind::Zset => {
            for row in read.zset_rows(key, &ScoreRange::ALL, Direction::Ascending, None)? {
                let row = row?;
                if !each(Thing::Scored(row.member, row.score))? {
                    break;
                }
            }
        }
        Kind::Queue => {
            for item in read.queue_items(key)? {
                if !each(Thing::Item(item?))? {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Goes over every key.
fn keys(
    read: &dyn StructureRead,
    mut visit: impl FnMut(Kind, Vec<u8>) -> Result<(), MigrationError>,
) -> Result<(), MigrationError> {
    let mut met = Met::of(read);
    for kind in KINDS {
        for key in read.keys(kind, &[])? {
            let key = key?;
            if key != SERVER_MARK && met.is_new(&key) {
                visit(kind, key)?;
            }
        }
    }
    Ok(())
}

/// Whether a key that holds `found` can be of a family. Other programs keep queues on a server as sorted sets.
fn may_be(family: &Family, found: Kind, server: bool) -> bool {
    holds(family.kind) == found || (server && family.kind == FamilyKind::Queue && found == Kind::Zset)
}

const fn holds(kind: FamilyKind) -> Kind {
    match kind {
        FamilyKind::Key => Kind::Value,
        FamilyKind::Hash => Kind::Hash,
        FamilyKind::Zset => Kind::Zset,
        FamilyKind::Set => Kind::Set,
        FamilyKind::Queue => Kind::Queue,
    }
}

fn has_reading(layout: Option<&Sequence>, bytes: &[u8]) -> bool {
    layout.is_none_or(|layout| readings(layout, bytes, 1).is_ok_and(|found| !found.readings.is_empty()))
}

/// Whether a thing can be under a key of a family.
fn can_hold(family: &Family, thing: &Thing) -> bool {
    let ranked =
        |score: &SetScore| family.score.as_ref().is_none_or(|layout| score_values(layout, *score).is_some());
    match thing {
        Thing::Value(value) => has_reading(family.value.as_ref(), value),
        Thing::Member(member) => has_reading(family.member.as_ref(), member),
        Thing::Field(field, value) => family
            .fields
            .iter()
            .any(|known| has_reading(Some(&known.key), field) && has_reading(known.value.as_ref(), value)),
        Thing::Scored(member, score) => has_reading(family.member.as_ref(), member) && ranked(score),
        Thing::Item(item) => has_reading(family.member.as_ref(), &item.member) && ranked(&item.score),
    }
}

/// The largest integer below which a float tells every one from the next.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A score as the values of its layout; `None` if the layout has none such.
fn score_values(layout: &Sequence, score: SetScore) -> Option<Vec<Value>> {
    let mut arguments = layout.arguments();
    let (Some(only), None) = (arguments.next(), arguments.next()) else { return None };
    let value = match (&only.shape, score) {
        (Shape::Score(keyplan_plan::model::ScoreEncoding::Exact), SetScore::Place(place)) => {
            Value::Score(place)
        }
        (
            Shape::Score(keyplan_plan::model::ScoreEncoding::HeightScore) | Shape::Float(_),
            SetScore::Number(number),
        ) => Value::Float(number),
        (Shape::Int(int), SetScore::Number(number)) if number.abs() < EXACT && number.fract() == 0.0 => {
            let text = format!("{number:.0}");
            if int.ty.signed {
                Value::Signed(text.parse().ok()?)
            } else {
                Value::Unsigned(text.parse().ok()?)
            }
        }
        _ => return None,
    };
    Some(vec![value])
}

/// The score that the values of a layout are.
fn score_of(values: &[Value]) -> Result<SetScore, String> {
    let number = |text: String| match text.parse::<f64>() {
        Ok(number) if number.abs() < EXACT => Ok(SetScore::Number(number)),
        _ => Err("the score: no float tells it from its neighbours".to_owned()),
    };
    match values {
        [Value::Score(place)] => Ok(SetScore::Place(*place)),
        [Value::Float(number)] => Ok(SetScore::Number(*number)),
        [Value::Unsigned(value)] => number(value.to_string()),
        [Value::Signed(value)] => number(value.to_string()),
        _ => Err("the score: no number and no place".to_owned()),
    }
}

/// What becomes of a key and of everything that it holds.
enum KeyFate {
    /// It stays what it is.
    Stays {
        route: Option<usize>,
        queue: bool,
    },
    /// It has another key, and what it holds may be written anew.
    Moves {
        route: usize,
        key: Vec<u8>,
    },
    Dropped {
        route: usize,
    },
    Aside {
        route: Option<usize>,
        kind: ProblemKind,
        why: String,
        ruled: bool,
    },
}

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
    /// What a key holds is looked at first: a reading under which it cannot hold that is none.
    pub fn prefer(&mut self, path: &str) -> Result<(), MigrationError> {
        let families = || self.old.spaces.iter().flat_map(|space| &space.families);
        let whole = |name: &str| name == path || name.ends_with(&format!(".{path}"));
        let mut found: Vec<String> = Vec::new();
        for family in families() {
            if whole(&family.path) {
                found.push(family.path.clone());
            }
            let fields = family.fields.iter().map(|field| format!("{}.{}", family.path, field.name));
            found.extend(fields.filter(|name| whole(name)));
        }
        let [only] = found.as_slice() else {
            return Err(MigrationError::NoFamily { path: path.to_owned(), found: found.len() });
        };
        self.preferred.insert(only.clone());
        self.id = super::id(&self.schemas.0, &self.schemas.1, &self.mapping, &self.preferred);
        Ok(())
    }

    /// Whether structures have to be carried thing by thing, because not only their keys are written anew.
    pub fn is_by_contents(&self) -> bool {
        self.structured().is_some()
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

    /// The only old space of structures, which the keys of a server are of.
    pub(crate) fn server_space(&self) -> Result<usize, MigrationError> {
        let mut found = self.old.spaces.iter().enumerate().filter(|(_, space)| has_structures(space));
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            _ => Err(MigrationError::ServerSpaces),
        }
    }

    /// The only new space of structures, which the keys of a server are of.
    pub(crate) fn new_server_space(&self) -> Result<&str, MigrationError> {
        let mut found = self.new.spaces.iter().filter(|space| has_structures(space));
        match (found.next(), found.next()) {
            (Some(space), None) => Ok(space.engine_name()),
            _ => Err(MigrationError::ServerSpaces),
        }
    }

    /// Reads everything on a server and writes nothing: what a copy of it would hold.
    pub fn survey_server(
        &self,
        from: &dyn StructureRead,
        to: Option<&dyn Structures>,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        let mut survey = self.empty_survey();
        self.survey_things(&[(self.server_space()?, from)], exact(to), &mut survey, &mut progress)?;
        Ok(survey)
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

    /// Copies what the keys of a server hold, in the old plan's only space of structures, to another server.
    ///
    /// `survey` is of the server that is read. A copy that was interrupted is gone on with by doing it again.
    pub fn copy_between_servers(
        &self,
        from: &dyn StructureRead,
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        let space = self.server_space()?;
        self.to_server(&[(space, from)], to, survey, park, &mut progress)
    }

    /// Copies the structures of a database to a server, whose keys are of the new plan's only space of structures.
    ///
    /// A server has no place for rows of other spaces, or for what is set aside: the former are refused by the name of
    /// their space, and the latter stay where they are. A copy that was interrupted is gone on with by doing it again.
    pub fn copy_to_server<S: Engine>(
        &self,
        from: &S,
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        for space in self.old.spaces.iter().filter(|space| !has_structures(space)) {
            let Some(id) = from.space(space.engine_name()) else { continue };
            let mut rows = from.snapshot()?.range(id, crate::engine::KeyRange::ALL)?;
            if rows.next().transpose()?.is_some() {
                return Err(MigrationError::ServerRows { space: space.name.clone() });
            }
        }
        let views = self.views(from)?;
        let old: Vec<OldSpace<'_>> =
            views.iter().map(|(index, view)| (*index, view as &dyn StructureRead)).collect();
        self.to_server(&old, to, survey, park, &mut progress)
    }

    fn to_server(
        &self,
        from: &[OldSpace<'_>],
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        let name = self.new_server_space()?;
        match to.get(SERVER_MARK)? {
            Some(mark) if mark == self.id => {}
            Some(_) => return Err(MigrationError::OtherCopy),
            None => {
                for kind in KINDS {
                    if to.keys(kind, &[])?.next().transpose()?.is_some() {
                        return Err(MigrationError::NotEmpty);
                    }
                }
                to.put(SERVER_MARK, &self.id)?;
            }
        }
        let spaces = NewSpaces::from([(name.to_owned(), to)]);
        self.write_things(from, &spaces, &mut |_, _| Ok(()), progress)?;
        Self::compare_things(&spaces, survey)?;
        to.delete(SERVER_MARK)?;
        Ok(())
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
            let mut found = Checksum::default();
            keys(*to, |kind, key| {
                visit(*to, kind, &key, &mut |thing| {
                    add(&mut found, &key, &thing);
                    Ok(true)
                })
            })?;
            let expected = survey.expected.get(name).copied().unwrap_or_default();
            if found != expected {
                return Err(MigrationError::Checksum {
                    space: name.clone(),
                    rows: expected.rows,
                    sum: expected.sum,
                    found_rows: found.rows,
                    found_sum: found.sum,
                });
            }
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
                                add(survey.expect(old_name), &key, &thing);
                                arrive(Arrival { space: old_name, key: &new_key, thing })?;
                                return Ok(true);
                            }
                            (*route, ProblemKind::NoNewKey, NO_PLACES.to_owned(), false)
                        }
                        KeyFate::Moves { route, .. } => match self.thing(*route, &thing, exact) {
                            Ok(new) => {
                                let to = self.target(*route).ok_or(MigrationError::Record)?;
                                survey.count(Some(*route), |figures| add(&mut figures.moved, &new_key, &new));
                                add(survey.expect(to), &new_key, &new);
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

    fn passage(&self, route: usize) -> Option<&Passage> {
        match &self.mapping.routes.get(route)?.course {
            Course::Moved(passage) => Some(passage),
            _ => None,
        }
    }

    /// What becomes of a key.
    fn fate_of_key(
        &self,
        space: usize,
        kind: Kind,
        key: &[u8],
        read: &dyn StructureRead,
    ) -> Result<KeyFate, MigrationError> {
        let server = read.space_name().is_none();
        let unreadable =
            |why: String| KeyFate::Aside { route: None, kind: ProblemKind::Unreadable, why, ruled: false };
        let all = match self.decoders.0.decode_all(space, key, READINGS) {
            Ok(all) => all,
            Err(miss) => return Ok(unreadable(miss.to_string())),
        };
        let mut left: Vec<&Decoded<'_>> =
            all.readings.iter().filter(|reading| may_be(reading.family, kind, server)).collect();
        if left.is_empty() {
            return Ok(unreadable(format!("a {kind}, which no family of such a key holds")));
        }
        if left.len() > 1 {
            visit(read, kind, key, &mut |thing| {
                left.retain(|read| can_hold(read.family, &thing));
                Ok(left.len() > 1)
            })?;
            if left.is_empty() {
                return Ok(unreadable("no family of such a key can hold what it holds".to_owned()));
            }
        }
        if left.len() > 1 {
            let is_preferred = |read: &&&Decoded<'_>| self.preferred.contains(&read.family.path);
            let mut preferred = left.iter().filter(is_preferred);
            if let (Some(only), None) = (preferred.next(), preferred.next()) {
                left = vec![*only];
            }
        }
        match left.as_slice() {
            [only] if !all.more => Ok(self.fate_of_reading(space, only, key, read)),
            several => Ok(self.fate_of_several(space, several, all.more)),
        }
    }

    fn fate_of_several(&self, space: usize, several: &[&Decoded<'_>], more: bool) -> KeyFate {
        let routes: Vec<_> = several.iter().map(|read| self.route(space, read.family)).collect();
        let still = |course: &Course| matches!(course, Course::Kept { .. } | Course::Retired { .. });
        if !more && routes.iter().all(|route| route.is_some_and(|(_, route)| still(&route.course))) {
            return KeyFate::Stays { route: None, queue: false };
        }
        let parked =
            |course: &Course| matches!(course, Course::Moved(passage) if passage.rule == MisfitRule::Park);
        let ruled = routes.iter().all(|route| route.is_some_and(|(_, route)| parked(&route.course)));
        let mut names: Vec<&str> = several.iter().map(|read| read.family.path.as_str()).collect();
        names.dedup();
        let count = if more { format!("more than {}", several.len()) } else { several.len().to_string() };
        let why = format!("{count} readings: {}", names.join(", "));
        let route = routes.iter().flatten().next().map(|(index, _)| *index);
        KeyFate::Aside { route, kind: ProblemKind::Ambiguous, why, ruled }
    }

    fn fate_of_reading(
        &self,
        space: usize,
        only: &Decoded<'_>,
        key: &[u8],
        read: &dyn StructureRead,
    ) -> KeyFate {
        let Some((route, found)) = self.route(space, only.family) else {
            let why = "its family has no route".to_owned();
            return KeyFate::Aside { route: None, kind: ProblemKind::Unreadable, why, ruled: false };
        };
        let passage = match &found.course {
            Course::Kept { .. } | Course::Retired { .. } => {
                return KeyFate::Stays { route: Some(route), queue: only.family.kind == FamilyKind::Queue };
            }
            Course::Dropped { .. } => return KeyFate::Dropped { route },
            Course::Unspoken => {
                let why = "nothing is said of its family".to_owned();
                return KeyFate::Aside {
                    route: Some(route),
                    kind: ProblemKind::Unreadable,
                    why,
                    ruled: false,
                };
            }
            Course::Moved(passage) => passage,
        };
        let mut new = Vec::new();
        // Only a plain value can tell an argument of its key.
        let value = match only.family.kind {
            FamilyKind::Key => read.get(key).ok().flatten().unwrap_or_default(),
            _ => Vec::new(),
        };
        let made = self.carrier.way(route).map(|way| way.key(&only.values, &value, &mut new));
        match made {
            Some(Ok(())) => KeyFate::Moves { route, key: new },
            Some(Err(_)) if passage.rule == MisfitRule::Drop => KeyFate::Dropped { route },
            failed => {
                let why = match failed {
                    Some(Err(misfit)) => misfit.to_string(),
                    _ => "the route moves nothing".to_owned(),
                };
                let ruled = passage.rule == MisfitRule::Park;
                KeyFate::Aside { route: Some(route), kind: ProblemKind::NoNewKey, why, ruled }
            }
        }
    }

    /// A thing as it is under its new key.
    fn thing(&self, route: usize, old: &Thing, exact: bool) -> Result<Thing, (ProblemKind, String)> {
        let none = |why: String| (ProblemKind::NoNewKey, why);
        let way = self.carrier.way(route).ok_or_else(|| none("the route moves nothing".to_owned()))?;
        let member = |member: &[u8]| {
            way.member(member)
                .map(std::borrow::Cow::into_owned)
                .map_err(|misfit| none(format!("the member: {misfit}")))
        };
        let new = match old {
            Thing::Value(value) => {
                let value = way.value(value).map_err(|misfit| none(format!("the value: {misfit}")))?;
                Thing::Value(value.into_owned())
            }
            Thing::Member(name) => Thing::Member(member(name)?),
            Thing::Field(field, value) => self.field(way, field, value)?,
            Thing::Scored(name, score) => Thing::Scored(member(name)?, rank(way, *score).map_err(none)?),
            Thing::Item(item) => Thing::Item(QueueItem {
                member: member(&item.member)?,
                score: rank(way, item.score).map_err(none)?,
                ..*item
            }),
        };
        if !exact && is_place(&new) {
            return Err(none(NO_PLACES.to_owned()));
        }
        Ok(if way.new.kind == FamilyKind::Queue && exact { waiting(new) } else { new })
    }

    fn field(&self, way: &Way<'_>, field: &[u8], value: &[u8]) -> Result<Thing, (ProblemKind, String)> {
        let mut left: Vec<_> = way.fields().iter().filter(|known| known.reads(field, value)).collect();
        if left.len() > 1 {
            let path = |name: &str| format!("{}.{name}", way.old.path);
            let mut preferred = left.iter().filter(|known| self.preferred.contains(&path(&known.old.name)));
            if let (Some(only), None) = (preferred.next(), preferred.next()) {
                left = vec![*only];
            }
        }
        match left.as_slice() {
            [] => Err((ProblemKind::NoNewKey, "no field of the family is written so".to_owned())),
            [only] => {
                let (field, value) = only
                    .convert(field, value)
                    .map_err(|misfit| (ProblemKind::NoNewKey, misfit.to_string()))?;
                Ok(Thing::Field(field.into_owned(), value.into_owned()))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|known| known.old.name.as_str()).collect();
                Err((
                    ProblemKind::Ambiguous,
                    format!("{} readings: fields {}", names.len(), names.join(", ")),
                ))
            }
        }
    }
}

/// A member of a sorted set that another program uses as a queue, as an item that waits.
fn waiting(thing: Thing) -> Thing {
    match thing {
        Thing::Scored(member, score) => {
            Thing::Item(QueueItem { member, score, attempts: 0, state: QueueState::Waiting })
        }
        thing => thing,
    }
}

/// Why a server cannot hold a score.
const NO_PLACES: &str = "the score is an exact place in the chain, and a server has floats only";

fn is_place(thing: &Thing) -> bool {
    match thing {
        Thing::Scored(_, score) => matches!(score, SetScore::Place(_)),
        Thing::Item(item) => matches!(item.score, SetScore::Place(_)),
        _ => false,
    }
}

fn rank(way: &Way<'_>, score: SetScore) -> Result<SetScore, String> {
    let Some(layout) = &way.old.score else { return Ok(score) };
    let Some(values) = score_values(layout, score) else {
        return Err("the score is none of the old layout".to_owned());
    };
    match way.score(&values) {
        None => Ok(score),
        Some(Ok(new)) => score_of(&new),
        Some(Err(misfit)) => Err(format!("the score: {misfit}")),
    }
}

/// Whether the scores of a copy may be places.
fn exact(to: Option<&dyn Structures>) -> bool {
    to.is_none_or(|to| to.capabilities().exact_scores)
}

impl From<StructureError> for MigrationError {
    fn from(error: StructureError) -> Self {
        Self::Structure(Box::new(error))
    }
}
