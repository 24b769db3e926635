//! What keys hold, carried over in place.
//!
//! A member that has moved and one that has not cannot lie under one key: they would share one count. So keys with
//! everything that they hold are first taken out, as they are, into a space of the migration's own, which has the old rows
//! to the end; new keys are then filled from there. The way back takes the new keys out, and puts the old rows back.

use super::super::mark::{MigrationMark, Phase};
use super::super::running::{Aside, Running, Step, behind};
use super::super::structured::{has_structures, verbatim};
use super::super::{ASIDE_SPACE, Migration, MigrationError, ProblemKind};
use super::fate::KeyFate;
use super::thing::Thing;
use crate::engine::{Batch, Durability, Engine, KeyRange, OwnedKeyRange, Snapshot as _, SpaceId};
use crate::structure::{
    Filling, Fresh, Kind, StructureRead as _, StructureRow, View, head_row, read_item, rows_of, take_score,
    thing_row, with_key,
};
use keyplan_plan::model::{MisfitRule, Space};

/// A step ends when its batch holds this many bytes, however few its rows are.
const STEP_BYTES: u64 = 8 * 1024 * 1024;

/// Every kind whose rows have a head.
const HEADED: [Kind; 4] = [Kind::Set, Kind::Hash, Kind::Zset, Kind::Queue];

/// The space that the rows of an old space of structures are kept in while they are on the way.
pub(crate) fn kept_name(index: usize) -> String {
    format!("{ASIDE_SPACE}-{index}")
}

/// Rows of values and of heads: one for each key that there is.
fn key_rows(last: Option<&[u8]>) -> OwnedKeyRange {
    let start = head_row(&[]);
    let range = OwnedKeyRange {
        start: std::ops::Bound::Included(Vec::new()),
        end: OwnedKeyRange::prefix(&start).end,
    };
    match last {
        Some(last) => range.after(last),
        None => range,
    }
}

/// A key that a row belongs to, and what becomes of it.
struct Known {
    kind: Kind,
    key: Vec<u8>,
    fate: KeyFate,
}

/// Where the rows of one step come from.
struct From<'a, E: Engine> {
    index: usize,
    space: SpaceId,
    snapshot: &'a E::Snapshot,
    view: &'a View<E>,
}

impl Migration<'_> {
    /// Why a row of a space of structures belongs to nothing, if so: it is of no layout, or its key holds no such thing.
    pub(crate) fn stray<E: Engine>(
        snapshot: &E::Snapshot,
        space: SpaceId,
        (row, value): (&[u8], &[u8]),
    ) -> Result<Option<String>, MigrationError> {
        let read = match StructureRow::decode(row, value) {
            Ok(read) => read,
            Err(error) => return Ok(Some(format!("no row of a structure: {error}"))),
        };
        if matches!(read, StructureRow::Value { .. } | StructureRow::Head { .. }) {
            return Ok(None);
        }
        let head = snapshot.get(space, &head_row(read.key()))?;
        let kind = head.and_then(|head| kind_of(&head_row(read.key()), &head));
        let fits = kind.is_some_and(|kind| {
            let rows = rows_of(kind, read.key());
            rows.is_some_and(|rows| rows.iter().any(|prefix| row.starts_with(prefix)))
        });
        Ok((!fits).then(|| "the key that it is of holds no such thing".to_owned()))
    }
}

fn kind_of(row: &[u8], value: &[u8]) -> Option<Kind> {
    match StructureRow::decode(row, value).ok()? {
        StructureRow::Value { .. } => Some(Kind::Value),
        StructureRow::Head { kind, .. } => Some(kind),
        _ => None,
    }
}

impl<E: Engine> Running<'_, '_, E> {
    /// The old space, and the one that its rows are kept in, with this number among those of structures.
    fn kept_at(&self, number: u32) -> Result<Option<(usize, SpaceId, SpaceId)>, MigrationError> {
        let number = usize::try_from(number).map_err(|_| MigrationError::Record)?;
        Ok(self.kept_spaces().nth(number))
    }

    pub(crate) fn kept_spaces(&self) -> impl Iterator<Item = (usize, SpaceId, SpaceId)> {
        let spaces = self.migration.old.spaces.iter().enumerate().filter(|_| self.by_contents);
        spaces.filter(|(_, space)| has_structures(space)).filter_map(|(index, space)| {
            let kept = self.engine.space(&kept_name(index))?;
            Some((index, self.engine.space(space.engine_name())?, kept))
        })
    }

    fn old_name(&self, index: usize) -> &str {
        self.migration.old.spaces.get(index).map_or("", Space::engine_name)
    }

