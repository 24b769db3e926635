use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use keyplan_codec::{
    Count, DecodeError, Delimited as _, EncodeError, Fault, LenWidth, Lengths, Segment as _, Sink,
};

use super::SegmentError;

/// How the elements of a list are written. Generated code implements it for a type of its own for each list.
pub trait ListLayout: Copy {
    /// An element.
    type Item<'k>: Copy;
    /// What the list is called.
    const LABEL: &'static str;
    /// How many elements there may be.
    const COUNTS: Lengths<'static>;
    /// How the number of elements is written before them, if it is.
    const COUNTED: Option<LenWidth>;
    /// What is between two elements.
    const SEPARATOR: &'static [u8];

    /// Appends an element.
    fn put<S: Sink + ?Sized>(item: &Self::Item<'_>, out: &mut S) -> Result<(), SegmentError>;

    /// How many bytes at the front of `rest`, which is not empty, are an element.
    fn extent(rest: &[u8]) -> Result<usize, DecodeError>;

    /// Displays an element.
    fn show(item: &Self::Item<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Decodes an element that is exactly `piece`, which begins at offset `base` of a key.
    fn decode(piece: &[u8], base: usize) -> Result<Self::Item<'_>, SegmentError>;

    /// Whether `piece` is a second element as well, in a plan that accepts it.
    fn again(_piece: &[u8], _base: usize) -> Result<(), SegmentError> {
        Err(SegmentError::passed_over())
    }
}

/// A list: given as a slice, read back as a view that decodes its elements when they are asked for.
#[derive(Clone, Copy)]
pub struct List<'k, L: ListLayout>(Form<'k, L>);

#[derive(Clone, Copy)]
enum Form<'k, L: ListLayout> {
    Items(&'k [L::Item<'k>]),
    Bytes(&'k [u8]),
}

impl<'k, L: ListLayout> List<'k, L> {
    /// A list to encode.
    pub const fn new(items: &'k [L::Item<'k>]) -> Self {
        Self(Form::Items(items))
    }

    /// The elements.
    pub fn iter(&self) -> ListIter<'k, L> {
        match self.0 {
            Form::Items(items) => ListIter { items, rest: &[], list: PhantomData },
            Form::Bytes(bytes) => {
                let head = counted::<L>(bytes).map_or(0, |(_, head)| head);
                ListIter { items: &[], rest: bytes.get(head..).unwrap_or_default(), list: PhantomData }
            }
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self.0 {
            Form::Items(items) => items.len(),
            Form::Bytes(_) => self.iter().count(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Appends the list.
    pub fn put<S: Sink + ?Sized>(&self, out: &mut S) -> Result<(), SegmentError> {
        let found = self.len();
        if !L::COUNTS.admits(found) {
            return Err(SegmentError::count(L::LABEL, found));
        }
        if let Some(width) = L::COUNTED {
            Count { width }.encode(found, out).map_err(|error| match error {
                EncodeError::Full { .. } => SegmentError::argument(L::LABEL, error),
                _ => SegmentError::count(L::LABEL, found),
            })?;
        }
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                out.put(L::SEPARATOR)?;
            }
            L::put(&item, out)?;
        }
        Ok(())
    }

    /// Decodes a list that is exactly `bytes`, which begin at offset `base` of a key.
    pub fn decode(bytes: &'k [u8], base: usize) -> Result<Self, SegmentError> {
        let fault = |at: usize, fault| SegmentError::bytes(L::LABEL, base + at, DecodeError::new(0, fault));
        let (expected, head) =
            counted::<L>(bytes).map_err(|error| SegmentError::bytes(L::LABEL, base, error))?;
        let mut at = head;
        let mut found = 0;
        while at < bytes.len() {
            if found > 0 {
                at = super::literal(bytes, at, base, L::SEPARATOR, L::LABEL)?;
            }
            let rest = super::rest(bytes, at);
            let extent = L::extent(rest).map_err(|error| SegmentError::bytes(L::LABEL, base + at, error))?;
            if extent > rest.len() {
                return Err(fault(bytes.len(), Fault::Short { missing: extent - rest.len() }));
            }
            // An element of no bytes would repeat for ever, unless separators count it.
            if extent == 0 && L::SEPARATOR.is_empty() {
                return Err(fault(at, Fault::Length { found }));
            }
            L::decode(super::piece(bytes, at, at + extent), base + at)?;
            at += extent;
            found += 1;
        }
        if !L::COUNTS.admits(found) || expected.is_some_and(|expected| expected != found) {
            return Err(fault(at, Fault::Length { found }));
        }
        Ok(Self(Form::Bytes(bytes)))
    }

    /// The list that is exactly `bytes`; as the reading with the number 1, if one of its elements has a second one. More are not
    /// told apart, since a view shows the first reading of each element.
    pub fn reading(bytes: &'k [u8], base: usize, number: usize) -> Result<Self, SegmentError> {
        let list = Self::decode(bytes, base)?;
        let second = || {
            let mut at = counted::<L>(bytes).map_or(0, |(_, head)| head);
            while at < bytes.len() {
                let end = at + L::extent(super::rest(bytes, at)).unwrap_or(bytes.len() - at);
                if L::again(super::piece(bytes, at, end), base + at).is_ok() {
                    return true;
                }
                at = end + L::SEPARATOR.len();
            }
            false
        };
        if number == 0 || number == 1 && second() { Ok(list) } else { Err(SegmentError::passed_over()) }
    }

    /// How many bytes at the front of `input` are a list that says how many elements it has.
    pub fn extent(input: &[u8]) -> Result<usize, DecodeError> {
        let (count, mut at) = counted::<L>(input)?;
        for _ in 0..count.unwrap_or_default() {
            let rest = super::rest(input, at);
            let extent = L::extent(rest).map_err(|error| error.behind(at))?;
            if extent > rest.len() {
                let missing = extent - rest.len();
                return Err(DecodeError::new(input.len(), Fault::Short { missing }));
            }
            if extent == 0 {
                return Err(DecodeError::new(at, Fault::OutOfRange));
            }
            at += extent;
        }
        Ok(at)
    }
}

