use super::head::{Head, ZsetHead};
use super::layout::{self, Family, place, take_score};
use super::span::Span;
use super::transaction::{Transaction, unwritable};
use crate::engine::Engine;
use crate::structure::{End, Kind, ScoreKind, ScoreRange, Scored, SetScore, StructureError};

/// After this many removals the front of a sorted set is looked for, so that scans need not walk over them.
const REMOVALS: u32 = 256;

impl<E: Engine> Transaction<'_, E> {
    pub(super) fn zset_add(
        &mut self,
        key: &[u8],
        member: &[u8],
        score: SetScore,
    ) -> Result<bool, StructureError> {
        let score = score.checked()?;
        if !self.is_there(key, Kind::Zset)? {
            self.begin(key, Head::Zset(ZsetHead::new(score.kind())))?;
        }
        let head = self.zset(key)?;
        if head.count == 0 {
            head.scores = score.kind();
        }
        same_kind(key, head.scores, score.kind())?;
        let row = Family::MemberScore.row(key, member).map_err(unwritable)?;
        let old = self.score_at(&row)?;
        if old == Some(score) {
            return Ok(false);
        }
        if let Some(old) = old {
            let old = place(old, member).map_err(unwritable)?;
            self.remove_place(key, &old)?;
        }
        let at = place(score, member).map_err(unwritable)?;
        self.put_place(key, &at)?;
        // Only the score: what comes before the member.
        self.put_row(&row, at.get(..at.len().saturating_sub(member.len())).unwrap_or_default());
        let head = self.zset(key)?;
        head.gaps.fill(&at);
        head.count = head.count.saturating_add(u64::from(old.is_none()));
        self.end(key)?;
        Ok(old.is_none())
    }

    pub(super) fn zset_remove(&mut self, key: &[u8], member: &[u8]) -> Result<bool, StructureError> {
        if !self.is_there(key, Kind::Zset)? {
            return Ok(false);
        }
        let row = Family::MemberScore.row(key, member).map_err(unwritable)?;
        let Some(score) = self.score_at(&row)? else { return Ok(false) };
        self.delete_row(&row);
        let at = place(score, member).map_err(unwritable)?;
        self.remove_place(key, &at)?;
        let head = self.zset(key)?;
        head.count = head.count.saturating_sub(1);
        if head.count == 0 {
            head.gaps.open_between(&[], None, 1);
        }
        let known = self.held(key)?;
        known.removals = known.removals.saturating_add(1);
        if known.removals >= REMOVALS {
            known.removals = 0;
            self.find_front(key)?;
        }
        self.end(key)?;
        Ok(true)
    }

    pub(super) fn zset_increment(
        &mut self,
        key: &[u8],
        member: &[u8],
        by: f64,
    ) -> Result<f64, StructureError> {
        let old = if self.is_there(key, Kind::Zset)? {
            let row = Family::MemberScore.row(key, member).map_err(unwritable)?;
            self.score_at(&row)?
        } else {
            None
        };
        let old = match old {
            Some(SetScore::Number(number)) => number,
            Some(score @ SetScore::Place(_)) => {
                return Err(wrong_scores(key, ScoreKind::Number, score.kind()));
            }
            None => 0.0,
        };
        let SetScore::Number(sum) = SetScore::Number(old + by).checked()? else {
            return Err(StructureError::NotANumber);
        };
        self.zset_add(key, member, SetScore::Number(sum))?;
        Ok(sum)
    }

    pub(super) fn zset_pop(
        &mut self,
        key: &[u8],
        end: End,
        count: usize,
    ) -> Result<Vec<Scored>, StructureError> {
        if !self.is_there(key, Kind::Zset)? || count == 0 {
            return Ok(Vec::new());
        }
        let taken = self.first_places(key, end, count)?;
        for place in &taken {
            self.delete_row(&place.row);
            self.held(key)?.gone(place.at());
            let row = Family::MemberScore.row(key, &place.scored.member).map_err(unwritable)?;
            self.delete_row(&row);
        }
        let all = taken.len() < count;
        let mut members = Vec::with_capacity(taken.len());
        let head = self.zset(key)?;
        for place in taken {
            open_end(&mut head.gaps, end, place.at());
            head.count = head.count.saturating_sub(1);
            members.push(place.scored);
        }
        if all || head.count == 0 {
            head.gaps.open_between(&[], None, 0);
        }
        if !members.is_empty() {
            self.end(key)?;
        }
        Ok(members)
    }

    pub(super) fn zset_remove_range(
        &mut self,
        key: &[u8],
        scores: &ScoreRange,
    ) -> Result<u64, StructureError> {
        let scores = scores.checked()?;
        if !self.is_there(key, Kind::Zset)? {
            return Ok(0);
        }
        let head = self.zset(key)?;
        let found = head.scores;
        scores.kinds().try_for_each(|given| same_kind(key, found, given))?;
        let span = Span::of(&scores).map_err(unwritable)?;
        let Some(rest) = span.clone().without(&head.gaps).filter(|span| !span.is_empty()) else {
            return Ok(0);
        };
        let rows = rest.rows(key).map_err(unwritable)?;
        let skipped = Family::ScoreMember.prefix(key).map_err(unwritable)?.len();
        let mut members = Vec::new();
        for row in self.batch.range(self.space, rows.borrow())? {
            let (row, _) = row?;
            let at = row.get(skipped..).unwrap_or_default();
            let (_, member) = take_score(at).map_err(|source| self.damaged(&row, source.behind(skipped)))?;
            members.push((row.to_vec(), member.to_vec()));
        }
        let removed = u64::try_from(members.len()).unwrap_or(u64::MAX);
        if removed == 0 {
            return Ok(0);
        }
        for (row, member) in members {
            self.delete_row(&row);
            self.delete_row(&Family::MemberScore.row(key, &member).map_err(unwritable)?);
        }
        self.held(key)?.forget_front();
        let head = self.zset(key)?;
        head.count = head.count.saturating_sub(removed);
        head.gaps.open_between(&span.start, span.end.as_deref(), removed);
        self.end(key)?;
        Ok(removed)
    }

    /// The first places of a sorted set, or of what waits in a queue, from an end.
    pub(super) fn first_places(
        &mut self,
        key: &[u8],
        end: End,
        count: usize,
    ) -> Result<Vec<Place>, StructureError> {
        let prefix = Family::ScoreMember.prefix(key).map_err(unwritable)?;
        let known = self.held(key)?;
        let front = known.front(count).filter(|_| end == End::Min);
        let rows = front.map(|front| front.map(|at| [&prefix[..], at].concat()).collect());
        let rows: Vec<Vec<u8>> = match (rows, end) {
            (Some(rows), _) => rows,
            (None, End::Max) => self.read_places(key, end, count)?,
            (None, End::Min) => {
                let wanted = known.read_ahead(count);
                let mut rows = self.read_places(key, end, wanted)?;
                let places = rows.iter().map(|row| row.get(prefix.len()..).unwrap_or_default().to_vec());
                self.held(key)?.set_front(places);
                rows.truncate(count);
                rows
            }
        };
        let skipped = prefix.len();
        let read = |row: Vec<u8>| {
            let (score, member) = take_score(row.get(skipped..).unwrap_or_default())
                .map_err(|source| self.damaged(&row, source.behind(skipped)))?;
            let scored = Scored { member: member.to_vec(), score };
            Ok(Place { row, skipped, scored })
        };
        rows.into_iter().map(read).collect()
    }

    /// Reads the first rows of an order from an end.
    fn read_places(&mut self, key: &[u8], end: End, count: usize) -> Result<Vec<Vec<u8>>, StructureError> {
        let span = match &self.held(key)?.head {
            Some(Head::Zset(ZsetHead { gaps, .. })) => Span::ALL.without(gaps),
            Some(Head::Queue(queue)) => Span::ALL.without(&queue.gaps),
            _ => None,
        };
        let Some(span) = span.filter(|span| !span.is_empty()) else { return Ok(Vec::new()) };
        let rows = span.rows(key).map_err(unwritable)?;
        let mut rows = self.batch.range(self.space, rows.borrow())?;
        let mut found = Vec::new();
        while found.len() < count {
            let row = match end {
                End::Min => rows.next(),
                End::Max => rows.next_back(),
            };
            let Some(row) = row else { break };
            found.push(row?.0.to_vec());
        }
        Ok(found)
    }

    /// Looks for the first member, and remembers that nothing is before it.
    fn find_front(&mut self, key: &[u8]) -> Result<(), StructureError> {
        let first = self.first_places(key, End::Min, 1)?;
        let head = self.zset(key)?;
        if let Some(place) = first.first() {
            head.gaps.open_between(&[], Some(place.at()), REMOVALS.into());
        }
        Ok(())
    }

    pub(super) fn put_place(&mut self, key: &[u8], at: &[u8]) -> Result<(), StructureError> {
        let row = Family::ScoreMember.row(key, at).map_err(unwritable)?;
        self.put_row(&row, &[]);
        self.held(key)?.added(at);
        Ok(())
    }

    pub(super) fn remove_place(&mut self, key: &[u8], at: &[u8]) -> Result<(), StructureError> {
        let row = Family::ScoreMember.row(key, at).map_err(unwritable)?;
        self.delete_row(&row);
        self.held(key)?.gone(at);
        Ok(())
    }

    pub(super) fn score_at(&mut self, row: &[u8]) -> Result<Option<SetScore>, StructureError> {
        let score = self.get_with(row, layout::score)?.transpose();
        score.map_err(|source| self.damaged(row, source))
    }

    /// The head of a sorted set that is there.
    fn zset(&mut self, key: &[u8]) -> Result<&mut ZsetHead, StructureError> {
        match &mut self.held(key)?.head {
            Some(Head::Zset(head)) => Ok(head),
            _ => Err(StructureError::Abandoned),
        }
    }
}

/// A row of the order of a sorted set.
pub(super) struct Place {
    pub(super) row: Vec<u8>,
    skipped: usize,
    pub(super) scored: Scored,
}

impl Place {
    /// Its place: the row without the key.
    pub(super) fn at(&self) -> &[u8] {
        self.row.get(self.skipped..).unwrap_or_default()
    }
}

/// Notes that the row at an end was removed.
pub(super) fn open_end(gaps: &mut super::gaps::Gaps, end: End, at: &[u8]) {
    match end {
        End::Min => gaps.open_front(at),
        End::Max => gaps.open_back(at),
    }
}

pub(super) fn same_kind(key: &[u8], found: ScoreKind, given: ScoreKind) -> Result<(), StructureError> {
    if found == given { Ok(()) } else { Err(wrong_scores(key, given, found)) }
}

#[cold]
fn wrong_scores(key: &[u8], given: ScoreKind, found: ScoreKind) -> StructureError {
    StructureError::WrongScores { key: key.to_vec(), given, found }
}
