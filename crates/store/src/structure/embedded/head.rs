use keyplan_codec::{Be, DecodeError, Delimited as _, EncodeError, Fault, Segment as _};

use super::gaps::Gaps;
use super::layout::{put_score_kind, take_score_kind, trailing};
use super::scratch::Scratch;
use crate::structure::{Kind, QueueSize, ScoreKind};

/// What a key holds, and how much of it: the value of its head row.
///
/// ```text
/// 01 | count (8)
/// 02 | count (8)
/// 03 | kind of scores (1) | count (8) | gaps
/// 04 | kind of scores (1) | waiting (8) | claimed (8) | dead (8) | receipts (8) | leases from (8) | gaps
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Set { count: u64 },
    Hash { count: u64 },
    Zset(ZsetHead),
    Queue(QueueHead),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZsetHead {
    pub(super) scores: ScoreKind,
    pub(super) count: u64,
    pub(super) gaps: Gaps,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueueHead {
    pub(super) scores: ScoreKind,
    pub(super) size: QueueSize,
    /// The last receipt given out. It outlives the items: a worker that was asleep must not find its receipt valid.
    pub(super) receipts: u64,
    /// No lease ends before this time.
    pub(super) leases_from: u64,
    pub(super) gaps: Gaps,
}

/// A sorted set that is empty keeps its head if this many rows were removed: who fills it again must not walk them.
const WORTH_KEEPING: u64 = 1024;

impl Head {
    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Set { .. } => Kind::Set,
            Self::Hash { .. } => Kind::Hash,
            Self::Zset(_) => Kind::Zset,
            Self::Queue(_) => Kind::Queue,
        }
    }

    /// How many members, fields or items there are.
    pub(super) const fn count(&self) -> u64 {
        match self {
            Self::Set { count } | Self::Hash { count } => *count,
            Self::Zset(zset) => zset.count,
            Self::Queue(QueueHead { size, .. }) => {
                size.waiting.saturating_add(size.claimed).saturating_add(size.dead)
            }
        }
    }

    /// Whether the row stays although nothing is left.
    pub(super) fn outlives(&self) -> bool {
        match self {
            Self::Set { .. } | Self::Hash { .. } => false,
            Self::Zset(zset) => zset.gaps.removed() >= WORTH_KEEPING,
            Self::Queue(queue) => queue.receipts > 0,
        }
    }

    pub(super) fn encode(&self) -> Result<Scratch, EncodeError> {
        let mut out = Scratch::new();
        let be = Be::<u64>::new();
        match self {
            Self::Set { count } => {
                out.push(&[1]);
                be.encode(*count, &mut out)?;
            }
            Self::Hash { count } => {
                out.push(&[2]);
                be.encode(*count, &mut out)?;
            }
            Self::Zset(ZsetHead { scores, count, gaps }) => {
                out.push(&[3]);
                put_score_kind(*scores, &mut out);
                be.encode(*count, &mut out)?;
                gaps.encode_into(&mut out)?;
            }
            Self::Queue(QueueHead { scores, size, receipts, leases_from, gaps }) => {
                out.push(&[4]);
                put_score_kind(*scores, &mut out);
                for number in [size.waiting, size.claimed, size.dead, *receipts, *leases_from] {
                    be.encode(number, &mut out)?;
                }
                gaps.encode_into(&mut out)?;
            }
        }
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let behind = |rest: &[u8]| {
            let at = bytes.len().saturating_sub(rest.len());
            move |error: DecodeError| error.behind(at)
        };
        let be = Be::<u64>::new();
        let (&tag, rest) = bytes.split_first().ok_or(DecodeError::new(0, Fault::Short { missing: 1 }))?;
        if tag == 1 || tag == 2 {
            return match be.take(rest).map_err(behind(rest))? {
                (count, []) if tag == 1 => Ok(Self::Set { count }),
                (count, []) => Ok(Self::Hash { count }),
                (_, rest) => Err(trailing(bytes, rest)),
            };
        }
        if tag != 3 && tag != 4 {
            return Err(DecodeError::new(0, Fault::NoAlternative));
        }
        let (scores, rest) = take_score_kind(rest).map_err(behind(rest))?;
        let (count, mut rest) = be.take(rest).map_err(behind(rest))?;
        if tag == 3 {
            let gaps = Gaps::decode(rest).map_err(behind(rest))?;
            return Ok(Self::Zset(ZsetHead { scores, count, gaps }));
        }
        let mut numbers = [0; 4];
        for number in &mut numbers {
            (*number, rest) = be.take(rest).map_err(behind(rest))?;
        }
        let [claimed, dead, receipts, leases_from] = numbers;
        let gaps = Gaps::decode(rest).map_err(behind(rest))?;
        let size = QueueSize { waiting: count, claimed, dead };
        Ok(Self::Queue(QueueHead { scores, size, receipts, leases_from, gaps }))
    }
}

impl ZsetHead {
    pub(super) const fn new(scores: ScoreKind) -> Self {
        Self { scores, count: 0, gaps: Gaps::new() }
    }
}

impl QueueHead {
    pub(super) const fn new(scores: ScoreKind) -> Self {
        let size = QueueSize { waiting: 0, claimed: 0, dead: 0 };
        Self { scores, size, receipts: 0, leases_from: 0, gaps: Gaps::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_back_and_is_refused_when_cut() {
        let mut gaps = Gaps::new();
        gaps.open_front(&[7, 7]);
        gaps.open_back(&[9]);
        let size = QueueSize { waiting: 1, claimed: 2, dead: 3 };
        let scores = ScoreKind::Place;
        let heads = [
            Head::Set { count: 1 },
            Head::Hash { count: u64::MAX },
            Head::Zset(ZsetHead { scores, count: 5, gaps: gaps.clone() }),
            Head::Queue(QueueHead { scores, size, receipts: 4, leases_from: 5, gaps }),
        ];
        for head in heads {
            let bytes = head.encode().unwrap();
            assert_eq!(Head::decode(&bytes), Ok(head.clone()));
            // A list of gaps may end after each of them.
            for length in 0..bytes.len() {
                assert_ne!(Head::decode(&bytes[..length]), Ok(head.clone()));
            }
        }
        assert_eq!(Head::decode(&[5]), Err(DecodeError::new(0, Fault::NoAlternative)));
    }
}