/// The number of elements, if it is written, and how many bytes it takes.
fn counted<L: ListLayout>(bytes: &[u8]) -> Result<(Option<usize>, usize), DecodeError> {
    let Some(width) = L::COUNTED else { return Ok((None, 0)) };
    let (count, rest) = Count { width }.take(bytes)?;
    Ok((Some(count), bytes.len().saturating_sub(rest.len())))
}

/// The elements of a [`List`].
pub struct ListIter<'k, L: ListLayout> {
    items: &'k [L::Item<'k>],
    rest: &'k [u8],
    list: PhantomData<L>,
}

impl<'k, L: ListLayout> Iterator for ListIter<'k, L> {
    type Item = L::Item<'k>;

    fn next(&mut self) -> Option<L::Item<'k>> {
        if let [item, items @ ..] = self.items {
            self.items = items;
            return Some(*item);
        }
        if self.rest.is_empty() {
            return None;
        }
        // The list was decoded once, so each of these steps succeeds again.
        let extent = L::extent(self.rest).ok()?;
        let (piece, rest) = self.rest.split_at_checked(extent)?;
        self.rest = rest.strip_prefix(L::SEPARATOR).unwrap_or(rest);
        L::decode(piece, 0).ok()
    }
}

impl<'k, L: ListLayout> IntoIterator for &List<'k, L> {
    type Item = L::Item<'k>;
    type IntoIter = ListIter<'k, L>;

    fn into_iter(self) -> ListIter<'k, L> {
        self.iter()
    }
}

impl<L: ListLayout> PartialEq for List<'_, L>
where
    for<'k> L::Item<'k>: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<L: ListLayout> Eq for List<'_, L> where for<'k> L::Item<'k>: Eq {}

impl<L: ListLayout> Hash for List<'_, L>
where
    for<'k> L::Item<'k>: Hash,
{
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|item| item.hash(state));
        self.len().hash(state);
    }
}

impl<L: ListLayout> fmt::Debug for List<'_, L>
where
    for<'k> L::Item<'k>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<L: ListLayout> fmt::Debug for ListIter<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListIter").finish_non_exhaustive()
    }
}

impl<L: ListLayout> fmt::Display for List<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            L::show(&item, f)?;
        }
        f.write_str("]")
    }
}
