use core::cell::Cell;

use keyplan_codec::{DecodeError, Expected, Fault};

use super::{KeyError, KeyFault, SegmentError};

/// How many ends may be tried for one key before the search is given up, as in the dynamic path.
const MAX_STEPS: usize = 1 << 20;

/// A segment that ends only where something else begins, with more segments after it.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// What the segment is called.
    pub label: &'static str,
    /// The fewest bytes it takes.
    pub min: usize,
    /// The most bytes it takes; `usize::MAX` without a limit.
    pub max: usize,
    /// The fewest bytes of what comes after it.
    pub after_min: usize,
    /// The most bytes of what comes after it; `usize::MAX` without a limit.
    pub after_max: usize,
    /// The literal directly after it; empty if there is none.
    pub next: &'static [u8],
}

impl Open {
    /// The ends that the segment may have, shortest first, if it begins at `at` and `longest` bytes from there on
    /// could be its own.
    #[inline]
    pub fn ends<'b, 's>(self, bytes: &'b [u8], at: usize, longest: usize, steps: &'s Steps) -> Ends<'b, 's> {
        let room = bytes.len().saturating_sub(at);
        let most = longest.min(self.max).min(room.saturating_sub(self.after_min));
        let least = self.min.max(room.saturating_sub(self.after_max));
        Ends { open: self, bytes, next: at.saturating_add(least), last: at + most, steps }
    }

    /// The one end of a segment that can have only one.
    #[inline]
    pub fn end(self, bytes: &[u8], at: usize, base: usize, longest: usize) -> Result<usize, SegmentError> {
        let steps = Steps::default();
        let end = self.ends(bytes, at, longest, &steps).next();
        end.ok_or_else(|| self.no_end(bytes, at, base, longest))
    }

    /// Nothing to go on with: what is where the segment would have to end.
    #[cold]
    pub fn no_end(self, bytes: &[u8], at: usize, base: usize, longest: usize) -> SegmentError {
        let rest = bytes.get(at..).unwrap_or_default();
        let stop = longest.min(self.max).min(rest.len());
        let fault = match (self.next.first(), rest.get(stop)) {
            (Some(&expected), Some(&found)) => Fault::Literal { expected, found },
            (_, None) => Fault::Short { missing: self.after_min.max(1) },
            (None, Some(&found)) => Fault::Byte { found, expected: Expected::Alphabet },
        };
        SegmentError::bytes(self.label, base + at, DecodeError::new(stop, fault))
    }
}

/// The ends that an open segment may have, as offsets.
#[derive(Debug)]
pub struct Ends<'b, 's> {
    open: Open,
    bytes: &'b [u8],
    next: usize,
    last: usize,
    steps: &'s Steps,
}

impl Iterator for Ends<'_, '_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.next <= self.last {
            let end = self.next;
            self.next += 1;
            if self.bytes.get(end..).is_some_and(|rest| rest.starts_with(self.open.next)) {
                return self.steps.step().then_some(end);
            }
        }
        None
    }
}

/// How much a search may still try.
#[derive(Debug)]
pub struct Steps(Cell<usize>);

impl Default for Steps {
    fn default() -> Self {
        Self(Cell::new(MAX_STEPS))
    }
}

impl Steps {
    fn step(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Counts down the readings that are still to be passed over; false once there is none.
pub fn passes_over(left: &Cell<usize>) -> bool {
    let before = left.get();
    left.set(before.saturating_sub(1));
    before > 0
}

/// The error that gets furthest among those of several attempts, the first of equals.
#[derive(Debug, Default)]
pub struct Furthest(Option<SegmentError>);

impl Furthest {
    /// Keeps `error` if it gets further than those before it.
    pub fn keep(&mut self, error: SegmentError) {
        if self.0.is_none_or(|kept| error.offset() > kept.offset()) {
            self.0 = Some(error);
        }
    }

    /// The error, or what `none` gives if nothing was tried; whether the search was given up goes before either.
    pub fn or(self, steps: &Steps, none: impl FnOnce() -> SegmentError) -> SegmentError {
        let error = self.0.unwrap_or_else(none);
        if steps.0.get() == 0 { SegmentError { fault: KeyFault::TooManySplits, ..error } } else { error }
    }
}

/// The family that gets furthest with bytes that none makes.
#[derive(Debug, Default)]
pub struct Nearest(Option<(&'static str, SegmentError)>);

impl Nearest {
    /// Keeps the error of a family if it gets further than those before it.
    pub fn keep(&mut self, family: &'static str, error: SegmentError) {
        if self.0.is_none_or(|(_, kept)| error.offset() > kept.offset()) {
            self.0 = Some((family, error));
        }
    }

    /// The error that got furthest.
    pub fn error(self) -> KeyError {
        let nothing = KeyError { family: "", segment: "", fault: KeyFault::TooManySplits };
        self.0.map_or(nothing, |(family, error)| error.of(family))
    }
}

/// How many bytes at the front of `rest` could be a number in text.
pub fn longest_number(signed: bool, hex: bool, rest: &[u8]) -> usize {
    let sign = usize::from(signed && rest.first() == Some(&b'-'));
    let is_digit = |byte: &&u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    sign + rest.iter().skip(sign).take_while(is_digit).count()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn ends_leave_room_for_what_follows() {
        let open = Open { label: "a", min: 1, max: 4, after_min: 2, after_max: usize::MAX, next: b"/" };
        let steps = Steps::default();
        let ends = |bytes: &[u8]| open.ends(bytes, 0, bytes.len(), &steps).collect::<Vec<_>>();
        assert_eq!(ends(b"a/b/c/d"), [1, 3]);
        assert_eq!(ends(b"/"), [0; 0]);
        assert_eq!(ends(b"//a"), [1]);
        assert_eq!(ends(b""), [0; 0]);
    }

    #[test]
    fn a_tail_of_fixed_length_leaves_one_end() {
        let open = Open { label: "a", min: 0, max: usize::MAX, after_min: 2, after_max: 2, next: b"" };
        assert_eq!(open.end(b"abcd", 1, 0, 3), Ok(2));
        // Where too little is left for what comes after it, that is what says so, as in the dynamic path.
        assert_eq!(open.end(b"ab", 1, 0, 1), Ok(1));
    }
}
