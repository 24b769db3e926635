use std::sync::atomic::Ordering;

use super::statistics::FamilyStatistics;
use super::sync::AtomicU64;
use crate::engine::{Space, SpaceKind};
use crate::schema::FamilyPrefix;

/// Which family a key is counted for, and the counts.
///
/// A family is told by the bytes that its keys begin with. Families that begin alike are counted as one.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// By the space's place in its engine; `None` where a key has several values, which are not cached.
    spaces: Vec<Option<Beginnings>>,
    counted: Vec<Counted>,
}

/// The families of a space by what their keys begin with.
#[derive(Debug)]
struct Beginnings {
    /// For each first byte where its beginnings are in `prefixes`, and how many.
    first: Box<[(u16, u16); 256]>,
    /// Those of one first byte together, the longest first.
    prefixes: Vec<(Vec<u8>, u16)>,
    /// Keys that begin otherwise.
    other: u16,
}

#[derive(Debug)]
struct Counted {
    space: String,
    family: Option<String>,
    stripes: [Stripe; STRIPES],
}

/// Counts are spread, so that threads seldom wait for each other's.
const STRIPES: usize = 4;

#[derive(Debug, Default)]
#[repr(align(64))]
struct Stripe {
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
}

impl Families {
    /// The families of these spaces of an engine; spaces named in `without` are not cached.
    pub(super) fn new(spaces: &[Space], prefixes: &[FamilyPrefix], without: &[String]) -> Self {
        let mut families = Self::default();
        for space in spaces {
            let cached = space.kind == SpaceKind::Map && !without.contains(&space.name);
            let beginnings = cached.then(|| families.beginnings(space, prefixes));
            families.spaces.push(beginnings);
        }
        families
    }

    /// Takes over the counts of the same families, of which these have more.
    pub(super) fn go_on_from(&mut self, before: &Self) {
        for (counted, before) in self.counted.iter_mut().zip(&before.counted) {
            for (stripe, before) in counted.stripes.iter_mut().zip(&before.stripes) {
                *stripe.hits.get_mut() = before.hits.load(Ordering::Relaxed);
                *stripe.misses.get_mut() = before.misses.load(Ordering::Relaxed);
                *stripe.evictions.get_mut() = before.evictions.load(Ordering::Relaxed);
            }
        }
    }

