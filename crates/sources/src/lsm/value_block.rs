//! Pebble's blocks of values, from table version 3 on: values of hidden rows lie apart from their keys.
//!
//! The value of a row begins with a byte. If its high bits are `10`, a handle follows, of three varints: the value's length,
//! the number of the block, and the offset in it. Otherwise the rest is the value itself.

use std::ops::Range;

use super::bytes::{Bytes, little};
use super::footer::Handle;

/// Where the blocks of values lie.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ValueBlocks(Vec<Handle>);

impl ValueBlocks {
    /// Reads the index of the blocks: rows of number, offset and size, in widths that the entry of the metaindex tells.
    ///
    /// The error is `None` if the entry itself is broken.
    pub(crate) fn read<E>(
        entry: &[u8],
        block: impl FnOnce(Handle) -> Result<Vec<u8>, E>,
    ) -> Result<Self, Option<E>> {
        let mut bytes = Bytes::new(entry);
        let place = Handle::read(&mut bytes).ok_or(None)?;
        let widths: [u8; 3] = bytes.rest().try_into().map_err(|_| None)?;
        let [number, offset, size] = widths.map(usize::from);
        let rows = block(place).map_err(Some)?;
        let width = number + offset + size;
        if widths.iter().any(|&width| width > 8) || width == 0 || rows.len() % width != 0 {
            return Err(None);
        }
        let mut out = Vec::new();
        for row in rows.chunks_exact(width) {
            let mut row = Bytes::new(row);
            let mut field = |width| row.take(width).and_then(little).ok_or(None);
            if field(number)? != super::bytes::wide(out.len()) {
                return Err(None);
            }
            out.push(Handle { offset: field(offset)?, size: field(size)? });
        }
        Ok(Self(out))
    }

    /// The block of a value, and where in it the value lies.
    pub(crate) fn find(&self, handle: &[u8]) -> Option<(Handle, Range<usize>)> {
        let mut bytes = Bytes::new(handle);
        let (length, number, offset) = (bytes.length()?, bytes.length()?, bytes.length()?);
        let end = offset.checked_add(length)?;
        Some((*self.0.get(number)?, offset..end))
    }
}

/// What the value of a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'v> {
    /// The value.
    Here(&'v [u8]),
    /// A handle of the value.
    Apart(&'v [u8]),
}

/// Reads the byte before a value.
pub(crate) fn stored(value: &[u8]) -> Option<Stored<'_>> {
    let (&prefix, rest) = value.split_first()?;
    match prefix & 0xc0 {
        0x00 => Some(Stored::Here(rest)),
        0x80 => Some(Stored::Apart(rest)),
        _ => None,
    }
}
