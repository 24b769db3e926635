//! What cannot be is never taken for an answer.
//!
//! A part of a list or a place in it that is missing would be a pair that is skipped, or a language with less in it, and so a
//! proof of nothing. Code that knows that it is there says why, and the prover ends if it is not.

use std::fmt::Debug;

/// Something that is there, whatever its type says.
pub(crate) trait Sure {
    /// What is there.
    type Of;

    /// It, or a panic with the reason why it had to be there.
    fn sure(self, why: &str) -> Self::Of;
}

impl<T> Sure for Option<T> {
    type Of = T;

    #[inline]
    #[track_caller]
    #[expect(clippy::expect_used, reason = "a default would be a proof of nothing")]
    fn sure(self, why: &str) -> T {
        self.expect(why)
    }
}

impl<T, E: Debug> Sure for Result<T, E> {
    type Of = T;

    #[inline]
    #[track_caller]
    #[expect(clippy::expect_used, reason = "a default would be a proof of nothing")]
    fn sure(self, why: &str) -> T {
        self.expect(why)
    }
}

/// The elements of a list from a place in it on; those after the last are none.
#[inline]
#[track_caller]
pub(crate) fn rest<T>(all: &[T], from: usize) -> &[T] {
    all.get(from..).sure("a place in the list, or its end")
}

/// The elements of a list before a place in it, or before its end.
#[inline]
#[track_caller]
pub(crate) fn front<T>(all: &[T], to: usize) -> &[T] {
    all.get(..to).sure("a place in the list, or its end")
}

/// Each element of a list with the one after it.
pub(crate) fn neighbours<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().zip(all.iter().skip(1))
}

/// A number as one byte.
#[inline]
#[track_caller]
pub(crate) fn byte<N: TryInto<u8, Error: Debug>>(number: N) -> u8 {
    number.try_into().sure("below 256")
}

/// The number of a segment as the graph knows it.
#[inline]
#[track_caller]
pub(crate) fn mark(segment: usize) -> u32 {
    u32::try_from(segment).sure("fewer than 2³² segments")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_where_its_rest_is_empty() {
        assert_eq!(rest(&[1, 2, 3], 1), [2, 3]);
        assert_eq!(rest(&[1, 2, 3], 3), [0; 0]);
        assert_eq!(front(&[1, 2, 3], 2), [1, 2]);
        assert_eq!(neighbours(&[1, 2, 3]).collect::<Vec<_>>(), [(&1, &2), (&2, &3)]);
        assert_eq!(neighbours::<u8>(&[]).count(), 0);
    }

    #[test]
    #[should_panic(expected = "a place in the list")]
    fn a_place_after_the_end_is_no_empty_rest() {
        rest(&[1, 2, 3], 4);
    }
}
