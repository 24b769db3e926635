use crate::EncodeError;

/// Where bytes are written: a caller's slice ([`Buffer`]) or, with the feature `alloc`, a `Vec<u8>`.
///
/// Besides appending, a sink lets an encoder go back over what it has just written, which is how a length
/// prefix, a complement or a hash is made without a second buffer.
pub trait Sink {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError>;

    /// Appends `len` bytes and returns them to be written over; what they hold until then is not said.
    ///
    /// A sink that keeps nothing returns an empty slice.
    fn grow(&mut self, len: usize) -> Result<&mut [u8], EncodeError> {
        let start = self.len();
        let mut left = len;
        while left > 0 {
            let step = left.min(BLOCK.len());
            self.put(BLOCK.get(..step).unwrap_or_default())?;
            left -= step;
        }
        Ok(self.tail_mut(start))
    }

    /// Returns how many bytes have been written.
    fn len(&self) -> usize;

    /// Returns whether nothing has been written.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes written since position `from`; empty if `from` is past the end.
    fn tail_mut(&mut self, from: usize) -> &mut [u8];

    /// Takes back everything after position `len`.
    fn truncate(&mut self, len: usize);
}

/// What a sink grows by, at most at once.
static BLOCK: [u8; 64] = [0; 64];

/// A [`Sink`] over a caller's slice.
///
/// ```
/// use keyplan_codec::{Buffer, EncodeError, Sink};
///
/// let mut room = [0; 4];
/// let mut out = Buffer::new(&mut room);
/// out.put(&[1, 2, 3])?;
/// assert_eq!(out.put(&[4, 5]), Err(EncodeError::Full { needed: 5 }));
/// assert_eq!(out.written(), [1, 2, 3]);
/// # Ok::<(), EncodeError>(())
/// ```
#[derive(Debug)]
pub struct Buffer<'a> {
    room: &'a mut [u8],
    len: usize,
}

impl<'a> Buffer<'a> {
    /// Starts writing at the front of `room`.
    #[inline]
    pub fn new(room: &'a mut [u8]) -> Self {
        Self { room, len: 0 }
    }

    /// Returns what has been written.
    #[inline]
    pub fn written(&self) -> &[u8] {
        self.room.get(..self.len).unwrap_or_default()
    }

    /// Returns what has been written, for as long as the slice lives.
    #[inline]
    pub fn into_written(self) -> &'a mut [u8] {
        self.room.get_mut(..self.len).unwrap_or_default()
    }
}

/// The next `len` bytes of a room of which `used` are written; they count as written from then on.
#[doc(hidden)]
#[inline]
pub fn next_in<'r>(room: &'r mut [u8], used: &mut usize, len: usize) -> Result<&'r mut [u8], EncodeError> {
    let end = used.saturating_add(len);
    let slot = room.get_mut(*used..end).ok_or(EncodeError::Full { needed: end })?;
    *used = end;
    Ok(slot)
}

impl Sink for Buffer<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.grow(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn grow(&mut self, len: usize) -> Result<&mut [u8], EncodeError> {
        next_in(self.room, &mut self.len, len)
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn tail_mut(&mut self, from: usize) -> &mut [u8] {
        self.room.get_mut(from..self.len).unwrap_or_default()
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

#[cfg(any(feature = "alloc", test))]
impl Sink for alloc::vec::Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn grow(&mut self, len: usize) -> Result<&mut [u8], EncodeError> {
        let start = self.len();
        self.resize(start + len, 0);
        Ok(self.get_mut(start..).unwrap_or_default())
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn tail_mut(&mut self, from: usize) -> &mut [u8] {
        self.get_mut(from..).unwrap_or_default()
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }
}
