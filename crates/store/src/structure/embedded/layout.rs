//! The bytes of rows, as `plans/structures.keyplan` declares them.

use keyplan_codec::{
    Be, Bool, DecodeError, Delimited as _, EncodeError, Fault, FloatOrdered, LenPrefix, LenWidth, ScoreExact,
    Segment as _, Sink,
};

use super::scratch::Scratch;
use crate::structure::{ScoreKind, SetScore};

/// The families of rows, by the byte that their keys begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `01 | key`: a plain value.
    Value = 1,
    /// `02 | key`: what a key holds, and how much of it.
    Head = 2,
    /// `03 | key after its length | member`: a member of a set.
    SetMember = 3,
    /// `04 | key after its length | field`: a field of a hash.
    HashField = 4,
    /// `05 | key after its length | member`: the score of a member of a sorted set.
    MemberScore = 5,
    /// `06 | key after its length | score | member`: the order of a sorted set, or of what waits in a queue.
    ScoreMember = 6,
    /// `07 | key after its length | member`: an item of a queue.
    Item = 7,
    /// `08 | key after its length | end of the lease (8) | member`: items that workers hold.
    Lease = 8,
    /// `09 | key after its length | member`: items that were given up.
    Dead = 9,
}

/// A length as LEB128, then the bytes.
pub(super) const VARLEN: LenPrefix = LenPrefix { width: LenWidth::Varint };

const NUMBER: u8 = 0;
const PLACE: u8 = 1;

impl Family {
    /// The family that a key begins as, if any.
    pub(super) const fn of(tag: u8) -> Option<Self> {
        Some(match tag {
            1 => Self::Value,
            2 => Self::Head,
            3 => Self::SetMember,
            4 => Self::HashField,
            5 => Self::MemberScore,
            6 => Self::ScoreMember,
            7 => Self::Item,
            8 => Self::Lease,
            9 => Self::Dead,
            _ => return None,
        })
    }

    /// `tag | key`, for the families that have nothing after the key.
    #[inline]
    pub(super) fn plain(self, key: &[u8]) -> Scratch {
        let mut row = Scratch::new();
        row.push(&[self as u8]);
        row.push(key);
        row
    }

    /// `tag | key after its length`.
    #[inline]
    pub(super) fn prefix(self, key: &[u8]) -> Result<Scratch, EncodeError> {
        let mut row = Scratch::new();
        row.push(&[self as u8]);
        VARLEN.encode(key, &mut row)?;
        Ok(row)
    }

    /// `tag | key after its length | member`.
    #[inline]
    pub(super) fn row(self, key: &[u8], member: &[u8]) -> Result<Scratch, EncodeError> {
        let mut row = self.prefix(key)?;
        row.push(member);
        Ok(row)
    }
}

/// Appends a score: `00 | float made order-preserving (8)` or `01 | place in chain order (13)`.
pub(crate) fn put_score<S: Sink>(score: SetScore, out: &mut S) -> Result<(), EncodeError> {
    match score {
        SetScore::Number(number) => {
            out.put(&[NUMBER])?;
            FloatOrdered.encode(number, out)
        }
        SetScore::Place(place) => {
            out.put(&[PLACE])?;
            ScoreExact.encode(place, out)
        }
    }
}

/// Reads a score, and returns it with what comes after it.
pub(crate) fn take_score(bytes: &[u8]) -> Result<(SetScore, &[u8]), DecodeError> {
    let (&tag, rest) = bytes.split_first().ok_or(DecodeError::new(0, Fault::Short { missing: 1 }))?;
    let read = match tag {
        NUMBER => FloatOrdered.take(rest).map(|(number, rest)| (SetScore::Number(number), rest)),
        PLACE => ScoreExact.take(rest).map(|(place, rest)| (SetScore::Place(place), rest)),
        _ => return Err(DecodeError::new(0, Fault::NoAlternative)),
    };
    read.map_err(|error| error.behind(1))
}

/// Reads a score that is all there is.
pub(super) fn score(bytes: &[u8]) -> Result<SetScore, DecodeError> {
    match take_score(bytes)? {
        (score, []) => Ok(score),
        (_, rest) => Err(trailing(bytes, rest)),
    }
}

