use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use keyplan_codec::{DecodeError, Sink as _};

use super::head::{Head, QueueHead, ZsetHead};
use super::layout::{self, Family, Item, State, place, take_score};
use super::span::Span;
use super::transaction::{unwritable, wrong_kind};
use super::zset::same_kind;
use crate::engine::{Engine, Snapshot as _, SpaceId};
use crate::page::Direction;
use crate::snapshot::{BytesOf, RangeOf};
use crate::structure::interface::total;
use crate::structure::{
    Kind, Pair, QueueItem, QueueSize, QueueState, RangeQuery, Rows, ScoreKind, ScoreRange, Scored, SetScore,
    StructureError, StructureRead,
};

/// The structures of a space at one moment. Clones see the same.
pub struct View<E: Engine> {
    snapshot: E::Snapshot,
    space: SpaceId,
    name: Arc<str>,
}

impl<E: Engine> View<E> {
    pub(crate) fn new(snapshot: E::Snapshot, space: SpaceId, name: Arc<str>) -> Self {
        Self { snapshot, space, name }
    }

    /// Lends the value of a row.
    fn row<T>(&self, row: &[u8], with: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, StructureError> {
        Ok(self.snapshot.get_with(self.space, row, with)?)
    }

    fn head(&self, key: &[u8]) -> Result<Option<Head>, StructureError> {
        let row = Family::Head.plain(key);
        let head = self.row(&row, Head::decode)?.transpose();
        head.map_err(|source| self.damaged(&row, source))
    }

    /// The head of a key that was used as a kind; `None` if it holds nothing.
    fn head_of(&self, key: &[u8], kind: Kind) -> Result<Option<Head>, StructureError> {
        match self.head(key)?.filter(|head| head.count() > 0) {
            Some(head) if head.kind() == kind => Ok(Some(head)),
            Some(head) => Err(wrong_kind(key, kind, head.kind())),
            None if self.snapshot.contains(self.space, &Family::Value.plain(key))? => {
                Err(wrong_kind(key, kind, Kind::Value))
            }
            None => Ok(None),
        }
    }

    fn zset_head(&self, key: &[u8], scores: &ScoreRange) -> Result<Option<ZsetHead>, StructureError> {
        let Some(Head::Zset(head)) = self.head_of(key, Kind::Zset)? else { return Ok(None) };
        scores.kinds().try_for_each(|given| same_kind(key, head.scores, given))?;
        Ok(Some(head))
    }

    fn queue_head(&self, key: &[u8]) -> Result<Option<QueueHead>, StructureError> {
        match self.head_of(key, Kind::Queue)? {
            Some(Head::Queue(head)) => Ok(Some(head)),
            _ => Ok(None),
        }
    }

    /// Lends the value of a row of a structure. If there is none, the key may be of another kind.
    fn value<T>(
        &self,
        family: Family,
        kind: Kind,
        key: &[u8],
        member: &[u8],
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StructureError> {
        let found = self.row(&family.row(key, member).map_err(unwritable)?, with)?;
        if found.is_none() {
            self.head_of(key, kind)?;
        }
        Ok(found)
    }

    /// The values of several rows of structures. Of a key that lacks some of them, the kind is looked at once.
    fn each<T>(
        &self,
        family: Family,
        kind: Kind,
        places: &[(&[u8], &[u8])],
        read: impl Fn(&[u8], &[u8], &[u8]) -> Result<T, StructureError>,
    ) -> Result<Vec<Option<T>>, StructureError> {
        let mut looked_at = HashSet::new();
        let mut found = Vec::with_capacity(places.len());
        for (key, member) in places {
            let row = family.row(key, member).map_err(unwritable)?;
            let value = self.row(&row, |value| read(key, member, value))?.transpose()?;
            if value.is_none() && looked_at.insert(*key) {
                self.head_of(key, kind)?;
            }
            found.push(value);
        }
        Ok(found)
    }

    fn below(&self, prefix: &[u8]) -> Result<RangeOf<E>, StructureError> {
        Ok(self.snapshot.prefix(self.space, prefix)?)
    }

    pub(super) fn read_keys(
        &self,
        kind: Kind,
        prefix: &[u8],
    ) -> Result<Rows<'static, Vec<u8>>, StructureError> {
        if kind == Kind::Value {
            let rows = self.below(&Family::Value.plain(prefix))?;
            return Ok(Box::new(rows.map(|row| Ok(behind(&row?.0, 1)))));
        }
        let rows = self.below(&Family::Head.plain(prefix))?;
        let name = self.name.clone();
        Ok(Box::new(rows.filter_map(move |row| {
            let read = || {
                let (row, value) = row?;
                let head = Head::decode(&value).map_err(|source| damaged(&name, &row, source))?;
                Ok((head.kind() == kind && head.count() > 0).then(|| behind(&row, 1)))
            };
            read().transpose()
        })))
    }

    pub(super) fn read_values(&self, prefix: &[u8]) -> Result<Rows<'static, Pair>, StructureError> {
        let rows = self.below(&Family::Value.plain(prefix))?;
        Ok(Box::new(rows.map(|row| {
            let (row, value) = row?;
            Ok((behind(&row, 1), value.to_vec()))
        })))
    }

