use core::fmt;
use core::ops::Bound;

use keyplan_codec::Sink;

use super::{Key, KeyError, ShortBytes};

/// A scan that a plan declares. Generated code implements it for a type of its own for each scan.
pub trait ScanOf {
    /// The family whose rows it gives.
    type Key: Key;
    /// What its bounds are held in.
    type Room: Room;
    /// The scan in words, such as `cl.tick by pool`.
    const SCAN: &'static str;
    /// Whether rows of other families lie between those of the scan, and are dropped.
    const FILTERED: bool = false;
}

/// A scan whose rows come in the order of the first argument that is not bound.
pub trait OrderedScan: ScanOf {
    /// That argument.
    type Next<'n>;
    /// What comes after it.
    const STEP: Step;

    /// Appends the argument to the prefix of the scan.
    fn put_next(next: Self::Next<'_>, out: &mut Self::Room);
}

/// What comes after an argument that bounds a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More arguments: rows with this one share a prefix.
    Prefix,
    /// Nothing: the argument ends the key.
    Whole,
}

/// Room for the bounds of a scan.
pub trait Room: Sink + Clone + Default + fmt::Debug {
    /// The bytes written.
    fn as_bytes(&self) -> &[u8];

    /// Appends as much of `bytes` as there is room for. There is room for one byte more than the longest key has, so
    /// a longer bound lies on the same side of every key as what is kept of it.
    fn put_cut(&mut self, bytes: &[u8]);
}

impl<const N: usize> Room for ShortBytes<N> {
    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self.as_slice()
    }

    #[inline]
    fn put_cut(&mut self, bytes: &[u8]) {
        let room = N.saturating_sub(self.as_slice().len());
        // It fits now.
        let _ = self.put(bytes.get(..room).unwrap_or(bytes));
    }
}

#[cfg(feature = "alloc")]
impl Room for alloc::vec::Vec<u8> {
    fn as_bytes(&self) -> &[u8] {
        self
    }

    fn put_cut(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The rows of a declared scan: a range of keys, and the direction to go through it.
///
/// `'c` is the life of a cursor given to [`Scan::after_key`].
pub struct Scan<'c, S: ScanOf> {
    prefix: S::Room,
    start: Start<S::Room>,
    end: End<S::Room>,
    cursor: Option<&'c [u8]>,
    reverse: bool,
}

#[derive(Clone, Debug)]
enum Start<R> {
    Prefix,
    At(R),
    Behind(R),
    /// After everything.
    Nowhere,
}

#[derive(Clone, Debug)]
enum End<R> {
    Never,
    Before(R),
    Through(R),
}

/// Turns `bytes` into the least string above all that begin with them; false if there is none.
fn increment<S: Sink>(bytes: &mut S) -> bool {
    let tail = bytes.tail_mut(0);
    let Some(last) = tail.iter().rposition(|&byte| byte != 0xff) else { return false };
    if let Some(byte) = tail.get_mut(last) {
        *byte += 1;
    }
    bytes.truncate(last + 1);
    true
}

impl<'c, S: ScanOf> Scan<'c, S> {
    /// All keys that begin with `prefix`.
    pub fn new(prefix: S::Room) -> Self {
        let mut end = prefix.clone();
        let end = if increment(&mut end) { End::Before(end) } else { End::Never };
        Self { prefix, start: Start::Prefix, end, cursor: None, reverse: false }
    }

    /// The bytes that every key of the scan begins with.
    pub fn prefix(&self) -> &[u8] {
        self.prefix.as_bytes()
    }

    /// Goes through the rows from the last to the first.
    #[must_use]
    pub fn rev(mut self) -> Self {
        self.reverse = !self.reverse;
        self
    }

