use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Bound;

use keyplan_codec::Hash;

use super::embedded::{put_score, take_score};
use super::{Rows, ScoreRange, Scored, SetScore, StructureError, StructureRead};
use crate::error::TokenFault;
use crate::page::Direction;

/// A question to several sorted sets at once.
///
/// Members are compared as members, whatever their scores in the sets: a member comes once.
///
/// | mode | what is found | where it comes |
/// | --- | --- | --- |
/// | [`Union`](SearchMode::Union) | what is in any set | at the first of its scores that the search meets |
/// | [`Intersection`](SearchMode::Intersection) | what is in every set | at its score in the first set |
/// | [`Difference`](SearchMode::Difference) | what is in the first set and in no other | at its score in the first set |
///
/// The range is of the score that a member comes at. Members come in the order of their scores, and of their bytes
/// among those of one score.
///
/// Rows are read as they are needed: those that are returned, one ahead of each set, and those that had to be looked at
/// and were none. What is in one set and must be known of another is asked for by member.
#[derive(Clone, Copy, Debug)]
pub struct Search<'q> {
    /// The sorted sets.
    pub keys: &'q [&'q [u8]],
    /// What is looked for in them.
    pub mode: SearchMode,
    /// The scores.
    pub scores: ScoreRange,
    /// From which end.
    pub direction: Direction,
    /// How many members are returned, at most.
    pub limit: Option<usize>,
}

/// What is looked for in several sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchMode {
    /// What is in any of them.
    #[default]
    Union,
    /// What is in every one of them.
    Intersection,
    /// What is in the first and in no other.
    Difference,
}

/// A member that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The member.
    pub member: Vec<u8>,
    /// The score that it comes at.
    pub score: SetScore,
    /// The number of the set, among those asked, that it has this score in.
    pub set: usize,
}

/// Some members that were found, and where to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchPage {
    /// The members.
    pub hits: Vec<Hit>,
    /// What the next page is asked for with; `None` if this is the last.
    pub next: Option<SearchToken>,
}

/// Where a page ended, as bytes that can be handed to a stranger and taken back.
///
/// ```text
/// version 01 | question (8) | score (9 or 14) | member | check (8)
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SearchToken(Vec<u8>);

const VERSION: u8 = 1;
const CHECK: usize = 8;

/// The most members that are looked up in one go.
const MOST_AT_ONCE: usize = 4096;

/// A set of at most this many members is read whole if that saves reading a larger one.
const SMALL: u64 = 4096;

