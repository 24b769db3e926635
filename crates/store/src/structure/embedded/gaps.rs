use std::cmp::Ordering;

use keyplan_codec::{DecodeError, Delimited as _, EncodeError, Leb128, Segment as _, Sink};

use super::layout::VARLEN;

/// Stretches of a sorted set's order in which nothing is left.
///
/// Rows that were deleted stay in the engine for a while, and a scan walks over each of them: taking the first member
/// again and again would cost more each time. A scan that begins in a gap begins after it instead. Gaps are written
/// with the count of the set, so that every snapshot has those that are true of it, and they outlive the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps(Vec<Gap>);

/// The places from `from` up to but without `to`, or to the end: `from | to | removed`, each place after its length.
/// A `to` of no bytes stands for the end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gap {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    /// About how many rows were removed in it: of too many gaps, the one that saves least is forgotten.
    removed: u64,
}

/// How many gaps are kept.
const MOST: usize = 4;

/// How much of a place is kept. A gap may be told smaller than it is, never larger.
const LONGEST: usize = 128;

impl Gaps {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many rows were removed in the gaps.
    pub(super) fn removed(&self) -> u64 {
        self.0.iter().map(|gap| gap.removed).sum()
    }

    /// Notes that something is at a place now.
    pub(super) fn fill(&mut self, place: &[u8]) {
        let Some(at) = self.0.iter().position(|gap| gap.holds(place)) else { return };
        let gap = self.0.remove(at);
        let half = gap.removed / 2;
        let before = Gap { from: gap.from, to: Some(floor(place)), removed: gap.removed - half };
        let behind = ceiling(place).map(|from| Gap { from, to: gap.to, removed: half });
        self.0.extend([Some(before), behind].into_iter().flatten().filter(|gap| !gap.is_empty()));
        self.tidy();
    }

    /// Notes that nothing is left up to a place, and at it, where a row was just removed.
    pub(super) fn open_front(&mut self, place: &[u8]) {
        let to = if place.len() > LONGEST { Some(floor(place)) } else { ceiling(place) };
        self.open(Gap { from: Vec::new(), to, removed: 1 });
    }

    /// Notes that nothing is left from a place on, where a row was just removed.
    pub(super) fn open_back(&mut self, place: &[u8]) {
        let from = if place.len() > LONGEST { ceiling(place) } else { Some(place.to_vec()) };
        if let Some(from) = from {
            self.open(Gap { from, to: None, removed: 1 });
        }
    }

    /// Notes that nothing is left between two places, the second of which is not in it.
    pub(super) fn open_between(&mut self, from: &[u8], to: Option<&[u8]>, removed: u64) {
        let from = if from.len() > LONGEST { ceiling(from) } else { Some(from.to_vec()) };
        let gap = from.map(|from| Gap { from, to: to.map(floor), removed });
        if let Some(gap) = gap.filter(|gap| !gap.is_empty()) {
            self.open(gap);
        }
    }

    /// Where a scan from `start` may begin; `None` if nothing is there.
    pub(super) fn skip(&self, start: Vec<u8>) -> Option<Vec<u8>> {
        match self.0.iter().find(|gap| gap.holds(&start)) {
            Some(gap) => gap.to.clone(),
            None => Some(start),
        }
    }

    /// Where a scan from the back, of what is before `end`, may begin.
    pub(super) fn skip_back(&self, end: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let inside = |gap: &&Gap| match (&end, &gap.to) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(end), to) => gap.from < *end && to.as_ref().is_none_or(|to| end <= to),
        };
        match self.0.iter().find(inside) {
            Some(gap) => Some(gap.from.clone()),
            None => end,
        }
    }

    fn open(&mut self, mut new: Gap) {
        self.0.retain(|gap| {
            let touches = reaches(new.to.as_deref(), &gap.from) && reaches(gap.to.as_deref(), &new.from);
            if touches {
                new.from = std::mem::take(&mut new.from).min(gap.from.clone());
                new.to = match (new.to.take(), &gap.to) {
                    (Some(a), Some(b)) => Some(a.max(b.clone())),
                    _ => None,
                };
                new.removed = new.removed.saturating_add(gap.removed);
            }
            !touches
        });
        self.0.push(new);
        self.tidy();
    }

    fn tidy(&mut self) {
        while self.0.len() > MOST {
            let least = self.0.iter().enumerate().min_by_key(|(_, gap)| gap.removed).map(|(at, _)| at);
            let Some(least) = least else { break };
            self.0.remove(least);
        }
        self.0.sort_by(|a, b| a.from.cmp(&b.from));
    }

    pub(super) fn encode_into<S: Sink>(&self, out: &mut S) -> Result<(), EncodeError> {
        for gap in &self.0 {
            VARLEN.encode(&gap.from, out)?;
            VARLEN.encode(gap.to.as_deref().unwrap_or_default(), out)?;
            Leb128::new().encode(gap.removed, out)?;
        }
        Ok(())
    }

    pub(super) fn decode(mut bytes: &[u8]) -> Result<Self, DecodeError> {
        let whole = bytes.len();
        let mut gaps = Vec::new();
        while !bytes.is_empty() {
            let behind = |rest: &[u8]| {
                let at = whole.saturating_sub(rest.len());
                move |error: DecodeError| error.behind(at)
            };
            let (from, rest) = VARLEN.take(bytes).map_err(behind(bytes))?;
            let (to, rest) = VARLEN.take(rest).map_err(behind(rest))?;
            let (removed, rest) = Leb128::new().take(rest).map_err(behind(rest))?;
            let to = (!to.is_empty()).then(|| to.to_vec());
            gaps.push(Gap { from: from.to_vec(), to, removed });
            bytes = rest;
        }
        Ok(Self(gaps))
    }
}