    /// Whether the rows are gone through from the last to the first.
    pub const fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// Goes on after the row whose key is `cursor`, in the direction of the scan: the next page.
    #[must_use]
    pub const fn after_key(mut self, cursor: &'c [u8]) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// The keys of the scan, in byte order whatever the direction. The start never lies after the end.
    pub fn range(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        const NOTHING: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(&[]), Bound::Excluded(&[]));
        let mut start = match &self.start {
            Start::Prefix => Bound::Included(self.prefix.as_bytes()),
            Start::At(bytes) => Bound::Included(bytes.as_bytes()),
            Start::Behind(bytes) => Bound::Excluded(bytes.as_bytes()),
            Start::Nowhere => return NOTHING,
        };
        let mut end = match &self.end {
            End::Never => Bound::Unbounded,
            End::Before(bytes) => Bound::Excluded(bytes.as_bytes()),
            End::Through(bytes) => Bound::Included(bytes.as_bytes()),
        };
        if let Some(cursor) = self.cursor {
            if self.reverse {
                let lower = bytes_of(end).is_none_or(|end| cursor <= end);
                end = if lower { Bound::Excluded(cursor) } else { end };
            } else {
                let higher = bytes_of(start).is_none_or(|start| cursor >= start);
                start = if higher { Bound::Excluded(cursor) } else { start };
            }
        }
        match (start, end) {
            (Bound::Excluded(start), Bound::Excluded(end)) if start >= end => NOTHING,
            (
                Bound::Included(start) | Bound::Excluded(start),
                Bound::Included(end) | Bound::Excluded(end),
            ) if start > end => NOTHING,
            range => range,
        }
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        let (start, end) = self.range();
        let behind_start = match start {
            Bound::Included(start) => start <= key,
            Bound::Excluded(start) => start < key,
            Bound::Unbounded => true,
        };
        let before_end = match end {
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
            Bound::Unbounded => true,
        };
        behind_start && before_end
    }

    /// Decodes the key of a row.
    pub fn decode<'k>(&self, key: &'k [u8]) -> Result<<S::Key as Key>::Decoded<'k>, KeyError> {
        <S::Key as Key>::decode(key)
    }
}

fn bytes_of(bound: Bound<&[u8]>) -> Option<&[u8]> {
    match bound {
        Bound::Included(bytes) | Bound::Excluded(bytes) => Some(bytes),
        Bound::Unbounded => None,
    }
}

impl<S: OrderedScan> Scan<'_, S> {
    fn bound(&self, next: S::Next<'_>) -> S::Room {
        let mut bound = self.prefix.clone();
        S::put_next(next, &mut bound);
        bound
    }

    /// Only rows whose next argument is `next` or above.
    #[must_use]
    pub fn from(mut self, next: S::Next<'_>) -> Self {
        self.start = Start::At(self.bound(next));
        self
    }

    /// Only rows whose next argument is above `next`.
    #[must_use]
    pub fn after(mut self, next: S::Next<'_>) -> Self {
        let mut bound = self.bound(next);
        self.start = match S::STEP {
            Step::Whole => Start::Behind(bound),
            Step::Prefix if increment(&mut bound) => Start::At(bound),
            Step::Prefix => Start::Nowhere,
        };
        self
    }

    /// Only rows whose next argument is below `next`.
    #[must_use]
    pub fn to(mut self, next: S::Next<'_>) -> Self {
        self.end = End::Before(self.bound(next));
        self
    }

    /// Only rows whose next argument is `next` or below.
    #[must_use]
    pub fn through(mut self, next: S::Next<'_>) -> Self {
        let mut bound = self.bound(next);
        self.end = match S::STEP {
            Step::Whole => End::Through(bound),
            Step::Prefix if increment(&mut bound) => End::Before(bound),
            Step::Prefix => End::Never,
        };
        self
    }
}

impl<S: ScanOf> Clone for Scan<'_, S> {
    fn clone(&self) -> Self {
        Self {
            prefix: self.prefix.clone(),
            start: self.start.clone(),
            end: self.end.clone(),
            cursor: self.cursor,
            reverse: self.reverse,
        }
    }
}

impl<S: ScanOf> fmt::Debug for Scan<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = self.range();
        f.debug_struct(S::SCAN)
            .field("start", &start)
            .field("end", &end)
            .field("reverse", &self.reverse)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(prefix: &[u8]) -> Option<ShortBytes<8>> {
        let mut bytes = ShortBytes::copied(prefix).unwrap();
        increment(&mut bytes).then_some(bytes)
    }

    #[test]
    fn the_end_of_a_prefix_is_right_at_ff() {
        assert_eq!(after(b"\x01\x02").as_deref(), Some(b"\x01\x03".as_slice()));
        assert_eq!(after(b"\x01\xff\xff").as_deref(), Some(b"\x02".as_slice()));
        assert_eq!(after(b"\xff\xff"), None);
        assert_eq!(after(b""), None);
    }
}
