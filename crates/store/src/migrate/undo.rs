//! The way back.

use keyplan_plan::dynamic::{Decoded, Value};
use keyplan_plan::mapping::{Arguments, Carried, Course, Passage, Source, Way, bare, leaves};
use keyplan_plan::model::{Sequence, Shape};

use super::mark::{MigrationMark, Phase};
use super::running::{Aside, Running, Step, behind};
use super::sort::Fate;
use super::structured::has_structures;
use super::{Migration, MigrationError};
use crate::engine::{Batch, Durability, Engine, OwnedKeyRange, Snapshot as _};
use crate::structure::with_key;

/// A step ends when its batch holds this many bytes.
const STEP_BYTES: u64 = 8 * 1024 * 1024;

/// Why the new rows of a route do not tell the old ones, if they do not.
pub(super) fn untold(migration: &Migration<'_>, index: usize) -> Option<String> {
    let routes = &migration.mapping.routes;
    let route = routes.get(index)?;
    let Course::Moved(passage) = &route.course else { return None };
    let path = &route.from.path;
    if migration.maps.get(index).is_some_and(Option::is_some) {
        return Some(format!("rows of `{path}` are made by a function of the program"));
    }
    let (Some((_, old)), Some((_, new))) = (route.from.find(migration.old), passage.to.find(migration.new))
    else {
        return Some(format!("`{path}` is not there"));
    };
    if passage.key.reversed(&old.key, &new.key).is_none() {
        return Some(format!("the new keys of `{path}` do not tell the old ones"));
    }
    if reversed(old.value.as_ref(), new.value.as_ref(), &passage.value).is_none() {
        return Some(format!("the new values of `{path}` do not tell the old ones"));
    }
    let shared = routes.iter().enumerate().find(|(other, route)| {
        *other != index
            && match &route.course {
                Course::Kept { to } => to.path == passage.to.path,
                Course::Moved(beside) => beside.to.path == passage.to.path && !told_apart(passage, beside),
                _ => false,
            }
    });
    let (_, other) = shared?;
    Some(format!("rows of `{path}` and of `{}` cannot be told apart", other.from.path))
}

fn told_apart(a: &Passage, b: &Passage) -> bool {
    a.key
        .constants()
        .any(|(path, value)| b.key.constants().any(|(other, constant)| path == other && value != constant))
}

fn reversed(old: Option<&Sequence>, new: Option<&Sequence>, carried: &Carried) -> Option<Carried> {
    match (carried, old, new) {
        (Carried::Verbatim, ..) => Some(Carried::Verbatim),
        (Carried::Converted(arguments), Some(old), Some(new)) if has_one_spelling(old, new, arguments) => {
            arguments.reversed(old, new).map(Carried::Converted)
        }
        _ => None,
    }
}

/// Whether each new value is that of one old spelling: numbers in text have several, and a time that became a float was rounded.
fn has_one_spelling(old: &Sequence, new: &Sequence, arguments: &Arguments) -> bool {
    let (before, after) = leaves(old, new);
    arguments.sources.iter().all(|(path, source)| {
        let Source::Key(from) = source else { return true };
        let was = before.iter().find(|leaf| leaf.path == *from).map(|leaf| leaf.shape);
        let is = after.iter().find(|leaf| leaf.path == *path).map(|leaf| leaf.shape);
        match (was, is) {
            (Some(was), Some(is)) if was == is => true,
            (Some(was), Some(is)) => {
                !matches!((bare(was), bare(is)), (Shape::Text(_), Shape::Float(_))) && !has_score(was)
            }
            _ => false,
        }
    })
}

fn has_score(shape: &Shape) -> bool {
    matches!(shape, Shape::Score { .. }) || shape.children().any(has_score)
}

/// A row as it was: the old space, key and value.
struct Former {
    space: usize,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Migration<'_> {
    /// The row that a new row was made of; `None` if none was, or if the route is not one of those asked for.
    fn former(
        &self,
        read: &Decoded<'_>,
        (row, value): (&[u8], &[u8]),
        staged: bool,
        untold: &[bool],
    ) -> Option<Former> {
        for (route, untold) in self.mapping.routes.iter().zip(untold) {
            let Course::Moved(passage) = &route.course else { continue };
            // Those come back from where they were kept.
            if *untold {
                continue;
            }
            if passage.to.path != read.family.path || passage.staged != staged {
                continue;
            }
            let fits =
                passage.key.constants().all(|(path, constant)| at(&read.values, path) == Some(constant));
            if !fits {
                continue;
            }
            let (_, old) = route.from.find(self.old)?;
            let key = passage.key.reversed(&old.key, &read.family.key)?;
            let carried = reversed(old.value.as_ref(), read.family.value.as_ref(), &passage.value)?;
            let back = Passage { key, value: carried, ..(**passage).clone() };
            let way = Way::new(read.family, old, &back);
            let mut key = Vec::new();
            way.key(&read.values, value, &mut key).ok()?;
            let space = route.from.space;
            if self.old.spaces.get(space).is_some_and(has_structures) {
                return Some(Former { space, key: with_key(row, &key)?, value: value.to_vec() });
            }
            let value = way.value(value).ok()?.into_owned();
            return Some(Former { space, key, value });
        }
        None
    }
}