    pub(super) fn read_members(&self, key: &[u8]) -> Result<Rows<'static, Vec<u8>>, StructureError> {
        self.head_of(key, Kind::Set)?;
        let prefix = Family::SetMember.prefix(key).map_err(unwritable)?;
        let rows = self.below(&prefix)?;
        Ok(Box::new(rows.map(move |row| Ok(behind(&row?.0, prefix.len())))))
    }

    pub(super) fn read_fields(&self, key: &[u8]) -> Result<Rows<'static, Pair>, StructureError> {
        self.head_of(key, Kind::Hash)?;
        let prefix = Family::HashField.prefix(key).map_err(unwritable)?;
        let rows = self.below(&prefix)?;
        Ok(Box::new(rows.map(move |row| {
            let (row, value) = row?;
            Ok((behind(&row, prefix.len()), value.to_vec()))
        })))
    }

    pub(super) fn read_scored(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'static, Scored>, StructureError> {
        let scores = scores.checked()?;
        let Some(head) = self.zset_head(key, &scores)? else { return Ok(Box::new(std::iter::empty())) };
        let mut span = Span::of(&scores).map_err(unwritable)?;
        if let Some(after) = after {
            let score = after.score.checked()?;
            same_kind(key, head.scores, score.kind())?;
            let after = Scored { member: after.member.clone(), score };
            span = span.after(&after, direction).map_err(unwritable)?;
        }
        match span.without(&head.gaps) {
            Some(span) => self.places(key, &span, direction),
            None => Ok(Box::new(std::iter::empty())),
        }
    }

    /// The members at the places of a span.
    fn places(
        &self,
        key: &[u8],
        span: &Span,
        direction: Direction,
    ) -> Result<Rows<'static, Scored>, StructureError> {
        if span.is_empty() {
            return Ok(Box::new(std::iter::empty()));
        }
        let skipped = Family::ScoreMember.prefix(key).map_err(unwritable)?.len();
        let rows = span.rows(key).map_err(unwritable)?;
        let rows = self.snapshot.range(self.space, rows.borrow())?;
        let name = self.name.clone();
        let read = move |row: Result<(BytesOf<E>, _), crate::engine::Error>| {
            let (row, _) = row?;
            let (score, member) = take_score(row.get(skipped..).unwrap_or_default())
                .map_err(|source| damaged(&name, &row, source.behind(skipped)))?;
            Ok(Scored { member: member.to_vec(), score })
        };
        Ok(match direction {
            Direction::Ascending => Box::new(rows.map(read)),
            Direction::Descending => Box::new(rows.rev().map(read)),
        })
    }

    pub(super) fn read_dead(&self, key: &[u8]) -> Result<Rows<'static, QueueItem>, StructureError> {
        self.queue_head(key)?;
        let prefix = Family::Dead.prefix(key).map_err(unwritable)?;
        let rows = self.below(&prefix)?;
        let (view, key) = (self.clone(), key.to_vec());
        Ok(Box::new(rows.filter_map(move |row| {
            let member = match row {
                Ok((row, _)) => behind(&row, prefix.len()),
                Err(error) => return Some(Err(error.into())),
            };
            view.item(&key, &member).transpose()
        })))
    }

    pub(super) fn read_items(&self, key: &[u8]) -> Result<Rows<'static, QueueItem>, StructureError> {
        self.queue_head(key)?;
        let prefix = Family::Item.prefix(key).map_err(unwritable)?;
        let rows = self.below(&prefix)?;
        let name = self.name.clone();
        Ok(Box::new(rows.map(move |row| {
            let (row, value) = row?;
            let item = Item::decode(&value).map_err(|source| damaged(&name, &row, source))?;
            Ok(shown(behind(&row, prefix.len()), &item))
        })))
    }

    fn item(&self, key: &[u8], member: &[u8]) -> Result<Option<QueueItem>, StructureError> {
        let row = Family::Item.row(key, member).map_err(unwritable)?;
        let item = self.row(&row, Item::decode)?.transpose();
        let item = item.map_err(|source| self.damaged(&row, source))?;
        Ok(item.map(|item| shown(member.to_vec(), &item)))
    }

    fn score(&self, key: &[u8], member: &[u8], value: &[u8]) -> Result<SetScore, StructureError> {
        layout::score(value).map_err(|source| match Family::MemberScore.row(key, member) {
            Ok(row) => self.damaged(&row, source),
            Err(source) => unwritable(source),
        })
    }

    #[cold]
    fn damaged(&self, row: &[u8], source: DecodeError) -> StructureError {
        damaged(&self.name, row, source)
    }
}