    fn beginnings(&mut self, space: &Space, prefixes: &[FamilyPrefix]) -> Beginnings {
        let other = self.count_for(&space.name, None);
        let mut sorted: Vec<(Vec<u8>, u16)> = Vec::new();
        let mut mine: Vec<&FamilyPrefix> =
            prefixes.iter().filter(|prefix| prefix.space == space.name).collect();
        mine.sort_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| a.family.cmp(&b.family)));
        for alike in mine.chunk_by(|a, b| a.prefix == b.prefix) {
            let names: Vec<&str> = alike.iter().map(|prefix| prefix.family.as_str()).collect();
            let number = self.count_for(&space.name, Some(names.join(", ")));
            sorted.extend(alike.first().map(|first| (first.prefix.clone(), number)));
        }
        sorted.sort_by(|(a, _), (b, _)| {
            a.first().cmp(&b.first()).then(b.len().cmp(&a.len())).then_with(|| a.cmp(b))
        });
        let unmarked = sorted.iter().find(|(prefix, _)| prefix.is_empty()).map(|(_, number)| *number);
        sorted.retain(|(prefix, _)| !prefix.is_empty());
        let mut first = Box::new([(0_u16, 0_u16); 256]);
        for (at, (prefix, _)) in (0_u16..).zip(&sorted) {
            if let Some(slot) = prefix.first().and_then(|byte| first.get_mut(usize::from(*byte))) {
                *slot = if slot.1 == 0 { (at, 1) } else { (slot.0, slot.1.saturating_add(1)) };
            }
        }
        Beginnings { first, prefixes: sorted, other: unmarked.unwrap_or(other) }
    }

    fn count_for(&mut self, space: &str, family: Option<String>) -> u16 {
        let number = u16::try_from(self.counted.len()).unwrap_or(u16::MAX);
        self.counted.push(Counted { space: space.to_owned(), family, stripes: Default::default() });
        number
    }

    /// The number of the family that a key is counted for; `None` if rows of its space are not cached.
    #[inline]
    pub(super) fn of(&self, space: u16, key: &[u8]) -> Option<u16> {
        let beginnings = self.spaces.get(usize::from(space))?.as_ref()?;
        let &(from, count) = beginnings.first.get(usize::from(*key.first()?))?;
        let (from, count) = (usize::from(from), usize::from(count));
        let candidates = beginnings.prefixes.get(from..from + count).unwrap_or_default();
        let found = candidates.iter().find(|(prefix, _)| key.starts_with(prefix));
        Some(found.map_or(beginnings.other, |(_, number)| *number))
    }

    #[inline]
    pub(super) fn hit(&self, family: u16, stripe: usize) {
        self.add(family, stripe, |counts| &counts.hits);
    }

    #[inline]
    pub(super) fn missed(&self, family: u16, stripe: usize) {
        self.add(family, stripe, |counts| &counts.misses);
    }

    pub(super) fn evicted(&self, family: u16, stripe: usize) {
        self.add(family, stripe, |counts| &counts.evictions);
    }

    #[inline]
    fn add(&self, family: u16, stripe: usize, which: impl Fn(&Stripe) -> &AtomicU64) {
        let counted = self.counted.get(usize::from(family));
        if let Some(stripe) = counted.and_then(|counted| counted.stripes.get(stripe % STRIPES)) {
            which(stripe).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts of each family that has any.
    pub(super) fn statistics(&self) -> Vec<FamilyStatistics> {
        let sum = |counted: &Counted, which: fn(&Stripe) -> &AtomicU64| -> u64 {
            counted.stripes.iter().map(|stripe| which(stripe).load(Ordering::Relaxed)).sum()
        };
        let of = |counted: &Counted| FamilyStatistics {
            space: counted.space.clone(),
            family: counted.family.clone(),
            hits: sum(counted, |stripe| &stripe.hits),
            misses: sum(counted, |stripe| &stripe.misses),
            evictions: sum(counted, |stripe| &stripe.evictions),
        };
        let counts = self.counted.iter().map(of);
        counts.filter(|counts| counts.hits + counts.misses + counts.evictions > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(family: &str, prefix: &[u8]) -> FamilyPrefix {
        FamilyPrefix { space: "a".into(), family: family.into(), prefix: prefix.to_vec() }
    }

    #[test]
    fn a_key_is_counted_for_the_longest_beginning_that_it_has() {
        let spaces = [Space::map("a"), Space::multimap("b"), Space::map("c"), Space::map("d")];
        let prefixes =
            [prefix("a.x", &[1]), prefix("a.y", &[1, 2]), prefix("a.z", &[7]), prefix("a.w", &[7])];
        let families = Families::new(&spaces, &prefixes, &["d".to_owned()]);
        let name = |space, key: &[u8]| {
            let number = families.of(space, key)?;
            let counted = &families.counted[usize::from(number)];
            Some((counted.space.as_str(), counted.family.as_deref()))
        };
        assert_eq!(name(0, &[1, 1]), Some(("a", Some("a.x"))));
        assert_eq!(name(0, &[1, 2, 9]), Some(("a", Some("a.y"))));
        assert_eq!(name(0, &[7]), Some(("a", Some("a.w, a.z"))));
        assert_eq!(name(0, &[8]), Some(("a", None)));
        assert_eq!(name(2, &[8]), Some(("c", None)));
        // Empty keys, several values for a key, spaces that are left out, and spaces of other engines.
        assert_eq!([name(0, &[]), name(1, &[8]), name(3, &[8]), name(4, &[8])], [None; 4]);
        families.hit(families.of(0, &[1, 2]).unwrap(), 9);
        families.missed(families.of(0, &[1, 2]).unwrap(), 0);
        let counts = families.statistics();
        assert_eq!((counts.len(), counts[0].hits, counts[0].misses, counts[0].evictions), (1, 1, 1, 0));
    }

    #[test]
    fn a_family_without_a_beginning_of_its_own_takes_what_is_left() {
        let prefixes = [prefix("a.all", &[]), prefix("a.one", &[1])];
        let families = Families::new(&[Space::map("a")], &prefixes, &[]);
        families.hit(families.of(0, &[9]).unwrap(), 0);
        families.hit(families.of(0, &[1]).unwrap(), 0);
        let names: Vec<_> = families.statistics().into_iter().map(|counts| counts.family.unwrap()).collect();
        assert_eq!(names, ["a.all", "a.one"]);
    }
}