fn at<'v>(values: &'v [Value], path: &[usize]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    match (rest.is_empty(), values.get(*first)?) {
        (true, value) => Some(value),
        (false, Value::Record(inner)) => at(inner, rest),
        (false, _) => None,
    }
}

impl<E: Engine> Running<'_, '_, E> {
    /// A step back over the rows of the new plan's spaces: those that went by a place of their own, or the others.
    pub(super) fn back(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let phase = mark.phase;
        if self.take_former(&mark, rows)? {
            return Ok(Step::More { phase, done: mark.done });
        }
        let number = usize::try_from(mark.space).map_err(|_| MigrationError::Record)?;
        // Structures that are carried thing by thing were taken away before.
        let spaces = self.migration.new.spaces.iter().enumerate();
        let spaces = spaces.filter(|(_, space)| !(self.by_contents && has_structures(space)));
        let mut spaces =
            spaces.filter_map(|(index, space)| Some((index, self.engine.space(space.engine_name())?)));
        let Some((index, id)) = spaces.nth(number) else {
            let phase = if phase == Phase::Unsettle { Phase::Unmove } else { Phase::Restore };
            let mark = MigrationMark { phase, space: 0, done: 0, last: None, ..mark };
            return self.turn_to(Batch::new(), mark);
        };
        let aside = self.aside_space()?;
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        let (mut read, mut last) = (0, None);
        for row in snapshot.range(id, behind(mark.last.as_deref()).borrow())? {
            let (key, value) = row?;
            let found = self.migration.read_new(index, &key, &value);
            let staged = phase == Phase::Unsettle;
            let former =
                found.and_then(|found| self.migration.former(&found, (&key, &value), staged, &self.untold));
            if let Some(former) = former {
                batch.delete(id, &key[..]);
                if phase == Phase::Unsettle {
                    let (place, row) =
                        self.aside_row(Aside::Staged, former.space, &former.key, "", &former.value);
                    batch.put(aside, place, row);
                } else {
                    let name = self
                        .migration
                        .old
                        .spaces
                        .get(former.space)
                        .map(keyplan_plan::model::Space::engine_name);
                    let to = name.and_then(|name| self.engine.space(name)).ok_or(MigrationError::Record)?;
                    batch.put(to, former.key, former.value);
                }
            }
            read += 1;
            last = Some(key);
            if read >= rows || batch.bytes() >= STEP_BYTES {
                break;
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

    /// Takes the new rows of those away that were kept: these go back to their place with the others. Whether there were any.
    ///
    /// It comes first, so that nothing is deleted that came back before.
    fn take_former(&mut self, mark: &MigrationMark, rows: usize) -> Result<bool, MigrationError> {
        let aside = self.aside_space()?;
        let range = OwnedKeyRange::prefix(&self.aside_prefix(Aside::Former));
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        for row in snapshot.range(aside, range.borrow())?.take(rows) {
            let (place, stored) = row?;
            let (index, key, value) = self.read_aside(&place, &stored).ok_or(MigrationError::Record)?;
            let Fate::Moves { route, key: new, .. } = self.migration.sort(index, key, value) else {
                return Err(MigrationError::Record);
            };
            let name = self.migration.target(route).ok_or(MigrationError::Record)?;
            let to = self.engine.space(name).ok_or(MigrationError::Record)?;
            batch.delete(to, new);
            let (staged, row) = self.aside_row(Aside::Staged, index, key, "", value);
            batch.put(aside, staged, row);
            batch.delete(aside, &place[..]);
            if batch.bytes() >= STEP_BYTES {
                break;
            }
        }
        if batch.is_empty() {
            return Ok(false);
        }
        drop(snapshot);
        self.commit(batch, mark.clone(), Durability::Buffer)?;
        Ok(true)
    }

    /// A step that puts rows back that are aside; the last one unmarks the database.
    pub(super) fn restore(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let aside = self.aside_space()?;
        let snapshot = self.engine.snapshot()?;
        let mut batch = Batch::<E>::new();
        let mut read = 0;
        for kind in [Aside::Staged, Aside::Parked, Aside::Dropped] {
            let prefix = self.aside_prefix(kind);
            let mut range = OwnedKeyRange::prefix(&prefix);
            if let Some(last) = mark.last.as_ref().filter(|last| last.starts_with(&prefix)) {
                range = range.after(last);
            }
            for row in snapshot.range(aside, range.borrow())? {
                if read >= rows || batch.bytes() >= STEP_BYTES {
                    break;
                }
                let (place, stored) = row?;
                let (index, key, value) = self.read_aside(&place, &stored).ok_or(MigrationError::Record)?;
                let name = self.migration.old.spaces.get(index).map(keyplan_plan::model::Space::engine_name);
                let to = name.and_then(|name| self.engine.space(name)).ok_or(MigrationError::Record)?;
                // What was set aside of a key that was taken out goes back with the key.
                if !self.is_kept(&snapshot, index, key)? {
                    batch.put_row(to, key, value);
                }
                batch.delete(aside, &place[..]);
                mark.last = Some(place.to_vec());
                read += 1;
            }
        }
        if read == 0 {
            read = self.put_back(rows, &mut batch)?;
        }
        if read == 0 {
            self.unmark(batch)?;
            return Ok(Step::Undone);
        }
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        let done = mark.done;
        drop(snapshot);
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase: Phase::Restore, done })
    }
}