/// What is known of an item.
pub(super) fn shown(member: Vec<u8>, item: &Item) -> QueueItem {
    let state = match item.state {
        State::Waiting => QueueState::Waiting,
        State::Claimed { until, .. } => QueueState::Claimed { until },
        State::Dead => QueueState::Dead,
    };
    QueueItem { member, score: item.score, attempts: item.attempts, state }
}

/// What is after the first bytes of a row.
fn behind(row: &[u8], skipped: usize) -> Vec<u8> {
    row.get(skipped..).unwrap_or_default().to_vec()
}

#[cold]
pub(super) fn damaged(space: &str, row: &[u8], source: DecodeError) -> StructureError {
    StructureError::Row { space: space.to_owned(), key: row.to_vec(), source }
}

impl<E: Engine> Clone for View<E> {
    fn clone(&self) -> Self {
        Self { snapshot: self.snapshot.clone(), space: self.space, name: self.name.clone() }
    }
}

impl<E: Engine> fmt::Debug for View<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("space", &self.name).finish_non_exhaustive()
    }
}

impl<E: Engine> StructureRead for View<E> {
    fn space_name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn kind(&self, key: &[u8]) -> Result<Option<Kind>, StructureError> {
        if let Some(head) = self.head(key)?.filter(|head| head.count() > 0) {
            return Ok(Some(head.kind()));
        }
        Ok(self.snapshot.contains(self.space, &Family::Value.plain(key))?.then_some(Kind::Value))
    }

    fn keys(&self, kind: Kind, prefix: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.read_keys(kind, prefix)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        if let Some(value) = self.row(&Family::Value.plain(key), <[u8]>::to_vec)? {
            return Ok(Some(value));
        }
        match self.head(key)?.filter(|head| head.count() > 0) {
            Some(head) => Err(wrong_kind(key, Kind::Value, head.kind())),
            None => Ok(None),
        }
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    fn scan(&self, prefix: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.read_values(prefix)
    }

    fn set_contains(&self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        let row = Family::SetMember.row(key, member).map_err(unwritable)?;
        let found = self.snapshot.contains(self.space, &row)?;
        if !found {
            self.head_of(key, Kind::Set)?;
        }
        Ok(found)
    }

    fn set_contains_many(&self, key: &[u8], members: &[&[u8]]) -> Result<Vec<bool>, StructureError> {
        self.head_of(key, Kind::Set)?;
        let mut row = Family::SetMember.prefix(key).map_err(unwritable)?;
        let prefix = row.len();
        members
            .iter()
            .map(|member| {
                row.truncate(prefix);
                row.push(member);
                Ok(self.snapshot.contains(self.space, &row)?)
            })
            .collect()
    }

    fn set_members(&self, key: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        self.read_members(key)
    }

    fn set_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        Ok(self.head_of(key, Kind::Set)?.map_or(0, |head| head.count()))
    }

