//! What becomes of a key, and of each thing that it holds.

use keyplan_plan::dynamic::Decoded;
use keyplan_plan::mapping::{Course, Passage, Way};
use keyplan_plan::model::{FamilyKind, MisfitRule};

use super::super::sort::READINGS;
use super::super::{Migration, MigrationError, ProblemKind};
use super::fit::{NO_PLACES, can_hold, is_place, may_be, rank, waiting};
use super::thing::{Thing, visit};
use crate::structure::{Kind, QueueItem, StructureRead};

/// What becomes of a key and of everything that it holds.
pub(super) enum KeyFate {
    /// It stays what it is.
    Stays {
        route: Option<usize>,
        queue: bool,
    },
    /// It has another key, and what it holds may be rewritten.
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

impl Migration<'_> {
    pub(super) fn passage(&self, route: usize) -> Option<&Passage> {
        match &self.mapping.routes.get(route)?.course {
            Course::Moved(passage) => Some(passage),
            _ => None,
        }
    }

    /// What becomes of a key.
    pub(super) fn fate_of_key(
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
            Err(_) if self.is_reserved(space, key) => {
                return Ok(KeyFate::Stays { route: None, queue: kind == Kind::Queue });
            }
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
            FamilyKind::Key => match read.get(key) {
                Ok(value) => value.unwrap_or_default(),
                // A value that cannot be read is not an empty one, of which another key would be made.
                Err(error) => {
                    let (kind, why) = (ProblemKind::Unreadable, error.to_string());
                    return KeyFate::Aside { route: Some(route), kind, why, ruled: false };
                }
            },
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
    pub(super) fn thing(
        &self,
        route: usize,
        old: &Thing,
        exact: bool,
    ) -> Result<Thing, (ProblemKind, String)> {
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
            let mut preferred =
                left.iter().filter(|known| self.preferred.contains(&way.old.path_of(&known.old.name)));
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
