//! Two lengths that are read side by side.
//!
//! Lengths of one form that begin together are equal, and so are read at once. Any others are read byte by byte, which is most of the
//! work where long keys are shifted against each other; but where two lengths lead does not depend on where in the keys they are, so
//! that it is found out once.

use std::rc::Rc;

use keyplan_plan::order::sort_by;

use super::{Goal, Item, MOST_WORK, Place, Product, after, first, stretches};
use crate::automaton::{BYTES, ByteSet, Each, Numbers, Prefix};

/// How many values of a byte are tried for pairs of lengths that are read byte by byte.
const MOST_LENGTH_BYTES: u64 = 20_000;

/// All that matters of a length for what it is read with, wherever it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LengthLike {
    prefix: Prefix,
    width: u8,
    read: u8,
    set: ByteSet,
    counts: Numbers,
    each: Each,
}

impl LengthLike {
    fn of(item: &Item) -> Option<Self> {
        match item {
            Item::Length { prefix, width, read, set, counts, each, .. } => Some(Self {
                prefix: *prefix,
                width: *width,
                read: *read,
                set: *set,
                counts: counts.clone(),
                each: *each,
            }),
            _ => None,
        }
    }
}

/// Where two lengths lead: one pair of places, each told by where it is in its length, and the set of that state.
#[derive(Clone, Debug)]
pub(super) struct Led {
    first: Part,
    second: Part,
    set: Option<Numbers>,
}

/// A place in or after a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// After the contents.
    Past,
    /// In the contents.
    Contents,
    /// In the length.
    Length { width: u8, read: u8 },
}

impl Part {
    /// Which part of its length a place is.
    fn of(place: Place) -> Self {
        match place {
            Place::At(_) => Self::Past,
            Place::Within(_) => Self::Contents,
            Place::Length { width, read, .. } => Self::Length { width, read },
        }
    }

    /// The place that this part of a length is.
    fn of_length(self, item: &Item) -> Option<Place> {
        let Item::Length { node, next, .. } = item else { return None };
        Some(match self {
            Self::Past => Place::At(*next),
            Self::Contents => Place::Within(*node),
            Self::Length { width, read } => Place::Length { node: *node, width, read },
        })
    }
}

impl Product<'_> {
    /// Two lengths that are not read in step. What two like them have led to is known.
    pub(super) fn lengths(&mut self, x: &Item, y: &Item) {
        let (Some(first), Some(second)) = (LengthLike::of(x), LengthLike::of(y)) else { return };
        if self.leading.is_some() {
            // Inside of two others.
            self.byte_by_byte(x, y);
            return;
        }
        let like = (first, second);
        let known = self.read.get(&like).cloned();
        let Some(led) = known.or_else(|| self.led(x, y, like)) else { return };
        for Led { first, second, set } in led.iter() {
            if let (Some(a), Some(b)) = (first.of_length(x), second.of_length(y)) {
                self.push(a, b, set.clone());
            }
        }
    }

    /// Where two lengths lead; `None` if the goal is reached on the way, or there is too much to read.
    fn led(&mut self, x: &Item, y: &Item, like: (LengthLike, LengthLike)) -> Option<Rc<[Led]>> {
        self.leading = Some(Vec::new());
        self.byte_by_byte(x, y);
        let mut all: Vec<(Part, Part, Option<Numbers>)> =
            (self.leading.take()?.into_iter()).map(|(a, b, set)| (Part::of(a), Part::of(b), set)).collect();
        if self.reached || self.work > MOST_WORK {
            return None;
        }
        sort_by(&mut all, |a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        let states = all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter_map(|states| {
            let &(first, second, ref set) = states.first()?;
            let set = set.is_some().then(|| {
                let sets = states.iter().filter_map(|(.., set)| set.as_ref());
                Numbers::from_stretches(sets.flat_map(Numbers::stretches).copied().collect())
            });
            Some(Led { first, second, set })
        });
        let led: Rc<[Led]> = states.collect();
        self.read.insert(like, Rc::clone(&led));
        Some(led)
    }

    fn byte_by_byte(&mut self, x: &Item, y: &Item) {
        let common = first(x).and(first(y));
        if self.enumerated > MOST_LENGTH_BYTES {
            // Too many: the two are read without regard to each other's value.
            for a in after(x, common) {
                for b in after(y, common) {
                    self.afters(a.clone(), b);
                }
            }
            return;
        }
        for byte in common.iter() {
            if self.reached || self.work > MOST_WORK {
                return;
            }
            let only = ByteSet::of(byte);
            self.enumerated += 1 + (stretches(x) + stretches(y)) / 8;
            for a in after(x, only) {
                for b in after(y, only) {
                    self.afters(a.clone(), b);
                }
            }
        }
    }

    /// Reads two equal lengths of one form at once, and says whether the two are such.
    pub(super) fn in_step(&mut self, x: &Item, y: &Item) -> bool {
        let (
            Item::Length { prefix, width, read: 0, set, next, counts, each: BYTES, .. },
            Item::Length {
                prefix: same,
                width: as_wide,
                read: 0,
                set: other,
                next: behind,
                counts: others,
                each: BYTES,
                ..
            },
        ) = (x, y)
        else {
            return false;
        };
        if prefix != same || width != as_wide || matches!(self.goal, Goal::Disorder { .. }) {
            return false;
        }
        // Equal lengths: both contents end together.
        let both = counts.intersection(others);
        if both.contains(0) || (set.meets(*other) && !both.is_empty()) {
            self.push(Place::At(*next), Place::At(*behind), None);
        }
        true
    }
}