    fn hash_get(&self, key: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        self.value(Family::HashField, Kind::Hash, key, field, <[u8]>::to_vec)
    }

    fn hash_get_many(&self, key: &[u8], fields: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        let places: Vec<_> = fields.iter().map(|field| (key, *field)).collect();
        self.hash_get_each(&places)
    }

    fn hash_get_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        self.each(Family::HashField, Kind::Hash, places, |_, _, value| Ok(value.to_vec()))
    }

    fn hash_all(&self, key: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        self.read_fields(key)
    }

    fn hash_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        Ok(self.head_of(key, Kind::Hash)?.map_or(0, |head| head.count()))
    }

    fn zset_score(&self, key: &[u8], member: &[u8]) -> Result<Option<SetScore>, StructureError> {
        self.value(Family::MemberScore, Kind::Zset, key, member, |value| self.score(key, member, value))?
            .transpose()
    }

    fn zset_score_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<SetScore>>, StructureError> {
        self.each(Family::MemberScore, Kind::Zset, places, |key, member, value| {
            self.score(key, member, value)
        })
    }

    fn zset_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        Ok(self.head_of(key, Kind::Zset)?.map_or(0, |head| head.count()))
    }

    fn zset_sum(&self, key: &[u8], scores: &ScoreRange) -> Result<f64, StructureError> {
        let scores = scores.checked()?;
        if let Some(head) = self.zset_head(key, &scores)? {
            same_kind(key, head.scores, ScoreKind::Number)?;
        }
        total(self.read_scored(key, &scores, Direction::Ascending, None)?)
    }

    fn zset_rank(
        &self,
        key: &[u8],
        member: &[u8],
        direction: Direction,
    ) -> Result<Option<u64>, StructureError> {
        let Some(score) = self.zset_score(key, member)? else { return Ok(None) };
        let Some(head) = self.zset_head(key, &ScoreRange::ALL)? else { return Ok(None) };
        let mut at = place(score, member).map_err(unwritable)?.to_vec();
        let before = match direction {
            Direction::Ascending => Span { start: Vec::new(), end: Some(at) },
            Direction::Descending => {
                at.push(0);
                Span { start: at, end: None }
            }
        };
        let Some(before) = before.without(&head.gaps).filter(|span| !span.is_empty()) else {
            return Ok(Some(0));
        };
        let rows = before.rows(key).map_err(unwritable)?;
        let rows = self.snapshot.range(self.space, rows.borrow())?;
        let rank = rows.map(|row| row.map(|_| 1)).sum::<Result<u64, _>>()?;
        Ok(Some(rank))
    }

    fn zset_range(&self, key: &[u8], query: &RangeQuery) -> Result<Vec<Scored>, StructureError> {
        let rows = self.read_scored(key, &query.scores, query.direction, None)?;
        let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
        let limit = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut passed = 0_usize;
        let mut members = Vec::new();
        for scored in rows {
            let scored = scored?;
            if passed < offset {
                passed += 1;
                continue;
            }
            members.push(scored);
            if members.len() >= limit {
                break;
            }
        }
        Ok(members)
    }

    fn zset_rows(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'_, Scored>, StructureError> {
        self.read_scored(key, scores, direction, after)
    }

    fn queue_size(&self, key: &[u8]) -> Result<QueueSize, StructureError> {
        Ok(self.queue_head(key)?.map(|head| head.size).unwrap_or_default())
    }

    fn queue_peek(&self, key: &[u8], count: usize) -> Result<Vec<Scored>, StructureError> {
        let Some(head) = self.queue_head(key)? else { return Ok(Vec::new()) };
        let Some(span) = Span::ALL.without(&head.gaps) else { return Ok(Vec::new()) };
        self.places(key, &span, Direction::Ascending)?.take(count).collect()
    }

    fn queue_item(&self, key: &[u8], member: &[u8]) -> Result<Option<QueueItem>, StructureError> {
        self.queue_head(key)?;
        self.item(key, member)
    }

    fn queue_dead(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.read_dead(key)
    }

    fn queue_items(&self, key: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        self.read_items(key)
    }
}
