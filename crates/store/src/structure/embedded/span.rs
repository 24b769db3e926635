use std::ops::Bound;

use keyplan_codec::EncodeError;

use super::gaps::{Gaps, after_prefix};
use super::layout::{Family, place, put_score};
use crate::engine::{KeyRange, OwnedKeyRange};
use crate::page::Direction;
use crate::structure::{ScoreRange, Scored, SetScore};

/// A stretch of a sorted set's order: places from `start` up to but without `end`, or to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: Vec<u8>,
    pub(super) end: Option<Vec<u8>>,
}

impl Span {
    pub(super) const ALL: Self = Self { start: Vec::new(), end: None };

    /// Nothing.
    const NONE: Self = Self { start: Vec::new(), end: Some(Vec::new()) };

    /// The places of the scores in a range.
    pub(super) fn of(scores: &ScoreRange) -> Result<Self, EncodeError> {
        let start = match scores.min {
            Bound::Included(min) => score_bytes(min)?,
            // Scores end below `02`, so that something always comes after them; if not, nothing is meant, and not everything.
            Bound::Excluded(min) => match after_prefix(&score_bytes(min)?) {
                Some(start) => start,
                None => return Ok(Self::NONE),
            },
            Bound::Unbounded => Vec::new(),
        };
        let end = match scores.max {
            Bound::Included(max) => after_prefix(&score_bytes(max)?),
            Bound::Excluded(max) => Some(score_bytes(max)?),
            Bound::Unbounded => None,
        };
        Ok(Self { start, end })
    }

    /// The part of it after a member, in a direction.
    pub(super) fn after(mut self, member: &Scored, direction: Direction) -> Result<Self, EncodeError> {
        let mut at = place(member.score, &member.member)?.to_vec();
        match direction {
            Direction::Ascending => {
                at.push(0);
                self.start = self.start.max(at);
            }
            Direction::Descending => {
                self.end = Some(match self.end {
                    Some(end) => end.min(at),
                    None => at,
                });
            }
        }
        Ok(self)
    }

    /// The same without what is known to be empty at its ends; `None` if nothing is left.
    pub(super) fn without(self, gaps: &Gaps) -> Option<Self> {
        let start = gaps.skip(self.start)?;
        let end = gaps.skip_back(self.end);
        Some(Self { start, end })
    }

    /// The rows of it.
    pub(super) fn rows(&self, key: &[u8]) -> Result<OwnedKeyRange, EncodeError> {
        let prefix = Family::ScoreMember.prefix(key)?;
        let end = match &self.end {
            Some(end) => Bound::Excluded([&prefix[..], end].concat()),
            None => OwnedKeyRange::prefix(&prefix).end,
        };
        Ok(OwnedKeyRange { start: Bound::Included([&prefix[..], &self.start].concat()), end })
    }

    /// Whether nothing can be in it.
    pub(super) fn is_empty(&self) -> bool {
        let end = self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        KeyRange { start: Bound::Included(&self.start), end }.is_empty()
    }
}

fn score_bytes(score: SetScore) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::with_capacity(14);
    put_score(score, &mut bytes)?;
    Ok(bytes)
}