    fn view(&self, snapshot: &E::Snapshot, space: SpaceId, index: usize) -> View<E> {
        View::new(snapshot.clone(), space, self.old_name(index).into())
    }

    /// A step that takes keys out with everything that they hold, unless they stay.
    pub(crate) fn take_out(
        &mut self,
        mut mark: MigrationMark,
        index: usize,
        rows: usize,
    ) -> Result<Step, MigrationError> {
        let mut spaces = self.kept_spaces();
        let (_, id, kept) = spaces.find(|(other, ..)| *other == index).ok_or(MigrationError::Record)?;
        drop(spaces);
        let snapshot = self.engine.snapshot()?;
        let view = self.view(&snapshot, id, index);
        let from = From { index, space: id, snapshot: &snapshot, view: &view };
        let mut batch = Batch::<E>::new();
        let mut read = 0;
        let mut whole = true;
        // The key that the last step came to may have had more rows than the step.
        if let Some(last) = &mark.last
            && let Some(value) = snapshot.get(kept, last)?
        {
            let kind = kind_of(last, &value).ok_or(MigrationError::Record)?;
            whole = take_rows(&from, kept, (kind, key_of(last)), rows, &mut read, &mut batch)?;
        }
        let mut last = None;
        if whole {
            for row in snapshot.range(id, key_rows(mark.last.as_deref()).borrow())? {
                let (place, value) = row?;
                let kind = kind_of(&place, &value).ok_or(MigrationError::Record)?;
                let fate = self.migration.fate_of_key(index, kind, key_of(&place), &view)?;
                read += 1;
                last = Some(place.to_vec());
                if !matches!(fate, KeyFate::Stays { .. }) {
                    self.refuse_occupied(&from, &fate)?;
                    batch.put_row(kept, &place, &value);
                    batch.delete(id, &place[..]);
                    whole = take_rows(&from, kept, (kind, key_of(&place)), rows, &mut read, &mut batch)?;
                }
                if !whole || read >= rows || batch.bytes() >= STEP_BYTES {
                    break;
                }
            }
            mark.last = last;
            if mark.last.is_none() {
                mark.space += 1;
            }
        }
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        let (phase, done) = (mark.phase, mark.done);
        drop((view, snapshot));
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase, done })
    }

    /// Refuses a new key where another stays that holds something.
    fn refuse_occupied(&self, from: &From<'_, E>, fate: &KeyFate) -> Result<(), MigrationError> {
        let KeyFate::Moves { route, key } = fate else { return Ok(()) };
        let to = self.target(*route)?;
        let Some((index, id, _)) = self.kept_spaces().find(|(_, id, _)| *id == to) else { return Ok(()) };
        let view = self.view(from.snapshot, id, index);
        let Some(kind) = view.kind(key)? else { return Ok(()) };
        if matches!(self.migration.fate_of_key(index, kind, key, &view)?, KeyFate::Stays { .. }) {
            let family = self.migration.mapping.routes.get(*route).map(|route| route.from.path.clone());
            return Err(MigrationError::Merged { family: family.unwrap_or_default(), key: key.clone() });
        }
        Ok(())
    }

    /// A step that fills new keys with what was taken out.
    pub(crate) fn build(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let Some((index, _, kept)) = self.kept_at(mark.space)? else {
            let mark = MigrationMark { phase: Phase::Check, space: 0, done: 0, last: None, ..mark };
            return self.turn_to(Batch::new(), mark);
        };
        let snapshot = self.engine.snapshot()?;
        let view = self.view(&snapshot, kept, index);
        let from = From { index, space: kept, snapshot: &snapshot, view: &view };
        let (mut batch, mut fresh) = (Batch::<E>::new(), Fresh::default());
        let (mut read, mut last, mut known) = (0, None, None);
        for row in snapshot.range(kept, behind(mark.last.as_deref()).borrow())? {
            let (place, value) = row?;
            self.build_row(&from, (&place, &value), &mut known, &mut fresh, &mut batch)?;
            read += 1;
            last = Some(place);
            if read >= rows || batch.bytes() >= STEP_BYTES {
                break;
            }
        }
        fresh.finish(&mut batch)?;
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        mark.last = last.map(|last| last.to_vec());
        if mark.last.is_none() {
            mark.space += 1;
        }
        let done = mark.done;
        drop((view, snapshot));
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase: Phase::Build, done })
    }

    fn build_row(
        &self,
        from: &From<'_, E>,
        (place, value): (&[u8], &[u8]),
        known: &mut Option<Known>,
        fresh: &mut Fresh,
        batch: &mut Batch<E>,
    ) -> Result<(), MigrationError> {
        let row = StructureRow::decode(place, value).map_err(|_| MigrationError::Record)?;
        let known = self.known(from, &row, known)?;
        let thing = thing_of(&row, value)?;
        let (route, new) = match &known.fate {
            KeyFate::Moves { route, key } => (*route, key),
            KeyFate::Dropped { .. } => return Ok(()),
            KeyFate::Aside { why, .. } => {
                if thing.is_some() {
                    self.park(from.index, place, value, why, batch)?;
                }
                return Ok(());
            }
            KeyFate::Stays { .. } => return Err(MigrationError::Record),
        };
        let passage = self.migration.passage(route).ok_or(MigrationError::Record)?;
        let space = self.target(route)?;
        if verbatim(passage) {
            let row = with_key(place, new).ok_or(MigrationError::Record)?;
            batch.put_row(space, &row, value);
            return Ok(());
        }
        let mut to =
            Filling { batch, snapshot: from.snapshot, space, name: self.old_name(from.index), key: new };
        let Some(thing) = thing else {
            if matches!(row, StructureRow::Head { kind: Kind::Queue, .. }) {
                fresh.receipts(&mut to, value)?;
            }
            return Ok(());
        };
        match self.migration.thing(route, &thing, true) {
            Ok(Thing::Value(value)) => Fresh::value(&mut to, &value),
            Ok(Thing::Member(member)) => fresh.member(&mut to, &member)?,
            Ok(Thing::Field(field, value)) => fresh.field(&mut to, &field, &value)?,
            Ok(Thing::Scored(member, score)) => fresh.scored(&mut to, &member, score)?,
            Ok(Thing::Item(item)) => {
                let old = matches!(row, StructureRow::Item { .. }).then_some(value);
                fresh.item(&mut to, &item, old)?;
            }
            Err((ProblemKind::NoNewKey, _)) if passage.rule == MisfitRule::Drop => {}
            Err((_, why)) => self.park(from.index, place, value, &why, batch)?,
        }
        Ok(())
    }

    /// The key that a row belongs to, and what becomes of it: rows of one key come together.
    fn known<'k>(
        &self,
        from: &From<'_, E>,
        row: &StructureRow<'_>,
        known: &'k mut Option<Known>,
    ) -> Result<&'k Known, MigrationError> {
        let key = row.key();
        let kind = match row {
            StructureRow::Value { .. } => Kind::Value,
            StructureRow::Head { kind, .. } => *kind,
            _ => match known {
                Some(known) if known.key == key && known.kind != Kind::Value => known.kind,
                _ => {
                    let place = head_row(key);
                    let head = from.snapshot.get(from.space, &place)?.ok_or(MigrationError::Record)?;
                    kind_of(&place, &head).ok_or(MigrationError::Record)?
                }
            },
        };
        if !known.as_ref().is_some_and(|known| known.key == key && known.kind == kind) {
            let fate = self.migration.fate_of_key(from.index, kind, key, from.view)?;
            *known = Some(Known { kind, key: key.to_vec(), fate });
        }
        known.as_ref().ok_or(MigrationError::Record)
    }

    fn park(
        &self,
        index: usize,
        place: &[u8],
        value: &[u8],
        why: &str,
        batch: &mut Batch<E>,
    ) -> Result<(), MigrationError> {
        let aside = self.aside_space()?;
        let (place, row) = self.aside_row(Aside::Parked, index, place, why, value);
        batch.put(aside, place, row);
        Ok(())
    }

    /// A step back that takes new keys away with everything that they hold: the old rows are still kept.
    pub(crate) fn unbuild(&mut self, mut mark: MigrationMark, rows: usize) -> Result<Step, MigrationError> {
        let Some((index, _, kept)) = self.kept_at(mark.space)? else {
            let mark = MigrationMark { phase: Phase::Unsettle, space: 0, done: 0, last: None, ..mark };
            return self.turn_to(Batch::new(), mark);
        };
        let snapshot = self.engine.snapshot()?;
        let view = self.view(&snapshot, kept, index);
        let mut batch = Batch::<E>::new();
        let (mut read, mut ended) = (0, true);
        for row in snapshot.range(kept, key_rows(mark.last.as_deref()).borrow())? {
            let (place, value) = row?;
            let kind = kind_of(&place, &value).ok_or(MigrationError::Record)?;
            let fate = self.migration.fate_of_key(index, kind, key_of(&place), &view)?;
            ended = false;
            if let KeyFate::Moves { route, key } = fate
                && !take_away(&snapshot, self.target(route)?, &key, rows, &mut read, &mut batch)?
            {
                // Not all of it: the next step begins with this key again.
                break;
            }
            read += 1;
            mark.last = Some(place.to_vec());
            if read >= rows || batch.bytes() >= STEP_BYTES {
                break;
            }
        }
        if ended {
            mark.space += 1;
            mark.last = None;
        }
        mark.done = mark.done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        let done = mark.done;
        drop((view, snapshot));
        self.commit(batch, mark, Durability::Buffer)?;
        Ok(Step::More { phase: Phase::Unbuild, done })
    }

    /// Puts rows back that were taken out, up to `rows` of them; gives how many there were.
    pub(crate) fn put_back(&self, rows: usize, batch: &mut Batch<E>) -> Result<usize, MigrationError> {
        let snapshot = self.engine.snapshot()?;
        let mut read = 0;
        for (_, id, kept) in self.kept_spaces() {
            for row in snapshot.range(kept, KeyRange::ALL)? {
                if read >= rows || batch.bytes() >= STEP_BYTES {
                    return Ok(read);
                }
                let (place, value) = row?;
                batch.put_row(id, &place, &value);
                batch.delete(kept, &place[..]);
                read += 1;
            }
        }
        Ok(read)
    }

    /// Whether the row is among those that were taken out.
    pub(crate) fn is_kept(
        &self,
        snapshot: &E::Snapshot,
        index: usize,
        key: &[u8],
    ) -> Result<bool, MigrationError> {
        match self.kept_spaces().find(|(other, ..)| *other == index) {
            Some((_, _, kept)) => Ok(snapshot.contains(kept, key)?),
            None => Ok(false),
        }
    }
}

