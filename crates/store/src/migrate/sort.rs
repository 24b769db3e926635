//! What becomes of one row.

use std::borrow::Cow;

use keyplan_plan::dynamic::{Decoded, Miss};
use keyplan_plan::mapping::{Course, Passage};
use keyplan_plan::model::MisfitRule;

use super::structured::has_structures;
use super::{Migration, ProblemKind};
use crate::structure::with_key;

/// How many readings of a key are looked at.
pub(super) const READINGS: usize = 16;

/// What becomes of a row.
pub(crate) enum Fate<'v> {
    /// It stays where it is. `None` if its family is not known for sure, and all that it may be of stay.
    Stays { route: Option<usize> },
    /// It is rewritten.
    Moves { route: usize, key: Vec<u8>, value: Cow<'v, [u8]>, staged: bool },
    /// It is deleted: its family is dropped, or its key has no new one and the plan says so.
    Dropped { route: usize },
    /// It is set aside, or keeps the migration from beginning.
    Aside { route: Option<usize>, kind: ProblemKind, why: String, ruled: bool },
}

impl Migration<'_> {
    /// Sorts a row of the old space at `space`.
    pub(crate) fn sort<'v>(&self, space: usize, key: &[u8], value: &'v [u8]) -> Fate<'v> {
        if self.old.spaces.get(space).is_some_and(has_structures) {
            return self.sort_structure(space, key, value);
        }
        if self.is_sure(space) {
            return match self.decoders.0.decode(space, key) {
                Ok(read) => self.fate(space, &read, key, value),
                Err(miss) => self.without_family(space, key, &miss),
            };
        }
        let all = match self.decoders.0.decode_all(space, key, READINGS) {
            Ok(all) => all,
            Err(miss) => return self.without_family(space, key, &miss),
        };
        match all.readings.as_slice() {
            [only] if !all.more => self.fate(space, only, key, value),
            several => self.of_several(space, several, all.more, key, value),
        }
    }

    /// What becomes of a row that no family makes. Under a prefix that an earlier plan gave up, and that both plans keep reserved, it
    /// stays; elsewhere nobody knows what it is.
    pub(super) fn without_family<'v>(&self, space: usize, key: &[u8], miss: &Miss<'_>) -> Fate<'v> {
        if self.is_reserved(space, key) { Fate::Stays { route: None } } else { unknown(miss) }
    }

    /// Whether a key of an old space lies under a prefix that both plans keep reserved.
    pub(super) fn is_reserved(&self, space: usize, key: &[u8]) -> bool {
        self.reserved.get(space).is_some_and(|all| all.iter().any(|prefix| key.starts_with(prefix)))
    }

    pub(super) fn of_several<'v>(
        &self,
        space: usize,
        several: &[Decoded<'_>],
        more: bool,
        key: &[u8],
        value: &'v [u8],
    ) -> Fate<'v> {
        let routes: Vec<Option<(usize, &Course)>> = several
            .iter()
            .map(|read| self.route(space, read.family).map(|(index, route)| (index, &route.course)))
            .collect();
        let still = |course: &Course| matches!(course, Course::Kept { .. } | Course::Retired { .. });
        if !more && routes.iter().all(|route| route.is_some_and(|(_, course)| still(course))) {
            return Fate::Stays { route: None };
        }
        let passages = || routes.iter().filter_map(|route| passage(route.as_ref()?.1));
        if !more && passages().any(|passage| passage.fitting) {
            let fits = |read: &&Decoded<'_>| {
                matches!(self.fate(space, read, key, value), Fate::Stays { .. } | Fate::Moves { .. })
            };
            let mut fitting = several.iter().filter(fits);
            if let (Some(only), None) = (fitting.next(), fitting.next()) {
                return self.fate(space, only, key, value);
            }
        }
        let ruled =
            passages().count() == routes.len() && passages().all(|passage| passage.rule == MisfitRule::Park);
        let first = routes.iter().flatten().next().map(|(index, _)| *index);
        let mut names: Vec<&str> = several.iter().map(|read| read.family.path.as_str()).collect();
        names.dedup();
        let count = if more { format!("more than {}", several.len()) } else { several.len().to_string() };
        let why = format!("{count} readings: {}", names.join(", "));
        Fate::Aside { route: first, kind: ProblemKind::Ambiguous, why, ruled }
    }

    /// What becomes of a row that was read in one way.
    pub(super) fn fate<'v>(&self, space: usize, read: &Decoded<'_>, key: &[u8], value: &'v [u8]) -> Fate<'v> {
        let Some((route, found)) = self.route(space, read.family) else {
            let why = "its family has no route".to_owned();
            return Fate::Aside { route: None, kind: ProblemKind::Unreadable, why, ruled: false };
        };
        let passage = match &found.course {
            Course::Kept { .. } | Course::Retired { .. } => return Fate::Stays { route: Some(route) },
            Course::Dropped { .. } => return Fate::Dropped { route },
            Course::Unspoken => {
                let why = "nothing is said of its family".to_owned();
                return Fate::Aside { route: Some(route), kind: ProblemKind::Unreadable, why, ruled: false };
            }
            Course::Moved(passage) => passage,
        };
        let at_home = || {
            let from = self.old.spaces.get(space).map(keyplan_plan::model::Space::engine_name);
            from.is_some() && self.target(route) == from
        };
        match self.made(space, route, &read.values, (key, value)) {
            // Bounds may be narrower, and the row as it was.
            Ok((new, same)) if new == key && *same == *value && at_home() => {
                Fate::Stays { route: Some(route) }
            }
            Ok((key, value)) => Fate::Moves { route, key, value, staged: passage.staged },
            Err(why) => self.without_new_key(route, why),
        }
    }

    /// What becomes of a row of a route that has no new key.
    pub(super) fn without_new_key<'v>(&self, route: usize, why: String) -> Fate<'v> {
        let rule = self.mapping.routes.get(route).and_then(|route| passage(&route.course));
        let rule = rule.map_or(MisfitRule::Refuse, |passage| passage.rule);
        if rule == MisfitRule::Drop {
            return Fate::Dropped { route };
        }
        let ruled = rule == MisfitRule::Park;
        Fate::Aside { route: Some(route), kind: ProblemKind::NoNewKey, why, ruled }
    }

    fn made<'v>(
        &self,
        space: usize,
        route: usize,
        values: &[keyplan_plan::dynamic::Value],
        (old_key, value): (&[u8], &'v [u8]),
    ) -> Result<(Vec<u8>, Cow<'v, [u8]>), String> {
        if let Some(Some(map)) = self.maps.get(route) {
            let (key, value) = map(old_key, value)?;
            self.of_new_family(route, &key)?;
            return Ok((key, Cow::Owned(value)));
        }
        let way = self.carrier.way(route).ok_or("the route moves nothing")?;
        let mut key = Vec::with_capacity(old_key.len() + 16);
        way.key(values, value, &mut key).map_err(|misfit| misfit.to_string())?;
        if self.old.spaces.get(space).is_some_and(has_structures) {
            let row = with_key(old_key, &key).ok_or("the row has no room for the new key")?;
            return Ok((row, Cow::Borrowed(value)));
        }
        let value = way.value(value).map_err(|misfit| format!("the value: {misfit}"))?;
        Ok((key, value))
    }
}

impl Migration<'_> {
    /// Refuses a key that a function of the program made if it is not one of the new family.
    fn of_new_family(&self, route: usize, key: &[u8]) -> Result<(), String> {
        let course = self.mapping.routes.get(route).map(|route| &route.course);
        let Some(passage) = course.and_then(passage) else {
            return Err("the route moves nothing".to_owned());
        };
        let read = self.decoders.1.decode(passage.to.space, key);
        match read {
            Ok(read) if read.family.path == passage.to.path => Ok(()),
            Ok(read) => Err(format!("the function made a key of `{}`", read.family.path)),
            Err(miss) => Err(format!("the function made no key of `{}`: {miss}", passage.to.path)),
        }
    }
}

fn passage(course: &Course) -> Option<&Passage> {
    if let Course::Moved(passage) = course { Some(passage) } else { None }
}

fn unknown<'v>(miss: &Miss<'_>) -> Fate<'v> {
    Fate::Aside { route: None, kind: ProblemKind::Unreadable, why: miss.to_string(), ruled: false }
}
