//! Carrying a database from one plan to the next, in steps that are whole.
//!
//! A [`Migration`] is made of two plans and a mapping between them, which the prover derives: nothing is parsed or proved
//! here. [`Migration::attach`] takes an engine; what it gives back surveys the rows, begins, takes steps, goes back.
//!
//! Each step is one batch: new rows in, old rows out, and the place reached. So a database holds every row exactly once
//! whenever the program ends, and says which migration it is in the middle of. Opening it as a store is refused until the
//! migration has ended or was undone.
//!
//! | phase | what a step does |
//! | --- | --- |
//! | park | sets rows aside that have no new key |
//! | move | rewrites rows; those whose new keys may meet old ones go to a space of the migration's own |
//! | settle | writes the rows of that space to their new place |
//! | build | fills the new keys of structures with what the old ones held |
//! | check | reads everything, and compares counts and checksums with those of the old rows |
//! | back | the same the other way round |
//!
//! Structures whose members, scores or fields are written differently are carried thing by thing: their old rows are taken
//! out into a space of the migration's own, and the new keys are filled from there.
//!
//! [`Migration::copy`] makes a copy instead, on any engine, and leaves the database as it is. So it is with what a server holds.

mod checksum;
mod contents;
mod error;
mod into;
mod mark;
mod running;
mod sort;
mod structured;
mod survey;
mod undo;

use std::collections::BTreeSet;

use keyplan_codec::Hash;
use keyplan_plan::Compiled;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::mapping::{Carrier, Course, Mapping, Route};
use keyplan_plan::model::{Family, Plan, Space};

pub use checksum::Checksum;
pub use error::MigrationError;
pub use mark::{MigrationMark, Phase};
pub use running::{Attached, Running, Step};
pub use survey::{Example, Problem, ProblemKind, RouteFigures, Survey};

use crate::engine::{Engine, Snapshot as _};
use crate::meta::META_SPACE;
use crate::schema::{PlanFile, Schema};

/// The space that rows are kept in while they are on the way, and those that were set aside.
///
/// ```text
/// kind (1) | migration (8) | length of the space's name (1) | the name | the old key  ->  length of why (2) | why | the value
/// ```
pub const ASIDE_SPACE: &str = "keyplan-set-aside";

/// Whether a space is one of the migrations' own, by its name: [`ASIDE_SPACE`], or one for old rows of structures.
pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with(ASIDE_SPACE)
}

/// A function of the program that makes a new row of an old one: key and value, both ways as bytes.
pub type RowMap<'p> = Box<dyn Fn(&[u8], &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> + Send + Sync + 'p>;

/// How a database goes from one plan to the next.
pub struct Migration<'p> {
    pub(crate) old: &'p Plan,
    pub(crate) new: &'p Plan,
    pub(crate) schemas: (Schema, Schema),
    pub(crate) mapping: Mapping,
    pub(crate) carrier: Carrier<'p>,
    pub(crate) decoders: (Decoder<'p>, Decoder<'p>),
    pub(crate) maps: Vec<Option<RowMap<'p>>>,
    pub(crate) preferred: BTreeSet<String>,
    pub(crate) id: [u8; 8],
    // For each old space the index of its first route, and whether its keys have one reading each.
    starts: Vec<usize>,
    sure: Vec<bool>,
    // For each old space the prefixes that both plans keep reserved: rows under them stay.
    pub(crate) reserved: Vec<Vec<Vec<u8>>>,
}

impl std::fmt::Debug for Migration<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Migration")
            .field("id", &self.id)
            .field("mapping", &self.mapping)
            .finish_non_exhaustive()
    }
}