impl Gap {
    fn holds(&self, place: &[u8]) -> bool {
        *self.from <= *place && self.to.as_deref().is_none_or(|to| place < to)
    }

    fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// Whether a gap that ends at `to` meets one that begins at `from`.
fn reaches(to: Option<&[u8]>, from: &[u8]) -> bool {
    to.is_none_or(|to| to.cmp(from) != Ordering::Less)
}

/// The place, or one before it.
fn floor(place: &[u8]) -> Vec<u8> {
    place.get(..LONGEST).unwrap_or(place).to_vec()
}

/// The first place after it, or one further on; `None` if there is none.
fn ceiling(place: &[u8]) -> Option<Vec<u8>> {
    match place.get(..LONGEST) {
        Some(front) if place.len() > LONGEST => after_prefix(front),
        _ => Some([place, &[0]].concat()),
    }
}

/// The first bytes after all that begin with `prefix`.
pub(super) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    let byte = end.last_mut()?;
    *byte = byte.saturating_add(1);
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(place: &[u8]) -> Vec<u8> {
        [place, &[0]].concat()
    }

    #[test]
    fn a_scan_begins_behind_what_was_taken_from_the_front() {
        let mut gaps = Gaps::new();
        for place in 1..=100 {
            gaps.open_front(&[place]);
        }
        assert_eq!(gaps.skip(Vec::new()), Some(after(&[100])));
        assert_eq!(gaps.skip(vec![101]), Some(vec![101]));
        assert_eq!(gaps.removed(), 100);
    }

    #[test]
    fn what_is_added_in_a_gap_is_found_and_the_gap_behind_it_stays() {
        let mut gaps = Gaps::new();
        gaps.open_front(&[100]);
        gaps.fill(&[50]);
        assert_eq!(gaps.skip(Vec::new()), Some(vec![50]));
        assert_eq!(gaps.skip(vec![50]), Some(vec![50]));
        assert_eq!(gaps.skip(vec![50, 0]), Some(after(&[100])));
        gaps.open_front(&[50]);
        assert_eq!(gaps.skip(Vec::new()), Some(after(&[100])));
        assert_eq!(gaps.0.len(), 1);
    }

    #[test]
    fn a_scan_from_the_back_begins_before_what_was_taken_there() {
        let mut gaps = Gaps::new();
        gaps.open_back(&[200]);
        gaps.open_back(&[150]);
        assert_eq!(gaps.skip_back(None), Some(vec![150]));
        assert_eq!(gaps.skip_back(Some(vec![170])), Some(vec![150]));
        assert_eq!(gaps.skip_back(Some(vec![150])), Some(vec![150]));
        assert_eq!(gaps.skip_back(Some(vec![20])), Some(vec![20]));
        gaps.open_front(&[160]);
        assert_eq!(gaps.skip(Vec::new()), None);
    }

    #[test]
    fn gaps_are_never_told_larger_than_they_are() {
        // Places of two lengths, so that some are kept in part, against the plain truth.
        let mut places: Vec<Vec<u8>> = (0..60_u8)
            .map(|number| {
                [vec![number / 3], vec![7; 120 + usize::from(number % 3) * 5], vec![number]].concat()
            })
            .collect();
        places.sort();
        let mut live = vec![true; places.len()];
        let mut gaps = Gaps::new();
        let mut state = 1_u64;
        for _ in 0..2_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from((state >> 33) % 60).unwrap();
            match (state >> 60) % 4 {
                0 => {
                    if let Some(first) = live.iter().position(|live| *live) {
                        live[first] = false;
                        gaps.open_front(&places[first]);
                    }
                }
                1 => {
                    if let Some(last) = live.iter().rposition(|live| *live) {
                        live[last] = false;
                        gaps.open_back(&places[last]);
                    }
                }
                2 => {
                    let to = (at + 5).min(59);
                    live[at..to].fill(false);
                    gaps.open_between(&places[at], Some(&places[to]), 5);
                }
                _ => {
                    live[at] = true;
                    gaps.fill(&places[at]);
                }
            }
            for (place, _) in places.iter().zip(&live).filter(|(_, live)| **live) {
                assert_eq!(gaps.skip(place.clone()).as_ref(), Some(place));
                assert_eq!(gaps.skip_back(Some(after(place))), Some(after(place)));
            }
            assert!(gaps.0.len() <= MOST);
            let mut bytes = Vec::new();
            gaps.encode_into(&mut bytes).unwrap();
            assert_eq!(Gaps::decode(&bytes), Ok(gaps.clone()));
        }
    }
}