pub(super) fn trailing(bytes: &[u8], rest: &[u8]) -> DecodeError {
    DecodeError::new(bytes.len().saturating_sub(rest.len()), Fault::Trailing { extra: rest.len() })
}

/// The place of a member in the order of a sorted set: `score | member`.
pub(super) fn place(score: SetScore, member: &[u8]) -> Result<Scratch, EncodeError> {
    let mut place = Scratch::new();
    put_score(score, &mut place)?;
    place.push(member);
    Ok(place)
}

/// The kind of scores: `00` for numbers, `01` for places.
pub(super) fn put_score_kind(kind: ScoreKind, out: &mut Scratch) {
    out.push(&[match kind {
        ScoreKind::Number => NUMBER,
        ScoreKind::Place => PLACE,
    }]);
}

pub(super) fn take_score_kind(bytes: &[u8]) -> Result<(ScoreKind, &[u8]), DecodeError> {
    match bytes.split_first() {
        Some((&NUMBER, rest)) => Ok((ScoreKind::Number, rest)),
        Some((&PLACE, rest)) => Ok((ScoreKind::Place, rest)),
        Some(_) => Err(DecodeError::new(0, Fault::NoAlternative)),
        None => Err(DecodeError::new(0, Fault::Short { missing: 1 })),
    }
}

/// What is stored of an item of a queue: `score | attempts (4) | state`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) score: SetScore,
    pub(super) attempts: u32,
    pub(super) state: State,
}

/// `00`, or `01 | end of the lease (8) | receipt (8) | pushed again (1)`, or `02`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Claimed { until: u64, receipt: u64, again: bool },
    Dead,
}

impl Item {
    pub(super) fn encode(&self) -> Result<Scratch, EncodeError> {
        let mut out = Scratch::new();
        put_score(self.score, &mut out)?;
        Be::new().encode(self.attempts, &mut out)?;
        match self.state {
            State::Waiting => out.push(&[0]),
            State::Claimed { until, receipt, again } => {
                out.push(&[1]);
                Be::new().encode(until, &mut out)?;
                Be::new().encode(receipt, &mut out)?;
                Bool.encode(again, &mut out)?;
            }
            State::Dead => out.push(&[2]),
        }
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let at = |rest: &[u8]| bytes.len().saturating_sub(rest.len());
        let (score, rest) = take_score(bytes)?;
        let (attempts, rest) = Be::<u32>::new().take(rest).map_err(|error| error.behind(at(rest)))?;
        let (&tag, rest) =
            rest.split_first().ok_or(DecodeError::new(bytes.len(), Fault::Short { missing: 1 }))?;
        let (state, rest) = match tag {
            0 => (State::Waiting, rest),
            1 => {
                let (until, rest) = Be::<u64>::new().take(rest).map_err(|error| error.behind(at(rest)))?;
                let (receipt, rest) = Be::<u64>::new().take(rest).map_err(|error| error.behind(at(rest)))?;
                let (again, rest) = Bool.take(rest).map_err(|error| error.behind(at(rest)))?;
                (State::Claimed { until, receipt, again }, rest)
            }
            2 => (State::Dead, rest),
            _ => return Err(DecodeError::new(at(rest).saturating_sub(1), Fault::NoAlternative)),
        };
        if rest.is_empty() { Ok(Self { score, attempts, state }) } else { Err(trailing(bytes, rest)) }
    }
}

/// `tag | key after its length | end of the lease (8) | member`.
pub(super) fn lease_row(key: &[u8], until: u64, member: &[u8]) -> Result<Scratch, EncodeError> {
    let mut row = Family::Lease.prefix(key)?;
    Be::new().encode(until, &mut row)?;
    row.push(member);
    Ok(row)
}

/// The key and what is after it, in a row of a family with a prefix.
pub(super) fn split(row: &[u8]) -> Result<(&[u8], &[u8]), DecodeError> {
    let rest = row.get(1..).unwrap_or_default();
    VARLEN.take(rest).map_err(|error| error.behind(1))
}