/// Takes out what a key holds; whether that was all of it.
fn take_rows<E: Engine>(
    from: &From<'_, E>,
    kept: SpaceId,
    (kind, key): (Kind, &[u8]),
    rows: usize,
    read: &mut usize,
    batch: &mut Batch<E>,
) -> Result<bool, MigrationError> {
    for prefix in rows_of(kind, key).ok_or(MigrationError::Record)? {
        for row in from.snapshot.prefix(from.space, &prefix)? {
            if *read >= rows || batch.bytes() >= STEP_BYTES {
                return Ok(false);
            }
            let (place, value) = row?;
            batch.put_row(kept, &place, &value);
            batch.delete(from.space, &place[..]);
            *read += 1;
        }
    }
    Ok(true)
}

/// Deletes what a key holds; whether that was all of it.
fn take_away<E: Engine>(
    snapshot: &E::Snapshot,
    space: SpaceId,
    key: &[u8],
    rows: usize,
    read: &mut usize,
    batch: &mut Batch<E>,
) -> Result<bool, MigrationError> {
    let mut prefixes: Vec<Vec<u8>> =
        HEADED.into_iter().filter_map(|kind| rows_of(kind, key)).flatten().collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    for prefix in prefixes {
        for row in snapshot.prefix(space, &prefix)? {
            if *read >= rows || batch.bytes() >= STEP_BYTES {
                return Ok(false);
            }
            batch.delete(space, &row?.0[..]);
            *read += 1;
        }
    }
    let value = thing_row(Kind::Value, key, &[]).ok_or(MigrationError::Record)?;
    for place in [head_row(key), value] {
        if snapshot.contains(space, &place)? {
            batch.delete(space, place);
        }
    }
    Ok(true)
}

/// The key in a row of a value or of a head.
fn key_of(row: &[u8]) -> &[u8] {
    row.get(1..).unwrap_or_default()
}

/// What a row holds; `None` for rows that say where it is, or how much there is.
fn thing_of(row: &StructureRow<'_>, value: &[u8]) -> Result<Option<Thing>, MigrationError> {
    Ok(Some(match row {
        StructureRow::Value { .. } => Thing::Value(value.to_vec()),
        StructureRow::SetMember { member, .. } => Thing::Member(member.to_vec()),
        StructureRow::HashField { field, .. } => Thing::Field(field.to_vec(), value.to_vec()),
        StructureRow::MemberScore { member, .. } => {
            let (score, _) = take_score(value).map_err(|_| MigrationError::Record)?;
            Thing::Scored(member.to_vec(), score)
        }
        StructureRow::Item { member, .. } => {
            Thing::Item(read_item(member, value).map_err(|_| MigrationError::Record)?)
        }
        _ => return Ok(None),
    }))
}