impl<'q> Search<'q> {
    /// What is in any of the sets, lowest score first, without limits.
    pub const fn of(keys: &'q [&'q [u8]]) -> Self {
        let (mode, scores, direction) = (SearchMode::Union, ScoreRange::ALL, Direction::Ascending);
        Self { keys, mode, scores, direction, limit: None }
    }

    /// Finds members, from where a token of an earlier page of the same question left off.
    ///
    /// The limit may differ from page to page. Read from a snapshot for pages that belong to one moment; otherwise
    /// members that came or went since are seen as they are now.
    pub fn run(&self, read: &dyn StructureRead, token: Option<&[u8]>) -> Result<SearchPage, StructureError> {
        let Some((first, others)) = self.keys.split_first() else { return Ok(SearchPage::default()) };
        let after = token.map(|token| self.position(token)).transpose()?;
        // One more than asked for tells whether there is another page.
        let wanted = self.limit.map_or(usize::MAX, |limit| limit.max(1).saturating_add(1));
        let mut hits = match self.mode {
            SearchMode::Union => self.union(read, after.as_ref(), wanted)?,
            SearchMode::Intersection => self.intersection(read, first, others, after.as_ref(), wanted)?,
            SearchMode::Difference => {
                self.filtered(read, first, others, Keep::Missing, after.as_ref(), wanted)?
            }
        };
        let more = hits.len() >= wanted;
        if more {
            hits.pop();
        }
        let next = hits.last().filter(|_| more).map(|last| self.token(last)).transpose()?;
        Ok(SearchPage { hits, next })
    }

    fn union(
        &self,
        read: &dyn StructureRead,
        after: Option<&Scored>,
        wanted: usize,
    ) -> Result<Vec<Hit>, StructureError> {
        let mut merge = Merge::new(self, read, after)?;
        let mut met = HashSet::new();
        let mut hits = Vec::new();
        loop {
            let mut found = Vec::new();
            while found.len() < (wanted - hits.len()).min(MOST_AT_ONCE) {
                let Some(hit) = merge.next()? else { break };
                if met.insert(hit.member.clone()) {
                    found.push(hit);
                }
            }
            let last = found.is_empty();
            if let Some(after) = after {
                found = self.not_before(read, after, found)?;
            }
            hits.extend(found);
            if last || hits.len() >= wanted {
                return Ok(hits);
            }
        }
    }

    /// Leaves out the members that came on an earlier page, at a score that they have in another set.
    fn not_before(
        &self,
        read: &dyn StructureRead,
        after: &Scored,
        found: Vec<Hit>,
    ) -> Result<Vec<Hit>, StructureError> {
        let places: Vec<(&[u8], &[u8])> =
            found.iter().flat_map(|hit| self.keys.iter().map(|key| (*key, hit.member.as_slice()))).collect();
        let scores = read.zset_score_each(&places)?;
        let mut scores = scores.chunks(self.keys.len());
        let mut kept = Vec::with_capacity(found.len());
        for hit in found {
            let earlier = |score: &SetScore| {
                let order = score.order(after.score).then_with(|| hit.member.cmp(&after.member));
                self.scores.contains(*score) && self.directed(order).is_le()
            };
            if !scores.next().unwrap_or_default().iter().flatten().any(earlier) {
                kept.push(hit);
            }
        }
        Ok(kept)
    }

    fn intersection(
        &self,
        read: &dyn StructureRead,
        first: &[u8],
        others: &[&[u8]],
        after: Option<&Scored>,
        wanted: usize,
    ) -> Result<Vec<Hit>, StructureError> {
        let mut counted = Vec::with_capacity(others.len());
        for key in others {
            counted.push((read.zset_count(key)?, *key));
        }
        // What is in the smallest is asked for first: most of what is in no intersection is out after one question.
        counted.sort_unstable();
        let others: Vec<&[u8]> = counted.iter().map(|(_, key)| *key).collect();
        let count = read.zset_count(first)?;
        match counted.first() {
            Some((0, _)) => Ok(Vec::new()),
            Some((small, key)) if *small <= SMALL && small.saturating_mul(8) < count => {
                self.by_small(read, first, &others, key, after, wanted)
            }
            _ => self.filtered(read, first, &others, Keep::There, after, wanted),
        }
    }

    /// The members of the first set that are in others, or are not, in order.
    fn filtered(
        &self,
        read: &dyn StructureRead,
        first: &[u8],
        others: &[&[u8]],
        keep: Keep,
        after: Option<&Scored>,
        wanted: usize,
    ) -> Result<Vec<Hit>, StructureError> {
        let mut rows = read.zset_rows(first, &self.scores, self.direction, after)?;
        let mut hits = Vec::new();
        let mut chunk = 16;
        loop {
            // As many as are still wanted; more each time that most of them were none.
            let room = (wanted - hits.len()).clamp(1, MOST_AT_ONCE).max(chunk);
            let mut found = rows.by_ref().take(room).collect::<Result<Vec<_>, _>>()?;
            let last = found.len() < room;
            chunk = (chunk * 2).min(MOST_AT_ONCE);
            for key in others {
                found = kept(read, key, keep, found)?;
            }
            hits.extend(found.into_iter().map(|Scored { member, score }| Hit { member, score, set: 0 }));
            if last || hits.len() >= wanted {
                hits.truncate(wanted);
                return Ok(hits);
            }
        }
    }

    /// The members of a small set that are in all others, in the order that they have in the first.
    fn by_small(
        &self,
        read: &dyn StructureRead,
        first: &[u8],
        others: &[&[u8]],
        small: &[u8],
        after: Option<&Scored>,
        wanted: usize,
    ) -> Result<Vec<Hit>, StructureError> {
        let rows = read.zset_rows(small, &ScoreRange::ALL, Direction::Ascending, None)?;
        let members = rows.collect::<Result<Vec<_>, _>>()?;
        let places: Vec<(&[u8], &[u8])> = members.iter().map(|at| (first, at.member.as_slice())).collect();
        let scores = read.zset_score_each(&places)?;
        let mut found: Vec<Scored> = members
            .into_iter()
            .zip(scores)
            .filter_map(|(at, score)| Some(Scored { member: at.member, score: score? }))
            .filter(|at| self.scores.contains(at.score))
            .filter(|at| after.is_none_or(|after| self.directed(order(at, after)).is_gt()))
            .collect();
        for key in others.iter().filter(|key| **key != small) {
            found = kept(read, key, Keep::There, found)?;
        }
        found.sort_by(|a, b| self.directed(order(a, b)));
        found.truncate(wanted);
        Ok(found.into_iter().map(|Scored { member, score }| Hit { member, score, set: 0 }).collect())
    }

    const fn directed(&self, order: Ordering) -> Ordering {
        match self.direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        }
    }

    /// What tells one question from another: everything but the limit.
    fn question(&self) -> Result<[u8; 8], StructureError> {
        let mut bytes = vec![self.mode as u8, u8::from(self.direction == Direction::Descending)];
        for bound in [self.scores.min, self.scores.max] {
            match bound {
                Bound::Unbounded => bytes.push(0),
                Bound::Included(score) => {
                    bytes.push(1);
                    encoded(score, &mut bytes)?;
                }
                Bound::Excluded(score) => {
                    bytes.push(2);
                    encoded(score, &mut bytes)?;
                }
            }
        }
        for key in self.keys {
            bytes.extend_from_slice(&u64::try_from(key.len()).unwrap_or(u64::MAX).to_be_bytes());
            bytes.extend_from_slice(key);
        }
        Ok(check(&bytes))
    }

    fn token(&self, last: &Hit) -> Result<SearchToken, StructureError> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.question()?);
        encoded(last.score, &mut bytes)?;
        bytes.extend_from_slice(&last.member);
        let check = check(&bytes);
        bytes.extend_from_slice(&check);
        Ok(SearchToken(bytes))
    }

    /// The last member of the page that a token was made for.
    fn position(&self, token: &[u8]) -> Result<Scored, StructureError> {
        let (head, found) = token.split_last_chunk::<CHECK>().ok_or(TokenFault::Damaged)?;
        if check(head) != *found {
            return Err(TokenFault::Damaged.into());
        }
        let (&version, rest) = head.split_first().ok_or(TokenFault::Damaged)?;
        if version != VERSION {
            return Err(TokenFault::Version.into());
        }
        let (question, rest) = rest.split_first_chunk::<8>().ok_or(TokenFault::Damaged)?;
        if *question != self.question()? {
            return Err(TokenFault::Range.into());
        }
        let (score, member) = take_score(rest).map_err(|_| TokenFault::Damaged)?;
        Ok(Scored { member: member.to_vec(), score })
    }
}

