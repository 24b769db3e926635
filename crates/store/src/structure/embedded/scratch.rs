use std::ops::Deref;

use keyplan_codec::{EncodeError, Sink};

/// Bytes of a row while they are made.
///
/// Short ones are in place: a row is made for every read and write, and most of what one costs would be the allocation.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    // What there is, unless it is in `long`.
    short: [u8; ROOM],
    len: usize,
    // Empty while everything fits into `short`.
    long: Vec<u8>,
}

/// A tag, a short key with its length, a score and an outpoint have 70 bytes.
const ROOM: usize = 104;

impl Scratch {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { short: [0; ROOM], len: 0, long: Vec::new() }
    }

    /// Appends bytes.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        match self.short.get_mut(self.len..end) {
            Some(room) if self.long.is_empty() => {
                room.copy_from_slice(bytes);
                self.len = end;
            }
            _ => self.push_long(bytes),
        }
    }

    #[cold]
    fn push_long(&mut self, bytes: &[u8]) {
        if self.long.is_empty() {
            self.long.extend_from_slice(self.short.get(..self.len).unwrap_or_default());
        }
        self.long.extend_from_slice(bytes);
    }
}

impl Deref for Scratch {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if self.long.is_empty() { self.short.get(..self.len).unwrap_or_default() } else { &self.long }
    }
}

impl Sink for Scratch {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.push(bytes);
        Ok(())
    }

    #[inline]
    fn len(&self) -> usize {
        (**self).len()
    }

    #[inline]
    fn tail_mut(&mut self, from: usize) -> &mut [u8] {
        let all = if self.long.is_empty() {
            self.short.get_mut(..self.len).unwrap_or_default()
        } else {
            self.long.as_mut_slice()
        };
        all.get_mut(from..).unwrap_or_default()
    }

    fn truncate(&mut self, len: usize) {
        self.long.truncate(len);
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_wherever_they_stand() {
        for first in [0, 1, ROOM - 1, ROOM, ROOM + 1] {
            for second in [0, 1, 2, ROOM] {
                let (first, second) = (vec![7; first], vec![9; second]);
                let mut scratch = Scratch::new();
                scratch.push(&first);
                scratch.push(&second);
                assert_eq!(*scratch, *[first.as_slice(), &second].concat());
                assert_eq!(Sink::len(&scratch), first.len() + second.len());
                assert_eq!(*scratch.tail_mut(first.len()), *second);
                scratch.truncate(first.len());
                assert_eq!(*scratch, *first);
            }
        }
    }
}