impl<'p> Migration<'p> {
    /// Prepares a migration from `old` to `new` by a mapping that was derived from them and proved.
    pub fn between(old: &'p Compiled, new: &'p Compiled, mapping: Mapping) -> Result<Self, MigrationError> {
        let (Some(old_schema), Some(new_schema)) = (Schema::of(old), Schema::of(new)) else {
            return Err(MigrationError::NoMeaning);
        };
        let (Some(old), Some(new)) = (&old.plan, &new.plan) else { return Err(MigrationError::NoMeaning) };
        let count: usize = old.spaces.iter().map(|space| space.families.len()).sum();
        let places = old.spaces.iter().enumerate();
        let places =
            places.flat_map(|(index, space)| (0..space.families.len()).map(move |family| (index, family)));
        let in_order = mapping
            .routes
            .iter()
            .zip(places)
            .all(|(route, place)| (route.from.space, route.from.family) == place);
        let fits = mapping.routes.len() == count
            && in_order
            && mapping.routes.iter().all(|route| {
                let to = match &route.course {
                    Course::Kept { to } => Some(to),
                    Course::Moved(passage) => Some(&passage.to),
                    _ => None,
                };
                route.from.find(old).is_some() && to.is_none_or(|to| to.find(new).is_some())
            });
        if !fits {
            return Err(MigrationError::OtherMapping);
        }
        if let Some(route) = mapping.routes.iter().find(|route| route.course == Course::Unspoken) {
            return Err(MigrationError::Unspoken { family: route.from.path.clone() });
        }
        let preferred = BTreeSet::new();
        let id = id(&old_schema, &new_schema, &mapping, &preferred);
        let carrier = Carrier::new(old, new, &mapping);
        let maps = mapping.routes.iter().map(|_| None).collect();
        let decoders = (Decoder::new(old), Decoder::new(new));
        let mut starts = Vec::new();
        let mut next = 0;
        for space in &old.spaces {
            starts.push(next);
            next += space.families.len();
        }
        let readable = |space: usize| {
            mapping.routes.iter().filter(|route| route.from.space == space).all(|route| route.readable)
        };
        let sure = (0..old.spaces.len()).map(readable).collect();
        let schemas = (old_schema, new_schema);
        let reserved = old.spaces.iter().map(|space| reserved(space, new)).collect();
        Ok(Self {
            old,
            new,
            schemas,
            mapping,
            carrier,
            decoders,
            maps,
            preferred,
            id,
            starts,
            sure,
            reserved,
        })
    }

    /// Has rows of the old family at `path` made again by a function of the program instead of by the mapping.
    ///
    /// The new rows do not tell the old ones then: these are kept aside until the migration has ended. The function must make the
    /// same row of the same row.
    pub fn map_rows(
        &mut self,
        path: &str,
        map: impl Fn(&[u8], &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> + Send + Sync + 'p,
    ) -> Result<(), MigrationError> {
        let index = self.mapping.routes.iter().position(|route| route.from.path == path);
        let moved = index.filter(|&index| self.carrier.way(index).is_some());
        let slot = moved.and_then(|index| self.maps.get_mut(index));
        let Some(slot) = slot else { return Err(MigrationError::NotMoved { family: path.to_owned() }) };
        *slot = Some(Box::new(map));
        Ok(())
    }

    /// The path of the new family that rows of an old family are rewritten as.
    pub fn target_of(&self, path: &str) -> Option<&str> {
        let route = self.mapping.routes.iter().find(|route| route.from.path == path)?;
        match &route.course {
            Course::Moved(passage) => Some(&passage.to.path),
            _ => None,
        }
    }

    /// The mapping.
    pub const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Why old rows are kept aside until the migration has ended, if some are: the new ones do not tell them.
    pub fn keeps_old_rows(&self) -> Option<String> {
        (0..self.mapping.routes.len()).find_map(|route| undo::untold(self, route))
    }

    /// The route of a family of the old plan.
    pub(crate) fn route(&self, space: usize, family: &Family) -> Option<(usize, &Route)> {
        let families = &self.old.spaces.get(space)?.families;
        let index = families.iter().position(|other| std::ptr::eq(other, family))?;
        let index = self.starts.get(space)?.checked_add(index)?;
        Some((index, self.mapping.routes.get(index)?))
    }

    /// Whether every key of an old space has one reading that counts.
    pub(crate) fn is_sure(&self, space: usize) -> bool {
        self.sure.get(space).copied().unwrap_or_default()
    }
}

/// The prefixes of an old space that both plans keep from being used.
fn reserved(space: &Space, new: &Plan) -> Vec<Vec<u8>> {
    let kept = new.spaces.iter().filter(|after| after.engine_name() == space.engine_name());
    let kept: Vec<&[u8]> = kept.flat_map(retired_prefixes).collect();
    let still = |prefix: &&[u8]| kept.iter().any(|kept| prefix.starts_with(kept));
    retired_prefixes(space).filter(still).map(<[u8]>::to_vec).collect()
}

fn retired_prefixes(space: &Space) -> impl Iterator<Item = &[u8]> {
    let modules = space.modules.iter().flat_map(|module| &module.retired);
    space.retired.iter().chain(modules).map(|entry| entry.prefix.as_slice())
}

/// What tells a migration from every other: both layouts, the mapping, and which readings are preferred.
#[expect(clippy::expect_used, reason = "a digest of 64 bits has eight bytes")]
fn id(old: &Schema, new: &Schema, mapping: &Mapping, preferred: &BTreeSet<String>) -> [u8; 8] {
    let mut text = Vec::new();
    text.extend(old.fingerprint.0);
    text.extend(new.fingerprint.0);
    text.extend(mapping.description());
    for path in preferred {
        text.extend(path.bytes().chain([0]));
    }
    // With a default in its place every migration would be the same one.
    Hash::Xxh3_64.digest(&text)[..].try_into().expect("a digest of eight bytes")
}

/// A row that was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked<'a> {
    /// The space that it was in, by the name that the engine knows.
    pub space: &'a str,
    /// Its key there.
    pub key: &'a [u8],
    /// Why it was set aside; empty for a row that is on the way.
    pub why: &'a str,
    /// Its value.
    pub value: &'a [u8],
}