impl SearchToken {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Which members are kept: those that are in another set, or those that are not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    There,
    Missing,
}

fn kept(
    read: &dyn StructureRead,
    key: &[u8],
    keep: Keep,
    found: Vec<Scored>,
) -> Result<Vec<Scored>, StructureError> {
    if found.is_empty() {
        return Ok(found);
    }
    let places: Vec<(&[u8], &[u8])> = found.iter().map(|at| (key, at.member.as_slice())).collect();
    let scores = read.zset_score_each(&places)?;
    let there = found.into_iter().zip(scores);
    Ok(there.filter(|(_, score)| score.is_some() == (keep == Keep::There)).map(|(at, _)| at).collect())
}

/// The members of several sets in one order, with those at one place once.
struct Merge<'s> {
    sets: Vec<(Rows<'s, Scored>, Option<Scored>)>,
    direction: Direction,
}

impl<'s> Merge<'s> {
    fn new(
        search: &Search<'_>,
        read: &'s dyn StructureRead,
        after: Option<&Scored>,
    ) -> Result<Self, StructureError> {
        let mut sets = Vec::with_capacity(search.keys.len());
        for key in search.keys {
            let mut rows = read.zset_rows(key, &search.scores, search.direction, after)?;
            let head = rows.next().transpose()?;
            sets.push((rows, head));
        }
        Ok(Self { sets, direction: search.direction })
    }

    fn next(&mut self) -> Result<Option<Hit>, StructureError> {
        let heads = self.sets.iter().enumerate().filter_map(|(set, (_, head))| Some((set, head.as_ref()?)));
        let first = heads.min_by(|(_, a), (_, b)| match self.direction {
            Direction::Ascending => order(a, b),
            Direction::Descending => order(b, a),
        });
        let Some((set, _)) = first else { return Ok(None) };
        let Some(Scored { member, score }) = self.advance(set)? else { return Ok(None) };
        for other in 0..self.sets.len() {
            let head = self.sets.get(other).and_then(|(_, head)| head.as_ref());
            if head.is_some_and(|head| head.member == member && head.score.order(score).is_eq()) {
                self.advance(other)?;
            }
        }
        Ok(Some(Hit { member, score, set }))
    }

    /// Takes the head of a set, and reads the next.
    fn advance(&mut self, set: usize) -> Result<Option<Scored>, StructureError> {
        let Some((rows, head)) = self.sets.get_mut(set) else { return Ok(None) };
        let next = rows.next().transpose()?;
        Ok(std::mem::replace(head, next))
    }
}

fn order(a: &Scored, b: &Scored) -> Ordering {
    a.score.order(b.score).then_with(|| a.member.cmp(&b.member))
}

fn encoded(score: SetScore, out: &mut Vec<u8>) -> Result<(), StructureError> {
    put_score(score.checked()?, out).map_err(|source| StructureError::Score { source })
}

fn check(bytes: &[u8]) -> [u8; CHECK] {
    let digest = Hash::Xxh3_64.digest(bytes);
    let mut check = [0; CHECK];
    for (slot, byte) in check.iter_mut().zip(digest.iter()) {
        *slot = *byte;
    }
    check
}
