/// Stands for "no limit" as the end of a stretch.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// The most stretches for which differences are computed exactly; beyond it the answer is a superset.
const MOST_PAIRS: usize = 1 << 14;

/// The most stretches that multiples are listed in.
const MOST_TIMES: usize = 1 << 10;

/// A set of numbers: lengths, or how much of a length is left.
///
/// Stretches are ascending, disjoint and never adjacent; an end of [`UNLIMITED`] has no limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Numbers(Vec<(u64, u64)>);

impl Numbers {
    pub(crate) fn empty() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn one(number: u64) -> Self {
        Self(vec![(number, number)])
    }

    /// The numbers from `first` to `last`, both included; empty if `last` is below `first`.
    pub(crate) fn range(first: u64, last: u64) -> Self {
        if first > last { Self::empty() } else { Self(vec![(first, last)]) }
    }

    /// The set of stretches in any order.
    #[expect(
        clippy::stable_sort_primitive,
        reason = "it merges sorted lists in one pass, and most are some of those"
    )]
    pub(crate) fn from_stretches(mut stretches: Vec<(u64, u64)>) -> Self {
        stretches.sort();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(stretches.len());
        for (first, last) in stretches {
            match merged.last_mut() {
                Some((_, end)) if *end == UNLIMITED || first <= *end + 1 => *end = (*end).max(last),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    pub(crate) fn stretches(&self) -> &[(u64, u64)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn min(&self) -> Option<u64> {
        self.0.first().map(|(first, _)| *first)
    }

    pub(crate) fn max(&self) -> Option<u64> {
        self.0.last().map(|(_, last)| *last)
    }

    /// The only member, if there is just one.
    pub(crate) fn single(&self) -> Option<u64> {
        match self.0.as_slice() {
            [(first, last)] if first == last && *last != UNLIMITED => Some(*first),
            _ => None,
        }
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= number);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, last)| number <= *last)
    }

    /// The least member that is `number` or more.
    pub(crate) fn at_least(&self, number: u64) -> Option<u64> {
        let at = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(at).map(|(first, _)| (*first).max(number))
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::from_stretches(self.0.iter().chain(&other.0).copied().collect())
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&(first_a, last_a)), Some(&&(first_b, last_b))) = (a.peek(), b.peek()) {
            let (first, last) = (first_a.max(first_b), last_a.min(last_b));
            if first <= last {
                both.push((first, last));
            }
            if last_a <= last_b {
                a.next();
            } else {
                b.next();
            }
        }
        Self(both)
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The members that are not in `other`.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        let mut others = other.0.as_slice();
        for &(first, last) in &self.0 {
            let mut from = first;
            let mut open = true;
            while let [(_, end), behind @ ..] = others
                && *end < first
            {
                others = behind;
            }
            for &(start, end) in others {
                if start > last {
                    break;
                }
                if start > from {
                    left.push((from, start - 1));
                }
                if end >= last {
                    open = false;
                    break;
                }
                from = end + 1;
            }
            if open && from <= last {
                left.push((from, last));
            }
        }
        Self(left)
    }

    /// The members without 0.
    pub(crate) fn positive(&self) -> Self {
        self.minus(&Self::one(0))
    }

    /// Every sum of as many numbers between `least` and `most` as one of the members; a superset if those are many.
    pub(crate) fn times(&self, (least, most): (u64, u64)) -> Self {
        if (least, most) == (1, 1) {
            return self.clone();
        }
        let up = |count: u64, each: u64| if count == 0 { 0 } else { count.saturating_mul(each) };
        let mut all = Vec::new();
        for &(first, last) in &self.0 {
            for count in first..=last {
                let end = up(count, most);
                // From here on each stretch reaches the next one.
                let joined = end.saturating_add(1) >= up(count.saturating_add(1), least) && count > 0;
                if joined || all.len() >= MOST_TIMES {
                    all.push((up(count, least), up(last, most)));
                    break;
                }
                all.push((up(count, least), end));
            }
        }
        Self::from_stretches(all)
    }

    /// Each member of `by` or more, less `by`.
    pub(crate) fn lowered(&self, by: u64) -> Self {
        let lower = |&(first, last): &(u64, u64)| {
            let last = if last == UNLIMITED { last } else { last.checked_sub(by)? };
            Some((first.saturating_sub(by), last))
        };
        Self(self.0.iter().filter_map(lower).collect())
    }

    /// Every `x - y > 0` with `x` of this set and `y` of `other`; a superset if there are too many stretches.
    pub(crate) fn differences(&self, other: &Self) -> Self {
        let (Some(least), Some(most)) = (self.min(), self.max()) else { return Self::empty() };
        let (Some(other_least), Some(other_most)) = (other.min(), other.max()) else { return Self::empty() };
        let between = |(first, last): (u64, u64), (start, end): (u64, u64)| {
            let high = if last == UNLIMITED { UNLIMITED } else { last.saturating_sub(start) };
            let low = if end == UNLIMITED { 1 } else { first.saturating_sub(end).max(1) };
            (low <= high).then_some((low, high))
        };
        if let (Some(step), Some(other_step)) = (self.step(), other.step())
            && step == other_step
            && self.0.len() * other.0.len() > 64
        {
            // Both go up in equal steps, so the differences do too.
            let (high, shift) = (most.saturating_sub(other_least), least.abs_diff(other_most) % step);
            let low = if least >= other_most { least - other_most } else { (step - shift) % step };
            let low = if low == 0 { step } else { low };
            let count = high.checked_sub(low).map_or(0, |span| span / step + 1);
            return Self((0..count).map(|index| low + index * step).map(|at| (at, at)).collect());
        }
        if self.0.len().saturating_mul(other.0.len()) > MOST_PAIRS {
            return Self::from_stretches(
                between((least, most), (other_least, other_most)).into_iter().collect(),
            );
        }
        let mut all = Vec::new();
        for &a in &self.0 {
            all.extend(other.0.iter().filter_map(|&b| between(a, b)));
        }
        Self::from_stretches(all)
    }

    /// The distance between neighbours, if all stretches are single numbers at equal distances.
    fn step(&self) -> Option<u64> {
        let [(first, _), (second, _), ..] = self.0.as_slice() else { return None };
        let step = second - first;
        let even = self.0.windows(2).all(|pair| match pair {
            [(a, _), (b, _)] => b - a == step,
            _ => false,
        });
        let single = self.0.iter().all(|(first, last)| first == last);
        (even && single).then_some(step)
    }

    /// The whole stretch from the least to the greatest member.
    pub(crate) fn hull(&self) -> Self {
        match (self.min(), self.max()) {
            (Some(min), Some(max)) => Self::range(min, max),
            _ => Self::empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of numbers that needs no seed from outside.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    fn some_set(state: &mut u64) -> (Numbers, Vec<u64>) {
        let count = random(state) % 5;
        let stretches: Vec<(u64, u64)> = (0..count)
            .map(|_| {
                let first = random(state) % 40;
                (first, first + random(state) % 6)
            })
            .collect();
        let members = (0..50).filter(|n| stretches.iter().any(|(a, b)| a <= n && n <= b)).collect();
        (Numbers::from_stretches(stretches), members)
    }

    fn members(set: &Numbers) -> Vec<u64> {
        (0..120).filter(|&n| set.contains(n)).collect()
    }

    #[test]
    fn the_algebra_agrees_with_lists_of_members() {
        let mut state = 7;
        for _ in 0..20_000 {
            let ((a, list_a), (b, list_b)) = (some_set(&mut state), some_set(&mut state));
            assert_eq!(members(&a), list_a);
            let both: Vec<u64> = list_a.iter().copied().filter(|n| list_b.contains(n)).collect();
            assert_eq!(members(&a.intersection(&b)), both);
            assert_eq!(a.meets(&b), !both.is_empty());
            let without: Vec<u64> = list_a.iter().copied().filter(|n| !list_b.contains(n)).collect();
            assert_eq!(members(&a.minus(&b)), without);
            let either: Vec<u64> = (0..50).filter(|n| list_a.contains(n) || list_b.contains(n)).collect();
            assert_eq!(members(&a.union(&b)), either);
            let mut differences: Vec<u64> = list_a
                .iter()
                .flat_map(|x| list_b.iter().filter(move |y| x > y).map(move |y| x - y))
                .collect();
            differences.sort_unstable();
            differences.dedup();
            assert_eq!(members(&a.differences(&b)), differences);
            let lowered: Vec<u64> = list_a.iter().filter_map(|x| x.checked_sub(3)).collect();
            assert_eq!(members(&a.lowered(3)), lowered);
            for from in 0..50 {
                assert_eq!(a.at_least(from), list_a.iter().copied().find(|&x| x >= from));
            }
        }
    }

    #[test]
    fn equal_steps_have_differences_in_equal_steps() {
        let steps = |from: u64, count: u64, step: u64| {
            Numbers::from_stretches((0..count).map(|i| (from + i * step, from + i * step)).collect())
        };
        for (a, b) in [
            (steps(2, 20, 2), steps(2, 20, 2)),
            (steps(3, 20, 2), steps(0, 9, 2)),
            (steps(0, 9, 3), steps(7, 9, 3)),
        ] {
            let (list_a, list_b) = (members(&a), members(&b));
            let mut expected: Vec<u64> = list_a
                .iter()
                .flat_map(|x| list_b.iter().filter(move |y| x > y).map(move |y| x - y))
                .collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(members(&a.differences(&b)), expected);
        }
    }

    #[test]
    fn no_limit_stays_no_limit() {
        let open = Numbers::range(5, UNLIMITED);
        assert_eq!(open.lowered(3), Numbers::range(2, UNLIMITED));
        assert_eq!(open.differences(&Numbers::one(2)), Numbers::range(3, UNLIMITED));
        assert_eq!(Numbers::one(9).differences(&open), Numbers::range(1, 4));
        assert_eq!(open.differences(&open), Numbers::range(1, UNLIMITED));
        assert_eq!(open.minus(&Numbers::one(7)).stretches(), [(5, 6), (8, UNLIMITED)]);
        assert_eq!(Numbers::range(0, 3).minus(&open), Numbers::range(0, 3));
    }
}