fn aside_row(prefix: &[u8], space: &str, key: &[u8], why: &str, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
    // A name of an engine's space has fewer than 256 bytes; a longer reason is cut.
    let length = u8::try_from(space.len()).unwrap_or(u8::MAX);
    let mut cut = why.len().min(1024);
    while !why.is_char_boundary(cut) {
        cut -= 1;
    }
    let why = why.get(..cut).unwrap_or_default();
    let reason = u16::try_from(why.len()).unwrap_or_default().to_be_bytes();
    ([prefix, &[length], space.as_bytes(), key].concat(), [&reason, why.as_bytes(), value].concat())
}

/// Reads a row of the space that [`ASIDE_SPACE`] names; `None` if it is damaged.
pub fn read_aside<'a>(place: &'a [u8], row: &'a [u8]) -> Option<Parked<'a>> {
    let (_, rest) = place.split_at_checked(9)?;
    let (&length, rest) = rest.split_first()?;
    let (space, key) = rest.split_at_checked(length.into())?;
    let (length, rest) = row.split_first_chunk::<2>()?;
    let (why, value) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    let text = |bytes| std::str::from_utf8(bytes).ok();
    Some(Parked { space: text(space)?, key, why: text(why)?, value })
}

/// Goes over the rows that migrations have set aside, in order; gives how many there are.
///
/// A row that cannot be read is an error, after those before it were visited.
pub fn visit_parked<E: Engine>(engine: &E, mut visit: impl FnMut(Parked<'_>)) -> Result<u64, MigrationError> {
    let Some(space) = engine.space(ASIDE_SPACE) else { return Ok(0) };
    let mut rows = 0;
    for row in engine.snapshot()?.prefix(space, &[running::Aside::Parked.byte()])? {
        let (place, stored) = row?;
        visit(read_aside(&place, &stored).ok_or(MigrationError::Record)?);
        rows += 1;
    }
    Ok(rows)
}

/// The files of the plan that a database is on the way to, the root first; empty if it is on the way to none.
pub fn pending_plan<E: Engine>(engine: &E) -> Result<Vec<PlanFile>, MigrationError> {
    let Some(space) = engine.space(META_SPACE) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for row in engine.snapshot()?.prefix(space, mark::FILES)? {
        let (_, value) = row?;
        let (length, rest) = value.split_first_chunk::<2>().ok_or(MigrationError::Record)?;
        let (name, text) =
            rest.split_at_checked(u16::from_be_bytes(*length).into()).ok_or(MigrationError::Record)?;
        let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| MigrationError::Record);
        files.push(PlanFile { name: text_of(name)?, text: text_of(text)? });
    }
    Ok(files)
}
